"""Changes of a ranking to look for: the order of two models, or whether they differ significantly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judgerank.data.arrays import FloatArray
from judgerank.trust.refits import Part
from judgerank.trust.removable import Units

APART = 1e-8  # scores nearer than this are equal: fits are exact to about 1e-10
GROWTH = 3.0  # times its forecast that a unit is taken to count for at most, whatever else is left out


@dataclass(frozen=True)
class Goal:
    """What is to be changed.

    Attributes
    ----------
    gap : callable
        Of a part: how far the change is away, at most zero once it is there.
    effect : callable
        Of a part: by how much leaving out every row brings it nearer, shape (T,).
    """

    gap: Callable[[Part], float]
    effect: Callable[[Part], FloatArray]


def swapped(i: int, j: int) -> Goal:
    """Model j above model i."""
    return Goal(lambda part: part.lead(i, j) + APART, lambda part: part.effects(i, j)[0])


def open_pair(i: int, j: int) -> Goal:
    """Models i above j no longer separated, by the tests of the leaderboard."""

    def effect(part: Part) -> FloatArray:
        fall, information, variance = part.effects(i, j)
        return fall / part.lead(i, j) + 0.5 * information / variance  # of the statistic, relative to itself

    def gap(part: Part) -> float:
        models = part.whole.comparisons.models
        return part.excess(models[i], models[j]) if part.lead(i, j) > 0 else -1.0

    return Goal(gap, effect)


def forecast(start: Part, units: Units, goal: Goal) -> float:
    """Units that one linear step asks for."""
    return units.needed(start.left, goal.effect(start), goal.gap(start))


def least(start: Part, units: Units, goal: Goal) -> float:
    """Units that it takes at least if none counts for more than `GROWTH` times its forecast; maybe infinite."""
    return units.needed(start.left, goal.effect(start), goal.gap(start) / GROWTH)
