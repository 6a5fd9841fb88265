"""Names of columns written in another way: read where there is no doubt, refused where there is.

A column that is missed costs judges or weights without a trace, so one that is nearly a known one is an error
until somebody says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.frames import numbers_in
from judgerank.reading.layouts.table import COUNTS, Layout, Table, values
from judgerank.reading.layouts.texts import plain
from judgerank.reading.layouts.unordered import refuse_unspoken_swaps

ALIKE, ALIKE_LONG, LONG = 0.8, 0.85, 7  # similarity from which names are near; of long ones; letters of those
BEFORE_DIGIT = re.compile(r"_(?=\d)")
SHORTEST = 3  # letters of a known name that others can be near to
RATERS = {"judge", "annotator", "rater", "evaluator", "grader", "assessor", "labeler", "labeller", "reviewer"}
OF_NAMES = {"id", "uid", "key", "name", "model", "llm"}  # words beside them where a column names who or what
OTHER = {"a": "b", "b": "a", "A": "B", "B": "A", "1": "2", "2": "1"}
BOOLEANS = {"true", "false", "yes", "no"}
ONE_COLUMN = ("model_a", "model_b", "judge")  # keys of which a table has one column
OFTEN_COUNTS = tuple(name for name in COUNTS if len(name) >= 5 and name != "times")  # nor is time


def as_usual(table: Table, layout: Layout) -> Table:
    """The table with columns renamed that are another spelling of a name which the layout reads.

    Only where no column has that name as it is, and just one is such a spelling.
    """
    column_names = [name for name in table.frame.columns if isinstance(name, str)]
    renamed: dict[str, str] = {}
    spellings = _by_spelling(table)
    for usual, key in layout.names.items():
        same = spellings.get(plain(usual), [])
        if (
            usual in column_names
            or key in table.specified
            or len(same) != 1
            or same[0] in {*layout.names, *renamed}
        ):
            continue
        renamed[same[0]] = usual
    if not renamed:
        return table
    spelled = {usual: name for name, usual in renamed.items()}
    return replace(table, frame=table.frame.rename(columns=renamed), spelled={**table.spelled, **spelled})


def _by_spelling(table: Table) -> dict[str, list[str]]:
    """The columns that nobody has said, by their plain names."""
    named, spellings = set(table.specified.values()), dict[str, list[str]]()
    for name in table.frame.columns:
        if isinstance(name, str) and name not in named:
            spellings.setdefault(plain(name), []).append(name)
    return spellings


def refuse_doubtful(table: Table, layout: Layout) -> None:
    """Refuse columns that compete for a name, and unused ones that are nearly a known one.

    Raises
    ------
    DataError
        Naming both, and the option that settles it.
    """
    _refuse_competing(table, layout)
    read = {name for names in layout.used(table).values() for name in names}
    unused = [
        name
        for name in table.frame.columns
        if isinstance(name, str) and name not in read and name not in layout.names and plain(name) not in COUNTS
    ]
    as_written = {*table.frame.columns} - table.spelled.keys()
    for key, usual in layout.aliases.items():
        if key in table.specified or as_written & {*usual}:
            continue
        for name in unused:
            similar = _similar_name(table, key, name, usual)
            if similar is not None:
                raise DataError(
                    f"column {name!r} would not be read, though it looks like {similar!r} (--column "
                    f"{key}={name!r} reads it; --column {key}=null leaves it out)"
                )
    for required in (name for name in (*layout.needs, *layout.reads) if name not in as_written):
        if unread := next((name for name in unused if alike(name, required)), None):
            raise DataError(
                f"column {unread!r} would not be read, though it looks like {required!r} of {layout.name}: "
                "rename it"
            )
    if "swapped" in layout.aliases and "swapped" not in table.specified:
        refuse_unspoken_swaps(table.frame, unused)


def _refuse_competing(table: Table, layout: Layout) -> None:
    spellings = _by_spelling(table)
    for usual, key in layout.names.items():
        if key in table.specified:
            continue
        same = spellings.get(plain(usual), [])
        if len(same) > 1 and not set(same) <= set(layout.names):
            listed = " and ".join(map(repr, same))
            settles = f"--column {key}=NAME chooses one" if key else "rename or remove one"
            raise DataError(f"the columns {listed} could both be {usual!r} ({settles})")
    for key in ONE_COLUMN:
        candidates = [name for name in layout.aliases.get(key, ()) if name in table.frame.columns]
        if key not in table.specified and any(
            _differ(table, candidates[0], candidate) for candidate in candidates[1:]
        ):
            listed = " and ".join(map(repr, candidates))
            raise DataError(
                f"the columns {listed} differ, and both name the {key} (--column {key}=NAME chooses one)"
            )


def _differ(table: Table, first: str, second: str) -> bool:
    return bool((values(table.frame, first).map(str) != values(table.frame, second).map(str)).any())


def _similar_name(table: Table, key: str, name: str, usual: Sequence[str]) -> str | None:
    """The known name of a key that a column nearly has, if its values could be that."""
    if _is_of_one_answer(name, table):
        return None
    of_counts = OFTEN_COUNTS if key == "count" else ()
    similar = next((candidate for candidate in (*usual, *of_counts) if alike(name, candidate)), None)
    words = set(plain(name).split("_"))
    if key in ("judge", "question"):
        roles = RATERS if key == "judge" else {"question"}
        if words & roles and words <= roles | OF_NAMES:
            similar = usual[0]
    return similar if similar is not None and _could_be(key, values(table.frame, name)) else None


def _is_of_one_answer(name: str, table: Table) -> bool:
    return name[-1:] in OTHER and name[:-1] + OTHER[name[-1]] in table.frame.columns


def alike(name: str, usual: str) -> bool:
    """Whether a name is nearly another: letters more, less or other, or in another order."""
    first, second = (BEFORE_DIGIT.sub("", plain(text)) for text in (name, usual))  # a digit may be a slip, too
    if len(second) < SHORTEST:
        return False
    least = ALIKE_LONG if len(second) >= LONG else ALIKE
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    letters = (sorted(text.replace("_", "")) for text in (first, second))  # uJdge is read as two words
    return next(letters) == next(letters) or (matcher.quick_ratio() >= least and matcher.ratio() >= least)


def _could_be(key: str, column: pd.Series) -> bool:
    """Whether values look like what a key holds."""
    present = column.dropna().tolist()
    if not present or any(isinstance(value, dict | bool) for value in present):
        return key == "human" and bool(present)
    texts = {value.casefold() for value in present if isinstance(value, str)}
    listed = any(isinstance(value, list | tuple) or hasattr(value, "tolist") for value in present)
    numbers = np.full(len(present), np.nan) if listed else numbers_in(pd.Series(present, dtype=object))
    if key in ("count", "length"):
        are_whole = bool(((numbers >= 0) & (numbers == np.round(numbers))).all())
        return are_whole and (key == "length" or bool((numbers != 1).any()))
    if key == "judge":
        return not texts <= BOOLEANS if texts else not bool((numbers % 1 > 0).any())
    return True
