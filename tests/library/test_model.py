"""Likelihood, gradient and information against finite differences, dense algebra and invariances."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from omegaconf import OmegaConf
from scipy.special import expit

from judgerank import Comparisons, Newton, fit, read
from judgerank.data.errors import ConfigError, DataError
from judgerank.engine.likelihood import Evaluation, evaluate
from judgerank.engine.newton import line_point, newton_step
from judgerank.model import reference
from judgerank.model.members import BTL, JUDGE_AWARE, LENGTH, MODELS, Parameters
from judgerank.model.naming import get_model
from judgerank.model.reference import Cells
from replication import published
from replication.datasets import find_file, load_judgments
from tests.real_data import FILES, IN_HOUSE, needs_data, needs_in_house
from tests.replication.test_config import composed
from tests.replication.test_published import needs_paper

FAMILY = pytest.mark.parametrize("model", [BTL, JUDGE_AWARE, LENGTH], ids=lambda model: model.name)
WITH_JUDGES = pytest.mark.parametrize("model", [JUDGE_AWARE, LENGTH], ids=lambda model: model.name)
SCORES, GAMMA, SLOPE = (1.1, 0.2, -0.4, -0.9), (0.5, 1.0, 2.0), (0.3, -0.2, 0.4)
N, K = len(SCORES), len(GAMMA)
# fourth-order differences with step h: truncation h^4 ~ 1e-12, rounding 1e-13 / h ~ 1e-10 of a log-likelihood
H, DIFFERENCE = 1e-3, {"rtol": 1e-8, "atol": 1e-8}
ROUNDING = {"rtol": 1e-12, "atol": 1e-12}  # sums of a few hundred terms of order one


@pytest.fixture(scope="module")
def raw(simulated) -> Comparisons:
    """Raw rows with ties and a covariate that takes many values."""
    rows = simulated(1, SCORES, GAMMA, 300, slope=SLOPE, ties=0.1)
    rows.covariate[:] += np.random.default_rng(2).integers(-3, 4, len(rows)) / 8
    return rows


@pytest.fixture(scope="module")
def cells(raw) -> Comparisons:
    return raw.aggregate()


def somewhere(model, seed=3) -> Parameters:
    """A point away from the truth and from every symmetry."""
    rng = np.random.default_rng(seed)
    return Parameters(rng.normal(size=N), 0.5 * rng.normal(size=(len(model.judge_blocks), K)))


def flat(at: Parameters) -> np.ndarray:
    return np.r_[at.scores, at.judges.ravel()]


def unflat(x: np.ndarray) -> Parameters:
    return Parameters(x[:N], x[N:].reshape(-1, K))


def derivative(f, x: np.ndarray) -> np.ndarray:
    """Fourth-order central differences of f, one row per component of x."""
    steps = H * np.eye(len(x))
    return np.array([f(x - 2 * e) - 8 * f(x - e) + 8 * f(x + e) - f(x + 2 * e) for e in steps]) / (12 * H)


def assembled(at: Evaluation) -> np.ndarray:
    """The blocks of information in one matrix over (s, alpha, beta)."""
    blocks = len(at.judge_gradient)
    full = np.zeros((N + blocks * K, N + blocks * K))
    full[:N, :N] = at.top_information
    for b in range(blocks):
        for k in range(K):
            row = N + b * K + k
            full[row, :N] = full[:N, row] = at.cross_information[b, k]
            for b2 in range(blocks):
                full[row, N + b2 * K + k] = at.judge_information[k, b, b2]
    return full


def assert_same(one: Evaluation, other: Evaluation, **tolerance) -> None:
    for name in vars(one):
        assert_allclose(getattr(one, name), getattr(other, name), err_msg=name, **tolerance)


# value and derivatives


@FAMILY
def test_the_log_likelihood_is_equation_5(cells, model, log_likelihood):
    at = somewhere(model)
    gamma = np.exp(at.judges[0]) if model.judge_blocks else None
    slope = at.judges[1] if model.has_slope else None
    expected = log_likelihood(cells, at.scores, gamma, slope)
    assert_allclose(evaluate(cells, model, at).log_likelihood, expected, rtol=1e-13)


@FAMILY
def test_the_gradient_is_that_of_the_log_likelihood(cells, model):
    at = somewhere(model)
    here = evaluate(cells, model, at)
    expected = derivative(lambda x: evaluate(cells, model, unflat(x)).log_likelihood, flat(at))
    assert_allclose(np.r_[here.top_gradient, here.judge_gradient.ravel()], expected, **DIFFERENCE)


@FAMILY
def test_the_expected_information_is_that_of_the_dense_jacobian(cells, model, dense_information):
    at = somewhere(model)
    here = evaluate(cells, model, at, "expected")
    assert_allclose(assembled(here), dense_information(cells, at), **ROUNDING)


@FAMILY
def test_the_observed_information_is_minus_the_hessian_in_gamma(cells, model):
    at = somewhere(model)
    gamma = np.exp(at.judges[0]) if model.judge_blocks else np.ones(0)
    scale = np.r_[np.ones(N), gamma, np.ones((len(model.judge_blocks) > 1) * K)]

    def gradient(x):  # in (s, gamma, beta)
        here = unflat(x.copy())
        here.judges[:1] = np.log(here.judges[:1])
        there = evaluate(cells, model, here)
        steps = there.judge_gradient.copy()
        steps[:1] /= np.exp(here.judges[:1])
        return np.r_[there.top_gradient, steps.ravel()]

    x = flat(at)
    x[N : N + len(gamma)] = gamma
    expected = -derivative(gradient, x) * np.outer(scale, scale)
    assert_allclose(assembled(evaluate(cells, model, at, "observed")), expected, **DIFFERENCE)


@FAMILY
def test_observed_and_expected_information_agree_if_outcomes_equal_probabilities(cells, model):
    at = somewhere(model)
    g = np.exp(at.judges[0])[cells.judge] if model.judge_blocks else 1.0
    g = g * np.exp(at.judges[1][cells.judge] * cells.covariate) if model.has_slope else g
    p = expit(g * (at.scores[cells.first] - at.scores[cells.second]))
    exact = Comparisons(
        cells.models, cells.judges, cells.first, cells.second, cells.judge, p, cells.count, cells.covariate
    )
    one, other = (evaluate(exact, model, at, curvature) for curvature in ("expected", "observed"))
    assert_same(one, other, rtol=1e-11, atol=1e-11)


@WITH_JUDGES
def test_the_slope_at_zero_is_the_derivative_in_gamma_at_zero(cells, model, log_likelihood):
    at = somewhere(model)
    beta = at.judges[1] if model.has_slope else None
    # gamma may be negative in the independent likelihood, so the difference can be central
    gammas = [np.where(np.eye(K, dtype=bool), 0.0, np.exp(at.judges[0]))[k] for k in range(K)]
    expected = [
        derivative(lambda x: log_likelihood(cells, at.scores, x, beta), gamma)[k] for k, gamma in enumerate(gammas)
    ]
    assert_allclose(evaluate(cells, model, at, "expected").slope_at_zero, expected, **DIFFERENCE)


@FAMILY
def test_asking_for_curvature_changes_neither_value_nor_gradient(cells, model):
    at = somewhere(model)
    plain = evaluate(cells, model, at)
    assert plain.top_information.size == plain.judge_information.size == plain.cross_information.size == 0
    for curvature in ("expected", "observed"):
        here = evaluate(cells, model, at, curvature)
        assert here.log_likelihood == plain.log_likelihood
        assert_array_equal(here.top_gradient, plain.top_gradient)
        assert_array_equal(here.judge_gradient, plain.judge_gradient)


def test_the_relative_gradient_is_the_largest_component_over_the_log_likelihood():
    def relative(log_likelihood, scores, judges):
        return Evaluation(log_likelihood, np.array(scores), np.array(judges), None).relative_gradient

    assert relative(-50.0, [1.0, -2.0], [[0.5]]) == 2.0 / 50
    assert relative(-50.0, [1.0, -2.0], [[0.5], [-5.0]]) == 5.0 / 50
    assert relative(-0.5, [1.0, -2.0], np.zeros((0, 1))) == 2.0


# invariances


@FAMILY
def test_a_shift_of_the_scores_changes_nothing(cells, model):
    at = somewhere(model)
    line_point = evaluate(cells, model, Parameters(at.scores + 3.7, at.judges), "observed")
    assert_same(evaluate(cells, model, at, "observed"), line_point, **ROUNDING)


@WITH_JUDGES
def test_scores_trade_scale_with_discrimination(cells, model):
    at, a = somewhere(model), 2.5
    judges = at.judges.copy()
    judges[0] -= np.log(a)
    here = evaluate(cells, model, at, "expected")
    there = evaluate(cells, model, Parameters(a * at.scores, judges), "expected")
    assert_allclose(there.log_likelihood, here.log_likelihood, rtol=1e-13)
    assert_allclose(there.top_gradient, here.top_gradient / a, **ROUNDING)
    assert_allclose(there.judge_gradient, here.judge_gradient, **ROUNDING)
    assert_allclose(there.judge_information, here.judge_information, **ROUNDING)


@FAMILY
def test_presentation_order_changes_nothing(cells, model, swapped):
    at = somewhere(model)
    one, other = evaluate(cells, model, at, "observed"), evaluate(swapped(cells), model, at, "observed")
    assert_same(one, other, **ROUNDING)


@FAMILY
def test_raw_rows_and_cells_give_the_same(raw, cells, model):
    assert len(cells) < len(raw)
    at = somewhere(model)
    assert_same(evaluate(raw, model, at, "observed"), evaluate(cells, model, at, "observed"), **ROUNDING)


@FAMILY
@pytest.mark.parametrize("rows_but", [None, 0, 1], ids=["seven rows", "all rows", "all but one"])
def test_the_size_of_a_chunk_changes_nothing(cells, model, rows_but, monkeypatch):
    at = somewhere(model)
    whole = evaluate(cells, model, at, "observed")
    monkeypatch.setattr("judgerank.engine.likelihood.CHUNK", 7 if rows_but is None else len(cells) - rows_but)
    assert_same(evaluate(cells, model, at, "observed"), whole, **ROUNDING)


def test_the_members_are_nested(cells):
    at = somewhere(BTL)
    without_slope = Parameters(at.scores, np.full((1, K), 0.3))
    with_slope = Parameters(at.scores, np.vstack([without_slope.judges, np.zeros(K)]))
    plain = Parameters(at.scores * np.exp(0.3), at.judges)
    values = [
        evaluate(cells, model, point).log_likelihood
        for model, point in ((BTL, plain), (JUDGE_AWARE, without_slope), (LENGTH, with_slope))
    ]
    assert_allclose(values, values[0], rtol=1e-14)


# the edges of the parameter space


@WITH_JUDGES
def test_a_judge_at_zero_adds_log_two_a_comparison_and_nothing_else(cells, model):
    at = somewhere(model)
    at.judges[0, 1] = -np.inf
    others = cells.with_judges([cells.judges[0], cells.judges[2]])
    rest = evaluate(others, model, Parameters(at.scores, at.judges[:, [0, 2]]), "observed")
    here = evaluate(cells, model, at, "observed")
    silent = cells.count[cells.judge == 1].sum()
    assert_allclose(here.log_likelihood, rest.log_likelihood - silent * np.log(2), rtol=1e-13)
    assert_allclose(here.top_gradient, rest.top_gradient, **ROUNDING)
    assert_allclose(here.top_information, rest.top_information, **ROUNDING)
    assert not here.judge_gradient[:, 1].any()
    assert not here.judge_information[1].any()
    assert not here.cross_information[:, 1].any()


@FAMILY
@pytest.mark.parametrize(("outcome", "expected"), [(0.0, -3000.0), (1.0, 0.0), (0.5, -1500.0)])
def test_a_predictor_of_a_thousand_neither_overflows_nor_warns(model, outcome, expected):
    cells = Comparisons(
        tuple("ab"), ("j",), *np.array([[0], [1], [0]]), *np.array([[outcome], [3.0]]), np.zeros(1)
    )
    at = Parameters(np.array([500.0, -500.0]), np.zeros((len(model.judge_blocks), 1)))
    here = evaluate(cells, model, at, "observed")
    assert here.log_likelihood == expected
    assert_array_equal(here.top_gradient, 3 * np.array([outcome - 1, 1 - outcome]))
    mirrored = evaluate(cells, model, Parameters(-at.scores, at.judges), "observed")
    assert mirrored.log_likelihood == -3000.0 - expected
    assert_array_equal(mirrored.top_gradient, 3 * np.array([outcome, -outcome]))
    assert_array_equal(here.top_information, np.zeros((2, 2)))


# parameters


@WITH_JUDGES
def test_normalising_changes_no_probability(cells, model):
    at = somewhere(model)
    at.judges[0, 2] = -np.inf
    normal = at.normalised()
    assert_allclose(
        evaluate(cells, model, normal).log_likelihood, evaluate(cells, model, at).log_likelihood, rtol=1e-13
    )
    assert abs(normal.scores.sum()) < 1e-14
    assert abs(normal.judges[0, :2].sum()) < 1e-14
    assert normal.judges[0, 2] == -np.inf
    assert_array_equal(normal.judges[1:], at.judges[1:])


def test_normalising_btl_only_centres_the_scores():
    at = Parameters(np.array([1.0, 2.0, 6.0]), np.zeros((0, 2))).normalised()
    assert_array_equal(at.scores, [-2.0, -1.0, 3.0])
    assert at.in_play.tolist() == [True, True]


def test_a_rise_of_a_judge_who_decides_moves_log_gamma_and_others_move_gamma():
    at = Parameters(np.array([1.0, -1.0]), np.array([np.log([4.0, 4.0, 2.0, 1e-300]), [0.0, 1.0, 2.0, 2.0]]))
    at.judges[0, 3] = -np.inf
    step = Parameters(np.array([0.5, -0.5]), np.array([[0.4, -0.4, 0.4, 0.0], [-1.0, 1.0, 0.0, 0.0]]))
    there = line_point(at, step, 0.5)
    assert_allclose(there.scores, [1.25, -1.25], rtol=1e-15)
    assert_allclose(np.exp(there.judges[0]), [4 * np.exp(0.2), 4 * (1 - 0.2), 2 * (1 + 0.2), 0.0], rtol=1e-14)
    assert_allclose(there.judges[1], [-0.5, 1.5, 2.0, 2.0], rtol=1e-14)


def test_a_rise_takes_the_position_with_it_to_first_order():
    at = Parameters(np.array([1.0, -1.0]), np.array([np.log([4.0, 4.0, 2.0]), [3.0, -1.0, -1.0]]))
    step = Parameters(np.zeros(2), np.array([[0.4, -0.4, 0.4], [-2.0, 1.0, 1.0]]))
    there = line_point(at, step, 0.5, slice(1, None))
    shift = 3.0 / 4.0 + 0.5 * (-2.0 - 3.0 * 0.4) / 4.0  # b / gamma, and its derivative
    assert_allclose(there.judges[1], [4 * np.exp(0.2) * shift, -0.5, -0.5], rtol=1e-14)
    slope = (
        line_point(at, step, 1e-6, slice(1, None)).judges - line_point(at, step, -1e-6, slice(1, None)).judges
    ) / 2e-6
    assert_allclose(slope, step.judges, rtol=1e-8)


def test_a_rise_takes_the_tie_propensity_with_it_but_where_there_is_none():
    at = Parameters(np.array([1.0, -1.0]), np.array([np.log([4.0, 4.0]), [3.0, 1.0], [2.0, -np.inf]]))
    step = Parameters(np.zeros(2), np.array([[0.4, 0.4], [0.0, 0.0], [1.0, 0.0]]))
    there = line_point(at, step, 0.5, slice(1, None))
    assert_allclose(there.judges[2], [np.exp(0.2) * (2.0 + 0.5 * (1.0 - 2.0 * 0.4)), -np.inf], rtol=1e-14)


def test_models_are_found_by_name(cells):
    assert [get_model(name, cells) for name in ("btl", "judge_aware", "length")] == [BTL, JUDGE_AWARE, LENGTH]


def test_an_unknown_model_is_refused_by_name(cells):
    with pytest.raises(ConfigError, match=r"^there is no model 'elo' \(known: btl, judge_aware, length, "):
        get_model("elo", cells)


def test_a_slope_without_a_covariate_is_refused(cells_of):
    with pytest.raises(
        DataError,
        match=r"^model 'length' needs a covariate, and the comparisons have none \(models that do without: btl, ",
    ):
        get_model("length", cells_of(("a", "b", "x", 1, 1)))


# The engine against the model on one page: the same likelihood, derivatives, steps, conditions and maxima.


MEMBERS = ("btl", "judge_aware", "length", "position_only", "position_aware", "position_length")
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def drawn(seed: int, size: int = 2000, weakest: float = 0.3) -> Comparisons:
    """Answers with ties, positions and slopes; the first judge's answers have this discrimination."""
    rng = np.random.default_rng(seed)
    scores, gamma = rng.normal(size=6), np.r_[weakest, rng.uniform(0.5, 2, 4)]
    first = rng.integers(6, size=size)
    second, judge = (first + rng.integers(1, 6, size)) % 6, rng.integers(5, size=size)
    z = rng.choice(rng.normal(size=12), size)
    eta = gamma[judge] * np.exp(0.2 * (judge - 2) * z) * (scores[first] - scores[second]) + 0.3 * (judge - 1)
    outcome = (rng.random(size) < 1 / (1 + np.exp(-eta))).astype(float)
    outcome[rng.random(size) < 0.1] = 0.5
    models, judges = tuple(f"m{i}" for i in range(6)), tuple(f"j{k}" for k in range(5))
    return Comparisons(models, judges, first, second, judge, outcome, np.ones(size), covariate=z)


