"""Tables in SQLite and DuckDB files, which are never written to, and for which nothing is written beside them."""

from __future__ import annotations

import io
import shlex
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID
from zipfile import BadZipFile, ZipFile

import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.data.modules import needed
from judgerank.reading.contents import PART, Content
from judgerank.reading.decompress import require_within

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

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
        If it requires a package that is not installed.
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
            named = "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"
            kinds = dict(db.execute(f"{named} AND name NOT LIKE 'sqlite_%' ORDER BY name"))
            cursor = db.execute(f"SELECT * FROM {_quoted(_chosen(content, kinds))}")
            return _framed([column[0] for column in cursor.description], cursor.fetchall())
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise DataError(f"this is not SQLite, or damaged: {error}") from None


def _duckdb(content: Content) -> pd.DataFrame:
    try:
        import duckdb
    except ImportError:
        raise ConfigError(f"reading DuckDB requires {needed('scale')}") from None
    try:
        with closing(duckdb.connect(str(content.path), read_only=True, config={**CLOSED})) as db:
            named = "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'main'"
            kinds = dict(db.execute(f"{named} ORDER BY 1").fetchall())
            cursor = db.execute(f"SELECT * FROM {_quoted(_chosen(content, kinds))}")
            return _framed([column[0] for column in cursor.description], cursor.fetchall())
    except duckdb.Error as error:
        raise DataError(f"DuckDB cannot read it: {' '.join(str(error).split())}") from None


def _chosen(content: Content, kinds: Mapping[str, str]) -> str:
    """The table that is meant; a view, which is a program, only where it is named."""
    views = [name for name, kind in kinds.items() if kind.lower() == "view"]
    if content.part in views:
        return str(content.part)
    tables = [name for name in kinds if name not in views]
    if views and not tables and content.part is None:
        raise DataError(
            f"there is no table in it, and a view is run only where it is named, as in "
            f"{shlex.quote(f'{content.path.name}{PART}{views[0]}')}"
        )
    return content.chosen(tables, "table")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _framed(names: list[str], rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame([list(map(_plain, row)) for row in rows], columns=names, dtype=object)


def _plain(value: object) -> object:
    """A value as other files have it."""
    if isinstance(value, Decimal):
        return float(value)
    return str(value) if isinstance(value, UUID | date) else value


# Spreadsheets as tables of texts, just as the same sheet saved as CSV.
# Rows of texts under a header: what is empty on the right is cut off, and a title above the header is refused.


def squared(rows: Iterable[tuple[int, list[str]]], unit: str = "line") -> pd.DataFrame:
    """A table of rows, the first of which is the header; empty texts are missing values.

    Parameters
    ----------
    rows : iterable of int and list of str
        Their numbers in the file, and their fields. Rows without any text are left out.
    unit : str
        What a row is called in a refusal.

    Raises
    ------
    DataError
        If a row has more or fewer fields than the header, or the header is a title.
    """
    written = ((number, row) for number, row in rows if any(row))
    top, header = next(written, (1, []))
    width = len(header)
    while width and not header[width - 1]:  # commas at the end of the line
        width -= 1
    records: list[list[str | None]] = []
    longest = width
    for number, row in written:
        if width == 1 and sum(map(bool, row)) > 1 and not records:
            raise DataError(
                f"{unit} {top} is a title, {header[0]!r}, and no header: delete what is above the header"
            )
        if len(row) != len(header) and (len(row) < width or any(row[width:])):
            raise DataError(f"{unit} {number} has {len(row)} fields, and the header {len(header)}")
        longest = len(header) if any(row[width:]) else longest
        records.append([field or None for field in row])
    for record in records:  # in place, as a second list of all rows would double the memory
        record[longest:] = [None] * (longest - len(record))
    return pd.DataFrame(records, columns=header[:longest], dtype=object)


def from_sheet(content: Content) -> pd.DataFrame:
    """The only sheet of an Excel workbook that holds anything, or the one that is named.

    Raises
    ------
    DataError
        If it is no workbook, has no such sheet, or several and none is named, or a row does not fit its header.
    ConfigError
        If it requires a package that is not installed.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError
    except ImportError:
        raise ConfigError(f"reading xlsx requires {needed('excel')}") from None
    try:
        with ZipFile(io.BytesIO(content.data)) as archive:
            require_within(sum(member.file_size for member in archive.infolist()), len(content.data))
        book = CalamineWorkbook.from_filelike(io.BytesIO(content.data))
        names = list(book.sheet_names)
        if content.part is None:
            names = [name for name in names if _holds_cells(book, name)] or names[:1]
        name = content.chosen(names, "sheet")
        rows = book.get_sheet_by_name(name).to_python()
    except (BadZipFile, CalamineError, PasswordError, OSError) as error:
        raise DataError(f"this is not an Excel workbook that can be read: {error}") from None
    return squared(_texts(rows), "row")


def _holds_cells(book: CalamineWorkbook, name: str) -> bool:
    """Whether a sheet has a cell that is not empty; one that is a chart has none."""
    from python_calamine import CalamineError

    try:
        return any(str(cell).strip() for row in book.get_sheet_by_name(name).iter_rows() for cell in row)
    except CalamineError:
        return False


def _texts(rows: Sequence[Sequence[object]]) -> Iterator[tuple[int, list[str]]]:
    for number, row in enumerate(rows, 1):
        yield number, [_text(cell) for cell in row]


def _text(cell: object) -> str:
    """A cell as CSV has it; Excel's numbers are all floating-point."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell).lower() if isinstance(cell, bool) else str(cell)
