"""Likelihood ratios, p-values, and Wald intervals (section 3.3)."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri, stdtr, stdtrit

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import ConfigError

Freedom = FloatArray | float  # degrees of freedom, one for all or each its own


def likelihood_ratio(smaller: float, larger: float, degrees_of_freedom: int) -> tuple[float, float]:
    """Statistic 2 (l1 - l0) of nested fits, and its chi-squared p-value (parameters inside their space)."""
    statistic = 2.0 * (larger - smaller)
    return statistic, float(chdtrc(degrees_of_freedom, statistic))


def two_sided(z: FloatArray, degrees_of_freedom: Freedom = np.inf) -> FloatArray:
    """p-values of normal statistics, or of Student's where the degrees of freedom are few."""
    return np.asarray(2 * lower_tail(-np.abs(z), degrees_of_freedom))


def lower_tail(z: FloatArray, degrees_of_freedom: Freedom) -> FloatArray:
    """Probability that a normal variable, or Student's, is below z; missing where degrees of freedom are."""
    return _normal_or_student(ndtr, stdtr, z, degrees_of_freedom)


def quantile(probability: FloatArray | float, degrees_of_freedom: Freedom) -> FloatArray:
    """The inverse of `lower_tail`."""
    return _normal_or_student(ndtri, stdtrit, probability, degrees_of_freedom)


def _normal_or_student(
    normal: np.ufunc, student: np.ufunc, argument: FloatArray | float, degrees_of_freedom: Freedom
) -> FloatArray:
    """A function of the normal distribution, of Student's where the degrees of freedom are few."""
    values, degrees = np.broadcast_arrays(np.asarray(argument, float), np.asarray(degrees_of_freedom, float))
    result = np.array(normal(values))
    student(degrees, values, out=result, where=~np.isinf(degrees))
    return result


def at_degrees(z: FloatArray, degrees: Freedom, common: float) -> FloatArray:
    """The statistics with the same p-values at common degrees of freedom, of which their own are at most as many.

    Those of the smallest p-values end at the least that a double holds.
    """
    tail = np.maximum(lower_tail(-np.abs(z), degrees), np.finfo(float).tiny)
    smaller = np.minimum(np.abs(z), -quantile(tail, common))
    return np.where(np.less(degrees, common), np.copysign(smaller, z), z)


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
    return float(quantile(0.5 + level / 2, degrees_of_freedom))


def wald(
    estimate: FloatArray, standard_error: FloatArray, level: float, degrees_of_freedom: Freedom = np.inf
) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval estimate -/+ z standard_error (paper, section 3.3)."""
    require_level(level)
    reach = quantile(0.5 + level / 2, degrees_of_freedom) * standard_error
    return estimate - reach, estimate + reach


def wald_by_covariance(
    estimate: FloatArray, covariance: FloatArray, level: float, degrees_of_freedom: Freedom = np.inf
) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval of each estimate, shape (N,), by their covariance, shape (N, N)."""
    return wald(estimate, np.sqrt(np.diag(covariance)), level, degrees_of_freedom)


# Shares of answers that may depend on each other within clusters: their errors, and intervals.


def ratio_by_cluster(above: FloatArray, below: FloatArray) -> tuple[float, float]:
    """A ratio of sums over clusters, and its standard error; zero over zero is one.

    Parameters
    ----------
    above, below : float array, shape (Q,)
        Sums of every cluster.
    """
    total = float(below.sum())
    if not total > 0:
        return 1.0, 0.0
    ratio, n_clusters = float(above.sum()) / total, len(above)
    left = above - ratio * below
    return ratio, float(np.sqrt((left**2).sum() * n_clusters / max(n_clusters - 1, 1))) / total


def effective_trials(above: FloatArray, below: FloatArray, most: float, level: float) -> tuple[float, float]:
    """A share of sums over clusters, and how many independent trials are as uncertain (Korn and Graubard, 1998).

    With Q clusters the variance is an estimate. The trials that it says are multiplied by (z / t)^2, the normal
    quantile over Student's with Q - 1 degrees of freedom. Where clusters do not differ, as where nothing ever
    happened, their spread says nothing about how dependent trials of one cluster are. Then each cluster counts as
    one trial.

    Parameters
    ----------
    above, below : float array, shape (Q,)
        Sums of every cluster: how often it happened, and how often it could.
    most : float
        Number of trials, which are never more than these.
    level : float
        Of the interval that they are for.
    """
    share, error = ratio_by_cluster(above, below)
    if not error > 0:
        return share, min(float(len(above)), most)
    few = normal_quantile(level) / normal_quantile(level, len(above) - 1.0)
    return share, min(share * (1 - share) / error**2 * few**2, most)


def wilson(share: float, n_trials: float, level: float) -> tuple[float, float]:
    """Interval of a share of so many independent trials, a whole number or not (Wilson, 1927)."""
    if n_trials <= 0:
        return 0.0, 1.0
    z = normal_quantile(level)
    middle = (share + z**2 / (2 * n_trials)) / (1 + z**2 / n_trials)
    reach = z / (1 + z**2 / n_trials) * np.sqrt(share * (1 - share) / n_trials + z**2 / (4 * n_trials**2))
    return max(0.0, float(middle - reach)), min(1.0, float(middle + reach))


INFORMATIVE = 0.5  # of the range of possible values, which an interval may be wide and still say something


def is_informative(interval: tuple[float, float], possible: tuple[float, float]) -> bool:
    """Whether an interval is at most half as wide as the range of what its quantity can be.

    No sentence has a number whose interval is wider: it says how little data there is, or nothing.

    Parameters
    ----------
    interval : tuple of float
        Its ends; missing where there is none, which says nothing.
    possible : tuple of float
        Least and largest value. Of a quantity without an end, where it would no longer matter.
    """
    (low, high), (least, most) = interval, possible
    return bool(high - low <= INFORMATIVE * (most - least))
