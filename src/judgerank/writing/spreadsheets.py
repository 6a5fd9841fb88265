"""Tables as text that a spreadsheet may open: no name in them is taken for a formula."""

from __future__ import annotations

import re

import pandas as pd

from judgerank.writing.atomic import STORED_FORMAT

# OWASP, CSV injection; a name that has the mark of its own gets another, so that taking one away gives names back
FORMULA = re.compile(r"'*[=+\-@\t\r]")
MARK = "'"


def csv_of(table: pd.DataFrame, separator: str = ",", raw: bool = False) -> str:
    """A table as CSV, numbers in nine digits.

    Parameters
    ----------
    table : DataFrame
    separator : str
    raw : bool
        Whether texts are as they are. By default those that start with ``= + - @``, a tab or a carriage return
        have a ``'`` before them, since a spreadsheet would compute them. Numbers stay numbers.
    """
    shown = table if raw else marked(table)
    text: str = shown.to_csv(sep=separator, index=False, float_format=STORED_FORMAT, lineterminator="\n")
    return text


def marked(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose texts are no formulas."""
    texts = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    return table.assign(**{str(name): table[name].astype(object).map(_marked) for name in texts})


def _marked(cell: object) -> object:
    return MARK + cell if isinstance(cell, str) and FORMULA.match(cell) else cell
