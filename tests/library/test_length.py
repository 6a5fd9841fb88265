"""The length-augmented model over bounded slopes: second solver, conditions at return, invariances, intervals."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from omegaconf import OmegaConf
from scipy.optimize import minimize
from scipy.stats import chi2

from judgerank import Comparisons, Status, fit
from judgerank.data.errors import ConfigError, DataError
from judgerank.engine.adam import Adam
from judgerank.engine.boundary import Bound
from judgerank.engine.likelihood import evaluate
from judgerank.engine.newton import Newton, climb
from judgerank.inference.wald import likelihood_ratio
from judgerank.model.members import LENGTH
from judgerank.model.streams import generator
from replication.config import ROOT
from replication.datasets import load_judgments
from studies.torture import fits as torture
from tests.real_data import needs_data
from tests.replication.test_config import composed

SCORES = np.array([1.1, 0.4, 0.0, -0.5, -1.0])
GAMMA = np.array([2.0, 1.0, 0.7])
SLOPE = np.array([0.3, 0.0, -0.4])


def drawn(seed: int, size: int, gamma=GAMMA, slope=SLOPE) -> Comparisons:
    rng = generator(seed, "length")
    n, k = len(SCORES), len(gamma)
    first = rng.integers(n, size=size)
    second = (first + rng.integers(1, n, size=size)) % n
    judge, z = rng.integers(k, size=size), rng.choice(rng.normal(size=12), size)
    eta = gamma[judge] * np.exp(slope[judge] * z) * (SCORES[first] - SCORES[second])
    outcome = (rng.random(size) < 1 / (1 + np.exp(-eta))).astype(float)
    names = tuple(f"m{i}" for i in range(n)), tuple(f"j{i}" for i in range(k))
    return Comparisons(*names, first, second, judge, outcome, None, z).aggregate()


def weak(seed: int) -> Comparisons:
    """A panel whose third judge is near zero, where slopes run off without a bound."""
    return drawn(seed, 400, gamma=np.array([2.0, 1.0, 0.02]))


@cache
def weak_fit(seed: int):
    return fit(weak(seed), "length")


def test_slopes_are_recovered_within_their_errors():
    found = fit(drawn(1, 60_000), "length")
    assert found.status is Status.INTERIOR
    error = found.standard_errors[-3:]
    assert np.all(np.abs(found.slope - SLOPE) < 4 * error)
    assert error.max() < 0.05


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [lambda seed: drawn(seed, 500), weak])
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
    found = fit(drawn(2, 20_000), "length", solver=Newton(slope_bound=0.2))
    assert found.slopes_at_bound == ("j0", "j2")
    assert found.status is Status.LOCALIZED
    assert_allclose(found.slope[["j0", "j2"]], [0.2, -0.2])
    rows = found.confidence_intervals().query("parameter == 'slope'").set_index("name")
    assert rows.loc[["j0", "j2"], ["low", "high"]].isna().all(axis=None)
    assert rows.loc["j1", "low"] < rows.loc["j1", "high"]
    assert found.judge_status.tolist() == ["slope_bound", "interior", "slope_bound"]
    assert "slope is on its bound: j0, j2" in str(found)


def test_held_slopes_take_no_part_in_the_covariance(dense_information):
    found = fit(drawn(2, 20_000), "length", solver=Newton(slope_bound=0.2))
    info = dense_information(found.comparisons, found.solution.parameters)
    keep = [*range(8), 9]  # scores, discriminations, the slope of j1
    info = info[np.ix_(keep, keep)]
    constraints = np.zeros((2, 9))
    constraints[0, :5] = constraints[1, 5:8] = 1.0
    bordered = np.block([[info, constraints.T], [constraints, np.zeros((2, 2))]])
    assert_allclose(found.covariance, np.linalg.inv(bordered)[:9, :9], rtol=1e-7, atol=1e-12)


def test_judges_at_zero_and_held_slopes_have_no_errors_and_no_say(dense_information):
    cells = drawn(2, 20_000, np.array([2.0, 1.0, 0.7, 0.5]), np.array([0.3, 0.0, -0.1, 0.0]))
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
    found = fit(drawn(2, 20_000), "length", solver=Newton(slope_bound=0.2))
    curve = found.discrimination_curve("j2", np.array([-1.0, 0.0, 2.0]))
    assert_allclose(curve["estimate"], found.discrimination["j2"] * np.exp([0.2, 0.0, -0.4]))
    reach = 1.959964 * np.sqrt(found.covariance[7, 7])
    assert_allclose(np.log(curve["high"] / curve["estimate"]), reach, rtol=1e-6)


@pytest.mark.parametrize("bound", [0.0, -1.0, np.inf])
def test_a_bound_that_is_none_is_refused(bound):
    with pytest.raises(ConfigError, match="slope_bound"):
        Newton(slope_bound=bound)


def test_showing_the_other_model_first_changes_nothing(swapped):
    cells = drawn(3, 800)
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
    cells = drawn(2, 20_000)
    one = fit(cells, "length", solver=Newton(slope_bound=0.2))
    other = fit(replace(cells, covariate=4 * cells.covariate), "length", solver=Newton(slope_bound=0.05))
    assert other.slopes_at_bound == one.slopes_at_bound != ()
    assert_allclose(4 * other.slope, one.slope, atol=1e-8)
    assert other.log_likelihood == pytest.approx(one.log_likelihood, rel=1e-12)


def test_a_stretched_covariate_shrinks_the_slopes_and_a_shifted_one_moves_the_discriminations():
    cells = drawn(4, 3000)
    one = fit(cells, "length")
    stretched = fit(replace(cells, covariate=2 * cells.covariate), "length")
    assert_allclose(stretched.slope, one.slope / 2, atol=1e-8)
    assert_allclose(stretched.discrimination, one.discrimination, atol=1e-8)
    shifted = fit(replace(cells, covariate=cells.covariate + 0.5), "length")
    assert_allclose(shifted.slope, one.slope, atol=1e-7)
    moved = np.log(one.discrimination) - 0.5 * one.slope
    assert_allclose(np.log(shifted.discrimination), moved - moved.mean(), atol=1e-7)


def test_the_scalar_model_is_the_special_case_and_ignores_the_covariate():
    cells = drawn(5, 1000)
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
    cells = drawn(6, 3000)
    exact = fit(cells, "length")
    iterated = fit(cells, "length", Adam(step_judges=1e-2, tolerance=1e-7))
    assert exact.status is Status.INTERIOR
    assert_allclose(iterated.slope, exact.slope, atol=1e-4)


def test_curves_are_the_closed_form_with_intervals_from_the_covariance():
    found = fit(drawn(7, 3000), "length")
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
        cells = drawn(100 + seed, 3000, slope=np.zeros(3))
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
    cells, free = drawn(2, 2000), fit(drawn(2, 2000), "length").solution
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
    found = fit(drawn(seed, size, gamma=gamma, slope=rng.normal(size=k) * 0.5), "length")
    assert found.converged
    assert found.solution.iterations < 40
