"""Plug-in information, and covariance in the zero-sum coordinates (section 3.3, appendix A).

Judges at zero discrimination are on the boundary of the parameter space, where the theory gives no interval:
they carry no information on the scores, take no part in the covariance, and get NaN.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import helmert
from scipy.linalg.lapack import dtrtrs

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.engine.sums import Evaluation

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
