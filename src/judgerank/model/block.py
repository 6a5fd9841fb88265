"""A parameter block as one record: the columns of its parameters, where they enter the model, what holds them.

    eta = g q + o,   g = exp(w),   nu = exp(t)

q is the difference of the two answers' qualities, w the judge's log discrimination, o what is added besides, and t
the log propensity to tie. Each of the four is a sum of blocks, a block being columns times parameters. The members
of the family (`judgerank.model.members`) are blocks too: scores in q, log discriminations and slopes in w,
positions in o.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.data.frames import finite
from judgerank.data.judgments import Judgments


class Role(IntEnum):
    """Where a block enters the model."""

    QUALITY = 0
    WEIGHT = 1
    OFFSET = 2
    TIE = 3


@dataclass(frozen=True)
class Records:
    """What blocks make their columns of: comparisons, and the records behind them in the same order.

    Attributes
    ----------
    comparisons : Comparisons
        Raw rows, T of them.
    frame : DataFrame
        T rows; may have columns that the comparisons know nothing of.
    """

    comparisons: Comparisons
    frame: pd.DataFrame

    @classmethod
    def of(cls, judgments: Judgments) -> Records:
        """Those of a set that could be parsed."""
        return cls(judgments.comparisons, judgments.frame[judgments.parsed].reset_index(drop=True))

    def column(self, name: str, block: str) -> pd.Series:
        """A column of the records.

        Raises
        ------
        DataError
            If there is none of that name, or it is empty somewhere.
        """
        if name not in self.frame:
            raise DataError(f"block {block!r} needs a column {name!r}, and the records have none")
        column = self.frame[name]
        empty = column.isna().to_numpy()
        if empty.any():
            raise DataError(f"record {int(empty.argmax()) + 1} has no {name!r}, which block {block!r} needs")
        return column

    def difference(self, name: str, block: str) -> FloatArray:
        """A number of the answer shown first minus that of the second: columns ``NAME_a`` and ``NAME_b``.

        Raises
        ------
        DataError
            If a column is not there or holds what is not a finite number.
        """
        everyone = np.ones(len(self.frame), bool)
        first, second = (finite(self.column(f"{name}_{side}", block), everyone) for side in "ab")
        return first - second


@dataclass(frozen=True)
class Design:
    """Columns of a block.

    Attributes
    ----------
    columns : sparse float array, shape (T, p)
    labels : tuple of str
        What each parameter is of.
    centred : bool
        Whether the parameters sum to zero, since the likelihood knows them up to a constant only.
    may_vanish : bool
        Whether a parameter may be minus infinity: of a judge whose answers have nothing to do with quality, or who
        never ties.
    """

    columns: csr_array
    labels: tuple[str, ...]
    centred: bool = False
    may_vanish: bool = False


@dataclass(frozen=True)
class Block:
    """One block.

    Attributes
    ----------
    name : str
    role : Role
    design : callable
        From records to columns; raises DataError where they lack what it needs.
    shrunk : bool
        Whether its parameters are drawn toward zero: normal, with a standard deviation fitted to the data.
    what : str
        What one of its parameters is, for a reader.
    """

    name: str
    role: Role
    design: Callable[[Records], Design]
    shrunk: bool = False
    what: str = ""


def indicator(size: int, *terms: tuple[IntArray, FloatArray | float], width: int) -> csr_array:
    """Sum of terms that put a value into one column of every row; a column below zero stands for none.

    Parameters
    ----------
    size : int
        Rows T.
    terms : (int array of columns, value or float array of values), each of shape (T,)
    width : int
        Columns p.
    """
    rows = np.arange(size)
    row, column, value = [], [], []
    for place, given in terms:
        there = place >= 0
        row.append(rows[there])
        column.append(place[there])
        value.append(np.broadcast_to(np.asarray(given, float), size)[there])
    entries = np.concatenate(value), (np.concatenate(row), np.concatenate(column))
    whole = coo_array(entries, shape=(size, width)).tocsr()
    whole.eliminate_zeros()
    return whole


@dataclass(frozen=True)
class Stacked:
    """Blocks side by side over one set of records.

    Attributes
    ----------
    blocks : tuple of Block
    designs : tuple of Design
    """

    blocks: tuple[Block, ...]
    designs: tuple[Design, ...]

    @classmethod
    def of(cls, blocks: Iterable[Block], records: Records) -> Stacked:
        """Designs made; a block without a parameter is refused.

        Raises
        ------
        DataError
        """
        blocks = tuple(blocks)
        designs = tuple(block.design(records) for block in blocks)
        for block, design in zip(blocks, designs, strict=True):
            if not design.labels:
                raise DataError(f"block {block.name!r} has no parameter on these records")
        return cls(blocks, designs)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where each block's parameters stand among all D."""
        ends = np.cumsum([0, *(len(design.labels) for design in self.designs)]).tolist()
        return tuple(slice(one, other) for one, other in pairwise(ends))

    @property
    def size(self) -> int:
        return self.places[-1].stop if self.places else 0

    @cached_property
    def role(self) -> IntArray:
        """Role of every parameter, shape (D,)."""
        return np.concatenate([np.full(len(d.labels), b.role) for b, d in self.pairs]).astype(int)

    @property
    def pairs(self) -> Sequence[tuple[Block, Design]]:
        return tuple(zip(self.blocks, self.designs, strict=True))

    def place(self, name: str) -> slice:
        """Where a block stands."""
        return self.places[[block.name for block in self.blocks].index(name)]