def cells_of(comparisons: Comparisons, member: str) -> Cells:
    c = MODELS[member].observed(comparisons).aggregate()
    one = np.ones((len(c), 1))
    slope = one[:, :0] if c.covariate is None else c.covariate[:, None]
    weight = one[:, :0] if member in ("btl", "position_only") else np.hstack([one, slope])
    offset = one[:, : int(member.startswith("position"))]
    return Cells(c.first, c.second, c.judge, c.outcome * c.count, c.count, weight, offset)


def assert_same_maximum(comparisons: Comparisons, member: str, start: Parameters | None = None) -> None:
    """The climb starts at the net wins of the models and judges who are alike, unless at another point."""
    result = fit(comparisons, member, Newton(tolerance=1e-12))
    cells, at = cells_of(comparisons, member), result.solution.parameters
    held = int(member == "position_only")
    judges = np.zeros((len(result.discrimination), len(at.judges) - held))
    scores = reference.gradient(np.zeros(len(at.scores)), judges, cells)[0] / cells.total.sum()
    if start is not None:
        scores, judges = start.scores, start.judges.T
    scores, judges = reference.maximise(scores, judges, cells)
    assert_allclose(scores, at.scores, **CLOSE)
    assert_allclose(judges.T, at.judges[held:], **CLOSE)
    assert_allclose(reference.log_likelihood(scores, judges, cells), result.log_likelihood, rtol=1e-12)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("seed", range(3))
