"""A parameter block as one record: columns of its parameters, their place in the model, their constraints.

    eta = g q + o,   g = exp(w),   nu = exp(t),   tau_1 = h,   tau_3/2 = h', ...

q is the difference of the two answers' qualities, w the judge's log discrimination, o what is added besides, t the
log propensity to tie and h, h', ... those to say *much better* and more, the thresholds of the levels
(`judgerank.model.law`). Each is a sum of blocks, a block being columns times parameters. The members
of the family (`judgerank.model.members`) are blocks too: scores in q, log discriminations and slopes in w,
positions in o.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array, diags_array, hstack

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.cache import Shown
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import positions_are_imitated
from judgerank.data.errors import DataError, NotIdentifiedError
from judgerank.data.frames import finite
from judgerank.data.judgments import Judgments
from judgerank.data.tied_choices import tie_sizes

LARGER_TIES = 1_000  # roles above it, by the number of answers tied, are thresholds of ties of three and more


class Role(IntEnum):
    """Where a block enters the model; ``Role(5)``, ``Role(6)``, ... are the thresholds beyond *much better*.

    ``Role(1003)``, ``Role(1004)``, ... are those of ties of three, four, ... answers of a ranking.
    """

    QUALITY = 0
    WEIGHT = 1
    OFFSET = 2
    TIE = 3
    STRONG = 4

    @classmethod
    def _missing_(cls, value: object) -> Role | None:
        """The threshold of a further strength, one and the same each time."""
        if not isinstance(value, int) or value <= cls.STRONG:
            return None
        role = int.__new__(cls, value)
        name = f"STRONG_{value - cls.STRONG + 2}" if value < LARGER_TIES else f"TIE_{value - LARGER_TIES}"
        role._name_, role._value_ = name, value
        return cls._value2member_map_.setdefault(value, role)  # type: ignore[return-value]

    @classmethod
    def strengths(cls, n_strengths: int) -> tuple[Role, ...]:
        """The thresholds of so many strengths beyond better, the weakest first."""
        return tuple(cls(cls.STRONG + strength) for strength in range(n_strengths))

    @classmethod
    def of_tie(cls, answers: int) -> Role:
        """The threshold of ties of so many answers, two or more."""
        return cls.TIE if answers == 2 else cls(LARGER_TIES + answers)

    @property
    def is_threshold(self) -> bool:
        """Whether it says how readily a level is used, and nothing of which model is better."""
        return self >= Role.TIE

    @property
    def is_strong(self) -> bool:
        """Whether it is the threshold of a strength beyond better."""
        return Role.STRONG <= self < LARGER_TIES

    @property
    def tied(self) -> int:
        """How many answers a tie has whose threshold it is; zero if it is none of a tie."""
        return 2 if self is Role.TIE else max(self - LARGER_TIES, 0)

    @property
    def strength(self) -> int:
        """Place among the strengths beyond better, of the threshold of one."""
        return self - Role.STRONG

    @property
    def size(self) -> float:
        """|c| of the levels whose threshold it is (`judgerank.model.law`)."""
        return 0.0 if self is Role.TIE else 1.0 + self.strength / 2


@dataclass(frozen=True)
class Placed:
    """A further block over some records: what a fit keeps of it.

    Attributes
    ----------
    name : str
    role : Role
    labels : tuple of str
        What each parameter is of.
    shrunk : bool
        Whether its parameters are drawn toward zero: normal, with a standard deviation fitted to the data.
    what : str
        What one of its parameters is, for a reader.
    restricted : bool
        Whether its standard deviation is fitted with scores and judges' parameters integrated out, too.
    means : float array, shape (N, p), optional
        What each column shares with the models (`judgerank.model.block`); nothing by default.
    """

    name: str
    role: Role
    labels: tuple[str, ...]
    shrunk: bool
    what: str
    restricted: bool = False
    means: FloatArray | None = field(default=None, compare=False)


@dataclass(frozen=True, repr=False)
class Records(Shown):
    """What blocks make their columns of: comparisons, and the records behind them in the same order.

    Attributes
    ----------
    comparisons : Comparisons
        Raw rows, or cells with counts that have the same value in every column that a block goes by; T of them.
    frame : DataFrame
        T rows; may have columns that the comparisons know nothing of.

    Raises
    ------
    DataError
        If the two are not as many.

    Examples
    --------
    >>> import judgerank
    >>> frame = judgerank.example()
    >>> records = judgerank.Records(judgerank.read(frame).comparisons, frame)
    >>> sorted(set(records.frame['category']))
    ['coding', 'reasoning', 'writing']
    """

    comparisons: Comparisons
    frame: pd.DataFrame

    def __post_init__(self) -> None:
        if len(self.frame) != len(self.comparisons):
            raise DataError(
                f"the table has {len(self.frame)} records for {len(self.comparisons)} rows of comparisons: there "
                f"must be one for each (aggregated comparisons take a table of their cells)"
            )

    @classmethod
    def of(cls, judgments: Judgments) -> Records:
        """Those of a set that could be parsed."""
        return cls(judgments.comparisons, judgments.frame[judgments.parsed].reset_index(drop=True))

    @classmethod
    def without_columns(cls, comparisons: Comparisons) -> Records:
        """Comparisons alone: enough for blocks that go by names of models and judges."""
        return cls(comparisons, pd.DataFrame(index=range(len(comparisons))))

    def column(self, name: str, block: str) -> pd.Series:
        """A column of the records.

        Raises
        ------
        DataError
            If there is none of that name, or it is empty somewhere.
        """
        if name not in self.frame:
            where = "the records have none" if len(self.frame.columns) else "comparisons have no columns"
            hint = "" if len(self.frame.columns) else ": fit the judgments, or Records(comparisons, table)"
            raise DataError(f"block {block!r} needs a column {name!r}, and {where}{hint}")
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

    def _line(self) -> str:
        return f"{self.comparisons._line()}, columns {', '.join(map(str, self.frame.columns))}"

    def _table(self) -> pd.DataFrame:
        return self.frame


@dataclass(frozen=True)
class Design:
    """Columns of a block.

    Attributes
    ----------
    columns : sparse float array, shape (T, p)
    labels : tuple of str
        What each parameter is of.
    """

    columns: csr_array
    labels: tuple[str, ...]


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
    restricted : bool
        Whether its standard deviation is fitted by restricted likelihood, scores and judges' parameters being
        integrated out as well. That matters where these take much of what the block could explain.

    Examples
    --------
    >>> import judgerank
    >>> from judgerank.model.block import Design, Role, indicator
    >>> def first_letter(records):
    ...     is_early = (records.frame['model_a'] < records.frame['model_b']).to_numpy(float)
    ...     column = 0 * records.comparisons.judge  # one parameter, shared by all judges
    ...     return Design(indicator(len(is_early), (column, is_early), width=1), ('earlier name',))
    >>> block = judgerank.Block('first_letter', Role.OFFSET, first_letter)
    >>> result = judgerank.fit(judgerank.example(), blocks=[block])
    >>> result.params['first_letter'].index.tolist()
    ['earlier name']
    """

    name: str
    role: Role
    design: Callable[[Records], Design]
    shrunk: bool = False
    what: str = ""
    restricted: bool = False


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
    for label_index, sign in terms:
        has_label = label_index >= 0
        row.append(rows[has_label])
        column.append(label_index[has_label])
        value.append(np.broadcast_to(np.asarray(sign, float), size)[has_label])
    entries = np.concatenate(value), (np.concatenate(row), np.concatenate(column))
    matrix = coo_array(entries, shape=(size, width)).tocsr()
    matrix.eliminate_zeros()
    return matrix


