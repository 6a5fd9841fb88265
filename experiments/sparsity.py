"""Appendix F.7: rankings from sparse connected comparison graphs (Table A.9).

python experiments/sparsity.py [dataset=chatbot_arena] [repeats=20] [redraw=[resample]] ...

The paper does not say where the comparisons of a thinned graph come from, nor how many there are. Either they are
drawn with replacement from those made (resample), or anew from the full-data fit (simulate), as many as the set
has; both are run. Where the paper prints numbers, smaller budgets are tried too, and drawing without replacement
(subset).
"""

import logging
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.comparisons import Comparisons
from judgerank.judgments import Judgments
from replication import plots, published
from replication.config import both_fits, main
from replication.outputs import run_section
from replication.resampling import Whole, endings_of, printed_among, study_of, summary_of, thinned, whole_of
from replication.schemas.section import Redraw
from replication.tables import Table

log = logging.getLogger("replication")
POINT = ("redraw", "trees", "n_edges", "edge_fraction")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    whole = whole_of(judgments, both_fits(cfg.solver, judgments.comparisons))
    observed = n_pairs(judgments.comparisons)
    cells = {}
    for redraw in cfg.redraw:
        for trees in cfg.trees:
            n_edges = trees * (len(judgments.comparisons.models) - 1)
            if n_edges <= observed:
                values = (redraw.name, trees, n_edges, n_edges / observed)
                cells[f"{redraw.name}-{trees}"] = dict(zip(POINT, values, strict=True))
    study = study_of(cfg, "sparsity", thinned, whole, cells)
    study.run(cfg.parallel)
    summary = summary_of(study, POINT, cfg.paper_repeats)
    main_measure = summary[(summary["method"] == "judge_aware") & (summary["reference"] == "judge_aware")]
    wide = main_measure.pivot(index=["edge_fraction", "redraw"], columns="measure", values="mean").reset_index()
    title = judgments.title
    log.info(
        "%s: judge-aware against its full-data fit\n%s", title, wide.to_string(index=False, float_format="%.3f")
    )
    tables = {
        "correlation": Table(summary, f"{title}: correlation of fits on sparse graphs with each reference", 3),
        "endings": Table(endings_of(study, POINT), f"{title}: how the fits ended"),
    }
    if judgments.name == "in_house":
        printed = pd.DataFrame({name: published.numbers("sparsity", name) for name in ("pearson", "spearman")})
        printed = printed.rename_axis("edge_fraction").reset_index().astype({"edge_fraction": float})
        places = printed_among(study, POINT).assign(n_comparisons=len(judgments.comparisons))
        places = pd.concat([places, other_budgets(cfg, whole, observed)], ignore_index=True)
        groups = places.groupby(["redraw", "n_comparisons"])["within"].agg(["sum", "count"])
        log.info("printed numbers within 5%% and 95%% of the draws, by design and budget:\n%s", groups.to_string())
        tables["paper_among_draws"] = Table(
            places,
            f"{title}: where the numbers of Table A.9, one draw each, lie among draws, by design and budget",
        )
        tables["paper"] = Table(printed, "Table A.9 as printed: one draw")
    return tables


def other_budgets(cfg: DictConfig, whole: Whole, observed: int) -> pd.DataFrame:
    """The printed numbers among draws with fewer comparisons in all, in every design."""
    cells = {}
    for redraw, budget, trees in product(Redraw, cfg.budgets, cfg.budget_trees):
        n_edges = trees * (len(whole.comparisons.models) - 1)
        values = (redraw.name, trees, n_edges, n_edges / observed)
        cells[f"{redraw.name}-{budget}-{trees}"] = dict(zip(POINT, values, strict=True)) | {
            "n_comparisons": budget
        }
    study = replace(
        study_of(cfg, "sparsity-budgets", thinned, whole, cells),
        replications=dict.fromkeys(cells, cfg.budget_repeats),
    )
    study.run(cfg.parallel)
    return printed_among(study, (*POINT, "n_comparisons"))


def n_pairs(comparisons: Comparisons) -> int:
    """Number of model pairs compared."""
    low, high = (
        np.minimum(comparisons.first, comparisons.second),
        np.maximum(comparisons.first, comparisons.second),
    )
    return len(np.unique(np.stack([low, high]), axis=1).T)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {
        "sparsity": plots.sparsity(tables["correlation"], tables.get("paper"), f"Sparse comparison graphs{suffix}")
    }


@main("sparsity")
def run(cfg: DictConfig) -> None:
    run_section("sparsity", cfg, compute, draw)


if __name__ == "__main__":
    run()
