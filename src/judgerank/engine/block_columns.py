"""Columns of further blocks for some of the rows, and sums of values by row times columns.

Every sum is linear in the values, so each has a sparse matrix of its own, made once: with columns that are mostly
zero, as indicators are, that is several times as quick as products of matrices scaled anew on every pass.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array, csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.model.block import Role

MOST_PAIRS = 16  # of columns that are not zero in a row, on average, up to which sums over pairs get a matrix


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
        self._of = {role: csr_array(columns[:, place]) for role, place in self.places.items()}
        self._turned = {role: csc_array(matrix.T) for role, matrix in self._of.items()}
        self._by_model: dict[Role, csc_array] = {}
        self._by_judge: dict[Role, csc_array] = {}
        self._by_two: dict[tuple[Role, Role], csc_array | None] = {}
        self._size = n, k
        for role, matrix in self._of.items():
            of, row = matrix.shape[1], _row_of(matrix)
            both = np.stack([end[row] * of + matrix.indices for end in ends], axis=1).ravel()
            signed = np.stack([matrix.data, -matrix.data], axis=1).ravel()
            self._by_model[role] = _sums_over(len(judge), signed, both, 2 * matrix.indptr, n * of)
            judged = judge[row] * of + matrix.indices
            self._by_judge[role] = _sums_over(len(judge), matrix.data, judged, matrix.indptr, k * of)

    def __contains__(self, role: Role) -> bool:
        return role in self._of

    def form(self, role: Role, values: FloatArray) -> FloatArray:
        """Columns of a role times their parameters, given all P, by row."""
        form: FloatArray = self._of[role] @ values[self.places[role]]
        return form

    def by_column(self, role: Role, values: FloatArray) -> FloatArray:
        """Sums over the rows of values times columns, one for every column of the role."""
        total: FloatArray = self._turned[role] @ values
        return total

    def by_two(self, one: Role, other: Role, values: FloatArray) -> FloatArray:
        """Sums of values times columns of two roles."""
        if (one, other) not in self._by_two:
            self._by_two[one, other] = _pairs(self._of[one], self._of[other])
        sums = self._by_two[one, other]
        if sums is None:
            return np.asarray((self._turned[one] @ scaled(self._of[other], values)).toarray())
        return np.asarray((sums @ values).reshape(len(self.places[one]), -1))

    def by_model(self, role: Role, values: FloatArray) -> FloatArray:
        """Sums over the rows that show a model first, minus those that show it second; shape (N, columns)."""
        return np.asarray((self._by_model[role] @ values).reshape(self._size[0], -1))

    def by_judge(self, role: Role, values: FloatArray) -> FloatArray:
        """Sums over the rows of a judge, times columns; shape (K, columns of the role)."""
        return np.asarray((self._by_judge[role] @ values).reshape(self._size[1], -1))

    def derivatives(self, role: Role, values: FloatArray) -> csr_array:
        """Columns times values by row, shape (C, columns of the role)."""
        return scaled(self._of[role], values)


def scaled(matrix: csr_array, values: FloatArray) -> csr_array:
    """Rows times a value each."""
    data = matrix.data * np.repeat(values, np.diff(matrix.indptr))
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _row_of(matrix: csr_array) -> IntArray:
    """Row of every entry."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _sums_over(many: int, data: FloatArray, place: IntArray, indptr: IntArray, size: int) -> csc_array:
    """The matrix that adds values of rows, times data, at places of a total; entries stand row by row."""
    return csc_array((data, place, indptr), shape=(size, many))


def _pairs(one: csr_array, other: csr_array) -> csc_array | None:
    """The matrix of sums over pairs of entries that stand in one row; none where there are too many pairs."""
    many = np.diff(other.indptr)[_row_of(one)]  # pairs of every entry of the first
    ends = np.cumsum(many)
    total = int(ends[-1]) if len(ends) else 0
    if total > MOST_PAIRS * one.shape[0]:
        return None
    first = np.repeat(np.arange(one.nnz), many)
    second = np.arange(total) + np.repeat(other.indptr[_row_of(one)] - (ends - many), many)
    place = one.indices[first].astype(np.intp) * other.shape[1] + other.indices[second]
    indptr = np.concatenate([[0], ends])[one.indptr]
    data = one.data[first] * other.data[second]
    return _sums_over(one.shape[0], data, place, indptr, one.shape[1] * other.shape[1])
