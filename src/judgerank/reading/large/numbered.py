"""Records of files as numbers, within an engine: a cell and an answer for each, or what is wrong with it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.frames import ITSELF, LARGEST_COUNT, STRENGTH, UNPARSED
from judgerank.reading.files import Files, named
from judgerank.reading.from_tables import judgments_from
from judgerank.reading.large.sources import Engine, Source, sources_of, table, unexpected
from judgerank.reading.layouts import Layout, Table, recognised
from judgerank.reading.layouts.names import alike
from judgerank.reading.layouts.strength import tell_strength
from judgerank.reading.layouts.table import ASK, COUNTS, MISSING, ONE_JUDGE, as_name
from judgerank.reading.layouts.tables import ARENA, NAMED, PAPER, WINNERS
from judgerank.reading.layouts.texts import plain, visible
from judgerank.reading.layouts.words import (
    ANSWERS,
    everyday,
    meanings,
    numbers,
    others_unknown,
    with_custom,
    word,
    words_by_column,
)

# Names and answers in files as codes that an engine joins to every record.
MOST_NAMES = 1_000_000  # different values in a column of names or answers: more are no names
LETTERS = {"a": 2, "c": 1, "b": 0}  # twice what the model shown first won
UNKNOWN, NULL, SAME = -1, -2, -3  # answers that could not be parsed, are missing, or of a model with itself
DROPPED = {UNKNOWN: UNPARSED, NULL: "null", SAME: ITSELF}
Values = Mapping[str, object]  # what texts in a file stand for


@dataclass(frozen=True)
class Names:
    """Labels, sorted, and the different answers; their codes are in the engine.

    There, ``models`` and ``judges`` have the columns ``text, code``, and ``words`` has ``text, letter, model``:
    what an answer means, and the model whose name it is.
    """

    models: tuple[str, ...]
    judges: tuple[str, ...]
    spoken: tuple[str, ...]


def coded(db: Engine, sources: Sequence[Source], used: Mapping[str, str], words: Mapping[str, str]) -> Names:
    """Look at all records once, and write down what is in them.

    Parameters
    ----------
    used : mapping of str to str
        Names of columns, by their keys in `judgerank.reading.layouts.table.COLUMNS`.
    words : mapping of str to str
        Letters of words for the winner, beside those that are known.

    Raises
    ------
    DataError
        If there are no records, or a column has so many different values that they cannot be names.
    """
    values = _values(db, sources, used)
    if not any(values.values()):
        raise DataError("there are no comparisons: the set is empty")
    of_models = {**values["model_a"], **values["model_b"]}
    models = _written(db, "models", of_models)
    judges = _written(db, "judges", values["judge"]) if "judge" in used else (ONE_JUDGE,)
    spoken = {text: _visible(word(value)) for text, value in values["winner"].items()}
    by_column = words_by_column(used["winner"], spoken.values(), sources[0].columns)
    words = with_custom({**everyday(spoken.values(), models), **ANSWERS, **by_column}, words)
    letters = {**numbers(set(spoken.values()), words), **words}
    letters = {**others_unknown(spoken.values(), letters, models), **letters}
    model_codes = {name: code for code, name in enumerate(models)}
    _insert(
        db,
        "words",
        {"text": list(spoken)},
        letter=[
            NULL if answer is None or not answer.strip() else _number(letters.get(answer))
            for answer in spoken.values()
        ],
        model=[None if answer is None else model_codes.get(answer) for answer in spoken.values()],
    )
    return Names(models, judges, tuple(answer for answer in spoken.values() if answer is not None))


def _visible(text: str | None) -> str | None:
    return None if text is None else visible(text)


def _number(letter: str | None) -> int | None:
    """Code of a letter in the engine; None is no answer."""
    return None if letter is None else LETTERS.get(letter, UNKNOWN)


def _values(db: Engine, sources: Sequence[Source], used: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """The different values of the columns of names and answers, by their texts; of a missing one there is none."""
    keys = [key for key in ("model_a", "model_b", "judge", "winner") if key in used]
    plain = ", ".join(f"{sources[0].expression(used[key])} AS {key}" for key in keys)
    both = ", ".join(f"{key}, CAST({key} AS VARCHAR)" for key in keys)
    groupings = ", ".join(f"({key})" for key in keys)
    of = f"(SELECT {plain} FROM {table(sources, [used[key] for key in keys])})"
    most = len(keys) * MOST_NAMES
    rows = db.rows(f"SELECT {both} FROM {of} GROUP BY GROUPING SETS ({groupings}) LIMIT {most + 1}")
    if len(rows) > most:
        raise DataError(f"there are more than {MOST_NAMES:,} different names and answers: are these the columns?")
    values = {}
    for position, key in enumerate(keys):
        pairs = ((row[2 * position + 1], row[2 * position]) for row in rows)
        values[key] = {text: value_of(value, sources[0]) for text, value in pairs if text is not None}
    return values


def value_of(value: object, source: Source) -> object:
    """A value from the engine, as `judgerank.reading.file_formats` would; None for a missing one."""
    parsed = json.loads(value) if source.of_json and isinstance(value, str) else value
    return None if isinstance(parsed, float) and math.isnan(parsed) else parsed


def _written(db: Engine, name: str, values: Values) -> tuple[str, ...]:
    """Labels, sorted, their codes written down; what is no name has none.

    Raises
    ------
    DataError
        If names look alike: an engine keeps names apart, and has nobody to tell.
    """
    values = {text: as_name(value) for text, value in values.items()}
    names = {value for value in values.values() if isinstance(value, str) and visible(value)}
    if gap := MISSING & names:
        raise DataError(f"the {name} have one called {min(gap)!r}, which is how programs write a missing name")
    if same := alike(names):
        listed = " and ".join(f"{variant!a}" for variant in sorted(same))
        raise DataError(
            f"the {name} {listed} look alike or differ in case alone: use judgerank.read, or rename them"
        )
    labels = sorted(map(visible, names))
    code = {label: number for number, label in enumerate(labels)}
    codes = [code.get(visible(value)) if isinstance(value, str) else None for value in values.values()]
    _insert(db, name, {"text": list(values)}, code=codes)
    return tuple(labels)


def _insert(db: Engine, name: str, texts: Mapping[str, list[str]], **numbers: list[int | None]) -> None:
    columns = [f"unnest(?::VARCHAR[]) AS {key}" for key in texts] + [
        f"unnest(?::BIGINT[]) AS {key}" for key in numbers
    ]
    db.rows(f"CREATE TEMP TABLE {name} AS SELECT {', '.join(columns)}", [*texts.values(), *numbers.values()])


STRONG = "says how strong answers are, which no engine counts: use judgerank.read"
PLAIN = (PAPER, ARENA, NAMED)
FAULT = -9  # in place of a cell, as are the answers below zero
Columns = Mapping[str, str | None]


@dataclass(frozen=True)
class Rows:
    """Records as an engine sees them.

    Attributes
    ----------
    sources : list of Source
    used : mapping of str to str
        Names of columns, by their keys in `judgerank.reading.layouts.table.COLUMNS`.
    column_names, words : mapping
        Names of columns and meanings of answers that were named for these files.
    names : Names
    layout : Layout
        Of the first file.
    sample : Table
        Its first records.
    """

    sources: list[Source]
    used: Mapping[str, str]
    column_names: Columns
    words: Mapping[str, str]
    names: Names
    layout: Layout
    sample: Table

    @property
    def labels(self) -> list[str]:
        """Labels of the files in a sentence."""
        return [source.label for source in self.sources]

    @property
    def counted(self) -> bool:
        """Whether records stand for several judgments: each has one answer, so that ties are known."""
        return "count" in self.used

    def texts(self, sources: Sequence[Source]) -> str:
        """A query for the columns that are used, as texts, by their keys."""
        columns = (f"CAST({sources[0].expression(name)} AS VARCHAR) AS {key}" for key, name in self.used.items())
        return f"SELECT {', '.join(columns)} FROM {table(sources, list(self.used.values()))}"

    def query(self, texts: str | None = None, also: str = "", require_question: bool = True) -> str:
        """A query for ``cell, answer, times`` of every record.

        The cell is ``(first N + second) K + judge``, or `FAULT`, or an answer below zero; an answer is twice the
        outcome.

        Parameters
        ----------
        texts : str, optional
            Where the texts come from; of all files by default.
        also : str
            Further columns, of the texts ``r`` and the codes ``a``, ``b`` and ``j`` of the names.
        require_question : bool
            Whether a record without a question is at fault, where questions are read.
        """
        times, kind = "1.0::DOUBLE", "TRY_CAST(r.count AS DOUBLE)"
        wrong = ["a.code IS NULL", "b.code IS NULL"]
        joins = [f"LEFT JOIN models {alias} ON r.model_{alias} = {alias}.text" for alias in "ab"]
        judge = "0"
        if "judge" in self.used:
            judge = "j.code"
            wrong.append("j.code IS NULL")
            joins.append("LEFT JOIN judges j ON r.judge = j.text")
        if self.counted:
            times = kind
            wrong.append(
                f"NOT coalesce({kind} BETWEEN 1 AND {LARGEST_COUNT:.0f} AND {kind} = round({kind}), false)"
            )
        if require_question and "question" in self.used:
            wrong.append("coalesce(r.question, '') IN ('', '\"\"')")
        by_model_name = (
            "CASE w.model WHEN a.code THEN 2 WHEN b.code THEN 0 END"  # an answer that is a model's name
        )
        answer = f"CASE WHEN r.winner IS NULL THEN {NULL} ELSE coalesce({by_model_name}, w.letter) END"
        wrong += [f"{answer} IS NULL", f"coalesce({by_model_name} <> w.letter, false)"]
        cell_number = f"(a.code * {len(self.names.models)} + b.code) * {len(self.names.judges)} + {judge}"
        cell = (
            f"CASE WHEN {' OR '.join(wrong)} THEN {FAULT} WHEN {answer} < 0 THEN {answer} "
            f"WHEN a.code = b.code THEN {SAME} ELSE {cell_number} END"
        )
        return (
            f"SELECT {cell} AS cell, {answer} AS answer, {times} AS times{also} FROM "
            f"({texts or self.texts(self.sources)}) r {' '.join(joins)} LEFT JOIN words w ON r.winner = w.text"
        )


def rows_of(
    db: Engine,
    files: Files,
    form: str | None,
    columns: Columns | None,
    winner_values: Mapping[str, str] | None,
    required: Iterable[str] = (),
    optional: Iterable[str] = (),
) -> Rows:
    """Look at all files once, for the names in them.

    Parameters
    ----------
    required : iterable of str
        Keys of columns that are needed beside those of a comparison.
    optional : iterable of str
        Keys of columns that are read beside those if they are there.

    Raises
    ------
    ConfigError, DataError, DataUnavailableError
        As of `judgerank.read`; or if the files are in no plain layout.
    """
    column_names, words, keys = dict(columns or {}), meanings(winner_values), (tuple(required), tuple(optional))
    sources = sources_of(db, files, form)
    read = [
        _columns(Table(source.sample(db), column_names, words, None, source.label), source, *keys)
        for source in sources
    ]
    used, layout, sample = read[0]
    for entry, source in zip(read, sources, strict=True):
        if entry[0] != used:
            raise DataError(f"{sources[0].label} and {source.label} have different columns: use judgerank.read")
    with named(*(source.label for source in sources)):
        _refuse_what_comes_late(db, sources, used)
        if column_names.get("count", ASK) == ASK and "count" not in used:
            _refuse_counts(db, sources, used)
        names = coded(db, sources, used, words)
        if tell_strength(names.spoken):
            raise DataError(f"column {used['winner']!r} {STRONG}")
        return Rows(sources, used, column_names, words, names, layout, sample)


def _columns(
    sample: Table, source: Source, required: tuple[str, ...], optional: tuple[str, ...]
) -> tuple[dict[str, str], Layout, Table]:
    """The columns that are read of a file, by their keys; its layout, and its first records in that."""
    with named(source.label):
        layout, sample = recognised(sample)
        if layout not in PLAIN:
            raise DataError(f"the records are in {layout.name}, which are not for an engine: use judgerank.read")
        used = {key: names[0] for key, names in layout.used(sample).items()}
        if "swapped" in used:
            raise DataError("an engine does not turn records that were shown the other way: use judgerank.read")
        used = {key: sample.spelled.get(name, name) for key, name in used.items()}
        missing = next((key for key in required if key not in used), None)
        if missing is not None:
            raise DataError(f"the table has no column for the {missing} (--column {missing}=NAME names it)")
        if "length" in used:
            raise DataError(
                f"column {used['length']!r} becomes a covariate, which no engine makes: use judgerank.read"
            )
        if STRENGTH in used:
            raise DataError(f"column {used[STRENGTH]!r} {STRONG}")
        winners = [name for name in WINNERS if name in source.columns]
        if len(winners) > 1 and not sample.specified.get("winner"):
            raise DataError(f"there are winners in {' and in '.join(winners)} (--column winner=NAME chooses one)")
        twice = next((name for name in used.values() if source.columns.count(name) > 1), None)
        if twice is not None:
            raise DataError(
                f"the table has {source.columns.count(twice)} columns {twice!r}: give each a name of its own"
            )
    selected = {key: name for key, name in used.items() if key != "question" or key in (*required, *optional)}
    return selected, layout, sample


def _refuse_what_comes_late(db: Engine, sources: Sequence[Source], used: Mapping[str, str]) -> None:
    """Refuse JSON whose first records lack a column that would mean something and that later ones have."""
    if not sources[0].of_json:
        return
    late = [
        name
        for name in unexpected([name for source in sources for name in source.columns])
        if name not in used.values()
    ]
    sums = ", ".join(f"count({sources[0].expression(name)})" for name in late)
    counts = db.rows(f"SELECT {sums} FROM {table(sources, late)}")[0] if late else ()
    for name, times in zip(late, counts, strict=True):
        if times:
            raise DataError(f"{times} records have {name!r}, and the first ones do not: use judgerank.read")


def _refuse_counts(db: Engine, sources: Sequence[Source], used: Mapping[str, str]) -> None:
    """Refuse a column by whose name records may count more than once (`judgerank.reading.layouts.table`)."""
    for name in dict.fromkeys(name for source in sources for name in source.columns):
        if plain(name) in COUNTS and name not in used.values():
            number = f"TRY_CAST(CAST({sources[0].expression(name)} AS VARCHAR) AS DOUBLE)"
            query = (
                f"SELECT count({number}), count(*) FILTER ({number} = 1), count(*) FROM {table(sources, [name])}"
            )
            n_numbers, ones, size = db.rows(query)[0]
            if n_numbers and ones < size:
                raise DataError(
                    f"column {name!r} looks like one of counts (--column count={name} counts records so often; "
                    "--column count=null counts each once)"
                )


# The record at fault, found in its file, and refused in the words of whoever reads files without an engine.


class RecordError(DataError):
    """A record that cannot be read as a comparison."""


def refuse(db: Engine, rows: Rows) -> None:
    """Refuse the first record at fault of the first file that has one; there is one.

    Raises
    ------
    RecordError
        Naming the file, and the record, counted from 1.
    """
    source, record = next(
        (candidate, number) for candidate in rows.sources if (number := _first_fault(db, rows, candidate))
    )
    values = _record(db, rows, source, record)
    # beside it the other answers, since what a number means depends on them
    winners = [values[rows.used["winner"]], *rows.names.spoken]
    frame = pd.DataFrame([values | {rows.used["winner"]: winner} for winner in winners], dtype=object)
    try:
        judgments_from([Table(frame, rows.column_names, rows.words, None, source.label, is_complete=False)], "")
    except DataError as error:
        raise RecordError(re.sub(r"\brecord 1\b", f"record {record}", str(error), count=1)) from None
    raise RecordError(f"{source.label}: record {record} cannot be read as a comparison")


def _first_fault(db: Engine, rows: Rows, source: Source) -> int | None:
    counted = f"SELECT row_number() OVER () AS record, * FROM ({rows.texts([source])})"
    query = f"SELECT min(record) FROM ({rows.query(counted, ', r.record')}) WHERE cell = {FAULT}"
    return db.rows(query)[0][0]


def _record(db: Engine, rows: Rows, source: Source, record: int) -> dict[str, object]:
    """The values of a record, by the names of their columns."""
    columns = ", ".join(f"{source.expression(name)} AS {key}" for key, name in rows.used.items())
    counted = f"SELECT row_number() OVER () AS record, {columns} FROM {table([source], list(rows.used.values()))}"
    (row,) = db.rows(f"SELECT * EXCLUDE (record) FROM ({counted}) WHERE record = {record}")
    return {name: value_of(value, source) for name, value in zip(rows.used.values(), row, strict=True)}
