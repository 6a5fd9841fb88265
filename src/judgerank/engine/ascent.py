"""The one loop of the exact climbs, and how far each goes along a step.

A climb says what its points are, which way is up from one, and what may happen between two steps: parameters that
are set aside, held at a bound or given free. Rough climbs (`engine.multistart`) are not of this kind, since
many go up at once and each step is one pass for all. Adam is the paper's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import expit

from judgerank.data.arrays import FloatArray
from judgerank.data.errors import NoMaximumError
from judgerank.engine.information import SINGULAR
from judgerank.engine.solution import ROUNDING

SUFFICIENT = 1e-4  # Armijo's constant
HALVINGS = 50
Trial = TypeVar("Trial")
Point = TypeVar("Point")


class Ascent(Generic[Point]):
    """One climb; a place is a point with what is known there."""

    def settled(self, point: Point) -> Point:
        """The place with what belongs on an edge of the space set aside there."""
        return point

    def strays(self, point: Point) -> bool:
        """Whether it has run off, so that there is no point in going on."""
        return False

    def arrived(self, point: Point) -> bool:
        """Whether it is a maximum in all that moves."""
        raise NotImplementedError

    def released(self, point: Point) -> Point | None:
        """A maximum with what would rise from its edge free to do so; None if nothing would."""
        return None

    def next_point(self, point: Point) -> Point:
        """One step on.

        Raises
        ------
        LinAlgError
            If none leads up.
        """
        raise NotImplementedError


def ascended(climb: Ascent[Point], point: Point, most: int) -> tuple[Point, bool, int]:
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
    evaluate_at: Callable[[float], Trial],
    height_of: Callable[[Trial], float],
    height: float,
    rise: float,
    size: float,
    suffices: Callable[[Trial], bool] | None = None,
) -> tuple[float, Trial]:
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


# The maximum of a concave function by Newton's method, such as the likelihood of a small logistic regression.
#
# Fits of whole panels have climbs of their own (`judgerank.engine.newton`), whose likelihoods are not concave.
LONGEST = 3.0  # entry of a step: from afar, a whole one may lead where all answers are certain
DONE = 1e-9  # largest entry of a step that is the last one
STEPS = 100
Look = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]


def peak(evaluate_at: Look, start: FloatArray, unsettled: str) -> tuple[FloatArray, float, FloatArray]:
    """Where a concave function is largest, its height, and its information there.

    Parameters
    ----------
    look : callable
        Height, gradient, shape (D,), and information, shape (D, D), at a point.
    start : float array, shape (D,)
    unsettled : str
        What to say if the climb does not settle.

    Raises
    ------
    NoMaximumError
        If the climb does not settle, or does so where the function is all but flat in some direction.
    """
    climb = _Climb(evaluate_at)
    try:
        spot, settled, _ = ascended(climb, climb.spot(start), STEPS)
    except LinAlgError:
        settled = False
    if settled:
        point = spot.point + spot.step
        height, _, information = evaluate_at(point)
        curvature = np.linalg.eigvalsh(information)
        if curvature[0] > SINGULAR * curvature[-1]:  # else the gradient is nothing for being far out
            return point, height, information
    raise NoMaximumError(unsettled, ())


def logistic(
    x: FloatArray, won: FloatArray, count: FloatArray, point: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Log-likelihood of a logistic regression, its gradient, shape (D,), and its information, shape (D, D).

    Parameters
    ----------
    x : float array, shape (T, D)
    won, count : float array, shape (T,)
        Of each row, how many answers are for the first, and how many there are; both may be weighted.
    point : float array, shape (D,)
    """
    height, residual, weight = terms(x @ point, won, count)
    return height, x.T @ residual, x.T @ (weight[:, None] * x)


def terms(eta: FloatArray, won: FloatArray, count: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Log-likelihood of a logistic regression, its derivative in every predictor, and minus the second one."""
    p = expit(eta)
    height = float((won * eta - count * np.logaddexp(0.0, eta)).sum())
    return height, won - count * p, count * p * (1 - p)


class _Spot(NamedTuple):
    """A point of the climb, its height, and the slope along the Newton step from there."""

    point: FloatArray
    height: float
    step: FloatArray
    rise: float

    @property
    def longest(self) -> float:
        """Largest entry of the step."""
        return float(np.abs(self.step).max(initial=0.0))


class _Climb(Ascent[_Spot]):
    def __init__(self, evaluate_at: Look) -> None:
        self._look = evaluate_at

    def spot(self, point: FloatArray) -> _Spot:
        height, gradient, information = self._look(point)
        step = np.asarray(np.linalg.solve(information, gradient), float)
        return _Spot(point, height, step, float(gradient @ step))

    def arrived(self, spot: _Spot) -> bool:
        return spot.longest <= DONE

    def next_point(self, current: _Spot) -> _Spot:
        def nears(trial: _Spot) -> bool:  # the height alone is too coarse close to the maximum
            return trial.longest <= current.longest / 2

        first = min(1.0, LONGEST / current.longest)
        next_spot = backtracked(
            lambda size: self.spot(current.point + size * current.step),
            lambda spot: spot.height,
            current.height,
            current.rise,
            first,
            nears,
        )
        return next_spot[1]
