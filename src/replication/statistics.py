"""Rank correlations and prediction intervals; scipy.stats, half a second to load, only where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's rho of two lists, place by place; NaN if either does not vary."""
    both = pd.DataFrame({"one": np.asarray(first, float), "other": np.asarray(second, float)})
    return float(both.corr(method="spearman").iloc[0, 1])


def kendall(first: ArrayLike, second: ArrayLike) -> float:
    """Kendall's tau-b of two lists, place by place; NaN if either does not vary."""
    from scipy.stats import kendalltau  # loads slowly, and few sections ask for it

    return float(kendalltau(np.asarray(first, float), np.asarray(second, float)).statistic)


# Where one more draw would fall, by draws like it: prediction intervals.


SHARE = 0.95
LEAST_ORDERED = round(2 / (1 - SHARE)) - 1  # fewer draws have no order statistics so far out


@dataclass(frozen=True)
class Interval:
    """Our value, and where one more study would fall.

    Attributes
    ----------
    centre, low, high : float
    draws : int
        What it rests on.
    """

    centre: float
    low: float
    high: float
    draws: int


def one_more(draws: Sequence[float]) -> Interval:
    """Prediction interval for one more draw like those given: ``m ± t s sqrt(1 + 1 / D)``."""
    from scipy.stats import t

    x = np.asarray(draws, float)
    mean, size = float(x.mean()), len(x)
    reach = float(t.ppf((1 + SHARE) / 2, size - 1) * x.std(ddof=1) * np.sqrt(1 + 1 / size))
    return Interval(mean, mean - reach, mean + reach, size)


def one_more_by_order(draws: Sequence[float]) -> Interval:
    """Prediction interval for one more draw between two order statistics, whatever the distribution.

    Raises
    ------
    ValueError
        If there are fewer than `LEAST_ORDERED` draws.
    """
    x = np.sort(np.asarray(draws, float))
    rank = int((1 - SHARE) / 2 * (len(x) + 1) + 1e-9)
    if rank < 1:
        raise ValueError(f"{len(x)} draws have no order statistics for {SHARE:.0%}: it takes {LEAST_ORDERED}")
    return Interval(float(x.mean()), float(x[rank - 1]), float(x[-rank]), len(x))
