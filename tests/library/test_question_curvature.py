"""Second derivatives with question effects beside differences, questions that are alike, and products of odds."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from judgerank.data.comparisons import Comparisons
from judgerank.data.strengths import strength_by_side
from judgerank.engine.questions import laplace, quadrature
from judgerank.engine.questions.curvature import of_modes
from judgerank.engine.questions.groups import at_rows, grouped, merged
from judgerank.engine.questions.marginal import Marginal
from judgerank.model.block import Placed, Role
from judgerank.model.law import ByOdds, Law
from judgerank.model.members import NAMED, Parameters

SIGMA, JUDGES = 0.9, 4


def panel(member, per_question, n_models=3, columns=False, n_questions=40, strengths=1):
    """Random answers, so many to each question, on its two models or on three; columns of every role there is."""
    rng, model = np.random.default_rng(per_question), NAMED[member]
    further = tuple(f"log_strong_{strength}" for strength in range(3, strengths + 2))
    model = replace(model, judge_blocks=(*model.judge_blocks, *further))
    many = n_questions * per_question
    question, number = (
        np.repeat(np.arange(n_questions), per_question),
        np.tile(np.arange(per_question), n_questions),
    )
    first = number % (n_models - 1)
    outcome = rng.choice([0.0, 0.5, 1.0], many)
    degree = np.floor(1 + rng.random(many) * (0.4 + strengths))
    degree[:2], outcome[:2] = [2, strengths + 1], 1.0  # all of them are there
    strong = strength_by_side(degree, outcome == 1, outcome == 0)
    names = tuple(f"m{n}" for n in range(n_models)), tuple(f"j{k}" for k in range(JUDGES))
    c = Comparisons(*names, first, first + 1, rng.integers(0, JUDGES, many), outcome)
    own, common = {Role.QUALITY, Role.WEIGHT, Role.OFFSET, *(block.role for block in model.blocks)}, np.empty(0)
    if columns:
        blocks = [Placed(role.name, role, ("x", "y"), False, "") for role in sorted(own)]
        values = np.round(rng.normal(size=(many, 2 * len(blocks))), 1) * (
            rng.random((many, 2 * len(blocks))) < 0.6
        )
        common = rng.normal(0, 0.2, 2 * len(blocks))
        model, c = replace(model, further=tuple(blocks)), replace(c, columns=csr_array(values))
    c = model.alone.observed(replace(c.with_ties(), strong=strong if Role.STRONG in own else None))
    judges = rng.normal(0, 0.3, (len(model.blocks), JUDGES))
    return model, c, question, Parameters(np.linspace(0.8, -0.9, n_models), judges, common)


def marginal_of(model, c, question, at):
    return Marginal.fine(grouped(c, question), model, model.of_judges(at).gamma, SIGMA, 12.0)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("n_models", [2, 3])
@pytest.mark.parametrize("member", ["btl_ties", "position_aware", "position_aware_ties", "position_aware_graded"])
def test_second_derivatives_of_rules_beside_differences(member, n_models, columns):
    model, c, question, at = panel(member, 3, n_models, columns)
    marginal = marginal_of(model, c, question, at)
    assert all(group.exact for group in marginal.groups)
    free, free_common = np.ones(at.judges.shape, bool), np.ones(len(at.common), bool)
    free[: model.fixed_scale] = False
    exact = marginal.hessian(at, SIGMA, free, free_common)
    assert_allclose(exact, marginal.differences(at, SIGMA, free, free_common), atol=1e-5)


def test_second_derivatives_of_seven_levels_beside_differences():
    model, c, question, at = panel("position_aware_graded", 3, strengths=2)
    marginal, common = marginal_of(model, c, question, at), np.ones(0, bool)
    free = np.ones(at.judges.shape, bool)
    exact = marginal.hessian(at, SIGMA, free, common)
    assert_allclose(exact, marginal.differences(at, SIGMA, free, common), atol=1e-5)


@pytest.mark.parametrize("strengths", [1, 2])
@pytest.mark.parametrize("columns", [False, True])
def test_second_derivatives_of_the_heights_of_modes_beside_differences(columns, strengths):
    model, c, question, at = panel("position_aware_graded", 8, 3, columns, n_questions=6, strengths=strengths)
    (group,) = grouped(c, question)

    def mode_at(at, sigma):
        return laplace.Mode(group, at_rows(group, model, at, sigma))

    rng, h = np.random.default_rng(0), 1e-3
    whole = np.r_[at.scores, np.exp(at.judges[0]), at.judges[1:].ravel(), at.common, np.log(SIGMA)]
    n, end = len(at.scores), len(at.scores) + at.judges.size

    def height(step):
        moved = whole + step
        judges = moved[n:end].reshape(at.judges.shape).copy()
        judges[0] = np.log(judges[0])
        return mode_at(Parameters(moved[:n], judges, moved[end:-1]), np.exp(moved[-1])).height.sum()

    mode = mode_at(at, SIGMA)
    second, inverse = (
        of_modes(group, model, at, at_rows(group, model, at, SIGMA), mode),
        np.linalg.inv(mode.curvature),
    )
    second[-1, -1] += (
        2 * (np.trace(inverse, axis1=1, axis2=2) - (inverse**2).sum(axis=(1, 2))).sum()
    )  # not heights'
    for _ in range(5):
        v = rng.normal(size=len(whole))
        ends = [height(k * h * v) for k in (-2, -1, 0, 1, 2)]
        assert v @ second @ v == pytest.approx(np.dot([-1, 16, -30, 16, -1], ends) / (12 * h**2), rel=1e-5)


@pytest.mark.parametrize("columns", [False, True])
def test_questions_that_are_alike_are_integrated_once(columns):
    model, c, question, at = panel("position_aware_ties", 2, columns=columns, n_questions=60)
    twice = c._rows(np.tile(np.arange(len(c)), 2))
    asked = np.r_[question, question + 60]
    groups = grouped(twice, asked)
    fewer = [merged(group) for group in groups]
    assert sum(map(len, fewer)) <= 60 and sum(group.alike.sum() for group in fewer) == 120
    free, free_common = np.ones(at.judges.shape, bool), np.ones(len(at.common), bool)
    every, once = (Marginal.fine(of, model, model.of_judges(at).gamma, SIGMA, 12.0) for of in (groups, fewer))
    assert_allclose(once.slopes(at, SIGMA).value, every.slopes(at, SIGMA).value, rtol=1e-13)
    for name in ("gradient", "hessian"):
        one, other = (getattr(of, name)(at, SIGMA, free, free_common) for of in (once, every))
        assert_allclose(one, other, atol=1e-11)


def test_questions_with_unlike_answers_or_columns_are_not_alike():
    _, c, question, _ = panel("position_aware_ties", 1, n_questions=4)
    same = replace(c, judge=np.zeros(4, int), first=np.zeros(4, int), second=np.ones(4, int))
    same = replace(same, outcome=np.array([1.0, 1.0, 0.5, 1.0]), tied=np.array([0.0, 0.0, 1.0, 0.0]))
    (group,) = grouped(same, question)
    assert merged(group).alike.tolist() == [3, 1]
    (group,) = grouped(replace(same, columns=csr_array([[1.0], [1.0], [1.0], [2.0]])), question)
    assert merged(group).alike.tolist() == [2, 1, 1]


@pytest.mark.parametrize("n_models", [2, 3])
def test_products_of_odds_say_what_logarithms_say(n_models, monkeypatch):
    model, c, question, at = panel("position_aware_ties", 3, n_models)
    c = replace(c, count=np.random.default_rng(1).integers(1, 4, len(c)) * 1.0)
    groups = grouped(c, question)
    for group in groups:
        here = at_rows(group, model, at, SIGMA)
        by_odds = quadrature.look(group, here, 0.5)
        with monkeypatch.context() as patched:
            patched.setattr(quadrature, "FAR", 0.0)
            by_law = quadrature.look(group, here, 0.5)
        for name in ("value", "by_eta", "by_gamma", "by_log_nu"):
            assert_allclose(getattr(by_odds, name), getattr(by_law, name), rtol=1e-12, atol=1e-13)


def test_far_predictors_overflow_nowhere():
    model, c, question, at = panel("position_aware_ties", 3)
    far = Parameters(at.scores * 2000.0, at.judges)
    here = marginal_of(model, c, question, far).slopes(far, SIGMA)
    assert np.isfinite(here.value) and np.isfinite(here.judges).all()


def test_the_law_by_odds():
    eta = np.linspace(-40, 40, 161)
    one, other = ByOdds(np.exp(eta / 2), np.full(161, 0.7)), Law(eta, np.full(161, 0.7))
    for name in ("mean", "tie", "variance", "with_ties", "skewness", "variance_with_ties"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-11, atol=1e-15)
    assert_allclose(eta - np.log(one.total), other.log_likelihood(np.ones(161), np.zeros(161)), atol=1e-13)
