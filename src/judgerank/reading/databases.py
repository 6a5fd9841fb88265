"""Tables in SQLite and DuckDB files, which are never written to, and for which nothing is written beside them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.reading.contents import Content
from judgerank.writing.extras import needed

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
