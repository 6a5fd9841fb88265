"""Beyond the paper: the reported scale of scores, and boards compared on it.

python experiments/beyond/scale.py [replications=400] ...
"""

from dataclasses import asdict

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication.replicate import simulated
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.reported_scale import (
    BOARDS,
    CROWDS,
    PANELS,
    compared_once,
    compared_row,
    crowd_once,
    crowd_row,
    scored_once,
    scores_row,
    without_useless,
)


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    useless = pd.DataFrame([without_useless(judgments, cfg.member, cfg.least) for judgments in data.values()])
    cells = {f"{panel}-{size}": {"panel": panel, "size": size} for panel in PANELS for size in cfg.n_comparisons}
    records = simulated(cfg, "scale", scored_once, cells, cfg.replications)
    rows = [scores_row(records[key], cell["panel"], cell["size"], cfg.level) for key, cell in cells.items()]
    crowds = {name: {"how": asdict(how), "member": cfg.member, "level": cfg.level} for name, how in CROWDS.items()}
    records_of_crowds = simulated(cfg, "scale_crowds", crowd_once, crowds, cfg.crowds)
    boards = {name: {"how": asdict(how), "level": cfg.level} for name, how in BOARDS.items()}
    records_of_boards = simulated(cfg, "scale_boards", compared_once, boards, cfg.boards)
    return {
        "useless": Table(useless, "Range of scores with all judges and without those who tell nothing", 3),
        "scores": Table(pd.DataFrame(rows), "Reported scores and their errors, simulated", 3),
        "crowds": Table(
            pd.DataFrame([crowd_row(records_of_crowds[name], name) for name in crowds]),
            "Scores and win rates of crowds, simulated",
            3,
        ),
        "compared": Table(
            pd.DataFrame([compared_row(records_of_boards[name], name) for name in boards]),
            "Boards on which a model is said to have moved, simulated",
            3,
        ),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"scale": plots.scale(tables["scores"], tables["compared"], f"The reported scale, simulated{suffix}")}


run = section_command("scale", compute, draw)

if __name__ == "__main__":
    run()
