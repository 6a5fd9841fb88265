"""Beyond the paper: may a candidate ship? False decisions and power of `judgerank gate`.

python experiments/beyond/gate.py [replications=1000] ...
"""

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig

from judgerank.data.arrays import generator
from judgerank.data.judgments import Judgments
from replication.replicate import Study, studied
from replication.tables import Table
from studies import plots
from studies.config import section_command
from studies.gates import (
    CONDITIONS,
    RARE,
    held,
    judged_once,
    looked_once,
    money,
    played_back,
    power_and_level,
    rare_once,
    shares,
    verdicts,
)
from studies.hostile_gates import HOSTILE, hostile_once
from studies.run_gates import CONDITIONS as OF_RUNS
from studies.run_gates import decided_once

JUDGES = 3  # of a panel, where their number is not varied


def compute(cfg: DictConfig, data: dict[str, Judgments]) -> dict[str, Table]:
    simulated = decisions(cfg)
    levels = simulated[simulated["case"].isin(["equal", "inferior"])]
    levels = levels.assign(held=held(levels))
    power = simulated[simulated["case"].isin(["worse", "better"])]
    skewed, looked = rare(cfg), looks(cfg)
    by_size = looked["rule"].str.startswith("fixed")
    departed = hostile(cfg)
    is_false = departed["case"].isin(["equal", "inferior"])
    rng = generator(cfg.seed, "gate")
    rows = [
        row
        for name, judgments in data.items()
        for row in verdicts(played_back(judgments, list(cfg.parts), cfg.draws, rng), name)
    ]
    return {
        "levels": Table(levels, "False decisions: equal variants blocked, inferior ones shipped", 4),
        "power": Table(
            power_and_level(power, levels, skewed),
            "Right decisions: worse variants blocked, better ones shipped, beside false ones",
            4,
        ),
        "looks": Table(looked[~by_size], "Daily looks at growing data", 4),
        "money": Table(money(looked, cfg.question_price), "Questions and money, by looks and in one size", 2),
        "hostile": Table(
            departed.assign(held=held(departed).where(is_false)), "Decisions where assumptions fail", 4
        ),
        "runs": Table(runs(cfg), "Decisions on scores of runs with and without a change, beside other rules", 4),
        "rare": Table(skewed, "Scores that are skewed as much as changes are", 4),
        "playback": Table(pd.DataFrame(rows), "Two models of a board, judged by a part of their questions", 4),
    }


def decisions(cfg: DictConfig) -> pd.DataFrame:
    """Shares of decisions by condition, questions and judges."""
    ends = {"plain", "everything"}
    cells = {
        f"{name}/{n}/{k}": {"condition": name, "n_questions": n, "n_judges": k}
        for name in CONDITIONS
        for n in cfg.n_questions
        for k in (cfg.n_judges if name in ends else [JUDGES])
    }
    return collected(studied(cfg, "gate", judged_once, cells, cfg.replications))


def hostile(cfg: DictConfig) -> pd.DataFrame:
    """Shares of decisions where the assumptions of the tests fail, with and without the gate's checks."""
    cells = {name: {"condition": name} for name in HOSTILE}
    return collected(studied(cfg, "gate", hostile_once, cells, cfg.hostile))


def runs(cfg: DictConfig) -> pd.DataFrame:
    """Shares of decisions on scores of runs, by condition and number of tasks."""
    cells = {f"{name}/{n}": {"condition": name, "n_questions": n} for name in OF_RUNS for n in cfg.tasks}
    decided = collected(studied(cfg, "gate", decided_once, cells, cfg.runs))
    is_false = decided["case"].str.startswith("equal") | decided["case"].eq("at the margin, shipped")
    return decided.assign(held=held(decided).where(is_false))


def looks(cfg: DictConfig) -> pd.DataFrame:
    """Shares of decisions at any of several looks, and how many questions were asked until then."""
    cells = {
        name: {"condition": name, "n_judges": JUDGES, "sizes": list(cfg.looks)} for name in ("plain", "everything")
    }
    return collected(studied(cfg, "gate", looked_once, cells, cfg.looked))


def rare(cfg: DictConfig) -> pd.DataFrame:
    """Shares of decisions where the win rate hangs on few questions."""
    cells = {
        f"{name}/{n}": {"condition": name, "n_questions": n} for name in RARE for n in cfg.n_questions if n <= 100
    }
    return collected(studied(cfg, "gate", rare_once, cells, cfg.rare))


def collected(study: Study) -> pd.DataFrame:
    """Shares of every cell, beside its settings."""
    parts = []
    for cell, settings in study.cells.items():
        plain_settings = {key: value for key, value in settings.items() if not isinstance(value, list)}
        records = pd.DataFrame(study.records(cell)).drop(columns="replication")
        parts.append(shares(records).assign(**plain_settings))
    table = pd.concat(parts, ignore_index=True)
    first = [name for name in ("condition", "n_questions", "n_judges") if name in table]
    return table[[*first, *(name for name in table if name not in first)]]


def draw(tables: dict[str, pd.DataFrame], suffix: str) -> dict[str, Figure]:
    return {"gate": plots.gate(tables["levels"], tables["power"], f"Decisions of a gate, simulated{suffix}")}


run = section_command("gate", compute, draw)

if __name__ == "__main__":
    run()
