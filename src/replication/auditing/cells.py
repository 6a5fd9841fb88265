"""Tables of the documentation as data: rows of a stored table, and a template for the cells of each column.

A template is a format string over a row's columns. ``{coverage:.3f±}`` is a number with its Monte Carlo error,
from the column ``coverage_se``. A cell that lacks a number is empty, or what the template has after ``|``.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

import pandas as pd

from judgerank.plots.looks import NAMES
from replication.auditing.results import Results
from replication.tables import markdown_table

WITH_ERROR, TITLE, P_VALUE = "±", "title", "p"
SMALL_P = 1e-4
EVERY_SET = "{set}"  # in a table's name: it is stored for each of the sets
SETS = ("in_house", "chatbot_arena", "mt_bench", "ultrafeedback")


def stored_rows(results: Results, name: str) -> pd.DataFrame:
    """A stored table; or those of all sets below each other, with the set's title in a column ``set``."""
    if EVERY_SET not in name:
        return results.table(name)
    return pd.concat([results.table(name.format(set=s)).assign(set=NAMES[s]) for s in SETS], ignore_index=True)


def widened(frame: pd.DataFrame, index: str | list[str], columns: str) -> pd.DataFrame:
    """A pivoted table in the order of its rows; the value of ``column`` for ``way`` is in ``column/way``."""
    wide = frame.pivot(index=index, columns=columns)
    wide.columns = [_of_way(name, way) for name, way in wide.columns]
    return wide.loc[frame.set_index(index).index.unique()].reset_index()


def _of_way(name: str, way: object) -> str:
    return f"{name[:-3]}/{way}_se" if name.endswith("_se") else f"{name}/{way}"


def shaped(
    frame: pd.DataFrame,
    derived: Mapping[str, str] | None = None,
    where: str = "",
    wide: Mapping[str, Any] | None = None,
    has: str = "",
    names: Mapping[str, Mapping[Any, str]] | None = None,
) -> pd.DataFrame:
    """The rows that a table shows.

    Parameters
    ----------
    frame : DataFrame
    derived : mapping of str to str, optional
        Further columns by their expressions, as `DataFrame.eval` takes them.
    where : str, optional
        Condition on the rows, as `DataFrame.query` takes it.
    wide : mapping, optional
        Arguments of `widened`.
    has : str, optional
        A column in which the rows must have a value.
    names : mapping of str to mapping, optional
        Values of columns that have another name in the documentation.
    """
    for column, expression in (derived or {}).items():
        frame = frame.assign(**{column: frame.eval(expression, engine="python")})
    frame = frame.query(where, engine="python") if where else frame
    frame = widened(frame, **wide) if wide else frame
    frame = frame.dropna(subset=has) if has else frame
    return frame.replace(names) if names else frame


def table(frame: pd.DataFrame, columns: Mapping[str, str]) -> str:
    """Rows in Markdown, with a template for each column."""
    rows = [tuple(cell(template, row) for template in columns.values()) for row in frame.to_dict("records")]
    return markdown_table(rows, list(columns))


def note(frame: pd.DataFrame, text: str, each: str) -> str:
    """A sentence about all rows: ``{rows}`` is `each` filled in by row, other fields are of the first row."""
    rows = frame.to_dict("records")
    return cell(text, rows[0] | {"rows": "; ".join(cell(each, row) for row in rows)})


def cell(template: str, row: Mapping[str, Any]) -> str:
    """The first of a template's alternatives whose numbers the row has; empty if there is none."""
    for alternative in template.split("|"):
        fields = list(Formatter().parse(alternative))
        if not any(pd.isna(row[name]) for _, name, _, _ in fields if name):
            return "".join(
                text + (_filled(row, name, spec or "") if name else "") for text, name, spec, _ in fields
            )
    return ""


def _filled(row: Mapping[str, Any], name: str, spec: str) -> str:
    """The text of a field: the title of a data set, a p-value, a number with its error if it has one, or plain."""
    value = row[name]
    if spec == TITLE:
        return NAMES.get(value, str(value))
    if spec == P_VALUE:
        return "< .0001" if value < SMALL_P else f"{value:.2f}"
    if not spec.endswith(WITH_ERROR):
        return format(value, spec)
    digits, error = spec.removesuffix(WITH_ERROR), row[f"{name}_se"]
    return format(value, digits) + ("" if pd.isna(error) else f" ({error:{digits.lstrip('+')}})")
