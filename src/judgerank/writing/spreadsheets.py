"""Tables as text that a spreadsheet may open, and as JSON records."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from judgerank.data.listing import listed
from judgerank.writing.atomic import STORED_FORMAT

# Tables as text that a spreadsheet may open: no name in them is taken for a formula.
# OWASP, CSV injection. After + - @ only calls, programs and other sheets do harm, which takes one of ( | !
# A name that has the mark of its own gets another, so that taking one away gives names back.
FORMULA = re.compile(r"'*(?:[=\t\r]|[+\-@].*[(|!])", re.DOTALL)
MARK = "'"


def csv_of(table: pd.DataFrame, separator: str = ",", raw: bool = False) -> str:
    """A table as CSV, numbers in nine digits.

    Parameters
    ----------
    table : DataFrame
    separator : str
    raw : bool
        Whether texts are as they are. By default those that a spreadsheet would run as formulas have a ``'``
        before them: texts that start with ``=``, a tab or a carriage return, and those that start with ``+ - @``
        and have one of ``( | !``. Numbers stay numbers.
    """
    frame = table if raw else marked(table)
    text: str = frame.to_csv(sep=separator, index=False, float_format=STORED_FORMAT, lineterminator="\n")
    return text


def marked(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose texts are no formulas."""
    texts = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    return table.assign(**{str(name): table[name].astype(object).map(_marked) for name in texts})


def note_of_marks(names: Iterable[str]) -> str:
    """That some of the names stand in CSV with a mark, in a sentence; empty if none does."""
    formula_names = [name for name in names if FORMULA.match(name)]
    return (
        f"in CSV files a {MARK} stands before {listed(formula_names)}, against formulas; --raw leaves it out"
        if formula_names
        else ""
    )


def _marked(cell: object) -> object:
    return MARK + cell if isinstance(cell, str) and FORMULA.match(cell) else cell


# Convert tables to JSON records.


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
