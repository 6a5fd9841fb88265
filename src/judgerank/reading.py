"""Judgments of one's own, from a file in one of the common forms."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from judgerank.comparisons import Comparisons
from judgerank.errors import ConfigError, DataError, DataUnavailableError
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
    path: Path, form: str | None = None, columns: Mapping[str, str | None] | None = None
) -> Judgments:
    """Read judgments, one record each, in the paper's columns or in the arena's.

    Parameters
    ----------
    path : Path
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
    content, read = _opened(path, form)
    try:
        table = read(content)
        if table.empty:
            raise DataError("there are no comparisons: the set is empty")
        frame = _in_our_columns(table, columns or {})
        comparisons = Comparisons.from_frame(frame, count="count" if "count" in frame else None)
        if "length" in frame:
            comparisons = replace(comparisons, covariate=_covariate(frame))
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None
    digest = hashlib.sha256(content).hexdigest()
    source = {"file": path.name, "sha256": digest, "records": len(frame), "dropped": dict(comparisons.dropped)}
    return Judgments(path.stem, path.stem, frame, comparisons, source)


def read_table(path: Path, form: str | None = None) -> pd.DataFrame:
    """The records of a file as they are, in any of the forms of `read_judgments`.

    Raises
    ------
    DataUnavailableError, DataError, ConfigError
        As there.
    """
    content, read = _opened(path, form)
    return read(content)


def _opened(path: Path, form: str | None) -> tuple[bytes, Callable[[bytes], pd.DataFrame]]:
    try:
        content = path.read_bytes() if path.is_file() else None
    except (OSError, ValueError) as error:  # no right to read it, or no name a file could have
        raise DataUnavailableError(f"{str(path)!r} cannot be read: {_reason(error)}") from None
    if content is None:
        raise DataUnavailableError(f"there is no file {str(path)!r}")
    form = form or path.suffix.lstrip(".").lower()
    if form not in READERS:
        raise ConfigError(f"{path.name}: {form!r} is not a form that can be read (format {'|'.join(READERS)})")
    return content, READERS[form]


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"this is not UTF-8 text (byte {error.start + 1})") from None


def _loads(text: str) -> object:
    """JSON in which no object has a key twice: the standard reader keeps the last one, and says nothing."""
    return json.loads(text, object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise DataError(f"an object has the key {max(keys, key=keys.count)!r} twice")
    return record


def _json(content: bytes) -> pd.DataFrame:
    try:
        records = _loads(_text(content))
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"this is not JSON: {error} (format jsonl reads one record a line)") from None
    if not isinstance(records, list):
        raise DataError("this is not a JSON list of records")
    return _objects(dict(enumerate(records, 1)), "record")


def _json_lines(content: bytes) -> pd.DataFrame:
    records = {}
    for number, line in enumerate(_text(content).split("\n"), 1):
        if not line.strip():
            continue
        try:
            records[number] = _loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DataError(f"line {number} is not JSON: {error}") from None
    return _objects(records, "line")


def _objects(records: Mapping[int, object], unit: str) -> pd.DataFrame:
    odd = next((number for number, record in records.items() if not isinstance(record, dict)), None)
    if odd is not None:
        raise DataError(f"{unit} {odd} is not a JSON object")
    return pd.DataFrame(list(records.values()), dtype=object)


def _csv(content: bytes) -> pd.DataFrame:
    # the standard reader, since pandas fills up rows that are cut short
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))  # whole conversations may stand beside
    rows = csv.reader(io.StringIO(_text(content), newline=""), strict=True)
    try:
        header = next(rows, [])
        records = []
        for row in rows:
            if row and len(row) != len(header):
                raise DataError(f"line {rows.line_num} has {len(row)} fields, and the header {len(header)}")
            if row:
                records.append([field or None for field in row])
    except csv.Error as error:
        raise DataError(f"line {rows.line_num} is not CSV: {error}") from None
    return pd.DataFrame(records, columns=header, dtype=object)


def _parquet(content: bytes) -> pd.DataFrame:
    try:
        return pd.read_parquet(io.BytesIO(content))
    except (OSError, ValueError) as error:
        raise DataError(f"this is not Parquet: {error}") from None


READERS = {"json": _json, "jsonl": _json_lines, "ndjson": _json_lines, "csv": _csv, "parquet": _parquet}


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
