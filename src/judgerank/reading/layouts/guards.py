"""What a table may say beside its judgments and nobody has spoken of: counts, and records that do not count.

Every layout comes through `guarded`, so that none has a guard that others lack.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray
from judgerank.data.errors import DataError
from judgerank.data.frames import STILL_COUNTED, numbers_in
from judgerank.data.listing import counted
from judgerank.reading.layouts.table import COUNTS, Layout, Table, values
from judgerank.reading.layouts.texts import plain
from judgerank.reading.layouts.words import word

# columns that say of a record that it does not count, by their plain names, and whether it is true that says so
NOT_COUNTING = {
    **dict.fromkeys(("anony", "has_label", "dedup_tag.sampled", "sampled", "is_valid", "valid"), False),
    **dict.fromkeys(("is_refusal", "refusal", "was_cancelled", "cancelled", "canceled", "is_error"), True),
    **dict.fromkeys(("archived", "is_archived", "deleted", "is_deleted", "excluded", "discarded"), True),
}
TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def guarded(layout: Layout, table: Table) -> Table:
    """The records that count, of a table in which nothing is left unspoken.

    Raises
    ------
    DataError
        Naming a column that looks like one of counts, or that says of some records that they do not count, and
        the options that settle it.
    """
    used = {name for names in layout.used(table).values() for name in names}
    if "count" not in table.specified:
        _refuse_unspoken_counts(layout, table, used)
    if "valid" not in table.specified:
        _refuse_unspoken_marks(table, used)
        return table
    chosen = table.specified["valid"]
    return table if chosen is None else _counting(table, chosen)


def _refuse_unspoken_counts(layout: Layout, table: Table, used: Collection[str]) -> None:
    """Refuse a column by whose name records may count more than once, unless all its values are one."""
    for name in table.frame.columns:
        if not (isinstance(name, str) and plain(name) in COUNTS) or name in used:
            continue
        times = numbers_in(values(table.frame, name))
        if not np.isnan(times).all() and not (times == 1).all():
            counts = layout.accepts is None or "count" in layout.accepts
            option = f"--column count={name} counts records so often; " if counts else ""
            raise DataError(
                f"column {name!r} looks like one of counts ({option}--column count=null counts each once)"
            )


def _refuse_unspoken_marks(table: Table, used: Collection[str]) -> None:
    """Refuse a column that says of some records, and not of others, that they do not count."""
    for name, n_out in _marked(table.frame, used):
        raise DataError(
            f"column {name!r} says that {n_out:,} of {len(table.frame):,} records do not count "
            f"({shlex.join(['--column', f'valid={name}'])} leaves them out; --column valid=null counts all)"
        )


def still_counted(table: Table, used: Collection[str]) -> Iterator[str]:
    """Notes on records that count on request, though a column says that they do not."""
    if "valid" in table.specified and table.specified["valid"] is None:
        for name, n_out in _marked(table.frame, used):
            yield f"{STILL_COUNTED}{n_out:,} of {counted(len(table.frame), 'record')}, by {name!r}."


def _marked(frame: pd.DataFrame, used: Collection[str]) -> Iterator[tuple[str, int]]:
    """Columns that say of some records that they do not count, and of others that they do; and of how many."""
    for name, cells in _marks(frame, used):
        truths = [TRUTH.get(text.lower()) for value in cells if (text := word(value)) is not None]
        if {True, False} <= {*truths}:
            yield name, truths.count(NOT_COUNTING[_mark_name(name)])


def _counting(table: Table, name: str) -> Table:
    """The table without records that a column says do not count; cells that are empty say nothing."""
    if name not in table.frame.columns:
        raise DataError(f"the table has no column {name!r}, which is to say which records count")
    out_is = NOT_COUNTING.get(_mark_name(name), False)
    remaining: list[bool] = []
    for row, value in enumerate(values(table.frame, name), 1):
        text = word(value)
        if text and text.lower() not in TRUTH:
            raise DataError(f"record {row} has {text!r} as {name!r}, neither true nor false")
        remaining.append(not text or TRUTH[text.lower()] is not out_is)
    named = {key: column for key, column in table.named.items() if key != "valid"}
    return kept(replace(table, named=named | {"valid": None}), np.array(remaining, bool))


def kept(table: Table, rows: BoolArray) -> Table:
    """Some of a table's records.

    Raises
    ------
    DataError
        If there are none.
    """
    if not rows.any():
        raise DataError("no record counts: there are no comparisons")
    return table if rows.all() else replace(table, frame=table.frame[rows].reset_index(drop=True))


def _mark_name(name: str) -> str:
    """The name of a column as `NOT_COUNTING` has it."""
    return name.lower().replace(" ", "_")


def _marks(frame: pd.DataFrame, used: Collection[str]) -> Iterator[tuple[str, list[object]]]:
    """Columns of `NOT_COUNTING` that are not used, also those within a column of objects, with their values."""
    for name in (name for name in frame.columns if isinstance(name, str) and name not in used):
        if _mark_name(name) in NOT_COUNTING and isinstance(frame[name], pd.Series):
            yield name, values(frame, name).tolist()
        for mark in (mark for mark in NOT_COUNTING if mark.startswith(f"{_mark_name(name)}.")):
            key = mark.partition(".")[2]
            inside = [value.get(key) if isinstance(value, dict) else None for value in values(frame, name)]
            yield f"{name}.{key}", inside