def test_random_data_have_the_same_maximum(member, seed):
    assert_same_maximum(drawn(seed), member)


@pytest.mark.parametrize("member", ["judge_aware", "position_aware"])
def test_a_judge_who_answers_against_the_panel_is_at_zero_in_both(member):
    comparisons = drawn(0, weakest=-0.5)
    assert_same_maximum(comparisons, member)
    assert fit(comparisons, member).judges_at_zero == ("j0",)


@pytest.mark.parametrize("member", MEMBERS)
def test_derivatives_and_conditions_at_zero_are_the_same_anywhere(member):
    """The engine's step is in gamma and the page's in alpha = log gamma: their Hessians differ by the gradient."""
    comparisons, rng = MODELS[member].observed(drawn(1)).aggregate(), np.random.default_rng(2)
    model, cells = MODELS[member], cells_of(comparisons, member)
    blocks = len(model.judge_blocks)
    held = int(model.fixed_scale)
    scores, judges = rng.normal(size=6), rng.normal(size=(5, blocks - held)) / 3
    at = Parameters(scores, np.vstack([np.zeros((held, 5)), judges.T]))
    rise, judge_rise = reference.gradient(scores, judges, cells)
    for observed in (False, True):
        engine = evaluate(comparisons, model, at, "observed" if observed else "expected")
        assert_allclose(reference.log_likelihood(scores, judges, cells), engine.log_likelihood, rtol=1e-12)
        assert_allclose(rise, engine.top_gradient, **CLOSE)
        assert_allclose(judge_rise.T, engine.judge_gradient[held:], **CLOSE)
        top, cross, judge = reference.hessian(scores, judges, cells, observed)
        if observed and model.weighs_judges:
            judge[:, 0, 0] += judge_rise[:, 0]
        assert_allclose(top, engine.top_information, **CLOSE)
        assert_allclose(cross.transpose(1, 0, 2), engine.cross_information[held:], **CLOSE)
        assert_allclose(judge, engine.judge_information[:, held:, held:], **CLOSE)
    if member in ("judge_aware", "position_aware"):
        assert_allclose(reference.slope_at_zero(scores, cells, 5)[0], engine.slope_at_zero, **CLOSE)


