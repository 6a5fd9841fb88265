"""Judgments of one's own, from a file in one of the common forms."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from judgerank.comparisons import Comparisons
from judgerank.errors import DataError
from judgerank.forms import opened
from judgerank.frames import OUTCOMES, UNPARSED, codes, finite, question_name, standardised_log
from judgerank.judgments import Judgments

# column: the name of ours it becomes, and the names it is known by
COLUMNS = {
    "model_a": ("model_a", ("model_a",)),
    "model_b": ("model_b", ("model_b",)),
    "winner": ("judge_preferred_model", ("judge_preferred_model", "winner")),
    "judge": ("judge_model", ("judge_model", "judge")),
    "question": ("question_id", ("question_id", "question")),
    "length": ("length", ("length",)),
    "count": ("count", ()),
}
ASK = "ask"  # of the column of counts: refuse one that is there and not spoken of
COUNTS = ("n", "count", "counts", "num", "times", "weight", "weights", "n_votes", "votes", "frequency", "freq")
NEEDED = ("model_a", "model_b", "winner")
ANSWERS = {"a": "a", "b": "b", "c": "c", "model_a": "a", "model_b": "b", "tie": "c"}
ANSWERS |= {"tie (bothbad)": "c", "both_bad": "c", "unknown": "unknown"}  # the arena's words for two bad answers
ONE_JUDGE = "one judge"


def read_judgments(
    path: str | Path, form: str | None = None, columns: Mapping[str, str | None] | None = None
) -> Judgments:
    """Read judgments, one record each, in the paper's columns or in the arena's.

    Parameters
    ----------
    path : str or Path
    form : {"json", "jsonl", "csv", "parquet"}, optional
        By default what the file's name ends in.
    columns : mapping of str to str, optional
        Names of the file's columns where they are not the usual ones: ``model_a`` (shown first), ``model_b``,
        ``winner``, and, if there are any, ``judge``, ``question`` and ``length``. ``count`` names a column that
        says how many like judgments a record stands for; null counts every record once. Unless it is there (or
        ``"ask"``), a column that looks like one is refused, since either reading could be meant.

    Returns
    -------
    Judgments
        In the published columns. Without a column of judges all records are by one. A length becomes the
        comparisons' covariate, its logarithm standardised as in the paper's appendix F.6.1.

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    DataError
        Naming the record or line (counted from 1), the column or the judge at fault.
    ConfigError
        If the form is not known, or the file's name does not tell it.
    """
    path = Path(path)
    content, read = opened(path, form)
    source = {"file": path.name, "sha256": hashlib.sha256(content).hexdigest()}
    try:
        return judgments_of(read(content), columns, path.stem, source)
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None


def judgments_of(
    table: pd.DataFrame,
    columns: Mapping[str, str | None] | None = None,
    name: str = "judgments",
    source: Mapping[str, object] | None = None,
) -> Judgments:
    """Judgments in a table, in the columns of `read_judgments`, which says what is raised."""
    if table.empty:
        raise DataError("there are no comparisons: the set is empty")
    frame = _in_our_columns(table, columns or {})
    comparisons = Comparisons.from_frame(frame, count="count" if "count" in frame else None)
    if "length" in frame:
        comparisons = replace(comparisons, covariate=_covariate(frame))
    told = {**(source or {}), "records": len(frame), "dropped": dict(comparisons.dropped)}
    return Judgments(name, name, frame, comparisons, told)


def _in_our_columns(table: pd.DataFrame, named: Mapping[str, str | None]) -> pd.DataFrame:
    """The columns that are used, under the published names; missing values as None."""
    found = ", ".join(" ".join(str(name).split()) for name in table.columns)  # on one line
    named = {key: name for key, name in named.items() if (key, name) != ("count", ASK)}
    columns = {}
    for key, (ours, known) in COLUMNS.items():
        wanted = [named[key]] if named.get(key) else known
        name = next((name for name in wanted if name in table.columns), None)
        if name is None and (named.get(key) or key in NEEDED):
            missing = " or ".join(map(repr, wanted))
            raise DataError(f"the table has no column {missing} (it has: {found}; column {key}=NAME names it)")
        if name is not None:
            columns[ours] = _values(table, name)
    if "count" not in named:
        _refuse_unspoken_counts(table, set(columns))
    frame = pd.DataFrame(columns).reset_index(drop=True)
    said = frame["judge_preferred_model"]
    frame["judge_preferred_model"] = _answers(said)
    _refuse_names_for_words(frame, said)
    if not named.get("winner"):
        _refuse_contradictions(table, frame["judge_preferred_model"])
    if "judge_model" not in frame:
        frame["judge_model"] = ONE_JUDGE
    if "question_id" in frame:
        frame["question_id"] = _questions(frame["question_id"])
        codes(frame, ["question_id"])  # refuses a record without one
    return frame


def _values(table: pd.DataFrame, name: str) -> pd.Series:
    values = table[name]
    if isinstance(values, pd.DataFrame):
        raise DataError(f"the table has {values.shape[1]} columns {name!r}")
    values = values.astype(object)
    return values.where(values.notna(), None).reset_index(drop=True)


def _refuse_unspoken_counts(table: pd.DataFrame, used: set[str]) -> None:
    """Refuse a column by whose name records may count more than once, unless all its values are one."""
    for name in table.columns:
        if not (isinstance(name, str) and name.lower() in COUNTS) or name in used:
            continue
        numbers = pd.to_numeric(_values(table, name), errors="coerce")
        if numbers.notna().any() and not (numbers == 1).all():
            raise DataError(
                f"column {name!r} looks like one of counts (column count={name} counts records so often; "
                "column count=null counts each once)"
            )


def _answers(column: pd.Series) -> list[str | None]:
    for number, value in enumerate(column, 1):
        if value is not None and not (isinstance(value, str) and value in ANSWERS):
            raise DataError(
                f"record {number} has the unknown winner {value!r} (known: {', '.join(ANSWERS)} or null)"
            )
    return [None if value is None else ANSWERS[value] for value in column]


def _refuse_names_for_words(frame: pd.DataFrame, said: pd.Series) -> None:
    """Refuse an answer that is the name of one of the two models and the word for another answer."""
    for slot, letter, place in (("model_a", "a", "first"), ("model_b", "b", "second")):
        odd = (frame[slot] == said) & (frame["judge_preferred_model"] != letter)
        if odd.any():
            row = int(odd.to_numpy().argmax())
            raise DataError(
                f"record {row + 1} has the winner {said.iloc[row]!r}, the name of the model shown {place} and "
                "the word for another answer: rename the models"
            )


def _refuse_contradictions(table: pd.DataFrame, answers: pd.Series) -> None:
    """Refuse a table with two columns of winners that are not the same throughout."""
    there = [name for name in COLUMNS["winner"][1] if name in table.columns]
    for name in there[1:]:
        other = pd.Series([ANSWERS.get(value) if isinstance(value, str) else None for value in table[name]])
        both = answers.where(answers.notna(), UNPARSED), other.where(other.notna(), UNPARSED)
        odd = (both[0] != both[1]).to_numpy()
        if odd.any():
            raise DataError(
                f"record {int(odd.argmax()) + 1} has one winner as {there[0]!r} and another as {name!r} "
                "(column winner=NAME chooses one)"
            )


def _questions(column: pd.Series) -> list[str | None]:
    """Every question's id as one string; refuses different ids that would become the same."""
    meant: dict[str, object] = {}
    names = []
    for number, value in enumerate(column, 1):
        value = value.tolist() if isinstance(value, np.ndarray) else value  # Parquet's lists
        name = None if value is None else question_name(value)
        if name is not None:
            other = meant.setdefault(name, value)
            if type(other) is not type(value) or other != value:
                raise DataError(f"record {number} has the question {value!r}, and another record {other!r}")
        names.append(name)
    return names


def _covariate(frame: pd.DataFrame) -> np.ndarray:
    length = finite(frame["length"], frame["judge_preferred_model"].isin(list(OUTCOMES)).to_numpy())
    return standardised_log(length)
