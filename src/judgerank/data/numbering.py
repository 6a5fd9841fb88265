"""Values as numbers from zero, without gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgerank.data.arrays import AnyArray, FloatArray, IntArray


def numbered(values: AnyArray) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The different values in order, shape (V,), and the place of each value among these, shape (T,).

    Whole numbers that are not much larger than their number are counted and not sorted, in a tenth of the time.
    """
    if _are_small(values):
        occupied = np.bincount(values) > 0
        if occupied.all():  # they are numbers without gaps
            return np.arange(len(occupied)).astype(values.dtype), values.astype(np.intp, copy=False)
        return np.flatnonzero(occupied).astype(values.dtype), (np.cumsum(occupied) - 1)[values]
    different, codes = np.unique(values, return_inverse=True)
    return different, codes


def sizes(values: AnyArray, count: FloatArray | None = None) -> FloatArray | IntArray:
    """How often each of the different values is there, in order, or the sum of its counts; shape (V,)."""
    number = values if _are_small(values) else numbered(values)[1]
    counts = np.bincount(number)
    once = count is None or bool((count == 1).all())
    return counts[counts > 0] if once else np.bincount(number, count)[counts > 0]


def _are_small(values: AnyArray) -> bool:
    """Whether values are whole numbers that are not much larger than their number."""
    size = len(values)
    small = np.issubdtype(values.dtype, np.integer) and size and values.min() >= 0 and values.max() <= 4 * size
    return bool(small)


def places_among(column: pd.Series, names: pd.Index) -> IntArray:
    """The place of every label of a column among names, -1 for one that is not there, shape (T,)."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return np.asarray(names.get_indexer(pd.Index(column)))
    index = np.append(names.get_indexer(column.cat.categories), -1).astype(np.int32)
    return np.asarray(index[column.cat.codes.to_numpy()])
