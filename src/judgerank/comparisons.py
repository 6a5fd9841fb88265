"""Pairwise comparisons: who was compared, who judged, what was said (paper, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from judgerank.errors import DataError

COLUMNS = ("question_id", "model_a", "model_b", "judge_model", "judge_preferred_model", "judge_confidence")
NEEDED = ("model_a", "model_b", "judge_model", "judge_preferred_model")
OUTCOMES = {"a": 1.0, "b": 0.0, "c": 0.5}
UNPARSED = "unknown"
POOLED_JUDGE = "all judges"


@dataclass(frozen=True, eq=False)
class Comparisons:
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
    dropped : mapping of str to int
        Records left out when the rows were read, by reason.

    Raises
    ------
    DataError
        If there are no rows, fewer than two models, a model compared with itself, or values out of range.
    """

    models: tuple[str, ...]
    judges: tuple[str, ...]
    first: np.ndarray
    second: np.ndarray
    judge: np.ndarray
    outcome: np.ndarray
    count: np.ndarray | None = None
    covariate: np.ndarray | None = None
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self):
        size = len(self.first)
        if size == 0:
            raise DataError("there are no comparisons: the set is empty")
        if len(self.models) < 2:
            raise DataError(f"there is only one model, {self.models[0]!r}: nothing to rank it against")
        if self.count is None:
            object.__setattr__(self, "count", np.broadcast_to(1.0, size))
        for name, labels in (("first", self.models), ("second", self.models), ("judge", self.judges)):
            index = np.asarray(getattr(self, name))
            if len(index) != size or index.min() < 0 or index.max() >= len(labels):
                raise DataError(f"column {name!r} must hold {size} indices below {len(labels)}")
            object.__setattr__(self, name, index.astype(np.int32, copy=False))
        itself = np.flatnonzero(self.first == self.second)
        if itself.size:
            raise DataError(f"record {itself[0] + 1} compares {self.models[self.first[itself[0]]]!r} with itself")
        for name, low, high in (("outcome", 0.0, 1.0), ("count", np.finfo(float).tiny, np.inf)):
            values = np.asarray(getattr(self, name), dtype=float)
            # the negated comparison also catches NaN
            if len(values) != size or not (values.min() >= low and values.max() <= high):
                raise DataError(f"column {name!r} must hold {size} numbers from {low:g} to {high:g}")
            object.__setattr__(self, name, values)
        if self.covariate is not None:
            covariate = np.asarray(self.covariate, dtype=float)
            if len(covariate) != size or not np.isfinite(covariate).all():
                raise DataError(f"column 'covariate' must hold {size} finite numbers")
            object.__setattr__(self, "covariate", covariate)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, covariate: str | None = None) -> Comparisons:
        """Read judgments, one row each, in the published six-column form.

        Parameters
        ----------
        frame : DataFrame
            Columns ``model_a`` (shown first), ``model_b``, ``judge_model`` and ``judge_preferred_model``
            (``a``, ``b``, ``c`` for a tie; ``unknown`` or missing is a judgment that could not be parsed:
            dropped, and counted in `dropped`). Other columns are ignored.
        covariate : str, optional
            Column that holds the standardised covariate.

        Raises
        ------
        DataError
            Naming the record (counted from 1) or the judge at fault.
        """
        _require_columns(frame, (*NEEDED, covariate) if covariate else NEEDED)
        size = len(frame)
        if size == 0:
            raise DataError("there are no comparisons: the set is empty")
        preferred, answers = pd.factorize(frame["judge_preferred_model"])
        values = np.array([_outcome(answer) for answer in answers] + [np.nan])
        if (bad := np.flatnonzero(np.isinf(values))).size:
            position = int(np.flatnonzero(preferred == bad[0])[0])
            raise DataError(
                f"record {position + 1} has the unknown preference {answers[bad[0]]!r} "
                f"(known: a, b, c, unknown or null)"
            )
        outcome = values[preferred]
        pair, models = _labels(frame, ["model_a", "model_b"])
        judge, judges = _labels(frame, ["judge_model"])
        first, second = pair[:size], pair[size:]
        itself = np.flatnonzero(first == second)
        if itself.size:
            raise DataError(f"record {itself[0] + 1} compares {models[first[itself[0]]]!r} with itself")
        parsed = ~np.isnan(outcome)
        silent = np.bincount(judge, minlength=len(judges)) > 0
        silent &= np.bincount(judge[parsed], minlength=len(judges)) == 0
        if silent.any():
            name = judges[np.flatnonzero(silent)[0]]
            raise DataError(f"judge {name!r} has no usable record: none of its answers could be parsed")
        dropped = {
            UNPARSED: int(sum((preferred == code).sum() for code in np.flatnonzero(np.isnan(values[:-1])))),
            "null": int((preferred == -1).sum()),
        }
        z = None if covariate is None else frame[covariate].to_numpy(float)[parsed]
        return cls(models, judges, first[parsed], second[parsed], judge[parsed], outcome[parsed], None, z, dropped)

    def to_frame(self) -> pd.DataFrame:
        """Raw comparisons as a table that `from_frame` reads back.

        Raises
        ------
        DataError
            If the rows are aggregated.
        """
        self._require_raw()
        answers = {outcome: letter for letter, outcome in OUTCOMES.items()}
        columns = {"model_a": self.first, "model_b": self.second, "judge_model": self.judge}
        labels = {"judge_model": self.judges}
        frame = {name: np.array(labels.get(name, self.models))[index] for name, index in columns.items()}
        return pd.DataFrame(frame | {"judge_preferred_model": pd.Series(self.outcome).map(answers)})

    def _require_raw(self) -> None:
        if np.any(self.count != 1):
            raise DataError("this takes raw comparisons, and these are aggregated")

    @property
    def n_comparisons(self) -> float:
        """Number of comparisons T (rows weighted by their counts)."""
        return float(self.count.sum())

    def __len__(self) -> int:
        return len(self.first)

    def _key(self) -> np.ndarray:
        """One integer a row that orders rows by (first, second, judge, covariate)."""
        key = self.first.astype(np.int64)
        key *= len(self.models)
        key += self.second
        key *= len(self.judges)
        key += self.judge
        if self.covariate is not None:
            values, code = np.unique(self.covariate, return_inverse=True)
            key *= len(values)
            key += code
        return key

    def _rows(self, keep: np.ndarray, **changed) -> Comparisons:
        """The rows under a mask or at indices, with `changed` columns in place of their own."""
        for name in ("first", "second", "judge", "outcome", "count", "covariate"):
            if name not in changed and getattr(self, name) is not None:
                changed[name] = getattr(self, name)[keep]
        return replace(self, **changed)

    def aggregate(self) -> Comparisons:
        """Merge rows with equal (first, second, judge, covariate), as in equation (5) of the paper.

        Returns
        -------
        Comparisons
            Sorted by that key; counts n and mean outcomes. Itself if it is aggregated already.
        """
        key = self._key()
        if np.all(key[1:] > key[:-1]):
            return self
        order = slice(None)
        if np.any(key[1:] < key[:-1]):
            order = np.argsort(key)
            key = key[order]
        start = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
        del key  # at ten million rows every array counts towards the peak
        count = np.add.reduceat(self.count[order], start)
        wins = self.outcome if self.count.strides == (0,) else self.outcome * self.count
        outcome = np.add.reduceat(wins[order], start)
        outcome /= count
        # sums of rounded products may step outside [0, 1] by one unit in the last place
        np.clip(outcome, 0.0, 1.0, out=outcome)
        row = start if isinstance(order, slice) else order[start]
        del order, start, wins
        return self._rows(row, outcome=outcome, count=count)

    def pool_judges(self) -> Comparisons:
        """Forget who judged: the data of the unweighted Bradley-Terry-Luce model, aggregated."""
        return self._pooled

    @cached_property
    def _pooled(self) -> Comparisons:
        one = np.broadcast_to(np.int32(0), len(self))
        return replace(self, judges=(POOLED_JUDGE,), judge=one, covariate=None).aggregate()

    def with_judges(self, names: Iterable[str]) -> Comparisons:
        """Keep the comparisons of these judges; models stay as they are.

        Raises
        ------
        DataError
            If a name is not among the judges.
        """
        chosen = set(names)
        for name in chosen.difference(self.judges):
            raise DataError(f"there is no judge {name!r} among {', '.join(self.judges)}")
        kept = [k for k, name in enumerate(self.judges) if name in chosen]
        new_index = np.full(len(self.judges), -1, np.int32)
        new_index[kept] = np.arange(len(kept))
        rows = new_index[self.judge] >= 0
        judges = tuple(self.judges[k] for k in kept)
        return replace(self._rows(rows, judge=new_index[self.judge[rows]]), judges=judges)

    def without_ties(self) -> Comparisons:
        """Drop tied comparisons (raw rows only: a mean outcome of one half need not be a tie).

        Raises
        ------
        DataError
            If the rows are aggregated.
        """
        self._require_raw()
        return self._rows(self.outcome != OUTCOMES["c"])


