"""Tables in memory of any kind, as pandas frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeGuard, runtime_checkable

import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.data.listing import shortened
from judgerank.data.modules import needed
from judgerank.reading.contents import COLUMNS, PART
from judgerank.reading.layouts.score_tables import ASKED
from judgerank.reading.layouts.texts import plain


@runtime_checkable
class ArrowTable(Protocol):
    """A table that gives its columns by Arrow's PyCapsule protocol: of polars, DuckDB, pyarrow and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@runtime_checkable
class ToPandas(Protocol):
    """A table with a method that makes a frame of it, as a set of the package datasets has."""

    def to_pandas(self) -> pd.DataFrame: ...


Pairs = list[tuple[object, object]]
Tabular = pd.DataFrame | ArrowTable | ToPandas | Mapping[str, Any] | Sequence[Mapping[str, Any]]


def are_pairs(source: object) -> TypeGuard[Pairs]:
    """Whether something is a list of pairs, the better model and the other."""
    return (
        isinstance(source, list | tuple)
        and len(source) > 0
        and all(isinstance(item, tuple) and len(item) == 2 for item in source)
    )


def is_tabular(source: object) -> TypeGuard[Tabular]:
    """Whether something is a table in memory: a frame, an Arrow table, columns by name, or a list of records."""
    if isinstance(source, pd.DataFrame | Mapping):
        return True
    if isinstance(source, list | tuple):
        return len(source) > 0 and isinstance(source[0], Mapping)
    return not isinstance(source, pd.Series) and isinstance(source, ArrowTable | ToPandas)


def frame_of(table: Tabular) -> pd.DataFrame:
    """A table in memory as a frame; values of records and columns stay as they are.

    Raises
    ------
    DataError
        If a record is no mapping, or columns are of different lengths.
    ConfigError
        If it requires a package that is not installed.
    """
    if isinstance(table, pd.DataFrame):
        return _with_index(table)
    if isinstance(table, Mapping):
        try:
            return pd.DataFrame({name: list(column) for name, column in table.items()}, dtype=object)
        except (TypeError, ValueError) as error:
            raise DataError(f"a dict is read as columns of equal length: {error}") from None
    if isinstance(table, Sequence):
        odd = next((number for number, record in enumerate(table, 1) if not isinstance(record, Mapping)), None)
        if odd is not None:
            raise DataError(f"record {odd} is not a dict")
        return pd.DataFrame([dict(record) for record in table], dtype=object)
    if not isinstance(table, ArrowTable):
        return table.to_pandas()
    try:
        import pyarrow
    except ImportError:
        raise ConfigError(f"reading a table of {_origin(table)} requires {needed('parquet')}") from None
    try:
        return pyarrow.table(table).to_pandas()
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise DataError(f"{_origin(table)} is not a table: {' '.join(str(error).split())}") from None


def _with_index(table: pd.DataFrame) -> pd.DataFrame:
    """The frame with those parts of its index as columns that have the name of a known one, and are none yet."""
    recognised = {plain(name) for names in (*(usual for _, usual in COLUMNS.values()), ASKED) for name in names}
    recognised -= {plain(name) for name in table.columns if isinstance(name, str)}
    levels = [name for name in table.index.names if isinstance(name, str) and plain(name) in recognised]
    return table.reset_index(level=levels) if levels else table


def refuse_other(source: object) -> NoReturn:
    """Refuse what is neither a table nor the name of a file, and say what to do with it.

    Raises
    ------
    ConfigError
    """
    if hasattr(source, "collect"):
        raise ConfigError(f"a {type(source).__name__} has no rows yet: collect it first (.collect())")
    if isinstance(source, list | tuple):
        raise ConfigError(_of_list(source))
    raise ConfigError(f"judgments are files, a table or records, and this is {_origin(source)}")


def _of_list(source: Sequence[object]) -> str:
    """A message on the first item of a list that is no judgment, and what a list should hold."""
    kind = next((kind for kind in (_is_name, _is_pair) if kind(source[0])), None)
    number, odd = next((number, item) for number, item in enumerate(source, 1) if kind is None or not kind(item))
    return (
        f"item {number} of the list is {shortened(repr(odd))}: a list of judgments holds dicts such as "
        "{'model_a': 'x', 'model_b': 'y', 'winner': 'model_a'}, tuples (winner, loser), or names of files"
    )


def _is_name(item: object) -> bool:
    return isinstance(item, str | Path)


def _is_pair(item: object) -> bool:
    return are_pairs([item])


def _origin(source: object) -> str:
    return f"{type(source).__module__.split('.')[0]}.{type(source).__name__}"


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
    columns = [value for value in values if isinstance(value, list) and len(value) > 1]
    if (
        len({*map(len, columns)}) == 1
        and len(columns) > 1
        and not any(isinstance(value, dict) for value in values)
    ):
        size = len(columns[0])  # single values beside columns are those of every record
        content = {key: value if isinstance(value, list) else [value] * size for key, value in content.items()}
        return _by_column(content)
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
