"""Differences of scores by runs within tasks: tests and bounds of the mean difference.

Two tests must both reject. One exchanges the variants' names in every run. It is exact where the two are the
same, as in an A/A test: a run's difference is then as likely d as -d. The other is a t-test of the tasks' means,
whose error allows for tasks that a change helps and others that it hurts. Neither is right by itself: exchanges
of runs take the tasks for all there are, and a t-test of five means assumes that they are normal.

The variance is at least what a few unseen losses would add (`SEEN`). Where all scores are equal, as in a suite
that every version passes, ten such runs do not show that the next one will pass, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtr

from judgerank.data.arrays import FloatArray, IntArray, numbered
from judgerank.data.judgments import ITEM
from judgerank.order.flips import p_above as p_by_flips
from judgerank.reading.layouts.table import SCORE_GAP

SEEN = 3  # runs with different scores; of as many that are not there, each could be a loss (rule of three)
BISECTIONS = 40


@dataclass(frozen=True, repr=False)
class ScoreRuns:
    """Differences of two variants' scores, candidate less baseline, as shares of the scale.

    Attributes
    ----------
    differences : float array, shape (R,)
        Of every run, the mean over judges; from -1 to 1.
    task : int array, shape (R,)
        Number of its task, from 0.
    unit : int array, shape (Q,)
        Number of the unit that was sampled behind each task.
    """

    differences: FloatArray
    task: IntArray
    unit: IntArray

    def __repr__(self) -> str:
        return f"<ScoreRuns {len(self.differences)} of {len(self.unit)} tasks>"

    @property
    def by_task(self) -> FloatArray:
        """Mean difference of each task, shape (Q,)."""
        return np.bincount(self.task, self.differences) / np.bincount(self.task)

    def p_above(self, threshold: float) -> float:
        """p-value of "the mean difference is at most the threshold"."""
        return self._p_above(1.0, threshold)

    def p_below(self, threshold: float) -> float:
        """p-value of "the mean difference is at least the threshold"."""
        return self._p_above(-1.0, -threshold)

    def least(self, alpha: float) -> float:
        """Lower confidence bound of the mean difference, one-sided at 1 - alpha; from -1."""
        return _bisected(lambda point: self.p_above(point) <= alpha)

    def largest(self, alpha: float) -> float:
        """Upper confidence bound of the mean difference, one-sided at 1 - alpha; to 1."""
        return -_bisected(lambda point: self.p_below(-point) <= alpha)

    def _p_above(self, sign: float, threshold: float) -> float:
        runs = sign * self.differences - threshold
        n_runs = np.bincount(self.task)
        weighted = runs / n_runs[self.task]
        by_unit = np.bincount(self.unit, np.bincount(self.task, weighted)).astype(float)
        if len(by_unit) < 2:
            return 1.0
        flipped = np.asarray(weighted, float) if len(by_unit) == len(n_runs) else by_unit
        return max(p_by_flips(flipped), self._p_by_t(by_unit))

    def _p_by_t(self, by_unit: FloatArray) -> float:
        n = len(by_unit)
        n_unseen = max(0, SEEN - int(np.count_nonzero(self.differences)))
        unseen = n_unseen * (len(self.unit) / len(self.differences)) ** 2
        error = np.sqrt(n * (by_unit.var(ddof=1) + unseen / n))
        if error == 0:
            return float(by_unit.sum() <= 0)
        return float(stdtr(n - 1, -by_unit.sum() / error))


def _bisected(is_excluded: Callable[[float], bool]) -> float:
    """The highest point from -1 to 1 below which all are excluded."""
    low, high = -1.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_excluded(middle) else (low, middle)
    return low


def score_runs(rows: pd.DataFrame, questions: tuple[str, ...], unit: IntArray | None) -> ScoreRuns | None:
    """The runs behind records of differences, of the given questions; None where a record has no such difference.

    Parameters
    ----------
    rows : DataFrame
        ``question, judge, score_gap`` of every judge's difference in a run, and ``item``, the run, where there are
        several.
    questions : tuple of str
    unit : int array, shape (Q,), optional
        Number of the unit that was sampled behind each question; each question is one by default.
    """
    if SCORE_GAP not in rows or rows.empty or rows[SCORE_GAP].isna().any():
        return None
    number = {name: index for index, name in enumerate(questions)}
    rows = rows[rows["question"].isin(number)]
    run = [rows["question"].map(number), rows[ITEM] if ITEM in rows else pd.Series("", rows.index)]
    means = rows[SCORE_GAP].astype(float).groupby(run).mean()
    task = means.index.get_level_values(0).to_numpy(np.intp)
    return ScoreRuns(
        np.asarray(means, np.float64), task, np.arange(len(questions)) if unit is None else numbered(unit)[1]
    )
