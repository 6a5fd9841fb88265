"""The record at fault, found in its file, and refused in the words of whoever reads files without an engine."""

from __future__ import annotations

import re

import pandas as pd

from judgerank.data.errors import DataError
from judgerank.reading.from_tables import judgments_from
from judgerank.reading.large.engine import Engine
from judgerank.reading.large.labels import value_of
from judgerank.reading.large.numbered import FAULT, Rows
from judgerank.reading.large.sources import Source, table
from judgerank.reading.layouts import Table


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
