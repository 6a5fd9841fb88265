"""What can be left out of a fit: judgments, questions or judges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.rankings import number_of_ranking


def places(c: Comparisons) -> IntArray:
    """By which cells are ordered."""
    return (c.first.astype(np.int64) * len(c.models) + c.second) * len(c.judges) + c.judge


@dataclass(frozen=True, eq=False)
class Units:
    """What is left out as one: a judgment, or all judgments of a question or of a judge.

    Attributes
    ----------
    name : str
        In the plural, as they are counted.
    of_row : int array, shape (T,), or None
        Number of every row's unit; None for single judgments.
    total : int
    kind : int array, shape (T,)
        Of every row's unit: those of one kind, such as like judgments, are left out to the same effect.
    """

    name: str
    of_row: IntArray | None
    total: int
    kind: IntArray

    def needed(self, left: FloatArray, effect: FloatArray, gap: float) -> float:
        """How many units have effects that add up to a gap, the largest first; infinite if all do not."""
        each, size = self._each(left, effect)
        order = np.argsort(-each, kind="stable")
        each, size = np.maximum(each[order], 0.0), size[order]
        reached = np.cumsum(each * size)
        place = int(np.searchsorted(reached, gap))
        if place == len(reached):
            return np.inf
        before = reached[place] - each[place] * size[place]
        return float(size[:place].sum() + max(1.0, np.ceil((gap - before) / each[place])))

    def left_after(self, left: FloatArray, effect: FloatArray, many: int) -> FloatArray:
        """Judgments left of every row without the units of the largest effects."""
        each, size = self._each(left, effect)
        order = np.argsort(-each, kind="stable")
        if self.of_row is not None:
            return np.where(np.isin(self.of_row, order[:many]), 0.0, left)
        before = np.cumsum(size[order]) - size[order]
        after = left.copy()
        after[order] -= np.clip(many - before, 0.0, left[order])
        return after

    def by_kind(self, left: FloatArray, effect: FloatArray) -> FloatArray:
        """Effect of one unit of every kind, shape (kinds,); minus infinity if none is left."""
        if self.of_row is not None:
            there = np.bincount(self.of_row, left, self.total) > 0
            return np.where(there, np.bincount(self.of_row, effect, self.total), -np.inf)
        found, there = np.full(int(self.kind.max()) + 1, -np.inf), left > 0
        found[self.kind[there]] = effect[there] / left[there]
        return found

    def left_without(self, left: FloatArray, kind: int) -> FloatArray:
        """Judgments left of every row without one unit of a kind."""
        rows, after = np.flatnonzero((self.kind == kind) & (left > 0)), left.copy()
        if self.of_row is None:
            after[rows[0]] -= 1.0
        else:
            after[rows] = 0.0
        return after

    def _each(self, left: FloatArray, effect: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Effect of a unit, and how many of the kind there are: like judgments of one row, or one unit."""
        if self.of_row is None:
            there = left > 0
            return np.where(there, effect / np.where(there, left, 1.0), -np.inf), left
        return np.asarray(np.bincount(self.of_row, effect, self.total), np.float64), np.ones(self.total)


def judgments_as_units(comparisons: Comparisons, question: IntArray | None = None) -> Units:
    """Single judgments; of rankings of several answers, whole rankings."""
    c = comparisons
    if c.stages is not None:
        of_row = number_of_ranking(c, question)
        return Units("rankings", of_row, int(of_row.max()) + 1, of_row)
    key = places(c)
    for values in (c.response, c.covariate):
        if values is not None:
            found, code = np.unique(values, return_inverse=True)
            key = key * len(found) + code
    return Units("judgments", None, round(c.n_comparisons), _numbered(key)[1])


def questions_as_units(question: IntArray) -> Units:
    names, of_row = _numbered(question)
    return Units("questions", of_row, len(names), of_row)


def judges_as_units(comparisons: Comparisons) -> Units:
    of_row = np.asarray(comparisons.judge, np.intp)
    return Units("judges", of_row, len(comparisons.judges), of_row)


def _numbered(values: IntArray) -> tuple[IntArray, IntArray]:
    names, number = np.unique(values, return_inverse=True)
    return names, number
