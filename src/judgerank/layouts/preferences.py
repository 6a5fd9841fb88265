"""Preferences as numbers: the annotations of AlpacaEval.

``annotations.json`` in https://github.com/tatsu-lab/alpaca_eval: 1 is for the first output, 2 for the second, and
what lies between is the probability of the second, plus one (annotators that weigh the tokens of their answer).
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judgerank.errors import DataError
from judgerank.frames import OUTCOMES, UNPARSED
from judgerank.layouts.table import Layout, Table, found, known_as, records, require_models, values
from judgerank.layouts.words import number, word

PAIR = ("model_a", "model_b")
GENERATORS = ("generator_1", "generator_2")
KNOWN = known_as(model_a=GENERATORS[:1], model_b=GENERATORS[1:], judge=("annotator",), question=("instruction",))
del KNOWN["winner"]


def _annotations(table: Table) -> pd.DataFrame:
    frame = records(table, KNOWN, PAIR)
    require_models(frame, GENERATORS)
    said = values(table.frame, "preference")
    read = [_read(row, value, table.words) for row, value in enumerate(said, 1)]
    frame["judge_preferred_model"] = [letter for letter, _ in read]
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
    if preference == 0:
        return UNPARSED, None
    if preference is None or not 1 <= preference <= 2:
        raise DataError(f"record {row} has the preference {value!r}, which is neither 0 nor from 1 to 2")
    share = 2 - preference
    return "c" if share == 0.5 else "a" if share > 0.5 else "b", share


ALPACA_EVAL = Layout(
    "AlpacaEval's annotations",
    (*GENERATORS, "preference"),
    _annotations,
    lambda table: {key: [name] for key, name in found(table, KNOWN, PAIR).items()} | {"winner": ["preference"]},
    remark="generator_1 is taken as shown first, since the order is not told; a preference of 0 is not read "
    "(winner value 0=tie reads it as a tie).",
)
