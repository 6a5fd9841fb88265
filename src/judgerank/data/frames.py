"""Columns of judgments as numbers; what cannot be read is named by its record, counted from 1, or its column."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from itertools import compress
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, UIntArray, log1p
from judgerank.data.errors import DataError
from judgerank.data.listing import listed

COLUMNS = ("question_id", "model_a", "model_b", "judge_model", "judge_preferred_model", "judge_confidence")
NEEDED = ("model_a", "model_b", "judge_model", "judge_preferred_model")
OUTCOMES = {"a": 1.0, "b": 0.0, "c": 0.5}
UNPARSED = "unknown"
NO_QUESTION = "without a question"  # reasons for leaving a record out
ITSELF = "of a model with itself"
LEFT_OUT = (NO_QUESTION, ITSELF)  # of which the answer could be read
UNHEARD = "Judges left out, since none of their answers could be read: "  # begins a remark
BY_REQUEST = "Left out by request: "  # likewise
STILL_COUNTED = "Marked as not counting, but counted: "  # likewise
LARGEST = sys.float_info.max
LARGEST_COUNT = 1e12  # judgments in a record; sums of them stay exact in double precision


def require_columns(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Refuse a table that lacks a column."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        available = listed(map(str, frame.columns))
        raise DataError(f"the table has no column {missing[0]!r} (it has: {available})")


class Rows(Protocol):
    """Rows of comparisons as columns of numbers (`judgerank.data.comparisons.Comparisons`)."""

    @property
    def models(self) -> tuple[str, ...]: ...
    @property
    def judges(self) -> tuple[str, ...]: ...
    @property
    def first(self) -> IntArray: ...
    @property
    def second(self) -> IntArray: ...
    @property
    def judge(self) -> IntArray: ...
    @property
    def outcome(self) -> FloatArray: ...
    @property
    def count(self) -> FloatArray: ...
    @property
    def covariate(self) -> FloatArray | None: ...
    @property
    def tied(self) -> FloatArray | None: ...
    @property
    def columns(self) -> csr_array | None: ...
    @property
    def strong(self) -> FloatArray | None: ...


@dataclass(frozen=True)
class Parsed:
    """Judgments as columns of numbers; see `judgerank.data.comparisons.Comparisons`.

    Attributes
    ----------
    models, judges : tuple of str
        In alphabetical order; of judges those with an answer that could be read.
    first, second, judge, outcome, count, covariate
        Of the records that could be read; no counts or covariates where no column holds them.
    dropped : dict of str to int
    """

    models: tuple[str, ...]
    judges: tuple[str, ...]
    first: IntArray
    second: IntArray
    judge: IntArray
    outcome: FloatArray
    count: FloatArray | None
    covariate: FloatArray | None
    dropped: dict[str, int]

    @property
    def tied(self) -> FloatArray:
        """One where the answer is a tie, else zero."""
        return (self.outcome == OUTCOMES["c"]).astype(float)


def parsed(frame: pd.DataFrame, covariate: str | None = None, count: str | None = None) -> Parsed:
    """Judgments, one row each, as numbers; `Comparisons.from_frame` says what the columns are."""
    require_columns(frame, [*NEEDED, *(name for name in (covariate, count) if name is not None)])
    size = len(frame)
    if size == 0:
        raise DataError("there are no comparisons: the set is empty")
    times = None if count is None else counts(frame[count])
    outcome, dropped = outcomes(frame, times)
    pair, models = codes(frame, ["model_a", "model_b"])
    judge, judges = codes(frame, ["judge_model"])
    first, second = pair[:size], pair[size:]
    itself = of_itself(models, first, second) & ~np.isnan(outcome)
    if itself.any():
        dropped[ITSELF] = int(itself.sum() if times is None else times[itself].sum())
    read = ~np.isnan(outcome) & ~itself
    z = None if covariate is None else finite(frame[covariate], read)
    if not read.all():
        first, second, judge, outcome = first[read], second[read], judge[read], outcome[read]
        times = None if times is None else times[read]
    heard = np.bincount(judge, minlength=len(judges)) > 0
    judge = (np.cumsum(heard, dtype=np.int32) - 1)[judge]
    judges = tuple(compress(judges, heard))
    return Parsed(models, judges, first, second, judge, outcome, times, z, dropped)


def outcomes(frame: pd.DataFrame, times: FloatArray | None = None) -> tuple[FloatArray, dict[str, int]]:
    """Outcome of every record, NaN for an answer that could not be parsed, and how many there are of those.

    Parameters
    ----------
    times : float array, shape (T,), optional
        Judgments behind each record; one each by default.
    """
    answer, letters = _factorized(frame, ["judge_preferred_model"])
    for code, letter in enumerate(letters):
        if letter != UNPARSED and letter not in OUTCOMES:
            raise DataError(
                f"record {int((answer == code).argmax()) + 1} has the unknown preference {letter!r} "
                "(known: a, b, c, unknown or null)"
            )
    values = np.array([OUTCOMES.get(letter, np.nan) for letter in letters] + [np.nan])
    *counts, null = np.bincount(answer % len(values), times, len(values)).tolist()
    left_out = {UNPARSED: sum(counts[code] for code in np.flatnonzero(letters == UNPARSED)), "null": null}
    return values[answer], {reason: int(number) for reason, number in left_out.items()}


def counts(column: pd.Series) -> FloatArray:
    """How many judgments each record stands for: whole numbers from one up, shape (T,)."""
    values = numbers_in(column)
    bad = ~((values >= 1) & (values <= LARGEST_COUNT) & (values == np.round(values)))
    if bad.any():
        row = int(bad.argmax())
        raise DataError(
            f"record {row + 1} has {column.iloc[row]!r} as {column.name!r}, not a whole number of judgments from "
            f"1 to {LARGEST_COUNT:.0e}"
        )
    return values


def codes(frame: pd.DataFrame, columns: list[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Codes into sorted labels, columns one after the other."""
    code, labels = _factorized(frame, columns)
    odd = [number for number, label in enumerate(labels) if not isinstance(label, str) or not label]
    for number in (-1, *odd):
        matches = code == number
        if matches.any():
            column, position = divmod(int(matches.argmax()), len(frame))
            if number < 0:
                raise DataError(
                    f"record {position + 1} has no {columns[column]!r}: fill in the name or delete the record"
                )
            cure = ": fill it in or delete the record" if labels[number] == "" else ""
            raise DataError(
                f"record {position + 1} has {labels[number]!r} as {columns[column]!r}, not a name{cure}"
            )
    order = np.argsort(labels)
    rank = np.empty(len(labels), np.int32)
    rank[order] = np.arange(len(labels), dtype=np.int32)
    return rank[code], tuple(labels[order])


