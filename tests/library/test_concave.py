"""The climb of small concave fits: where it ends, and what it says where there is no maximum."""

import numpy as np
import pytest
from scipy.optimize import minimize

from judgerank.data.errors import NoMaximumError
from judgerank.engine.ascent import logistic, peak
from judgerank.trust.drift import drift, drifted
from tests.library.test_drift import drawn


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
    rows = drawn(1, 2000, 2.0)
    monkeypatch.setattr("judgerank.engine.ascent.STEPS", 1)
    found = drift(rows)
    assert len(found) == 4
    assert found[["statistic", "p_value", "p_holm"]].isna().all().all()
    assert drifted(rows, 0.95) == ()
