"""Pairwise comparisons: who was compared, who judged, what was said (paper, section 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from judgerank.data import frames
from judgerank.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from judgerank.data.cache import Shown
from judgerank.data.errors import DataError
from judgerank.data.frames import OUTCOMES, Rows, refuse_itself, with_further
from judgerank.data.listing import counted, listed
from judgerank.data.stages import Stages
from judgerank.data.tied_choices import Choices

POOLED_JUDGE = "all judges"
# Answers of a judge below which its discrimination is not fitted: from fewer it is mostly chance, by which many
# accounts with one vote each could outvote a panel (docs/beyond/few_answers.md).
FEW_ANSWERS = 10
FEW_JUDGES = "judges with few answers"  # the label that all such judges share
ONE_SIDED = 0.9  # share of a judge's answers for one model, or one position, from which they tell no order


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(Choices, Shown):
    """Rows of comparisons, raw or aggregated.

    Parameters
    ----------
    models, judges : tuple of str
        Labels; the index arrays point into them. N models, K judges.
    first, second, judge : int array, shape (T,)
        The model shown first, the model shown second, and the judge of each row.
    outcome : float array, shape (T,)
        Share of the row's comparisons won by the model shown first: 1, 0, or 0.5 for a tie in a raw row.
    count : float array, shape (T,), optional
        Comparisons behind each row; one each by default.
    covariate : float array, shape (T,), optional
        Standardised covariate z of each row (paper, appendix on length-augmented discrimination).
    tied : float array, shape (T,), optional
        Share of the row's comparisons that are ties. Lost when raw rows are aggregated, unless asked for by
        `with_ties`.
    strong : float array, shape (T, 2 S), optional
        Shares of the row's comparisons that find the first model *much* better, and the second; wins among others.
        Two further columns for each further strength, the weakest first. Members that make no use of it leave it
        out.
    ordered : bool
        Whether `first` was shown first; if nobody was shown an order, no member with positions is fitted.
    dropped : mapping of str to int
        Records left out when the rows were read, by reason.
    columns : sparse float array, shape (T, P), optional
        What further blocks of a model multiply their parameters with (`judgerank.model.block`).
    stages : Stages, optional
        Which rows are those of one choice among several answers; without it each is a choice between two.

    Raises
    ------
    DataError
        If there are no rows, fewer than two models, a model compared with itself, or values out of range.

    Examples
    --------
    >>> import judgerank
    >>> c = judgerank.Comparisons(('oak', 'elm'), ('ann',), [0, 0, 1], [1, 1, 0], [0, 0, 0], [1.0, 0.0, 1.0])
    >>> len(c), c.n_comparisons, len(c.aggregate())
    (3, 3.0, 2)
    """

    models: tuple[str, ...]
    judges: tuple[str, ...]
    first: IntArray
    second: IntArray
    judge: IntArray
    outcome: FloatArray
    count: FloatArray = None  # type: ignore[assignment]  # ones, put in its place below
    covariate: FloatArray | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)
    tied: FloatArray | None = None
    ordered: bool = True
    columns: csr_array | None = None
    strong: FloatArray | None = None
    stages: Stages | None = None

    def __post_init__(self) -> None:
        if self.count is None:
            object.__setattr__(self, "count", np.broadcast_to(1.0, len(self.first)))
        for name, column in checked(self).items():
            object.__setattr__(self, name, column)
        if self.stages is not None:
            self.stages.checked(self.first, self.second, self.judge)

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, covariate: str | None = None, count: str | None = None
    ) -> Comparisons:
        """Read judgments, one row each, in the published six-column form.

        Parameters
        ----------
        frame : DataFrame
            Columns ``model_a`` (shown first), ``model_b``, ``judge_model`` and ``judge_preferred_model``
            (``a``, ``b``, ``c`` for a tie; ``unknown`` or missing is a judgment that could not be parsed:
            dropped, and counted in `dropped`; a judge with no others is left out). Other columns are ignored.
        covariate : str, optional
            Column that holds the standardised covariate.
        count : str, optional
            Column that holds how many like judgments a record stands for; one each by default.

        Raises
        ------
        DataError
            Naming the record (counted from 1) at fault; if no answer could be parsed.
        """
        read = frames.parsed(frame, covariate, count)
        frames.require_heard(read.judges)
        rows = read.first, read.second, read.judge, read.outcome
        if read.count is None:
            return cls(read.models, read.judges, *rows, covariate=read.covariate, dropped=read.dropped)
        tied = read.tied  # a record of many has one answer: it is known
        return cls(read.models, read.judges, *rows, read.count, read.covariate, read.dropped, tied)

    def extended(self, frame: pd.DataFrame, covariate: str | None = None, count: str | None = None) -> Comparisons:
        """These and further judgments, of these and other models and judges; raw rows or aggregated ones.

        ``fit(longer, start=fitted)`` then begins where the fit of these ended.

        Parameters
        ----------
        frame, covariate, count
            As of `from_frame`.

        Raises
        ------
        DataError
            As `from_frame`, and if these have a covariate, and the further ones have none; and if these say how
            strong each answer is, and a column ``strength`` of the further ones does not say it in whole numbers.
        """
        self.require_pairs("adding records to comparisons")
        read = frames.parsed(frame, covariate, count)
        if self.covariate is not None and read.covariate is None:
            raise DataError("these comparisons have a covariate: name the column of the further ones (covariate)")
        columns = frames.joined(self, read)
        for name in ("covariate", "tied"):
            current = getattr(self, name)
            columns[name] = None if current is None else np.r_[current, getattr(read, name)]
        dropped = {reason: self.dropped.get(reason, 0) + n_dropped for reason, n_dropped in read.dropped.items()}
        columns["strong"] = None if self.strong is None else with_further(self.strong, frame)
        return replace(self, **columns, columns=None, dropped={**self.dropped, **dropped})

    def to_frame(self) -> pd.DataFrame:
        """Raw comparisons as a table that `from_frame` reads back.

        Raises
        ------
        DataError
            If the rows are aggregated, or an outcome is a weight between the two models, which no letter says.
        """
        self.require_pairs("a table with one letter per record")
        self._require_raw()
        if not np.isin(self.outcome, list(OUTCOMES.values())).all():
            raise DataError("this needs whole answers, but some of these records are shares of a win")
        answers = {outcome: letter for letter, outcome in OUTCOMES.items()}
        columns = {"model_a": self.first, "model_b": self.second, "judge_model": self.judge}
        labels = {"judge_model": self.judges}
        frame = {name: np.array(labels.get(name, self.models))[index] for name, index in columns.items()}
        return pd.DataFrame(frame | {"judge_preferred_model": pd.Series(self.outcome).map(answers)})

    def _require_raw(self) -> None:
        if np.any(self.count != 1):
            raise DataError("this requires raw comparisons, and these are aggregated")

    @property
    def n_comparisons(self) -> float:
        """Number of comparisons T (rows weighted by their counts)."""
        return float(self.count.sum())

    @property
    def pair(self) -> IntArray:
        """The two models of every row as one number, low N + high, whichever is shown first; shape (T,)."""
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        return np.asarray(low.astype(np.int64) * len(self.models) + high)

    def __len__(self) -> int:
        return len(self.first)

    def _rows(self, keep: AnyArray, **changed: Any) -> Comparisons:
        """The rows under a mask or at indices, all judges kept, with `changed` columns in place of their own."""
        for name in ("first", "second", "judge", "outcome", "count", "covariate", "tied", "columns", "strong"):
            if name not in changed and getattr(self, name) is not None:
                changed[name] = getattr(self, name)[keep]
        if self.stages is not None:
            changed.setdefault("stages", self.stages.take(keep))
        return replace(self, **changed)

    def aggregate(self) -> Comparisons:
        """Merge rows with equal (first, second, judge, covariate), as in equation (5) of the paper.

        Returns
        -------
        Comparisons
            Sorted by that key; counts n and mean outcomes. Itself if it is aggregated already, or of rankings.
        """
        return self if self._cells is None else self._cells

    @cached_property
    def _cells(self) -> Comparisons | None:
        """These aggregated; None where they are already, or of rankings."""
        cells = None if self.stages is not None else merged(self)
        return None if cells is None else self._rows(cells[0], **cells[1])

    def __getstate__(self) -> dict[str, object]:
        """Without what can be computed again: small to send, and the same whether it was computed or not."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("_pooled", "_cells", "at_mean", "favourite", "response")
        }

    def pool_judges(self) -> Comparisons:
        """Forget who judged: the data of the unweighted Bradley-Terry-Luce model, aggregated."""
        return self._pooled

    @cached_property
    def _pooled(self) -> Comparisons:
        single_judge = np.broadcast_to(np.int32(0), len(self))
        return replace(
            self, judges=(POOLED_JUDGE,), judge=single_judge, covariate=None, tied=None, columns=None, strong=None
        ).aggregate()

    def pool_few(self, least: int = FEW_ANSWERS, keep: Collection[str] = ()) -> Comparisons:
        """Give judges with few comparisons one label, `FEW_JUDGES`, and with it one set of parameters.

        Parameters
        ----------
        least : int
            Comparisons from which a judge keeps its label.
        keep : collection of str
            Judges who keep theirs, such as those of a board.

        Returns
        -------
        Comparisons
            The same rows in the same order; itself if no judge has fewer.
        """
        n_answers = np.bincount(self.judge, self.count, len(self.judges))
        few = (n_answers < least) & (n_answers > 0) & [judge not in keep for judge in self.judges] | self.is_pooled
        if not few.any() or [*compress(self.judges, few)] == [FEW_JUDGES]:
            return self
        judges = (*compress(self.judges, ~few), FEW_JUDGES)
        index = np.where(few, len(judges) - 1, np.cumsum(~few) - 1).astype(np.int32)
        return replace(self, judges=judges, judge=index[self.judge])

    @cached_property
    def at_mean(self) -> BoolArray:
        """Mask of the judges whose discrimination is held at the mean of the others', shape (K,).

        That is who stands for all judges with few answers, if another judge's answers tell an order of the models.
        """
        in_order = self.favourite.max(axis=1) < ONE_SIDED
        return self.is_pooled & bool(np.any(~self.is_pooled & in_order))

    @cached_property
    def favourite(self) -> FloatArray:
        """Share of a judge's comparisons won by each model, by the first shown and the second; (K, N + 2)."""
        n, k = len(self.models), len(self.judges)
        first, second = self.count * self.outcome, self.count * (1 - self.outcome)
        won = np.zeros((k, n + 2))
        for models, column, values in ((self.first, n, first), (self.second, n + 1, second)):
            np.add.at(won, (self.judge, models), values)
            won[:, column] = np.bincount(self.judge, values, k) if self.ordered else 0.0
        return np.asarray(won / np.maximum(np.bincount(self.judge, self.count, k), 1)[:, None], float)

    @property
    def is_pooled(self) -> BoolArray:
        """Mask of who stands for all judges with few answers, shape (K,); see `pool_few`."""
        return np.array([judge == FEW_JUDGES for judge in self.judges], bool)

    def take(self, rows: IntArray) -> Comparisons:
        """The rows at these indices (repeats allowed), with the judges they have; models stay as they are."""
        return self._rows(rows).heard()

    def heard(self) -> Comparisons:
        """The same with the judges that have a row."""
        has_row = np.bincount(self.judge, minlength=len(self.judges)) > 0
        if has_row.all():
            return self
        number = (np.cumsum(has_row) - 1).astype(np.int32)
        return replace(self, judges=tuple(compress(self.judges, has_row)), judge=number[self.judge])

    def with_judges(self, names: Iterable[str]) -> Comparisons:
        """Keep the comparisons of these judges, who must be among them; models stay as they are."""
        chosen, available = dict.fromkeys(names), {*self.judges}
        for name in chosen:
            if name not in available:
                raise DataError(f"there is no judge {name!r} among {listed(self.judges)}")
        selected = [k for k, name in enumerate(self.judges) if name in chosen]
        new_index = np.full(len(self.judges), -1, np.int32)
        new_index[selected] = np.arange(len(selected))
        rows = new_index[self.judge] >= 0
        judges = tuple(self.judges[k] for k in selected)
        return replace(self._rows(rows, judge=new_index[self.judge[rows]]), judges=judges)

    def with_ties(self) -> Comparisons:
        """Keep track of ties, which aggregation forgets otherwise.

        Raises
        ------
        DataError
            If the rows are aggregated and it has been forgotten.
        """
        if self.tied is not None:
            return self
        self.require_pairs("keeping track of ties")
        self._require_raw()
        return replace(self, tied=(self.outcome == OUTCOMES["c"]).astype(float))

    def with_strengths(self, n_strengths: int) -> Comparisons:
        """The same with room for so many strengths beyond better, also of those that no answer has.

        Raises
        ------
        DataError
            If answers have more.
        """
        missing = n_strengths - self.n_strengths
        if missing < 0:
            raise DataError(
                f"a win has {self.n_strengths + 1} strengths in these comparisons, and {n_strengths + 1} in the "
                "model: fit it again to all of them, or leave strength out (--column strength=null)"
            )
        none = np.zeros((len(self), 2 * missing))
        return replace(self, strong=np.hstack([self.known_strength, none])) if missing else self

    def without_ties(self) -> Comparisons:
        """Drop tied comparisons, and judges who only ever tied; models stay as they are.

        Raw rows only: a mean outcome of one half need not be a tie.

        Raises
        ------
        DataError
            If the rows are aggregated.
        """
        self.require_pairs("leaving out ties")
        self._require_raw()
        return self.take(np.flatnonzero(self.outcome != OUTCOMES["c"]))

    def require_one_each(self, question: Sized) -> None:
        """Refuse questions, one for each row, that are more or fewer than the rows.

        Parameters
        ----------
        question : sized, shape (T,)

        Raises
        ------
        DataError
        """
        if len(question) != len(self):
            these = f"{counted(len(question), 'question')} for {counted(len(self), 'comparison')}"
            raise DataError(f"{these}: there must be one for each")

    def _line(self) -> str:
        return (
            f"{counted(self.n_comparisons, 'comparison')} of {counted(len(self.models), 'model')} by "
            f"{counted(len(self.judges), 'judge')}"
        )

    def _table(self) -> pd.DataFrame:
        n, weight = len(self.models), np.concatenate([self.count, self.count])
        ends = np.concatenate([self.first, self.second])
        won = np.bincount(ends, weight * np.concatenate([self.outcome, 1 - self.outcome]), n)
        n_comparisons = np.bincount(ends, weight, n)
        table = pd.DataFrame(
            {"model": self.models, "comparisons": n_comparisons, "share_won": won / np.maximum(n_comparisons, 1)}
        )
        return table.sort_values("share_won", ascending=False, kind="stable")


