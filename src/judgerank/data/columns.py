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
