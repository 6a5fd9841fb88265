"""Rounds: choose, ask, fit, look; until the goal is reached or nothing is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.adaptive.choosing import RULES, at_random
from judgerank.adaptive.goals import Goal
from judgerank.adaptive.stop_rule import Look, carried, fitted, look_at, without_each_judge
from judgerank.adaptive.tastes import with_tastes
from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.result import Fit
from judgerank.inference.wald import two_sided
from judgerank.model.kinds.family import Relations, counted_votes
from judgerank.model.members import Parameters
from judgerank.order.pairs import Order
from judgerank.trust.drift import drifted

# Sources of answers for adaptive collection: simulated judges with a known truth.
ENDLESS = np.iinfo(np.int32).max


class Answers(NamedTuple):
    """What was answered.

    Attributes
    ----------
    outcome : float array, shape (T,)
        For the model shown first; NaN where there is no judgment after all.
    question : int array, shape (T,), optional
        What was asked, by number; without it everything asked is a question of its own.
    """

    outcome: FloatArray
    question: IntArray | None = None


class Oracle(Protocol):
    """A panel that answers many comparisons at once: simulated, played back, or of respondents.

    `judgerank.collecting.respondents.Respondent` is one of a real panel: a model, a function or a person.

    Attributes
    ----------
    models, judges : tuple of str
    costs : float array, shape (K,)
        Of one comparison by each judge.
    left : int array, shape (N, N, K)
        How many comparisons of each (first, second, judge) can still be asked.
    """

    models: tuple[str, ...]
    judges: tuple[str, ...]
    costs: FloatArray
    left: IntArray

    def ask(self, first: IntArray, second: IntArray, judge: IntArray) -> Answers:
        """Answers to comparisons, each of shape (T,) by the places of its models and its judge."""
        ...


class Drawn:
    """Judges of known discrimination and position, who never tire, or until they know every question.

    Parameters
    ----------
    truth : Parameters
        Scores; log-discriminations and positions, shape (2, K).
    rng : Generator
    costs : float array, shape (K,), optional
    questions : int, optional
        How many there are. Each is asked once of a pair, before a judge, in an order. Without it they never end.
    question_sd : float
        Standard deviation of an answer's quality about its model's score, which all judges see.
    """

    def __init__(
        self,
        truth: Parameters,
        rng: np.random.Generator,
        costs: FloatArray | None = None,
        questions: int | None = None,
        question_sd: float = 0.0,
    ):
        n, k = len(truth.scores), truth.judges.shape[1]
        self._truth, self._rng = truth, rng
        self.models, self.judges = (
            tuple(f"{kind}{x:02d}" for x in range(n_labels)) for kind, n_labels in (("m", n), ("j", k))
        )
        self.costs = np.ones(k) if costs is None else costs
        self.left = np.full((n, n, k), ENDLESS if questions is None else questions)
        self.left[np.diag_indices(n)] = 0
        self._quality = truth.scores[None, :]
        if questions is not None:
            self._quality = truth.scores + question_sd * rng.standard_normal((questions, n))
        self._asked = np.zeros(questions or 0, np.int64)
        self._new = np.ones((n, n, k, questions or 0), bool)

    def ask(self, first: IntArray, second: IntArray, judge: IntArray) -> Answers:
        alpha, position = self._truth.judges
        question = None
        if len(self._asked):
            cells = zip(first.tolist(), second.tolist(), judge.tolist(), strict=True)
            question = np.array([self._next(cell) for cell in cells], np.int64)
        row, s = 0 if question is None else question, self._quality
        eta = np.exp(alpha[judge]) * (s[row, first] - s[row, second]) + position[judge]
        return Answers((self._rng.random(len(first)) < expit(eta)).astype(float), question)

    def _next(self, cell: tuple[int, int, int]) -> int:
        """Of the questions that are new to a cell, the one asked least."""
        new = np.flatnonzero(self._new[cell])
        question = int(new[np.argmin(self._asked[new])])
        self._new[cell][question] = False
        self._asked[question] += 1
        self.left[cell] -= 1
        return question


EACH = 10  # comparisons for each parameter before the first look: a fit of fewer has no errors to rely on
QUESTION = 4  # place of the questions among the columns, after those of `Comparisons`
DRIFT_LEVEL = 0.99  # of the test that a judge answers as before, all judges at once
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
    goal : Goal
        With whom its claims are about, if that was left to the judges' tastes and they were tested.
    drifted : tuple of str
        Judges for whom the collection ended without its goal: all claims were sure, but these judges' later
        answers differ from their earlier ones (`trust.drift`).
    without_judge : DataFrame
        The claims without each judge in turn, where the goal was reached (`stop_rule.without_each_judge`).
    """

    result: Fit
    reached: bool
    looks: pd.DataFrame
    goal: Goal
    drifted: tuple[str, ...] = ()
    without_judge: pd.DataFrame = field(default_factory=pd.DataFrame)


