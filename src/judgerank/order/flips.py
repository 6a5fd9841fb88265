"""Pairs of models tested by sign flips of whole questions (`judgerank.order.flips`), for few questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array, vstack
from scipy.special import ndtri

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.likelihood import row_by_row
from judgerank.model.members import Model, Parameters

# Exact sign-flip test: are differences as likely one way as the other?
#
# Where baseline and candidate are equally good, exchanging their names in any question changes nothing, so every
# question's difference is as likely d as -d. The p-value is the chance, over all 2^n exchanges, of a sum this
# large (Fisher 1935). It needs no normal distribution and no number of questions; with n questions it is 2^-n at
# least.
RANGE = 2048  # of the sum of differences rounded to whole numbers; rounding is odd, so the test stays exact
GROUPS = 1000  # of questions: more would round to nothing in that range, and exchanging whole groups is as exact


def p_above(differences: FloatArray) -> float:
    """One-sided p-value of differences, shape (n,), against their being above zero."""
    if len(differences) > GROUPS:
        differences = np.bincount(np.arange(len(differences)) % GROUPS, differences).astype(float)
    total = float(np.abs(differences).sum())
    if not total > 0:
        return 1.0
    rounded = np.rint(differences * (RANGE / total)).astype(np.int64)
    sizes = np.sort(np.abs(rounded))
    unit = int(np.gcd.reduce(sizes)) or 1  # wins and losses that count alike are few whole numbers
    chances = _chances((sizes[sizes > 0] // unit).tobytes())
    reached = (int(rounded.sum()) // unit + len(chances) - 1) // 2
    return float(min(max(chances[reached:].sum(), 0.5 ** len(differences)), 1.0))


@lru_cache(maxsize=128)
def _chances(sizes: bytes) -> FloatArray:
    """Distribution of a sum of +-g_i, from its least to its largest in steps of two; the g_i are above zero.

    One g at a time: what was at j is counted at j and at j + g.
    """
    steps: IntArray = np.frombuffer(sizes, np.int64)
    counts = np.zeros(int(steps.sum()) + 1)
    counts[0], top = 1.0, 0
    for size in steps.tolist():
        counts[size : top + size + 1] += counts[: top + 1]
        top += size
    return counts * 0.5 ** len(steps)


def p_either(differences: FloatArray) -> float:
    """Two-sided p-value of differences, shape (n,), against their being above or below zero."""
    return min(1.0, 2.0 * p_above(differences if differences.sum() > 0 else -differences))


def leads_by_question(rows: Comparisons, model: Model, parameters: Parameters, question: IntArray) -> csr_array:
    """By how much one model of a pair did better than the other in every question.

    The lead of i over j is twice the mean residual of i against j, and for every third model that the same judge
    compared with both, i's mean residual against it less j's; all summed over judges. Residuals are from the
    answer that the judge is expected to give about equals, its position bias allowed for. Exchanging the names of
    i and j in a question turns the lead's sign.

    Parameters
    ----------
    rows : Comparisons
        Raw ones.
    model, parameters : Model, Parameters
        What was fitted; its scores do not matter.
    question : int array, shape (T,)
        Question behind each row.

    Returns
    -------
    sparse float array, shape (Q, N N)
        Leads of i over j, i < j, at the place i N + j.
    """
    n, k = len(rows.models), len(rows.judges)
    surprise = row_by_row(rows, model, replace(parameters, scores=np.zeros(n))).residual
    low, high = np.minimum(rows.first, rows.second).astype(int), np.maximum(rows.first, rows.second).astype(int)
    question_index = np.unique(question, return_inverse=True)[1]
    cell, where = np.unique(((question_index * k + rows.judge) * n + low) * n + high, return_inverse=True)
    total = np.bincount(where, np.where(rows.first < rows.second, surprise, -surprise), len(cell))
    mean = total / np.bincount(where, rows.count, len(cell))
    cell, high = np.divmod(cell, n)
    cell, low = np.divmod(cell, n)
    question_index, judge = np.divmod(cell, k)
    ends = np.searchsorted(question_index, np.arange(question_index[-1] + 2))
    lead_rows = (
        _leads(low[rows], high[rows], judge[rows], mean[rows], (n, k)) for rows in map(slice, ends, ends[1:])
    )
    return vstack(list(lead_rows), format="csr")


def _leads(low: IntArray, high: IntArray, judge: IntArray, mean: FloatArray, shape: tuple[int, int]) -> coo_array:
    """Leads in one question, shape (1, N N), from mean residuals of the lower model by judge and pair."""
    n, k = shape
    coords = np.r_[low, high], np.r_[judge * n + high, judge * n + low]
    size = (n, k * n)
    won = coo_array((np.r_[mean, -mean], coords), size).tocsr()
    compared = coo_array((np.ones(2 * len(mean)), coords), size).tocsr()
    lead = (won @ compared.T).tocoo()
    i, j = lead.coords
    # the lead of i over j less that of j over i, each a sum over third models
    column = np.r_[np.minimum(i, j) * n + np.maximum(i, j), low * n + high]
    value = np.r_[np.where(i < j, lead.data, -lead.data), 2 * mean]
    is_pair = np.r_[i != j, np.ones(len(mean), bool)]
    return coo_array((value[is_pair], (np.zeros(int(is_pair.sum()), int), column[is_pair])), (1, n * n))


def tests_by_flips(
    leads: csr_array, scores: FloatArray, across: csr_array | None = None
) -> Callable[[IntArray], tuple[FloatArray, FloatArray]]:
    """Convert model indices to differences of scores and the standard errors that flips imply.

    The error is that with which a normal difference has the p-value of the flips; infinite where leads and scores
    disagree on who is better, or nothing is known. Where clusters are crossed, flips of either take the other's
    share in a lead for fixed, so that the squares of both errors are added up.

    Parameters
    ----------
    leads : sparse float array, shape (Q, N N)
        As of `leads_by_question`.
    scores : float array, shape (N,)
    across : sparse float array, shape (R, N N), optional
        Leads by the second of two crossed clusters.

    Returns
    -------
    callable
        To float arrays of shapes (n, n) and (1, n, n), as of `order.equality_large.tests_of_equality`.
    """
    n, clusterings = len(scores), [leads.tocsc(), *([] if across is None else [across.tocsc()])]

    def test(chosen: IntArray) -> tuple[FloatArray, FloatArray]:
        difference = np.subtract.outer(scores[chosen], scores[chosen])
        error = np.full_like(difference, np.inf)
        for a, b in zip(*np.triu_indices(len(chosen), 1), strict=True):
            i, j = sorted((int(chosen[a]), int(chosen[b])))
            ratios = [_ratio(by_pair, i * n + j, scores[i] - scores[j]) for by_pair in clusterings]
            if min(ratios) > 0:
                size = float(np.sqrt(sum(1 / ratio**2 for ratio in ratios)))
                error[a, b] = error[b, a] = abs(difference[a, b]) * size
        return difference, error[None]

    return test


def _ratio(by_pair: csc_array, column: int, lead: float) -> float:
    """Normal statistic of a pair's flips; zero where leads and scores disagree on who is better."""
    values = by_pair.data[by_pair.indptr[column] : by_pair.indptr[column + 1]]
    return max(0.0, -float(ndtri(p_either(values) / 2))) if values.sum() * lead > 0 else 0.0
