"""Rows of a sparse matrix that are alike."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import IntArray


def kinds(columns: csr_array) -> tuple[IntArray, IntArray]:
    """First row of each kind, and the kind of every row.

    Parameters
    ----------
    columns : sparse float array, shape (T, P)
        Indices in order within a row, none twice.
    """
    many = np.diff(columns.indptr)
    row = np.repeat(np.arange(len(many)), many)
    place = np.arange(columns.nnz) - columns.indptr[row]
    key = np.full((len(many), 2 * max(1, int(many.max(initial=0)))), -1.0)
    key[row, 2 * place], key[row, 2 * place + 1] = columns.indices, columns.data
    as_bytes = np.ascontiguousarray(key).view(np.dtype((np.void, key.itemsize * key.shape[1]))).ravel()
    _, first, kind = np.unique(as_bytes, return_index=True, return_inverse=True)
    return first, kind
