"""Standard deviations of shrunk blocks against a second optimiser, on their bounds, and how much they cost."""

import numpy as np
import pytest
from scipy.optimize import minimize

from judgerank import Comparisons, fit
from judgerank.engine import marginal_likelihood, problem
from judgerank.engine.penalised import NARROWEST, WIDEST, Penalised
from judgerank.model.streams import generator
from replication.random_designs import draw_comparisons, draw_truth


def drawn(seed: int, n_models: int, n_judges: int, size: int, sd: float, sd_judges: float) -> Comparisons:
    truth = draw_truth(generator(seed, "truth"), n_models, n_judges, sd, sd_judges)
    return draw_comparisons(generator(seed, "data"), truth, size)


CASES = {
    "few": (1, 4, 3, 60, 1.0, 0.5),
    "usual": (2, 8, 6, 1_500, 0.8, 0.6),
    "equal models": (3, 6, 4, 300, 1e-6, 0.5),
    "wide": (4, 10, 8, 4_000, 3.0, 1.5),
    "coin flips": (5, 5, 5, 200, 1e-6, 1e-6),
}


def height(cells: Comparisons, member: str, spread: dict[str, float]) -> float:
    """Log marginal likelihood with the prior of log tau, by a fit with these standard deviations."""
    known = fit(cells, member, Penalised(**spread)).solution.integrated
    return known - 0.5 * np.sum(np.log(list(spread.values())) ** 2)


@pytest.mark.parametrize("member", ["judge_aware", "position_aware"])
@pytest.mark.parametrize("case", CASES)
def test_a_second_optimiser_finds_nothing_higher(case, member):
    cells = drawn(*CASES[case]).aggregate()
    found = dict(fit(cells, member, "penalised").solution.spread)
    assert all(NARROWEST <= tau <= WIDEST for tau in found.values())
    ends = [(np.log(NARROWEST), np.log(WIDEST))] * len(found)

    def falls(log_tau):
        return -height(cells, member, dict(zip(found, np.exp(log_tau).tolist(), strict=True)))

    start = np.log([*found.values()])
    other = minimize(falls, start, method="Nelder-Mead", bounds=ends, options={"xatol": 1e-5, "fatol": 1e-9})
    assert -other.fun - height(cells, member, found) < 1e-7
    assert np.abs(other.x - start).max() < 5e-4


def test_a_standard_deviation_stays_within_its_bounds(monkeypatch):
    """That of much wider scores than the bounds allow is on its bound, and the others' still at the highest."""
    monkeypatch.setattr("judgerank.engine.penalised.WIDEST", 1.5)
    cells = drawn(4, 10, 8, 4_000, 3.0, 1.5).aggregate()
    found = dict(fit(cells, "judge_aware", "penalised").solution.spread)
    assert found["scores"] == pytest.approx(1.5)
    at, step = height(cells, "judge_aware", found), 0.05
    moved = [
        height(cells, "judge_aware", found | {"log_discrimination": found["log_discrimination"] * np.exp(by)})
        for by in (-step, step)
    ]
    slope, curvature = (moved[1] - moved[0]) / (2 * step), (2 * at - sum(moved)) / step**2
    assert found["log_discrimination"] == pytest.approx(1.5) or abs(slope / curvature) < 1e-3


def test_it_takes_few_looks_at_the_comparisons(monkeypatch):
    """They are what a shrunk fit costs."""
    looked, evaluate = [], problem.evaluate
    monkeypatch.setattr(problem, "evaluate", lambda *args, **more: looked.append(1) or evaluate(*args, **more))
    fit(drawn(*CASES["usual"]), "position_aware", "penalised")
    assert len(looked) < 60


def test_where_the_likelihood_curves_upward_the_step_is_by_the_expected_information(monkeypatch):
    """The first climb starts from zeros, where the observed information has negative eigenvalues."""
    asked, look = [], problem.Problem.look

    def looking(self, x, spread, curvature=None):
        asked.append(curvature)
        return look(self, x, spread, curvature)

    monkeypatch.setattr(problem.Problem, "look", looking)
    cells = drawn(*CASES["wide"]).aggregate()
    known = Penalised(scores=1.0, log_discrimination=1.0, position=1.0)
    found = fit(cells, "position_aware", known)
    assert asked.count("expected") > 1  # one is of the marginal likelihood
    assert found.converged


def test_a_rough_mode_and_one_step_are_the_exact_mode():
    cells = drawn(*CASES["usual"]).aggregate()
    model = fit(cells, "position_aware").model
    spread = {"scores": 0.8, "log_discrimination": 0.6, "position": 0.5}
    one = problem.Problem(cells, model)
    zeros = np.zeros(len(one.coordinates.kept))
    exact = one.mode(zeros, spread, Penalised(tolerance=1e-13))[0]
    rough = one.mode(zeros, spread, marginal_likelihood.Rough(100))[0]
    assert np.abs(one.near(rough, spread) - exact).max() < 1e-8
    assert 1e2 * np.abs(one.near(rough, spread) - exact).max() < marginal_likelihood.DIFFERENCE
