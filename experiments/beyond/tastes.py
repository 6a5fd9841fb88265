"""Beyond the paper: judges' own tastes, and whose opinion an interval is of.

python experiments/beyond/tastes.py [replications=400] ...
"""

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from replication.replicate import studied
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.tastes import (
    EQUAL_DESIGNS,
    STOPS,
    held_once,
    held_row,
    of_set,
    separated_once,
    separated_row,
    stopped_once,
    stops_row,
)


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    sets = [of_set(judgments, cfg.folds, cfg.seed, cfg.level) for judgments in data.values()]
    cells = {
        f"{judges}-judges-{sd}-{size}": {"judges": judges, "sd": sd, "size": size, "level": cfg.level}
        for judges in cfg.judges
        for sd in cfg.sd
        for size in cfg.n_comparisons
    }
    repeats = {key: cfg.nulls if cell["sd"] == 0 else cfg.replications for key, cell in cells.items()}
    study = studied(cfg, "tastes", held_once, cells, repeats)
    rows = [held_row(pd.DataFrame(study.records(key)), cell) for key, cell in cells.items()]
    return {
        "sets": Table(pd.DataFrame(sets), "Judges' tastes on every set", 4),
        "stops": Table(stops(cfg), "Collections that stop where judges have tastes, simulated", 3),
        "equal": Table(equal(cfg), "Equal models that are significantly different, simulated", 3),
        "simulated": Table(pd.DataFrame(rows), "Tastes, their test and both kinds of interval, simulated", 3),
    }


def equal(cfg: DictConfig) -> pd.DataFrame:
    """How often rank separates equal models, by default and for this panel."""
    drawn = [
        {"design": design, "judges": judges, "sd": sd, "own": 0.0, "questions": 0}
        for design in EQUAL_DESIGNS
        for judges in cfg.panels
        for sd in cfg.tastes
    ]
    alone = {"design": list(EQUAL_DESIGNS)[1], "judges": min(cfg.panels), "sd": 0.0, "own": 0.0, "questions": 0}
    drawn += [alone | {"own": own} for own in cfg.favours]
    few = {"judges": min(cfg.panels), "own": 0.0, "questions": cfg.questions}
    drawn += [{"design": design, "sd": sd} | few for design in EQUAL_DESIGNS for sd in (0.0, max(cfg.tastes))]
    most = max(cfg.favours)
    drawn += [alone | {"judges": max(cfg.panels), "own": own} for own in cfg.favours]
    drawn += [alone | {"judges": cfg.few_judges, "own": own} for own in (0.0, most)]
    drawn += [alone | {"questions": cfg.questions, "own": most}, alone | {"own": most, "partial": cfg.partial}]
    drawn += [alone | {"own": own, "ties": cfg.ties} for own in (0.0, most)]
    drawn = [cell | {"size": cfg.per_judge * cell["judges"], "level": cfg.level} for cell in drawn]
    cells = {"-".join(str(value) for value in cell.values()).replace(" ", "_"): cell for cell in drawn}
    study = studied(cfg, "taste_equal", separated_once, cells, cfg.sets)
    return pd.DataFrame([separated_row(pd.DataFrame(study.records(key)), cell) for key, cell in cells.items()])


def stops(cfg: DictConfig) -> pd.DataFrame:
    """How often collections stop, and wrongly, by three rules."""
    cells = {f"design-{number}": STOPS[name] for number, name in enumerate(STOPS)}
    cells = {key: cell | {"level": cfg.level, "most": cfg.most} for key, cell in cells.items()}
    study = studied(cfg, "taste_stops", stopped_once, cells, cfg.stops)
    keyed_stops = zip(cells, STOPS, strict=True)
    return pd.DataFrame([stops_row(pd.DataFrame(study.records(key)), name) for key, name in keyed_stops])


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"tastes": plots.tastes(tables["simulated"], f"Intervals where judges have tastes, simulated{suffix}")}


run = section_command("tastes", compute, draw)

if __name__ == "__main__":
    run()
