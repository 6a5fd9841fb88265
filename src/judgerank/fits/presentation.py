"""The standing of every model in a fit, and a fit as text, as HTML and as a figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.cache import remembered
from judgerank.data.errors import ConfigError, NoIntervalError
from judgerank.data.listing import counted
from judgerank.data.modules import needed
from judgerank.fits.fitted import Fitted
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import wald, wald_by_covariance
from judgerank.order.pairs import Order, difference_intervals, orders, pairwise, rank_intervals
from judgerank.order.scale import reported_covariance, scale_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The standing of every model in one fit: scores and ranks with their intervals, and every pair.
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
    """``rank, model, score, low, high, win_rate, share_won, rank_low, rank_high, comparisons``, best first.

    Scores and their intervals are on the reported scale (`order.scale`), with quantiles of their degrees of
    freedom. ``win_rate`` is how often the panel would prefer a model to another one, on average over the others
    (`win_probability`), by the fit; ``share_won`` the share of its own comparisons that it won, ties half.
    Where scores are compared, ``above_mean`` is the mean score less the mean of all models.
    Intervals of ranks hold for all models at once. Ends are missing where the fit has no intervals.
    """
    cells, scale = fitted.comparisons, scale_of(fitted)
    scores = pd.Series(scale.scores, fitted.scores.index)
    n, missing = len(scores), pd.Series(pd.NA, scores.index, "Int64")
    compared = np.bincount(cells.first, cells.decided, n) + np.bincount(cells.second, cells.decided, n)
    won = np.bincount(cells.first, cells.decided * cells.share_won, n)
    won += np.bincount(cells.second, cells.decided * (1 - cells.share_won), n)
    frame = pd.DataFrame({"rank": fitted.ranks, "score": scores, "low": np.nan, "high": np.nan})
    frame = frame.assign(win_rate=win_rates(fitted), share_won=won / np.where(compared > 0, compared, np.nan))
    if fitted.errors.sizes is not None:
        frame = frame.assign(above_mean=fitted.errors.sizes.scores)
    frame = frame.assign(rank_low=missing, rank_high=missing)
    frame = frame.assign(comparisons=compared.round().astype(int))
    orders = orders_of(fitted)
    if orders is not None:
        covariance, freedom = reported_covariance(fitted), fitted.degrees_of_scores
        frame["low"], frame["high"] = wald_by_covariance(scale.scores, covariance, level, freedom)
        if len(orders) == 1:  # a score is the mean of its differences from all, as scores sum to zero
            of_sure = {model: ends.mean(axis=1) for model, ends in _sure_ends(orders[0], level).items()}
            frame[["low", "high"]] = _within(frame[["low", "high"]], of_sure)
        ranks = rank_intervals(orders, level).set_index("model")
        frame["rank_low"], frame["rank_high"] = ranks["low"], ranks["high"]
    frame = frame.astype({"rank_low": "Int64", "rank_high": "Int64"})
    frame = frame.sort_values("rank").rename_axis("model").reset_index()
    return frame[["rank", "model", *frame.columns.drop(["rank", "model"])]]


def _sure_ends(order: Order, level: float) -> dict[str, FloatArray]:
    """Intervals of the differences from all models, shape (2, n), of models that surely differ from every other.

    All upward, or all downward: so where one model wins or loses nearly all, which exact tests are sure of
    (`order.head_to_head`) though its Wald interval is wide. The other end, away from zero, is infinite: no test
    says anything of it.
    """
    ends, others = difference_intervals(order, level), ~np.eye(len(order.models), dtype=bool)
    above, below = ((is_sure | ~others).all(axis=1) for is_sure in (ends[0] > 0, ends[1] < 0))
    ends[1, above], ends[0, below] = np.inf, -np.inf
    return {model: ends[:, i] for i, model in enumerate(order.models) if above[i] or below[i]}


def _within(intervals: pd.DataFrame, limits: Mapping[str, FloatArray]) -> pd.DataFrame:
    """Intervals by model, ``low, high``, and those within limits that a model has."""
    low, high = intervals["low"].copy(), intervals["high"].copy()
    for model, (least, most) in limits.items():
        low[model], high[model] = np.fmax(low[model], least), np.fmin(high[model], most)
    return pd.DataFrame({"low": low, "high": high})


def win_probability(fitted: Uncertainty, difference: FloatArray, middle: FloatArray | float = 0.0) -> FloatArray:
    """P(a model is preferred to another) by how much higher its reported score is; array of the same shape.

    By a judge drawn from the panel as its comparisons are, in an order drawn at random; a tie counts half.
    Without ties it is the logistic of the usual difference (`order.scale`). `middle` is the mean
    of the two reported scores, which matters where ties of rankings are an outcome
    (`Predictions.win_probability`).
    """
    scale = scale_of(fitted)
    # propensities to tie were fitted together with the estimated scores, and go with no other ones
    factor = scale.factor if fitted.model.has_ties else scale.factor_of_estimates
    lead, middle = (np.asarray(value, float) / factor for value in (difference, middle))
    return fitted.win_probability(lead, scale.weights, middle)


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
    A model that surely differs from each other one has no end beyond what that says of its wins (`_sure_ends`).
    """
    models, orders = fitted.scores.index, orders_of(fitted)
    if orders is None:
        return pd.DataFrame(np.nan, models, ["low", "high"])
    slopes = _win_rate_slopes(fitted)
    lead = slopes / np.diag(slopes)[:, None]
    error = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", lead, reported_covariance(fitted), lead), 0.0))
    low, high = wald(np.zeros(len(error)), error, level, fitted.degrees_of_scores)
    rates = pd.DataFrame({"low": win_rates(fitted, low), "high": win_rates(fitted, high)}, models)
    if len(orders) > 1:
        return rates
    scores = pd.Series(scale_of(fitted).scores, models)[list(orders[0].models)]
    limits = {}
    for model, ends in _sure_ends(orders[0], level).items():
        is_other = scores.index != model
        middle = (scores[model] + scores[is_other].to_numpy()) / 2
        limits[model] = np.array(
            [
                win_probability(fitted, end[is_other], middle).mean() if np.isfinite(end).all() else np.nan
                for end in ends
            ]
        )
    return _within(rates, limits)


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


