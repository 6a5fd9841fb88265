"""The reported scale of shrunk fits: what is averaged over, and what it makes good."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.special import expit

from judgerank import Comparisons, fit, load
from judgerank.engine.penalised import Penalised
from judgerank.inference.wald import normal_quantile
from judgerank.model.block import Placed, Role
from judgerank.model.members import JUDGE_AWARE, Parameters
from judgerank.order.scale import _Nodes, averages, reported_covariance, scale_at, scale_by, scale_of, weights_of

SCORES = np.linspace(1.2, -1.2, 12)


def drawn(seed: int, judges: int, size: int) -> tuple[Comparisons, Parameters]:
    rng = np.random.default_rng(seed)
    n, k = len(SCORES), np.arange(size) % judges
    a = rng.integers(0, n, size)
    b = (a + rng.integers(1, n, size)) % n
    alpha = 0.5 * rng.standard_normal(judges)
    alpha -= alpha.mean()
    y = (rng.random(size) < 1 / (1 + np.exp(-np.exp(alpha[k]) * (SCORES[a] - SCORES[b])))).astype(float)
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(judges))
    return Comparisons(*names, a, b, k, y, np.ones(size)), Parameters(SCORES, alpha[None])


def true_scores(data: Comparisons, truth: Parameters) -> np.ndarray:
    free = np.ones((1, len(data.judges)), bool)
    chosen = np.ones(len(SCORES) + len(data.judges), bool)
    return scale_at(data, JUDGE_AWARE, truth, free, chosen).scores


def test_the_integrals_are_those_of_the_posterior_of_each_judge():
    data, _ = drawn(1, 30, 900)
    fitted = fit(data, shrink=True)
    at, spread = fitted.solution.parameters, fitted.solution.spread
    tau = spread["log_discrimination"]
    nodes = _Nodes(fitted.comparisons, fitted.model, at, tau)
    weight, _ = nodes.at_level(0.1)
    means = (weight * nodes.alpha).sum(axis=0)
    for judge in (0, 7, 29):
        rows = fitted.comparisons.take(np.flatnonzero(fitted.comparisons.judge == judge))
        d = at.scores[rows.first] - at.scores[rows.second]

        def density(alpha, of=None, rows=rows, d=d, judge=judge):
            eta = np.exp(alpha + 0.1) * d
            height = rows.count @ (rows.outcome * eta - np.logaddexp(0, eta))
            tilt = nodes.tilt[judge] * (alpha - nodes.mode[judge])
            return (1 if of is None else alpha) * np.exp(height + 15 - alpha**2 / (2 * tau**2) - tilt)

        over = [quad(density, -4, 4, args=(of,), limit=200)[0] for of in (True, None)]
        assert means[judge] == pytest.approx(over[0] / over[1], abs=5e-3)  # nine nodes


@pytest.mark.parametrize("effect", [0.0, -1.5])
def test_averages_are_those_of_the_posteriors_at_the_level_that_solves_its_equation(effect):
    """By sums over a fine grid of each judge's log-discrimination, and a root finder for the level.

    The block adds nothing to any answer, and has means by model that are shrunk with the scores.
    """
    data, _ = drawn(6, 30, 900)
    fitted = fit(data, shrink=True)
    spread, scores = fitted.solution.spread, fitted.solution.parameters.scores
    cells = replace(fitted.comparisons, columns=csr_array((len(fitted.comparisons), 1)))
    block = Placed("style", Role.OFFSET, ("length",), False, "", means=scores[:, None])
    model = replace(fitted.model, further=(block,))
    at = replace(fitted.solution.parameters, common=np.array([effect]))
    mode, tau = at.judges[0], spread["log_discrimination"]
    d, many = at.scores[cells.first] - at.scores[cells.second], len(mode)
    lead = np.exp(mode)[cells.judge] * d
    pull = np.bincount(cells.judge, cells.count * (cells.outcome - expit(lead)) * lead, many) - mode / tau**2
    grid = mode + np.linspace(-6 * tau, 6 * tau, 601)[:, None]

    def posterior(level):
        eta = np.exp(grid[:, cells.judge] + level) * d
        answers = cells.count * (cells.outcome * eta - np.logaddexp(0, eta))
        told = cells.count * expit(eta) * expit(-eta) * np.exp(2 * (grid[:, cells.judge] + level))
        summed, told = (
            np.array([np.bincount(cells.judge, row, many) for row in each]) for each in (answers, told)
        )
        weight = np.exp(summed - summed.max(axis=0) - grid**2 / (2 * tau**2) - pull * (grid - mode))
        return weight / weight.sum(axis=0), told

    gamma, s = np.exp(mode).mean(), at.scores

    def pulled_at(level):
        return np.exp(level) * gamma * s @ (np.exp(level) * gamma * s + effect * s) / spread["scores"] ** 2

    def away(level):
        moved = ((posterior(level)[0] * grid).sum(axis=0) - mode).sum() / tau**2
        return moved - (pulled_at(level) - pulled_at(0.0))

    level = brentq(away, -1, 1, xtol=1e-6)
    weight, told = posterior(level)
    found = averages(cells, model, at, spread)
    assert abs(level) > 0.02
    assert_allclose(found.told, (weight * told).sum(axis=0), rtol=0.02)
    assert_allclose(found.alpha, (weight * told * (grid + level)).sum(axis=0) / found.told, atol=0.01)


def test_where_judges_have_many_votes_the_averages_are_the_mode():
    data, _ = drawn(2, 3, 60_000)
    fitted = fit(data, shrink=True)
    found = averages(fitted.comparisons, fitted.model, fitted.solution.parameters, fitted.solution.spread)
    assert_allclose(found.alpha, fitted.solution.parameters.judges[0], atol=2e-3)
    exact = fit(data)
    assert_allclose(scale_of(fitted).scores, scale_of(exact).scores, rtol=0.01)


def test_thin_judges_neither_stretch_the_scores_nor_leave_their_intervals_short():
    """The mode's own scale holds far less than it says here; Monte Carlo error of the coverage about .02."""
    held, by_mode, off = [], [], []
    for seed in range(12):
        data, truth = drawn(seed, 120, 3_600)
        fitted = fit(data, shrink=True)
        true, scale = true_scores(data, truth), scale_of(fitted)
        error = np.sqrt(np.diag(reported_covariance(fitted)))
        held.append(np.abs(scale.scores - true) <= normal_quantile(0.95) * error)
        at = fitted.solution.parameters
        mode = scale_at(fitted.comparisons, fitted.model, at, fitted.free, fitted.chosen)
        known = np.sqrt(np.diag(mode.covariance(fitted.covariance)))
        by_mode.append(np.abs(mode.scores - true) <= normal_quantile(0.95) * known)
        off.append(scale.scores @ true / (true @ true))
    assert np.mean(held) > 0.88
    assert np.mean(held) > np.mean(by_mode) + 0.03
    assert np.mean(off) == pytest.approx(1, abs=0.07)


