"""The one loop of the exact climbs: how it ends, and what it does on an edge."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from judgerank.engine.ascent import Ascent, ascended, backtracked


class Hill(Ascent[float]):
    """-(x - top)^2 / 2 over x >= 0 by half of Newton's steps; a point at zero stays there until it is released."""

    def __init__(self, top: float, furthest: float = np.inf, held: bool = True):
        self.top, self.furthest, self.held = top, furthest, held

    def settled(self, here: float) -> float:
        return max(here, 0.0)

    def strays(self, here: float) -> bool:
        return here > self.furthest

    def arrived(self, here: float) -> bool:
        return abs(self.top - here) < 1e-6 or (here == 0 and (self.held or self.top < 0))

    def released(self, here: float) -> float | None:
        if here > 0 or self.top <= 0:
            return None
        self.held = False
        return here

    def next_point(self, here: float) -> float:
        if here == self.top / 2:
            raise LinAlgError("no way up")
        return here + (self.top - here) / 2


def test_a_climb_ends_at_the_maximum_or_on_the_edge():
    assert ascended(Hill(3.0), 1.0, 100)[:2] == (pytest.approx(3.0, abs=1e-6), True)
    assert ascended(Hill(-3.0), 1.0, 100)[:2] == (0.0, True)


def test_what_would_rise_from_the_edge_is_released_and_goes_on():
    assert ascended(Hill(3.0), 0.0, 100)[:2] == (1.5, False)  # no way up half way
    end, done, steps = ascended(Hill(3.0), 0.1, 100)
    assert (done, steps) == (True, 22) and end == pytest.approx(3.0, abs=1e-6)


def test_a_climb_that_runs_off_or_is_out_of_steps_is_no_maximum():
    assert ascended(Hill(3.0, furthest=2.0), 1.0, 100)[1:] == (False, 2)
    end, done, steps = ascended(Hill(3.0), 1.0, 3)
    assert (end, done, steps) == (3.0 - 2.0 / 8, False, 3)


def test_a_step_is_halved_until_the_log_likelihood_rises_enough():
    """-(1 - 3 a)^2 rises along a at the rate six; a step of one overshoots, half of it falls back to a quarter."""
    size, there = backtracked(lambda a: -((1 - 3 * a) ** 2), lambda value: value, -1.0, 6.0, 1.0)
    assert (size, there) == (0.5, -0.25)
    with pytest.raises(LinAlgError, match="no ascent"):
        backtracked(lambda a: -2.0, lambda value: value, -1.0, 1.0, 1.0)
    assert (
        backtracked(lambda a: -1.0 - a, lambda value: value, -1.0, 1.0, 1.0, lambda value: value > -1.3)[0] == 0.25
    )
