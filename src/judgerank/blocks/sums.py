"""Likelihood of blocks, its gradient and information: sums over rows, those that are alike merged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.model.block import Role, Stacked
from judgerank.model.law import Law


@dataclass(frozen=True)
class Rows:
    """Rows with the same columns, by what was answered.

    Attributes
    ----------
    columns : sparse float array, shape (U, D)
        Of all blocks side by side.
    role : int array, shape (D,)
    count, outcome, tied : float array, shape (U,)
        Comparisons, the mean of their outcomes, and the share of them that are ties.
    merged : int array, shape (T,)
        Which of these each comparison is in.
    has_ties : bool
        Whether ties are an outcome of their own.
    """

    columns: csr_array
    role: IntArray
    count: FloatArray
    outcome: FloatArray
    tied: FloatArray
    merged: IntArray
    has_ties: bool

    @classmethod
    def of(cls, stacked: Stacked, comparisons: Comparisons) -> Rows:
        """Merge the rows of raw comparisons."""
        columns = side_by_side(stacked)
        representative, merged = alike(columns)
        many = len(representative)
        count = np.asarray(np.bincount(merged, comparisons.count, many), float)
        outcome, tied = (
            np.bincount(merged, comparisons.count * values, many) / count
            for values in (comparisons.outcome, comparisons.known_ties)
        )
        has_ties = any(block.role is Role.TIE for block in stacked.blocks)
        return cls(columns[representative], stacked.role, count, outcome, tied, merged, has_ties)

    def only(self, rows: IntArray, comparisons: Comparisons) -> Rows:
        """Some of the comparisons, shape (R,) of their places among all."""
        kept, merged = np.unique(self.merged[rows], return_inverse=True)
        count = np.asarray(np.bincount(merged, comparisons.count[rows], len(kept)), float)
        outcome, tied = (
            np.bincount(merged, comparisons.count[rows] * values[rows], len(kept)) / count
            for values in (comparisons.outcome, comparisons.known_ties)
        )
        return Rows(self.columns[kept], self.role, count, outcome, tied, merged, self.has_ties)

    @cached_property
    def row(self) -> IntArray:
        """Row of every entry of the columns."""
        return np.repeat(np.arange(self.columns.shape[0]), np.diff(self.columns.indptr))

    @cached_property
    def by_role(self) -> dict[Role, csr_array]:
        """Columns of the parameters of one role."""
        return {role: self.columns[:, self.role == role] for role in Role}

    def at(self, theta: FloatArray) -> Here:
        """What a point says, shape (D,), minus infinity standing for a weight or a propensity of zero."""
        return Here(self, theta)


def side_by_side(stacked: Stacked) -> csr_array:
    """Columns of all blocks, shape (T, D), indices in order within a row."""
    from scipy.sparse import hstack

    whole = csr_array(hstack([design.columns for design in stacked.designs], format="csr"))
    whole.sum_duplicates()
    return whole


def alike(columns: csr_array) -> tuple[IntArray, IntArray]:
    """First row of each kind, and the kind of every row, for a matrix whose indices are in order."""
    many = np.diff(columns.indptr)
    row = np.repeat(np.arange(len(many)), many)
    place = np.arange(columns.nnz) - columns.indptr[row]
    key = np.full((len(many), 2 * max(1, int(many.max(initial=0)))), -1.0)
    key[row, 2 * place], key[row, 2 * place + 1] = columns.indices, columns.data
    as_bytes = np.ascontiguousarray(key).view(np.dtype((np.void, key.itemsize * key.shape[1]))).ravel()
    _, first, kind = np.unique(as_bytes, return_index=True, return_inverse=True)
    return first, kind


class Here:
    """The law of every row at one point, and sums of what follows from it."""

    def __init__(self, rows: Rows, theta: FloatArray):
        self.rows, self.theta = rows, theta
        forms = [self._form(role) for role in Role]
        self.quality, self.offset = forms[Role.QUALITY], forms[Role.OFFSET]
        self.g = np.exp(forms[Role.WEIGHT])
        self.signal = self.g * self.quality
        self.nu = np.exp(forms[Role.TIE]) if rows.has_ties else None
        self.law = Law(self.signal + self.offset, self.nu)

    def _form(self, role: Role) -> FloatArray:
        """Sum of columns times parameters over those of one role, shape (U,)."""
        columns, theta = self.rows.by_role[role], self.theta[self.rows.role == role]
        value: FloatArray = columns @ np.where(np.isfinite(theta), theta, 0.0)
        away = np.isneginf(theta)
        if away.any():
            value[columns @ away.astype(float) != 0] = -np.inf
        return value

    @property
    def log_likelihood(self) -> float:
        return float(self.rows.count @ self.law.log_likelihood(self.rows.outcome, self.rows.tied))

    def law_of(self, kinds: IntArray) -> Law:
        """Law of rows by their places among these."""
        return Law((self.signal + self.offset)[kinds], None if self.nu is None else self.nu[kinds])

    @property
    def residual(self) -> FloatArray:
        """Of the outcome, per comparison, shape (U,)."""
        return self.rows.outcome - self.law.mean

    @cached_property
    def derivatives(self) -> csr_array:
        """Of eta in q, w and o's parameters and of log nu in t's, shape (U, D)."""
        factors = np.stack([self.g, self.signal, np.ones_like(self.g), np.ones_like(self.g)])
        columns = self.rows.columns
        data = columns.data * factors[self.rows.role[columns.indices], self.rows.row]
        return csr_array((data, columns.indices, columns.indptr), shape=columns.shape)

    @cached_property
    def gradient(self) -> FloatArray:
        """Of the log-likelihood, shape (D,)."""
        j = self.derivatives
        value: FloatArray = j.T @ (self.rows.count * self.residual)
        if self.nu is not None:
            ties = self.rows.role == Role.TIE
            value[ties] = (j.T @ (self.rows.count * (self.rows.tied - self.law.tie)))[ties]
        return value

    def of_comparisons(self, outcome: FloatArray, tied: FloatArray) -> csr_array:
        """Gradient of every comparison, shape (T, D), for their own outcomes."""
        merged, role = self.rows.merged, self.rows.role
        whole = self.derivatives[merged]
        row = np.repeat(np.arange(len(merged)), np.diff(whole.indptr))
        residual = outcome - self.law.mean[merged]
        left = residual if self.nu is None else tied - self.law.tie[merged]
        data = whole.data * np.where(role[whole.indices] == Role.TIE, left[row], residual[row])
        return csr_array((data, whole.indices, whole.indptr), shape=whole.shape)

    @cached_property
    def expected_information(self) -> FloatArray:
        """Shape (D, D)."""
        rows, j, ties = self.rows, self.derivatives, self.rows.role == Role.TIE
        total = _squared(j, rows.count * self.law.variance)
        if self.nu is not None:
            shared = _squared(j, rows.count * self.law.with_ties)
            own = _squared(j, rows.count * self.law.tie * (1 - self.law.tie))
            total = np.where(np.logical_xor.outer(ties, ties), shared, total)
            total = np.where(np.logical_and.outer(ties, ties), own, total)
        return total

    @cached_property
    def observed_information(self) -> FloatArray:
        """Minus the Hessian, shape (D, D)."""
        total, role = self.expected_information.copy(), self.rows.role
        x = self.rows.by_role[Role.WEIGHT]
        # second derivatives of eta: g between quality and weight, g q between weights
        left = self.rows.count * self.residual
        both, weights = role == Role.QUALITY, role == Role.WEIGHT
        cross = (self.rows.by_role[Role.QUALITY].T @ _scaled(x, left * self.g)).toarray()
        total[np.ix_(both, weights)] -= cross
        total[np.ix_(weights, both)] -= cross.T
        total[np.ix_(weights, weights)] -= _squared(x, left * self.signal)
        return total


def _squared(x: csr_array, weight: FloatArray) -> FloatArray:
    """x' diag(weight) x, dense."""
    return np.asarray((x.T @ _scaled(x, weight)).toarray())


def _scaled(x: csr_array, weight: FloatArray) -> csr_array:
    """Rows times a weight each."""
    return csr_array((x.data * np.repeat(weight, np.diff(x.indptr)), x.indices, x.indptr), shape=x.shape)
