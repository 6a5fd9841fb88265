"""Rows of comparisons that are alike, merged into one row with a count (equation (5) of the paper)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.columns import kinds
from judgerank.data.frames import Rows


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
    order: slice | IntArray = slice(None)
    if np.any(key[1:] < key[:-1]):
        # of numbers this small numpy sorts by digits
        order = np.argsort(key.astype(np.uint16), kind="stable") if key.max() < 1 << 16 else np.argsort(key)
        key = key[order]
    start = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    del key  # at ten million rows every array counts towards the peak
    alike = rows.count.strides == (0,) and rows.count[0] == 1  # counts of one, held as one number
    if alike:
        count = np.diff(start, append=len(rows.count)).astype(float)
    else:
        count = np.add.reduceat(rows.count[order], start)
    wins = rows.outcome if alike else rows.outcome * rows.count
    outcome = np.add.reduceat(wins[order], start)
    outcome /= count
    # sums of rounded products may step outside [0, 1] by one unit in the last place
    np.clip(outcome, 0.0, 1.0, out=outcome)
    columns = {"outcome": outcome, "count": count}
    if rows.tied is not None:
        tied = np.add.reduceat((rows.tied * rows.count)[order], start) / count
        columns["tied"] = np.minimum(tied, 2 * np.minimum(outcome, 1 - outcome))  # rounding, again
    if rows.strong is not None:
        columns["strong"] = np.add.reduceat((rows.strong * rows.count[:, None])[order], start) / count[:, None]
    return start if isinstance(order, slice) else order[start], columns


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
