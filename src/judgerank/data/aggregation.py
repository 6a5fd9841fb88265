"""Comparisons validated, and rows that are alike merged into one row with a count."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from judgerank.data.arrays import AnyArray, FloatArray, IntArray
from judgerank.data.errors import DataError
from judgerank.data.frames import Rows, refuse_itself

# Rows of comparisons that are alike, merged into one row with a count (equation (5) of the paper).
# Rows of a sparse matrix that are alike.
LARGEST = 2**62


def kinds(columns: csr_array) -> IntArray:
    """Number of the kind of every row, shape (T,): rows are of one kind if all their entries are the same.

    Kinds are numbered by what is in them, whatever the order of rows.

    Parameters
    ----------
    columns : sparse float array, shape (T, P)
        Indices in order within a row, none twice, no entry zero.
    """
    n_entries = np.diff(columns.indptr)
    entry, value = columns.indices.astype(np.int64), pd.factorize(columns.data, sort=True)[0]
    code = 1 + entry * (value.max(initial=0) + 1) + value
    kind, highest = np.zeros(len(n_entries), np.int64), 1
    for position in range(int(n_entries.max(initial=0))):
        has_entry = n_entries > position
        codes = np.zeros(len(n_entries), np.int64)
        codes[has_entry] = code[columns.indptr[:-1][has_entry] + position]
        size = int(codes.max()) + 1
        if highest * size >= LARGEST:
            kind, codes = (pd.factorize(numbers, sort=True)[0] for numbers in (kind, codes))
            highest, size = int(kind.max()) + 1, int(codes.max()) + 1
        kind, highest = kind * size + codes, highest * size
    return kind if highest <= 2 * len(kind) else pd.factorize(kind, sort=True)[0]


Sums = Callable[[FloatArray | None], FloatArray]  # over the rows of each kind; of ones, if there are no values
PLACES = 4  # for numbers up to so many times the rows, counting is quicker than sorting


def merged(rows: Rows) -> tuple[IntArray, dict[str, FloatArray]] | None:
    """One row of every kind (first, second, judge, covariate) in the order of kinds, and the columns of its sums.

    Returns
    -------
    row : int array, shape (kinds,)
        Any one of the rows of each kind.
    columns : dict of str to float array, shape (kinds,)
        ``outcome`` (the mean), ``count`` and, if there are any, ``tied`` and ``strong``. None in place of both if
        the rows are merged already.
    """
    key = _keys(rows)
    if np.all(key[1:] > key[:-1]):
        return None
    row, sums = _by_place(key) if key.max() < PLACES * len(key) else _by_order(key)
    del key  # at ten million rows every array counts towards the peak
    alike = rows.count.strides == (0,) and rows.count[0] == 1  # counts of one, held as one number
    count = sums(None if alike else rows.count)
    outcome = sums(rows.outcome if alike else rows.outcome * rows.count)
    outcome /= count
    # sums of rounded products may step outside [0, 1] by one unit in the last place
    np.clip(outcome, 0.0, 1.0, out=outcome)
    columns = {"outcome": outcome, "count": count}
    if rows.tied is not None:
        tied = sums(rows.tied * rows.count) / count
        columns["tied"] = np.minimum(tied, 2 * np.minimum(outcome, 1 - outcome))  # rounding, again
    if rows.strong is not None:
        columns["strong"] = np.stack([sums(share * rows.count) / count for share in rows.strong.T], axis=1)
    return row, columns


def _by_place(key: IntArray) -> tuple[IntArray, Sums]:
    """One row of every key, in the order of keys, and what sums values over the rows of each: by counting."""
    n_rows_by_key = np.bincount(key)
    number = np.min_scalar_type(len(key))
    occupied, row = np.flatnonzero(n_rows_by_key), np.empty(len(n_rows_by_key), number)
    row[key] = np.arange(len(key), dtype=number)

    def sums(values: FloatArray | None) -> FloatArray:
        totals = n_rows_by_key if values is None else np.bincount(key, values)
        return totals[occupied].astype(float, copy=False)

    return row[occupied], sums


def _by_order(key: IntArray) -> tuple[IntArray, Sums]:
    """The same by sorting, which does not need a place for every number that a key could be."""
    order: slice | IntArray = slice(None)
    if np.any(key[1:] < key[:-1]):
        order = np.argsort(key)
        key = key[order]
    start = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    size = len(key)

    def sums(values: FloatArray | None) -> FloatArray:
        if values is None:
            return np.diff(start, append=size).astype(float)
        return np.asarray(np.add.reduceat(values[order], start), float)

    return start if isinstance(order, slice) else order[start], sums


def _keys(rows: Rows) -> IntArray:
    """One integer a row that orders rows by (first, second, judge, covariate)."""
    key = rows.first.astype(np.int64)
    key *= len(rows.models)
    key += rows.second
    key *= len(rows.judges)
    key += rows.judge
    for code in _further_codes(rows):
        key *= code.max() + 1
        key += code
    return key


def _further_codes(rows: Rows) -> Iterator[IntArray]:
    """Of the values by which rows differ besides."""
    if rows.covariate is not None:
        yield np.unique(rows.covariate, return_inverse=True)[1]
    if rows.columns is not None:
        yield kinds(rows.columns)


# Validate comparisons: distinct labels, and columns of equal length with values in range.
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
