"""Judgments, a member of the family and further blocks -> a certified fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from judgerank.blocks.climbing import Problem
from judgerank.blocks.maximum import maximise
from judgerank.blocks.result import BlockFit
from judgerank.blocks.sums import Rows
from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.errors import ConfigError, DataError, NoMaximumError
from judgerank.engine.existence import GIVEN
from judgerank.engine.solution import Status
from judgerank.engine.sums import evaluate
from judgerank.fits.fit import fit
from judgerank.fits.result import FitResult
from judgerank.model.block import Block, Records, Stacked
from judgerank.model.kinds.members import blocks_of
from judgerank.model.members import get_model
from judgerank.model.naming import all_of
from judgerank.reading.read import Source, read_judgments


def fit_blocks(
    judgments: Source | Records, blocks: Iterable[str | Block], model: str = "position_aware"
) -> BlockFit:
    """Maximum likelihood of a member of the family with further blocks, such as style or categories.

    Parameters
    ----------
    judgments : anything that `judgerank.read` reads, or Records
        Raw rows, with the columns that the blocks need.
    blocks : iterable of str or Block
        Names with columns, as in ``["style:length", "category"]`` (see `naming.named`), or blocks of your own.
    model : str
        A member of the family.

    Raises
    ------
    ConfigError
        If the model or a block is not known.
    DataError
        If a block lacks what it needs in the records, or these are aggregated.
    NotIdentifiedError, NoMaximumError
        If blocks cannot be told apart, or something runs off to infinity, with the blocks or without.
    """
    stacked, records = stacked_on(judgments, blocks, model)
    without = fit(records.comparisons, model)
    if without.status is Status.UNBOUNDED:
        names = ", ".join(without.unbounded_judges)
        raise NoMaximumError(
            f"the likelihood has no maximum: the discrimination of {names} runs off to infinity", ()
        )
    rows = Rows.of(stacked, records.comparisons)
    problem = Problem(stacked, rows, held_of(without, stacked), shares_of(without, stacked))
    return BlockFit(without, maximise(problem, start_of(without, stacked)), records)


def stacked_on(judgments: Source | Records, blocks: Iterable[str | Block], model: str) -> tuple[Stacked, Records]:
    """A member's blocks and further ones over some records, and these.

    Raises
    ------
    ConfigError, DataError
        As `fit_blocks`.
    """
    records = judgments if isinstance(judgments, Records) else Records.of(read_judgments(judgments))
    chosen = all_of(blocks)
    if not chosen:
        raise ConfigError("no block is named")
    if np.any(records.comparisons.count != 1):
        raise DataError("blocks take raw comparisons, and these are aggregated")
    member = get_model(model, records.comparisons)
    records = replace(records, comparisons=records.comparisons.with_ties())
    return Stacked.of((*blocks_of(member), *chosen), records), records


def start_of(without: FitResult, stacked: Stacked) -> FloatArray:
    """The fit without further blocks, these at zero, shape (D,)."""
    theta = np.zeros(stacked.size)
    at, model = without.solution.parameters, without.model
    theta[stacked.place("scores")] = at.scores
    for number, name in enumerate(model.judge_blocks):
        if not (model.fixed_scale and number == 0):
            theta[stacked.place(name)] = at.judges[number]
    return theta


def held_of(without: FitResult, stacked: Stacked) -> BoolArray:
    """What stays as the fit without further blocks has it, shape (D,).

    Slopes on their bound; positions and ties of a judge at zero discrimination who never gives one of the answers,
    since they have no maximum and say nothing of anybody else.
    """
    held = np.zeros(stacked.size, bool)
    if without.model.has_slope:
        held[stacked.place("slope")] = without._slope_held
    cells, away = without.comparisons, ~without.solution.parameters.in_play
    tied = cells.tied if cells.tied is not None else np.zeros(len(cells))
    wins = [np.bincount(cells.judge, cells.count * (y - tied / 2)) for y in (cells.outcome, 1 - cells.outcome)]
    one_sided = away & (np.minimum(*wins) <= GIVEN)
    for name in without.model.judge_blocks[without.model.n_scale :]:
        held[stacked.place(name)] = one_sided
    return held


def shares_of(without: FitResult, stacked: Stacked) -> FloatArray:
    """What each log discrimination goes into their mean with during a climb, shape (D,), summing to one.

    As much as its judge's comparisons say of the scores' scale: next to nothing for a judge who says nothing.
    """
    shares, model, at = np.zeros(stacked.size), without.model, without.solution.parameters
    if model.n_scale and not model.fixed_scale:
        cells = without.comparisons
        told = evaluate(cells, model, at, "expected").judge_information[:, 0, 0]
        shares[stacked.place("log_discrimination")] = told / told.sum()
    return shares
