"""How strong an answer is, and whether a tie means that both answers are bad: what letters do not say.

Records keep it beside the letter: ``strength`` is 1 for better, 2 for much better and so on, and ``both_bad`` is
true for a tie between answers that are both bad.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.errors import DataError
from judgerank.data.frames import MOST_STRENGTHS, STRENGTH, strength_by_side
from judgerank.reading.layouts.words import are_signed, degrees, normal, number, of_verdict, word

BOTH_BAD = "both_bad"
BAD = {"both bad", "bothbad", "tie (bothbad)", "tie (both bad)"}


def tell_strength(texts: Iterable[str]) -> bool:
    """Whether some words for winners say that an answer is much better."""
    return bool(_more_than_better([normal(text) for text in texts]).any())


def tell_badness(texts: Iterable[str]) -> bool:
    """Whether some words for winners say that both answers are bad."""
    return any(normal(text) in BAD for text in texts)


def with_strength(frame: pd.DataFrame, winners: Iterable[object]) -> pd.DataFrame:
    """Records with what their winners' words say beyond the letters, where some say more.

    Parameters
    ----------
    frame : DataFrame
        Records in the published columns.
    winners : iterable
        The winner of each as it is written.
    """
    texts = ["" if (text := word(value)) is None else normal(text) for value in winners]
    different = {*texts}
    if not BAD & different and not _more_than_better([*different]).any():
        return frame
    much = _more_than_better(texts)
    if much.any() and STRENGTH not in frame:
        frame = frame.assign(**{STRENGTH: np.where(much, degrees(of_verdict(text) or "" for text in texts), 1.0)})
    bad = np.isin(texts, sorted(BAD))
    return frame.assign(**{BOTH_BAD: bad}) if bad.any() else frame


def by_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """Records with strength by their ``gap``: much better above the median of the judge's own gaps but zero."""
    gap = frame["gap"].astype(float).abs()
    judge_median = gap.where(gap > 0).groupby(frame["judge_model"]).transform("median")
    return frame.assign(**{STRENGTH: np.where(gap > judge_median, 2.0, 1.0)})


def _more_than_better(texts: Sequence[str]) -> BoolArray:
    """Which winners' normal texts say more than better; numbers do where they have signs (`grades.are_signed`)."""
    parts = [of_verdict(text) for text in texts]
    values = {parsed for text in {*texts} if (parsed := number(text)) is not None}
    numbers = are_signed(values)
    degree_texts = ["" if part is None or (part.isdigit() and not numbers) else part for part in parts]
    return np.asarray(degrees(degree_texts) > 1)


def shares_of(frame: pd.DataFrame) -> FloatArray:
    """Which strength beyond better each record finds the first model, and the second, by its column.

    Returns
    -------
    float array, shape (T, 2 S)
        As of `strength_by_side`.

    Raises
    ------
    DataError
        Naming a record with a winner whose strength is not known.
    """
    texts = [_strength_text(value) for value in frame[STRENGTH]]
    degree, letter = degrees(texts), frame["judge_preferred_model"].to_numpy(object)
    won = np.isin(letter, ["a", "b"])
    unknown = won & np.isnan(degree)
    if unknown.any():
        row = int(unknown.argmax())
        cell = frame[STRENGTH].iloc[row]
        raise DataError(
            f"record {row + 1} has {cell.item() if isinstance(cell, np.generic) else cell!r} as its strength; "
            f"expected 1 or better, 2 or much better, and so on up to {MOST_STRENGTHS} (--column {STRENGTH}=null "
            "leaves strength out)"
        )
    return strength_by_side(degree, letter == "a", letter == "b")


def _strength_text(value: object) -> str:
    """A strength as a normal text; empty if there is none."""
    if value is None or value != value:
        return ""
    parsed = number(value)
    return normal(str(value)) if parsed is None else f"{parsed:g}"
