"""Beyond the paper: contrary judges told from random ones, and what is claimed of little data.

python experiments/beyond/contrary.py [replications=20] [answers=[20,80]] ...
"""

from dataclasses import asdict

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from replication.replicate import studied
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.contrary import KINDS, Duel, Few, Panel, accused, covered, row, separated_few, sweep_row


def compute(cfg: DictConfig, _: dict) -> dict[str, Table]:
    panels = {
        f"{kind} {answers}".replace(" ", "-"): Panel(kind, answers, cfg.judges)
        for kind in KINDS
        for answers in cfg.answers
    }
    few = {
        f"{questions}-{effect:g}-{lead:g}": Few(questions, cfg.judges, cfg.models, effect, lead)
        for questions in cfg.questions
        for effect in cfg.effects
        for lead in (0.0, cfg.lead)
    }
    duels = {f"{size}-{lead:g}": Duel(size, lead, cfg.level) for size in cfg.comparisons for lead in cfg.leads}
    studies = [
        studied(cfg, "contrary_judges", accused, panels, cfg.replications),
        studied(cfg, "few_questions", separated_few, few, cfg.replications),
        studied(cfg, "duels", covered, duels, cfg.duels),
    ]
    judges, questions, intervals = (
        pd.DataFrame([row(pd.DataFrame(study.records(name)), asdict(cell)) for name, cell in study.cells.items()])
        for study in studies
    )
    sweeps = pd.DataFrame([sweep_row(wins, losses, ties) for wins, losses, ties in cfg.sweeps])
    return {
        "judges": Table(judges, "Judges called contrary, simulated", 3),
        "questions": Table(questions, "Pairs separated on few questions, simulated", 3),
        "intervals": Table(intervals, f"Coverage of {cfg.level:.0%} intervals of two models, simulated", 3),
        "sweeps": Table(sweeps, "Two models of which one wins nearly all, and many ties", 4),
    }


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"contrary": plots.contrary(tables["judges"], f"Judges called contrary, simulated{suffix}")}


run = section_command("contrary", compute, draw)

if __name__ == "__main__":
    run()
