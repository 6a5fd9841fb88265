"""Records within one JSON object: a list of them under a key, or a table as pandas writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgerank.data.errors import DataError
from judgerank.reading.contents import PART

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