@pytest.mark.parametrize("member", ["btl", "judge_aware", "position_only", "position_aware"])
def test_the_newton_step_near_the_maximum_is_the_same(member):
    comparisons, model = MODELS[member].observed(drawn(1)).aggregate(), MODELS[member]
    cells, at = cells_of(comparisons, member), fit(drawn(1), member).solution.parameters
    off = Parameters(at.scores + 1e-6 * np.arange(-2.5, 3), at.judges)
    step, judges_step = reference.newton_step(off.scores, off.judges[int(model.fixed_scale) :].T, cells, True)
    engine = newton_step(comparisons, model, off, evaluate(comparisons, model, off, "observed"))
    assert_allclose(step - step.mean(), engine.scores - engine.scores.mean(), rtol=1e-4, atol=1e-12)
    assert_allclose(judges_step.T, engine.judges[int(model.fixed_scale) :], rtol=1e-4, atol=1e-12)


@needs_data
@pytest.mark.parametrize("member", ["btl", "judge_aware", "position_only", "position_aware"])
@pytest.mark.parametrize("file", [*FILES.values(), pytest.param(IN_HOUSE, marks=needs_in_house)])
def test_the_papers_judgments_have_the_same_maximum(file, member):
    assert_same_maximum(read(find_file(file)).comparisons, member)


@needs_data
@pytest.mark.parametrize("member", ["length", "position_length"])
def test_mt_bench_with_the_lengths_of_its_questions_has_the_same_maximum(member):
    dataset = OmegaConf.to_object(composed("length_covariate", "dataset=mt_bench").dataset)
    comparisons = load_judgments(dataset).with_lengths()
    at = fit(comparisons, member).solution.parameters  # the higher of two maxima, which the engine looks for
    assert_same_maximum(comparisons, member, Parameters(at.scores.round(1), at.judges.round(1)))


@needs_paper
def test_its_equations_have_these_numbers_in_the_paper():
    labels = re.findall(r"\\begin{equation}.*?\\label{(.*?)}.*?\\end{equation}", published.paper(), re.DOTALL)
    numbers = {label: number for number, label in enumerate(labels, 1)}
    assert numbers == {
        **{"eq:model": 1, "eq:joint-dist": 2, "normalization": 3, "eq:log-full": 4},
        **{"eq:agg-loglik": 5, "eq:score": 6, "eq:obsinfo-decomp": 7},
    }


def test_it_is_one_page():
    assert len(Path(reference.__file__).read_text().splitlines()) <= 100
