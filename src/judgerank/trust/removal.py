"""The smallest set whose removal changes something: by influence, in steps that are refitted, then confirmed.

One step alone misses by a lot, either way. So half of what the forecast asks for is left out, the rest refitted
and forecast again, until the change is there; a step that goes too far is halved. The last step is of one unit, so
what is found cannot be shortened at its end. Where that is a small set, smaller ones are searched for
(`judgerank.trust.removal`). What is found stays an upper bound of the fewest.

The lower bound takes it that no unit counts for more than `GROWTH` times its forecast, whatever else is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import JudgerankError
from judgerank.trust.refits import GROWTH, Goal, Part, Units, forecast, least

# Smaller sets than the one found: every single unit that comes near, then sets grown by one unit at a time.
#
# Single judgments, questions or judges are left out, where there are many in the order of their forecasts, until a
# forecast does not come near, by as much as those before were off and a margin; what is left does not depend on
# the goal, and is fitted once. After that the few nearest sets are kept (a beam search): each is fitted by a
# Newton step, and forecasts there say which unit to add to which of them. What reaches the goal is confirmed by a
# fit from the beginning.
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


MOST = 0.5  # share of the judgments or the questions beyond which no set is sought
LONGEST = 200  # refits for one set
BEYOND = (2, 3)  # units left out at once where one leaves what cannot be ranked, such as an exact tie


@dataclass(frozen=True, eq=False)
class Removal:
    """A set of judgments without which something changes.

    Attributes
    ----------
    forecast : float
        Units that one linear step from the fit of all asks for; infinite if all of them would not do.
    at_least : float
        Units that any such set has, by `goals.least` and the search; infinite if all of them would not do.
    size : int or None
        Units in the set; None if none was found.
    part : Part or None
        What is left without the set.
    why : str
        Why none was found; empty if one was.
    """

    forecast: float
    at_least: float
    size: int | None
    part: Part | None
    why: str


def smallest(start: Part, units: Units, goal: Goal, below: float = np.inf) -> Removal:
    """The smallest set found whose removal reaches a goal, confirmed by a fit from the beginning.

    Parameters
    ----------
    start : Part
        Where the goal is not reached.
    units : Units
    goal : Goal
    below : float
        Steps end at sets of this size, which are too large to be of interest. Small sizes are no bound.

    Raises
    ------
    NoIntervalError
        If there is no information to forecast with.
    """
    removal = by_steps(start, units, goal, below if below > SMALL else np.inf)
    if removal.size == 1:
        return removal
    few, part = smaller(start, units, goal, 2 if removal.size is None or removal.size > SMALL else removal.size)
    if part is not None:
        removal = Removal(removal.forecast, removal.at_least, few, part, "")
    size = np.inf if removal.size is None else removal.size
    bound = removal.at_least if removal.at_least <= size else 1.0  # a smaller set refutes it
    return replace(removal, at_least=max(bound, min(few, 2)))  # single ones that come near were tried


def _not_enough(n_removed: int, units: Units) -> str:
    """Why no set is sought any further."""
    if n_removed:
        return f"{n_removed:,} of {units.total:,} {units.name} are not enough"
    if units.name == "judges":
        return "almost all judges would have to go"
    return f"more than {MOST:.0%} of the {units.name} would have to go"


def by_steps(start: Part, units: Units, goal: Goal, below: float = np.inf) -> Removal:
    """A set by leaving out half of what the forecast asks for, again and again; smaller ones are not sought."""
    first = wanted = forecast(start, units, goal)
    most = units.total - 1.0 if units.name == "judges" else MOST * units.total
    part, n_removed, refits, bound = start, 0, 0, least(start, units, goal)
    while True:
        step = max(1, int(wanted // 2 if np.isfinite(wanted) else most // 4))  # one step cannot see far
        if n_removed + step > most:
            return Removal(first, bound, None, None, _not_enough(n_removed, units))
        effect = goal.effect(part)
        try:
            next_part, step = _step(part, units, goal, effect, step)
            refits += 1
            reached = goal.gap(next_part) <= 0
            if n_removed + step + (not reached) >= below:
                why = f"{below:,.0f} {units.name} or more"
                return Removal(first, bound, None, None, why)
            if reached:
                return _confirmed(start, next_part, goal, Removal(first, bound, n_removed + step, None, ""))
            n_removed, part = n_removed + step, next_part
            wanted = forecast(part, units, goal)
        except JudgerankError as error:
            return Removal(first, bound, None, None, f"after {n_removed} {units.name}: {error}")
        if refits >= LONGEST:
            why = f"not reached by {n_removed} {units.name}, left out one by one"
            return Removal(first, bound, None, None, why)


def _step(part: Part, units: Units, goal: Goal, effect: FloatArray, step: int) -> tuple[Part, int]:
    """Some units left out; fewer, if so many go too far or leave no ranking; if one does, a few more."""
    halved = [step >> power for power in range(step.bit_length())]
    for n_removed in [*halved, *BEYOND]:
        try:
            left = units.left_after(part.left, effect, n_removed)
            next_part = part.nearby(left)
            if n_removed == 1 and next_part.near and goal.gap(next_part) <= 0:
                next_part = part.without(left)
            if n_removed == 1 or n_removed in BEYOND or goal.gap(next_part) > 0:
                return next_part, n_removed
        except JudgerankError as error:
            refused = error
    raise refused


def _confirmed(start: Part, part: Part, goal: Goal, removal: Removal) -> Removal:
    """The removal, if a fit that begins where a first fit would reaches the goal, too."""
    again = start.without(part.left, cold=True)
    if goal.gap(again) > 0:
        why = f"{removal.size:,} seemed enough, but a new fit without them keeps the order"
        return replace(removal, size=None, why=why)
    return replace(removal, part=again)


def rows_of(removal: Removal, start: Part) -> tuple[np.ndarray, FloatArray]:
    """The rows of a set, and how many judgments of each are in it."""
    if removal.part is None:
        return np.empty(0, np.intp), np.empty(0)
    gone = start.left - removal.part.left
    rows = np.flatnonzero(gone > 0)
    return rows, gone[rows]
