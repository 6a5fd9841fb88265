"""Beyond the paper: new models on the human scale, on simulated boards and with models of a real board left out.

python experiments/beyond/human_scale.py [replications=400] [arenas=PATH] ...
"""

from dataclasses import asdict
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication.replicate import simulated
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.human_boards import (
    BOARDS,
    NULLS,
    arenas,
    board_row,
    error_rows,
    left_off,
    placed_once,
    published_board,
    summary,
)


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    cells = {name: {"board": asdict(board), "level": cfg.level} for name, board in (BOARDS | NULLS).items()}
    repeats = {name: cfg.null_replications if name in NULLS else cfg.replications for name in cells}
    records = simulated(cfg, "human_scale", placed_once, cells, repeats)
    errors = [row for name in BOARDS for row in error_rows(records[name], name)]
    boards, nulls = ([board_row(records[name], name) for name in of] for of in (BOARDS, NULLS))
    tables = {
        "errors": Table(pd.DataFrame(errors), "New models on simulated human boards: errors in Elo points", 2),
        "boards": Table(pd.DataFrame(boards), "Intervals of new models on simulated human boards", 3),
        "nulls": Table(pd.DataFrame(nulls), "The same where judges, or models, have nothing to find", 3),
    }
    judged = {arena.name: published_board(arena) for arena in data.values()}
    judged |= arenas(Path(cfg.arenas)) if cfg.arenas else {}
    left = {name: left_off(arena, cfg.level) for name, arena in judged.items()}
    models = pd.concat([table.assign(arena=name) for name, table in left.items()], ignore_index=True)
    rows = [row for name, arena in judged.items() for row in summary(left[name], name, len(arena.verdicts.judges))]
    tables["arenas"] = Table(pd.DataFrame(rows), "Every model of a human board left out: errors in Elo points", 2)
    tables["models"] = Table(models, "Every model of a human board left out, in Elo points", 1)
    return tables


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    simulated = plots.human_boards(tables["errors"], tables["boards"], f"New models on simulated boards{suffix}")
    left = plots.left_off(tables["models"], f"Each model left off the human board{suffix}")
    return {"boards": simulated, "left_off": left}


run = section_command("human_scale", compute, draw)

if __name__ == "__main__":
    run()
