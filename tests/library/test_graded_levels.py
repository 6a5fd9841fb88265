"""Five levels and more in the one engine: the law, its derivatives, the maximum, limits, what follows of a fit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from judgerank import fit, load, pairwise, read
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError, NoMaximumError
from judgerank.data.judgments import Judgments
from judgerank.engine.existence import near_maximum, rising_direction
from judgerank.engine.levels import offsets_with_strength
from judgerank.engine.likelihood import evaluate
from judgerank.engine.questions.groups import grouped
from judgerank.engine.questions.marginal import Marginal
from judgerank.engine.rows import Listed, Table, laid_out
from judgerank.model.block import Role
from judgerank.model.law import Law, graded_comparisons
from judgerank.model.members import NAMED, JudgeValues, Model, Parameters
from judgerank.model.naming import ALWAYS_STRONG, formula, get_model
from judgerank.planning.panels import Panel
from judgerank.reading.layouts.strength import shares_of
from judgerank.trust.refits import judgments_as_units
from tests.drawn import draw_graded

MEMBER = NAMED["position_aware_graded"]
WITHOUT_TIES = Model("strength", ("log_discrimination", "position", "log_strong"))
LEVELS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])


def drawn(seed: int = 1, size: int = 1500, n: int = 5, **changed: np.ndarray) -> Comparisons:
    rng = np.random.default_rng(seed)
    values = {
        "gamma": np.array([0.5, 1.0, 1.5]),
        "slope": np.zeros(3),
        "position": np.array([0.4, -0.2, 0.0]),
        "nu": np.array([0.5, 1.0, 0.2]),
        "log_strong": np.array([[-1.0, 0.0, 0.5]]),
    }
    ends = np.array([rng.permutation(n)[:2] for _ in range(size)]).T
    who = np.array([*ends, rng.integers(3, size=size)])
    return draw_graded(rng, np.linspace(-1, 1, n), JudgeValues(**values | changed), who)


def exponents(at: Parameters, c: Comparisons, model: Model) -> np.ndarray:
    """c eta + tau, one column a level, written out."""
    rows = dict(zip(model.judge_blocks, at.judges, strict=True))
    zeros, k = np.zeros(len(c.judges)), c.judge
    eta = np.exp(rows["log_discrimination"][k]) * (at.scores[c.first] - at.scores[c.second])
    eta = eta + rows.get("position", zeros)[k]
    tie, strong = rows["log_tie"][k], rows["log_strong"][k]
    return LEVELS * eta[:, None] + np.stack([strong, 0 * tie, tie, 0 * tie, strong], axis=1)


def level_of(c: Comparisons) -> np.ndarray:
    return np.round(2 * c.response + 1).astype(int)


def test_law_is_the_definition_of_its_levels_and_their_moments():
    rng = np.random.default_rng(0)
    eta, nu, strong = rng.normal(0, 4, 50), np.exp(rng.normal(size=50)), rng.normal(0, 2, 50)
    law = Law(eta, nu, strong)
    h = LEVELS * eta[:, None] + np.stack([strong, 0 * nu, np.log(nu), 0 * nu, strong], axis=1)
    p = np.exp(h) / np.exp(h).sum(axis=1, keepdims=True)
    y = LEVELS + 0.5
    mean = p @ y
    np.testing.assert_allclose(law.levels, p, atol=1e-14)
    np.testing.assert_allclose(law.mean, mean, atol=1e-13)
    np.testing.assert_allclose(law.variance, p @ y**2 - mean**2, atol=1e-12)
    np.testing.assert_allclose(law.skewness, (p * (y - mean[:, None]) ** 3).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(law.with_ties, p[:, 2] * (0.5 - mean), atol=1e-13)
    extreme = p[:, [0, 4]]
    np.testing.assert_allclose(law.with_strong[0], extreme @ [-0.5, 1.5] - extreme.sum(axis=1) * mean, atol=1e-13)
    np.testing.assert_allclose(law.share, p[:, 3:].sum(axis=1) + p[:, 2] / 2, atol=1e-13)
    for place, (value, tied, much) in enumerate([(-0.5, 0, 1), (0, 0, 0), (0.5, 1, 0), (1, 0, 0), (1.5, 0, 1)]):
        found = law.log_likelihood(np.full(50, value), np.full(50, float(tied)), np.full(50, float(much)))
        np.testing.assert_allclose(found, np.log(p[:, place]), atol=1e-10)


def test_law_far_out_is_finite_and_sums_to_one():
    eta = np.array([-900.0, -40.0, 0.0, 40.0, 900.0])
    for strong in (-np.inf, -30.0, 0.0, ALWAYS_STRONG):
        law = Law(eta, np.ones(5), np.full(5, strong))
        np.testing.assert_allclose(law.levels.sum(axis=1), 1.0, atol=1e-14)
        assert np.isfinite(law.mean).all() and np.isfinite(law.variance).all() and (law.variance >= 0).all()


@pytest.mark.parametrize("derivative", ["mean", "variance", "tie", "strong"])
def test_derivatives_of_the_law_by_its_threshold_are_those_it_names(derivative):
    eta, nu, strong, h = np.linspace(-4, 4, 9), np.full(9, 0.7), np.linspace(-1, 1, 9), 1e-6

    def slope(in_tie: float, in_strong: float) -> np.ndarray:
        ends = (Law(eta, nu * np.exp(x * in_tie), strong + x * in_strong) for x in (h, -h))
        up, down = ((one.strong[0] if derivative == "strong" else getattr(one, derivative)) for one in ends)
        return (up - down) / (2 * h)

    law = Law(eta, nu, strong)
    known = {
        "mean": (law.with_ties, law.with_strong[0]),
        "variance": (law.variance_with_ties, law.variance_with_strong[0]),
        "tie": (law.tie * (1 - law.tie), -law.tie * law.strong[0]),
        "strong": (-law.tie * law.strong[0], law.strong[0] * (1 - law.strong[0])),
    }[derivative]
    np.testing.assert_allclose(slope(1, 0), known[0], atol=1e-8)
    np.testing.assert_allclose(slope(0, 1), known[1], atol=1e-8)


@pytest.mark.parametrize("cells", [False, True])
def test_likelihood_gradient_and_hessian_are_those_of_the_written_out_likelihood(cells):
    raw = drawn()
    c = raw.aggregate() if cells else raw
    rng = np.random.default_rng(2)
    at = Parameters(rng.normal(size=5), rng.normal(0, 0.4, (4, 3)))
    here = evaluate(c, MEMBER, at, "observed")
    h = exponents(at, raw, MEMBER)
    log_p = h - np.log(np.exp(h).sum(axis=1, keepdims=True))
    assert here.log_likelihood == pytest.approx(log_p[np.arange(len(raw)), level_of(raw)].sum(), rel=1e-12)
    size = 1e-5

    def along(scores: np.ndarray, judges: np.ndarray):
        ends = (Parameters(at.scores + x * scores, at.judges + x * judges) for x in (size, -size))
        up, down = (evaluate(c, MEMBER, end) for end in ends)
        slope = (up.log_likelihood - down.log_likelihood) / (2 * size)
        return slope, *(
            (getattr(down, n) - getattr(up, n)) / (2 * size) for n in ("top_gradient", "judge_gradient")
        )

    for i, unit in enumerate(np.eye(5)):
        slope, top, _ = along(unit, np.zeros((4, 3)))
        assert slope == pytest.approx(here.top_gradient[i], abs=1e-4)
        np.testing.assert_allclose(top, here.top_information[i], atol=1e-4)
    for row in range(4):
        for k in range(3):
            unit = np.zeros((4, 3))
            unit[row, k] = 1.0
            slope, top, own = along(np.zeros(5), unit)
            assert slope == pytest.approx(here.judge_gradient[row, k], abs=1e-4)
            expected = here.judge_information[k, row].copy()
            expected[0] -= here.judge_gradient[0, k] * (row == 0)  # the evaluation's is in gamma
            np.testing.assert_allclose(own[:, k], expected, atol=1e-4)
            np.testing.assert_allclose(top, here.cross_information[row, k], atol=1e-4)


def test_a_second_solver_finds_the_same_maximum():
    c = drawn(size=600)
    found = fit(c, "position_aware_graded")

    def falls(x: np.ndarray) -> float:
        h = exponents(Parameters(x[:5], x[5:].reshape(4, 3)), c, MEMBER)
        return -float((h[np.arange(len(c)), level_of(c)] - np.log(np.exp(h).sum(axis=1))).sum())

    other = minimize(
        falls, np.zeros(17), method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-8, "maxfun": 10**5}
    )
    assert -other.fun == pytest.approx(found.log_likelihood, abs=1e-6)
    there = Parameters(other.x[:5], other.x[5:].reshape(4, 3)).normalised()
    np.testing.assert_allclose(there.scores, found.scores, atol=1e-3)
    np.testing.assert_allclose(there.judges, found.solution.parameters.judges, atol=1e-3)


def test_answers_none_of_them_strong_are_those_of_the_tie_model():
    c = drawn(log_strong=np.full((1, 3), -np.inf))
    graded, ties = fit(c, "position_aware_graded"), fit(c, "position_aware_ties")
    assert graded.log_likelihood == pytest.approx(ties.log_likelihood, rel=1e-13)
    np.testing.assert_allclose(graded.scores, ties.scores, atol=1e-10)
    np.testing.assert_allclose(graded.tie, ties.tie, atol=1e-10)
    np.testing.assert_allclose(graded.covariance, ties.covariance, atol=1e-10)
    assert (graded.strength(2) == 0).all()


def test_answers_all_of_them_strong_are_those_of_the_model_of_a_winner_at_half_its_scale():
    c = drawn(log_strong=np.full((1, 3), 60.0), nu=np.zeros(3))
    assert (c.known_strength.sum(axis=1) == 1).all()
    graded, plain = fit(c, WITHOUT_TIES), fit(c, "position_aware")
    assert graded.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(2 * graded.scores, plain.scores, atol=1e-9)
    np.testing.assert_allclose(2 * graded.position, plain.position, atol=1e-9)
    assert np.isinf(graded.strength(2)).all()
    ends = graded.confidence_intervals().set_index("parameter").loc["strong", ["low", "high"]]
    assert ends.isna().all(axis=None)


def test_a_judge_of_extremes_and_ties_is_at_a_limit_and_the_others_are_not():
    c = drawn(size=3000, log_strong=np.array([[60.0, 0.0, 0.5]]), nu=np.array([np.exp(60.0), 1.0, 0.2]))
    own = c.judge == 0
    assert set(level_of(c)[own]) == {0, 2, 4}
    found = fit(c, "position_aware_graded")
    assert str(found.status) == "interior" and found.solution.evaluation.relative_gradient < 1e-9
    assert np.isinf(found.strength(2)["j0"]) and np.isfinite(found.strength(2)[["j1", "j2"]]).all()
    table = found.confidence_intervals().set_index(["parameter", "name"])
    assert np.isnan(table.loc[("strong", "j0"), "low"]) and table.loc[("score", "m0"), "low"] < -0.5
    assert np.isfinite(pairwise(found.clustered(cluster=np.arange(len(c)) // 3))["p_value"]).all()
    # beside his ties, what he says is a tie model of twice the predictor
    np.testing.assert_allclose(
        found.scores, np.linspace(-1, 1, 5) * found.scores.std() / np.std(np.linspace(-1, 1, 5)), atol=0.2
    )


def test_swapping_what_is_shown_first_changes_the_sign_of_positions_alone():
    c = drawn()
    turned = replace(
        c, first=c.second, second=c.first, outcome=1 - c.outcome, strong=c.known_strength[:, ::-1].copy()
    )
    one, other = fit(c, MEMBER), fit(turned, MEMBER)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-9)
    np.testing.assert_allclose(one.position, -other.position, atol=1e-9)
    np.testing.assert_allclose(one.strength(2), other.strength(2), rtol=1e-8)
    np.testing.assert_allclose(one.covariance[:5, :5], other.covariance[:5, :5], atol=1e-10)


@pytest.mark.parametrize("model", [MEMBER, NAMED["judge_aware_graded"], WITHOUT_TIES])
def test_offsets_at_zero_discrimination_are_at_their_best_there(model):
    c = drawn(log_strong=np.array([[60.0, 0.0, -np.inf]]), nu=np.array([np.exp(60.0), 0.0, 0.5]))
    c = model.observed(c).aggregate()
    at = Parameters(np.zeros(5), np.zeros((len(model.judge_blocks), 3)))
    at.judges[0] = -np.inf
    at.judges[model.offsets] = offsets_with_strength(c, model)
    here = evaluate(c, model, at)
    np.testing.assert_allclose(here.judge_gradient[model.offsets], 0.0, atol=1e-5)


def answering(c: Comparisons, level: np.ndarray) -> Comparisons:
    """The first judge's answers in place of those given."""
    was = np.round(2 * c.response + 1).astype(int)
    return graded_comparisons(
        c.models, c.judges, np.array([c.first, c.second, c.judge]), np.where(c.judge == 0, level, was)
    )


