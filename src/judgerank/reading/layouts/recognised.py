"""Notes on how records were read: other spellings of columns, numbers for winners, winners first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from judgerank.data.frames import UNHEARD
from judgerank.data.listing import listed, noun
from judgerank.reading.layouts.table import Layout, Table, columns_by_key, values
from judgerank.reading.layouts.tables import words_of
from judgerank.reading.layouts.words import OTHER, number, numbers_told, word

Read = tuple[Layout, Table]
SEVERAL = ("[", "{", "(", "array(")  # how a value begins that holds several
FEWEST = 20  # decided records from which it is no chance that the winner is always in one column


def on_reading(read: Sequence[Read]) -> list[str]:
    """Columns read by other spellings of their names, numbers read as winners, and words that no record has."""
    remarks = (remark for layout, table in read for remark in _on_one(layout, table))
    return [*dict.fromkeys(remarks), *_on_unused_words(read)]


def _on_unused_words(read: Sequence[Read]) -> Iterator[str]:
    """Words for the winner whose meaning was told and that no record has, such as misspelt ones."""
    unused = {text for _, table in read for text in table.words} - {OTHER}
    for layout, table in read if unused else ():
        used = layout.used(table)
        for name in {
            name for names in ([used["winner"]] if "winner" in used else used.values()) for name in names
        }:
            texts = {text for value in values(table.frame, name) if (text := word(value)) is not None}
            several = [text for text in texts if text.startswith(SEVERAL)]
            numbers = any(number(text) is not None for text in texts)  # where one says what all of them mean
            unused -= texts | {candidate for candidate in unused if any(candidate in text for text in several)}
            unused -= {candidate for candidate in unused if numbers and number(candidate) is not None}
    if unused:
        words = listed(map(repr, sorted(unused)))
        yield f"--winner-values: no record has {words} for a winner, so that changes nothing. Check the spelling."


def on_unheard(answers: Mapping[str, int]) -> list[str]:
    """A note on judges none of whose answers could be read, by how many answers each has."""
    judges = listed(f"{judge} ({count:,} {noun(count, 'answer')})" for judge, count in sorted(answers.items()))
    return [f"{UNHEARD}{judges}."] if answers else []


def _on_one(layout: Layout, table: Table) -> Iterator[str]:
    if table.spelled:
        renamed = ", ".join(f"{usual} from {name!r}" for usual, name in table.spelled.items())
        yield f"Columns read though their names are written in another way: {renamed}."
    winner = columns_by_key(table, layout.aliases, ()).get("winner")
    if winner is not None:
        yield from numbers_told(values(table.frame, winner), words_of(table, layout.aliases))


def winner_written(frame: pd.DataFrame) -> list[str]:
    """That the winner always stands in one column, which then says nothing of what was shown first."""
    letters = frame["judge_preferred_model"]
    decided = letters[letters.isin(["a", "b", "c"])]
    if len(decided) < FEWEST or (decided != decided.iloc[0]).any() or decided.iloc[0] == "c" or "outcome" in frame:
        return []
    column, position = {"a": ("model_a", "first"), "b": ("model_b", "second")}[decided.iloc[0]]
    return [
        f"Winners seem to be written {position}: {column} won in all {len(decided):,} records that could be read, "
        "so the order carries no position and is not used. If answers were shown in this order, every judge "
        f"always chose the {position}, and nothing can be learned."
    ]
