"""Preferences as numbers: the annotations of AlpacaEval, and the comparisons that evaluatorq ranks.

AlpacaEval: ``annotations.json`` in https://github.com/tatsu-lab/alpaca_eval: 1 is for the first output, 2 for the
second, and what lies between is the probability of the second, plus one (annotators that weigh the tokens of their
answer).

evaluatorq: ``JudgedComparison``, what ``fit_bt`` takes (evaluatorq/ranking.py in
https://github.com/orq-ai/evaluatorq): p_a is the probability that item_a is better, weight the number of like
judgments that a record stands for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.frames import OUTCOMES
from judgerank.reading.layouts.table import (
    Layout,
    Table,
    aliases_with,
    columns_by_key,
    records,
    require_models,
    values,
)
from judgerank.reading.layouts.words import number, word

PAIR = ("model_a", "model_b")
GENERATORS = ("generator_1", "generator_2")
KNOWN = aliases_with(
    model_a=GENERATORS[:1], model_b=GENERATORS[1:], judge=("annotator",), question=("instruction",)
)
JUDGED = aliases_with(model_a=("item_a",), model_b=("item_b",), judge=("judge",))
for _aliases in (KNOWN, JUDGED):
    del _aliases["winner"]


def _annotations(table: Table) -> pd.DataFrame:
    frame = records(table, KNOWN, PAIR)
    require_models(frame, GENERATORS)
    preferences = values(table.frame, "preference")
    read = [_read(row, value, table.words) for row, value in enumerate(preferences, 1)]
    return _with(frame, read)


def _with(frame: pd.DataFrame, read: Sequence[tuple[str | None, float | None]]) -> pd.DataFrame:
    """Records with their letters, and with the shares behind them if some are no letter's."""
    frame["judge_preferred_model"] = pd.Series([letter for letter, _ in read], dtype=object)
    if any(share not in (None, *OUTCOMES.values()) for _, share in read):
        frame["outcome"] = [share for _, share in read]
    return frame


def _read(row: int, value: object, words: Mapping[str, str]) -> tuple[str | None, float | None]:
    """The nearest letter, and the share that the first output won."""
    if value is None:
        return None, None
    meant, preference = words.get(str(word(value))), number(value)
    if meant is not None:
        return meant, OUTCOMES.get(meant)
    if preference == 0:  # what AlpacaEval itself scores as a draw
        return "c", 0.5
    if preference is None or not 1 <= preference <= 2:
        raise DataError(f"record {row} has the preference {value!r}, which is neither 0 nor from 1 to 2")
    return _nearest(2 - preference)


def _nearest(share: float) -> tuple[str, float]:
    return "c" if share == 0.5 else "a" if share > 0.5 else "b", share


def _judged(table: Table) -> pd.DataFrame:
    table = _counted(table)
    frame = records(table, JUDGED, PAIR)
    require_models(frame, ("item_a", "item_b"))
    read: list[tuple[str | None, float | None]] = []
    for row, value in enumerate(values(table.frame, "p_a"), 1):
        share = number(value)
        if value is not None and (share is None or not 0 <= share <= 1):
            raise DataError(f"record {row} has {value!r} as 'p_a', not a probability from 0 to 1")
        read.append((None, None) if share is None else _nearest(share))
    return _with(frame, read)


def _counted(table: Table) -> Table:
    """The table with its weights as counts, which they are, unless something else is said."""
    if "weight" not in table.frame or "count" in table.specified:
        return table
    return replace(table, named={**table.named, "count": "weight"})


ALPACA_EVAL = Layout(
    "AlpacaEval's annotations",
    (*GENERATORS, "preference"),
    _annotations,
    lambda table: (
        {key: [name] for key, name in columns_by_key(table, KNOWN, PAIR).items()} | {"winner": ["preference"]}
    ),
    remark="generator_1 is taken as shown first, since the order is not told; a preference of 0 is a "
    "tie, as AlpacaEval scores it (--winner-values 0=unknown leaves it out).",
    aliases=KNOWN,
)
JUDGED_COMPARISONS = Layout(
    "evaluatorq's judged comparisons",
    ("item_a", "item_b", "judge", "p_a"),
    _judged,
    lambda table: (
        {key: [name] for key, name in columns_by_key(_counted(table), JUDGED, PAIR).items()} | {"winner": ["p_a"]}
    ),
    remark="item_a is taken as shown first, since the order is not told; a weight is a number of judgments.",
    aliases=JUDGED,
    reads=("weight",),
)
LAYOUTS = (ALPACA_EVAL, JUDGED_COMPARISONS)
