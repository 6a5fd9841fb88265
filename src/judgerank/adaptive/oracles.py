"""Sources of answers for adaptive collection: simulated judges with a known truth."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.model.members import Parameters

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