@remembered
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


# A fit as text, as HTML and as a figure.
MOST = 60  # rows of a table that are shown
SCORES = "in log-odds, their sum zero"
SIGMA = "standard deviation of an answer's quality about its model's score, and over that of the scores"


def text(fitted: Fitted, level: float) -> str:
    """The heading, and every table below its own."""
    parts = ["\n".join(heading(fitted))]
    for title, table in tables(fitted, level):
        table = table.assign(name=table["name"].str.ljust(table["name"].str.len().max()))
        rendered = table.to_string(index=False, float_format="%.3f", na_rep="", max_rows=MOST, line_width=None)
        parts.append(f"{title}\n{rendered}")
    return "\n\n".join(parts)


def html(fitted: Fitted) -> str:
    """The same for a notebook; names are escaped."""
    parts = [f"<p>{'<br>'.join(map(escape, heading(fitted)))}</p>"]
    for title, table in tables(fitted, 0.95):
        markup = table.to_html(index=False, float_format="{:.3f}".format, na_rep="", max_rows=MOST, border=0)
        parts.append(f"<p><b>{escape(title)}</b></p>\n{markup}")
    return "<div>\n" + "\n".join(parts) + "\n</div>"


def heading(fitted: Fitted) -> list[str]:
    """What was fitted to what, how it ended, and the judges by whose name it did not end well."""
    c, solution, effects = fitted.comparisons, fitted.solution, fitted.effects
    more = [block.name for block in fitted.blocks]
    described = fitted.model.name + (f" with {', '.join(more)}" if more else "")
    questions_text = ""
    if fitted.question is not None:
        times = np.unique(fitted.question, return_counts=True)[1]
        questions_text = f" of {counted(len(times), 'question')}, {(times > 1).sum():,} of them with several"
    lines = [
        f"{described}: {counted(len(c.models), 'model')}, {counted(len(c.judges), 'judge')}, "
        f"{counted(c.n_comparisons, 'comparison')}{questions_text}",
        f"status {fitted.status} after {solution.iterations} iterations of {type(fitted.settings).__name__}, "
        f"log-likelihood {fitted.marginal_log_likelihood:.4f}",
    ]
    if effects is not None:
        statistic, p = effects.likelihood_ratio()
        lines[-1] += f", relative gradient {effects.relative_gradient:.1e}"
        lines.append(
            f"without question effects {effects.log_likelihood_without:.4f}: twice the gain is {statistic:.1f}, "
            f"p = {p:.2g}"
        )
    elif solution.spread is None and solution.alone is None:  # elsewhere the penalty's gradient balances it
        lines[-1] += f", relative gradient {solution.evaluation.relative_gradient:.1e}"
    if more and fitted.without is not None and effects is None:
        lines[-1] += f", without these blocks {fitted.without.marginal_log_likelihood:.4f}"
    named = {
        "judges at zero discrimination": fitted.judges_at_zero,
        "judges with unbounded discrimination": fitted.unbounded_judges,
        "judges whose slope is on its bound": fitted.slopes_at_bound,
    }
    lines += [f"{who}: {', '.join(names)}" for who, names in named.items() if names]
    if fitted.spread:
        spreads = ", ".join(f"{block} {spread:.3g}" for block, spread in fitted.spread.items())
        lines.append(f"standard deviations of what is shrunk: {spreads}")
    if effects is not None and effects.sigma == 0:
        lines.append("sigma is zero: judges of one question do not err together more than chance has it")
    elif effects is None and fitted._is_robust:
        lines.append(_on_clusters(fitted))
    return [*lines, *fitted.remarks]