# Validate comparisons: distinct labels, and columns of equal length with values in range.

ROUNDING = 1e-12  # by which sums of shares may exceed what they are part of


def checked(rows: Rows) -> dict[str, AnyArray]:
    """The columns of rows of comparisons by name, as arrays of their types.

    Raises
    ------
    DataError
        If there are no rows, fewer than two models, a model compared with itself, or values out of range.
    """
    size = len(rows.first)
    if size == 0:
        raise DataError("there are no comparisons: the set is empty")
    if len(rows.models) < 2:
        raise DataError(f"there is only one model, {', '.join(rows.models)!r}: nothing to rank it against")
    for labels in (rows.models, rows.judges):
        if len(set(labels)) < len(labels):
            raise DataError(f"a label is there twice: {max(labels, key=labels.count)!r}")
    of = {"first": rows.models, "second": rows.models, "judge": rows.judges}
    index = {name: places(name, getattr(rows, name), size, len(labels)) for name, labels in of.items()}
    refuse_itself(rows.models, index["first"], index["second"])
    least, largest = np.finfo(float).tiny, np.finfo(float).max
    ranges = {"outcome": (0.0, 1.0, "numbers from 0 to 1"), "count": (least, largest, "numbers above zero")}
    if rows.covariate is not None:
        ranges["covariate"] = (-largest, largest, "finite numbers")
    checked_columns = {name: numbers(name, getattr(rows, name), size, *limits) for name, limits in ranges.items()}
    if rows.tied is not None:
        most = 2 * np.minimum(checked_columns["outcome"], 1 - checked_columns["outcome"]) + np.finfo(float).eps
        checked_columns["tied"] = numbers("tied", rows.tied, size, 0.0, most, "shares that the outcomes allow")
    if rows.strong is not None:
        checked_columns["strong"] = strengths(rows.strong, checked_columns["outcome"], checked_columns.get("tied"))
    return {**index, **checked_columns}


