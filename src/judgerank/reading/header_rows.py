"""Rows of texts under a header: what is empty on the right is cut off, and a title above the header is refused."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from judgerank.data.errors import DataError


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
    filled = [(row + [None] * longest)[:longest] for row in records]
    return pd.DataFrame(filled, columns=header[:longest], dtype=object)
