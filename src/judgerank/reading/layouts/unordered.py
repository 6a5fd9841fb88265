"""Pairs in which nobody is known to have been shown first: winners and losers, chosen and rejected."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray
from judgerank.data.errors import DataError
from judgerank.data.listing import listed
from judgerank.data.rankings import in_stages
from judgerank.reading.layouts.table import (
    SCORE_GAP,
    SIDES,
    Layout,
    Table,
    aliases_with,
    columns_by_key,
    other_side,
    records,
    require_models,
    values,
)
from judgerank.reading.layouts.texts import plain
from judgerank.reading.layouts.words import SWAPPED, word

PAIR = ("model_a", "model_b")
OF_TEXTS = ("chosen_model", "rejected_model")
PAIRS = (("winner", "loser"), ("winner_model", "loser_model"), OF_TEXTS)
TEXTS = ("chosen", "rejected")  # names of models in some tables, and answers in most
TIE = ("tie", "is_tie", "draw")  # columns that mark a tie
MARKS = {"true": "c", "1": "c", "1.0": "c", "false": "a", "0": "a", "0.0": "a", "none": "a", "nan": "a", "": "a"}
NO_NAMES = {
    "yes",
    "no",
    "true",
    "false",
    "maybe",
    "none",
    "unknown",
    "correct",
    "incorrect",
    "positive",
    "negative",
}
SENTENCE = re.compile(r".*(?:\s.*\.|[!?])", re.DOTALL)
LONGEST_NAME = 200  # characters; an answer is longer, or is there once
ONCE, FEWEST = 0.8, 10  # share of different texts, of so many or more, beyond which they are no models


def by_name(frame: pd.DataFrame) -> pd.DataFrame:
    """Records in the published columns, the models of each in the order of their names.

    What is said of either is turned with them, so that the order of a record says nothing. Rows of rankings stay.
    """
    pairs = zip(frame["model_a"].astype(str), frame["model_b"].astype(str), strict=True)
    return turned(frame, np.array([a > b for a, b in pairs], bool) & ~in_stages(frame))


def turned(frame: pd.DataFrame, rows: BoolArray) -> pd.DataFrame:
    """Records in the published columns, some with the models, and all that is said of either, exchanged."""
    if not rows.any():
        return frame
    exchanged = frame[rows]
    sides = {name: other_side(name) for name in frame.columns if _is_of_a_side(name, frame)}
    exchanged = exchanged.rename(columns=sides)[list(frame.columns)]
    exchanged["judge_preferred_model"] = exchanged["judge_preferred_model"].replace(SWAPPED)
    if "outcome" in exchanged:
        exchanged["outcome"] = 1 - pd.to_numeric(exchanged["outcome"])
    if SCORE_GAP in exchanged:
        exchanged[SCORE_GAP] = -pd.to_numeric(exchanged[SCORE_GAP])
    return pd.concat([frame[~rows], exchanged]).sort_index(kind="stable")


def _is_of_a_side(name: object, frame: pd.DataFrame) -> bool:
    return isinstance(name, str) and name[-2:] in SIDES and other_side(name) in frame


def won_lost(pairs: Iterable[tuple[object, object]]) -> pd.DataFrame:
    """A table of ``winner, loser`` out of pairs of names or numbers, as choix takes them.

    Raises
    ------
    DataError
        Naming what is no pair.
    """
    pairs = list(pairs)
    odd = next((row for row, pair in enumerate(pairs, 1) if len(pair) != 2), None)
    if odd is not None:
        raise DataError(f"record {odd} is {pairs[odd - 1]!r}, not a pair (winner, loser)")
    return pd.DataFrame([(str(won), str(lost)) for won, lost in pairs], columns=list(PAIRS[0]), dtype=object)


def _layout(won: str, lost: str, also: Callable[[frozenset[str], Table], bool]) -> Layout:
    aliases = aliases_with(model_a=(won,), model_b=(lost,))
    del aliases["winner"]

    def to_frame(table: Table) -> pd.DataFrame:
        frame = records(table, aliases, PAIR)
        _refuse_texts(frame, won, lost)
        require_models(frame, (won, lost))
        return frame.assign(judge_preferred_model=pd.Series(_answers(table), dtype=object))

    def used(table: Table) -> dict[str, list[str]]:
        tie = _tie(table)
        return {key: [name] for key, name in columns_by_key(table, aliases, PAIR).items()} | (
            {"tie": [tie]} if tie else {}
        )

    def notes(table: Table) -> Iterator[str]:
        if (won, lost) == TEXTS:
            names = sorted({str(name) for column in TEXTS for name in values(table.frame, column)})
            yield (
                f"{won!r} and {lost!r} are read as names of models: {listed(names)}. If they are answers, add "
                f"columns {' and '.join(map(repr, OF_TEXTS))} with the names."
            )

    return Layout(
        f"winners and losers ({won}, {lost})",
        (won, lost),
        to_frame,
        used,
        also=also,
        remark=f"{won!r} is the better model of each record, and no column says which was shown first.",
        notes=notes,
        ordered=False,
        accepts=frozenset(aliases) - {*PAIR},
        aliases=aliases,
        reads=TIE,
    )


def _tie(table: Table) -> str | None:
    return next((name for name in TIE if name in table.frame.columns), None)


def _answers(table: Table) -> list[str]:
    """Letters: the first model won, unless a column says that it is a tie."""
    tie = _tie(table)
    if tie is None:
        return ["a"] * len(table.frame)
    marks = [str(value).strip().lower() for value in values(table.frame, tie)]
    odd = next((row for row, text in enumerate(marks) if text not in MARKS), None)
    if odd is not None:
        raise DataError(f"record {odd + 1} has {marks[odd]!r} as {tie!r}, neither true nor false")
    return [MARKS[text] for text in marks]


def _refuse_texts(frame: pd.DataFrame, won: str, lost: str) -> None:
    """Refuse answers where names of models belong: messages, long texts, texts there once, yes and no."""
    names = [*frame["model_a"], *frame["model_b"]]
    texts = [name for name in names if name is not None and not isinstance(name, str | int | np.integer)]
    texts += [name for name in names if isinstance(name, str) and (len(name) > LONGEST_NAME or "\n" in name)]
    if (won, lost) == TEXTS:
        texts += [name for name in names if isinstance(name, str) and _is_answer(name)]
    if texts or (len(names) >= FEWEST and len({*map(str, names)}) > ONCE * len(names)):
        raise DataError(
            f"columns {won!r} and {lost!r} hold answers, not the names of models (add columns "
            f"{' and '.join(map(repr, OF_TEXTS))} with the names)"
        )


def _is_answer(text: str) -> bool:
    """Whether a short text is no name: yes, no and the like, or a sentence."""
    return text.strip(" .!?").casefold() in NO_NAMES or SENTENCE.fullmatch(text.strip()) is not None


def _is_pair(columns: frozenset[str], table: Table) -> bool:
    return columns.isdisjoint({*PAIR, "left", "right", "model_1", "model_2"})


def _has_no_names(columns: frozenset[str], table: Table) -> bool:
    plain_names = set(map(plain, columns))
    return _is_pair(columns, table) and plain_names.isdisjoint({name for pair in PAIRS for name in pair})


LAYOUTS = (
    *(_layout(won, lost, _is_pair) for won, lost in PAIRS),
    _layout(*TEXTS, _has_no_names),
)


# Columns that say in which records the answers were shown the other way round.
_TURNS = ("swapped", "swap", "flipped", "flip", "reversed", "reverse", "switched", "switch")
_WITH = ("", "is_", "was_", "order_", "orders_", "position_", "positions_", "answers_")
SWAPS = {f"{before}{turn}" for before in _WITH for turn in _TURNS}
SWAPS |= {f"{turn}_{noun}" for turn in _TURNS for noun in ("order", "orders", "position", "positions", "answers")}
# these could be about something else, so their words must be those of an order
ORDERS = {
    "order",
    "ordering",
    "orientation",
    "position",
    "presentation",
    "direction",
    "shown_first",
    "first_shown",
}
ORDERS |= {f"{noun}_order" for noun in ("presentation", "display", "answer", "position", "model", "models")}
STRAIGHT = {
    "ab",
    "a_b",
    "a",
    "a_first",
    "direct",
    "single",
    "original",
    "normal",
    "forward",
    "unswapped",
    "model_a",
}
TURNED = {"ba", "b_a", "b", "b_first", "reversed", "reverse", "swapped", "swap", "flipped", "backward", "model_b"}
YES, NO = {"true", "yes", "1", "t", "y"}, {"false", "no", "0", "f", "n"}


def in_shown_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Records in the order in which answers were shown, by the column ``swapped`` if there is one, which goes.

    Raises
    ------
    DataError
        Naming a record that does not say it.
    """
    if "swapped" not in frame:
        return frame
    is_turned = []
    pairs = zip(frame["swapped"], frame["model_a"], frame["model_b"], strict=True)
    for row, (value, first, second) in enumerate(pairs, 1):
        text = _order_text(value)
        if value not in (first, second) and text not in STRAIGHT | TURNED | YES | NO:
            raise DataError(
                f"record {row} has {value!r} as 'swapped', which does not say whether model_b was shown first "
                "(known: true, false, 1, 0, ab, ba, original, swapped, or the name of the model shown first)"
            )
        is_turned.append(value == second or (value != first and text in TURNED | YES))
    return turned(frame.drop(columns="swapped"), np.array(is_turned, bool))


def refuse_unspoken_swaps(table: pd.DataFrame, unused: Iterable[str]) -> None:
    """Refuse an unused column by whose name and values some answers were shown the other way round."""
    for name in unused:
        if plain(name) not in SWAPS | ORDERS:
            continue
        texts = [text for value in values(table, name) if (text := _order_text(value))]
        odd = TURNED | YES if plain(name) in SWAPS else TURNED
        if plain(name) in ORDERS and not set(texts) <= TURNED | STRAIGHT:
            continue
        n_odd = sum(text in odd for text in texts)
        if n_odd or not set(texts) <= TURNED | STRAIGHT | YES | NO:
            raise DataError(
                f"column {name!r} would not be read, though it seems to say that answers were shown the other way "
                f"round in {n_odd} records (--column swapped={name!r} reads it: there model_b was shown first, "
                "and the winner still names its column; --column swapped=null takes model_a as shown "
                "first throughout)"
            )


def _order_text(value: object) -> str:
    text = word(value)
    return "" if text is None else plain(text)