def _outcome(answer: object) -> float:
    """Outcome of an answer; NaN for one that could not be parsed, infinity for one that is not known."""
    if answer == UNPARSED:
        return np.nan
    return OUTCOMES.get(answer, np.inf) if isinstance(answer, str) else np.inf


def _require_columns(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        found = ", ".join(map(str, frame.columns))
        raise DataError(f"the table has no column {missing[0]!r} (it has: {found})")


def _labels(frame: pd.DataFrame, columns: list[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes into sorted labels, columns one after the other."""
    values = frame[columns[0]] if len(columns) == 1 else pd.concat([frame[name] for name in columns])
    codes, labels = pd.factorize(values)
    if (missing := np.flatnonzero(codes < 0)).size:
        column, position = divmod(int(missing[0]), len(frame))
        raise DataError(f"record {position + 1} has no {columns[column]!r}")
    for code, label in enumerate(labels):
        if not isinstance(label, str) or not label:
            column, position = divmod(int(np.flatnonzero(codes == code)[0]), len(frame))
            raise DataError(f"record {position + 1} has {label!r} as {columns[column]!r}, not a name")
    order = np.argsort(np.asarray(labels, object))
    rank = np.empty(len(labels), np.int32)
    rank[order] = np.arange(len(labels), dtype=np.int32)
    return rank[codes], tuple(np.asarray(labels, object)[order])
