"""Levels of answers in comparisons: which were given, by whom, and what they ask of the parameters.

A level is c = -1, -1/2, 0, 1/2, 1, from much better for the second model to much better for the first. In the
likelihood its exponent is c times the predictor plus the threshold of |c| (`judgerank.model.law`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.sums import LEAST_SHARE, first_shown_share, judged, tied_share
from judgerank.model.block import Role
from judgerank.model.limits import ALWAYS_STRONG
from judgerank.model.members import Model

GIVEN = 1e-9  # share of an answer above which it was given
EQUAL = 1e-8  # scores closer than this, relative to their range, count as equal: fits are exact to about 1e-10
RISE = 1e-6  # of a program whose variables lie within one: a direction that rises at all rises by far more
STEPS = 60  # halvings of the interval in which a position is sought
THRESHOLDS = {0.0: Role.TIE, 1.0: Role.STRONG}  # that of better, |c| = 1/2, is zero


def shares(cells: Comparisons, model: Model) -> dict[float, FloatArray]:
    """Share of every level that a model has in each row, shape (T,) each."""
    tied = cells.known_ties if model.has(Role.TIE) else np.zeros(len(cells))
    strong = cells.known_strength.T if model.has(Role.STRONG) else np.zeros((2, 1))
    first, second = cells.won - tied / 2 - strong[0], cells.lost - tied / 2 - strong[1]
    found = {0.5: first, -0.5: second}
    if model.has(Role.TIE):
        found[0.0] = tied
    if model.has(Role.STRONG):
        found |= {1.0: strong[0], -1.0: strong[1]}
    return found


def users(cells: Comparisons, model: Model) -> dict[float, BoolArray]:
    """Judges who use a level or its mirror image at all, by its size, shape (K,); for others it has no chance."""
    k, of = len(cells.judges), shares(cells, model)
    found = {}
    for size in sorted({abs(level) for level in of}):
        total = of[size] if size == 0 else of[size] + of[-size]
        # the judge of a law of two levels uses both
        always = size == 0.5 and not model.has(Role.STRONG)
        found[size] = np.full(k, True) if always else np.bincount(cells.judge, np.maximum(total, 0.0), k) > GIVEN
    return found


def contests(levels: dict[float, FloatArray]) -> Iterator[tuple[float, float]]:
    """Pairs of a level that may have been given and another one: wins first, then ties, then others."""
    if 1.0 not in levels:
        yield from ((0.5, -0.5), (-0.5, 0.5))
        if 0.0 in levels:
            yield from ((0.0, 0.5), (0.0, -0.5), (0.5, 0.0), (-0.5, 0.0))
        return
    yield from ((one, other) for one in levels for other in levels if one != other)


def offsets_of_three_sizes(cells: Comparisons, model: Model) -> FloatArray:
    """Best positions and thresholds at zero discrimination of a model with strong answers, one row each, (B', K).

    Where the predictor is b alone, the shares of the sizes |c| are met whatever it is, and b by

        sum_m share_m m tanh(m b) = mean c,

    which rises in b. Without positions b is zero.
    """
    of, k = shares(cells, model), len(cells.judges)
    count = np.maximum(judged(cells), np.finfo(float).tiny)
    strong = np.bincount(cells.judge, cells.count * (of[1.0] + of[-1.0]), k) / count
    tied = tied_share(cells) if model.has(Role.TIE) else np.zeros(k)
    tied = np.minimum(tied, 1 - 2 * LEAST_SHARE)
    weak = np.maximum(1 - strong - tied, 0.0)
    b = np.zeros(k)
    if model.has(Role.OFFSET):
        mean = first_shown_share(cells) - 0.5
        most = strong + weak / 2
        wanted = np.clip(mean, -(1 - LEAST_SHARE) * most, (1 - LEAST_SHARE) * most)
        low, high = np.full(k, -60.0), np.full(k, 60.0)
        for _ in range(STEPS):
            b = (low + high) / 2
            below = strong * np.tanh(b) + weak * np.tanh(b / 2) / 2 < wanted
            low, high = np.where(below, b, low), np.where(below, high, b)
    never_weak = weak <= GIVEN
    with np.errstate(divide="ignore"):
        base = np.where(never_weak, strong, weak)
        half = (
            np.log(np.maximum(base, LEAST_SHARE)) - np.log(np.cosh(np.where(never_weak, b, b / 2))) - np.log(2.0)
        )
        propensity = np.log(tied) - half
        log_strong = np.log(np.maximum(strong, 0.0)) - np.log(2 * np.cosh(b)) - half
    never_weak &= strong > GIVEN
    # beside a level that has no chance, thresholds are told from each other alone
    log_strong = np.where(never_weak, ALWAYS_STRONG, np.where(strong > GIVEN, log_strong, -np.inf))
    propensity = np.where(never_weak, propensity + ALWAYS_STRONG, propensity)
    rows = [b] * model.has(Role.OFFSET) + [propensity] * model.has(Role.TIE) + [log_strong]
    return np.array(rows)
