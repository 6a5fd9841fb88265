"""Section 5.3 and appendix F.2: agreement with the full-data ranking against the number of comparisons.

python experiments/subsampling_efficiency.py [dataset=mt_bench] [repeats=5] ...

The paper holds each fit against its own full-data fit, which are two targets; here both are also held against
either full-data fit, against people where there are ratings, and against the truth of a surrogate.
"""

import logging

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication import plots
from replication.config import both_fits, both_solvers, main
from replication.efficiency import efficiency_claims
from replication.outputs import run_section
from replication.resampling import Subsample, endings_of, study_of, subsampled, summary_of, whole_of
from replication.tables import Table

log = logging.getLogger("replication")
POINT = ("n_judges", "n_comparisons")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    (judgments,) = data.values()
    whole = whole_of(judgments, both_fits(cfg.solver, judgments.comparisons))
    panel = len(judgments.comparisons.judges)
    budgets = [k for k in cfg.n_judges if k <= panel]
    if len(budgets) < len(cfg.n_judges):
        log.info("left out: numbers of judges above the set's %d", panel)
    solvers = both_solvers(cfg.solver)
    cells = {f"k{k}-t{t}": Subsample(k, t, solvers) for k in budgets for t in cfg.n_comparisons}
    study = study_of(cfg, "subsampling_efficiency", subsampled, whole, cells)
    study.run(cfg.parallel)
    summary = summary_of(study, POINT, cfg.paper_repeats)
    own = summary[summary["method"] == summary["reference"]]
    gap = own.pivot(index=[*POINT, "measure"], columns="method", values="mean").reset_index()
    # equal ones differ by rounding
    gap["judge_aware_minus_btl"] = (gap["judge_aware"] - gap["btl"]).round(12) + 0.0
    ahead = (gap["judge_aware_minus_btl"] >= 0).groupby(gap["measure"]).agg(["sum", "count"])
    log.info(
        "points at which judge-aware is ahead, each fit against its own full-data fit:\n%s", ahead.to_string()
    )
    title, claims = judgments.title, efficiency_claims(study, cfg.paper_repeats)
    log.info("claims in words:\n%s", claims.to_string(index=False))
    return {
        "correlation": Table(
            summary, f"{title}: correlation of fits to T comparisons by K judges with each reference", 4
        ),
        "own_reference": Table(gap, f"{title}: the paper's measure, each fit against its own full-data fit", 4),
        "claims": Table(
            claims,
            f"{title}: what section 5.3 and appendix F.2 say in words; places at which it holds, at which it "
            "clearly does or does not (by two standard errors), and at which it holds over the paper's repeats",
        ),
        "endings": Table(endings_of(study, POINT), f"{title}: how the repeats ended"),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    frame = tables["correlation"]
    own = frame[frame["method"] == frame["reference"]]
    figures = {
        f"{measure}_own": plots.efficiency(
            own[own["measure"] == measure], measure, f"Against its own full-data fit{suffix}"
        )
        for measure in ("pearson", "spearman")
    }
    for reference, rows in frame.groupby("reference"):
        name = plots.REFERENCES[reference]
        title = f"Both against {name}{suffix}"
        figures[f"spearman_{reference}"] = plots.efficiency(rows[rows["measure"] == "spearman"], "spearman", title)
    return figures


@main("subsampling_efficiency")
def run(cfg: DictConfig) -> None:
    run_section("subsampling_efficiency", cfg, compute, draw)


if __name__ == "__main__":
    run()
