"""How strong answers are, as shares of rows by strength."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.errors import DataError
from judgerank.data.frames import OUTCOMES

STRENGTH = "strength"  # column of records
MOST_STRENGTHS = 9  # of a win: more are no grades, but scores


def strength_by_side(degree: FloatArray, first: BoolArray, second: BoolArray) -> FloatArray:
    """Which strength beyond better each record finds the first model, and the second.

    Parameters
    ----------
    degree : float array, shape (T,)
        1 for better, 2 for much better, and so on.
    first, second : bool array, shape (T,)
        Which records that model won.

    Returns
    -------
    float array, shape (T, 2 S)
        For the first and for the second model by strength, the weakest first, at least *much better* (S = 1).
    """
    most = max(2, int(degree[first | second].max(initial=2.0)))
    sides = [(degree == size) & side for size in range(2, most + 1) for side in (first, second)]
    return np.stack(sides, axis=1).astype(float)


def with_further(strong: FloatArray, frame: pd.DataFrame) -> FloatArray:
    """Shares by strength of rows and of further records with an answer, one after the other.

    Raises
    ------
    DataError
        If a column `STRENGTH` of the records does not say a win's strength in whole numbers.
    """
    if STRENGTH not in frame:
        raise DataError(
            "these comparisons say how strong each answer is, and the further ones have no column strength: add it"
            " (1 better, 2 much better), or leave strength out of these (dataclasses.replace(rows, strong=None))"
        )
    answer = frame["judge_preferred_model"].map(OUTCOMES).to_numpy(float)
    read = ~np.isnan(answer)
    degree = pd.to_numeric(frame[STRENGTH], errors="coerce").to_numpy(float)
    is_valid = (degree >= 1) & (degree <= MOST_STRENGTHS) & (degree == np.round(degree))
    unknown = read & (answer != OUTCOMES["c"]) & ~is_valid
    if unknown.any():
        row = int(unknown.argmax())
        raise DataError(
            f"record {row + 1} has {frame[STRENGTH].iloc[row]} as its strength; expected a whole number from 1 to "
            f"{MOST_STRENGTHS}"
        )
    extra = strength_by_side(degree[read], answer[read] == OUTCOMES["a"], answer[read] == OUTCOMES["b"])
    width = max(strong.shape[1], extra.shape[1])
    return np.vstack(
        [np.pad(block_rows, ((0, 0), (0, width - block_rows.shape[1]))) for block_rows in (strong, extra)]
    )
