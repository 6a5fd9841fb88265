"""Exact sign-flip test: are differences as likely one way as the other?

Where baseline and candidate are equally good, exchanging their names in any question changes nothing, so every
question's difference is as likely d as -d. The p-value is the chance, over all 2^n exchanges, of a sum this large
(Fisher 1935). It needs no normal distribution and no number of questions; with n questions it is 2^-n at least.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray

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
