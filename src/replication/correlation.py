"""Rank correlations. Those of scipy.stats take it half a second to load, in every process of every section."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


def spearman(one: ArrayLike, other: ArrayLike) -> float:
    """Spearman's rho of two lists, place by place; NaN if either does not vary."""
    both = pd.DataFrame({"one": np.asarray(one, float), "other": np.asarray(other, float)})
    return float(both.corr(method="spearman").iloc[0, 1])


def kendall(one: ArrayLike, other: ArrayLike) -> float:
    """Kendall's tau-b of two short lists, place by place; NaN if either does not vary.

    The sum of the signs of every pair in both, over the root of how many pairs differ in either (Kendall, 1945).
    """
    a, b = (np.sign(np.subtract.outer(x, x)) for x in (np.asarray(one, float), np.asarray(other, float)))
    many = np.count_nonzero(a) * np.count_nonzero(b)
    return float(np.sum(a * b) / np.sqrt(many)) if many else np.nan
