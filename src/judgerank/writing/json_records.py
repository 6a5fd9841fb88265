"""Convert tables to JSON records."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.writing.atomic import STORED_FORMAT


def records(table: pd.DataFrame) -> list[dict[str, object]]:
    """Rows of what JSON has: numbers as CSV has them, None for those that are missing or infinite."""
    columns = {str(name): [_value(cell) for cell in table[name]] for name in table}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _value(cell: object) -> object:
    if isinstance(cell, float | np.floating):
        return float(STORED_FORMAT % cell) if np.isfinite(cell) else None
    if isinstance(cell, np.generic):
        return cell.item()
    return None if cell is pd.NA else cell