def test_a_judge_who_never_errs_is_named_and_one_who_never_favours_the_second_too():
    c = drawn(size=1500)
    lead = c.first - c.second
    in_order = np.select([lead < -2, lead < 0, lead <= 2], [0, 1, 3], 4)
    found = fit(answering(c, in_order), MEMBER)
    assert str(found.status) == "unbounded" and found.unbounded_judges == ("j0",)
    with_a_slip = fit(answering(c, np.where(np.arange(len(c)) % 40 == 0, 4 - in_order, in_order)), MEMBER)
    assert str(with_a_slip.status) == "interior"
    assert fit(answering(c, np.full(len(c), 3)), MEMBER).unbounded_judges == ("j0",)


@pytest.mark.parametrize("seed", [55, 246, 354, 641])
def test_few_judgments_end_at_a_maximum_or_name_who_runs_off(seed):
    """Sets on which a threshold runs off with its discrimination, or a judge comes back from zero."""
    rng = np.random.default_rng(seed)
    n, k, size = 3, int(rng.integers(1, 4)), int(rng.integers(12, 70))
    ends = np.array([rng.permutation(n)[:2] for _ in range(size)]).T
    gamma, position, nu = np.exp(rng.normal(0, 0.7, k)), rng.normal(0, 0.4, k), np.exp(rng.normal(-1, 1, k))
    values = JudgeValues(gamma, np.zeros(k), position, nu, rng.normal(-1, 1.5, (1, k)))
    scores, who = rng.normal(0, 0.7, n), np.array([*ends, np.arange(size) % k])
    members = ("position_aware_graded", "judge_aware_graded", "btl_graded")
    found = fit(draw_graded(rng, scores, values, who), members[seed % 3])
    assert str(found.status) in ("interior", "boundary", "unbounded")
    assert str(found.status) == "unbounded" or found.solution.evaluation.relative_gradient < 1e-9
    clustered = found.clustered(cluster=np.arange(size) // 3)
    assert np.isfinite(pairwise(clustered)["p_value"]).all()
    table = clustered.confidence_intervals()
    assert not ((table["estimate"] > 1e15) & np.isfinite(table["estimate"])).any()


def test_existence_sees_a_maximum_where_there_is_one_and_a_direction_where_there_is_none():
    cells = MEMBER.observed(drawn(size=400)).aggregate()
    found = fit(cells, MEMBER)
    assert rising_direction(cells, MEMBER) is None
    assert near_maximum(cells, MEMBER, found.solution.parameters)
    one = graded_comparisons(("a", "b"), ("j",), np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]]), np.array([4, 1, 3]))
    assert rising_direction(one, MEMBER) is not None


