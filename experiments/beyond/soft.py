"""Beyond the paper: the probability of the letter in place of the letter, on simulated judges.

python experiments/beyond/soft.py [replications=400] ...
"""

from dataclasses import asdict

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication.replicate import studied
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.default_fits import of_unlike_and_equal
from studies.soft_labels import ANSWERED, answered, answered_once


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    cells = {name: {"how": asdict(how), "level": cfg.level} for name, how in ANSWERED.items()}
    study = studied(cfg, "soft", answered_once, cells, cfg.replications)
    unlike, equal = of_unlike_and_equal(study, ANSWERED, answered)
    return {
        "worth": Table(unlike, "Probabilities in place of letters, simulated", 3),
        "equal": Table(equal, "Equal models said to differ, simulated", 3),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"soft": plots.soft(tables["worth"], f"Probabilities in place of letters, simulated{suffix}")}


run = section_command("soft", compute, draw)

if __name__ == "__main__":
    run()
