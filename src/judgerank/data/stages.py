"""Choices among several answers: which rows of comparisons belong to one choice.

A ranking of k answers is a sequence of choices, its *stages*: the best of all, the best of the others, and so on.
A stage among m answers takes m (m - 1) / 2 rows, one for every two of its answers, that stand together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from judgerank.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from judgerank.data.errors import DataError


@dataclass(frozen=True, eq=False)
class Stages:
    """What rows of comparisons say besides, where they are those of choices among several answers.

    The answers a, b, c, ... of a stage have the rows (a, b), (a, c), ..., (b, c), ... in this order. Of n choices
    among m answers, a row counts 2 n / m, and its outcome is 1/2 + (x - y) / 2 for shares x and y of choices that
    went to its first and its second answer. Then count (outcome - mean) adds up to the gradient of the stage.

    Attributes
    ----------
    begins : bool array, shape (T,)
        Whether a row is the first of a stage.
    neither : float array, shape (T,)
        Share of the stage's choices that went to neither answer of the row.
    apart : float array, shape (T,), optional
        How many places later the second answer was shown than the first; positive. None if nobody knows.
    """

    begins: BoolArray
    neither: FloatArray
    apart: FloatArray | None = None

    def take(self, rows: AnyArray | slice) -> Stages:
        """Those of the rows under a mask, at indices or in a slice; whole stages."""
        rank_gap = None if self.apart is None else self.apart[rows]
        return replace(self, begins=self.begins[rows], neither=self.neither[rows], apart=rank_gap)

    @cached_property
    def first_rows(self) -> IntArray:
        """First row of every stage, shape (S,)."""
        return np.flatnonzero(self.begins)

    @cached_property
    def size(self) -> IntArray:
        """Answers in the stage of every row, shape (T,)."""
        return self.alternatives.size[self.alternatives.stage]

    @cached_property
    def alternatives(self) -> Alternatives:
        """The answers of every stage, one after the other."""
        return Alternatives.of(self.first_rows, len(self.begins))

    def checked(self, first: IntArray, second: IntArray, judge: IntArray) -> Stages:
        """The same, if the rows are those of whole stages.

        Raises
        ------
        DataError
            Naming the row at which a stage is cut or its rows contradict each other.
        """
        size = len(first)
        if len(self.begins) != size or len(self.neither) != size or not self.begins[0]:
            raise DataError("the stages of rankings must say for every row whether it begins a stage")
        a = self.alternatives
        if self.apart is not None and (len(self.apart) != size or not np.all(self.apart > 0)):
            raise DataError("the answers of a ranking must be in the order in which they were shown")
        model = np.where(a.reference, first[a.row], second[a.row])
        wrong = (model[a.first] != first) | (model[a.second] != second) | (judge != judge[a.row][a.first])
        if wrong.any():
            raise DataError(f"row {int(wrong.argmax()) + 1} is not one of the whole ranking around it: keep all")
        return self


def alone(rows: int) -> Stages:
    """Those of so many comparisons of two."""
    return Stages(np.ones(rows, bool), np.zeros(rows), np.ones(rows))


def joined_stages(parts: Sequence[Stages]) -> Stages:
    """Those of several sets of rows, one after the other."""
    begins, neither = (
        np.concatenate([getattr(stages, name) for stages in parts]) for name in ("begins", "neither")
    )
    rank_gap = [stages.apart for stages in parts if stages.apart is not None]
    return Stages(begins, neither, np.concatenate(rank_gap) if len(rank_gap) == len(parts) else None)


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The M answers of S stages, one after the other, and where the rows stand among them.

    Attributes
    ----------
    first, second : int array, shape (T,)
        Place of the first and of the second answer of every row among all M.
    starts : int array, shape (S,)
        Place of every stage's first answer.
    size : int array, shape (S,)
        Answers m of every stage.
    stage : int array, shape (T,)
        Stage of every row.
    row : int array, shape (M,)
        The row of an answer and the first of its stage; of the first itself, the stage's first row.
    reference : bool array, shape (M,)
        Whether an answer is the first of its stage.
    """

    first: IntArray
    second: IntArray
    starts: IntArray
    size: IntArray
    stage: IntArray
    row: IntArray
    reference: BoolArray

    @classmethod
    def of(cls, first_rows: IntArray, rows: int) -> Alternatives:
        """Of stages whose first rows are these.

        Raises
        ------
        DataError
            If a stage has another number of rows than a choice among some answers takes.
        """
        n_alternatives = np.diff(first_rows, append=rows)
        size = np.round((1 + np.sqrt(1 + 8 * n_alternatives)) / 2).astype(np.intp)
        cut = size * (size - 1) // 2 != n_alternatives
        if cut.any():
            raise DataError(
                f"row {int(first_rows[cut.argmax()]) + 1} begins a ranking that is cut: keep all of its rows"
            )
        starts = np.cumsum(size) - size
        first, second = np.empty(rows, np.intp), np.empty(rows, np.intp)
        row = np.repeat(first_rows, size)
        reference = np.zeros(len(row), bool)
        reference[starts] = True
        for m in np.unique(size):
            which = np.flatnonzero(size == m)
            a, b = np.triu_indices(m, 1)
            row_index = first_rows[which][:, None] + np.arange(len(a))
            first[row_index], second[row_index] = starts[which][:, None] + a, starts[which][:, None] + b
            row[starts[which][:, None] + np.arange(1, m)] += np.arange(m - 1)
        return cls(first, second, starts, size, np.repeat(np.arange(len(size)), n_alternatives), row, reference)

    @cached_property
    def first_rows(self) -> IntArray:
        """First row of every stage, shape (S,)."""
        return self.row[self.starts]

    @property
    def half_size(self) -> FloatArray:
        """m / 2 of the stage of every row, shape (T,)."""
        return np.asarray(0.5 * self.size[self.stage], float)

    @cached_property
    def by_size(self) -> list[tuple[int, IntArray, IntArray, IntArray]]:
        """Stages of each size m: m, which they are (n,), their answers (n, m), their rows (n, m (m - 1) / 2)."""
        groups = []
        for m in np.unique(self.size).tolist():
            which = np.flatnonzero(self.size == m)
            rows = self.first_rows[which][:, None] + np.arange(m * (m - 1) // 2)
            groups.append((m, which, self.starts[which][:, None] + np.arange(m), rows))
        return groups

    def of_stage(self, values: FloatArray) -> FloatArray:
        """Values by stage, for every answer."""
        return np.repeat(values, self.size)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sums of values by answer over the answers of a stage, shape (S,)."""
        return np.asarray(np.add.reduceat(values, self.starts), float)

    def largest(self, values: FloatArray) -> FloatArray:
        """Largest value by answer of a stage, shape (S,)."""
        return np.asarray(np.maximum.reduceat(values, self.starts), float)
