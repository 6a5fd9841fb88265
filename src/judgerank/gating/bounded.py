"""Exact tests and bounds for the mean of scores between 0 and 1, whatever their distribution.

Gaffke's test (Magdeburg, preprint 13-04; Learned-Miller and Thomas, arXiv:1905.06208): give the n scores and one
more at the unfavourable end random weights, uniform on the simplex. The p-value is the chance that the weighted
mean lies beyond the hypothesis. For scores of 0 and 1 it is Clopper and Pearson's test, for one score Markov's
inequality. Its level is proved where scores take two values, and conjectured otherwise; nobody has found a case
where it fails.
"""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray

STEP = 0.1  # of the logarithm of the frequency; the trapezoidal error falls exponentially with 1 / STEP
NEGLIGIBLE = 1e-9
BISECTIONS = 40


def p_not_above(scores: FloatArray, threshold: float) -> float:
    """p-value of the hypothesis that the mean of scores, shape (n,), is at most the threshold (from 0 to 1).

    With independent standard exponential E, it is P(sum_i E_i (x_i - t) <= t E_0), by inverting the characteristic
    function (Gil-Pelaez): 1/2 - 1/pi * integral of Im phi(exp v) dv.
    """
    if threshold <= 0:
        return 1.0 if threshold < 0 else float(not np.any(scores > 0))
    values, counts = np.unique(np.append(np.round(scores - threshold, 12), -threshold), return_counts=True)
    if values[-1] <= 0:
        return 1.0
    low = np.log(NEGLIGIBLE / (counts @ np.abs(values)))
    coarse = np.arange(low, np.log(1 / (NEGLIGIBLE * threshold)) + 1, 1.0)
    size = np.exp(-0.5 * (counts @ np.log1p(np.outer(values, np.exp(coarse)) ** 2)))
    high = coarse[np.flatnonzero(size > NEGLIGIBLE)[-1]] + 1
    at = np.outer(values, np.exp(np.arange(low, high, STEP)))
    phase, logarithm = counts @ np.arctan(at), -0.5 * (counts @ np.log1p(at**2))
    chance = 0.5 - STEP / np.pi * float(np.exp(logarithm) @ np.sin(phase))
    return min(max(chance, 0.0), 1.0)


def p_not_below(scores: FloatArray, threshold: float) -> float:
    """p-value of the hypothesis that the mean of scores, shape (n,), is at least the threshold (from 0 to 1)."""
    return p_not_above(1 - scores, 1 - threshold)


def least(scores: FloatArray, alpha: float) -> float:
    """Lower confidence bound of the mean of scores, shape (n,), one-sided at 1 - alpha."""
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_not_above(scores, middle) <= alpha else (low, middle)
    return low


def largest(scores: FloatArray, alpha: float) -> float:
    """Upper confidence bound of the mean of scores, shape (n,), one-sided at 1 - alpha."""
    return 1 - least(1 - scores, alpha)
