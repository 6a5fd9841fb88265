"""Large files as judgments: every name a code, so that no text of a record is held."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, DataUnavailableError
from judgerank.data.frames import UNPARSED, question_name
from judgerank.reading.contents import split
from judgerank.reading.decompress import require_cells_within
from judgerank.reading.file_formats import COMPRESSED, form_of
from judgerank.reading.hub import is_hub
from judgerank.reading.large.numbered import (
    FAULT,
    LETTERS,
    NULL,
    SAME,
    UNKNOWN,
    Columns,
    RecordError,
    Rows,
    refuse,
    rows_of,
)
from judgerank.reading.large.sources import FORMS, MEMORY, Batch, Engine, literal, session, table
from judgerank.reading.layouts.answer_versions import are_keyed
from judgerank.reading.layouts.guards import NOT_COUNTING
from judgerank.reading.layouts.names import NUMBERS, on_copies, on_ids
from judgerank.reading.layouts.strength import tell_badness
from judgerank.reading.layouts.table import SIDES, TURN, other_side
from judgerank.reading.layouts.tables import FEWEST, on_reading, on_unheard
from judgerank.reading.layouts.texts import is_whole, plain
from judgerank.reading.layouts.unordered import ORDERS, SWAPS
from judgerank.reading.layouts.words import everyday, readings_of, word

LARGE = 20_000  # records from which an engine reads a file
BYTES, PACKED = 150, 15  # of a record in a file of JSON, about, and in a packed file of any form
SAMPLE = 1 << 16  # bytes at the beginning of a file whose lines are counted
KEYS = {"model_a", "model_b", "winner", "judge", "question", "count"}
ANSWERED = ("a", "b", "c", UNPARSED)
NO_QUESTION = -1


@dataclass(frozen=True)
class Records:
    """Records of files.

    Attributes
    ----------
    layout : str
    frame : DataFrame
        The records in the published columns, all texts as categories.
    comparisons : Comparisons
    remarks : tuple of str
        What to know of how they were read.
    """

    layout: str
    frame: pd.DataFrame
    comparisons: Comparisons
    remarks: tuple[str, ...]


def are_large(paths: Sequence[Path], form: str | None) -> bool:
    """Whether there is an engine, and files that it may read have some 20,000 records or more in all."""
    kinds = {None if is_hub(path) or split(path)[1] else form_of(path, form) for path in paths}
    all_exist = all(os.path.isfile(path) for path in paths)  # noqa: PTH113  # which never fails
    if len(kinds) > 1 or not kinds <= {*FORMS} or not all_exist:
        return False
    if sum(path.stat().st_size for path in paths) < LARGE:  # a record has a byte at least
        return False
    installed = all(find_spec(name) is not None for name in ("duckdb", "pyarrow"))
    return installed and sum(map(_records_in, paths)) >= LARGE


def _records_in(path: Path) -> float:
    """How many records a file has: of Parquet counted, of others about."""
    suffix, size = path.suffix.lower(), path.stat().st_size
    if suffix in COMPRESSED or suffix == ".json":
        return size / (PACKED if suffix in COMPRESSED else BYTES)
    if suffix != ".parquet":
        with path.open("rb") as file:
            start = file.read(SAMPLE)
        return size * start.count(b"\n") / len(start)
    from pyarrow import ArrowException, parquet  # loads slowly

    try:
        table = parquet.read_metadata(path)
    except (ArrowException, OSError):
        return 0.0
    try:
        require_cells_within(table.num_rows, table.num_columns, size)
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None
    return float(table.num_rows)


def records_of(
    paths: Sequence[Path],
    form: str | None,
    columns: Columns | None,
    winner_values: Mapping[str, str] | None,
    copies: str,
) -> Records | None:
    """The records of files in the paper's columns, the arena's, or those that are named.

    None where an engine would not read all that `judgerank.reading.read` does, or would not say what is wrong.

    Raises
    ------
    RecordError
        Naming the file and the record, counted from 1, that is no comparison.
    ConfigError
        If the memory does not suffice.
    """
    try:
        with session(MEMORY) as db:
            rows = rows_of(db, paths, form, columns, winner_values, optional=["question"])
            if not _is_plain(rows):
                return None
            ids = _numbered_questions(db, rows)
            db.rows("SET threads = 1")  # several would join names in any order of the records
            batch = db.fetched(_query(rows))
            if batch["question"].min() == NO_QUESTION and "question" in rows.used:
                return None
            if batch["answer"].min() == FAULT:
                refuse(db, rows)
            if batch["answer"].min() == SAME:
                return None
            times = Counter(dict(_answer_counts(db, rows)))
        read = _comparisons(rows, batch)
        if read is None:
            return None
        remarks = on_unheard(_unheard(rows, batch, read.judges))
        remarks += [*_on_reading(rows, times), *_on_copies(rows, batch, copies)]
    except RecordError:
        raise
    except (DataError, DataUnavailableError):
        return None
    frame = _frame(rows, batch, ids)
    return Records(rows.layout.name, frame, read, (*remarks, *on_ids(ids)))


def _is_plain(rows: Rows) -> bool:
    """Whether nothing else in the files is read, or looked at, by who reads them without an engine."""
    names = {name for source in rows.sources for name in source.columns}
    used_keys = {*rows.layout.used(rows.sample)}
    unused = {plain(name) for name in names - {*rows.used.values()}}
    sides = {name for name in names if name[-2:] in SIDES and other_side(name) in names}
    sides -= {*rows.used.values()}
    texts = {name for name in sides if _holds_texts(rows.sample.frame, name)}
    labels = (*rows.names.models, *rows.names.judges)
    if are_keyed(rows.sample, rows.used.get("question", "")):
        return False
    if (
        used_keys - KEYS
        or unused & (SWAPS | ORDERS | {TURN} | NOT_COUNTING.keys())
        or sides - texts
        or tell_badness(rows.names.spoken)
    ):
        return False
    return is_whole("".join(labels))


def _holds_texts(frame: pd.DataFrame, name: str) -> bool:
    """Whether the first value of a column that is there is a text, and none of a number."""
    first = next(iter(frame[name].dropna()), None) if name in frame else None
    try:
        return isinstance(first, str) and not np.isfinite(float(first))
    except ValueError:
        return True


def _numbered_questions(db: Engine, rows: Rows) -> list[str]:
    """Ids of the questions, sorted; their texts and numbers become the table ``questions`` of the engine.

    Raises
    ------
    DataError
        If ids are neither texts nor whole numbers, or two would become the same.
    """
    if "question" not in rows.used:
        db.rows("CREATE TEMP TABLE questions AS SELECT '' AS text, 0 AS code WHERE false")
        return []
    source, name = rows.sources[0], rows.used["question"]
    kinds = db.rows(f"SELECT typeof({source.expression(name)}) FROM {table(rows.sources, [name])} LIMIT 1")
    if not all(kind in ("VARCHAR", "JSON", "INTEGER") or kind.endswith("INT") for (kind,) in kinds):
        raise DataError("ids of questions are neither texts nor whole numbers")
    none = ("", '""', "null") if source.of_json else ("",)
    db.rows(
        "CREATE TEMP TABLE questions AS SELECT text, (row_number() OVER (ORDER BY text) - 1)::INTEGER AS code "
        f"FROM (SELECT DISTINCT question AS text FROM ({rows.texts(rows.sources)})) "
        f"WHERE coalesce(text, '') NOT IN ({', '.join(map(literal, none))})"
    )
    texts: list[str] = db.fetched("SELECT text FROM questions ORDER BY code")["text"].tolist()
    if not source.of_json:
        return texts
    ids = [question_name(json.loads(text)) for text in texts]
    if len({*ids}) < len(ids) or not is_whole("".join(ids)):
        raise DataError("ids of questions become the same, or cannot be written")
    order = sorted(range(len(ids)), key=ids.__getitem__)
    db.rows(
        "CREATE OR REPLACE TEMP TABLE questions AS SELECT unnest(?::VARCHAR[]) AS text, "
        "unnest(?::INTEGER[]) AS code",
        [[texts[index] for index in order], list(range(len(order)))],
    )
    return [ids[index] for index in order]


def _query(rows: Rows) -> str:
    """A query for ``first, second, judge, answer, question`` of every record in numbers, and ``times``."""
    judge = "j.code" if "judge" in rows.used else "0"
    question = "r.question" if "question" in rows.used else "NULL::VARCHAR"
    also = f", a.code AS first, b.code AS second, {judge} AS judge, {question} AS asked"
    columns = (
        f"coalesce(first, {FAULT})::INTEGER AS first, coalesce(second, {FAULT})::INTEGER AS second, "
        f"coalesce(judge, {FAULT})::INTEGER AS judge, coalesce(code, {NO_QUESTION})::INTEGER AS question, "
        f"(CASE WHEN cell IN ({FAULT}, {SAME}) THEN cell ELSE answer END)::TINYINT AS answer"
    )
    columns += ", times" if rows.counted else ""
    every = rows.query(also=also, require_question=False)
    return f"SELECT {columns} FROM ({every}) LEFT JOIN questions ON asked = questions.text"


def _comparisons(rows: Rows, batch: Batch) -> Comparisons | None:
    """The comparisons; None where there are none, or the winner always stands in one column."""
    names, answer = rows.names, batch["answer"]
    read = answer >= 0
    every = bool(read.all())
    part = {key: batch[key] if every else batch[key][read] for key in ("first", "second", "judge", "answer")}
    won = [int((part["answer"] == LETTERS[letter]).sum()) for letter in "abc"]
    if not sum(won) or (sum(won) >= FEWEST and won[2] == 0 and 0 in won[:2]):
        return None
    times = batch["times"] if rows.counted else np.broadcast_to(1.0, len(answer))
    reasons = {UNPARSED: UNKNOWN, "null": NULL}
    dropped = {reason: 0 if every else int(times[answer == code].sum()) for reason, code in reasons.items()}
    outcome = part["answer"] / 2.0
    counted: dict[str, Any] = {}
    if rows.counted:
        counted = {"count": times[read], "tied": (outcome == 0.5).astype(float)}
    ends = part["first"], part["second"], part["judge"]
    return Comparisons(names.models, names.judges, *ends, outcome, **counted, dropped=dropped).heard()


def _unheard(rows: Rows, batch: Batch, judges: Collection[str]) -> dict[str, int]:
    """How many answers each judge has who is not among the judges with comparisons."""
    counts = np.bincount(batch["judge"], batch["times"] if rows.counted else None, len(rows.names.judges))
    by_judge = zip(rows.names.judges, counts.tolist(), strict=True)
    return {judge: int(times) for judge, times in by_judge if judge not in judges}


def _answer_counts(db: Engine, rows: Rows) -> Iterator[tuple[str, int]]:
    """Answers as words, and how many records have each."""
    query = f"SELECT winner, count(*) FROM ({rows.texts(rows.sources)}) WHERE winner IS NOT NULL GROUP BY winner"
    for text, count in db.rows(query):
        answer = word(json.loads(text)) if rows.sources[0].of_json else text
        if answer is not None:
            yield answer, count


def _on_reading(rows: Rows, times: Counter[str]) -> Iterator[str]:
    """How columns and winners were read, as `judgerank.reading.from_tables` says it."""
    winner = next(iter(rows.layout.used(rows.sample)["winner"]))
    frame = rows.sample.frame.iloc[[0] * len(times)].assign(**{winner: list(times)})
    yield from on_reading([(rows.layout, replace(rows.sample, frame=frame))])
    words = {
        text: meaning for text, meaning in everyday(times, rows.names.models).items() if text not in rows.words
    }
    yield from filter(None, [readings_of(times, words)])


def _on_copies(rows: Rows, batch: Batch, copies: str) -> list[str]:
    """Notes on records that are copies of others.

    Raises
    ------
    DataError
        If most are; if some are to be left out, or may differ in a column that is not read.
    """
    remarks, _ = on_copies(_keys(rows, batch), "question" in rows.used, copies)
    unused = {plain(name) for source in rows.sources for name in source.columns if name not in rows.used.values()}
    if remarks and (copies == "drop" or unused - NUMBERS):
        raise DataError("copies of records are equal in all of their columns")
    return remarks


def _keys(rows: Rows, batch: Batch) -> NDArray[np.uint64]:
    """A number for every record, the same for copies."""
    sizes = {"first": len(rows.names.models), "second": len(rows.names.models), "judge": len(rows.names.judges)}
    key = batch["question"].astype(np.int64)
    key += 1
    for name, size in sizes.items():
        key *= size
        key += batch[name]
    key *= len(LETTERS) + 2
    key += batch["answer"] - np.int8(NULL)
    keys = key.view(np.uint64)
    if rows.counted:
        keys = keys * np.uint64(1_099_511_628_211) + pd.util.hash_array(batch["times"])
    return keys


def _frame(rows: Rows, batch: Batch, ids: Sequence[str]) -> pd.DataFrame:
    """The records in the published columns."""
    models, judges = (pd.Index(names, dtype=object) for names in (rows.names.models, rows.names.judges))
    positions = {LETTERS["a"]: 0, LETTERS["b"]: 1, LETTERS["c"]: 2, UNKNOWN: 3, NULL: -1}
    letter = np.array([positions[code] for code in range(NULL, 3)], np.int8)[batch["answer"] - np.int8(NULL)]
    columns = {
        "model_a": _category(batch["first"], models),
        "model_b": _category(batch["second"], models),
        "judge_preferred_model": _category(letter, pd.Index(ANSWERED, dtype=object)),
    }
    last = {"judge_model": _category(batch["judge"], judges)}
    if "judge" in rows.used:
        columns |= last
    if "question" in rows.used:
        columns["question_id"] = _category(batch["question"], pd.Index(ids, dtype=object))
    columns |= last
    frame = pd.DataFrame(columns, copy=False)
    return frame.assign(count=batch["times"].astype(np.int64)) if rows.counted else frame


def _category(code: IntArray, labels: pd.Index) -> pd.Categorical:
    return pd.Categorical.from_codes(code, categories=labels)