def _on_clusters(fitted: Fitted) -> str:
    if fitted.clusters is not None and fitted.clusters.are_judgments:
        return "standard errors take every judgment by itself"
    clusters, effective = (
        fitted.errors.n_clusters or fitted.degrees_of_freedom + 1,
        fitted.errors.effective_clusters,
    )
    less = effective is not None and round(effective) < clusters
    effective_text = f", which count as {effective:,.0f} of equal size" if less else ""
    return f"standard errors allow for dependence within {clusters:,.0f} clusters{effective_text}"


def tables(fitted: Fitted, level: float) -> Iterator[tuple[str, pd.DataFrame]]:
    """A title and a table for every kind of parameter: scores by rank, then the judges', the largest first."""
    rows = fitted.to_frame(level).rename(columns={"standard_error": "std error"})
    relative = rows["parameter"] == "relative sigma"
    rows.loc[relative, ["parameter", "name"]] = "sigma", "over the scores' own"
    units = {"score": SCORES + on_scale(fitted), "sigma": SIGMA}
    units |= {block.shown: block.unit for block in fitted.model.blocks}
    units |= {block.name: block.what for block in fitted.blocks}
    for parameter, table in rows.groupby("parameter", sort=False):
        table = table.sort_values("estimate", ascending=False, kind="stable").drop(columns="parameter")
        if parameter == "score":
            table = table.drop(columns="status")
            table.insert(0, "rank", np.arange(1, len(table) + 1))
        yield f"{parameter} ({units[str(parameter)]}; {percent(level)} intervals)", table


def on_scale(fitted: Fitted) -> str:
    """On which scale the scores of a fit are, where the leaderboard has another one."""
    factor = scale_of(fitted).factor
    return "" if factor == 1 else f"; scale of the fit: leaderboard() has them times {factor:.4f}"


def figure(fitted: Fitted, level: float) -> Figure:
    """The leaderboard of a fit as a figure; `board_figure` says what is raised."""
    return board_figure(leaderboard(fitted, level), f"{fitted.model.name}, {percent(level)} intervals")


def board_figure(board: pd.DataFrame, title: str) -> Figure:
    """A leaderboard as a figure.

    Raises
    ------
    ConfigError
        If the extra ``plot`` is not installed.
    """
    try:
        from judgerank.plots.looks import in_style
        from judgerank.plots.own import standings
    except ImportError as error:
        message = f"a figure requires {needed('plot')}: there is no {error.name}"
        raise ConfigError(message) from None
    with in_style():
        drawn = standings(board, title)
        drawn.draw_without_rendering()  # ticks take their style when they are first drawn
    return drawn


def percent(level: float) -> str:
    """A level as a percentage, such as 95%."""
    return f"{100 * level:.4g}%"
