"""Contrary judges told from random ones, and what is claimed of little data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.errors import JudgerankError
from judgerank.ranking.choices import Settings
from judgerank.ranking.ranking import ranked_set
from judgerank.ranking.studies.leaderboards import board_of
from judgerank.ranking.studies.panel import contrary_judges
from judgerank.ranking.study import Component
from judgerank.reading.read import read_judgments
from replication.replicate import Record
from replication.tables import with_error

SCORES = (1.0, 0.4, -0.4, -1.0)
TASTE = 1.0  # standard deviation of a judge's own tastes
# discriminations of the last judge and of all others, tastes of the last, and whether the models differ
KINDS: dict[str, tuple[float, float, float, bool]] = {
    "contrary": (-1.5, 1.5, 0.0, True),
    "weakly contrary": (-0.5, 1.5, 0.0, True),
    "coins": (0.0, 1.5, 0.0, True),
    "own tastes": (1.5, 1.5, TASTE, True),
    "tastes alone": (0.0, 1.5, TASTE, True),
    "honest": (1.5, 1.5, 0.0, True),
    "beside coins": (1.5, 0.0, 0.0, True),
    "equal models": (1.5, 1.5, 0.0, False),
}


@dataclass(frozen=True)
class Panel:
    """A panel whose last judge is of one of `KINDS`; each judge gives as many answers."""

    kind: str
    answers: int
    judges: int


@dataclass(frozen=True)
class Few:
    """Equal models, or one that is ahead, on few questions, whose judges all see the same of every answer.

    Attributes
    ----------
    questions, judges, models : int
    effect : float
        Standard deviation of an answer's quality about its model's score, in log-odds.
    lead : float
        Of the first model.
    """

    questions: int
    judges: int
    models: int
    effect: float
    lead: float


@dataclass(frozen=True)
class Duel:
    """Two models compared so often by one judge, the first ahead by so much in log-odds."""

    comparisons: int
    lead: float
    level: float


def component_of(records: list[dict[str, object]]) -> Component | None:
    """The one component of judgments, ranked as `judgerank rank` does; None where there is no ranking."""
    try:
        (component,) = ranked_set(read_judgments(records, copies="keep"), Settings()).components
    except (JudgerankError, ValueError):
        return None
    return component


def record(i: int, j: int, judge: int, first: bool, question: int) -> dict[str, object]:
    """One judgment in the arena's columns."""
    winner = "model_a" if first else "model_b"
    return {
        "model_a": f"m{i}",
        "model_b": f"m{j}",
        "judge_model": f"j{judge}",
        "winner": winner,
        "question_id": question,
    }


def accused(panel: Panel, rng: np.random.Generator) -> Record:
    """Whether the last judge of a panel is called contrary, and whether any other is."""
    last, others, taste, are_apart = KINDS[panel.kind]
    scores, n = np.array(SCORES) * are_apart, len(SCORES)
    thought = np.full(panel.judges, others)[:, None] * scores
    thought[-1] = last * scores + taste * rng.standard_normal(n)
    rows = []
    for judge in range(panel.judges):
        for _ in range(panel.answers):
            i, j = rng.permutation(n)[:2]
            first = rng.random() < expit(thought[judge, i] - thought[judge, j])
            rows.append(record(i, j, judge, first, len(rows)))
    component = component_of(rows)
    named = () if component is None else contrary_judges(component)
    last_name = f"j{panel.judges - 1}"
    return {"last": float(last_name in named), "others": float(bool({*named} - {last_name}))}


def separated_few(few: Few, rng: np.random.Generator) -> Record:
    """Whether a pair of equal models is separated, and the share separated of pairs that differ."""
    scores = np.zeros(few.models)
    scores[0] = few.lead
    rows = []
    for question in range(few.questions):
        seen = scores + few.effect * rng.standard_normal(few.models)
        for i in range(few.models):
            for j in range(i + 1, few.models):
                for judge in range(few.judges):
                    a, b = (i, j) if rng.random() < 0.5 else (j, i)
                    rows.append(record(a, b, judge, rng.random() < expit(seen[a] - seen[b]), question))
    component = component_of(rows)
    if component is None or "separated" not in component.pairs:
        return {"false": 0.0, "power": 0.0 if few.lead else np.nan}
    pairs = component.pairs
    truth = {f"m{number}": score for number, score in enumerate(scores)}
    ahead = pairs["first"].map(truth) - pairs["second"].map(truth)
    is_separated = pairs["separated"].astype(bool)
    n_apart = few.models - 1
    power = float((is_separated & (ahead > 0)).sum() / n_apart) if few.lead else np.nan
    return {"false": float((is_separated & (ahead <= 0)).any()), "power": power}


def covered(duel: Duel, rng: np.random.Generator) -> Record:
    """Whether intervals of a duel hold the truth, their width, and whether score and claim agree."""
    rows = []
    for question in range(duel.comparisons):
        a, b = (0, 1) if question % 2 else (1, 0)
        ahead = duel.lead if a == 0 else -duel.lead
        rows.append(record(a, b, 0, rng.random() < expit(ahead), question))
    component = component_of(rows)
    if component is None or "separated" not in component.pairs:
        return {}
    pair, board = component.pairs.iloc[0], board_of(component).set_index("model")
    truth = duel.lead if pair["first"] == "m0" else -duel.lead
    score = board.loc["m0"]
    is_sure = score["low"] > 0 or score["high"] < 0
    return {
        "difference": float(pair["low"] <= truth <= pair["high"]),
        "score": float(score["low"] <= duel.lead / 2 <= score["high"]),
        "width": float(score["high"] - score["low"]),
        "agree": float(is_sure == bool(pair["separated"])),
    }


def sweep_row(wins: int, losses: int, ties: int) -> dict[str, object]:
    """What is said of two models of which one wins and loses so often, each answer on a question of its own."""
    winners = ["m0"] * wins + ["m1"] * losses + ["tie"] * ties
    rows = [
        record(place % 2, 1 - place % 2, 0, True, place) | {"winner": won} for place, won in enumerate(winners)
    ]
    component = component_of(rows)
    row: dict[str, object] = {"wins": wins, "losses": losses, "ties": ties}
    if component is None or "separated" not in component.pairs:
        return row
    pair, best = component.pairs.iloc[0], board_of(component).iloc[0]
    row |= {"p_value": pair["p_value"], "separated": bool(pair["separated"]), "difference": pair["difference"]}
    return (
        row
        | {name: pair[name] for name in ("low", "high")}
        | {"score_low": best["low"], "score_high": best["high"]}
    )


def row(records: pd.DataFrame, names: dict[str, object]) -> dict[str, object]:
    """Means of one cell with Monte Carlo standard errors."""
    means = dict(names)
    for column in records.columns.drop("replication", errors="ignore"):
        means |= with_error(column, records[column].dropna())
    return means | {"n_replications": len(records)}
