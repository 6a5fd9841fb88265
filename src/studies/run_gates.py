"""`judgerank gate` on scores of runs with and without a change, beside a paired t-test and statgate's rule.

Tasks differ in how hard they are, and each is run a few times by either variant. statgate decides by an interval
of the tasks' mean difference, bootstrapped with bias correction and acceleration (Efron 1987). A candidate ships
where all of it is above minus the margin, and is blocked where all of it is below (src/statgate/verdict.py of
https://github.com/yashchimata/statgate).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit, ndtr, ndtri
from scipy.stats import t

from judgerank.data.arrays import FloatArray
from judgerank.gating.rule import POINTS, Rule
from judgerank.gating.score_runs import ScoreRuns
from replication.replicate import Record
from studies.gates import NODES

RULE = Rule(scale=POINTS)
RUNS, DIFFICULTY = 3, 1.5  # runs of a task; standard deviation of tasks' difficulties, in log-odds
RESAMPLES = 1000
BROKEN = "rarely broken"  # a few tasks fail throughout, and the others are as before
# checks of a run, of which a share passes; spread between runs, and of what a change does to tasks, in log-odds
CONDITIONS: dict[str, dict[str, float]] = {
    "shares": {"checks": 4, "runs": 0.7},
    "pass or fail": {"checks": 1},
    "tasks differ": {"checks": 4, "runs": 0.7, "effects": 1.0},
    BROKEN: {"checks": 4, "runs": 0.7, "broken": 2 * RULE.margin},
}
TRUTHS = {"equal": 0.0, "at the margin": -RULE.margin, "worse": -0.15, "better": 0.15}  # mean difference


@lru_cache(maxsize=64)
def lead(name: str, difference: float) -> float:
    """The candidate's lead in log-odds that gives a mean difference over tasks and runs, by bisection."""
    condition = CONDITIONS[name]
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    before = np.hypot(DIFFICULTY, condition.get("runs", 0.0))
    after = np.hypot(before, condition.get("effects", 0.0))
    mean = float(weights @ expit(before * nodes) / weights.sum())
    low, high = -8.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        gained = float(weights @ expit(after * nodes + middle) / weights.sum()) - mean
        low, high = (middle, high) if gained < difference else (low, middle)
    return low


def drawn(rng: np.random.Generator, n_tasks: int, name: str, difference: float) -> FloatArray:
    """Differences of scores, candidate less baseline, shape (Q, R)."""
    condition = CONDITIONS[name]
    shape, task = (n_tasks, RUNS), DIFFICULTY * rng.normal(size=(n_tasks, 1))
    is_broken = rng.random((n_tasks, 1)) < condition.get("broken", 0.0)
    added = 0.0 if name == BROKEN else lead(name, difference)
    effect = added + condition.get("effects", 0.0) * rng.normal(size=(n_tasks, 1))
    old, new = (
        _scores(rng, condition, odds + condition.get("runs", 0.0) * rng.normal(size=shape))
        for odds in (task, task + effect)
    )
    return np.where(is_broken, 0.0, new) - old


def _scores(rng: np.random.Generator, condition: Mapping[str, float], odds: FloatArray) -> FloatArray:
    checks = int(condition["checks"])
    return np.asarray(rng.binomial(checks, expit(odds)) / checks, float)


def decided_once(settings: dict[str, Any], rng: np.random.Generator) -> Record:
    """One data set of every truth: what each rule says; of equal ones also whether one is called better."""
    n_tasks, name = settings["n_questions"], settings["condition"]
    decisions: Record = {}
    for truth, mean in TRUTHS.items():
        if name == BROKEN and truth != "at the margin":
            continue
        differences = drawn(rng, n_tasks, name, mean)
        margin = 0.0 if truth == "equal" else RULE.margin
        for rule, (shipped, blocked) in verdicts(differences, margin, rng).items():
            if truth in ("equal", "worse"):
                decisions[f"{truth}, blocked/{rule}"] = blocked
            if truth != "worse":
                decisions[f"{truth}, shipped/{rule}"] = shipped
    return decisions


def verdicts(differences: FloatArray, margin: float, rng: np.random.Generator) -> dict[str, tuple[bool, bool]]:
    """Whether each rule ships and blocks.

    A paired t-test has the interval that statgate bootstraps. It blocks what is worse, as the gate does.
    """
    n_tasks = len(differences)
    runs = ScoreRuns(differences.ravel(), np.repeat(np.arange(n_tasks), RUNS), np.arange(n_tasks))
    tasks = differences.mean(axis=1)
    reach = float(t.ppf(1 - RULE.alpha / 2, n_tasks - 1)) * tasks.std(ddof=1) / np.sqrt(n_tasks)
    low, high = bootstrapped(tasks, rng)
    return {
        "gate": (runs.p_above(-margin) <= RULE.level, runs.p_below(0.0) <= RULE.level),
        "t": (bool(tasks.mean() - reach > -margin), bool(tasks.mean() + reach < 0)),
        "statgate": (low > -margin, high < -margin),
    }


def bootstrapped(values: FloatArray, rng: np.random.Generator) -> tuple[float, float]:
    """Efron's BCa interval of a mean at 1 - alpha; equal values have one of no length."""
    n, mean = len(values), float(values.mean())
    if np.ptp(values) == 0:
        return mean, mean
    means = values[rng.integers(0, n, (RESAMPLES, n))].mean(axis=1)
    below = float(np.mean(means < mean) + np.mean(means == mean) / 2)
    bias = float(ndtri(np.clip(below, 1 / (RESAMPLES + 1), RESAMPLES / (RESAMPLES + 1))))
    left_out = (mean - values) / (n - 1)
    acceleration = -float((left_out**3).sum()) / (6 * float((left_out**2).sum()) ** 1.5)
    z = bias + ndtri([RULE.alpha / 2, 1 - RULE.alpha / 2])
    low, high = np.quantile(means, ndtr(bias + z / (1 - acceleration * z)))
    return float(low), float(high)
