"""Tables in memory of any kind, as pandas frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeGuard, runtime_checkable

import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.data.listing import shortened
from judgerank.reading.accepted import COLUMNS
from judgerank.reading.layouts.score_tables import ASKED
from judgerank.reading.layouts.texts import plain
from judgerank.writing.extras import needed


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
        If it takes a package that is not installed.
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
        raise ConfigError(f"reading a table of {_origin(table)} takes {needed('parquet')}") from None
    try:
        return pyarrow.table(table).to_pandas()
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise DataError(f"{_origin(table)} is no table: {' '.join(str(error).split())}") from None


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
