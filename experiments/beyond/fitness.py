"""Beyond the paper: tests of fit, tests of pairs with few questions, and repeated requests.

python experiments/beyond/fitness.py [replications=300] ...
"""

from collections.abc import Callable
from dataclasses import asdict

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication.replicate import simulated
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.fit_tests import (
    FEW,
    FIT,
    REPEATED,
    Design,
    few_tested,
    fit_tested,
    of_set,
    repeated,
    repeats_row,
    shares_row,
)


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    records = of_designs(cfg, "fitness", fit_tested, FIT, cfg.replications)
    few = of_designs(cfg, "fitness_few", few_tested, FEW, cfg.few)
    repeat_records = of_designs(cfg, "fitness_repeats", repeated, REPEATED, cfg.repeated)
    fits = pd.DataFrame([shares_row(records[name], name, design) for name, design in FIT.items()])
    levels = pd.DataFrame([shares_row(few[name], name, design) for name, design in FEW.items()])
    requests = pd.DataFrame([repeats_row(repeat_records[name], name, design) for name, design in REPEATED.items()])
    sets = [of_set(judgments, cfg.member, cfg.level) for judgments in data.values()]
    return {
        "levels": Table(fits, "Shares of simulated sets in which a test of fit finds a departure", 3),
        "few": Table(levels, "Few questions: pairs of models that are said to differ", 3),
        "repeats": Table(requests, "Repeated requests", 3),
        "sets": Table(pd.DataFrame([row for row, _ in sets]), "Tests of fit on the four sets", 3),
        "judges": Table(pd.concat([judges for _, judges in sets]), "Judges who depart from the model", 3),
    }


def of_designs(
    cfg: DictConfig, name: str, task: Callable, designs: dict[str, Design], n_replications: int
) -> dict[str, pd.DataFrame]:
    """Records of every design."""
    cells = {
        design_name: {"design": asdict(design), "level": cfg.level} for design_name, design in designs.items()
    }
    return simulated(cfg, name, task, cells, n_replications)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"fitness": plots.fitness(tables["levels"], tables["few"], f"Tests of fit, simulated{suffix}")}


run = section_command("fitness", compute, draw)

if __name__ == "__main__":
    run()
