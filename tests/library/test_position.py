"""Members with position bias or slopes on lengths: recovery, a second solver, identifiability, real data."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from omegaconf import OmegaConf
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import chi2

from judgerank import Comparisons, Status, fit
from judgerank.data.arrays import generator
from judgerank.data.connectivity import position_share
from judgerank.data.errors import ConfigError, DataError, NotIdentifiedError
from judgerank.engine import newton, search
from judgerank.engine.adam import Adam
from judgerank.engine.boundary import Bound
from judgerank.engine.likelihood import evaluate
from judgerank.engine.newton import Newton, climb
from judgerank.inference.wald import likelihood_ratio
from judgerank.model.members import LENGTH, POSITION_AWARE, POSITION_LENGTH, Parameters
from replication.config import ROOT
from replication.datasets import find_file, load_judgments, read_records
from studies.methods.study import drawn_panel
from studies.torture import fits as torture
from tests.real_data import FILES, needs_data
from tests.replication.test_config import composed

SCORES = np.array([1.2, 0.5, 0.1, -0.4, -1.4])
GAMMA = np.array([2.0, 1.0, 0.5])
POSITION = np.array([-0.8, 0.0, 1.5])


def drawn(seed: int, size: int, scores=SCORES, gamma=GAMMA, position=POSITION, *, sorted_slots=False, z=False):
    rng = generator(seed, "position")
    n, k = len(scores), len(gamma)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    if sorted_slots:
        first, second = np.minimum(first, second), np.maximum(first, second)
    judge = rng.integers(k, size=size)
    eta = gamma[judge] * (scores[first] - scores[second]) + position[judge]
    covariate = rng.choice([-1.0, 1.0], size) if z else None
    outcome = (rng.random(size) < expit(eta)).astype(float)
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    return Comparisons(*names, first, second, judge, outcome, None, covariate).aggregate()


def log_likelihood(cells, scores, gamma, position) -> float:
    eta = gamma[cells.judge] * (scores[cells.first] - scores[cells.second]) + position[cells.judge]
    y = cells.outcome
    return float(np.sum(cells.count * (y * log_expit(eta) + (1 - y) * log_expit(-eta))))


@pytest.mark.parametrize("sorted_slots", [False, True])
def test_truth_is_recovered_within_its_errors(sorted_slots):
    found = fit(drawn(1, 60_000, sorted_slots=sorted_slots), "position_aware")
    assert found.status is Status.INTERIOR
    scale = np.exp(np.log(GAMMA).mean())
    truth = np.concatenate([(SCORES - SCORES.mean()) * scale, GAMMA / scale, POSITION])
    intervals = found.confidence_intervals()
    error = found.standard_errors
    assert_allclose(intervals["estimate"], truth, atol=4 * error.max())
    assert np.all(np.abs(intervals["estimate"] - truth) < 4 * error)


@pytest.mark.parametrize("seed", range(4))
def test_a_second_solver_finds_the_same_maximum(seed):
    cells = drawn(seed, 600)
    found = fit(cells, "position_aware")

    def loss(theta):
        return -log_likelihood(cells, theta[:5], np.exp(theta[5:8]), theta[8:])

    best = minimize(loss, np.zeros(11), method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-6)
    own = log_likelihood(
        cells, found.scores.to_numpy(), found.discrimination.to_numpy(), found.position.to_numpy()
    )
    assert found.log_likelihood == pytest.approx(own, rel=1e-12)


@pytest.mark.parametrize("member", [POSITION_AWARE, POSITION_LENGTH])
def test_gradient_and_hessian_agree_with_finite_differences(member):
    cells = drawn(5, 400, z=member.has_slope)
    rng = generator(5, "point")
    n, k, blocks = 5, 3, len(member.judge_blocks)
    theta = rng.normal(size=n + blocks * k) * 0.5

    def at(values):
        return evaluate(cells, member, Parameters(values[:n], values[n:].reshape(blocks, k)), "observed")

    def gradient(values):
        here = at(values)
        return np.concatenate([here.top_gradient, here.judge_gradient.ravel()])

    step = 1e-6
    numeric = [
        (at(theta + step * e).log_likelihood - at(theta - step * e).log_likelihood) / (2 * step)
        for e in np.eye(len(theta))
    ]
    assert_allclose(gradient(theta), numeric, rtol=1e-5, atol=1e-4)
    hessian = np.array(
        [(gradient(theta + step * e) - gradient(theta - step * e)) / (2 * step) for e in np.eye(len(theta))]
    )
    here = at(theta)
    assert_allclose(-hessian[:n, :n], here.top_information, rtol=1e-4, atol=1e-4)
    for b in range(blocks):
        rows = slice(n + b * k, n + (b + 1) * k)
        assert_allclose(-hessian[rows, :n], here.cross_information[b], rtol=1e-4, atol=1e-3)
        for b2 in range(blocks):
            if b != b2 or b:  # between gamma and itself the information is taken in gamma
                columns = slice(n + b2 * k, n + (b2 + 1) * k)
                assert_allclose(
                    -np.diag(hessian[rows, columns]), here.judge_information[:, b, b2], rtol=1e-4, atol=1e-3
                )


def test_showing_the_other_model_first_turns_the_positions_over(swapped):
    cells = drawn(6, 900)
    one, other = fit(cells, "position_aware"), fit(swapped(cells).aggregate(), "position_aware")
    assert_allclose(one.position, -other.position, atol=1e-7)
    assert_allclose(one.scores, other.scores, atol=1e-7)


def test_adam_goes_to_the_same_point():
    cells = drawn(7, 2000)
    exact = fit(cells, "position_aware")
    settings = Adam(step_judges=1e-2, tolerance=1e-7)
    iterated = fit(cells, "position_aware", settings)
    assert iterated.log_likelihood == pytest.approx(exact.log_likelihood, abs=1e-4)


def test_the_family_is_nested():
    cells = drawn(8, 1500, z=True)
    names = ("btl", "judge_aware", "position_aware", "position_length")
    heights = [fit(cells, name).log_likelihood for name in names]
    assert heights == sorted(heights)
    statistic, p_value = likelihood_ratio(heights[1], heights[2], 3)
    assert statistic == pytest.approx(2 * (heights[2] - heights[1]))
    assert p_value < 1e-6


def test_a_judge_who_knows_one_position_only_is_named(cells_of):
    rows = [("a", "b", "good", 8, 3), ("b", "c", "good", 7, 3), ("a", "c", "good", 9, 2), ("c", "a", "good", 2, 6)]
    cells = cells_of(*rows, ("a", "b", "one", 5, 0), ("b", "c", "one", 5, 0), ("c", "a", "one", 5, 0))
    found = fit(cells, "position_aware")
    assert found.status is Status.UNBOUNDED
    assert found.unbounded_judges == ("one",)


def test_a_judge_with_a_favourite_slot_is_at_zero_with_its_log_odds_for_position():
    gamma, position = np.array([2.0, 1.0, 0.0]), np.array([0.0, 0.0, 2.0])
    found = [fit(drawn(seed, 3000, gamma=gamma, position=position), "position_aware") for seed in range(6)]
    at_zero = [result for result in found if result.judges_at_zero]
    assert 0 < len(at_zero) < 6
    for result in at_zero:
        rows = result.comparisons.judge == 2
        share = np.average(result.comparisons.outcome[rows], weights=result.comparisons.count[rows])
        assert result.position["j2"] == pytest.approx(np.log(share / (1 - share)), abs=1e-7)
        intervals = result.confidence_intervals().set_index(["parameter", "name"])
        assert np.isnan(intervals.loc[("discrimination", "j2"), "low"])
        p = share * (1 - share) * result.comparisons.count[rows].sum()
        assert result.standard_errors[-1] == pytest.approx(1 / np.sqrt(p), rel=1e-6)


@pytest.mark.parametrize(
    ("pairs", "share"),
    [
        ([("a", "b"), ("b", "c")], 0.0),
        ([("a", "b"), ("b", "c"), ("a", "c")], 1 - 8 / 9),
        ([("a", "b"), ("b", "a")], 1.0),
        ([("a", "b"), ("b", "c"), ("c", "a")], 1.0),
    ],
)
def test_how_far_scores_could_imitate_a_position(cells_of, pairs, share):
    cells = cells_of(*((one, other, "j", 2, 2) for one, other in pairs))
    assert position_share(cells) == pytest.approx(share, abs=1e-12)


def test_a_design_that_cannot_tell_them_apart_is_refused(cells_of):
    cells = cells_of(("a", "b", "j", 3, 2), ("b", "c", "j", 2, 3), ("a", "b", "k", 2, 2))
    with pytest.raises(NotIdentifiedError, match="other order"):
        fit(cells, "position_aware")


@needs_data
@pytest.mark.parametrize(
    ("name", "expected"), [("chatbot_arena", -5188.86), ("mt_bench", -4155.19), ("ultrafeedback", -4855.31)]
)
def test_log_likelihoods_of_the_real_sets(name, expected):
    cells = Comparisons.from_frame(read_records(find_file(FILES[name]).read_bytes()))
    found = fit(cells, "position_aware")
    assert found.log_likelihood == pytest.approx(expected, abs=5e-3)
    assert found.solution.evaluation.relative_gradient < 1e-8
    assert found.judges_at_zero == (("zai-org/GLM-4.5-Air-FP8",) if name == "mt_bench" else ())
    if name == "mt_bench":
        assert found.scores.idxmax() == "gpt-4"


@pytest.mark.parametrize("replication", [3, 6, 12])
def test_a_judge_whose_discrimination_and_position_run_off_together_is_named(replication):
    panel = {"n_models": 12, "n_judges": 8, "n_comparisons": 400, "sigma_scores": 1.0, "sigma_discrimination": 1.0}
    panel |= {"n_contrary": 0, "mean_position": 0.0, "sigma_position": 0.0, "judged_by_models": False}
    data, *_ = drawn_panel(panel, generator(2026, "method_panels", "few", replication))
    found = search.maximise(data.aggregate(), POSITION_AWARE, newton.Newton())
    assert found.status is Status.UNBOUNDED
    assert found.iterations < 100
    log_gamma, position = found.parameters.judges
    sharpest = int(log_gamma.argmax())
    assert found.unbounded_judges == (sharpest,)
    assert abs(position[sharpest]) > 10 * np.abs(np.delete(position, sharpest)).max()


@needs_data
def test_a_weak_judge_with_a_favourite_slot_does_not_slow_the_climb():
    rows = Comparisons.from_frame(read_records(find_file(FILES["chatbot_arena"]).read_bytes()))
    for part in range(10):
        found = fit(rows.take(np.flatnonzero(np.arange(len(rows)) % 10 != part)), "position_aware")
        assert found.converged
        assert found.solution.iterations < 20


# The length-augmented model over bounded slopes: second solver, conditions at return, invariances, intervals.


LENGTH_SCORES = np.array([1.1, 0.4, 0.0, -0.5, -1.0])
LENGTH_GAMMA = np.array([2.0, 1.0, 0.7])
SLOPE = np.array([0.3, 0.0, -0.4])


def drawn_with_lengths(seed: int, size: int, gamma=LENGTH_GAMMA, slope=SLOPE) -> Comparisons:
    rng = generator(seed, "length")
    n, k = len(LENGTH_SCORES), len(gamma)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    judge, z = rng.integers(k, size=size), rng.choice(rng.normal(size=12), size)
    eta = gamma[judge] * np.exp(slope[judge] * z) * (LENGTH_SCORES[first] - LENGTH_SCORES[second])
    outcome = (rng.random(size) < 1 / (1 + np.exp(-eta))).astype(float)
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    return Comparisons(*names, first, second, judge, outcome, None, z).aggregate()


def weak(seed: int) -> Comparisons:
    """A panel whose third judge is near zero, where slopes run off without a bound."""
    return drawn_with_lengths(seed, 400, gamma=np.array([2.0, 1.0, 0.02]))


@cache
def weak_fit(seed: int):
    return fit(weak(seed), "length")


def test_slopes_are_recovered_within_their_errors():
    found = fit(drawn_with_lengths(1, 60_000), "length")
    assert found.status is Status.INTERIOR
    error = found.standard_errors[-3:]
    assert np.all(np.abs(found.slope - SLOPE) < 4 * error)
    assert error.max() < 0.05


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [lambda seed: drawn_with_lengths(seed, 500), weak])
def test_a_bounded_quasi_newton_method_ends_no_higher_on_these_panels(make, seed, log_likelihood):
    cells = make(seed)
    found = fit(cells, "length")
    rng = generator(seed, "starts")
    bounds = [(-30, 30)] * 5 + [(-12, 4)] * 3 + [(-2, 2)] * 3

    def loss(theta):
        return -log_likelihood(cells, theta[:5], np.exp(theta[5:8]), theta[8:])

    for start in (np.zeros(11), *rng.normal(size=(3, 11))):
        best = minimize(loss, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500})
        assert found.log_likelihood >= -best.fun - 1e-5


def test_weak_judges_do_not_leave_the_model_without_a_maximum():
    ends = [weak_fit(seed).status for seed in range(20)]
    assert all(status.converged for status in ends)
    assert Status.LOCALIZED in ends
    wider = (fit(weak(seed), "length", solver=Newton(slope_bound=20.0)) for seed in range(20))
    assert any(result.slope.abs().max() > 5 for result in wider)


@pytest.mark.parametrize("seed", range(20))
def test_conditions_of_a_maximum_hold_at_return(seed):
    found = weak_fit(seed)
    cells, at = found.comparisons, found.solution.parameters
    here = evaluate(cells, LENGTH, at)
    level = 1e-8 * abs(found.log_likelihood)
    held = np.isin(cells.judges, found.slopes_at_bound)
    assert np.all(at.judges[1, held] * here.judge_gradient[1, held] > 0)
    assert_allclose(here.judge_gradient[1, ~held], 0, atol=level)
    assert_allclose(here.judge_gradient[0], 0, atol=level)
    assert_allclose(here.top_gradient, 0, atol=level)
    d = at.scores[cells.first] - at.scores[cells.second]
    for k in np.flatnonzero(~at.in_play):
        rows = cells.judge == k
        votes = cells.count[rows] * (cells.outcome[rows] - 0.5) * d[rows]
        rises = [votes @ np.exp(slope * cells.covariate[rows]) for slope in np.linspace(-2, 2, 41)]
        assert max(rises) <= level


def test_a_bound_that_binds_is_named_and_has_no_interval():
    found = fit(drawn_with_lengths(2, 20_000), "length", solver=Newton(slope_bound=0.2))
    assert found.slopes_at_bound == ("j0", "j2")
    assert found.status is Status.LOCALIZED
    assert_allclose(found.slope[["j0", "j2"]], [0.2, -0.2])
    rows = found.confidence_intervals().query("parameter == 'slope'").set_index("name")
    assert rows.loc[["j0", "j2"], ["low", "high"]].isna().all(axis=None)
    assert rows.loc["j1", "low"] < rows.loc["j1", "high"]
    assert found.judge_status.tolist() == ["slope_bound", "interior", "slope_bound"]
    assert "slope is on its bound: j0, j2" in str(found)


def test_held_slopes_take_no_part_in_the_covariance(dense_information):
    found = fit(drawn_with_lengths(2, 20_000), "length", solver=Newton(slope_bound=0.2))
    info = dense_information(found.comparisons, found.solution.parameters)
    keep = [*range(8), 9]  # scores, discriminations, the slope of j1
    info = info[np.ix_(keep, keep)]
    constraints = np.zeros((2, 9))
    constraints[0, :5] = constraints[1, 5:8] = 1.0
    bordered = np.block([[info, constraints.T], [constraints, np.zeros((2, 2))]])
    assert_allclose(found.covariance, np.linalg.inv(bordered)[:9, :9], rtol=1e-7, atol=1e-12)


def test_judges_at_zero_and_held_slopes_have_no_errors_and_no_say(dense_information):
    cells = drawn_with_lengths(2, 20_000, np.array([2.0, 1.0, 0.7, 0.5]), np.array([0.3, 0.0, -0.1, 0.0]))
    contrarian = replace(cells, outcome=np.where(cells.judge == 3, 1 - cells.outcome, cells.outcome))
    found = fit(contrarian, "length", solver=Newton(slope_bound=0.2))
    assert found.judge_status.tolist() == ["slope_bound", "interior", "interior", "zero"]
    assert np.isnan(found.standard_errors).tolist() == [False] * 8 + [True] * 2 + [False] * 2 + [True]
    keep = [*range(8), 10, 11]  # of 5 scores, 4 discriminations, 4 slopes: without j3, and the slope of j0
    at = found.solution.parameters
    info = dense_information(found.comparisons, at)[np.ix_(keep, keep)]
    constraints = np.zeros((2, 10))
    constraints[0, :5] = constraints[1, 5:8] = 1.0
    bordered = np.block([[info, constraints.T], [constraints, np.zeros((2, 2))]])
    expected = np.linalg.inv(bordered)[:10, :10]
    assert_allclose(found.covariance, expected, rtol=1e-7, atol=1e-12)
    factor = np.r_[np.ones(5), np.exp(at.judges[0, :3]), 1.0, 1.0]
    errors = found.standard_errors[~np.isnan(found.standard_errors)]
    assert_allclose(errors, factor * np.sqrt(np.diag(expected)), rtol=1e-7)
    assert_allclose(
        found.discrimination_curve("j2", [1.5])["high"] / found.discrimination_curve("j2", [1.5])["estimate"],
        np.exp(1.959964 * np.sqrt(expected[7, 7] + 3 * expected[7, 9] + 2.25 * expected[9, 9])),
        rtol=1e-6,
    )


def test_the_curve_of_a_judge_with_a_held_slope_takes_the_slope_as_given():
    found = fit(drawn_with_lengths(2, 20_000), "length", solver=Newton(slope_bound=0.2))
    curve = found.discrimination_curve("j2", np.array([-1.0, 0.0, 2.0]))
    assert_allclose(curve["estimate"], found.discrimination["j2"] * np.exp([0.2, 0.0, -0.4]))
    reach = 1.959964 * np.sqrt(found.covariance[7, 7])
    assert_allclose(np.log(curve["high"] / curve["estimate"]), reach, rtol=1e-6)


@pytest.mark.parametrize("bound", [0.0, -1.0, np.inf])
def test_a_bound_that_is_none_is_refused(bound):
    with pytest.raises(ConfigError, match="slope_bound"):
        Newton(slope_bound=bound)


def test_showing_the_other_model_first_changes_nothing(swapped):
    cells = drawn_with_lengths(3, 800)
    one, other = fit(cells, "length"), fit(swapped(cells).aggregate(), "length")
    assert_allclose(one.slope, other.slope, atol=1e-8)
    assert_allclose(one.scores, other.scores, atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_names_and_their_order_change_nothing(seed, swapped):
    cells = swapped(weak(seed))
    models, judges = np.array([3, 1, 4, 0, 2]), np.array([2, 0, 1])
    names = [
        tuple(np.array(old)[np.argsort(new)]) for old, new in ((cells.models, models), (cells.judges, judges))
    ]
    columns = models[cells.first], models[cells.second], judges[cells.judge]
    other = Comparisons(*names, *columns, cells.outcome, cells.count, cells.covariate).aggregate()
    one, other = weak_fit(seed), fit(other, "length")
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-8)
    assert other.judge_status.to_dict() == one.judge_status.to_dict()
    assert_allclose(other.slope[one.slope.index], one.slope, atol=1e-5)


def test_a_bound_stretched_with_the_covariate_binds_alike():
    cells = drawn_with_lengths(2, 20_000)
    one = fit(cells, "length", solver=Newton(slope_bound=0.2))
    other = fit(replace(cells, covariate=4 * cells.covariate), "length", solver=Newton(slope_bound=0.05))
    assert other.slopes_at_bound == one.slopes_at_bound != ()
    assert_allclose(4 * other.slope, one.slope, atol=1e-8)
    assert other.log_likelihood == pytest.approx(one.log_likelihood, rel=1e-12)


def test_a_stretched_covariate_shrinks_the_slopes_and_a_shifted_one_moves_the_discriminations():
    cells = drawn_with_lengths(4, 3000)
    one = fit(cells, "length")
    stretched = fit(replace(cells, covariate=2 * cells.covariate), "length")
    assert_allclose(stretched.slope, one.slope / 2, atol=1e-8)
    assert_allclose(stretched.discrimination, one.discrimination, atol=1e-8)
    shifted = fit(replace(cells, covariate=cells.covariate + 0.5), "length")
    assert_allclose(shifted.slope, one.slope, atol=1e-7)
    moved = np.log(one.discrimination) - 0.5 * one.slope
    assert_allclose(np.log(shifted.discrimination), moved - moved.mean(), atol=1e-7)


def test_the_scalar_model_is_the_special_case_and_ignores_the_covariate():
    cells = drawn_with_lengths(5, 1000)
    scalar = fit(cells, "judge_aware")
    assert fit(cells, "length").log_likelihood >= scalar.log_likelihood
    bare = fit(replace(cells, covariate=None))
    assert_allclose(bare.scores, scalar.scores, atol=1e-12)
    positions = [fit(rows, "position_aware") for rows in (cells, replace(cells, covariate=None))]
    assert_allclose(positions[0].position, positions[1].position, atol=1e-12)
    assert len(scalar.comparisons) < len(cells)
    tiny = fit(cells, "length", solver=Newton(slope_bound=1e-12))
    assert tiny.log_likelihood == pytest.approx(scalar.log_likelihood, abs=1e-7)


def test_algorithm_1_goes_to_the_same_point_where_there_is_one():
    cells = drawn_with_lengths(6, 3000)
    exact = fit(cells, "length")
    iterated = fit(cells, "length", Adam(step_judges=1e-2, tolerance=1e-7))
    assert exact.status is Status.INTERIOR
    assert_allclose(iterated.slope, exact.slope, atol=1e-4)


def test_curves_are_the_closed_form_with_intervals_from_the_covariance():
    found = fit(drawn_with_lengths(7, 3000), "length")
    z = np.array([-1.0, 0.0, 2.0])
    curve = found.discrimination_curve("j1", z, 0.9)
    assert_allclose(curve["estimate"], found.discrimination["j1"] * np.exp(found.slope["j1"] * z))
    v = found.covariance
    alpha, beta = 5 + 1, 5 + 3 + 1
    error = np.sqrt(v[alpha, alpha] + 2 * z * v[alpha, beta] + z**2 * v[beta, beta])
    assert_allclose(np.log(curve["high"] / curve["estimate"]), 1.6448536 * error, rtol=1e-6)
    assert_allclose(np.log(curve["estimate"] / curve["low"]), 1.6448536 * error, rtol=1e-6)
    with pytest.raises(DataError, match="'nobody' is not a judge"):
        found.discrimination_curve("nobody", z)


def test_a_judge_at_zero_has_no_curve():
    at_zero = next(found for found in map(weak_fit, range(20)) if found.judges_at_zero)
    judge = at_zero.judges_at_zero[0]
    with pytest.raises(DataError, match=f"'{judge}'"):
        at_zero.discrimination_curve(judge, np.zeros(1))


def test_the_likelihood_ratio_is_chi_squared():
    statistic, p_value = likelihood_ratio(-100.0, -95.0, 4)
    assert statistic == 10.0
    assert p_value == pytest.approx(chi2.sf(10.0, 4), rel=1e-12)


def test_the_likelihood_ratio_keeps_its_level():
    p_values = []
    for seed in range(60):
        cells = drawn_with_lengths(100 + seed, 3000, slope=np.zeros(3))
        heights = [fit(cells, name).log_likelihood for name in ("judge_aware", "length")]
        p_values.append(likelihood_ratio(*heights, 3)[1])
    assert 0 <= np.mean(np.array(p_values) < 0.05) <= 0.15
    assert 0.35 < np.mean(p_values) < 0.65


@pytest.mark.parametrize(
    ("member", "seed", "number", "known"),
    [("length", 2026, 123, -40.26036), ("position_length", 2026, 186, -50.31508), ("length", 777, 737, -54.67371)],
)
def test_a_maximum_with_a_slope_at_its_bound_is_found_behind_a_hill(member, seed, number, known):
    """Random designs where climbs from where a judge's own likelihood peaks slide back to a lower maximum."""
    settings = {"member": member, "models": [3, 6], "judges": [2, 5], "comparisons": [20, 160]}
    found = fit(torture.drawn(settings, generator(seed, "torture_maxima", member, number)), member)
    assert found.status is Status.LOCALIZED
    assert found.log_likelihood == pytest.approx(known, abs=1e-5)


