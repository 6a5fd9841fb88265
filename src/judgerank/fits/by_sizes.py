"""Fits of judgments made of scores: their scores, errors and tests by the sizes of the differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.judgments import ITEM, Judgments
from judgerank.fits.result import Fit
from judgerank.inference.score_sizes import Gaps, ScoreSizes, score_sizes
from judgerank.order.scale import scale_of
from judgerank.reading.layouts.table import SCORE_GAP, SCORE_SCALE

ONE_INSTRUMENT = 2.0  # times as long may be the longest of judges' scales as the shortest, if it is the same one


def made_of_scores(judgments: Judgments) -> bool:
    """Whether every judgment is the difference of two scores on one task."""
    frame = judgments.frame
    if SCORE_GAP not in frame or "question_id" not in frame or "count" in frame:
        return False
    return not np.isnan(_numbers(judgments, SCORE_GAP)).any()


def sizes_of(judgments: Judgments, cluster: IntArray | None = None) -> ScoreSizes | None:
    """Mean differences of the scores that judgments were made of, with their errors.

    In the units of the file where the judges' scales have about the same length, else as shares of each judge's
    scale: judges of one instrument use more or less of it.

    Parameters
    ----------
    judgments : Judgments
        Of one component, all made of scores.
    cluster : int array, shape (T,), optional
        What was sampled behind each comparison; its question by default.

    Returns
    -------
    ScoreSizes, or None where all scores are equal, or their differences do not determine an error for every pair
    (`inference.score_sizes`).
    """
    frame = judgments.frame
    gap, length = (_numbers(judgments, name) for name in (SCORE_GAP, SCORE_SCALE))
    c, task = judgments.comparisons, judgments.question
    is_in_units = bool(length.max() <= ONE_INSTRUMENT * length.min())
    gap = gap * length if is_in_units else gap
    run = pd.factorize(frame.loc[judgments.parsed, ITEM])[0] if ITEM in frame else np.zeros(len(gap), np.intp)
    of_task = task if cluster is None else cluster
    sizes = score_sizes(Gaps(c.first, c.second, gap, task, judgments.unit("judge"), run, of_task), len(c.models))
    return replace(sizes, is_in_units=is_in_units) if sizes is not None and sizes.scores.any() else None


def _numbers(judgments: Judgments, name: str) -> FloatArray:
    return pd.to_numeric(judgments.frame.loc[judgments.parsed, name]).to_numpy(float)


def by_sizes(fitted: Fit, sizes: ScoreSizes) -> Fit:
    """The fit with scores and errors by the sizes of differences, and pairs tested by them.

    The scores are brought to the log-odds of the fit: multiplied so that they vary as much as those it had.
    Judges' parameters stay as they are.

    Parameters
    ----------
    fitted : Fit
        To the signs of the same differences.
    sizes : ScoreSizes
    """
    parameters = fitted.solution.parameters
    scores = sizes.scores * (np.linalg.norm(parameters.scores) / np.linalg.norm(sizes.scores))
    solution = replace(fitted.solution, parameters=replace(parameters, scores=scores))
    by_task = fitted._with_errors(
        sizes=sizes,
        n_clusters=sizes.n_clusters,
        effective_clusters=float(sizes.n_clusters),
        meat=None,
        by_cluster=None,
        flips=None,
    )
    shown = replace(by_task, solution=solution)
    unit = float(np.linalg.norm(scale_of(shown).scores) / np.linalg.norm(sizes.scores))
    n, covariance = len(scores), fitted.covariance.copy()
    covariance[:n], covariance[:, :n] = 0.0, 0.0
    covariance[:n, :n] = sizes.covariance * (unit / scale_of(shown).factor) ** 2
    return shown._with_errors(sizes=replace(sizes, unit=unit), robust=covariance)
