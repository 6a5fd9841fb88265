"""Columns that say in which records the answers were shown the other way round."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.reading.layouts.table import values
from judgerank.reading.layouts.texts import plain
from judgerank.reading.layouts.unordered import turned
from judgerank.reading.layouts.words import word

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
