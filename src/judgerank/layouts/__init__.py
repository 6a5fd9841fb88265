"""Layouts of judgments, each with what tells it from the others and how it is read; one is recognised, or none.

To add one: a `Layout` in the module of its family, listed there.
"""

from __future__ import annotations

from judgerank.errors import DataError
from judgerank.layouts.games import GAMES
from judgerank.layouts.preferences import PREFERENCES
from judgerank.layouts.runs import OF_RUNS
from judgerank.layouts.scores import SCORED
from judgerank.layouts.table import Layout, Table
from judgerank.layouts.tables import ARENA, NAMED, PAPER, TABLES

LAYOUTS: tuple[Layout, ...] = (*TABLES, *GAMES, *PREFERENCES, *OF_RUNS, *SCORED)
__all__ = ["LAYOUTS", "Layout", "Table", "recognised"]


def recognised(table: Table) -> Layout:
    """The one layout that a table is in; where the models or the winner are named, that of the names.

    Raises
    ------
    DataError
        If it could be in several, or lacks a column of the one that it is nearest to.
    """
    if table.frame.empty:
        raise DataError("there are no comparisons: the set is empty")
    if any(table.said.get(key) for key in ("model_a", "model_b", "winner")):
        return NAMED
    columns = frozenset(map(str, table.frame.columns))
    matching = [layout for layout in LAYOUTS if layout.matches(columns, table)]
    if len(matching) > 1:
        raise DataError(
            f"the records could be in {' or in '.join(layout.name for layout in matching)} (column winner=NAME, "
            "model_a=NAME and model_b=NAME decide)"
        )
    if not matching:
        _refuse_one_that_is_cut_short(list(map(str, table.frame.columns)))
    return matching[0] if matching else NAMED  # which says what is missing


def _refuse_one_that_is_cut_short(columns: list[str]) -> None:
    """Name the column that is missing, where most of those of one layout are there, and fewer of any other."""
    share = {layout.name: len(set(columns) & set(layout.needs)) / len(layout.needs) for layout in LAYOUTS}
    nearest = [layout for layout in LAYOUTS if share[layout.name] == max(share.values())]
    missing = [name for name in nearest[0].needs if name not in columns]
    if len(nearest) == 1 and nearest[0] not in (PAPER, ARENA) and share[nearest[0].name] > 0.5 and missing:
        there = ", ".join(" ".join(name.split()) for name in columns)
        raise DataError(
            f"the table has no column {missing[0]!r} (it has: {there}), and is nearest to {nearest[0].name}"
        )
