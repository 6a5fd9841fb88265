"""How well whole questions are predicted that were not seen, with blocks and without."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.blocks.climbing import Problem
from judgerank.blocks.fit import held_of, shares_of, stacked_on, start_of
from judgerank.blocks.maximum import maximise
from judgerank.blocks.sums import Rows
from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.judgments import Judgments
from judgerank.fits.fit import fit
from judgerank.model.block import Block, Records, Role, Stacked


def held_out(
    judgments: Judgments | Records, blocks: Iterable[str | Block], fold: IntArray, model: str = "position_aware"
) -> pd.DataFrame:
    """Fit all folds but one and predict that one, record by record.

    Parameters
    ----------
    judgments, blocks, model
        As `judgerank.blocks.fit.fit_blocks`.
    fold : int array, shape (T,)
        Of every comparison; questions should be whole.

    Returns
    -------
    DataFrame
        ``fold, with_blocks, without``: log-likelihoods of each comparison, held out. Where ties are an outcome,
        judges who gave none get half a tie's chance in one comparison more.

    Raises
    ------
    NoMaximumError, NotIdentifiedError, DataError
        If some folds cannot be fitted, as `fit_blocks`.
    """
    stacked, records = stacked_on(judgments, blocks, model)
    c, rows = records.comparisons, Rows.of(stacked, records.comparisons)
    table = pd.DataFrame({"fold": fold, "with_blocks": np.nan, "without": np.nan})
    for number in np.unique(fold):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        without = fit(c._rows(train), model)
        start = start_of(without, stacked)
        problem = Problem(stacked, rows.only(train, c), held_of(without, stacked), shares_of(without, stacked))
        for name, theta in (("with_blocks", maximise(problem, start).theta), ("without", start)):
            at = replace(rows, merged=rows.merged[test]).at(_tying(theta, stacked, c._rows(train).judge))
            values = at.law_of(rows.merged[test]).log_likelihood(c.outcome[test], c.known_ties[test])
            table.loc[test, name] = values
    return table


def _tying(theta: FloatArray, stacked: Stacked, judge: IntArray) -> FloatArray:
    """With a chance of a tie for judges who gave none, shape (D,)."""
    there = theta.copy()
    for block, design, place in zip(stacked.blocks, stacked.designs, stacked.places, strict=True):
        if block.role is Role.TIE and design.may_vanish:
            many = np.bincount(judge, minlength=len(design.labels))
            there[place] = np.maximum(there[place], -np.log(many + 1))
    return there
