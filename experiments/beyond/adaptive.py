"""Beyond the paper: judgments collected by rounds, choosing what tells most, with a rule for stopping.

python experiments/beyond/adaptive.py [rules=[random,information]] [false_stops=1000] [playbacks=1] ...
"""

import logging

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank import fit
from judgerank.data.judgments import Judgments
from replication.replicate import studied
from replication.tables import Table
from studies import adaptive, plots
from studies.config import section_command

log = logging.getLogger("studies")


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    all_looks = pd.concat([playbacks(cfg, judgments) for judgments in data.values()], ignore_index=True)
    saved = [
        adaptive.savings(looks_of_set).assign(dataset=name)[["dataset", "rule", *SAVED]]
        for name, looks_of_set in all_looks.groupby("dataset", sort=False)
    ]
    return {
        "false_stops": Table(false_stops(cfg), "Stops where every stop is at a false claim", 3),
        "to_the_stop": Table(to_the_stop(cfg), "Comparisons until the goal is reached, simulated", 3),
        "saved": Table(pd.concat(saved), "Comparisons to be as good as random ones", 3),
        **asked_on(cfg),
        "looks": Table(all_looks, "Every look of every playback"),
    }


SAVED = ["measure", "target", "comparisons", "comparisons_se", "saved", "saved_se", "never", "playbacks"]


def false_stops(cfg: DictConfig) -> pd.DataFrame:
    """How often a collection stops where no stop is right."""
    cells, repeats = {}, {}
    for name, design in adaptive.NULLS.items():
        most = None if "questions" in design else cfg.most  # there is an end of questions
        cells[cell_of(name)] = design | {"rule": "information", "level": cfg.level, "most": most}
        repeats[cell_of(name)] = max(1, cfg.false_stops // (2 if name in adaptive.SLOW else 1))
    study = studied(cfg, "adaptive", adaptive.stopped, cells, repeats)
    rows = [
        {"design": name, "goal": design["goal"]} | adaptive.false_stops(pd.DataFrame(study.records(cell_of(name))))
        for name, design in adaptive.NULLS.items()
    ]
    return pd.DataFrame(rows)


def cell_of(name: str) -> str:
    return name.replace(" ", "-").replace(",", "")


def to_the_stop(cfg: DictConfig) -> pd.DataFrame:
    """How many comparisons each rule takes to reach a goal, and how often it then claimed what is not so."""
    cells = {
        cell_of(f"{goal} {rule}"): {
            "scores": adaptive.SPREAD.tolist(), "goal": goal, "rule": rule, "level": cfg.level, "most": None
        }
        for goal in adaptive.GOALS
        for rule in cfg.rules
    }  # fmt: skip
    study = studied(cfg, "adaptive", adaptive.stopped, cells, cfg.saved)
    rows = []
    for name, settings in cells.items():
        records = pd.DataFrame(study.records(name))
        size = records["comparisons"]
        rows.append(
            {
                "goal": settings["goal"],
                "rule": settings["rule"],
                "comparisons": size.mean(),
                "comparisons_se": size.std() / np.sqrt(len(size)),
                "wrong": int(records["wrong"].sum()),
                "runs": len(records),
            }
        )
    table = pd.DataFrame(rows)
    random = table[table["rule"] == "random"].set_index("goal")["comparisons"]
    return table.assign(saved=1 - table["comparisons"] / table["goal"].map(random))


def asked_on(cfg: DictConfig) -> dict[str, Table]:
    """True errors of panels with tastes and without, asked by information and at random, and what that saves."""
    cells = {
        cell_of(f"{panel} {rule}"): {"rule": rule, **settings}
        for panel, settings in adaptive.PANELS.items()
        for rule in ("information", "random")
    }
    study = studied(cfg, "adaptive tastes", adaptive.asked_on, cells, cfg.tastes)
    rows, saved = [], []
    for panel in adaptive.PANELS:
        records = {
            rule: pd.DataFrame(study.records(cell_of(f"{panel} {rule}"))) for rule in ("information", "random")
        }
        for rule, of_rule in records.items():
            rows += [
                {"panel": panel, "rule": rule, "comparisons": size} | adaptive.asked_row(of_rule, size)
                for size in adaptive.SIZES
            ]
        if not adaptive.PANELS[panel]:  # with tastes errors hardly fall, and what is saved is not defined
            saved += [
                {"panel": panel, "measure": measure, "panels": cfg.tastes}
                | adaptive.saved_at_true_error(records["information"], records["random"], measure)
                for measure in adaptive.MEASURES
            ]
    return {
        "tastes": Table(pd.DataFrame(rows), "True errors of panels with tastes and without", 3),
        "true_savings": Table(pd.DataFrame(saved), "Comparisons saved at equal true error", 3),
    }


def playbacks(cfg: DictConfig, judgments: Judgments) -> pd.DataFrame:
    """Every look of every playback of one set."""
    rows = judgments.comparisons
    shared = (rows, fit(rows, adaptive.MODEL).scores.to_numpy())
    cells = {
        rule: {"rule": rule, "level": cfg.level, "share": cfg.share, "growth": cfg.growth} for rule in cfg.rules
    }
    name = f"adaptive {judgments.name}"
    study = studied(cfg, name, adaptive.played_back, cells, cfg.playbacks, shared)
    looks_of_rules = pd.concat([adaptive.paths(study.records(rule), rule) for rule in cells])
    log.info("%s: %d looks", judgments.title, len(looks_of_rules))
    return looks_of_rules.assign(dataset=judgments.name, title=judgments.title)


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"adaptive": plots.adaptive(tables["looks"], f"Judgments collected by rounds{suffix}")}


run = section_command("adaptive", compute, draw)

if __name__ == "__main__":
    run()
