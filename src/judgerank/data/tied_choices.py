"""Choices of several answers at once: how many are tied for the best, where ties of rankings are an outcome.

A choice among some answers then has one row group (`judgerank.data.stages`) in which all that are tied have equal
shares. The further row groups of a tie, one for each order of its answers, say nothing any more.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.errors import DataError
from judgerank.data.stages import Stages

NOTHING = 1e-200  # count of a row that says nothing; it stays, so that rows still go with their records
LEAST = 1e-100  # count above which a row says something
ROUNDING = 1e-9  # of shares and weights


class Rows(Protocol):
    """What is asked of rows of rankings (`judgerank.data.comparisons.Comparisons`)."""

    @property
    def won(self) -> FloatArray: ...
    @property
    def lost(self) -> FloatArray: ...
    @property
    def choices(self) -> FloatArray: ...
    @property
    def count(self) -> FloatArray: ...
    @property
    def tied(self) -> FloatArray | None: ...
    @property
    def stages(self) -> Stages | None: ...


def whole(rows: Rows) -> BoolArray:
    """Which rows are of choices that were made, and not of one order of tied answers, shape (T,)."""
    return rows.count > LEAST if rows.tied is not None else rows.choices >= 1 - ROUNDING


def chosen(rows: Rows) -> IntArray:
    """How many answers are tied for the best in the choice of every row, one where one alone is, shape (T,).

    A weight between two answers is no tie, as in comparisons of two.

    Raises
    ------
    DataError
        If a choice among more than two is shared out unevenly.
    """
    assert rows.stages is not None
    first, stage = rows.stages.first_rows, rows.stages.alternatives.stage
    won, lost = rows.won, rows.lost
    most = np.maximum.reduceat(np.maximum(won, lost), first)[stage]
    n_tied = np.round(1 / most)
    uneven = np.abs(most * n_tied - 1) > ROUNDING
    for share in (won, lost):
        uneven |= (share > ROUNDING) & (np.abs(share - most) > ROUNDING)
    of_more = uneven & (rows.stages.size > 2)
    if of_more.any():
        raise DataError(
            f"row {int(of_more.argmax()) + 1} is a weight between answers: a model with ties takes whole answers"
        )
    return np.where(uneven, 1, n_tied).astype(np.intp)


def all_ties(rows: Rows) -> bool:
    """Whether no answer is preferred to another in any choice, so that there is nothing to rank."""
    return bool(np.all((rows.won == rows.lost) & (rows.won > 0)))


def tie_sizes(rows: Rows) -> tuple[int, ...]:
    """Numbers of answers that are tied in some choice, from two."""
    tie_counts = np.unique(chosen(rows)[whole(rows)]).tolist()
    return tuple(size for size in tie_counts if size > 1)


def of_ties(rows: Rows) -> tuple[FloatArray, FloatArray]:
    """Columns ``count`` and ``tied``, shape (T,), of the same rows with ties as an outcome.

    Raises
    ------
    DataError
        As `chosen`.
    """
    tied = np.where(chosen(rows) > 1, 2 * np.minimum(rows.won, rows.lost), 0.0)
    return np.where(whole(rows), rows.count, NOTHING), np.maximum(tied, 0.0)
