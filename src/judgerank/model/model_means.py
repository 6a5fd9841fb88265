"""What a further block shares with the scores: its columns' means by model, and whether there is more to it.

A column x of the comparisons splits into x_t = c_i - c_j + w_t, with c by least squares: that better models write
longer answers is in c. Only w tells the block's effect beta from the scores. A prior on scores without c beta
would decide what part of scores is the block's (Mundlak, 1978).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, diags_array

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NotIdentifiedError
from judgerank.model.block import Placed, Role

NOTHING = 1e-9  # share of a column's squares that counts as none


def with_means(extra: tuple[Placed, ...], comparisons: Comparisons) -> tuple[Placed, ...]:
    """The blocks with the models' means of their columns, where one that adds to log-odds is not shrunk.

    What is shrunk besides counts, too: differences of judges from a common effect could stand in for it.

    Parameters
    ----------
    further : tuple of Placed
    comparisons : Comparisons
        With the blocks' columns.

    Raises
    ------
    NotIdentifiedError
        If a column of such a block depends on the two models alone.
    """
    to_log_odds = [block for block in extra if block.role in (Role.QUALITY, Role.OFFSET)]
    if all(block.shrunk for block in to_log_odds):
        return extra
    assert comparisons.columns is not None
    centred, start = [], 0
    for block in extra:
        columns = csr_array(comparisons.columns[:, start : start + len(block.labels)])
        start += len(block.labels)
        if block in to_log_odds:
            means = _means(comparisons, columns)
            if not block.shrunk and not _differ_within(comparisons, columns, means):
                raise NotIdentifiedError(
                    f"these records cannot tell apart what belongs to scores and {block.name}"
                )
            block = replace(block, means=means)
        centred.append(block)
    return tuple(centred)


def _means(c: Comparisons, columns: csr_array) -> FloatArray:
    """Means by model of columns, shape (N, p), each summing to zero."""
    n, size = len(c.models), len(c)
    ends = np.r_[np.arange(size), np.arange(size)], np.r_[c.first, c.second]
    contrasts = csr_array((np.repeat([1.0, -1.0], size), ends), shape=(size, n))
    counted = diags_array(c.count.astype(float)) @ contrasts
    means = np.linalg.pinv((counted.T @ contrasts).toarray(), hermitian=True) @ (counted.T @ columns).toarray()
    return np.asarray(means - means.mean(axis=0), float)


def _differ_within(c: Comparisons, columns: csr_array, means: FloatArray) -> bool:
    """Whether every column has more in it than its means by model."""
    for values, mean in zip(columns.T.toarray(), means.T, strict=True):
        within = values - (mean[c.first] - mean[c.second])
        if c.count @ within**2 <= NOTHING * (c.count @ values**2):
            return False
    return True