def strengths(values: FloatArray, outcome: FloatArray, tied: FloatArray | None) -> FloatArray:
    """Shares of strong answers, shape (T, 2 S), which no more than the wins of either model can be."""
    column = np.asarray(values, float)
    half = 0.0 if tied is None else tied / 2
    most = np.stack([outcome - half, 1 - outcome - half], axis=1) + ROUNDING
    fits = column.ndim == 2 and len(column) == len(most) and column.shape[1] % 2 == 0 < column.shape[1]
    summed = column.reshape(len(most), -1, 2).sum(axis=1) if fits else column
    if not fits or not (np.all(column >= 0) and np.all(summed <= most)):
        raise DataError(f"column 'strong' must hold {len(outcome)} pairs of shares that the outcomes allow")
    return column


def places(name: str, values: IntArray, size: int, below: int) -> NDArray[np.int32]:
    """A column of places among so many labels, which must be whole numbers, one a row."""
    index = np.asarray(values)
    if index.dtype.kind not in "iu" or len(index) != size or index.min() < 0 or index.max() >= below:
        raise DataError(f"column {name!r} must hold {size} whole numbers below {below}")
    return index.astype(np.int32, copy=False)


def numbers(
    name: str, values: FloatArray, size: int, low: float, high: float | FloatArray, what: str
) -> FloatArray:
    """A column of numbers, which must lie in a range, one a row; `what` says of them what they must be."""
    column = np.asarray(values, dtype=float)
    # the negated comparison also catches NaN
    if len(column) != size or not (column.min() >= low and np.all(column <= high)):
        raise DataError(f"column {name!r} must hold {size} {what}")
    return column


