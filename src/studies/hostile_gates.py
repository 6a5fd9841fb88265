"""`judgerank gate` where its usual assumptions fail: missing losses, judges with tastes, crowds with a bias each.

Win rates are those of all answers by judges like these, in both orders alike. So a panel that happens to favour
the candidate, answers that are missing and a bias that looks like quality all count as errors of the gate.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.data.arrays import FloatArray
from judgerank.gating.checks import checked
from judgerank.gating.decision import p_values
from judgerank.gating.judged import Judged
from judgerank.gating.scores import scored
from replication.replicate import Record
from studies.gates import NODES, RULE, TRUTHS

QUALITY = 0.7  # standard deviation of questions' effects that judges share
# of each: questions, judges (of crowds the answers of one, at least and at most), and what departs
HOSTILE: dict[str, dict[str, float]] = {
    "none": {"n_questions": 100, "n_judges": 3},
    "none, few questions": {"n_questions": 40, "n_judges": 3},
    "none, five judges": {"n_questions": 100, "n_judges": 5},
    "10% of losses missing": {"n_questions": 200, "n_judges": 3, "lost": 0.1},
    "30% of losses missing": {"n_questions": 60, "n_judges": 3, "lost": 0.3},
    "10% of losses missing, one judge": {"n_questions": 200, "n_judges": 1, "lost": 0.1},
    "2% missing at random": {"n_questions": 100, "n_judges": 3, "missing": 0.02},
    "10% missing at random": {"n_questions": 100, "n_judges": 3, "missing": 0.1},
    "tastes": {"n_questions": 100, "n_judges": 5, "taste": 1.0},
    "slight tastes": {"n_questions": 100, "n_judges": 5, "taste": 0.3},
    "two crowds, 3 to 6 answers": {"crowd": 30, "least": 3, "most": 6, "position": 1.0, "uneven": 0.25},
    "two crowds, 1 or 2 answers": {"crowd": 30, "least": 1, "most": 2, "position": 1.0, "uneven": 0.25},
    "one crowd, 3 to 6 answers": {"crowd": 30, "least": 3, "most": 6, "position": 1.0},
}


@lru_cache(maxsize=256)
def lead(name: str, win_rate: float) -> float:
    """The candidate's lead in log-odds that gives a win rate over questions, judges and orders, by bisection."""
    condition = HOSTILE[name]
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    spread = 0.0 if "crowd" in condition else np.hypot(QUALITY, condition.get("taste", 0.0))
    bias, low, high = condition.get("position", 0.0), -8.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        won = (expit(middle + spread * nodes + bias) + expit(middle + spread * nodes - bias)) / 2
        low, high = (middle, high) if weights @ won / weights.sum() < win_rate else (low, middle)
    return low


def drawn(rng: np.random.Generator, name: str, win_rate: float) -> Judged:
    """Judgments of one data set; missing answers have records that cannot be read."""
    condition = HOSTILE[name]
    draw = _crowds if "crowd" in condition else _panel
    preference, first, is_missing = draw(rng, condition, lead(name, win_rate))
    preference[is_missing] = np.nan
    is_answered = ~np.isnan(preference).all(axis=1)
    questions, judges = (np.arange(size).astype(str).astype(object) for size in preference.shape)
    row, column = np.nonzero(is_missing)
    failed = pd.DataFrame({"question": questions[row], "judge": judges[column]})
    names = tuple(questions[is_answered].tolist()), tuple(judges.tolist())
    counts = len(row), len(row), np.nan, 0, np.nan
    row, column = np.nonzero(~np.isnan(preference))
    answers = {"preference": preference[row, column], "first": first[row, column]}
    rows = pd.DataFrame({"question": questions[row], "judge": judges[column], **answers})
    return Judged("old", "new", *names, preference[is_answered], first[is_answered], *counts, rows, failed)


Drawn = tuple[FloatArray, FloatArray, np.ndarray]


def _panel(rng: np.random.Generator, condition: Mapping[str, float], of_candidate: float) -> Drawn:
    """A panel whose judges all answer every question: preferences, sides, and which answers are missing."""
    shape = int(condition["n_questions"]), int(condition["n_judges"])
    odds = of_candidate + QUALITY * rng.normal(size=(shape[0], 1))
    odds = odds + condition.get("taste", 0.0) * rng.normal(size=(1, shape[1]))
    won = (rng.random(shape) < expit(odds)).astype(float)
    missing = np.where(won == 0, condition.get("lost", 0.0), 0.0) + condition.get("missing", 0.0)
    return won, np.where(rng.random(shape) < 0.5, 1.0, -1.0), rng.random(shape) < missing


def _crowds(rng: np.random.Generator, condition: Mapping[str, float], of_candidate: float) -> Drawn:
    """Two crowds with opposite biases where their orders are uneven; each question has one answer."""
    n_judges = 2 * int(condition["crowd"])
    answers = rng.integers(int(condition["least"]), int(condition["most"]) + 1, n_judges)
    who = np.repeat(np.arange(n_judges), answers)
    uneven = condition.get("uneven", 0.0)
    sign = np.where(who < n_judges // 2, 1.0, -1.0)
    side = np.where(rng.random(len(who)) < 0.5 + sign * uneven, 1.0, -1.0)
    bias = condition["position"] * (sign if uneven else 1.0)
    preference, first = np.full((2, len(who), n_judges), np.nan)
    rows = np.arange(len(who))
    preference[rows, who] = rng.random(len(who)) < expit(of_candidate + bias * side)
    first[rows, who] = side
    return preference, first, np.zeros(preference.shape, bool)


def hostile_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One data set of every truth: decisions of the gate, and of its tests without any check of assumptions."""
    decisions: Record = {}
    for truth, win_rate in TRUTHS.items():
        table = drawn(rng, settings["condition"], win_rate)
        scores = scored(table.preference, table.first)
        p_by_rule = {"gate": checked(table, scores, RULE).p_values(RULE), "unchecked": p_values(scores, RULE)}
        tested = 1 if truth in ("equal", "worse") else 0
        decisions |= {f"{truth}/{rule}": p[tested] <= RULE.level for rule, p in p_by_rule.items()}
    return decisions
