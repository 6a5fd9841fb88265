"""Section 5.3 and appendix F.2: agreement with the full-data ranking against the number of comparisons.

python experiments/subsampling_efficiency.py [dataset=mt_bench] [repeats=5] ...

Every draw is fitted exactly, over a box and by the paper's Algorithm A.1: many have no maximum, and a mean over
those that have one is not that of all. The paper holds each fit against its own full-data fit, which are two
targets; here both are also held against either full-data fit, against people where there are ratings, and against
the truth of a surrogate. Full-data fits are exact.
"""

import logging

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication import plots
from replication.config import both_fits
from replication.estimator_names import ALL_DRAWS
from replication.estimators import estimators_of
from replication.outputs import section_command
from replication.resampled_tables import efficiency_claims, endings_of, gains_of, replications_of, summary_of
from replication.resampling import Subsample, full_data_of, study_of, subsampled
from replication.tables import Replications, Table

log = logging.getLogger("replication")
POINT = ("n_judges", "n_comparisons")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table | Replications]:
    (judgments,) = data.values()
    full_data = full_data_of(judgments, both_fits(cfg.solver, judgments.comparisons))
    panel = len(judgments.comparisons.judges)
    budgets = [k for k in cfg.n_judges if k <= panel]
    if len(budgets) < len(cfg.n_judges):
        log.info("left out: numbers of judges above the set's %d", panel)
    estimators = estimators_of(cfg)
    cells = {f"k{k}-t{t}": Subsample(k, t, estimators) for k in budgets for t in cfg.n_comparisons}
    study = study_of(cfg, "subsampling_efficiency", subsampled, full_data, cells)
    study.run(cfg.parallel)
    draws, title = replications_of(study, POINT), judgments.title
    claims, gains = efficiency_claims(draws, cfg.paper_repeats), gains_of(draws, POINT)
    own_reference = gains.query("reference == 'own'")
    is_ahead = (own_reference["judge_aware_minus_btl"] >= 0).groupby(
        [own_reference["estimator"], own_reference["measure"]], sort=False
    )
    log.info(
        "points at which judge-aware is ahead, each fit against its own full-data fit:\n%s",
        is_ahead.agg(["sum", "count"]).to_string(),
    )
    log.info("claims in words:\n%s", claims.query(f"estimator == '{ALL_DRAWS}'").to_string(index=False))
    return {
        "correlation": Table(
            summary_of(draws, POINT, cfg.paper_repeats),
            f"{title}: correlation of fits to T comparisons by K judges with each reference, by estimator",
            4,
        ),
        "gains": Table(gains, f"{title}: correlations of judge-aware less those of BTL on the same draws", 4),
        "claims": Table(
            claims,
            f"{title}: what section 5.3 and appendix F.2 say in words; places at which it holds, at which it "
            "clearly does or does not (by two standard errors), and at which it holds over the paper's repeats",
        ),
        "endings": Table(endings_of(draws, POINT), f"{title}: how the repeats ended, by estimator"),
        "replications": Replications(draws, f"{title}: correlations of every draw, by estimator"),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    frame = tables["correlation"]
    own_reference = frame[frame["method"] == frame["reference"]]
    return {
        f"{measure}_own": plots.efficiency(
            own_reference[own_reference["measure"] == measure], measure, f"Against its own full-data fit{suffix}"
        )
        for measure in ("pearson", "spearman")
    }


run = section_command("subsampling_efficiency", compute, draw)

if __name__ == "__main__":
    run()
