"""Section 4.2: coverage and width of confidence intervals (Figure 2, Table A.2).

python experiments/ci_coverage.py [profile=smoke] [level=0.9] [estimator=adam estimator.max_iterations=5000] ...
"""

import logging
from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from replication import plots
from replication.outputs import section_command
from replication.replicate import Study
from replication.simulation import (
    Cell,
    endings_of,
    failures_of,
    interval_coverage,
    is_interior,
    replications_of,
    study_of,
)
from replication.tables import Replications, Table

log = logging.getLogger("replication")
METHODS = ("judge_aware", "btl", "btl_rescaled")


def compute(cfg: DictConfig, _: dict) -> dict[str, Table | Replications]:
    study = study_of(cfg, "ci_coverage", interval_coverage)
    study.run(cfg.parallel)
    on_grid = [cell for cell in study.cells.values() if not cell.beyond]
    main_draw = rows_of(study, [cell for cell in on_grid if cell.truth.draw == 0])
    other_draws = rows_of(study, [cell for cell in on_grid if cell.truth.draw > 0])
    beyond = rows_of(study, [cell for cell in study.cells.values() if cell.beyond])
    failures = failures_of(study)
    log.info("replications that failed: %d (each with its reason in failures.csv)", len(failures))
    caption = f"Coverage and mean width of {cfg.level:.0%} intervals of the scores"
    tables = {
        "coverage": Table(main_draw.drop(columns="draw"), f"{caption} (Figure 2)", 4),
        "coverage_draws": Table(other_draws, f"{caption} under further draws of the truth", 4),
        "coverage_beyond": Table(beyond, f"{caption} beyond the paper's grid", 4),
        "endings": Table(endings_of(study), "How the judge-aware fits ended, as shares"),
        "failures": Table(failures, "Replications without a result"),
        "replications": Replications(replications_of(study), f"{caption}: every replication"),
        "level": Table(pd.DataFrame({"level": [float(cfg.level)]}), "The nominal level"),
    }
    return {name: table for name, table in tables.items() if len(table.frame.columns)}


def rows_of(study: Study, cells: Iterable[Cell]) -> pd.DataFrame:
    """Coverage by grid point, draw of the truth and method."""
    rows = []
    for cell in cells:
        records, key_columns = study.frame(cell.name), {**cell.key_columns, "draw": cell.truth.draw}
        rows += [{**key_columns, "method": method, **summary(records, method)} for method in METHODS]
    return pd.DataFrame(rows)


def summary(records: pd.DataFrame, method: str) -> dict:
    """Coverage with its Monte Carlo standard error over replications, width, and width over spread of scores."""
    columns = [f"intervals/{method}/{name}" for name in ("coverage", "width", "spread")]
    complete = records.reindex(columns=columns).dropna()
    covered, width, spread = (complete[name] for name in columns)
    return {
        "coverage": covered.mean(),
        "coverage_se": covered.std() / np.sqrt(len(complete)),
        "width": width.mean(),
        "n_replications": len(complete),
        "relative_width": (width / spread).mean(),
        "n_interior": int(is_interior(records).sum()),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    level = tables["level"].at[0, "level"]
    title = f"{level:.0%} intervals of the scores, {plots.estimator_of(tables['endings'])}{suffix}"
    return {"coverage": plots.coverage(tables["coverage"], tables.get("coverage_draws"), level, title)}


run = section_command("ci_coverage", compute, draw)

if __name__ == "__main__":
    run()