def test_a_judge_is_held_between_bounds_of_its_own():
    cells, free = drawn_with_lengths(2, 2000), fit(drawn_with_lengths(2, 2000), "length").solution
    least, largest = np.full(3, -2.0), np.full(3, 2.0)
    least[1] = largest[1] = 0.7
    judges = free.parameters.judges.copy()
    judges[1, 1] = 0.7
    held = climb(cells, LENGTH, Newton(), replace(free.parameters, judges=judges), Bound(least, largest))
    assert held.parameters.judges[1, 1] == 0.7
    here = evaluate(cells, LENGTH, held.parameters)
    here.judge_gradient[1, 1] = 0.0
    assert here.relative_gradient < 1e-9
    assert held.evaluation.log_likelihood < free.evaluation.log_likelihood


@needs_data
def test_mt_bench_with_the_lengths_of_its_questions():
    dataset = OmegaConf.to_object(composed("length_covariate", "dataset=mt_bench").dataset)
    cells = load_judgments(dataset).with_lengths()
    scalar, length = fit(cells), fit(cells, "length")
    assert length.status is Status.INTERIOR
    assert length.log_likelihood == pytest.approx(-4985.4609, abs=5e-4)
    stored = pd.read_csv(ROOT / "results/paper/length_covariate/mt_bench/test.csv").iloc[0]
    statistic, p_value = likelihood_ratio(scalar.log_likelihood, length.log_likelihood, 20)
    assert statistic == pytest.approx(38.2802, abs=1e-3)
    assert p_value == pytest.approx(chi2.sf(38.2802, 20), rel=1e-3)
    assert stored["statistic"] == pytest.approx(statistic, rel=1e-8)
    assert stored["p_value"] == pytest.approx(p_value, rel=1e-6)
    assert length.ranks.equals(scalar.ranks)


@pytest.mark.parametrize("seed", [10, 138])
def test_a_held_slope_does_not_slow_the_climb(seed):
    rng = np.random.default_rng(seed)
    k, size = int(rng.integers(2, 6)), int(rng.integers(80, 500))
    gamma = np.maximum(rng.normal(0.7, 0.7, k), 0)
    found = fit(drawn_with_lengths(seed, size, gamma=gamma, slope=rng.normal(size=k) * 0.5), "length")
    assert found.converged
    assert found.solution.iterations < 40
