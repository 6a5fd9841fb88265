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
    candidates, done = _singles(start, units, goal, WIDTH if size > 2 else 0)
    if done is not None:
        return 1, done
    for n_kinds in range(2, size):
        candidates = sorted(candidates, key=lambda one: one.gap)[:WIDTH]
        candidates = [candidate for candidate in candidates if _may_do(candidate, size)]
        grown = (_near(start, origin, units, goal, kinds) for kinds, origin in _grown(candidates))
        candidates = [candidate for candidate in grown if candidate is not None]
        for candidate in candidates:
            if candidate.gap <= 0 and (sure := _sure(start, goal, candidate)):
                return n_kinds, sure
    return size, None


def _singles(start: Part, units: Units, goal: Goal, fewest: int) -> tuple[list[_Set], Part | None]:
    """Sets of one unit each, those that come near and the `fewest` nearest ones; what is left of one that does."""
    gap, effects = goal.gap(start), units.by_kind(start.left, goal.effect(start))
    candidates, off = list[_Set](), 1.0
    fewest = ALL if np.isfinite(effects).sum() <= ALL else fewest
    for position, kind in enumerate(np.argsort(-effects, kind="stable").tolist()):
        if not np.isfinite(effects[kind]) or (position >= fewest and effects[kind] * off * MARGIN < gap):
            break
        candidate = _near(start, start, units, goal, (kind,))
        if candidate is None:
            continue
        if candidate.gap <= 0 and (sure := _sure(start, goal, candidate)):
            return candidates, sure
        candidates.append(candidate)
        off = max(off, min(GROWTH, (gap - candidate.gap) / max(effects[kind], gap / GROWTH)))
    return candidates, None


def _may_do(candidate: _Set, size: int) -> bool:
    """Whether a set may become one of fewer units than a size that reaches the goal."""
    try:
        wanted = candidate.units.needed(candidate.part.left, candidate.effect, candidate.gap)
    except JudgerankError:
        return False
    return len(candidate.taken) + max(1.0, HOPE * wanted) < size


def _grown(candidates: list[_Set]) -> list[tuple[tuple[int, ...], Part]]:
    """The sets of one unit more that are nearest by forecasts, and the part that each grows from."""
    extended: dict[tuple[int, ...], tuple[float, Part]] = {}
    for candidate in candidates:
        effects = candidate.units.by_kind(candidate.part.left, candidate.effect)
        for kind in np.argsort(-effects, kind="stable")[:WIDTH]:
            kinds = tuple(sorted((*candidate.taken, int(kind))))
            left = candidate.gap - float(effects[kind])
            if np.isfinite(left) and (kinds not in extended or left < extended[kinds][0]):
                extended[kinds] = left, candidate.part
    nearest = sorted(extended, key=lambda taken: extended[taken][0])[:WIDTH]
    return [(kinds, extended[kinds][1]) for kinds in nearest]


def _near(start: Part, origin: Part, units: Units, goal: Goal, kinds: tuple[int, ...]) -> _Set | None:
    """About what is left without these units, one of which is in the origin; None if it cannot be fitted."""
    try:
        if origin is start:
            part = _without_one(start, units, *kinds)
        else:
            left: FloatArray = start.left
            for kind in kinds:
                left = units.left_without(left, kind)
            part = origin.nearby(left)
        candidate = _Set(kinds, part, units, goal)
        return candidate if np.isfinite(candidate.gap) else None
    except JudgerankError:
        return None


def _without_one(start: Part, units: Units, kind: int) -> Part:
    """About what is left without one unit, whatever the goal; the last ones that were asked for are known."""
    key, cached = (units, kind), start.known
    cached[key] = part = cached.pop(key, None) or start.nearby(units.left_without(start.left, kind))
    while len(cached) > min(ALL, KNOWN_ROWS // len(start.left)):
        del cached[next(iter(cached))]
    return part


def _sure(start: Part, goal: Goal, candidate: _Set) -> Part | None:
    """What is left, if a fit from the beginning reaches the goal, too."""
    try:
        part = start.without(candidate.part.left, cold=True)
        return part if goal.gap(part) <= 0 else None
    except JudgerankError:
        return None
