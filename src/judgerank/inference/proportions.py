"""Shares of answers that may depend on each other within clusters: their errors, and intervals."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.inference.wald import normal_quantile


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
