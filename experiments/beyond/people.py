"""Beyond the paper: a few human votes as the anchor of a panel's many, on simulated panels.

python experiments/beyond/people.py [replications=500] ...
"""

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication.replicate import simulated
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.people import CROWDS, VOTED, crowd_once, crowd_row, voted, voted_once
from studies.sampled_units import STUDIES, unit_rows


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    cells = {
        name: {"bias": bias, "sd": sd, "asked": n_votes, "level": cfg.level}
        for name, (bias, sd, n_votes) in VOTED.items()
    }
    records = simulated(cfg, "people", voted_once, cells, cfg.replications)
    rows = [voted(frame, name) for name, frame in records.items()]
    return {
        "votes": Table(pd.DataFrame(rows), "A few human votes beside a panel, simulated", 3),
        "crowds": Table(crowds(cfg), "One vote each of a crowd beside two judges, simulated", 3),
        "sampled": Table(sampled(cfg), "False decisions and coverage by what was sampled, simulated", 3),
    }


def sampled(cfg: DictConfig) -> pd.DataFrame:
    """Errors by question and by the other unit that was sampled: templates, raters, people who come again."""
    rows = []
    for study, (once, designs) in STUDIES.items():
        cells = {name: {"design": name, "level": cfg.level} for name in designs}
        records = simulated(cfg, f"people_{study}", once, cells, cfg.sampled)
        rows += [row for name, frame in records.items() for row in unit_rows(frame, study, name)]
    return pd.DataFrame(rows)


def crowds(cfg: DictConfig) -> pd.DataFrame:
    """Many models, two judges, and one vote of a crowd on each of some items."""
    cells = {name: {"asked": n_votes, "level": cfg.level} for name, n_votes in CROWDS.items()}
    records = simulated(cfg, "people_crowds", crowd_once, cells, cfg.crowds)
    return pd.DataFrame([crowd_row(frame, name) for name, frame in records.items()])


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"people": plots.people(tables["votes"], f"A few human votes beside a panel's many, simulated{suffix}")}


run = section_command("people", compute, draw)

if __name__ == "__main__":
    run()
