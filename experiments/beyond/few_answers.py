"""Beyond the paper: judges with few answers each, such as people with one vote.

python experiments/beyond/few_answers.py [replications=400] [answers=[1,10]] ...
"""

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from replication.replicate import studied
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.few_answers import Cell, accused, measured, row


def compute(cfg: DictConfig, _: dict) -> dict[str, Table]:
    alone, beside = cells_of(cfg, cfg.crowds, 0), cells_of(cfg, cfg.panels, cfg.panel)
    fitted = studied(cfg, "few_answers", measured, alone | beside, cfg.replications)
    tested = studied(cfg, "one_sided_votes", accused, cells_of(cfg, cfg.tested, cfg.panel), cfg.tests)
    tables = [
        pd.DataFrame([row(pd.DataFrame(study.records(key)), cell) for key, cell in study.cells.items()])
        for study in (fitted, tested)
    ]
    return {
        "few_answers": Table(tables[0], "Crowds by answers a judge, alone and beside a panel, simulated", 3),
        "one_sided": Table(tables[1], "Crowds beside a panel whose votes are called one-sided, simulated", 3),
    }


def cells_of(cfg: DictConfig, kinds: list[str], panel: int) -> dict[str, Cell]:
    """One cell for each kind of crowd and number of answers a judge."""
    return {
        f"{kind.replace(' ', '-')}-{panel}-{answers}": Cell(
            kind, answers, cfg.crowd, panel, cfg.panel_answers, cfg.level
        )
        for kind in kinds
        for answers in cfg.answers
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"few_answers": plots.few_answers(tables["few_answers"], f"Judges with few answers each{suffix}")}


run = section_command("few_answers", compute, draw)

if __name__ == "__main__":
    run()
