"""Standard errors by leaving out groups of rows, one after the other."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray


def jackknife(without: FloatArray, axis: int) -> FloatArray:
    """Standard errors of statistics, from their values without each group, along an axis; NaN of one group."""
    n_left_out = without.shape[axis]
    mean = without.mean(axis=axis, keepdims=True)
    squares = ((without - mean) ** 2).sum(axis=axis)
    return (
        np.asarray(np.sqrt((n_left_out - 1) / n_left_out * squares))
        if n_left_out > 1
        else np.full(squares.shape, np.nan)
    )


def sum_and_without(values: FloatArray, group: IntArray, n_groups: int) -> FloatArray:
    """Sum of values, and the sums without each group, shape (1 + G,)."""
    return np.asarray(values.sum() - np.r_[0.0, np.bincount(group, values, n_groups)])
