"""More than five levels: the law, its derivatives, the maximum, limits, and what follows from a fit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import fit, load, pairwise, read
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.judgments import Judgments
from judgerank.engine.levels import offsets_with_strength
from judgerank.engine.likelihood import evaluate
from judgerank.engine.questions.groups import grouped
from judgerank.engine.questions.marginal import Marginal
from judgerank.model.block import Role
from judgerank.model.law import Law
from judgerank.model.members import JudgeValues, Model, Parameters
from judgerank.model.naming import ALWAYS_STRONG, formula, get_model
from judgerank.planning.panels import Panel
from judgerank.reading.layouts.strength import shares_of
from judgerank.trust.refits import judgments_as_units
from tests.drawn import draw_graded

NAME = "position_aware_graded"
LEVELS = np.arange(-3, 4) / 2
SIZES = np.abs(LEVELS)
VALUES = {
    "gamma": np.array([0.6, 1.0, 1.6]),
    "slope": np.zeros(3),
    "position": np.array([0.3, -0.2, 0.0]),
    "nu": np.array([0.5, 1.0, 0.2]),
    "log_strong": np.array([[-0.5, 0.0, 0.4], [-1.5, 0.3, -0.5]]),
}


def drawn(size: int = 1500, seed: int = 1, spread: float = 1.0, **changed: np.ndarray) -> Comparisons:
    rng = np.random.default_rng(seed)
    ends = np.array([rng.permutation(5)[:2] for _ in range(size)]).T
    who = np.array([*ends, rng.integers(3, size=size)])
    return draw_graded(rng, spread * np.linspace(-1, 1, 5), JudgeValues(**VALUES | changed), who)


def level_of(c: Comparisons) -> np.ndarray:
    return np.round(2 * c.response + 2).astype(int)


def exponents(at: Parameters, c: Comparisons) -> np.ndarray:
    """c eta + tau, one column a level, written out."""
    alpha, b, tie, *strong = at.judges[:, c.judge]
    eta = np.exp(alpha) * (at.scores[c.first] - at.scores[c.second]) + b
    tau = {0.0: tie, 0.5: 0 * tie, 1.0: strong[0], 1.5: strong[1]}
    return LEVELS * eta[:, None] + np.stack([tau[size] for size in SIZES], axis=1)


def test_law_of_seven_levels_is_its_definition_and_its_derivatives_are_those_it_names():
    rng, h = np.random.default_rng(0), 1e-6
    eta, nu, strong = rng.normal(0, 3, 40), np.exp(rng.normal(size=40)), rng.normal(0, 2, (2, 40))
    law = Law(eta, nu, *strong)
    tau = np.stack([np.log(nu), 0 * nu, *strong])[np.round(2 * SIZES).astype(int)].T
    p = np.exp(LEVELS * eta[:, None] + tau)
    p /= p.sum(axis=1, keepdims=True)
    mean = p @ (LEVELS + 0.5)
    assert_allclose(law.levels, p, atol=1e-13)
    assert_allclose(law.mean, mean, atol=1e-12)
    assert_allclose(law.variance, p @ (LEVELS + 0.5) ** 2 - mean**2, atol=1e-12)
    assert_allclose(law.share, p[:, 4:].sum(axis=1) + p[:, 3] / 2, atol=1e-13)
    for level, size in enumerate(SIZES):
        given = [np.full(40, float(size == one)) for one in (0.0, 1.0, 1.5)]
        found = law.log_likelihood(np.full(40, LEVELS[level] + 0.5), *given)
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
def test_likelihood_gradient_and_hessian_are_those_of_the_written_out_likelihood(cells):
    raw = drawn(600)
    c, model = raw.aggregate() if cells else raw, get_model(NAME, raw)
    rng = np.random.default_rng(2)
    at = Parameters(rng.normal(size=5), rng.normal(0, 0.4, (5, 3)))
    here = evaluate(c, model, at, "observed")
    h = exponents(at, raw)
    log_p = h - np.log(np.exp(h).sum(axis=1, keepdims=True))
    assert here.log_likelihood == pytest.approx(log_p[np.arange(len(raw)), level_of(raw)].sum(), rel=1e-12)
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
    five = drawn(log_strong=VALUES["log_strong"][:1])
    seven = five.with_strengths(2)
    assert five.n_strengths == 1 and seven.n_strengths == 2
    one, other = fit(five, NAME), fit(seven, NAME)
    assert other.model.judge_blocks == (*one.model.judge_blocks, "log_strong_3")
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=1e-14)
    assert_allclose(one.scores, other.scores, atol=1e-10)
    assert_allclose(one.covariance, other.covariance, atol=1e-10)
    assert (other.strength(3) == 0).all()


def test_answers_with_the_greatest_strength_alone_are_those_of_the_model_of_a_winner_at_a_third_of_its_scale():
    c = drawn(log_strong=np.array([[-np.inf] * 3, [60.0] * 3]), nu=np.zeros(3))
    assert (c.by_strength[1] == 1).all()
    model = Model("strength", ("log_discrimination", "position", "log_strong"))
    graded, plain = fit(c, model), fit(c, "position_aware")
    assert graded.log_likelihood == pytest.approx(plain.log_likelihood, rel=1e-12)
    assert_allclose(3 * graded.scores, plain.scores, atol=1e-9)
    assert np.isinf(graded.strength(3)).all() and (graded.strength(2) == 0).all()


def test_a_judge_of_the_two_greatest_strengths_is_at_a_limit_and_the_others_are_not():
    strong = np.array([[60.0, 0.0, 0.4], [60.5, 0.3, -0.5]])
    c = drawn(size=2500, log_strong=strong, nu=np.array([0.0, 1.0, 0.2]))
    assert {*level_of(c)[c.judge == 0]} == {0, 1, 5, 6}
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
        found = fit(drawn(1200, seed), NAME)
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
    found = fit(drawn(1500, 3, spread=0.0), NAME, shrink=True)
    assert not pairwise(found)["separated"].any()


def test_what_follows_from_a_fit(tmp_path):
    c = drawn()
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
    c, asked, h = drawn(120), np.repeat(np.arange(40), 3), 1e-5
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
    c = drawn(400)
    again = fit(Judgments.of(c.aggregate()), NAME)
    assert again.log_likelihood == pytest.approx(fit(c, NAME).log_likelihood, rel=1e-12)


def test_judgments_of_different_strength_are_not_left_out_as_one_kind():
    c = drawn(400)
    kind = judgments_as_units(c).kind
    key = [(c.first[t], c.second[t], c.judge[t], c.response[t]) for t in range(len(c))]
    assert len(set(kind.tolist())) == len(set(key)) == len(set(zip(kind.tolist(), key, strict=True)))


def test_blocks_out_of_order_and_too_many_strengths_are_refused():
    with pytest.raises(ConfigError, match="log_strong_3"):
        Model("odd", ("log_discrimination", "log_strong_3"))
    board = fit(drawn(log_strong=VALUES["log_strong"][:1]), NAME)
    with pytest.raises(DataError, match="a win has 3 strengths in these comparisons, and 2 in the model"):
        board.model.observed(drawn())
    with pytest.raises(DataError, match="'strong'"):
        replace(drawn(), strong=np.zeros((1500, 3)))


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
