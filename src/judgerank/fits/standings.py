"""The standing of every model in one fit: scores and ranks with their intervals, and every pair."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.data.errors import NoIntervalError
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import wald
from judgerank.order.pairs import Order, at_best_known_scale, orders, pairwise, rank_intervals


def has_errors(fitted: Uncertainty) -> bool:
    """Whether the fit has a covariance."""
    try:
        return len(fitted.covariance) > 0
    except NoIntervalError:
        return False


def orders_of(fitted: Uncertainty) -> list[Order] | None:
    """`orders`, or None where the fit has no covariance, or a difference of scores no standard error."""
    try:
        return list(orders(fitted))
    except NoIntervalError:
        return None


def leaderboard(fitted: Uncertainty, level: float) -> pd.DataFrame:
    """``rank, model, score, low, high, rank_low, rank_high, comparisons``, best first.

    Intervals of scores are on the scale at which they are known best (`order.pairs.at_best_known_scale`). Their
    quantiles are those of the fit's degrees of freedom. Intervals of ranks hold for all models at once. Ends are
    missing where the fit has no intervals.
    """
    cells, scores = fitted.comparisons, fitted.scores
    n, missing = len(scores), pd.Series(pd.NA, scores.index, "Int64")
    compared = np.bincount(cells.first, cells.count, n) + np.bincount(cells.second, cells.count, n)
    frame = pd.DataFrame({"rank": fitted.ranks, "score": scores, "low": np.nan, "high": np.nan})
    frame = frame.assign(rank_low=missing, rank_high=missing, comparisons=compared.astype(int))
    found = orders_of(fitted)
    if found is not None:
        v = at_best_known_scale(scores.to_numpy(), fitted.covariance, fitted.n_free_discriminations)
        errors, freedom = np.sqrt(np.diag(v)), fitted.degrees_of_freedom
        frame["low"], frame["high"] = wald(scores.to_numpy(), errors, level, freedom)
        ranks = rank_intervals(found, level).set_index("model")
        frame["rank_low"], frame["rank_high"] = ranks["low"], ranks["high"]
    frame = frame.astype({"rank_low": "Int64", "rank_high": "Int64"})
    frame = frame.sort_values("rank").rename_axis("model").reset_index()
    return frame[["rank", "model", *frame.columns.drop(["rank", "model"])]]


def pairs(fitted: Uncertainty, level: float) -> pd.DataFrame:
    """Every pair of models as in `order.pairs.pairwise`; of a fit without intervals, the differences alone."""
    found = orders_of(fitted)
    if found is not None:
        return pairwise(found, level)
    scores = fitted.scores.sort_values(ascending=False, kind="stable")
    i, j = np.triu_indices(len(scores), 1)
    difference = scores.to_numpy()[i] - scores.to_numpy()[j]
    names = {"first": scores.index[i], "second": scores.index[j]}
    return pd.DataFrame({**names, "difference": difference, "comparable": True})
