"""Beyond the paper: answers that say how strong they are, on simulated judges and with real confidence.

python experiments/beyond/graded.py [replications=400] ...
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
from studies.graded_answers import (
    ANSWERED,
    SCORED,
    SEVEN,
    answered,
    answered_once,
    by_judge,
    carried,
    carried_by_few,
    has_confidence,
    scored,
    scored_once,
    seven_levels,
)


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    cells = {name: {"how": asdict(how), "level": cfg.level} for name, how in (ANSWERED | SEVEN).items()}
    study = studied(cfg, "graded", answered_once, cells, cfg.replications)
    pairs = {name: {"how": asdict(how)} for name, how in SCORED.items()}
    scoring = studied(cfg, "score_pairs", scored_once, pairs, cfg.replications)
    scores = [row for name in pairs for row in scored(pd.DataFrame(scoring.records(name)), name)]
    unlike, equal = of_unlike_and_equal(study, ANSWERED, answered)
    levels = [row for name in SEVEN for row in seven_levels(pd.DataFrame(study.records(name)), name)]
    tables = {
        "strength": Table(unlike, "Answers with their strength, simulated", 3),
        "equal": Table(equal, "Equal models said to differ, simulated", 3),
        "levels": Table(pd.DataFrame(levels), "Seven levels and the same answers on fewer, simulated", 3),
        "scores": Table(pd.DataFrame(scores), "Pairs of scores as levels and as shares, simulated", 4),
    }
    sets = [judgments for judgments in data.values() if has_confidence(judgments)]
    if sets:
        losses = [row for judgments in sets for row in carried(judgments, cfg.seed)]
        tables["confidence"] = Table(pd.DataFrame(losses), "Held-out log-loss with confidence as strength", 4)
        few = [row for judgments in sets for row in carried_by_few(judgments, cfg.few, cfg.draws, cfg.seed)]
        tables["few"] = Table(pd.DataFrame(few), "The same, fitted to few judgments", 4)
        judges = pd.concat([by_judge(judgments) for judgments in sets], ignore_index=True)
        tables["judges"] = Table(judges, "How each judge uses its confidence", 3)
    return tables


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    figures = {"strength": plots.strength(tables["strength"], f"Answers with their strength, simulated{suffix}")}
    if "judges" in tables:
        figures["judges"] = plots.use_of_confidence(tables["judges"], f"Use of confidence by judge{suffix}")
    return figures


run = section_command("graded", compute, draw)

if __name__ == "__main__":
    run()
