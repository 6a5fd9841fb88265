"""Likelihood ratios, p-values, and Wald intervals (section 3.3)."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri, stdtr, stdtrit

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import ConfigError


def likelihood_ratio(smaller: float, larger: float, degrees_of_freedom: int) -> tuple[float, float]:
    """Statistic 2 (l1 - l0) of nested fits, and its chi-squared p-value (parameters inside their space)."""
    statistic = 2.0 * (larger - smaller)
    return statistic, float(chdtrc(degrees_of_freedom, statistic))


def two_sided(z: FloatArray, degrees_of_freedom: float = np.inf) -> FloatArray:
    """p-values of normal statistics, or of Student's where the degrees of freedom are few."""
    below = -np.abs(z)
    return np.asarray(2 * (ndtr(below) if np.isinf(degrees_of_freedom) else stdtr(degrees_of_freedom, below)))


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


def wald_by_covariance(
    estimate: FloatArray, covariance: FloatArray, level: float, degrees_of_freedom: float = np.inf
) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval of each estimate, shape (N,), by their covariance, shape (N, N)."""
    return wald(estimate, np.sqrt(np.diag(covariance)), level, degrees_of_freedom)
