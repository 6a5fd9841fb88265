"""Rows e_i - e_j of a logistic regression in zero-sum coordinates, which are never written out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.engine.block_columns import sums_by_place
from judgerank.engine.concave import terms
from judgerank.engine.information import zero_sum_basis
from judgerank.people.items import Items


@dataclass(frozen=True)
class PairedRows:
    """A vote or an item a row, and its two models among n.

    Attributes
    ----------
    n : int
    first, second : int array, shape (T,)
    """

    n: int
    first: IntArray
    second: IntArray

    @classmethod
    def of(cls, items: Items) -> PairedRows:
        """Those of all items."""
        return cls(len(items.models), items.first, items.second)

    def predictors(self, t: FloatArray) -> FloatArray:
        """Of every row, at zero-sum coordinates of shape (N - 1,), or a column for each of several such points."""
        scores = zero_sum_basis(self.n) @ t
        return np.asarray(scores[self.first] - scores[self.second])

    def logistic(self, won: FloatArray, count: FloatArray, t: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """As `engine.concave.logistic`, at zero-sum coordinates of shape (N - 1,)."""
        basis = zero_sum_basis(self.n)
        height, residual, weight = terms(self.predictors(t), won, count)
        gradient = sums_by_place(self.first, residual, self.n) - sums_by_place(self.second, residual, self.n)
        of_pair = sums_by_place(self.first * self.n + self.second, weight, self.n**2).reshape(self.n, self.n)
        both = of_pair + of_pair.T
        return height, gradient @ basis, basis.T @ (np.diag(both.sum(axis=0)) - both) @ basis

    def sums_by(self, group: IntArray, n_groups: int, values: FloatArray) -> FloatArray:
        """Sums of rows times values by group, shape (G, N - 1)."""
        first, second = (
            sums_by_place(group * self.n + end, values, n_groups * self.n) for end in (self.first, self.second)
        )
        return np.asarray((first - second).reshape(n_groups, self.n) @ zero_sum_basis(self.n))
