"""Records within one JSON object, and tables in SQLite and DuckDB files."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.reading.contents import PART, Content
from judgerank.writing.extras import needed

# Records within one JSON object: a list of them under a key, or a table as pandas writes it.
SPLIT = {"columns", "data"}  # keys of pandas' orient="split"
NONE = "this is not a JSON list of records"


def records_in(content: Mapping[str, Any], part: str | None = None) -> list[Any]:
    """The records in an object: those under its only key that has any, or under the key that is named.

    What pandas writes by ``to_json`` (orient ``columns``, ``index``, ``split``, ``table``) is read, too, as are
    columns that are lists.

    Raises
    ------
    DataError
        If there are none, or several lists of them and none is named.
    """
    lists = [key for key, value in content.items() if _are_records(value)]
    if part is not None:
        if part not in lists:
            raise DataError(f"there is no list of records {part!r} (there is: {', '.join(lists) or 'none'})")
        return list(content[part])
    if len(lists) > 1:
        raise DataError(
            f"there are {len(lists)} lists of records ({', '.join(lists)}): name one as FILE{PART}{lists[0]}"
        )
    if lists:
        return list(content[lists[0]])
    if content.keys() >= SPLIT:
        return _split(content["columns"], content["data"])
    values = list(content.values())
    if values and all(isinstance(value, dict) for value in values):
        return _by_label(content)
    if values and all(isinstance(value, list) for value in values):
        return _by_column(content)
    raise DataError(NONE)


def _are_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(record, dict) for record in value)


def _split(columns: object, rows: object) -> list[dict[str, Any]]:
    if not isinstance(columns, list) or not isinstance(rows, list):
        raise DataError(NONE)
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != len(columns):
            raise DataError(f"record {number} does not have the {len(columns)} columns that are named")
    if len(set(map(str, columns))) < len(columns):
        raise DataError("a column is named twice")
    return [dict(zip(map(str, columns), row, strict=True)) for row in rows]


def _by_label(table: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """Columns by rows, or rows by columns: rows are numbered."""
    inner = list(dict.fromkeys(key for entry in table.values() for key in entry))
    if inner and all(key.isdecimal() for key in inner):
        return [{name: column.get(key) for name, column in table.items()} for key in inner]
    if all(key.isdecimal() for key in table):
        return list(table.values())
    raise DataError(f"{NONE}: neither rows nor columns are numbered")


def _by_column(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        low, high = (choose(lengths, key=lambda name: lengths[name]) for choose in (min, max))
        raise DataError(f"{NONE}: {low!r} has {lengths[low]} values, and {high!r} {lengths[high]}")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


# Tables in SQLite and DuckDB files, which are never written to, and for which nothing is written beside them.
SQLITE, DUCKDB, DUCKDB_AT = b"SQLite format 3\x00", b"DUCK", 8
JOURNAL_MODE = slice(18, 20)  # of SQLite's header: two where changes wait in a -wal file, which memory has none of
ROLLBACK = b"\x01\x01"
CLOSED = {"enable_external_access": "false", "autoinstall_known_extensions": "false"}  # for views of a stranger's
BESIDE = ("-wal", "-journal")  # files with changes that the file itself does not have, or should not have


def from_database(content: Content) -> pd.DataFrame:
    """The one table of a SQLite or DuckDB file, or the one that is named.

    Raises
    ------
    DataError
        If it is neither, is damaged or in use, or has several tables and none is named.
    ConfigError
        If it takes a package that is not installed.
    """
    if content.data.startswith(SQLITE):
        return _sqlite(content)
    if content.data[DUCKDB_AT:].startswith(DUCKDB):
        return _duckdb(content)
    raise DataError("this is neither a SQLite nor a DuckDB file")


def _sqlite(content: Content) -> pd.DataFrame:
    for ending in BESIDE:
        journal = Path(f"{content.path}{ending}")
        if journal.is_file() and journal.stat().st_size:
            raise DataError(f"{journal.name} beside it holds unsaved changes: close the program that writes to it")
    data = bytearray(content.data)
    data[JOURNAL_MODE] = ROLLBACK
    try:
        with closing(sqlite3.connect(":memory:")) as db:
            db.deserialize(bytes(data))  # a copy in memory
            named = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
            name = content.chosen([row[0] for row in db.execute(f"{named} ORDER BY name")], "table")
            cursor = db.execute(f"SELECT * FROM {_quoted(name)}")
            return _framed([column[0] for column in cursor.description], cursor.fetchall())
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise DataError(f"this is not SQLite, or damaged: {error}") from None


def _duckdb(content: Content) -> pd.DataFrame:
    try:
        import duckdb
    except ImportError:
        raise ConfigError(f"reading DuckDB takes {needed('scale')}") from None
    try:
        with closing(duckdb.connect(str(content.path), read_only=True, config={**CLOSED})) as db:
            tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1"
            name = content.chosen([row[0] for row in db.execute(tables).fetchall()], "table")
            cursor = db.execute(f"SELECT * FROM {_quoted(name)}")
            return _framed([column[0] for column in cursor.description], cursor.fetchall())
    except duckdb.Error as error:
        raise DataError(f"DuckDB cannot read it: {' '.join(str(error).split())}") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _framed(names: list[str], rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame([list(map(_plain, row)) for row in rows], columns=names, dtype=object)


def _plain(value: object) -> object:
    """A value as other files have it."""
    if isinstance(value, Decimal):
        return float(value)
    return str(value) if isinstance(value, UUID | date) else value
