"""Starts for judges who run off: where the likelihood rises without end, but falls on the way there.

A judge whose own votes no order of the models need contradict may have the others follow that order, and then
runs off. From an ordinary maximum no climb leads there. So the judge's counts are taken several times, which
pulls the scores towards its order. Where a climb of that likelihood has the judge decide nearly every pair,
another climb goes on with the counts as they are. Where few judges can run off, pairs of them are tried as well.
All starts climb at once (`judgerank.engine.multistart`), in a box that is wide in positions, which run off with
discriminations.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.multistart import DONE, MOST_FILLED, climbed, distinct, in_box
from judgerank.engine.starts import Rows
from judgerank.model.members import Model, Parameters

ALONE, TOGETHER = 3.0, 5.0  # times that the counts of one judge are taken, and those of each of two
FEW = 8  # judges up to which all pairs of them are tried
DECIDES = 6.0  # log-odds of a typical pair under a judge who is far out
BOX = {"scores": 6.0, "log_discrimination": 9.0, "position": 1000.0}
BARRIER, STEPS, TURNS = 0.03, 5, 12  # weight; steps in turn, after which starts that rise no longer are left alone
AT_ONCE = 100_000  # rows times starts


class FarOut(NamedTuple):
    """What climbs with judgments counted more often lead to.

    Attributes
    ----------
    starts : list of Parameters
        Points to climb from at which one or two judges are far out, best first.
    alone : list of int and Parameters
        Judges who are far out where theirs alone are counted `ALONE` times, and where that is.
    """

    starts: list[Parameters]
    alone: list[tuple[int, Parameters]]


def far_starts(cells: Comparisons, model: Model, at: Parameters, judges: IntArray, slope_bound: float) -> FarOut:
    """Points to climb from at which one or two of these judges are far out; maybe none.

    Parameters
    ----------
    cells : Comparisons
        Aggregated, counts in units (`engine.count_scaling`).
    model : Model
    at : Parameters
        The best end known.
    judges : int array
        Who may run off (`engine.separation`).
    slope_bound : float
        Largest slope, where there are slopes.
    """
    if not judges.size:
        return FarOut([], [])
    rows = Rows(cells, model)
    bound = in_box(rows, BOX | {"slope": slope_bound})
    start = np.r_[at.scores, at.judges[: len(rows.blocks)].ravel()][:, None]
    start = np.clip(start, -MOST_FILLED * bound, MOST_FILLED * bound)
    ends = list(_counted_more(rows, start, bound, judges))
    x, times = (np.hstack(parts) for parts in zip(*((x, times) for times, x in ends), strict=True))
    far = _far_out(rows, x, times)
    if not far.any():
        return FarOut([], [])

    def at_place(x: FloatArray, column: int) -> Parameters:
        judge_values = x[rows.n :, column].reshape(-1, rows.k)
        return Parameters(x[: rows.n, column].copy(), np.vstack([judge_values, at.judges[len(rows.blocks) :]]))

    alone = [(int(k), at_place(x, column)) for column, k in enumerate(judges) if far[column]]
    x, rough_ends = climbed(rows, x[:, far], bound, BARRIER, STEPS)
    return FarOut([at_place(x, column) for column in distinct(rows, rough_ends)], alone)


def _counted_more(
    rows: Rows, start: FloatArray, bound: FloatArray, judges: IntArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Factors of the counts, shape (K, S), and where climbs with these end, for so many starts at a time."""
    pairs = combinations(judges, 2) if len(judges) <= FEW else ()
    groups = [*((k,) for k in judges), *pairs]
    factors = np.ones((rows.k, len(groups)))
    for column, group in enumerate(groups):
        factors[list(group), column] = ALONE if len(group) == 1 else TOGETHER
    n_at_once = max(1, AT_ONCE // len(rows))
    for first in range(0, len(groups), n_at_once):
        times = factors[:, first : first + n_at_once]
        x = np.repeat(start, times.shape[1], axis=1)
        height, rising = np.full(times.shape[1], -np.inf), np.arange(times.shape[1])
        for _ in range(TURNS):
            x[:, rising], rough_ends = climbed(
                rows.counting(times[:, rising]), x[:, rising], bound, BARRIER, STEPS
            )
            before, height[rising] = height[rising], rough_ends.fit
            rising = rising[rough_ends.fit > before + DONE]
            if not rising.size:
                break
        yield times, x


def _far_out(rows: Rows, x: FloatArray, times: FloatArray) -> np.ndarray:
    """Starts at which a judge counted more often decides nearly every pair, shape (S,)."""
    reach = np.exp(x[rows.n : rows.n + rows.k]) * x[: rows.n].std(axis=0)
    return ((reach > DECIDES) & (times > 1)).any(axis=0)
