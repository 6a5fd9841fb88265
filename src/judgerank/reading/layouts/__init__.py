"""Layouts of judgments: how each is recognised by its columns, and how it is read.

To add one: a module in this folder whose ``LAYOUTS`` holds it (docs/extend/files.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module

import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.data.listing import listed
from judgerank.data.modules import names_in
from judgerank.reading.layouts.by_recipe import refuse_nearly_known, refuse_other_models
from judgerank.reading.layouts.guards import guarded
from judgerank.reading.layouts.paths import with_paths
from judgerank.reading.layouts.score_tables import SCORE_TABLE
from judgerank.reading.layouts.spelling import alike, as_usual, refuse_doubtful
from judgerank.reading.layouts.table import OF_SCORES, Layout, Table
from judgerank.reading.layouts.tables import ARENA, NAMED, PAPER, WIDE, refuse_unasked_wide
from judgerank.reading.layouts.texts import is_whole, plain
from judgerank.reading.layouts.wide_scores import BY_KEY, refuse_wide_scores
from judgerank.reading.layouts.words import winner_by_name

FIRST = (
    *("tables", "games", "preferences", "runs", "sample_scores", "promptfoo", "variants"),
    *("score_tables", "wide_scores", "unordered", "human_beside", "ranked", "by_recipe"),
)


def _discovered() -> tuple[Layout, ...]:
    """The layouts of every module of this folder: those of `FIRST` in that order, then others by their names.

    The order is that in which a refusal lists them; which one is recognised does not depend on it.
    """
    modules = [import_module(f"{__name__}.{name}") for name in (*FIRST, *names_in(__path__, FIRST))]
    return tuple(layout for module in modules for layout in getattr(module, "LAYOUTS", ()))


LAYOUTS = _discovered()
MOST_COLUMNS = 2_000
OF_TIES = {"tie", "ties", "tied", "draw", "is_tie", "is_draw", "winner_tie"}
__all__ = ["LAYOUTS", "Layout", "Table", "recognised"]


def recognised(table: Table) -> tuple[Layout, Table]:
    """The one layout that a table is in, and the table with its columns as that layout calls them.

    Where the models or the winner are named, the layout is that of the names.

    Raises
    ------
    DataError
        If it could be in several, or lacks a column of the one that it is nearest to; if columns compete for a
        name, or one that would not be read is nearly a known one.
    """
    if table.frame.empty:
        raise DataError("there are no comparisons: the set is empty")
    width = len(table.frame.columns)
    if width > MOST_COLUMNS:
        raise DataError(
            f"the table has {width:,} columns ({listed(map(str, table.frame.columns[:MOST_COLUMNS]), width)}), "
            f"and judgments have {MOST_COLUMNS:,} at most: is it separated by another character?"
        )
    table = with_paths(table, filter(None, table.specified.values()))
    layout, usual = _settled(table)
    usual = layout.prepare(usual)
    refuse_doubtful(usual, layout)
    _refuse_halves(usual, layout)
    return layout, guarded(layout, usual)


def _refuse_halves(table: Table, layout: Layout) -> None:
    """Refuse texts that are read and cannot be written, naming the record."""
    for name in dict.fromkeys(name for names in layout.used(table).values() for name in names):
        column = table.frame.get(name)
        texts = (
            [value if isinstance(value, str) else "" for value in column] if isinstance(column, pd.Series) else []
        )
        if not is_whole("".join(texts)):
            row = next(row for row, text in enumerate(texts, 1) if not is_whole(text))
            raise DataError(f"record {row} has half a character (a lone surrogate) as {name!r}: mend the text")


def _settled(table: Table) -> tuple[Layout, Table]:
    wide = [key for key in ("judges", *BY_KEY) if table.specified.get(key)]
    if len(wide) > 1:
        raise ConfigError(f"columns are {wide[0]} or {wide[1]}, not both: leave one out")
    if table.specified.get("judges"):
        return WIDE, as_usual(table, WIDE)
    for key, layout in BY_KEY.items():
        if table.specified.get(key):
            return layout, as_usual(table, layout)
    if any(table.specified.get(key) for key in ("model_a", "model_b", "winner")):
        return NAMED, as_usual(table, NAMED)
    if any(table.specified.get(key) for key in OF_SCORES):
        return SCORE_TABLE, as_usual(table, SCORE_TABLE)
    usual = {layout.name: as_usual(table, layout) if layout.recipe is None else table for layout in LAYOUTS}
    matching = [layout for layout in LAYOUTS if _matches(layout, usual[layout.name])]
    as_written = [layout for layout in matching if not {*layout.needs} & usual[layout.name].spelled.keys()]
    matching = _most_specific(as_written or matching)
    if len(matching) > 1:
        raise DataError(
            f"the records could be in {' or in '.join(layout.name for layout in matching)} (--column winner=NAME, "
            "model_a=NAME and model_b=NAME decide)"
        )
    if not matching:
        winner = winner_by_name(table.frame.columns)
        if winner is not None:
            _refuse_one_of_several(winner, table, usual)
            table = replace(table, named={**table.named, "winner": winner})
            return NAMED, as_usual(table, NAMED)
        refuse_wide_scores(table)
        refuse_nearly_known(table)
        _refuse_one_that_is_cut_short(list(map(str, table.frame.columns)))
        refuse_unasked_wide(as_usual(table, NAMED))
        if not {"model_a", "model_b"} <= {*as_usual(table, NAMED).frame.columns}:
            refuse_other_models(table)
        return NAMED, as_usual(table, NAMED)  # which says what is missing
    _refuse_one_that_is_nearly_more(matching[0], usual[matching[0].name])
    return matching[0], usual[matching[0].name]


def _most_specific(matching: list[Layout]) -> list[Layout]:
    """The layouts without those of which a recipe among them needs all columns and more."""
    needs = [{*layout.needs} for layout in matching if layout.recipe is not None]
    return [layout for layout in matching if not any({*layout.needs} < columns for columns in needs)]


def _matches(layout: Layout, table: Table) -> bool:
    return layout.matches(frozenset(map(str, table.frame.columns)), table)


def _refuse_one_that_is_nearly_more(layout: Layout, table: Table) -> None:
    """Name the column that keeps a table from a layout with more columns, so that it would be read otherwise."""
    columns = set(map(str, table.frame.columns))
    for candidate in LAYOUTS:
        missing = [name for name in candidate.needs if name not in columns]
        if len(missing) == 1 and {*layout.needs} < {*candidate.needs}:
            similar = next((name for name in columns - {*candidate.needs} if alike(name, missing[0])), None)
            if similar is not None:
                raise DataError(
                    f"column {similar!r} looks like {missing[0]!r} of {candidate.name}, and the records "
                    f"would be read as {layout.name}: rename it (--column winner=NAME, model_a=NAME "
                    "and model_b=NAME decide)"
                )


def _refuse_one_of_several(winner: str, table: Table, usual: Mapping[str, Table]) -> None:
    """Refuse a column of winners that says who won only beside others, of which one is misspelt or not read."""
    for layout in LAYOUTS:
        spelled, columns = usual[layout.name].spelled, {*map(str, usual[layout.name].frame.columns)}
        if winner not in [spelled.get(name, name) for name in layout.needs if name in columns]:
            continue
        for missing in (name for name in layout.needs if name not in columns):
            near = next((name for name in sorted(columns - {*layout.needs}) if alike(name, missing)), None)
            if near is not None:
                raise DataError(
                    f"column {near!r} looks like {missing!r} of {layout.name}, without which {winner!r} does not "
                    "say who won: rename it"
                )
    of_ties = next((name for name in table.frame.columns if plain(str(name)) in OF_TIES), None)
    if of_ties is not None:
        raise DataError(
            f"column {of_ties!r} would not be read, though it may say which records are ties, and {winner!r} "
            "cannot: write one column of winners (a, b or tie), or leave that one out"
        )


def _refuse_one_that_is_cut_short(columns: list[str]) -> None:
    """Name the column that is missing, where most of those of one layout are there, and fewer of any other."""
    layouts = [layout for layout in LAYOUTS if len(layout.needs) > 1]
    share = {layout.name: len(set(columns) & set(layout.needs)) / len(layout.needs) for layout in layouts}
    nearest = [layout for layout in layouts if share[layout.name] == max(share.values())]
    missing = [name for name in nearest[0].needs if name not in columns]
    if len(nearest) == 1 and nearest[0] not in (PAPER, ARENA) and share[nearest[0].name] > 0.5 and missing:
        raise DataError(
            f"the table has no column {missing[0]!r} (it has: {listed(columns)}), and is nearest to "
            f"{nearest[0].name}"
        )
