"""Beyond the paper: rankings of several answers by unlike judges, simulated.

python experiments/beyond/rankings.py [replications=400] ...
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
from studies.ranked_answers import RANKED, ranked_once, rows_by_way, with_worth


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    cells = {name: {"how": asdict(how), "level": cfg.level} for name, how in RANKED.items()}
    study = studied(cfg, "rankings", ranked_once, cells, cfg.replications)
    unlike, equal = of_unlike_and_equal(study, RANKED, rows_by_way)
    return {
        "fits": Table(with_worth(unlike), "Rankings fitted whole and in pairs, simulated", 3),
        "equal": Table(equal, "Equal models said to differ, simulated rankings", 3),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"rankings": plots.ranked_answers(tables["fits"], f"Rankings of several answers, simulated{suffix}")}


run = section_command("rankings", compute, draw)

if __name__ == "__main__":
    run()
