"""Rows of comparisons that are alike, merged into one row with a count (equation (5) of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.frames import Rows

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