def ending(collected: Collected) -> dict[str, object]:
    """How a collection ended, for a JSON record: whose claims it makes, and which judges they rest on."""
    return {
        "reached": collected.reached,
        "whose": collected.goal.whose,
        "looks": len(collected.looks),
        "drifted": list(collected.drifted),
        "carried": carried(collected.without_judge),
        "without_judge": collected.without_judge.to_dict("records"),
    }


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
    checks_drift: bool = True,
    warn: Callable[[str], None] | None = None,
    own_maker: Relations | None = None,
) -> Collected:
    """Collect by rounds until the goal is reached, nothing is left, or there are `most` comparisons.

    Claims are tested as a ranking of the same judgments tests its pairs, and before it stops with the judges' own
    tastes (`adaptive.stop_rule`). Where questions are asked more than once,
    errors are by question. Where there are too few questions for that, claims are tested by sign flips of whole
    questions, and no width is reached: no interval allows for so few. If a judge's later answers
    differ from its earlier ones where the goal is reached, the claims are about no panel that is still there: the
    collection ends without the goal.

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
    checks_drift : bool
        Whether a stop takes judges who answer as before.
    warn : callable, optional
        Told at each look of every judge who does not.
    own_maker : Relations, optional
        Which models are of a judge's maker: such votes do not count, as in a ranking.
    """
    n, k = len(oracle.models), len(oracle.judges)
    enough = goal.size if goal.kind == "comparisons" else np.inf
    kept = Kept(oracle, known, known_questions, own_maker)
    most = int(min(most or np.inf, enough, kept.asked + oracle.left.sum(dtype=np.float64)))
    kept.ask(at_random(rng, oracle.left, max(0, min(most, EACH * (n + 2 * k)) - kept.asked)))
    rows: list[dict[str, float]] = []
    while True:
        result = fitted(kept.raw, model)
        look = look_at(kept.raw, kept.question, result, goal, len(rows) + 1, kept.asked, 1 - level)
        tested = checks_drift and (look.reached or warn is not None)
        changed = drifted(kept.raw, DRIFT_LEVEL, question=kept.question) if tested else ()
        if warn is not None:
            for name in changed:
                warn(name)
        row = _row(kept, look, len(rows) + 1, look.reached and not changed)
        rows.append(row | (watch(result, look.order) if watch else {}))
        if look.reached or kept.asked >= most or not oracle.left.any():
            return _collected(kept, result, look, pd.DataFrame(rows), changed if look.reached else (), 1 - level)
        size = min(most, int(np.ceil(kept.asked * growth))) - kept.asked
        if look.order is None:
            chosen = at_random(rng, oracle.left, size)
        else:
            pairs = _pairs(result, look, len(rows), 1 - level)
            chosen = RULES[rule](rng, result, pairs, oracle.left, oracle.costs, size)
        kept.ask(chosen)


