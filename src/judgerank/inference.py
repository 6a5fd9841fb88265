"""Plug-in information, covariance in the zero-sum coordinates, Wald intervals (section 3.3, appendix A).

Judges at zero discrimination are on the boundary of the parameter space, where the theory gives no interval:
they carry no information on the scores, take no part in the covariance, and get NaN.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.linalg import helmert, solve_triangular
from scipy.special import chdtrc, ndtri, stdtrit

from judgerank.arrays import BoolArray, FloatArray, IntArray
from judgerank.comparisons import Comparisons
from judgerank.errors import ConfigError, DataError
from judgerank.likelihood import Evaluation, evaluate
from judgerank.model import Model, Parameters

SINGULAR = 1e-11  # far above the rounding of an eigenvalue (1e-15), far below that of any panel with intervals


@lru_cache(maxsize=64)
def zero_sum_basis(size: int) -> FloatArray:
    """Orthonormal basis A of the zero-sum vectors, shape (size, size - 1); kept, so not to be written to."""
    basis = helmert(size).T if size > 1 else np.zeros((1, 0))
    basis.flags.writeable = False
    return basis


def information(at_fit: Evaluation, free: BoolArray) -> FloatArray:
    """Expected information J' diag(n p (1 - p)) J of (s, alpha, ...) over the judges' free parameters.

    Parameters
    ----------
    at_fit : Evaluation
        With the expected information accumulated.
    free : bool array, shape (B, K)

    Returns
    -------
    float array, shape (D, D), D = N + free.sum()
        Ordered as scores, then the free parameters block by block.
    """
    n_blocks, k = free.shape
    if n_blocks == 0:
        return at_fit.score_information
    n = len(at_fit.score_information)
    whole = np.zeros((n + free.size, n + free.size))
    whole[:n, :n] = at_fit.score_information
    whole[n:, :n] = at_fit.cross_information.reshape(free.size, n)
    whole[:n, n:] = whole[n:, :n].T
    for b, b2 in np.ndindex(n_blocks, n_blocks):
        whole[n + b * k + np.arange(k), n + b2 * k + np.arange(k)] = at_fit.judge_information[:, b, b2]
    chosen = np.r_[np.ones(n, bool), free.ravel()]
    return whole if chosen.all() else whole[np.ix_(chosen, chosen)]


def covariance(info: FloatArray, n_models: int, n_judges: int) -> FloatArray:
    """Covariance J (J' I J)^-1 J' with J = blkdiag(A_s, A_alpha) (paper, proof of theorem 3.3).

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
    scale = np.sqrt(np.maximum(np.diag(within), np.finfo(float).tiny))  # units of every parameter
    if np.linalg.eigvalsh(within / np.outer(scale, scale)).min() <= SINGULAR:
        raise np.linalg.LinAlgError("the information is singular")
    half = solve_triangular(np.linalg.cholesky(within), np.eye(len(info)) - sums @ sums.T, lower=True)
    return half.T @ half


def cluster_gradients(comparisons: Comparisons, model: Model, at: Parameters, cluster: IntArray) -> FloatArray:
    """Gradient of each cluster's log-likelihood in (s, judges' blocks), shape (Q, N + B K).

    Raises
    ------
    DataError
        If there is not one cluster for each row, or there are fewer than two.
    """
    names, cluster = np.unique(cluster, return_inverse=True)
    n, k, q = len(comparisons.models), len(comparisons.judges), len(names)
    if len(cluster) != len(comparisons) or q < 2:
        raise DataError(
            f"{len(comparisons)} comparisons in {q} clusters: that many labels and two clusters are needed"
        )
    # every cluster with models and judges of its own, all of them at the same parameters: one pass for all
    models, ends = np.unique(
        np.tile(cluster * n, 2) + np.r_[comparisons.first, comparisons.second], return_inverse=True
    )
    judges, judge = np.unique(cluster * k + comparisons.judge, return_inverse=True)
    apart = replace(
        comparisons,
        models=tuple(map(str, range(len(models)))),
        judges=tuple(map(str, range(len(judges)))),
        first=ends[: len(cluster)],
        second=ends[len(cluster) :],
        judge=judge,
    )
    here = evaluate(apart, model, Parameters(at.scores[models % n], at.judges[:, judges % k]))
    gradients = np.zeros((q, n + len(at.judges) * k))
    gradients[models // n, models % n] = here.score_gradient
    for block, values in enumerate(here.judge_gradient):
        gradients[judges // k, n + block * k + judges % k] = values
    return gradients


def _numbered(size: int) -> tuple[str, ...]:
    return tuple(map(str, range(size)))


def for_few_clusters(meat: FloatArray, info: FloatArray, inverse: FloatArray, n_clusters: int) -> FloatArray:
    """What few clusters leave out of their gradients' sum of squares (Morel, Bokossa and Neerchal, 2003).

    The information I times min(1/2, p / (Q - p)) max(1, tr(B M) / p), p = tr(B I) being the number of parameters
    that the data decide.

    Parameters
    ----------
    meat, info, inverse : float array, shape (D, D)
        M; I, of the comparisons alone; B, the inverse of the whole information.
    n_clusters : int
        Q.
    """
    p = np.sum(inverse * info)
    share = min(0.5, p / (n_clusters - p)) if n_clusters > p else 0.5
    return float(share * max(1.0, np.sum(inverse * meat) / p)) * info


def likelihood_ratio(smaller: float, larger: float, degrees_of_freedom: int) -> tuple[float, float]:
    """Statistic 2 (l1 - l0) of nested fits, and its chi-squared p-value (parameters inside their space)."""
    statistic = 2.0 * (larger - smaller)
    return statistic, float(chdtrc(degrees_of_freedom, statistic))


def require_level(level: float) -> None:
    """Refuse what is not a confidence level.

    Raises
    ------
    ConfigError
        If it is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise ConfigError(f"a confidence level lies between 0 and 1, not at {level!r}")


def normal_quantile(level: float, degrees_of_freedom: float = np.inf) -> float:
    """z_{1 - (1 - level) / 2}, of Student's t where an error has few degrees of freedom.

    Raises
    ------
    ConfigError
        If the level is not between 0 and 1.
    """
    require_level(level)
    if np.isinf(degrees_of_freedom):
        return float(ndtri(0.5 + level / 2))
    return float(stdtrit(degrees_of_freedom, 0.5 + level / 2))


def wald(
    estimate: FloatArray, standard_error: FloatArray, level: float, degrees_of_freedom: float = np.inf
) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval estimate -/+ z standard_error (paper, section 3.3)."""
    reach = normal_quantile(level, degrees_of_freedom) * standard_error
    return estimate - reach, estimate + reach
