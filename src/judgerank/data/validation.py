"""Validate comparisons: distinct labels, and columns of equal length with values in range."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgerank.data.arrays import AnyArray, FloatArray, IntArray
from judgerank.data.errors import DataError
from judgerank.data.frames import Rows, refuse_itself

ROUNDING = 1e-12  # by which sums of shares may exceed what they are part of


def checked(rows: Rows) -> dict[str, AnyArray]:
    """The columns of rows of comparisons by name, as arrays of their types.

    Raises
    ------
    DataError
        If there are no rows, fewer than two models, a model compared with itself, or values out of range.
    """
    size = len(rows.first)
    if size == 0:
        raise DataError("there are no comparisons: the set is empty")
    if len(rows.models) < 2:
        raise DataError(f"there is only one model, {', '.join(rows.models)!r}: nothing to rank it against")
    for labels in (rows.models, rows.judges):
        if len(set(labels)) < len(labels):
            raise DataError(f"a label is there twice: {max(labels, key=labels.count)!r}")
    of = {"first": rows.models, "second": rows.models, "judge": rows.judges}
    index = {name: places(name, getattr(rows, name), size, len(labels)) for name, labels in of.items()}
    refuse_itself(rows.models, index["first"], index["second"])
    least, largest = np.finfo(float).tiny, np.finfo(float).max
    ranges = {"outcome": (0.0, 1.0, "numbers from 0 to 1"), "count": (least, largest, "numbers above zero")}
    if rows.covariate is not None:
        ranges["covariate"] = (-largest, largest, "finite numbers")
    checked_columns = {name: numbers(name, getattr(rows, name), size, *limits) for name, limits in ranges.items()}
    if rows.tied is not None:
        most = 2 * np.minimum(checked_columns["outcome"], 1 - checked_columns["outcome"]) + np.finfo(float).eps
        checked_columns["tied"] = numbers("tied", rows.tied, size, 0.0, most, "shares that the outcomes allow")
    if rows.strong is not None:
        checked_columns["strong"] = strengths(rows.strong, checked_columns["outcome"], checked_columns.get("tied"))
    return {**index, **checked_columns}


def strengths(values: FloatArray, outcome: FloatArray, tied: FloatArray | None) -> FloatArray:
    """Shares of strong answers, shape (T, 2 S), which no more than the wins of either model can be."""
    column = np.asarray(values, float)
    half = 0.0 if tied is None else tied / 2
    most = np.stack([outcome - half, 1 - outcome - half], axis=1) + ROUNDING
    fits = column.ndim == 2 and len(column) == len(most) and column.shape[1] % 2 == 0 < column.shape[1]
    summed = column.reshape(len(most), -1, 2).sum(axis=1) if fits else column
    if not fits or not (np.all(column >= 0) and np.all(summed <= most)):
        raise DataError(f"column 'strong' must hold {len(outcome)} pairs of shares that the outcomes allow")
    return column


def places(name: str, values: IntArray, size: int, below: int) -> NDArray[np.int32]:
    """A column of places among so many labels, which must be whole numbers, one a row."""
    index = np.asarray(values)
    if index.dtype.kind not in "iu" or len(index) != size or index.min() < 0 or index.max() >= below:
        raise DataError(f"column {name!r} must hold {size} whole numbers below {below}")
    return index.astype(np.int32, copy=False)


def numbers(
    name: str, values: FloatArray, size: int, low: float, high: float | FloatArray, what: str
) -> FloatArray:
    """A column of numbers, which must lie in a range, one a row; `what` says of them what they must be."""
    column = np.asarray(values, dtype=float)
    # the negated comparison also catches NaN
    if len(column) != size or not (column.min() >= low and np.all(column <= high)):
        raise DataError(f"column {name!r} must hold {size} {what}")
    return column
