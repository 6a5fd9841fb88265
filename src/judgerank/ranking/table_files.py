"""Tables of a ranking as files: CSV, or Parquet where a table is long."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from judgerank.writing.extras import needed
from judgerank.writing.spreadsheets import csv_of

LONG = 100_000  # rows beyond which a table is written as Parquet


def file_names(tables: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Name of the file of each table. Parquet takes the extra ``parquet``; without it all are CSV."""
    return {name: f"{name}.{'parquet' if _as_parquet(table) else 'csv'}" for name, table in tables.items()}


def parquet_note(tables: Mapping[str, pd.DataFrame]) -> str:
    """A sentence on long tables that are written as CSV since nothing else can be; empty where there are none."""
    long = [name for name, table in tables.items() if len(table) > LONG and not _as_parquet(table)]
    if not long:
        return ""
    return f" Long tables would be smaller as Parquet, with {needed('parquet')}: {', '.join(long)}."


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path, raw: bool = False) -> None:
    """Write every table into its file of a folder; `raw` as of `judgerank.writing.spreadsheets.csv_of`."""
    for name, file in file_names(tables).items():
        if file.endswith("parquet"):
            tables[name].to_parquet(folder / file, index=False)
        else:
            (folder / file).write_text(csv_of(tables[name], raw=raw), encoding="utf-8", newline="")


def _as_parquet(table: pd.DataFrame) -> bool:
    return len(table) > LONG and find_spec("pyarrow") is not None