def _row(kept: Kept, look: Look, number: int, reached: bool) -> dict[str, float]:
    """What is noted of a look."""
    row = {"look": number, "comparisons": kept.asked, "cost": kept.cost, "reached": reached}
    row |= {"questions": kept.questions, "by_question": look.by_question}
    return row | {"open": np.nan if look.still_open is None else int(look.still_open.sum())}


def _collected(
    kept: Kept, result: Fit, look: Look, looks: pd.DataFrame, changed: tuple[str, ...], alpha: float
) -> Collected:
    """The end, at the last look."""
    without = pd.DataFrame()
    if look.reached and not changed:
        without = without_each_judge(kept.raw, kept.question, result.model, look, alpha)
    return Collected(result, look.reached and not changed, looks, look.goal, changed, without)


class Kept:
    """What was asked so far, what was answered and counts, and what it cost."""

    def __init__(
        self,
        oracle: Oracle,
        known: Comparisons | None,
        questions: IntArray | None,
        own_maker: Relations | None = None,
    ):
        self._oracle, self._own_maker, self.cost, self.asked = oracle, own_maker, 0.0, 0
        self._columns: list[tuple[IntArray, IntArray, IntArray, FloatArray, IntArray]] = []
        self._raw: Comparisons | None = None
        self._counts: BoolArray | None = None
        if known is not None:
            self._keep(known.first, known.second, known.judge, Answers(known.outcome, questions))

    def ask(self, chosen: IntArray) -> None:
        """Ask, and keep what was answered."""
        first, second, judge = chosen
        self._keep(first, second, judge, self._oracle.ask(first, second, judge))
        self.cost += float(self._oracle.costs[judge].sum())

    def _keep(self, first: IntArray, second: IntArray, judge: IntArray, answers: Answers) -> None:
        new_questions = -1 - np.arange(self.asked, self.asked + len(first))  # questions that are asked once
        question = new_questions if answers.question is None else answers.question
        is_answered = ~np.isnan(answers.outcome)
        self._columns.append(
            (
                first[is_answered],
                second[is_answered],
                judge[is_answered],
                answers.outcome[is_answered],
                question[is_answered],
            )
        )
        self.asked += len(first)
        self._raw = None

    def _column(self, index: int) -> Any:
        return np.concatenate([columns[index] for columns in self._columns])

    @property
    def raw(self) -> Comparisons:
        """All that was answered and counts; the same object until more is, since fits are remembered with it."""
        if self._raw is None:
            every = Comparisons(self._oracle.models, self._oracle.judges, *map(self._column, range(QUESTION)))
            is_own = None if self._own_maker is None else self._own_maker.votes(every)
            self._counts = None if is_own is None or not is_own.any() else counted_votes(every, is_own)
            self._raw = every if self._counts is None else every._rows(np.flatnonzero(self._counts))
        return self._raw

    @property
    def question(self) -> IntArray:
        """Of each answer; one of its own where the oracle names none."""
        question, _ = np.asarray(self._column(QUESTION)), self.raw
        return question if self._counts is None else question[self._counts]

    @property
    def questions(self) -> int:
        """How many were answered."""
        return len(np.unique(self.question))


def _pairs(result: Fit, look: Look, number: int, alpha: float) -> IntArray:
    """The models of the claims that are open, shape (2, P); none where the goal has no claims.

    A claim that is sure for this panel stays open where judges' own tastes may yet turn it round: else it would
    rest on whoever was asked first.
    """
    if look.still_open is None or look.order is None:
        return np.empty((2, 0), np.intp)
    index = {name: place for place, name in enumerate(result.comparisons.models)}
    places = np.array([index[name] for name in look.order.models])
    claims: IntArray = places[look.goal.pairs(len(places))]
    p_value = two_sided(np.maximum(with_tastes(result).statistics(result, claims), 0.0), np.inf)
    return claims[:, look.still_open | (p_value > look.goal.hurdle(len(places), number, alpha))]
