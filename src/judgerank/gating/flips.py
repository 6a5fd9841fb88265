"""Exact sign-flip test: are differences as likely one way as the other?

Where baseline and candidate are equally good, exchanging their names in any question changes nothing, so every
question's difference is as likely d as -d. The p-value is the chance, over all 2^n exchanges, of a sum this large
(Fisher 1935). It needs no normal distribution and no number of questions; with n questions it is 2^-n at least.
"""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray

RANGE = 2048  # of the sum of differences rounded to whole numbers; rounding is odd, so the test stays exact


def p_above(differences: FloatArray) -> float:
    """One-sided p-value of differences, shape (n,), against their being above zero.

    The distribution of the sum of +-g_i comes from its characteristic function, the product of cos(g_i u).
    """
    total = float(np.abs(differences).sum())
    if not total > 0:
        return 1.0
    whole = np.rint(differences * (RANGE / total)).astype(np.int64)
    sizes, counts = np.unique(np.abs(whole), return_counts=True)
    width = int(counts @ sizes)
    period = 2 * width + 2  # no two sums from -width to width share a place
    frequency = np.arange(period // 2 + 1) * (2 * np.pi / period)
    chances = np.fft.irfft(np.prod(np.cos(np.outer(sizes, frequency)) ** counts[:, None], axis=0), period)
    places = np.arange(int(whole.sum()), width + 1)
    return float(min(max(chances[places % period].sum(), 0.5 ** len(differences)), 1.0))