def finite(column: pd.Series, used: BoolArray) -> FloatArray:
    """The numbers of the records that are used, which must be finite."""
    values = numbers_in(column)
    bad = used & ~np.isfinite(values)
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"record {row + 1} has {column.iloc[row]!r} as {column.name!r}, not a finite number")
    return values[used]


def numbers_in(column: pd.Series) -> FloatArray:
    """A column as numbers, shape (T,); NaN for what is none, infinite for what is too large to be one."""
    try:
        return pd.to_numeric(column, errors="coerce").to_numpy(float)
    except OverflowError:  # of whole numbers as long as JSON allows
        return numbers_in(
            column.map(lambda value: np.inf if isinstance(value, int) and abs(value) > LARGEST else value)
        )


def refuse_itself(models: tuple[str, ...], first: IntArray, second: IntArray) -> None:
    """Refuse a comparison of a model with itself."""
    itself = first == second
    if itself.any():
        row = int(itself.argmax())
        raise DataError(f"record {row + 1} compares {models[first[row]]!r} with itself")


def of_itself(models: tuple[str, ...], first: IntArray, second: IntArray) -> BoolArray:
    """Which records compare a model with itself, shape (T,): they say nothing, and are left out.

    Raises
    ------
    DataError
        If all do.
    """
    itself = np.asarray(first == second)
    if itself.all():
        refuse_itself(models, first, second)
    return itself


def require_heard(judges: Sized) -> None:
    """Refuse records of which no judge has an answer that could be read."""
    if not len(judges):
        raise DataError("no judge has a usable record: none of the answers could be read")


def question_name(question: object) -> str:
    """A question's id as one string (in-house ones are lists of mixed types)."""
    return "/".join(map(str, question)) if isinstance(question, list) else str(question)


def question_keys(ids: Iterable[object]) -> UIntArray:
    """A hash of every question's id, all different, the same wherever the id stands, shape (Q,)."""
    names = [label if type(label) is str else question_name(label) for label in ids]
    return np.asarray(pd.util.hash_array(np.array(names, object), categorize=False))


def numbered_questions(questions: pd.Series) -> tuple[IntArray, list[str]]:
    """Number of the question of every record, shape (T,), and the names by number, in alphabetical order."""
    if questions.dtype == object:  # in which 1 and 1.0 are equal and have two names
        questions = pd.Series([question_name(label) for label in questions])
    number, different = pd.factorize(questions, use_na_sentinel=False)
    named = [question_name(label) for label in different.tolist()]
    names = sorted({*named})
    index = {name: n for n, name in enumerate(names)}
    return np.array([index[name] for name in named], np.intp)[number], names


def standardised_log(lengths: FloatArray) -> FloatArray:
    """z = (l - mean l) / sd l of l = log(1 + length), shape (T,) (appendix F.6.1).

    Raises
    ------
    DataError
        If a length is negative, or all are equal.
    """
    if lengths.min() < 0:
        raise DataError("lengths cannot be negative")
    log_length = log1p(lengths)
    if np.ptp(log_length) == 0:
        raise DataError("all lengths are equal")
    return (log_length - log_length.mean()) / log_length.std()