def test_a_model_that_always_wins_is_refused():
    c = drawn(size=400)
    beaten = (c.first == 4) | (c.second == 4)
    won = replace(
        c,
        outcome=np.where(beaten, (c.first == 4).astype(float), c.outcome),
        tied=np.where(beaten, 0.0, c.tied),
        strong=np.where(beaten[:, None], 0.0, c.strong),
    )
    with pytest.raises(NoMaximumError, match="m4"):
        fit(won, MEMBER)


def test_rows_and_cells_have_the_same_fit_and_members_without_strength_leave_it_out():
    c = drawn()
    raw, cells = fit(c, MEMBER), fit(c.aggregate(), MEMBER)
    np.testing.assert_allclose(raw.scores, cells.scores, atol=1e-12)
    bare = replace(c, strong=None)
    for name in ("btl", "position_aware", "position_aware_ties"):
        one, other = fit(c, name), fit(bare, name)
        assert one.log_likelihood == other.log_likelihood and (one.scores == other.scores).all()
        assert one.comparisons.strong is None


@pytest.mark.parametrize("name", ["btl", "position_aware", "position_aware_ties"])
def test_rows_that_say_more_than_a_member_takes_have_its_likelihood(name):
    c, model = drawn().with_ties(), NAMED[name]
    at = fit(c, name).solution.parameters
    at = at if model.judge_blocks else Parameters(at.scores, np.zeros((0, 3)))
    known, bare = evaluate(c, model, at), evaluate(replace(c, strong=None), model, at)
    assert known.log_likelihood == bare.log_likelihood
    np.testing.assert_array_equal(known.top_gradient, bare.top_gradient)


