"""Beyond the paper: judges of a model's own maker have no vote on it.

python experiments/beyond/self_preference.py [replications=400] ...
"""

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication.replicate import studied
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.self_preference import of_set, simulated_once, simulated_row


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    cells = {
        f"{panel}, {bias:g}": {"panel": panel, "bias": bias, "questions": cfg.n_questions}
        for panel in cfg.panels
        for bias in cfg.bias
    }
    study = studied(cfg, "self_preference", simulated_once, cells, cfg.replications)
    rows = [simulated_row(pd.DataFrame(study.records(key)), cell) for key, cell in cells.items()]
    return {
        "sets": Table(pd.DataFrame([of_set(one) for one in data.values()]), "Votes left out of every set", 4),
        "simulated": Table(pd.DataFrame(rows), "A judge who favours his maker's model, simulated", 3),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    title = f"Wrong model first where a judge favours his maker's model, simulated{suffix}"
    return {"self_preference": plots.self_preference(tables["simulated"], title)}


run = section_command("self_preference", compute, draw)

if __name__ == "__main__":
    run()