# Rows of comparisons that are alike, merged into one row with a count (equation (5) of the paper).

# Rows of a sparse matrix that are alike.
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


Sums = Callable[[FloatArray | None], FloatArray]  # over the rows of each kind; of ones, if there are no values
PLACES = 4  # for numbers up to so many times the rows, counting is quicker than sorting


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
    row, sums = _by_place(key) if key.max() < PLACES * len(key) else _by_order(key)
    del key  # at ten million rows every array counts towards the peak
    alike = rows.count.strides == (0,) and rows.count[0] == 1  # counts of one, held as one number
    count = sums(None if alike else rows.count)
    outcome = sums(rows.outcome if alike else rows.outcome * rows.count)
    outcome /= count
    # sums of rounded products may step outside [0, 1] by one unit in the last place
    np.clip(outcome, 0.0, 1.0, out=outcome)
    columns = {"outcome": outcome, "count": count}
    if rows.tied is not None:
        tied = sums(rows.tied * rows.count) / count
        columns["tied"] = np.minimum(tied, 2 * np.minimum(outcome, 1 - outcome))  # rounding, again
    if rows.strong is not None:
        columns["strong"] = np.stack([sums(share * rows.count) / count for share in rows.strong.T], axis=1)
    return row, columns


def _by_place(key: IntArray) -> tuple[IntArray, Sums]:
    """One row of every key, in the order of keys, and what sums values over the rows of each: by counting."""
    n_rows_by_key = np.bincount(key)
    number = np.min_scalar_type(len(key))
    occupied, row = np.flatnonzero(n_rows_by_key), np.empty(len(n_rows_by_key), number)
    row[key] = np.arange(len(key), dtype=number)

    def sums(values: FloatArray | None) -> FloatArray:
        totals = n_rows_by_key if values is None else np.bincount(key, values)
        return totals[occupied].astype(float, copy=False)

    return row[occupied], sums


def _by_order(key: IntArray) -> tuple[IntArray, Sums]:
    """The same by sorting, which does not need a place for every number that a key could be."""
    order: slice | IntArray = slice(None)
    if np.any(key[1:] < key[:-1]):
        order = np.argsort(key)
        key = key[order]
    start = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    size = len(key)

    def sums(values: FloatArray | None) -> FloatArray:
        if values is None:
            return np.diff(start, append=size).astype(float)
        return np.asarray(np.add.reduceat(values[order], start), float)

    return start if isinstance(order, slice) else order[start], sums


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
