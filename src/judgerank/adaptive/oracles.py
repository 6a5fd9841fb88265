"""Whom a collection by rounds asks: simulated judges, or a data set that is played back."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.special import expit

from judgerank.arrays import FloatArray, IntArray
from judgerank.comparisons import Comparisons
from judgerank.model import Parameters

ENDLESS = np.iinfo(np.int32).max


class Oracle(Protocol):
    """Answers comparisons.

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

    def ask(self, first: IntArray, second: IntArray, judge: IntArray) -> FloatArray:
        """Outcomes for the model shown first; NaN where there is no judgment after all."""
        ...


class Drawn:
    """Judges of known discrimination and position, who never tire.

    Parameters
    ----------
    truth : Parameters
        Scores; log-discriminations and positions, shape (2, K).
    """

    def __init__(self, truth: Parameters, rng: np.random.Generator, costs: FloatArray | None = None):
        n, k = len(truth.scores), truth.judges.shape[1]
        self._truth, self._rng = truth, rng
        self.models, self.judges = (
            tuple(f"{kind}{x:02d}" for x in range(many)) for kind, many in (("m", n), ("j", k))
        )
        self.costs = np.ones(k) if costs is None else costs
        self.left = np.where(np.eye(n, dtype=bool)[:, :, None], 0, np.full((n, n, k), ENDLESS))

    def ask(self, first: IntArray, second: IntArray, judge: IntArray) -> FloatArray:
        at = self._truth
        alpha, position = at.judges
        eta = np.exp(alpha[judge]) * (at.scores[first] - at.scores[second]) + position[judge]
        return (self._rng.random(len(first)) < expit(eta)).astype(float)


class Replayed:
    """The judgments of a data set, each given out once, in random order within its pair, judge and order."""

    def __init__(self, rows: Comparisons, rng: np.random.Generator, costs: FloatArray | None = None):
        self.models, self.judges = rows.models, rows.judges
        self.costs = np.ones(len(rows.judges)) if costs is None else costs
        shape = len(rows.models), len(rows.models), len(rows.judges)
        cell = np.ravel_multi_index((rows.first, rows.second, rows.judge), shape)
        order = rng.permutation(len(cell))
        order = order[np.argsort(cell[order], kind="stable")]
        self._outcomes = rows.outcome[order]
        many = np.bincount(cell, minlength=int(np.prod(shape)))
        self._next = np.cumsum(many) - many
        self.left = many.reshape(shape)

    def ask(self, first: IntArray, second: IntArray, judge: IntArray) -> FloatArray:
        found = np.empty(len(first))
        for place, cell in enumerate(zip(first, second, judge, strict=True)):
            number = np.ravel_multi_index(cell, self.left.shape)
            found[place] = self._outcomes[self._next[number]]
            self._next[number] += 1
            self.left[cell] -= 1
        return found
