"""Rounds: choose, ask, fit, look; until the goal is reached or nothing is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from judgerank.adaptive.choosing import RULES, at_random
from judgerank.adaptive.goals import Goal
from judgerank.adaptive.oracles import Answers, Oracle
from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoIntervalError, NoMaximumError, NotIdentifiedError
from judgerank.fits.errors_by_question import enough
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.order.pairs import Order, orders_by_errors

EACH = 10  # comparisons for each parameter before the first look: a fit of fewer has no errors to rely on
QUESTION = 4  # place of the questions among the columns, after those of `Comparisons`
GROWTH = 1.25  # of the comparisons from one look to the next

Watch = Callable[[Fit, Order | None], dict[str, float]]


@dataclass(frozen=True, eq=False)
class Collected:
    """How a collection by rounds ended.

    Attributes
    ----------
    result : Fit
        Of all comparisons.
    reached : bool
        Whether the goal was.
    looks : DataFrame
        ``look, comparisons, cost, questions, by_question, open, reached`` and what the watch adds, a row for each
        look: how many questions were asked, whether errors allow for dependence within them, and how many claims
        are not sure.
    """

    result: Fit
    reached: bool
    looks: pd.DataFrame


def collect_until(
    oracle: Oracle,
    goal: Goal,
    rng: np.random.Generator,
    rule: str = "information",
    level: float = 0.95,
    most: int | None = None,
    model: str = "position_aware",
    growth: float = GROWTH,
    watch: Watch | None = None,
    known: Comparisons | None = None,
    known_questions: IntArray | None = None,
) -> Collected:
    """Collect by rounds until the goal is reached, nothing is left, or there are `most` comparisons.

    Where questions are asked more than once, a claim is sure if it is by both kinds of errors, those of the model
    and those by question.

    Parameters
    ----------
    oracle : Oracle
    goal : Goal
    rng : Generator
        Of what is drawn at random: the first round, and a part of every other.
    rule : str
        A name in `choosing.RULES`.
    level : float
        One minus the chance of a stop at a false claim, however many looks there are.
    most : int, optional
    model : str
        Member of the family.
    growth : float
        Of the number of comparisons from one look to the next.
    watch : callable, optional
        What to note of a look's fit beside.
    known : Comparisons, optional
        Of the same models and judges, collected before; they count.
    known_questions : int array, shape (T,), optional
        Of each of these, numbered as the oracle does.
    """
    n, k = len(oracle.models), len(oracle.judges)
    enough = goal.size if goal.kind == "comparisons" else np.inf
    kept = Kept(oracle, known, known_questions)
    most = int(min(most or np.inf, enough, kept.asked + oracle.left.sum(dtype=np.float64)))
    kept.ask(at_random(rng, oracle.left, max(0, min(most, EACH * (n + 2 * k)) - kept.asked)))
    rows: list[dict[str, float]] = []
    while True:
        result = fitted(kept.raw, model)
        order, by_question = kept.order(result)
        look = len(rows) + 1
        still = goal.open_claims(order, look, 1 - level) if order and goal.kind in ("top", "all") else None
        done = order is not None and goal.reached(order, look, kept.asked, 1 - level)
        row = {"look": look, "comparisons": kept.asked, "cost": kept.cost, "reached": done}
        row |= {"questions": kept.questions, "by_question": by_question}
        row["open"] = np.nan if still is None else int(still.sum())
        rows.append(row | (watch(result, order) if watch else {}))
        if done or kept.asked >= most or not oracle.left.any():
            return Collected(result, done, pd.DataFrame(rows))
        size = min(most, int(np.ceil(kept.asked * growth))) - kept.asked
        if order is None:
            chosen = at_random(rng, oracle.left, size)
        else:
            chosen = RULES[rule](rng, result, _pairs(result, order, goal, still), oracle.left, oracle.costs, size)
        kept.ask(chosen)


class Kept:
    """What was asked so far, what was answered, and what it cost."""

    def __init__(self, oracle: Oracle, known: Comparisons | None, questions: IntArray | None):
        self._oracle, self.cost, self.asked = oracle, 0.0, 0
        self._columns: list[tuple[IntArray, IntArray, IntArray, FloatArray, IntArray]] = []
        if known is not None:
            self._keep(known.first, known.second, known.judge, Answers(known.outcome, questions))

    def ask(self, chosen: IntArray) -> None:
        """Ask, and keep what was answered."""
        first, second, judge = chosen
        self._keep(first, second, judge, self._oracle.ask(first, second, judge))
        self.cost += float(self._oracle.costs[judge].sum())

    def _keep(self, first: IntArray, second: IntArray, judge: IntArray, answers: Answers) -> None:
        own = -1 - np.arange(self.asked, self.asked + len(first))  # questions that are asked once
        question = own if answers.question is None else answers.question
        said = ~np.isnan(answers.outcome)
        self._columns.append((first[said], second[said], judge[said], answers.outcome[said], question[said]))
        self.asked += len(first)

    def _column(self, place: int) -> Any:
        return np.concatenate([columns[place] for columns in self._columns])

    @property
    def raw(self) -> Comparisons:
        """All that was answered."""
        return Comparisons(self._oracle.models, self._oracle.judges, *map(self._column, range(QUESTION)))

    @property
    def questions(self) -> int:
        """How many were answered."""
        return len(np.unique(self._column(QUESTION)))

    def order(self, result: Fit) -> tuple[Order | None, bool]:
        """All models in one order with the tests of every pair, and whether errors allow for questions.

        None while there are no errors, or several parts. With errors by question, each is the larger of both: few
        questions can seem to agree. These take more questions than parameters.
        """
        question = self._column(QUESTION)
        several = self.questions < len(question) and enough(result, question)
        try:
            kinds = [result, *([result.clustered(self.raw, question)] if several else [])]
            found = orders_by_errors(*kinds)
        except NoIntervalError:
            return None, several
        if len(found[0]) != 1:
            return None, several
        each = [order for (order,) in found]
        return replace(each[-1], error=np.max([order.error for order in each], axis=0)), several


def fitted(comparisons: Comparisons, model: str) -> Fit:
    """The maximum, or, where there is none yet, the penalised one."""
    try:
        result = fit(comparisons, model)
    except (NoMaximumError, NotIdentifiedError):
        return fit(comparisons, model, "penalised")
    return result if result.converged else fit(comparisons, model, "penalised")


def _pairs(result: Fit, order: Order, goal: Goal, still: BoolArray | None) -> IntArray:
    """The models of the claims that are open, shape (2, P); none where the goal has no claims."""
    if still is None:
        return np.empty((2, 0), np.intp)
    place = {name: number for number, name in enumerate(result.comparisons.models)}
    numbers = np.array([place[name] for name in order.models])
    open_pairs: IntArray = numbers[goal.pairs(len(order.models))[:, still]]
    return open_pairs