def test_a_saved_board_of_thin_judges_has_its_scale_again_by_its_weights(tmp_path):
    fitted = fit(drawn(3, 40, 1_600)[0], shrink=True)
    fitted.save(tmp_path / "board.npz")
    again = load(tmp_path / "board.npz")
    for other in (again, fitted):
        assert scale_by(other, weights_of(fitted)).factor == pytest.approx(scale_of(fitted).factor, rel=1e-12)


def test_given_standard_deviations_leave_nothing_to_allow_for():
    data, _ = drawn(4, 20, 1_000)
    known = fit(data, solver=Penalised(scores=0.8, log_discrimination=0.4))
    assert_allclose(reported_covariance(known), scale_of(known).covariance(known.covariance), rtol=1e-12)
    found = fit(data, shrink=True)
    gained = np.diag(reported_covariance(found) - scale_of(found).covariance(found.covariance))
    assert np.abs(gained).max() > 1e-6


def test_the_covariance_is_the_mixture_of_reported_scores_refitted_at_each_standard_deviation():
    data, _ = drawn(4, 20, 1_000)
    found = fit(data, solver=Penalised(scores=0.8))
    scale, mixed = scale_of(found), np.zeros((len(SCORES), len(SCORES)))
    for weight, other in found.by_spread:
        deviation = other.solution.spread["log_discrimination"]
        again = fit(data, solver=Penalised(scores=0.8, log_discrimination=deviation))
        beside = scale_of(again)
        away = beside.scores - scale.scores
        mixed += weight * (beside.covariance(again.covariance) + np.outer(away, away))
    assert len(found.by_spread) == 3
    assert_allclose(reported_covariance(found), mixed, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("useless", ["tosses a coin", "takes the first"])
def test_a_judge_who_says_nothing_takes_nothing_from_what_another_says(tmp_path, useless):
    """Its discrimination is anywhere near zero, and the scale of the fit with it, but not the reported one."""
    rng = np.random.default_rng(5)
    question = np.repeat(np.arange(150), 4)
    a = rng.integers(0, 4, len(question))
    b = (a + rng.integers(1, 4, len(question))) % 4
    y = (rng.random(len(question)) < expit(SCORES[::3][a] - SCORES[::3][b])).astype(float)
    other = np.ones(len(y)) if useless == "takes the first" else (rng.random(len(y)) < 0.5).astype(float)
    twice = np.tile([a, b], 2)
    both = Comparisons(tuple("abcd"), ("good", "useless"), *twice, np.repeat([0, 1], len(y)), np.r_[y, other])
    alone = both.with_judges(["good"])
    for clusters in (False, True):
        one, two = (fit(each, "position_aware", shrink=True) for each in (alone, both))
        if clusters:
            one, two = one.clustered(alone, question), two.clustered(both, np.tile(question, 2))
        errors = [np.sqrt(np.diag(reported_covariance(each))) for each in (one, two)]
        assert_allclose(errors[1], errors[0], rtol=0.3)  # eight times as large by the fit's own scale
        two.save(tmp_path / "fit.npz", force=True)
        assert_allclose(reported_covariance(load(tmp_path / "fit.npz")), reported_covariance(two), rtol=1e-9)


def test_a_start_is_taken_where_all_standard_deviations_are_given_and_leads_to_the_same_mode():
    data, truth = drawn(5, 10, 800)
    settings = Penalised(scores=0.8, log_discrimination=0.4)
    cold, warm = fit(data, solver=settings), fit(data, solver=settings, start=truth)
    assert_allclose(warm.scores, cold.scores, atol=1e-7)
