"""What a fit says of the order of the models: every pair compared, and an interval for every rank at once.

The scale of the scores hangs on the geometric mean of the discriminations, which one weak judge can leave all but
unknown. The order does not depend on the scale, so here scores are on the scale at which they are known best.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import ndtr

from judgerank.errors import NoIntervalError
from judgerank.inference import normal_quantile, wald, zero_sum_basis
from judgerank.result import FitResult
from judgerank.simulate import generator

DRAWS = 20_000  # of the largest of all pairs' statistics
CHUNK = 500  # draws held at a time


def best_known_scale(scores: np.ndarray, covariance: np.ndarray, n_judges: int) -> np.ndarray:
    """Map from (s, alpha, ...) to the scores when the best-known mean discrimination is held at one, shape (N, D).

    Any weights w that sum to one give a normalisation prod gamma_k^{w_k} = 1, under which ds becomes
    ds + s w' dalpha. Of these, the one whose scale s' ds / s's varies least: its weights are the regression of the
    scale on the log-discriminations.

    Parameters
    ----------
    scores : float array, shape (N,)
    covariance : float array, shape (D, D)
        Of (s, alpha, ...), scores and log-discriminations summing to zero.
    n_judges : int
        Size of the second block.
    """
    n = len(scores)
    to_scores = np.eye(n, len(covariance))
    if n_judges >= 2:
        basis = zero_sum_basis(n_judges)
        judges = slice(n, n + n_judges)
        alpha = basis.T @ covariance[judges, judges] @ basis
        weights = -np.linalg.solve(alpha, basis.T @ covariance[judges, :n] @ scores) / (scores @ scores)
        to_scores[:, judges] = np.outer(scores, basis @ weights)
    return to_scores


def at_best_known_scale(scores: np.ndarray, covariance: np.ndarray, n_judges: int) -> np.ndarray:
    """Covariance of the scores on the scale of `best_known_scale`, shape (N, N)."""
    to_scores = best_known_scale(scores, covariance, n_judges)
    return to_scores @ covariance @ to_scores.T


def standardised(scores: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Zero-sum scores over their standard deviation, and the covariance of those by the delta method.

    Free of any scale, like a correlation: u = s / sd(s), du = (I - s s' / s's) ds / sd(s).

    Parameters
    ----------
    scores : float array, shape (N,)
    covariance : float array, shape (N, N)
    """
    spread = scores.std()
    to_shape = (np.eye(len(scores)) - np.outer(scores, scores) / (scores @ scores)) / spread
    return scores / spread, to_shape @ covariance @ to_shape.T


def pairwise(result: FitResult, level: float = 0.95) -> pd.DataFrame:
    """Every pair of models compared, the higher score first.

    Returns
    -------
    DataFrame
        ``first, second, difference, standard_error, low, high, p_value, p_holm, separated``: Wald tests of equal
        scores, by themselves and with Holm's (1979) adjustment for all pairs; a pair is separated if the adjusted
        p-value is at most one minus the level.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.
    """
    order, difference, error = _differences(result)
    i, j = np.triu_indices(len(order), 1)
    d, se = difference[i, j], error[i, j]
    p = 2 * ndtr(-np.abs(d) / se)
    low, high = wald(d, se, level)
    adjusted = holm(p)
    columns = {"difference": d, "standard_error": se, "low": low, "high": high, "p_value": p, "p_holm": adjusted}
    names = {"first": order[i], "second": order[j]}
    return pd.DataFrame({**names, **columns, "separated": adjusted <= 1 - level})


def holm(p: np.ndarray) -> np.ndarray:
    """p-values adjusted so that none is rejected falsely with the probability they are held to (Holm, 1979)."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    steps = np.arange(len(p), 0, -1) * p[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def rank_intervals(result: FitResult, level: float = 0.95) -> pd.DataFrame:
    """Intervals that hold all ranks at once with the given confidence: ``model, rank, low, high``.

    A model's rank is at least one plus the number of models surely better, and at most N less the number surely
    worse, where sure means by simultaneous intervals of all differences (Mogstad et al., 2024, without steps).

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.
    """
    order, difference, error = _differences(result)
    surely = difference > _simultaneous_quantile(result, level) * error
    n = len(order)
    ranks = {"rank": np.arange(1, n + 1), "low": 1 + surely.sum(axis=0), "high": n - surely.sum(axis=1)}
    return pd.DataFrame({"model": order, **ranks})


def _differences(result: FitResult) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Names by falling score, differences s_i - s_j in that order, and their standard errors, shape (N, N)."""
    names = np.asarray(result.comparisons.models, object)
    s = result.scores.to_numpy()
    order = np.argsort(-s, kind="stable")
    v = _covariance(result)[np.ix_(order, order)]
    error = np.sqrt(np.maximum(np.add.outer(np.diag(v), np.diag(v)) - 2 * v, 0.0))
    np.fill_diagonal(error, np.inf)
    if not (error > 0).all():
        raise NoIntervalError("there are no intervals: some differences have no standard error")
    return names[order], np.subtract.outer(s[order], s[order]), error


def _covariance(result: FitResult) -> np.ndarray:
    return at_best_known_scale(result.scores.to_numpy(), result.covariance, result.n_free_discriminations)


def _simultaneous_quantile(result: FitResult, level: float) -> float:
    """Quantile of the largest |difference| over its standard error, were all scores equal; by simulation."""
    normal_quantile(level)  # refuses what is not a level
    v = _covariance(result)
    n = len(v)
    values, vectors = np.linalg.eigh(v)
    half = vectors * np.sqrt(np.maximum(values, 0.0))
    i, j = np.triu_indices(n, 1)
    error = np.sqrt(np.diag(v)[i] + np.diag(v)[j] - 2 * v[i, j])
    rng = generator(0, "ranks", n)
    largest = []
    for _ in range(DRAWS // CHUNK):
        z = rng.standard_normal((CHUNK, n)) @ half.T
        largest.append((np.abs(z[:, i] - z[:, j]) / error).max(axis=1))
    return float(np.quantile(np.concatenate(largest), level))
