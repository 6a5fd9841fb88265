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
        effects, size = self._each(left, effect)
        order = np.argsort(-effects, kind="stable")
        effects, size = np.maximum(effects[order], 0.0), size[order]
        reached = np.cumsum(effects * size)
        count = int(np.searchsorted(reached, gap))
        if count == len(reached):
            return np.inf
        before = reached[count] - effects[count] * size[count]
        return float(size[:count].sum() + max(1.0, np.ceil((gap - before) / effects[count])))

    def left_after(self, left: FloatArray, effect: FloatArray, n_removed: int) -> FloatArray:
        """Judgments left of every row without the units of the largest effects."""
        effects, size = self._each(left, effect)
        order = np.argsort(-effects, kind="stable")
        if self.of_row is not None:
            return np.where(np.isin(self.of_row, order[:n_removed]), 0.0, left)
        before = np.cumsum(size[order]) - size[order]
        after = left.copy()
        after[order] -= np.clip(n_removed - before, 0.0, left[order])
        return after

    def by_kind(self, left: FloatArray, effect: FloatArray) -> FloatArray:
        """Effect of one unit of every kind, shape (kinds,); minus infinity if none is left."""
        if self.of_row is not None:
            is_left = np.bincount(self.of_row, left, self.total) > 0
            return np.where(is_left, np.bincount(self.of_row, effect, self.total), -np.inf)
        largest, is_left = np.full(int(self.kind.max()) + 1, -np.inf), left > 0
        largest[self.kind[is_left]] = effect[is_left] / left[is_left]
        return largest

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
            is_left = left > 0
            return np.where(is_left, effect / np.where(is_left, left, 1.0), -np.inf), left
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
            labels, code = np.unique(values, return_inverse=True)
            key = key * len(labels) + code
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
