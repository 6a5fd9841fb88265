"""The standing of every model in one fit: scores and ranks with their intervals, and every pair."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import NoIntervalError
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import wald_by_covariance
from judgerank.order.pairs import Order, orders, pairwise, rank_intervals
from judgerank.order.scale import reported_covariance, scale_of


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
    """``rank, model, score, low, high, win_rate, rank_low, rank_high, comparisons``, best first.

    Scores and their intervals are on the reported scale (`order.scale`), with quantiles of the fit's degrees of
    freedom. ``win_rate`` is how often a model is preferred to another one, on average over the others
    (`win_probability`). Intervals of ranks hold for all models at once. Ends are missing where the fit has no
    intervals.
    """
    cells, scale = fitted.comparisons, scale_of(fitted)
    scores = pd.Series(scale.scores, fitted.scores.index)
    n, missing = len(scores), pd.Series(pd.NA, scores.index, "Int64")
    compared = np.bincount(cells.first, cells.decided, n) + np.bincount(cells.second, cells.decided, n)
    frame = pd.DataFrame({"rank": fitted.ranks, "score": scores, "low": np.nan, "high": np.nan})
    frame = frame.assign(win_rate=win_rates(fitted), rank_low=missing, rank_high=missing)
    frame = frame.assign(comparisons=compared.round().astype(int))
    found = orders_of(fitted)
    if found is not None:
        covariance, freedom = reported_covariance(fitted), fitted.degrees_of_freedom
        frame["low"], frame["high"] = wald_by_covariance(scale.scores, covariance, level, freedom)
        ranks = rank_intervals(found, level).set_index("model")
        frame["rank_low"], frame["rank_high"] = ranks["low"], ranks["high"]
    frame = frame.astype({"rank_low": "Int64", "rank_high": "Int64"})
    frame = frame.sort_values("rank").rename_axis("model").reset_index()
    return frame[["rank", "model", *frame.columns.drop(["rank", "model"])]]


def win_probability(fitted: Uncertainty, difference: FloatArray, middle: FloatArray | float = 0.0) -> FloatArray:
    """P(a model is preferred to another) by how much higher its reported score is; array of the same shape.

    By a judge drawn by the weights of the reported scale, which those who tell nothing do not enter, in an order
    drawn at random; a tie counts half. `middle` is the mean of the two reported scores, which matters where ties
    of rankings are an outcome (`Predictions.win_probability`).
    """
    scale = scale_of(fitted)
    judges = scale.weights if scale.weights.any() else None
    lead, middle = (np.asarray(value, float) / scale.factor for value in (difference, middle))
    return fitted.win_probability(lead, judges, middle)


def win_rates(fitted: Uncertainty, at: pd.Series | None = None) -> FloatArray:
    """Mean win probability of models against the others.

    Parameters
    ----------
    fitted : Uncertainty
    at : Series, optional
        Reported scores by model to take for their own, such as ends of intervals, against the others' estimates;
        by default the estimates of all models.

    Returns
    -------
    float array
        In the order of `at`, or of the fit's models; NaN for a score that is NaN.
    """
    scores = pd.Series(scale_of(fitted).scores, fitted.scores.index)
    given = scores if at is None else at
    places = scores.index.get_indexer(given.index)
    others, own = scores.to_numpy(), given.to_numpy(float)
    against = [(score, np.delete(others, place)) for score, place in zip(own, places, strict=True)]
    return np.array([win_probability(fitted, score - rest, (score + rest) / 2).mean() for score, rest in against])


def pairs(fitted: Uncertainty, level: float) -> pd.DataFrame:
    """Every pair of models as in `order.pairs.pairwise`; of a fit without intervals, the differences alone."""
    found = orders_of(fitted)
    if found is not None:
        return pairwise(found, level)
    scores = pd.Series(scale_of(fitted).scores, fitted.scores.index).sort_values(ascending=False, kind="stable")
    i, j = np.triu_indices(len(scores), 1)
    difference = scores.to_numpy()[i] - scores.to_numpy()[j]
    names = {"first": scores.index[i], "second": scores.index[j]}
    return pd.DataFrame({**names, "difference": difference, "comparable": True})
