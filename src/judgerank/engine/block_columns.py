"""Columns of further blocks for some of the rows, and sums of values by row times columns.

Rows of one pair and judge stand together, so their entries are summed first, column by column; all else is a sum
of these few sums. What does not depend on the values is worked out once. Sums over two columns of a row have a
sparse matrix of their own: with columns that are mostly zero, as indicators are, that is several times as quick as
products of matrices scaled anew on every pass.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.model.block import Role

LONG = 8  # rows of a run, on average, from which its sum by itself pays
MOST_PAIRS = 16  # of columns that are not zero in a row, on average, up to which sums over pairs get a matrix


class _Entries:
    """Entries of a matrix in runs: one column, and rows of one pair and judge that stand together."""

    def __init__(self, matrix: csr_array, cell: IntArray, ends: tuple[IntArray, IntArray], judge: IntArray):
        self._row, self.columns = _row_of(matrix), matrix.shape[1]
        key, self._data = cell[self._row] * self.columns + matrix.indices, matrix.data
        if np.any(key[1:] < key[:-1]):
            order = np.argsort(key, kind="stable")
            key, self._row, self._data = key[order], self._row[order], self._data[order]
        self._starts = starts_of_runs(key[1:] != key[:-1], LONG)
        ones = slice(None) if self._starts is None else self._starts
        row, self.column = self._row[ones], key[ones] % self.columns
        # of every run, its place in totals by one of the models, or by judge, and by column
        *self.ends, self.judge = (of[row] * self.columns + self.column for of in (*ends, judge))

    def runs(self, values: FloatArray) -> FloatArray:
        """Sums of values by row times entries, one for every run."""
        return over_runs(self._starts, self._data * values.take(self._row))


class BlockColumns:
    """Columns of further blocks, apart by role.

    Attributes
    ----------
    places : mapping of Role to int array
        Which of the P columns have a role.

    Parameters
    ----------
    columns : sparse float array, shape (C, P)
    roles : tuple of Role
        Of the columns.
    ends : two int arrays, shape (C,)
        The models.
    n : int
        Models.
    judge : int array, shape (C,)
    k : int
        Judges.
    """

    def __init__(
        self,
        columns: csr_array,
        roles: tuple[Role, ...],
        ends: tuple[IntArray, IntArray],
        n: int,
        judge: IntArray,
        k: int,
    ) -> None:
        self.places = {role: np.flatnonzero(np.equal(roles, role)) for role in dict.fromkeys(roles)}
        alone = len(self.places) == 1
        self._of = {role: columns if alone else csr_array(columns[:, at]) for role, at in self.places.items()}
        self._by_two: dict[tuple[Role, Role], csr_array | None] = {}
        self._ends, self._judge, self._size = ends, judge, (n, k)

    @cached_property
    def _cell(self) -> IntArray:
        """Number of the pair and judge of every row, those one after the other being different."""
        new = np.zeros(len(self._judge), bool)
        for ids in (*self._ends, self._judge):
            new[1:] |= ids[1:] != ids[:-1]
        return np.cumsum(new)

    @cached_property
    def _entries(self) -> dict[Role, _Entries]:
        return {role: _Entries(matrix, self._cell, self._ends, self._judge) for role, matrix in self._of.items()}

    def __contains__(self, role: Role) -> bool:
        return role in self._of

    def form(self, role: Role, values: FloatArray) -> FloatArray:
        """Columns of a role times their parameters, given all P, by row."""
        form: FloatArray = self._of[role] @ values[self.places[role]]
        return form

    def by_column(self, role: Role, values: FloatArray) -> FloatArray:
        """Sums over the rows of values times columns, one for every column of the role."""
        of = self._entries[role]
        return sums_by_place(of.column, of.runs(values), of.columns)

    def by_two(self, first: Role, second: Role, values: FloatArray) -> FloatArray:
        """Sums of values times columns of two roles."""
        if (first, second) not in self._by_two:
            self._by_two[first, second] = _pairs(self._of[first], self._of[second])
        sums = self._by_two[first, second]
        if sums is None:
            return np.asarray((self._of[first].T @ scaled(self._of[second], values)).toarray())
        return np.asarray((sums @ values).reshape(len(self.places[first]), -1))

    def by_model(self, role: Role, values: FloatArray) -> FloatArray:
        """Sums over the rows that show a model first, minus those that show it second; shape (N, columns)."""
        of, n = self._entries[role], self._size[0]
        runs = of.runs(values)
        first, second = (sums_by_place(end, runs, n * of.columns) for end in of.ends)
        return (first - second).reshape(n, -1)

    def by_judge(self, role: Role, values: FloatArray) -> FloatArray:
        """Sums over the rows of a judge, times columns; shape (K, columns of the role)."""
        of, k = self._entries[role], self._size[1]
        return sums_by_place(of.judge, of.runs(values), k * of.columns).reshape(k, -1)

    def derivatives(self, role: Role, values: FloatArray) -> csr_array:
        """Columns times values by row, shape (C, columns of the role)."""
        return scaled(self._of[role], values)


def scaled(matrix: csr_array, values: FloatArray) -> csr_array:
    """Rows times a value each."""
    data = matrix.data * np.repeat(values, np.diff(matrix.indptr))
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def starts_of_runs(new: BoolArray, length: int) -> IntArray | None:
    """Where runs start, by whether each value but the first begins one; None if they are shorter on average."""
    changes = np.flatnonzero(new) + 1
    return np.concatenate([[0], changes]) if len(new) and length * len(changes) <= len(new) else None


def over_runs(starts: IntArray | None, values: FloatArray) -> FloatArray:
    """Sums over runs; without any, the values."""
    return values if starts is None else np.asarray(np.add.reduceat(values, starts), float)


def _row_of(matrix: csr_array) -> IntArray:
    """Row of every entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def sums_by_place(index: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Sums of values by the place that each belongs to, shape (size,)."""
    return np.bincount(index, values, size).astype(float, copy=False)


def _pairs(left: csr_array, right: csr_array) -> csr_array | None:
    """The matrix of sums over pairs of entries that stand in one row; none where there are too many pairs."""
    if left.shape[1] == right.shape[1] == 1:
        return csr_array(left.multiply(right).T)
    n_pairs = np.diff(right.indptr)[_row_of(left)]  # pairs of every entry of the first
    ends = np.cumsum(n_pairs)
    total = int(ends[-1]) if len(ends) else 0
    if total > MOST_PAIRS * left.shape[0]:
        return None
    first = np.repeat(np.arange(left.nnz), n_pairs)
    second = np.arange(total) + np.repeat(right.indptr[_row_of(left)] - (ends - n_pairs), n_pairs)
    product_index = left.indices[first].astype(np.intp) * right.shape[1] + right.indices[second]
    indptr = np.concatenate([[0], ends])[left.indptr]
    data = left.data[first] * right.data[second]
    by_row = csc_array((data, product_index, indptr), shape=(left.shape[1] * right.shape[1], left.shape[0]))
    return by_row.tocsr()  # place by place: sums in a register
