"""What the JSON document of a command holds: tables as lists of records, null for what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from judgerank.writing.spreadsheets import records

__all__ = ["number", "records", "sized"]
MOST_ROWS = 10_000  # of a table; larger ones, such as all pairs of 1,000 models, are only in the output folder


def sized(tables: Mapping[str, pd.DataFrame]) -> tuple[dict[str, list[dict[str, object]]], list[str]]:
    """Tables as records, and the names of those that are too large for a document."""
    small = {name: records(table) for name, table in tables.items() if len(table) <= MOST_ROWS}
    return small, [name for name in tables if name not in small]


def number(value: Any) -> float | None:
    """A number; None if it is missing or infinite."""
    return float(value) if value is not None and np.isfinite(value) else None
