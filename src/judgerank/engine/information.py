"""Plug-in information, and covariance in the zero-sum coordinates (section 3.3, appendix A).

Judges at zero discrimination are on the boundary of the parameter space, where the theory gives no interval:
they carry no information on the scores, take no part in the covariance, and get NaN.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache

import numpy as np
from scipy.linalg import helmert
from scipy.linalg.lapack import dtrtrs

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.engine.likelihood import Evaluation
from judgerank.model.members import Model

SINGULAR = 1e-11  # far above the rounding of an eigenvalue (1e-15), far below that of any panel with intervals


@lru_cache(maxsize=64)
def zero_sum_basis(size: int) -> FloatArray:
    """Orthonormal basis A of the zero-sum vectors, shape (size, size - 1); kept, so not to be written to."""
    basis = helmert(size).T if size > 1 else np.zeros((1, 0))
    basis.flags.writeable = False
    return basis


def information(at_fit: Evaluation, free: BoolArray, free_common: BoolArray | None = None) -> FloatArray:
    """Expected information J' diag(n p (1 - p)) J of (s, alpha, ...) over the free parameters.

    Parameters
    ----------
    at_fit : Evaluation
        With the expected information accumulated.
    free : bool array, shape (B, K)
        Parameters of the judges.
    free_common : bool array, shape (P,), optional
        Parameters of further blocks; none by default.

    Returns
    -------
    float array, shape (D, D), D = N + free.sum() + free_common.sum()
        Ordered as scores, the judges' free parameters block by block, and those of further blocks.
    """
    n_blocks, k = free.shape
    p = 0 if free_common is None else len(free_common)
    top = at_fit.top_information
    if n_blocks == 0 and p == 0:
        return top.copy()
    n = len(top) - p
    end, size = n + free.size, n + free.size + p
    matrix = np.zeros((size, size))
    matrix[:n, :n] = top[:n, :n]
    matrix[:n, end:], matrix[end:, :n], matrix[end:, end:] = top[:n, n:], top[n:, :n], top[n:, n:]
    cross = at_fit.cross_information.reshape(free.size, n + p)
    matrix[n:end, :n], matrix[n:end, end:] = cross[:, :n], cross[:, n:]
    matrix[:n, n:end], matrix[end:, n:end] = cross[:, :n].T, cross[:, n:].T
    entries = matrix.reshape(-1)
    for b in range(n_blocks):
        for column in range(n_blocks):
            start = (n + b * k) * size + n + column * k  # of the diagonal of what two blocks share
            entries[start : start + k * (size + 1) : size + 1] = at_fit.judge_information[:, b, column]
    common = np.ones(0, bool) if free_common is None else free_common
    chosen = np.concatenate([np.ones(n, bool), free.ravel(), common])
    return matrix if chosen.all() else matrix[np.ix_(chosen, chosen)]


def covariance(info: FloatArray, n_models: int, n_judges: int) -> FloatArray:
    """Covariance J (J' I J)^-1 J' with J = blkdiag(A_s, A_alpha, identity) (paper, proof of theorem 3.4).

    Parameters
    ----------
    info : float array, shape (D, D)
        Information of (s, alpha, ...); scores and log-discriminations sum to zero, further parameters are free.
    n_models, n_judges : int
        Sizes of the first two blocks; no judges for BTL.

    Raises
    ------
    LinAlgError
        If the information, scaled to ones on its diagonal, is singular to within `SINGULAR`.
    """
    sums = np.zeros((len(info), 2 if n_judges else 1))  # unit vectors along the sums held at zero
    sums[:n_models, 0] = 1.0 / np.sqrt(n_models)
    sums[n_models : n_models + n_judges, 1:] = 1.0 / np.sqrt(max(n_judges, 1))
    across = info @ sums
    within = info - across @ sums.T - sums @ across.T + sums @ (sums.T @ across) @ sums.T
    within += np.trace(info) / len(info) * (sums @ sums.T)
    scale = np.sqrt(np.maximum(np.diag(within), 0.0))  # units of every parameter
    if not scale.all() or np.linalg.eigvalsh(within / np.outer(scale, scale)).min() <= SINGULAR:
        raise np.linalg.LinAlgError("the information is singular")
    # the factor's transpose is what LAPACK takes without a copy
    half: FloatArray = dtrtrs(np.linalg.cholesky(within).T, np.eye(len(info)) - sums @ sums.T, trans=1)[0]
    return half.T @ half


# Coordinates of parameters that sum to zero, block by block.


class Coordinates:
    """Coordinates of a vector some blocks of which sum to zero: of such a block all but the last value.

    Attributes
    ----------
    free_columns : int array, shape (D',)
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
        self.free_columns: IntArray = np.array(free_columns, np.intp)

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
        values[self.free_columns] = x
        for members, last in self._sums:
            values[last] = -values[members].sum()
        return values

    def gradient(self, full_gradient: FloatArray) -> FloatArray:
        """Derivatives in the coordinates, shape (D',), from those in the whole vector."""
        adjusted = full_gradient.copy()
        for members, last in self._sums:
            adjusted[members] -= full_gradient[last]
        return adjusted[self.free_columns]

    def reduced(self, matrix: FloatArray) -> FloatArray:
        """Second derivatives in the coordinates, shape (D', D'), from those in the whole vector."""
        adjusted = matrix.copy()
        for members, last in self._sums:
            adjusted[members] -= adjusted[last]
            adjusted[:, members] -= adjusted[:, [last]]
        return adjusted.take(self.free_columns, 0).take(
            self.free_columns, 1
        )  # several times as quick as by both at once
