"""Sentences on a ranking by scores: the lead, what would change it, and how many tasks would decide."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import nctdtr, stdtrit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.listing import counted, noun
from judgerank.fits.result import Fit
from judgerank.inference.score_sizes import ROUNDING, ScoreSizes
from judgerank.inference.wald import quantile, wald
from judgerank.inference.winners_lead import corrected_lead

POWER = 0.8  # of a paired t-test, to which numbers of tasks are given
MOST_TASKS = 1_000_000  # beyond which no number is said


def number(sizes: ScoreSizes, value: float) -> str:
    """A score or difference in the units of the file to three digits, or in percent of the judges' scales."""
    if not sizes.is_in_units:
        return f"{100 * value:.3g}% of the scale"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def places(fitted: Fit, first: str, second: str) -> tuple[int, int]:
    models = fitted.comparisons.models
    return models.index(first), models.index(second)


def lead(fitted: Fit, sizes: ScoreSizes, first: str, second: str, level: float) -> str:
    """By how much the first model is ahead, without a full stop."""
    i, j = places(fitted, first, second)
    difference = sizes.scores[i] - sizes.scores[j]
    low, high = wald(difference, sizes.errors[i, j], level, sizes.degrees[i, j])
    ends = f"{number(sizes, float(low))} to {number(sizes, float(high))}"
    if difference == 0:
        return (
            f"{first} and {second} (2nd) have the same mean score ({level:.0%} interval of the difference {ends})"
        )
    return (
        f"{first} scores {number(sizes, difference)} higher than {second} (2nd), on average over tasks "
        f"({level:.0%} interval {ends})"
    )


def lead_of(fitted: Fit) -> float | None:
    """The lead of the first over the second, allowing for its having been picked; None of votes and few models."""
    return (
        None
        if fitted.errors.sizes is None
        else corrected_lead(fitted.errors.sizes.scores, fitted.errors.sizes.covariance)
    )


def on_selection(fitted: Fit, first: str) -> str:
    """A sentence on that lead; empty if it is not known."""
    corrected = lead_of(fitted)
    if fitted.errors.sizes is None or corrected is None or np.ptp(np.sort(fitted.errors.sizes.scores)[-2:]) == 0:
        return ""
    what = f"is about {number(fitted.errors.sizes, corrected)}" if corrected > 0 else "may be nothing"
    return f"{first} was picked for its score, which overstates its lead: shrunk for that, it {what}."


def change(fitted: Fit, sizes: ScoreSizes) -> str:
    """The fewest tasks without which another model would be first; empty where not every task has all scores."""
    fewest = fewest_to_change(sizes)
    if fewest is None:
        return ""
    times, rival = fewest
    tasks = counted(times, "task") if times > 1 else "one task"
    return f"Removing {tasks} of {sizes.n_clusters:,} would put {fitted.comparisons.models[rival]} first."


def fewest_to_change(sizes: ScoreSizes) -> tuple[int, int] | None:
    """The fewest clusters of tasks without which another model has a higher mean than the first, and that model.

    None where cells are missing, or no removal does it.
    """
    if sizes.by_cluster is None:
        return None
    times, _ = fewest_to_pass(sizes.by_cluster, int(np.argmax(sizes.scores)))
    rival = int(np.argmin(times))
    return (int(times[rival]), rival) if times[rival] < sizes.n_clusters else None


def fewest_to_pass(by_cluster: FloatArray, first: int) -> tuple[IntArray, IntArray]:
    """The fewest clusters without which each model has a higher mean than one of them, and which clusters.

    Parameters
    ----------
    by_cluster : float array, shape (Q, N)
        As `ScoreSizes.by_cluster`.
    first : int
        The model that is passed.

    Returns
    -------
    times : int array, shape (N,)
        How many are removed; Q where no removal does it.
    order : int array, shape (Q, N)
        Clusters in the order in which they are removed: first those in which the passed model is furthest ahead.
    """
    lead = by_cluster[:, [first]] - by_cluster
    order = np.argsort(-lead, axis=0, kind="stable")
    ahead = np.take_along_axis(lead, order, axis=0)
    left = ahead.sum(axis=0) - np.cumsum(ahead, axis=0)
    is_behind = left[:-1] < -ROUNDING * np.abs(ahead).max()
    return np.where(is_behind.any(axis=0), is_behind.argmax(axis=0) + 1, len(lead)), order


def tasks_to_separate(sizes: ScoreSizes, i: int, j: int, alpha: float, wanted: float = POWER) -> int | None:
    """Tasks on which two models are significantly different with a wanted chance, if they differ as estimated.

    By a paired t-test at the level alpha; None where more than `MOST_TASKS` would be needed.
    """
    deviation = sizes.errors[i, j] * np.sqrt(sizes.n_clusters)
    effect = abs(sizes.scores[i] - sizes.scores[j]) / deviation if deviation > 0 else np.inf

    def power(n: int) -> float:
        return float(1 - nctdtr(n - 1, effect * np.sqrt(n), stdtrit(n - 1, 1 - alpha / 2)))

    if not effect * np.sqrt(MOST_TASKS) > float(quantile(1 - alpha / 2, np.inf)):
        return None
    low, high = 1, 2
    while high < MOST_TASKS and power(high) < wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= wanted else (middle, high)
    return high if high <= MOST_TASKS else None


def advice(fitted: Fit, sizes: ScoreSizes, first: str, second: str, alpha: float) -> str:
    """How many tasks would decide between two models."""
    needed = tasks_to_separate(sizes, *places(fitted, first, second), alpha)
    have = sizes.n_clusters
    if needed is None or needed > 10 * have:
        return (
            f"Deciding between {first} and {second} is not worth it: it would take more than ten times the tasks."
        )
    more = max(needed - have, 1)
    return (
        f"To decide between {first} and {second}, score both on about {more:,} more "
        f"{noun(more, 'task')} "
        f"({POWER:.0%} power by a paired t-test if the estimated gap is right)."
    )


def remark(sizes: ScoreSizes) -> str:
    """How the scores were compared."""
    one_size = sizes.exact[~np.eye(len(sizes.exact), dtype=bool)]
    exact = " and McNemar's exact test" if one_size.any() else ""
    test = "McNemar's exact test" if one_size.all() else f"paired t{exact}"
    return f"Scores: {counted(sizes.n_tasks, 'task')}; differences by their sizes ({test}, Holm)."


def table(fitted: Fit, sizes: ScoreSizes, level: float) -> pd.DataFrame:
    """``model, above_mean, low, high``: scores less the mean of all models, best first (`ScoreSizes`)."""
    low, high = wald(sizes.scores, np.sqrt(np.diag(sizes.covariance)), level, np.diag(sizes.degrees))
    columns = {"model": fitted.comparisons.models, "above_mean": sizes.scores, "low": low, "high": high}
    ranking = np.argsort(-sizes.scores, kind="stable")
    return pd.DataFrame(columns).iloc[ranking].reset_index(drop=True)


def facts(sizes: ScoreSizes, n_models: int, n_judges: int) -> list[tuple[str, str]]:
    """Numbers and what they count."""
    judges = [(f"{n_judges:,}", "judges")] if n_judges > 1 else []
    tasks = (f"{sizes.n_tasks:,}", noun(sizes.n_tasks, "task"))
    return [(f"{n_models:,}", noun(n_models, "model")), tasks, *judges]
