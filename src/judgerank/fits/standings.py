"""The standing of every model in one fit: scores and ranks with their intervals, and every pair."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import NoIntervalError
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import wald, wald_by_covariance
from judgerank.order.pairs import Order, orders, pairwise
from judgerank.order.rank_intervals import rank_intervals
from judgerank.order.scale import reported_covariance, scale_of

STEP = 1e-3  # in log-odds, of differences that stand for derivatives
FLAT = 1e-12  # the least derivative of a win probability: below it, differences are rounding


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

    Scores and their intervals are on the reported scale (`order.scale`), with quantiles of their degrees of
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
    orders = orders_of(fitted)
    if orders is not None:
        covariance, freedom = reported_covariance(fitted), fitted.degrees_of_scores
        frame["low"], frame["high"] = wald_by_covariance(scale.scores, covariance, level, freedom)
        ranks = rank_intervals(orders, level).set_index("model")
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


def win_rates(fitted: Uncertainty, shift: FloatArray | float = 0.0) -> FloatArray:
    """Mean win probability of every model against the others.

    Parameters
    ----------
    fitted : Uncertainty
    shift : float array, shape (N,), or float
        How much higher to take each model's own reported score, the others' being the estimates.

    Returns
    -------
    float array, shape (N,)
        In the order of the fit's models.
    """
    scores = scale_of(fitted).scores
    shifted = scores + shift
    return np.array([_chances(fitted, score, np.delete(scores, i)).mean() for i, score in enumerate(shifted)])


def win_rate_intervals(fitted: Uncertainty, level: float) -> pd.DataFrame:
    """``low, high`` of every win rate by model; missing where the fit has no intervals.

    By the delta method, with the covariance of all reported scores and the degrees of freedom of the model's own.
    The error of a win rate is brought to the scale of the model's own score, W_i(t) with s_i + t in place of s_i,
    and the ends are W_i at -/+ its reach there. So they lie between 0 and 1. Two models have the Wald interval of
    their difference, read as a win probability. Judges' parameters are taken as known on the reported scale.
    """
    models = fitted.scores.index
    if orders_of(fitted) is None:
        return pd.DataFrame(np.nan, models, ["low", "high"])
    slopes = _win_rate_slopes(fitted)
    lead = slopes / np.diag(slopes)[:, None]
    error = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", lead, reported_covariance(fitted), lead), 0.0))
    low, high = wald(np.zeros(len(error)), error, level, fitted.degrees_of_scores)
    return pd.DataFrame({"low": win_rates(fitted, low), "high": win_rates(fitted, high)}, models)


def _win_rate_slopes(fitted: Uncertainty) -> FloatArray:
    """Derivatives of the win rates, by rows, in the reported scores, shape (N, N); those of sure wins are tiny."""
    scores, slopes = scale_of(fitted).scores, np.empty((len(fitted.scores),) * 2)
    for i, score in enumerate(scores):
        rest, is_other = np.delete(scores, i), np.arange(len(scores)) != i
        by_own = _chances(fitted, score + STEP, rest) - _chances(fitted, score - STEP, rest)
        by_rest = _chances(fitted, score, rest + STEP) - _chances(fitted, score, rest - STEP)
        slopes[i, i] = np.maximum(by_own / (2 * STEP), FLAT).mean()
        slopes[i, is_other] = np.minimum(by_rest / (2 * STEP), -FLAT) / len(rest)
    return slopes


def _chances(fitted: Uncertainty, score: float, rest: FloatArray) -> FloatArray:
    """Probability that a model of one reported score is preferred to each of some others."""
    return win_probability(fitted, score - rest, (score + rest) / 2)


def pairs(fitted: Uncertainty, level: float) -> pd.DataFrame:
    """Every pair of models as in `order.pairs.pairwise`; of a fit without intervals, the differences alone."""
    orders = orders_of(fitted)
    if orders is not None:
        return pairwise(orders, level)
    scores = pd.Series(scale_of(fitted).scores, fitted.scores.index).sort_values(ascending=False, kind="stable")
    i, j = np.triu_indices(len(scores), 1)
    difference = scores.to_numpy()[i] - scores.to_numpy()[j]
    names = {"first": scores.index[i], "second": scores.index[j]}
    return pd.DataFrame({**names, "difference": difference, "comparable": True})
