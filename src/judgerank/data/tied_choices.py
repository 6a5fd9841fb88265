"""Choices of several answers at once, those tied for the best among them, and what rows say of two answers."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.errors import DataError
from judgerank.data.stages import Stages

# Choices of several answers at once: how many are tied for the best, where ties of rankings are an outcome.
#
# A choice among some answers then has one row group (`judgerank.data.stages`) in which all that are tied have
# equal shares. The further row groups of a tie, one for each order of its answers, say nothing any more.
NOTHING = 1e-200  # count of a row that says nothing; it stays, so that rows still go with their records
LEAST = 1e-100  # count above which a row says something
ROUNDING = 1e-9  # of shares and weights
TIE = 0.5  # outcome of one


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


def is_choice(rows: Rows) -> BoolArray:
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
    tie_counts = np.unique(chosen(rows)[is_choice(rows)]).tolist()
    return tuple(size for size in tie_counts if size > 1)


def of_ties(rows: Rows) -> tuple[FloatArray, FloatArray]:
    """Columns ``count`` and ``tied``, shape (T,), of the same rows with ties as an outcome.

    Raises
    ------
    DataError
        As `chosen`.
    """
    tied = np.where(chosen(rows) > 1, 2 * np.minimum(rows.won, rows.lost), 0.0)
    return np.where(is_choice(rows), rows.count, NOTHING), np.maximum(tied, 0.0)


# What rows of comparisons say of two answers, be they pairs or parts of rankings of several.


class Choices:
    """Rows of comparisons as choices (`judgerank.data.comparisons.Comparisons`, whose columns these are)."""

    outcome: FloatArray
    count: FloatArray
    covariate: FloatArray | None
    tied: FloatArray | None
    strong: FloatArray | None
    stages: Stages | None

    @property
    def won(self) -> FloatArray:
        """Share of each row's comparisons won by the model shown first, shape (T,)."""
        return self.outcome if self.stages is None else self.outcome - self.stages.neither / 2

    @property
    def lost(self) -> FloatArray:
        """Share of each row's comparisons won by the model shown second, shape (T,)."""
        return 1 - self.outcome if self.stages is None else 1 - self.outcome - self.stages.neither / 2

    @property
    def decided(self) -> FloatArray:
        """How many comparisons of the two models each row holds, shape (T,): in a ranking, those with the best.

        Where ties are an outcome, those of all answers that are tied for the best.
        """
        if self.stages is None:
            return self.count
        if self.tied is None:
            return self.choices * (1 - self.stages.neither)
        return np.where(is_choice(self) & (self.stages.neither < 1 - ROUNDING), self.choices, 0.0)

    @property
    def share_won(self) -> FloatArray:
        """Share of `decided` that the first model won, ties half, shape (T,); one half where none is decided."""
        if self.stages is None:
            return self.outcome
        return 0.5 + (self.outcome - 0.5) / np.maximum(1 - self.stages.neither, ROUNDING)

    @property
    def choices(self) -> FloatArray:
        """How many choices by a judge each row is of, shape (T,): in a ranking, those of its stage."""
        return self.count if self.stages is None else self.count * self.stages.size / 2

    @property
    def apart(self) -> FloatArray | None:
        """How many places lie between the two answers of each row, shape (T,); None where it is one."""
        return None if self.stages is None else self.stages.apart

    @property
    def share_of_ties(self) -> float:
        """Share of the comparisons that are ties; zero of rankings, and where aggregation forgot the ties."""
        if self.stages is not None:
            return 0.0
        tied = self.tied
        if tied is None:
            tied = (self.outcome == TIE).astype(float) if np.all(self.count == 1) else np.zeros(len(self.count))
        return float(self.count @ tied / self.count.sum())

    @property
    def known_covariate(self) -> FloatArray:
        """`covariate`, for who cannot do without.

        Raises
        ------
        DataError
            If there is none.
        """
        if self.covariate is None:
            raise DataError("this requires comparisons with a covariate, and these have none")
        return self.covariate

    @property
    def known_ties(self) -> FloatArray:
        """`tied`, for who cannot do without.

        Raises
        ------
        DataError
            If there is no track of ties (`with_ties` keeps it).
        """
        if self.tied is None:
            raise DataError("this requires comparisons that keep track of ties, and these do not")
        return self.tied

    @property
    def known_strength(self) -> FloatArray:
        """`strong`, for who cannot do without.

        Raises
        ------
        DataError
            If nothing says how strong the answers are.
        """
        if self.strong is None:
            raise DataError("this requires comparisons that say how strong each answer is, and these do not")
        return self.strong

    @property
    def n_strengths(self) -> int:
        """Number of strengths beyond better that the answers may have."""
        return 0 if self.strong is None else self.strong.shape[1] // 2

    @property
    def by_strength(self) -> list[FloatArray]:
        """Share of answers of each strength beyond better for either model, the weakest first, shape (T,) each."""
        strong = self.known_strength
        return [strong[:, side : side + 2].sum(axis=1) for side in range(0, strong.shape[1], 2)]

    @cached_property
    def response(self) -> FloatArray:
        """Mean outcome as the likelihood takes it, shape (T,): beyond a win, 3/2 and -1/2, where much better."""
        values = self.outcome
        for size in range(self.n_strengths):
            first, second = self.known_strength[:, 2 * size : 2 * size + 2].T
            values = values + (first - second) * (size + 1) / 2
        return values

    def require_pairs(self, what: str) -> None:
        """Refuse rankings of several answers where only comparisons of two will do.

        Raises
        ------
        DataError
        """
        if self.stages is not None:
            raise DataError(f"{what} takes comparisons of two answers, and these are rankings of several")
