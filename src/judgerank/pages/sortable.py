"""A DataFrame as a table of a page: heads, formatted cells, values to sort by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

MISSING = "--"
SMALLEST = 0.001  # p-value that is shown as a number


@dataclass(frozen=True)
class Column:
    """A column of a page's table.

    Attributes
    ----------
    name : str
        In the DataFrame.
    head : str
        Shown above it.
    about : str
        What it means, shown on demand; empty if the head says it all.
    numeric : bool
    hidden : bool
        Whether it is shown only once it is asked for.
    """

    name: str
    head: str
    about: str = ""
    numeric: bool = False
    hidden: bool = False


class Cell(NamedTuple):
    """A cell: its text, the value it is sorted by (empty: by its text), and where it leads (empty: nowhere)."""

    text: str
    order: str = ""
    link: str = ""


@dataclass(frozen=True)
class Shown:
    """A table of a page.

    Attributes
    ----------
    key : str
        Name of the table on its page.
    caption : str
    columns : list of Column
    rows : list of list of Cell
    """

    key: str
    caption: str
    columns: list[Column]
    rows: list[list[Cell]]


def shown(
    key: str,
    caption: str,
    frame: pd.DataFrame,
    heads: Mapping[str, str] | None = None,
    about: Mapping[str, str] | None = None,
    hidden: Collection[str] = (),
    precise: Mapping[str, int] | None = None,
    links: Mapping[str, Sequence[str]] | None = None,
) -> Shown:
    """A DataFrame as a table of a page.

    Parameters
    ----------
    key, caption : str
    frame : DataFrame
    heads, about : mapping of str to str, optional
        By column: what is shown above it, and what it means.
    hidden : collection of str
        Columns that are shown only once they are asked for.
    precise : mapping of str to int, optional
        Decimals by column, where they are not three.
    links : mapping of str to sequence of str, optional
        Addresses by column, one for every row; empty ones are no links.
    """
    heads, about, precise, links = heads or {}, about or {}, precise or {}, links or {}
    columns, cells = [], []
    for name, values in frame.items():
        name = str(name)
        numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        columns.append(Column(name, heads.get(name, name), about.get(name, ""), numeric, name in hidden))
        column = _cells(values, name, numeric, precise.get(name, 3))
        if name in links:
            column = [cell._replace(link=to) for cell, to in zip(column, links[name], strict=True)]
        cells.append(column)
    return Shown(key, caption, columns, [list(row) for row in zip(*cells, strict=True)])


def _cells(values: pd.Series, name: str, numeric: bool, decimals: int) -> list[Cell]:
    cells = []
    for value in values.astype(object):
        if pd.isna(value):
            cells.append(Cell(MISSING, "-1e308" if numeric else ""))
        elif isinstance(value, bool):
            cells.append(Cell("yes" if value else "no"))
        elif isinstance(value, float):
            text = f"{value:.{decimals}f}" if abs(value) < 1e5 else f"{value:.1e}"
            if name.startswith("p_") and value < SMALLEST:
                text = f"<{SMALLEST:g}"
            cells.append(Cell(text, f"{value:.6g}"))
        else:
            cells.append(Cell(str(value)))
    return cells