def placed(blocks: Iterable[Block], records: Records) -> tuple[tuple[Placed, ...], csr_array]:
    """Blocks over some records, and their columns side by side, shape (T, P), indices in order within a row.

    Raises
    ------
    DataError
        If a block has no parameter, or lacks what it needs.
    """
    placed_blocks, columns = [], []
    for block in blocks:
        design = block.design(records)
        if not design.labels:
            raise DataError(f"block {block.name!r} has no parameter on these records")
        labels = tuple(design.labels)
        placed_blocks.append(Placed(block.name, block.role, labels, block.shrunk, block.what, block.restricted))
        columns.append(design.columns)
    matrix = csr_array(hstack(columns, format="csr"))
    matrix.sum_duplicates()
    return tuple(placed_blocks), matrix


# Requirements on data for a parameter to be estimated.
PAIRS_ALONE = "pairs alone, no rankings of several answers"  # what members with slopes take


class Need(StrEnum):
    """What a parameter needs, in the order in which it is checked."""

    LENGTH = "length"
    TIES = "ties"
    STRENGTH = "strength"
    ORDER = "order of presentation"


def unmet(needs: Collection[Need], comparisons: Comparisons) -> str:
    """Say which need the comparisons do not meet, the first of several; empty if they meet all."""
    if Need.LENGTH in needs and comparisons.covariate is None:
        return "there are no lengths"
    of_rankings = comparisons.stages is not None
    if Need.TIES in needs and not (tie_sizes(comparisons) if of_rankings else comparisons.known_ties.any()):
        return "there are no ties"
    if Need.STRENGTH in needs and comparisons.strong is None:
        return "no answer says how much better it finds a model"
    if Need.STRENGTH in needs and not comparisons.known_strength.any():
        return "no answer finds a model much better"
    if Need.ORDER in needs and positions_are_imitated(comparisons):
        return "the order of presentation follows the models"
    return ""


# What a further block shares with the scores: its columns' means by model, and whether there is more to it.
#
# A column x of the comparisons splits into x_t = c_i - c_j + w_t, with c by least squares: that better models
# write longer answers is in c. Only w tells the block's effect beta from the scores. A prior on scores without c
# beta would decide what part of scores is the block's (Mundlak, 1978).

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
