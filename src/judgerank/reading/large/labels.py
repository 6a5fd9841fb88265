"""Names and answers in files as codes that an engine joins to every record."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgerank.data.errors import DataError
from judgerank.data.frames import UNPARSED
from judgerank.reading.large.engine import Engine
from judgerank.reading.large.sources import Source, table
from judgerank.reading.layouts.names import alike
from judgerank.reading.layouts.table import MISSING, ONE_JUDGE, as_name
from judgerank.reading.layouts.texts import visible
from judgerank.reading.layouts.words import (
    ANSWERS,
    everyday,
    numbers,
    others_unknown,
    with_custom,
    word,
    words_by_column,
)

MOST_NAMES = 1_000_000  # different values in a column of names or answers: more are no names
LETTERS = {"a": 2, "c": 1, "b": 0}  # twice what the model shown first won
UNKNOWN, NULL = -1, -2  # answers that could not be parsed, or are missing
DROPPED = {UNKNOWN: UNPARSED, NULL: "null"}
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
