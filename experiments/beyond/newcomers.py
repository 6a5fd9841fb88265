"""Beyond the paper: a new model on an existing board, and boards compared.

python experiments/beyond/newcomers.py [member=judge_aware] [replications=400] ...
"""

import logging

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication.replicate import simulated
from replication.tables import Table
from studies import plots
from studies.boards import (
    COMPARED,
    PLACED,
    TASTES,
    answered,
    answered_once,
    compared_once,
    left_out_and_placed,
    placed_once,
    summary,
)
from studies.config import section_command

log = logging.getLogger("studies")
MEASURES = ["covered", "covered_own", "pairs_covered", "beside_refit", "moved", "partial"]


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    parts = [left_out_and_placed(judgments, cfg.member, cfg.level) for judgments in data.values()]
    tables = {"left_out": Table(pd.concat(parts), "Every model taken off its board and placed on it", 3)}
    for judgments, part in zip(data.values(), parts, strict=True):
        log.info("%s: %d of %d models placed", judgments.title, part["placed"].notna().sum(), len(part))
    if cfg.replications:
        keys = {name: dict(zip(("board", "own", "favour"), of, strict=True)) for name, of in PLACED.items()}
        tables["placed"] = Table(on_boards(cfg, placed_once, keys, MEASURES), "Simulated newcomers on boards", 3)
        keys = {
            name: dict(zip(("old", "new", "grown", "change", "tastes"), of, strict=True))
            for name, of in COMPARED.items()
        }
        tables["compared"] = Table(on_boards(cfg, compared_once, keys, ["moved"]), "Simulated boards compared", 3)
        cells = {str(tastes): {"tastes": tastes, "level": cfg.level} for tastes in TASTES}
        records = simulated(cfg, "answered", answered_once, cells, cfg.replications)
        title = "Newcomers on shrunk boards by comparisons and judges who answered"
        tables["answered"] = Table(answered(records), title, 3)
    return tables


def on_boards(cfg: DictConfig, task, settings: dict, measures: list[str]) -> pd.DataFrame:
    """One row for every setting."""
    cells = {name: {**options, "level": cfg.level} for name, options in settings.items()}
    records = simulated(cfg, "newcomers", task, cells, cfg.replications)
    return pd.DataFrame([summary(frame, name, measures) for name, frame in records.items()])


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    title = f"Models removed from their boards and placed on them again{suffix}"
    return {"newcomers": plots.newcomers(tables["left_out"], tables.get("placed"), title)}


run = section_command("newcomers", compute, draw)

if __name__ == "__main__":
    run()
