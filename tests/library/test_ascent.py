"""The loop of the exact climbs and the climb of small concave fits: how they end, and on which edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from scipy.optimize import minimize

from judgerank.data.errors import NoMaximumError
from judgerank.engine.ascent import Ascent, ascended, backtracked, logistic, peak
from judgerank.trust.drift import drift, drifted
from tests.library.test_repeats import drawn_in_halves

# The one loop of the exact climbs: how it ends, and what it does on an edge.


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


# The climb of small concave fits: where it ends, and what it says where there is no maximum.


def regression(seed, size=200):
    rng = np.random.default_rng(seed)
    x, count = rng.normal(size=(size, 3)), rng.integers(1, 5, size).astype(float)
    return x, rng.binomial(count.astype(int), 1 / (1 + np.exp(-x @ [2.0, -1.0, 0.3]))).astype(float), count


def test_derivatives_are_those_of_the_height():
    x, won, count = regression(1)
    at, step = np.array([0.3, -0.2, 1.0]), 1e-5
    _, gradient, information = logistic(x, won, count, at)
    ends = [[logistic(x, won, count, at + way * step * unit) for way in (1, -1)] for unit in np.eye(3)]
    np.testing.assert_allclose(gradient, [(up[0] - down[0]) / (2 * step) for up, down in ends], rtol=1e-6)
    np.testing.assert_allclose(information, [(down[1] - up[1]) / (2 * step) for up, down in ends], rtol=1e-6)


@pytest.mark.parametrize("far", [0.0, 5.0, 30.0])
def test_the_maximum_is_found_from_anywhere(far):
    x, won, count = regression(2)
    at, height, information = peak(lambda b: logistic(x, won, count, b), np.full(3, far), "no")
    best = minimize(lambda b: -logistic(x, won, count, b)[0], np.zeros(3), tol=1e-12)
    np.testing.assert_allclose(at, best.x, atol=1e-5)
    again = logistic(x, won, count, at)
    assert height == again[0]
    np.testing.assert_array_equal(information, again[2])
    assert np.abs(again[1]).max() < 1e-9


def test_a_regression_without_a_maximum_is_refused():
    x, _, count = regression(3)
    for won in (count * (x[:, 0] > 0), count * (x @ [1.0, 2.0, -1.0] > 0), count):
        columns = np.c_[x[:, :2], np.ones(len(x))] if won is count else x
        with pytest.raises(NoMaximumError, match="runs off"):
            peak(lambda b, c=columns, w=won: logistic(c, w, count, b), np.zeros(3), "runs off")


def test_a_judge_whose_fit_does_not_settle_has_no_p_value(monkeypatch):
    rows = drawn_in_halves(1, 2000, 2.0)
    monkeypatch.setattr("judgerank.engine.ascent.STEPS", 1)
    found = drift(rows)
    assert len(found) == 4
    assert found[["statistic", "p_value", "p_holm"]].isna().all().all()
    assert drifted(rows, 0.95) == ()
