"""Rank correlations, without what takes half a second to load in every process of every section."""

from __future__ import annotations

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
