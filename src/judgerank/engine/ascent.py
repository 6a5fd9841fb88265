"""The one loop of the exact climbs, and how far each goes along a step.

A climb says what its points are, which way is up from one, and what may happen between two steps: parameters that
are set aside, held at a bound or given free. Rough climbs (`engine.multistart`) are not of this kind, since
many go up at once and each step is one pass for all. Adam is the paper's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from scipy.linalg import LinAlgError

from judgerank.engine.solution import ROUNDING

SUFFICIENT = 1e-4  # Armijo's constant
HALVINGS = 50
There = TypeVar("There")
Place = TypeVar("Place")


class Ascent(Generic[Place]):
    """One climb; a place is a point with what is known there."""

    def settled(self, point: Place) -> Place:
        """The place with what belongs on an edge of the space set aside there."""
        return point

    def strays(self, point: Place) -> bool:
        """Whether it has run off, so that there is no point in going on."""
        return False

    def arrived(self, point: Place) -> bool:
        """Whether it is a maximum in all that moves."""
        raise NotImplementedError

    def released(self, point: Place) -> Place | None:
        """A maximum with what would rise from its edge free to do so; None if nothing would."""
        return None

    def next_point(self, point: Place) -> Place:
        """One step on.

        Raises
        ------
        LinAlgError
            If none leads up.
        """
        raise NotImplementedError


def ascended(climb: Ascent[Place], point: Place, most: int) -> tuple[Place, bool, int]:
    """Where a climb ends, whether that is a maximum, and after how many steps, at most so many."""
    for steps in range(most + 1):
        point = climb.settled(point)
        if climb.strays(point):
            break
        if climb.arrived(point):
            free = climb.released(point)
            if free is None:
                return point, True, steps
            point = free
        if steps == most:
            break
        try:
            point = climb.next_point(point)
        except LinAlgError:
            break
    return point, False, steps


def backtracked(
    evaluate_at: Callable[[float], There],
    height_of: Callable[[There], float],
    height: float,
    rise: float,
    size: float,
    suffices: Callable[[There], bool] | None = None,
) -> tuple[float, There]:
    """The size, halved until the log-likelihood rises enough up to rounding, and what was found there.

    Parameters
    ----------
    look : callable
        What is found at a size.
    height_of : callable
        The log-likelihood of that.
    height, rise : float
        The log-likelihood at no size, and its slope along the step there.
    size : float
        To begin with.
    suffices : callable, optional
        Whether what was found will do although its log-likelihood does not rise enough.

    Raises
    ------
    LinAlgError
        If no size will do.
    """
    slack = ROUNDING * max(1.0, abs(height))
    for _ in range(HALVINGS):
        trial = evaluate_at(size)
        if height_of(trial) >= height + SUFFICIENT * size * rise - slack or (suffices and suffices(trial)):
            return size, trial
        size /= 2
    raise LinAlgError("no ascent along the step")
