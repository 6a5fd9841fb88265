"""How strong an answer is, and whether a tie means that both answers are bad: what letters do not say.

Records keep it beside the letter: ``strength`` is 1 for better and 2 for much better, and ``both_bad`` is true for
a tie between answers that are both bad.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import DataError
from judgerank.reading.layouts.words import normal, number, word

STRENGTH, BOTH_BAD = "strength", "both_bad"
SIGNS = ("a>>b", "a<<b", "b>>a", "b<<a")  # verdicts as `normal` writes them
BAD = {"both bad", "bothbad", "tie (bothbad)", "tie (both bad)"}
DEGREES = {
    **dict.fromkeys(("better", "slightly better", "slightly", "slight", "weak", ">", "1"), 1.0),
    **dict.fromkeys(("much better", "much", "strongly", "strong", "significantly better", ">>", "2"), 2.0),
}


def tell_strength(texts: Iterable[str]) -> bool:
    """Whether some words for winners say that an answer is much better."""
    return any(normal(text) in SIGNS for text in texts)


def tell_badness(texts: Iterable[str]) -> bool:
    """Whether some words for winners say that both answers are bad."""
    return any(normal(text) in BAD for text in texts)


def kept(frame: pd.DataFrame, said: Iterable[object]) -> pd.DataFrame:
    """Records with what their winners' words say beyond the letters, where some say more.

    Parameters
    ----------
    frame : DataFrame
        Records in the published columns.
    said : iterable
        The winner of each as it is written.
    """
    texts = ["" if (text := word(value)) is None else normal(text) for value in said]
    if not {*SIGNS, *BAD} & {*texts}:
        return frame
    much = np.isin(texts, SIGNS)
    if much.any() and STRENGTH not in frame:
        frame = frame.assign(**{STRENGTH: np.where(much, 2.0, 1.0)})
    bad = np.isin(texts, sorted(BAD))
    return frame.assign(**{BOTH_BAD: bad}) if bad.any() else frame


def by_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """Records with strength by their ``gap``: much better above the median of the judge's own gaps but zero."""
    gap = frame["gap"].astype(float).abs()
    own = gap.where(gap > 0).groupby(frame["judge_model"]).transform("median")
    return frame.assign(**{STRENGTH: np.where(gap > own, 2.0, 1.0)})


def shares_of(frame: pd.DataFrame) -> FloatArray:
    """Whether each record finds the first model much better, and the second, shape (T, 2), by its column.

    Raises
    ------
    DataError
        Naming a record with a winner whose strength is not known.
    """
    degree = np.full(len(frame), np.nan)
    letter = frame["judge_preferred_model"].to_numpy(object)
    for row, value in enumerate(frame[STRENGTH]):
        degree[row] = _degree(value)
        if letter[row] in ("a", "b") and np.isnan(degree[row]):
            raise DataError(
                f"record {row + 1} has {value!r} as its strength; expected 1 or better, 2 or much better "
                f"(--column {STRENGTH}=null leaves strength out)"
            )
    return np.stack([(degree == 2) & (letter == side) for side in "ab"], axis=1).astype(float)


def _degree(value: object) -> float:
    if value is None or value != value:
        return np.nan
    known = number(value)
    text = normal(str(value)) if known is None else f"{known:g}"
    return DEGREES.get(text, np.nan)
