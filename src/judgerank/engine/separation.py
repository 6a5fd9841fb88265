"""Which judges can run off: those whose own votes agree with some order of the models without exception.

A judge's discrimination grows without end only towards scores that none of its votes contradicts and some vote
supports: its votes are quasi-separable (Albert and Anderson, 1984). Without positions, that is so exactly if some
vote of the judge does not lie on a cycle of its graph from winners to losers. With positions, votes for the first
model ask for s_i - s_j >= -b, those for the second for s_i - s_j <= -b: difference constraints that have a
solution exactly if no cycle is negative, b being 0, 1 or -1 up to scale.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.existence import can_rise
from judgerank.engine.levels import EQUAL, GIVEN, shares
from judgerank.model.block import Role
from judgerank.model.members import Model


def separable_judges(cells: Comparisons, model: Model) -> IntArray:
    """Judges whose discriminations can run off, as far as their own votes say; no other judge's can.

    Exact but for slopes beside positions, where a margin may differ from one comparison to the next: then the
    judges named are those who can without slopes.

    Parameters
    ----------
    cells : Comparisons
        Aggregated.
    model : Model
        With free discriminations.
    """
    if not model.has(Role.TIE, Role.STRONG):
        return np.flatnonzero(_ordered(cells, model, cells.won > EQUAL, cells.lost > EQUAL))
    # Margins between answers are parameters, too, so it takes a linear program. Ties of two ask for a margin of at
    # least zero, and wins lie beyond it: if no order fits a judge's wins and losses, none fits them with ties.
    candidates = np.ones(len(cells.judges), bool)
    if cells.stages is None and not model.has(Role.STRONG):
        of = shares(cells, model)
        won, lost = of[0.5] > GIVEN, of[-0.5] > GIVEN
        decided = np.bincount(cells.judge, won | lost, len(cells.judges)) > 0
        candidates = _ordered(cells, model, won, lost) | ~decided
    separable = [
        k for k in np.flatnonzero(candidates).tolist() if can_rise(cells.with_judges([cells.judges[k]]), model)
    ]
    return np.array(separable, np.intp)


def _ordered(cells: Comparisons, model: Model, first_won: BoolArray, second_won: BoolArray) -> BoolArray:
    """Judges whose wins and losses agree with some order of the models, shape (K,)."""
    above = np.r_[cells.first[first_won], cells.second[second_won]]
    below = np.r_[cells.second[first_won], cells.first[second_won]]
    judge = np.r_[cells.judge[first_won], cells.judge[second_won]].astype(np.intp)
    n, k = len(cells.models), len(cells.judges)
    upper, lower = judge * n + above, judge * n + below
    graph = coo_array((np.ones(len(upper), np.int8), (upper, lower)), shape=(n * k, n * k))
    part = connected_components(graph, connection="strong")[1]
    is_violated = np.bincount(judge, part[upper] != part[lower], k) > 0
    if model.has(Role.OFFSET) and len(judge):
        rank_gap = np.ones(len(cells)) if cells.apart is None else cells.apart
        margin = np.r_[rank_gap[first_won], -rank_gap[second_won]]
        for side in (margin, -margin):
            is_violated |= _ordered_by_a_margin(judge, upper, lower, side, n, k)
    return np.asarray(is_violated, bool)


def _ordered_by_a_margin(
    judge: IntArray, upper: IntArray, lower: IntArray, margin: FloatArray, n: int, k: int
) -> BoolArray:
    """Judges for whom s_other <= s_one + margin can hold for all votes, not always as an equality; shape (K,).

    By Bellman and Ford, all judges at once. A shortest path has fewer than n steps of one, so that anything lower
    comes from a negative cycle.
    """
    order = np.argsort(lower, kind="stable")
    judge, upper, lower, margin = judge[order], upper[order], lower[order], margin[order]
    distance, is_cyclic, steepest = np.zeros(n * k), np.zeros(k, bool), np.abs(margin).max(initial=1.0)
    for _ in range(n * k):
        starts = np.flatnonzero(np.r_[True, lower[1:] != lower[:-1]])
        nearest = np.minimum.reduceat(distance[upper] + margin, starts)
        changed = np.zeros(k, bool)
        targets = lower[starts]
        shorter = nearest < distance[targets]
        changed[judge[starts[shorter]]] = True
        settled = ~changed[judge]
        slack = distance[upper] + margin - distance[lower]
        is_cyclic[judge[settled & (slack > 0)]] = True
        distance[targets[shorter]] = nearest[shorter]
        endless = distance.reshape(k, n).min(axis=1) <= -n * steepest
        going = (changed & ~endless)[judge]
        if not going.any():
            return is_cyclic
        judge, upper, lower, margin = judge[going], upper[going], lower[going], margin[going]
    return is_cyclic
