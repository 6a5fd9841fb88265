"""Smaller sets than the one found: every single unit that comes near, then sets grown by one unit at a time.

Single judgments, questions or judges are left out, where there are many in the order of their forecasts, until a
forecast does not come near, by as much as those before were off and a margin; what is left does not depend on the
goal, and is fitted once. After that the few nearest sets are kept (a beam search): each is fitted by a Newton
step, and forecasts there say which unit to add to which of them. What reaches the goal is confirmed by a fit from
the beginning.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import JudgerankError
from judgerank.trust.refits import Part
from judgerank.trust.removable import Units
from judgerank.trust.reversals import GROWTH, Goal

SMALL = 10  # units of the largest set searched for
WIDTH = 4  # sets of one size that are kept
ALL = 100  # kinds of units up to which every one is left out, whatever its forecast
MARGIN = 1.25  # of a single unit's forecast
KNOWN_ROWS = 1_000_000  # of what is left without single units, together, which other goals may ask for
HOPE = 0.9  # of what the forecast at a set asks for beside it, a share that may do


@dataclass(frozen=True, eq=False)
class _Set:
    """Kinds of the units that were left out, and what is left."""

    taken: tuple[int, ...]
    part: Part
    units: Units
    goal: Goal

    @cached_property
    def gap(self) -> float:
        """How far the goal is away."""
        return self.goal.gap(self.part)

    @cached_property
    def effect(self) -> FloatArray:
        """By how much leaving out every row brings it nearer, shape (T,)."""
        return self.goal.effect(self.part)


def smaller(start: Part, units: Units, goal: Goal, size: int) -> tuple[int, Part | None]:
    """A set of fewer units than a size whose removal reaches a goal, by a fit from the beginning.

    Parameters
    ----------
    start : Part
        Where the goal is not reached.
    units : Units
    goal : Goal
    size : int

    Returns
    -------
    size : int
        Units in it; if none was found, those given.
    part : Part or None
        What is left then.
    """
    kept, done = _singles(start, units, goal, WIDTH if size > 2 else 0)
    if done is not None:
        return 1, done
    for many in range(2, size):
        kept = sorted(kept, key=lambda one: one.gap)[:WIDTH]
        kept = [one for one in kept if _may_do(one, size)]
        grown = (_near(start, origin, units, goal, taken) for taken, origin in _grown(kept))
        kept = [one for one in grown if one is not None]
        for one in kept:
            if one.gap <= 0 and (sure := _sure(start, goal, one)):
                return many, sure
    return size, None


def _singles(start: Part, units: Units, goal: Goal, fewest: int) -> tuple[list[_Set], Part | None]:
    """Sets of one unit each, those that come near and the `fewest` nearest ones; what is left of one that does."""
    gap, each = goal.gap(start), units.by_kind(start.left, goal.effect(start))
    kept, off = list[_Set](), 1.0
    fewest = ALL if np.isfinite(each).sum() <= ALL else fewest
    for place, kind in enumerate(np.argsort(-each, kind="stable").tolist()):
        if not np.isfinite(each[kind]) or (place >= fewest and each[kind] * off * MARGIN < gap):
            break
        one = _near(start, start, units, goal, (kind,))
        if one is None:
            continue
        if one.gap <= 0 and (sure := _sure(start, goal, one)):
            return kept, sure
        kept.append(one)
        off = max(off, min(GROWTH, (gap - one.gap) / max(each[kind], gap / GROWTH)))
    return kept, None


def _may_do(here: _Set, size: int) -> bool:
    """Whether a set may become one of fewer units than a size that reaches the goal."""
    try:
        wanted = here.units.needed(here.part.left, here.effect, here.gap)
    except JudgerankError:
        return False
    return len(here.taken) + max(1.0, HOPE * wanted) < size


def _grown(kept: list[_Set]) -> list[tuple[tuple[int, ...], Part]]:
    """The sets of one unit more that are nearest by forecasts, and the part that each grows from."""
    ahead: dict[tuple[int, ...], tuple[float, Part]] = {}
    for here in kept:
        each = here.units.by_kind(here.part.left, here.effect)
        for kind in np.argsort(-each, kind="stable")[:WIDTH]:
            taken = tuple(sorted((*here.taken, int(kind))))
            left = here.gap - float(each[kind])
            if np.isfinite(left) and (taken not in ahead or left < ahead[taken][0]):
                ahead[taken] = left, here.part
    nearest = sorted(ahead, key=lambda taken: ahead[taken][0])[:WIDTH]
    return [(taken, ahead[taken][1]) for taken in nearest]


def _near(start: Part, origin: Part, units: Units, goal: Goal, taken: tuple[int, ...]) -> _Set | None:
    """About what is left without these units, one of which is in the origin; None if it cannot be fitted."""
    try:
        if origin is start:
            part = _without_one(start, units, *taken)
        else:
            left: FloatArray = start.left
            for kind in taken:
                left = units.left_without(left, kind)
            part = origin.nearby(left)
        found = _Set(taken, part, units, goal)
        return found if np.isfinite(found.gap) else None
    except JudgerankError:
        return None


def _without_one(start: Part, units: Units, kind: int) -> Part:
    """About what is left without one unit, whatever the goal; the last ones that were asked for are known."""
    key, known = (units, kind), start.known
    known[key] = part = known.pop(key, None) or start.nearby(units.left_without(start.left, kind))
    while len(known) > min(ALL, KNOWN_ROWS // len(start.left)):
        del known[next(iter(known))]
    return part


def _sure(start: Part, goal: Goal, found: _Set) -> Part | None:
    """What is left, if a fit from the beginning reaches the goal, too."""
    try:
        part = start.without(found.part.left, cold=True)
        return part if goal.gap(part) <= 0 else None
    except JudgerankError:
        return None
