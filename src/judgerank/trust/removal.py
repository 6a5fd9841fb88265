"""The smallest set whose removal changes something: by influence, in steps that are refitted, then confirmed.

One step alone misses by a lot, either way. So half of what the forecast asks for is left out, the rest refitted
and forecast again, until the change is there; a step that goes too far is halved. The last step is of one unit, so
what is found cannot be shortened at its end, but a smaller set elsewhere is not ruled out: it is an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import JudgerankError
from judgerank.trust.refits import Part, Units

MOST = 0.5  # share of the judgments or the questions beyond which no set is sought
LONGEST = 200  # refits for one set
BEYOND = (2, 3)  # units left out at once where one leaves what cannot be ranked, such as an exact tie
APART = 1e-8  # scores nearer than this are equal: fits are exact to about 1e-10


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


@dataclass(frozen=True, eq=False)
class Removal:
    """A set of judgments without which something changes.

    Attributes
    ----------
    forecast : float
        Units that one linear step from the fit of all asks for; infinite if all of them would not do.
    size : int or None
        Units in the set; None if none was found.
    part : Part or None
        What is left without the set.
    why : str
        Why none was found; empty if one was.
    """

    forecast: float
    size: int | None
    part: Part | None
    why: str


def swapped(i: int, j: int) -> Goal:
    """Model j above model i."""
    return Goal(lambda part: part.lead(i, j) + APART, lambda part: part.effects(i, j)[0])


def open_pair(i: int, j: int) -> Goal:
    """Models i above j no longer separated, by the tests of the leaderboard."""

    def effect(part: Part) -> FloatArray:
        fall, known, variance = part.effects(i, j)
        return fall / part.lead(i, j) + 0.5 * known / variance  # of the statistic, relative to itself

    def gap(part: Part) -> float:
        models = part.whole.comparisons.models
        return part.excess(models[i], models[j]) if part.lead(i, j) > 0 else -1.0

    return Goal(gap, effect)


def forecast(start: Part, units: Units, goal: Goal) -> float:
    """Units that one linear step asks for."""
    return units.needed(start.left, goal.effect(start), goal.gap(start))


def smallest(start: Part, units: Units, goal: Goal) -> Removal:
    """The smallest set found whose removal reaches a goal, confirmed by a fit from the beginning.

    Parameters
    ----------
    start : Part
        Where the goal is not reached.
    units : Units
    goal : Goal

    Raises
    ------
    NoIntervalError
        If there is no information to forecast with.
    """
    first = wanted = forecast(start, units, goal)
    most = units.total - 1.0 if units.name == "judges" else MOST * units.total
    here, taken, refits = start, 0, 0
    while True:
        step = max(1, int(wanted // 2 if np.isfinite(wanted) else most // 4))  # one step cannot see far
        if taken + step > most:
            return Removal(first, None, None, f"{taken:,} of {units.total:,} {units.name} are not enough")
        effect = goal.effect(here)
        try:
            there, step = _step(here, units, goal, effect, step)
            refits += 1
            if goal.gap(there) <= 0:
                return _confirmed(start, there, goal, first, taken + step)
            taken, here = taken + step, there
            wanted = forecast(here, units, goal)
        except JudgerankError as error:
            return Removal(first, None, None, f"after {taken} {units.name}: {error}")
        if refits >= LONGEST:
            return Removal(first, None, None, f"not reached by {taken} {units.name}, left out one by one")


def _step(here: Part, units: Units, goal: Goal, effect: FloatArray, step: int) -> tuple[Part, int]:
    """Some units left out; fewer, if so many go too far or leave no ranking; if one does, a few more."""
    halved = [step >> power for power in range(step.bit_length())]
    for many in [*halved, *BEYOND]:
        try:
            there = here.without(units.left_after(here.left, effect, many))
            if many == 1 or many in BEYOND or goal.gap(there) > 0:
                return there, many
        except JudgerankError as error:
            refused = error
    raise refused


def _confirmed(start: Part, found: Part, goal: Goal, first: float, size: int) -> Removal:
    """The removal, if a fit that begins where a first fit would reaches the goal, too."""
    again = start.without(found.left, cold=True)
    if goal.gap(again) > 0:
        return Removal(first, None, None, f"another maximum keeps the order without these {size}")
    return Removal(first, size, again, "")


def rows_of(removal: Removal, start: Part) -> tuple[np.ndarray, FloatArray]:
    """The rows of a set, and how many judgments of each are in it."""
    if removal.part is None:
        return np.empty(0, np.intp), np.empty(0)
    gone = start.left - removal.part.left
    rows = np.flatnonzero(gone > 0)
    return rows, gone[rows]
