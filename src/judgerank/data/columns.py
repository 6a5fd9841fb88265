"""Rows of a sparse matrix that are alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from judgerank.data.arrays import IntArray

LARGEST = 2**62


def kinds(columns: csr_array) -> IntArray:
    """Number of the kind of every row, shape (T,): rows are of one kind if all their entries are the same.

    Kinds are numbered by what is in them, whatever the order of rows.

    Parameters
    ----------
    columns : sparse float array, shape (T, P)
        Indices in order within a row, none twice, no entry zero.
    """
    many = np.diff(columns.indptr)
    entry, value = columns.indices.astype(np.int64), pd.factorize(columns.data, sort=True)[0]
    code = 1 + entry * (value.max(initial=0) + 1) + value
    kind, highest = np.zeros(len(many), np.int64), 1
    for place in range(int(many.max(initial=0))):
        there = many > place
        own = np.zeros(len(many), np.int64)
        own[there] = code[columns.indptr[:-1][there] + place]
        size = int(own.max()) + 1
        if highest * size >= LARGEST:
            kind, own = (pd.factorize(numbers, sort=True)[0] for numbers in (kind, own))
            highest, size = int(kind.max()) + 1, int(own.max()) + 1
        kind, highest = kind * size + own, highest * size
    return kind if highest <= 2 * len(kind) else pd.factorize(kind, sort=True)[0]