def _factorized(frame: pd.DataFrame, columns: list[str]) -> tuple[IntArray, NDArray[np.object_]]:
    """Code of every value, columns one after the other, and the values by code; -1 for none."""
    factorized = []
    for name in columns:
        try:
            code, labels = pd.factorize(frame[name])
        except TypeError:  # a list or another value that cannot be hashed
            row, value = next(
                (n, value_in_row)
                for n, value_in_row in enumerate(frame[name])
                if isinstance(value_in_row, list | dict | set)
            )
            raise DataError(f"record {row + 1} has {value!r} as {name!r}, not a name") from None
        factorized.append((code, np.asarray(labels, object)))
    if len(factorized) == 1:
        return factorized[0]
    code_of, different = pd.factorize(np.concatenate([labels for _, labels in factorized]))
    codes_by_column = np.split(code_of, np.cumsum([len(labels) for _, labels in factorized])[:-1])
    columns_in_turn = [
        np.append(labels, -1)[code] for (code, _), labels in zip(factorized, codes_by_column, strict=True)
    ]
    return np.concatenate(columns_in_turn), different


def joined(current: Rows, read: Parsed) -> dict[str, Any]:
    """Labels of two sets of rows, and their columns one set after the other, by name."""
    models, own_models, new_models = _union(current.models, read.models)
    judges, own_judges, new_judges = _union(current.judges, read.judges)
    return {
        "models": models,
        "judges": judges,
        "first": np.r_[own_models[current.first], new_models[read.first]],
        "second": np.r_[own_models[current.second], new_models[read.second]],
        "judge": np.r_[own_judges[current.judge], new_judges[read.judge]],
        "outcome": np.r_[current.outcome, read.outcome],
        "count": np.r_[current.count, np.ones(len(read.first)) if read.count is None else read.count],
    }


def _union(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[tuple[str, ...], IntArray, IntArray]:
    """Labels of two sets in alphabetical order, if there is a new one, and the places of the old and the new."""
    labels = old if {*new} <= {*old} else tuple(sorted({*old, *new}))
    index = {label: number for number, label in enumerate(labels)}
    old_places, new_places = (np.array([index[label] for label in some], np.int32) for some in (old, new))
    return labels, old_places, new_places


# How strong answers are, as shares of rows by strength.

STRENGTH = "strength"  # column of records
MOST_STRENGTHS = 9  # of a win: more are no grades, but scores


def strength_by_side(degree: FloatArray, first: BoolArray, second: BoolArray) -> FloatArray:
    """Which strength beyond better each record finds the first model, and the second.

    Parameters
    ----------
    degree : float array, shape (T,)
        1 for better, 2 for much better, and so on.
    first, second : bool array, shape (T,)
        Which records that model won.

    Returns
    -------
    float array, shape (T, 2 S)
        For the first and for the second model by strength, the weakest first, at least *much better* (S = 1).
    """
    most = max(2, int(degree[first | second].max(initial=2.0)))
    sides = [(degree == size) & side for size in range(2, most + 1) for side in (first, second)]
    return np.stack(sides, axis=1).astype(float)


def with_further(strong: FloatArray, frame: pd.DataFrame) -> FloatArray:
    """Shares by strength of rows and of further records with an answer, one after the other.

    Raises
    ------
    DataError
        If a column `STRENGTH` of the records does not say a win's strength in whole numbers.
    """
    if STRENGTH not in frame:
        raise DataError(
            "these comparisons say how strong each answer is, and the further ones have no column strength: add it"
            " (1 better, 2 much better), or leave strength out of these (dataclasses.replace(rows, strong=None))"
        )
    answer = frame["judge_preferred_model"].map(OUTCOMES).to_numpy(float)
    read = ~np.isnan(answer)
    degree = pd.to_numeric(frame[STRENGTH], errors="coerce").to_numpy(float)
    is_valid = (degree >= 1) & (degree <= MOST_STRENGTHS) & (degree == np.round(degree))
    unknown = read & (answer != OUTCOMES["c"]) & ~is_valid
    if unknown.any():
        row = int(unknown.argmax())
        raise DataError(
            f"record {row + 1} has {frame[STRENGTH].iloc[row]} as its strength; expected a whole number from 1 to "
            f"{MOST_STRENGTHS}"
        )
    extra = strength_by_side(degree[read], answer[read] == OUTCOMES["a"], answer[read] == OUTCOMES["b"])
    width = max(strong.shape[1], extra.shape[1])
    return np.vstack(
        [np.pad(block_rows, ((0, 0), (0, width - block_rows.shape[1]))) for block_rows in (strong, extra)]
    )
