"""Question effects with graded answers: the marginal likelihood, its gradient, the fit, and what it predicts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

from judgerank import fit
from judgerank.data.comparisons import Comparisons
from judgerank.engine.questions import quadrature
from judgerank.engine.questions.groups import at_rows, grouped
from judgerank.engine.questions.marginal import Marginal
from judgerank.inference.estimates import covariances
from judgerank.model.law import Law, draw_levels, graded_comparisons
from judgerank.model.members import NAMED, Parameters

MEMBER = NAMED["position_aware_graded"]
AT = Parameters(
    np.array([0.8, 0.1, -0.9]),
    np.array([[-0.3, 0.1, 0.2], [0.3, 0.0, -0.2], [-0.7, 0.0, -1.0], [-0.5, 0.4, 0.0]]),
)


def panel(seed: int, sigma: float, questions: int, pairs: int = 1) -> tuple[Comparisons, np.ndarray]:
    """Every pair of a question is shown to all three judges."""
    rng = np.random.default_rng(seed)
    ends = np.array([rng.permutation(3)[:2] for _ in range(questions * pairs)]).repeat(3, axis=0)
    asked = np.repeat(np.arange(questions), 3 * pairs)
    u, judge = rng.normal(0, sigma, (questions, 3)), np.tile(np.arange(3), questions * pairs)
    (i, j), (alpha, b, tie, strong) = ends.T, AT.judges[:, judge]
    eta = np.exp(alpha) * (AT.scores[i] + u[asked, i] - AT.scores[j] - u[asked, j]) + b
    level = draw_levels(rng, Law(eta, np.exp(tie), strong).levels)
    names = tuple(f"m{k}" for k in range(3)), tuple(f"j{k}" for k in range(3))
    return graded_comparisons(*names, np.array([i, j, judge]), level), asked


def test_a_pair_of_models_beside_adaptive_integration():
    c, asked = panel(1, 1.0, 10)
    sigma = 1.3
    fine = Marginal.fine(grouped(c, asked), MEMBER, np.exp(AT.judges[0]), sigma, 20.0)
    values, level = fine.values(AT, sigma, 10), np.round(2 * c.response + 1).astype(int)
    for q in range(10):
        rows = np.flatnonzero(asked == q)
        alpha, b, tie, strong = AT.judges[:, c.judge[rows]]
        sign = np.where(c.first[rows] < c.second[rows], 1, -1)
        lead = AT.scores[c.first[rows]] - AT.scores[c.second[rows]]

        def chance(v: float, rows=rows, sign=sign, lead=lead, of=(alpha, b, tie, strong)) -> float:
            eta = np.exp(of[0]) * (lead + sign * v) + of[1]
            p = Law(eta, np.exp(of[2]), of[3]).levels[np.arange(len(rows)), level[rows]]
            return float(p.prod() * norm.pdf(v, scale=np.sqrt(2) * sigma))

        assert_allclose(values[q], np.log(quad(chance, -15, 15, epsabs=1e-13, limit=200)[0]), atol=1e-6)


def test_the_step_keeps_what_it_promises_with_poles_half_as_far():
    c, asked = panel(3, 1.0, 60)
    steep = Parameters(AT.scores, AT.judges + np.array([[1.0], [0.0], [0.0], [6.0]]))  # all but no weak answer
    for group in grouped(c, asked):
        wanted = quadrature.wanted(group, np.exp(steep.judges[0]), 1.2, 12.0)
        for step in np.unique(wanted):
            chosen = group.only(wanted == step)
            here = at_rows(chosen, MEMBER, steep, 1.2)
            exact = quadrature.look(chosen, here, step / 4).value
            assert np.abs(quadrature.look(chosen, here, step).value - exact).max() < 2e-4


@pytest.mark.parametrize("pairs", [1, 6])
def test_the_gradient_beside_differences(pairs):
    """By a rule for pairs of models, and by Laplace's approximation for many rows."""
    c, asked = panel(4, 0.9, 20, pairs)
    sigma, h = 0.8, 1e-5
    marginal = Marginal.fine(grouped(c, asked), MEMBER, np.exp(AT.judges[0]), sigma, 20.0)
    here = marginal.at(AT, sigma)

    def value(scores=0.0, judges=0.0, log_sigma=0.0) -> float:
        there = Parameters(AT.scores + scores, AT.judges + judges)
        return marginal.at(there, sigma * np.exp(log_sigma)).value

    for i, unit in enumerate(np.eye(3)):
        assert here.scores[i] == pytest.approx((value(h * unit) - value(-h * unit)) / (2 * h), abs=1e-4)
    for row in range(4):
        for k in range(3):
            unit = np.zeros((4, 3))
            unit[row, k] = h
            slope = (value(judges=unit) - value(judges=-unit)) / (2 * h)
            in_log = here.judges[row, k] * (np.exp(AT.judges[0, k]) if row == 0 else 1.0)
            assert in_log == pytest.approx(slope, abs=1e-4)
    assert here.log_sigma == pytest.approx((value(log_sigma=h) - value(log_sigma=-h)) / (2 * h), abs=1e-4)


def test_the_fit_finds_the_effects_and_its_predictions_are_averages_over_them():
    c, asked = panel(5, 0.8, 500)
    found = fit(c, MEMBER, questions="effects", question=asked)
    assert found.effects.sigma == pytest.approx(0.8, abs=0.25)
    assert_allclose(found.scores, AT.scores - AT.scores.mean(), atol=0.3)
    assert np.isfinite(found.confidence_intervals()["low"]).all()
    levels, p = found.level_probabilities(c), found.probability(c)
    assert_allclose(levels.sum(axis=1), 1.0, atol=1e-9)
    assert_allclose(p, levels[:, 3:].sum(axis=1) + levels[:, 2] / 2, atol=1e-9)
    draws = np.random.default_rng(0).normal(size=200_000)
    at, k = found.solution.parameters, 1
    eta = np.exp(at.judges[0, k]) * (at.scores[0] - at.scores[2] + np.sqrt(2) * found.effects.sigma * draws)
    drawn = Law(
        eta + at.judges[1, k], np.full(len(draws), np.exp(at.judges[2, k])), np.full(len(draws), at.judges[3, k])
    )
    row = np.flatnonzero((c.first == 0) & (c.second == 2) & (c.judge == k))[0]
    assert_allclose(levels[row], drawn.levels.mean(axis=0), atol=0.005)


def test_covariances_given_the_question_are_less_than_the_whole():
    eta, one = np.array([0.5, -1.0]), np.ones(2)
    whole, given = covariances(0.9, eta, one, one, 0 * one)
    assert (np.linalg.eigvalsh(whole - given) > -1e-12).all() and (given[:, 0, 0] < whole[:, 0, 0]).all()
    alike, same = covariances(0.0, eta, one, one, 0 * one)
    law = Law(eta, one, 0 * one)
    assert_allclose(alike, same, atol=1e-12)
    assert_allclose(alike[:, 0, 0], law.variance, atol=1e-12)
    assert_allclose(alike[:, 0, 2], law.with_strong[0], atol=1e-12)
    assert_allclose(alike[:, 1, 2], -law.tie * law.strong[0], atol=1e-12)
