"""Appendix F.7: rankings from sparse connected comparison graphs (Table A.9).

python experiments/sparsity.py [dataset=chatbot_arena] [repeats=20] [redraw=[resample]] [found_tables=79] ...

The paper does not say where the comparisons of a thinned graph come from, nor how many there are. Either they are
drawn with replacement from those made (resample), or anew from the full-data fit (simulate), as many as the set
has; both are run. Where the paper prints numbers, designs with fewer comparisons are searched as well: with and
without replacement (resample, subset) and anew, two kinds of random trees, several stops of Algorithm A.1. Each
design is judged by a likelihood of all printed numbers together.
"""

import logging
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from judgerank.data.comparisons import Comparisons
from judgerank.data.judgments import Judgments
from replication import plots
from replication.config import ROOT, both_fits
from replication.estimator_names import ALL_DRAWS
from replication.estimators import estimators_of
from replication.outputs import section_command
from replication.replicate import Study
from replication.resampled_tables import endings_of, gains_of, replications_of, summary_of
from replication.resampling import FullData, Thinned, full_data_of, study_of, thinned
from replication.sparse_designs import design_cells, designs, graphs_of, printed_rows, rows_of, sparse_tables
from replication.tables import Replications, Table, as_stored

log = logging.getLogger("replication")
POINT = ("redraw", "trees", "n_edges", "edge_fraction")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table | Replications]:
    (judgments,) = data.values()
    full_data = full_data_of(judgments, both_fits(cfg.solver, judgments.comparisons))
    observed = n_pairs(judgments.comparisons)
    cells, estimators = {}, estimators_of(cfg)
    for redraw, trees in product(cfg.redraw, cfg.trees):
        n_edges = trees * (len(judgments.comparisons.models) - 1)
        if n_edges <= observed:
            cells[f"{redraw.name}-{trees}"] = Thinned(
                redraw.name, n_edges, trees=trees, edge_fraction=n_edges / observed, estimators=estimators
            )
    dense = [trees for trees in cfg.trees if not any(cell.trees == trees for cell in cells.values())]
    if dense:
        log.info("left out: trees above the set's %d pairs: %s", observed, ", ".join(map(str, dense)))
    study = study_of(cfg, "sparsity", thinned, full_data, cells)
    study.run(cfg.parallel)
    draws = replications_of(study, POINT)
    summary = summary_of(draws, POINT, cfg.paper_repeats)
    main_measure = summary.query(
        f"estimator == '{ALL_DRAWS}' and method == 'judge_aware' and reference == 'judge_aware'"
    )
    wide = main_measure.pivot(index=["edge_fraction", "redraw"], columns="measure", values="mean").reset_index()
    title = judgments.title
    log.info(
        "%s: judge-aware by Algorithm A.1 against its full-data fit\n%s",
        *(title, wide.to_string(index=False, float_format="%.3f")),
    )
    search_tables: dict[str, Table] = {}
    replications = [draws.assign(tree="weights", n_comparisons=len(judgments.comparisons))]
    if judgments.name == "in_house":
        search_tables, graphs = search(cfg, full_data, observed, title)
        replications.append(graphs)
    caption = f"{title}: correlation of fits on sparse graphs with each reference, by estimator"
    return {
        "correlation": Table(summary, caption, 3),
        "gains": Table(
            gains_of(draws, POINT), f"{title}: correlations of judge-aware less those of BTL on the same graphs", 3
        ),
        "endings": Table(endings_of(draws, POINT), f"{title}: how the fits ended, by estimator"),
        "replications": Replications(
            pd.concat(replications, ignore_index=True)[list(replications[0])],
            f"{title}: correlations of every sparse graph; algorithm_1_1000 was stopped after 1,000 iterations",
        ),
        **search_tables,
    }


def search(
    cfg: DictConfig, full_data: FullData, observed: int, title: str
) -> tuple[dict[str, Table], pd.DataFrame]:
    """Designs with fewer comparisons beside Table A.9, and the printed numbers among tables of the likeliest.

    Beside these tables, every graph behind them.
    """
    printed = printed_rows(observed, len(full_data.comparisons.models))
    grids = OmegaConf.to_container(cfg.designs, enum_to_str=True).values()
    n_edges = tuple(map(int, printed["n_edges"]))
    cells = {cell.name: cell for grid in grids for cell in design_cells(**grid, n_edges=n_edges)}
    if not cells:
        return {}, pd.DataFrame()
    repeats, folder = dict.fromkeys(cells, cfg.design_tables), Path(ROOT, cfg.cache)
    study = Study(
        "sparsity-designs", sparse_tables, cells, repeats, cfg.seed, folder, cfg.design_tables, full_data, True
    )
    study.run(cfg.parallel)
    tried = designs(study, printed)
    log.info("designs, likeliest first:\n%s", tried.head(8).to_string(index=False, float_format="%.3g"))
    best = tried.iloc[0]
    cell = "-".join(str(best[name]) for name in ("redraw", "tree", "n_comparisons"))
    to_the_stop = replace(cells[cell], stops=(int(best["stop"]),))
    more = replace(study, cells={cell: to_the_stop}, replications={cell: cfg.found_tables})
    more.run(cfg.parallel)
    numbers = rows_of(more, cell, int(best["stop"]), printed)
    together = designs(more, printed).drop(columns="within")
    graphs = pd.concat([graphs_of(design_study, printed) for design_study in (study, more)]).drop_duplicates(
        ignore_index=True
    )
    return {
        "designs": Table(tried, f"{title}: designs and stops beside Table A.9, likeliest first"),
        "found": Table(numbers, f"{title}: Table A.9 among tables of the likeliest design"),
        "found_jointly": Table(together, f"{title}: all numbers of Table A.9 under the likeliest design"),
    }, as_stored(graphs)


def n_pairs(comparisons: Comparisons) -> int:
    """Number of model pairs compared."""
    low, high = (
        np.minimum(comparisons.first, comparisons.second),
        np.maximum(comparisons.first, comparisons.second),
    )
    return len(np.unique(np.stack([low, high]), axis=1).T)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    title = f"Sparse comparison graphs{suffix}"
    return {"sparsity": plots.sparsity(tables["correlation"], tables.get("found"), title)}


run = section_command("sparsity", compute, draw)

if __name__ == "__main__":
    run()