def test_what_follows_from_a_fit(tmp_path):
    c = drawn()
    found = fit(c, MEMBER)
    p, levels = found.probability(c), found.level_probabilities(c)
    assert levels.shape == (len(c), 5) and ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(levels.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(p, levels[:, 3:].sum(axis=1) + levels[:, 2] / 2, atol=1e-12)
    np.testing.assert_allclose(found.tie_probability(c), levels[:, 2], atol=1e-12)
    assert found.win_probability(np.array(0.0)) == pytest.approx(0.5)
    one, other = (found.win_probability(np.array(x)) for x in (0.7, -0.7))
    assert one + other == pytest.approx(1.0) and one > 0.5
    assert len(pairwise(found)) == 10
    clustered = found.clustered(cluster=np.arange(len(c)) // 3)
    assert np.isfinite(clustered.covariance).all()
    shrunk = fit(c, MEMBER, shrink=True)
    assert shrunk.solution.spread.keys() >= {"log_tie", "log_strong"}
    np.testing.assert_allclose(shrunk.scores, found.scores, atol=0.1)
    found.save(tmp_path / "fit.npz")
    again = load(tmp_path / "fit.npz")
    assert (again.strength(2) == found.strength(2)).all()
    np.testing.assert_array_equal(again.confidence_intervals()["low"], found.confidence_intervals()["low"])


def test_what_is_not_there_is_refused_in_one_sentence():
    c = drawn()
    with pytest.raises(DataError, match="needs strength"):
        fit(replace(c, strong=None), MEMBER)
    with pytest.raises(DataError, match=r"'position_aware_ties'.*strength"):
        fit(c, "position_aware_ties").level_probabilities(c)
    with pytest.raises(DataError, match="'strong'"):
        replace(c, strong=np.ones((len(c), 2)))


@pytest.mark.parametrize("size", [600, 12_000])
def test_the_certificate_takes_rows_in_a_list_and_in_a_table(size):
    """Many rows of few models stand in a table of judges by pairs."""
    found = fit(drawn(3, size, 25), "judge_aware_graded")
    laid = {type(rows) for rows in laid_out(found.comparisons, 1 << 14)}
    assert laid == {Table if size > 1_000 else Listed}
    assert found.status == "interior"


NAME = "position_aware_graded"
SEVEN = np.arange(-3, 4) / 2
SIZES = np.abs(SEVEN)
VALUES = {
    "gamma": np.array([0.6, 1.0, 1.6]),
    "slope": np.zeros(3),
    "position": np.array([0.3, -0.2, 0.0]),
    "nu": np.array([0.5, 1.0, 0.2]),
    "log_strong": np.array([[-0.5, 0.0, 0.4], [-1.5, 0.3, -0.5]]),
}


def drawn_at_seven(size: int = 1500, seed: int = 1, spread: float = 1.0, **changed: np.ndarray) -> Comparisons:
    rng = np.random.default_rng(seed)
    ends = np.array([rng.permutation(5)[:2] for _ in range(size)]).T
    who = np.array([*ends, rng.integers(3, size=size)])
    return draw_graded(rng, spread * np.linspace(-1, 1, 5), JudgeValues(**VALUES | changed), who)


def level_of_seven(c: Comparisons) -> np.ndarray:
    return np.round(2 * c.response + 2).astype(int)


def exponents_at_seven(at: Parameters, c: Comparisons) -> np.ndarray:
    """c eta + tau, one column a level, written out."""
    alpha, b, tie, *strong = at.judges[:, c.judge]
    eta = np.exp(alpha) * (at.scores[c.first] - at.scores[c.second]) + b
    tau = {0.0: tie, 0.5: 0 * tie, 1.0: strong[0], 1.5: strong[1]}
    return SEVEN * eta[:, None] + np.stack([tau[size] for size in SIZES], axis=1)


def test_law_of_seven_levels_is_its_definition_and_its_derivatives_are_those_it_names():
    rng, h = np.random.default_rng(0), 1e-6
    eta, nu, strong = rng.normal(0, 3, 40), np.exp(rng.normal(size=40)), rng.normal(0, 2, (2, 40))
    law = Law(eta, nu, *strong)
    tau = np.stack([np.log(nu), 0 * nu, *strong])[np.round(2 * SIZES).astype(int)].T
    p = np.exp(SEVEN * eta[:, None] + tau)
    p /= p.sum(axis=1, keepdims=True)
    mean = p @ (SEVEN + 0.5)
    assert_allclose(law.levels, p, atol=1e-13)
    assert_allclose(law.mean, mean, atol=1e-12)
    assert_allclose(law.variance, p @ (SEVEN + 0.5) ** 2 - mean**2, atol=1e-12)
    assert_allclose(law.share, p[:, 4:].sum(axis=1) + p[:, 3] / 2, atol=1e-13)
    for level, size in enumerate(SIZES):
        given = [np.full(40, float(size == one)) for one in (0.0, 1.0, 1.5)]
        found = law.log_likelihood(np.full(40, SEVEN[level] + 0.5), *given)
        assert_allclose(found, np.log(p[:, level]), atol=1e-10)
    for place, role in enumerate((Role.STRONG, Role(5))):
        up, down = (Law(eta, nu, *(strong + x * np.eye(2)[place][:, None])) for x in (h, -h))
        assert_allclose((up.mean - down.mean) / (2 * h), law.with_chance(role), atol=1e-8)
        assert_allclose(
            (up.variance - down.variance) / (2 * h), law.variance_with_strong[role.strength], atol=1e-7
        )
        slope = (up.chance(role) - down.chance(role)) / (2 * h)
        assert_allclose(slope, law.chance(role) * (1 - law.chance(role)), atol=1e-8)


def test_the_law_is_finite_far_out_with_every_limit():
    eta = np.array([-900.0, -40.0, 0.0, 40.0, 900.0])
    for one in (-np.inf, -30.0, ALWAYS_STRONG):
        for other in (-np.inf, 0.0, ALWAYS_STRONG):
            law = Law(eta, np.ones(5), np.full(5, one), np.full(5, other))
            assert_allclose(law.levels.sum(axis=1), 1.0, atol=1e-14)
            assert np.isfinite(law.mean).all() and (law.variance >= 0).all()


@pytest.mark.parametrize("cells", [False, True])
def test_likelihood_gradient_and_hessian_are_those_of_the_written_out_likelihood_at_seven(cells):
    raw = drawn_at_seven(600)
    c, model = raw.aggregate() if cells else raw, get_model(NAME, raw)
    rng = np.random.default_rng(2)
    at = Parameters(rng.normal(size=5), rng.normal(0, 0.4, (5, 3)))
    here = evaluate(c, model, at, "observed")
    h = exponents_at_seven(at, raw)
    log_p = h - np.log(np.exp(h).sum(axis=1, keepdims=True))
    assert here.log_likelihood == pytest.approx(log_p[np.arange(len(raw)), level_of_seven(raw)].sum(), rel=1e-12)
    size = 1e-5
    for row in range(5):
        for k in range(3):
            unit = np.zeros((5, 3))
            unit[row, k] = size
            ends = (Parameters(at.scores, at.judges + sign * unit) for sign in (1, -1))
            up, down = (evaluate(c, model, end) for end in ends)
            slope = (up.log_likelihood - down.log_likelihood) / (2 * size)
            assert slope == pytest.approx(here.judge_gradient[row, k], abs=1e-4)
            expected = here.judge_information[k, row].copy()
            expected[0] -= here.judge_gradient[0, k] * (row == 0)  # the evaluation's is in gamma
            own = (down.judge_gradient - up.judge_gradient)[:, k] / (2 * size)
            assert_allclose(own, expected, atol=1e-4)
            top = (down.top_gradient - up.top_gradient) / (2 * size)
            assert_allclose(top, here.cross_information[row, k], atol=1e-4)


def test_a_strength_that_no_one_gives_changes_nothing():
    """Seven levels of which five are used are five, also where rows have room for more."""
    five = drawn_at_seven(log_strong=VALUES["log_strong"][:1])
    seven = five.with_strengths(2)
    assert five.n_strengths == 1 and seven.n_strengths == 2
    one, other = fit(five, NAME), fit(seven, NAME)
    assert other.model.judge_blocks == (*one.model.judge_blocks, "log_strong_3")
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-14)
    assert_allclose(one.scores, other.scores, atol=1e-10)
    assert_allclose(one.covariance, other.covariance, atol=1e-10)
    assert (other.strength(3) == 0).all()


def test_answers_with_the_greatest_strength_alone_are_those_of_the_model_of_a_winner_at_a_third_of_its_scale():
    c = drawn_at_seven(log_strong=np.array([[-np.inf] * 3, [60.0] * 3]), nu=np.zeros(3))
    assert (c.by_strength[1] == 1).all()
    model = Model("strength", ("log_discrimination", "position", "log_strong"))
    graded, plain = fit(c, model), fit(c, "position_aware")
    assert graded.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
    assert_allclose(3 * graded.scores, plain.scores, atol=1e-9)
    assert np.isinf(graded.strength(3)).all() and (graded.strength(2) == 0).all()


def test_a_judge_of_the_two_greatest_strengths_is_at_a_limit_and_the_others_are_not():
    strong = np.array([[60.0, 0.0, 0.4], [60.5, 0.3, -0.5]])
    c = drawn_at_seven(size=2500, log_strong=strong, nu=np.array([0.0, 1.0, 0.2]))
    assert {*level_of_seven(c)[c.judge == 0]} == {0, 1, 5, 6}
    found = fit(c, NAME)
    assert str(found.status) == "interior" and found.solution.evaluation.relative_gradient < 1e-9
    assert np.isinf(found.strength(2)["j0"]) and np.isinf(found.strength(3)["j0"])
    assert np.isfinite(found.strength(3)[["j1", "j2"]]).all()
    assert np.isfinite(pairwise(found.clustered(cluster=np.arange(len(c)) // 3))["p_value"]).all()
    cells, model = found.comparisons, found.model
    zero = Parameters(np.zeros(5), np.zeros((5, 3)))
    zero.judges[0] = -np.inf
    zero.judges[model.offsets] = offsets_with_strength(cells, model)
    assert_allclose(evaluate(cells, model, zero).judge_gradient[model.offsets], 0.0, atol=1e-5)


def test_seven_levels_are_recovered_and_their_intervals_hold_the_truth():
    held = []
    for seed in range(12):
        found = fit(drawn_at_seven(1200, seed), NAME)
        rows = found.confidence_intervals().set_index(["parameter", "name"])
        scale = np.exp(np.log(VALUES["gamma"]).mean())  # of discriminations whose geometric mean is one
        for model, truth in enumerate(scale * np.linspace(-1, 1, 5)):
            ends = rows.loc[("score", f"m{model}")]
            held.append(ends["low"] <= truth <= ends["high"])
        for k, truth in enumerate(np.exp(VALUES["log_strong"][1])):
            ends = rows.loc[("strong_3", f"j{k}")]
            held.append(ends["low"] <= truth <= ends["high"])
    assert 0.88 <= np.mean(held) <= 0.99


def test_models_that_are_alike_are_not_told_to_differ():
    found = fit(drawn_at_seven(1500, 3, spread=0.0), NAME, shrink=True)
    assert not pairwise(found)["separated"].any()


def test_what_follows_from_a_fit_at_seven(tmp_path):
    c = drawn_at_seven()
    found = fit(c, NAME)
    levels = found.level_probabilities(c)
    assert levels.shape == (len(c), 7)
    assert_allclose(found.probability(c), levels[:, 4:].sum(axis=1) + levels[:, 3] / 2, atol=1e-12)
    shrunk = fit(c, NAME, shrink=True)
    assert shrunk.solution.spread.keys() >= {"log_strong", "log_strong_3"}
    again = fit(c, NAME, shrunk.settings.held_at(shrunk.solution.spread))
    assert_allclose(again.scores, shrunk.scores, atol=1e-8)
    assert again.solution.spread == shrunk.solution.spread
    found.save(tmp_path / "fit.npz")
    kept = load(tmp_path / "fit.npz")
    assert (kept.strength(3) == found.strength(3)).all() and kept.model == found.model
    assert found.model.counterpart().name == "judge_aware_graded"
    assert "kappa_k3" in formula(found.model)
    fewer = c.take(np.flatnonzero(c.by_strength[1] == 0))
    assert found.level_probabilities(fewer).shape == (len(fewer), 7)
    panel = Panel.fitted(found)
    chance = panel.probabilities(c.first[:9], c.second[:9], c.judge[:9])
    assert_allclose(chance, levels[:9, ::-1], atol=1e-9)
    design = panel.design(100.0)
    assert design.n_strengths == 2
    # a fit of what is expected is the panel itself
    assert_allclose(fit(design, found.model).scores, panel.at.scores, atol=1e-6)


def test_question_effects_have_the_gradient_of_their_likelihood():
    c, asked, h = drawn_at_seven(120), np.repeat(np.arange(40), 3), 1e-5
    model = get_model(NAME, c)
    at = Parameters(np.linspace(-1, 1, 5), np.random.default_rng(1).normal(0, 0.3, (5, 3)))
    marginal = Marginal.fine(grouped(c, asked), model, np.exp(at.judges[0]), 0.7, 20.0)
    here = marginal.slopes(at, 0.7)
    for row in range(2, 5):
        for k in range(3):
            unit = np.zeros((5, 3))
            unit[row, k] = h
            up, down = (marginal.slopes(Parameters(at.scores, at.judges + x * unit), 0.7).value for x in (1, -1))
            assert here.judges[row, k] == pytest.approx((up - down) / (2 * h), abs=1e-4)


def test_cells_with_counts_hold_the_same_answers_as_records():
    c = drawn_at_seven(400)
    again = fit(Judgments.of(c.aggregate()), NAME)
    assert again.log_likelihood == pytest.approx(fit(c, NAME).log_likelihood, rel=1e-12)


def test_judgments_of_different_strength_are_not_left_out_as_one_kind():
    c = drawn_at_seven(400)
    kind = judgments_as_units(c).kind
    key = [(c.first[t], c.second[t], c.judge[t], c.response[t]) for t in range(len(c))]
    assert len(set(kind.tolist())) == len(set(key)) == len(set(zip(kind.tolist(), key, strict=True)))


def test_blocks_out_of_order_and_too_many_strengths_are_refused():
    with pytest.raises(ConfigError, match="log_strong_3"):
        Model("odd", ("log_discrimination", "log_strong_3"))
    board = fit(drawn_at_seven(log_strong=VALUES["log_strong"][:1]), NAME)
    with pytest.raises(DataError, match="a win has 3 strengths in these comparisons, and 2 in the model"):
        board.model.observed(drawn_at_seven())
    with pytest.raises(DataError, match="'strong'"):
        replace(drawn_at_seven(), strong=np.zeros((1500, 3)))


TWICE = {"model_a": ["x", "y"], "model_b": ["y", "x"]}


def strengths_read(said: list[object], given: list[object] | None = None) -> list[float]:
    """c of every winner, read from a table in which each stands twice, once in either order."""
    rows = {name: ends * len(said) for name, ends in TWICE.items()}
    frame = pd.DataFrame(rows | {"judge": "j", "question": np.arange(2 * len(said)) // 2})
    frame["winner"] = pd.Series(np.repeat(np.array(said, object), 2))
    if given is not None:
        frame["strength"] = pd.Series(np.repeat(np.array(given, object), 2))
    signed = {"-1": "b"} if -3 in said else None  # whose numbers below zero are is for the user to say
    return (read(frame, winner_values=signed).comparisons.response[::2] - 0.5).tolist()


@pytest.mark.parametrize(
    ("said", "given", "expected"),
    [
        (["A>>>B", "A>B", "B>>A", "A=B", "A<<<B"], None, [1.5, 0.5, -1.0, 0.0, -1.5]),
        ([-3, 3, 0, 1, -2], None, [-1.5, 1.5, 0.0, 0.5, -1.0]),
        (["A is slightly better", "B is much better", "tie", "A is better"], None, [0.5, -1.5, 0.0, 1.0]),
        (["response 1 is much better than response 2", "response 2 is better"], None, [1.0, -0.5]),
        (["a", "b", "tie", "a"], ["slightly better", "much better", None, "better"], [0.5, -1.5, 0.0, 1.0]),
        (["a", "b", "tie", "a"], ["slightly better", "much better", None, "much"], [0.5, -1.0, 0.0, 1.0]),
        (["a", "b", "tie", "a"], [1, -3, 0, 2], [0.5, -1.5, 0.0, 1.0]),
        (["a", "b", "a"], [">", ">>>", ">>"], [0.5, -1.5, 1.0]),
    ],
)
def test_strength_is_read_in_any_number_of_grades(said, given, expected):
    assert strengths_read(said, given) == expected


def test_a_score_is_no_strength():
    frame = pd.DataFrame({"judge_preferred_model": ["a", "b"], "strength": [1, 70]})
    with pytest.raises(DataError, match="record 2 has 70 as its strength; expected 1 or better"):
        shares_of(frame)
