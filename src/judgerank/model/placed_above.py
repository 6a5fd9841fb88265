"""How often one of two answers is placed above the other in a ranking with ties, the others being average.

The choices of such a ranking have the Davidson-Luce model (`judgerank.model.tied_law`). Answers beside the two are
alike here, so that only their number matters: with r of them left, the probability W_r that the first is placed
above the second, a tie of both counting half, is

    W_r = P(a set with the first alone) + P(a set with both) / 2 + sum over t of P(a tie of t others) W_{r - t}.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.portable_math import exp

FARTHEST = 300.0  # log propensity of ties beyond which all or none of the answers are ties


def usual_size(comparisons: Comparisons) -> int:
    """Most frequent number of answers in a choice, the larger of equals; two where no answers are in rankings."""
    if comparisons.stages is None:
        return 2
    rows = comparisons.stages.first_rows
    times = np.bincount(comparisons.stages.size[rows], comparisons.choices[rows])
    return int(np.flatnonzero(times >= times.max() * (1 - 1e-9))[-1])


def placed_above(
    first: FloatArray, second: FloatArray, rest: FloatArray, n_rest: int, log_delta: Mapping[int, FloatArray]
) -> FloatArray:
    """P(first above second), a tie of both counting half, float array of the shape that all broadcast to.

    Parameters
    ----------
    first, second, other : float arrays
        Exponents u of the two answers and of every other one.
    others : int
        How many others there are.
    log_delta : mapping of int to float array
        Log propensity of ties by their size.
    """
    delta = {
        1: np.zeros(()),
        **{size: np.clip(log_propensity, -FARTHEST, FARTHEST) for size, log_propensity in log_delta.items()},
    }
    probabilities: list[FloatArray] = []
    for left in range(n_rest + 1):
        top = np.maximum(first, second)
        top = np.maximum(top, rest) if left else top
        u, v, o = first - top, second - top, rest - top
        above = total = np.zeros(())
        for size, log_propensity in delta.items():
            tied_with = o * (size - 1)
            alone = comb(left, size - 1)
            if alone:
                above = above + alone * exp(log_propensity + (u + tied_with) / size)
                total = total + alone * (
                    exp(log_propensity + (u + tied_with) / size) + exp(log_propensity + (v + tied_with) / size)
                )
            if size > 1 and comb(left, size - 2):
                both = comb(left, size - 2) * exp(log_propensity + (u + v + o * (size - 2)) / size)
                above, total = above + both / 2, total + both
            if comb(left, size):
                neither = comb(left, size) * exp(log_propensity + o)
                above, total = above + neither * probabilities[left - size], total + neither
        probabilities.append(np.asarray(above / total, float))
    return probabilities[-1]
