"""What to know first of how records were read: other spellings of columns, numbers for winners, winners first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from judgerank.reading.layouts.table import Layout, Table, found, values
from judgerank.reading.layouts.tables import words_of
from judgerank.reading.layouts.words import numbers_told

FEWEST = 20  # decided records from which it is no chance that the winner is always in one column


def on_reading(read: Sequence[tuple[Layout, Table]]) -> list[str]:
    """Columns that were read by other spellings of their names, and numbers that were read as winners."""
    return list(dict.fromkeys(said for layout, table in read for said in _on_one(layout, table)))


def _on_one(layout: Layout, table: Table) -> Iterator[str]:
    if table.spelled:
        told = ", ".join(f"{usual} from {name!r}" for usual, name in table.spelled.items())
        yield f"Columns read though their names are written in another way: {told}."
    winner = found(table, layout.known, ()).get("winner")
    if winner is not None:
        yield from numbers_told(values(table.frame, winner), words_of(table, layout.known))


def winner_written(frame: pd.DataFrame) -> list[str]:
    """That the winner always stands in one column, which then says nothing of what was shown first."""
    letters = frame["judge_preferred_model"]
    decided = letters[letters.isin(["a", "b", "c"])]
    if len(decided) < FEWEST or (decided != decided.iloc[0]).any() or decided.iloc[0] == "c" or "outcome" in frame:
        return []
    column, place = {"a": ("model_a", "first"), "b": ("model_b", "second")}[decided.iloc[0]]
    return [
        f"Winners seem to be written {place}: {column} won in all {len(decided):,} records that could be read, so "
        "the order carries no position and is not used. If answers were shown in this order, every judge always "
        f"chose the {place}, and nothing can be learned."
    ]
