"""Coordinates of parameters that sum to zero, block by block."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.model.members import Model


class Coordinates:
    """Coordinates of a vector some blocks of which sum to zero: of such a block all but the last value.

    Attributes
    ----------
    kept : int array, shape (D',)
        Places of the coordinates in the whole vector.
    """

    def __init__(self, blocks: Iterable[tuple[int, bool]]) -> None:
        free_columns: list[int] = []
        self._sums, self._size = [], 0  # those that sum to zero, by all but their last place and that place
        for size, sums_to_zero in blocks:
            start, self._size = self._size, self._size + size
            if sums_to_zero and size:
                self._sums.append((slice(start, self._size - 1), self._size - 1))
            free_columns += range(start, self._size - (sums_to_zero and size > 0))
        self.kept: IntArray = np.array(free_columns, np.intp)

    @classmethod
    def of(cls, model: Model, n_models: int, free: BoolArray, free_common: BoolArray) -> Coordinates:
        """Of scores and what moves: free parameters of the judges, shape (B, K), and of further blocks, (P,).

        Scores sum to zero, and so do log-discriminations where the model has them free.
        """
        judges = [(int(row.sum()), b == 0 and model.weighs_judges) for b, row in enumerate(free)]
        return cls([(n_models, True), *judges, (int(free_common.sum()), False)])

    @cached_property
    def metric(self) -> FloatArray:
        """Inner products of the coordinates' directions in the whole vector, shape (D', D')."""
        return self.reduced(np.eye(self._size))

    def full(self, x: FloatArray) -> FloatArray:
        """The whole vector, shape (D,)."""
        values = np.zeros(self._size)
        values[self.kept] = x
        for members, last in self._sums:
            values[last] = -values[members].sum()
        return values

    def gradient(self, full_gradient: FloatArray) -> FloatArray:
        """Derivatives in the coordinates, shape (D',), from those in the whole vector."""
        adjusted = full_gradient.copy()
        for members, last in self._sums:
            adjusted[members] -= full_gradient[last]
        return adjusted[self.kept]

    def reduced(self, matrix: FloatArray) -> FloatArray:
        """Second derivatives in the coordinates, shape (D', D'), from those in the whole vector."""
        adjusted = matrix.copy()
        for members, last in self._sums:
            adjusted[members] -= adjusted[last]
            adjusted[:, members] -= adjusted[:, [last]]
        return adjusted.take(self.kept, 0).take(self.kept, 1)  # several times as quick as by both at once
