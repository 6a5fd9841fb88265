"""Spreadsheets as tables of texts, just as the same sheet saved as CSV."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import date, time
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.reading.contents import Content
from judgerank.reading.decompress import require_within
from judgerank.reading.header_rows import squared
from judgerank.writing.extras import needed

if TYPE_CHECKING:  # an optional extra
    from python_calamine import CalamineWorkbook


def from_sheet(content: Content) -> pd.DataFrame:
    """The only sheet of an Excel workbook that holds anything, or the one that is named.

    Raises
    ------
    DataError
        If it is no workbook, has no such sheet, or several and none is named, or a row does not fit its header.
    ConfigError
        If it takes a package that is not installed.
    """
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError
    except ImportError:
        raise ConfigError(f"reading xlsx takes {needed('excel')}") from None
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
