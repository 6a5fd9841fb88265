"""Beyond the paper: shrinkage toward the panel on the grid of section 4.1.

python experiments/beyond/small_samples.py [profile=smoke] [estimator=adam] [solver.log_discrimination=1.0] ...
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from replication.simulation import by_draws, failures_of, replications_of, shrunk_error, study_of
from replication.tables import Replications, Table
from studies import plots
from studies.config import section_command

log = logging.getLogger("studies")
PARAMETERS = ("score", "standardised_score", "log_discrimination")
DRAWS = {"main": "the main draw of the truth", "further": "further draws"}


def compute(cfg: DictConfig, _: dict) -> dict[str, Table | Replications]:
    study = study_of(cfg, "small_samples", shrunk_error)
    study.run(cfg.parallel)
    errors, shrunk = [], []
    for key_columns, by_draw in by_draws(study):
        errors += [{**key_columns, "parameter": p, **compared(by_draw, p)} for p in PARAMETERS]
        shrunk.append({**key_columns, **what_it_chose(by_draw)})
    failures = failures_of(study)
    log.info("replications that failed: %d (each with its reason in failures.csv)", len(failures))
    frame = pd.DataFrame(errors)
    lower = (frame["ratio"] > 1).groupby([frame["draws"], frame["parameter"]], sort=False)
    for (label, parameter), (count, total) in lower.agg(["sum", "size"]).iterrows():
        caption_parts = (parameter.replace("_", " "), DRAWS[label], count, total)
        log.info("%s, %s: lower mean squared error with shrinkage at %d of %d points", *caption_parts)
    return {
        "mse": Table(frame, f"Mean squared error: {cfg.estimator.name} and shrunk", 4),
        "shrinkage": Table(
            pd.DataFrame(shrunk), f"What the shrunk fits chose, and their {cfg.level:.0%} intervals", 4
        ),
        "failures": Table(failures, "Replications without a result"),
        "replications": Replications(replications_of(study), "Both estimators in every replication"),
    }


def compared(by_draw: list[pd.DataFrame], parameter: str) -> dict[str, float]:
    """Mean errors of both estimators, and their ratio with its Monte Carlo error.

    Over several draws of the truth, draws are the independent units.
    """
    columns = [f"errors/{method}/{parameter}" for method in ("judge_aware", "shrunk")]
    frames = [frame.reindex(columns=columns).dropna() for frame in by_draw]
    units = np.array([frame.mean() for frame in frames if len(frame)] if len(frames) > 1 else frames[0])
    if len(units) == 0:
        return dict.fromkeys(("mean", "mean_shrunk", "ratio", "ratio_se"), np.nan) | {"n_replications": 0}
    plain, shrunk = units.mean(axis=0)
    off = (units[:, 0] - plain / shrunk * units[:, 1]) / shrunk  # delta method
    error = off.std(ddof=1) / np.sqrt(len(off)) if len(off) > 1 else np.nan
    row = {"mean": plain, "mean_shrunk": shrunk, "ratio": plain / shrunk, "ratio_se": error}
    return row | {"n_replications": sum(map(len, frames))}


def what_it_chose(by_draw: list[pd.DataFrame]) -> dict[str, float]:
    """Mean standard deviations of the penalties, and coverage of the scores with its Monte Carlo error."""
    frame = pd.concat(by_draw)
    covered = frame["intervals/shrunk/coverage"].dropna()
    return {
        "spread_scores": frame["penalties/scores"].mean(),
        "spread_log_discrimination": frame["penalties/log_discrimination"].mean(),
        "coverage": covered.mean(),
        "coverage_se": covered.std() / np.sqrt(len(covered)),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"mse": plots.shrunk(tables["mse"], f"Shrinkage toward the panel{suffix}")}


run = section_command("small_samples", compute, draw)

if __name__ == "__main__":
    run()
