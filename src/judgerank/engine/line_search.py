"""How far to go along a step: the one line search of the exact climbs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from scipy.linalg import LinAlgError

from judgerank.engine.solution import ROUNDING

SUFFICIENT = 1e-4  # Armijo's constant
HALVINGS = 50
There = TypeVar("There")


def backtracked(
    look: Callable[[float], There],
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
        there = look(size)
        if height_of(there) >= height + SUFFICIENT * size * rise - slack or (suffices and suffices(there)):
            return size, there
        size /= 2
    raise LinAlgError("no ascent along the step")
