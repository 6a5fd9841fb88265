"""Answers to the same request that differ."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import AnyArray, FloatArray, IntArray


def changed_answers(request: IntArray, answer: AnyArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Pairs of answers to every request that differ, and all pairs of them; float arrays, shape (R,) each.

    Parameters
    ----------
    request : int array, shape (T,)
        From 0.
    answer : array, shape (T,)
    count : float array, shape (T,)
        How often it was given.
    """
    kind = np.unique(answer, return_inverse=True)[1]
    of, which = np.unique(request * (int(kind.max(initial=0)) + 1) + kind, return_inverse=True)
    alike = np.bincount(which, count, len(of))
    n_requests, size = int(request.max(initial=-1)) + 1, np.bincount(request, count)
    pairs = size * (size - 1) / 2
    same = np.bincount(of // (int(kind.max(initial=0)) + 1), alike * (alike - 1) / 2, n_requests)
    return pairs - same, pairs
