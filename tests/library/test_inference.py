"""Information, covariance under the constraints, Wald intervals and contrasts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag, null_space
from scipy.special import logit
from scipy.stats import norm
from scipy.stats import t as student

from judgerank import Comparisons, Fit, Status, fit
from judgerank.data.errors import ConfigError, DataError
from judgerank.engine.information import covariance, information, zero_sum_basis
from judgerank.engine.likelihood import evaluate
from judgerank.inference.clusters import effective_number
from judgerank.inference.wald import normal_quantile, wald

FAMILY = pytest.mark.parametrize("member", ["btl", "judge_aware", "length"])
SCORES, GAMMA, SLOPE = (1.0, 0.2, -0.3, -0.9), (0.6, 1.0, 1.7), (0.3, -0.2, 0.1)
N, K = len(SCORES), len(GAMMA)
ALGEBRA = {"rtol": 1e-10, "atol": 1e-12}  # condition numbers here stay below 1e3


@pytest.fixture(scope="module")
def cells(simulated) -> Comparisons:
    return simulated(31, SCORES, GAMMA, 900, slope=SLOPE, ties=0.05).aggregate()


@pytest.fixture(scope="module")
def boundary(simulated) -> Fit:
    found = fit(simulated(32, SCORES, (1.0, -0.8, 0.7), 900))
    assert found.judges_at_zero == ("j1",)
    return found


def constraints(n_blocks: int, n_judges: int) -> np.ndarray:
    """Zero sums of s and, if it is free, alpha; one row each."""
    rows = np.zeros((1 + (n_blocks > 0), N + n_blocks * n_judges))
    rows[0, :N] = 1.0
    rows[1:, N : N + n_judges] = 1.0
    return rows


def half_widths(intervals: pd.DataFrame) -> np.ndarray:
    """Those of discriminations in the logarithm."""
    ends = intervals[["low", "high"]].to_numpy(copy=True)
    logarithmic = (intervals["parameter"] == "discrimination").to_numpy()
    ends[logarithmic] = np.log(ends[logarithmic])
    return np.diff(ends, axis=1)[:, 0] / 2


# covariance


def test_the_basis_of_the_zero_sum_vectors_is_orthonormal():
    for size in (1, 2, 3, 7):
        basis = zero_sum_basis(size)
        assert basis.shape == (size, size - 1)
        assert_allclose(basis.T @ basis, np.eye(size - 1), atol=1e-14)
        assert_allclose(basis.sum(axis=0), 0, atol=1e-14)


@FAMILY
def test_the_information_is_that_of_the_dense_jacobian(cells, member, dense_information):
    found = fit(cells, member)
    at_fit = evaluate(cells, found.model, found.solution.parameters, "expected")
    expected = dense_information(cells, found.solution.parameters)
    everything = np.ones((len(found.model.judge_blocks), K), bool)
    assert_allclose(information(at_fit, everything), expected, rtol=1e-12, atol=1e-11)


@FAMILY
def test_the_covariance_does_not_depend_on_the_basis(cells, member, dense_information):
    found = fit(cells, member)
    n_blocks = len(found.model.judge_blocks)
    bases = [null_space(np.ones((1, N))), null_space(np.ones((1, K))), np.eye(K)][: 1 + n_blocks]
    basis = block_diag(*bases)
    info = dense_information(cells, found.solution.parameters)
    expected = basis @ np.linalg.inv(basis.T @ info @ basis) @ basis.T
    assert_allclose(found.covariance, expected, **ALGEBRA)


@FAMILY
def test_the_covariance_is_the_corner_of_the_bordered_inverse(cells, member, dense_information):
    found = fit(cells, member)
    rows = constraints(len(found.model.judge_blocks), K)
    info = dense_information(cells, found.solution.parameters)
    bordered = np.block([[info, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    expected = np.linalg.inv(bordered)[: len(info), : len(info)]
    assert_allclose(found.covariance, expected, **ALGEBRA)


@FAMILY
def test_scores_and_log_discriminations_have_no_variance_along_their_sums(cells, member):
    found = fit(cells, member)
    sums = constraints(len(found.model.judge_blocks), K) @ found.covariance
    assert_allclose(sums, 0, atol=1e-14)


def test_one_judge_has_no_variance_of_its_own(cells):
    found = fit(cells.with_judges(["j2"]))
    assert found.covariance.shape == (N + 1, N + 1)
    assert not found.covariance[N].any()
    btl = fit(cells.with_judges(["j2"]), "btl")
    assert_allclose(found.covariance[:N, :N], btl.covariance, rtol=1e-8)


def test_a_judge_at_zero_takes_no_part_in_the_covariance(boundary):
    others = fit(boundary.comparisons.with_judges(["j0", "j2"]))
    assert boundary.covariance.shape == (N + 2, N + 2)
    assert_allclose(boundary.covariance, others.covariance, rtol=1e-8, atol=1e-12)


def test_discrimination_has_the_delta_method_covariance(boundary):
    gamma = boundary.discrimination[["j0", "j2"]]
    g = np.diag(np.r_[np.ones(N), gamma])
    assert_allclose(boundary._covariance_discrimination, g @ boundary.covariance @ g, rtol=1e-13)


def test_slopes_are_left_alone_by_the_delta_method(cells):
    found = fit(cells, "length")
    g = np.diag(np.r_[np.ones(N), found.discrimination, np.ones(K)])
    assert_allclose(found._covariance_discrimination, g @ found.covariance @ g, rtol=1e-13)


def test_covariance_falls_as_information_grows(cells, dense_information):
    info = dense_information(cells, fit(cells).solution.parameters)
    assert_allclose(covariance(4 * info, N, K), covariance(info, N, K) / 4, rtol=1e-13)


# intervals


def test_btl_of_two_models_has_the_binomial_standard_error(cells_of):
    found = fit(cells_of(("a", "b", "x", 60, 20)), "btl")
    p, n = 0.75, 80
    difference = found.contrast({"a": 1, "b": -1})
    assert_allclose(difference["estimate"], logit(p), rtol=1e-9)
    assert_allclose(difference["standard_error"], 1 / np.sqrt(n * p * (1 - p)), rtol=1e-9)
    assert_allclose(half_widths(found.confidence_intervals()), norm.ppf(0.975) / np.sqrt(4 * n * p * (1 - p)))


def test_two_models_and_two_judges_have_the_delta_method_standard_error(cells_of):
    p, n = np.array([0.6, 0.8]), np.array([200, 100])
    rows = [("a", "b", judge, m * q, m * (1 - q)) for judge, q, m in zip("xy", p, n, strict=True)]
    found = fit(cells_of(*rows))
    # gamma_x / gamma_y is the ratio of two independent logits, and its logarithm is 2 alpha_x
    variance = np.sum(1 / (n * p * (1 - p)) / logit(p) ** 2) / 4
    assert_allclose(found.covariance[2, 2], variance, rtol=1e-8)


@FAMILY
def test_intervals_have_exactly_these_columns_and_rows(cells, member):
    found = fit(cells, member).confidence_intervals()
    assert list(found.columns) == ["parameter", "name", "estimate", "low", "high"]
    judges = [("discrimination", name) for name in cells.judges], [("slope", name) for name in cells.judges]
    blocks = {"btl": (), "judge_aware": judges[:1], "length": judges}[member]
    expected = [("score", name) for name in cells.models] + [pair for block in blocks for pair in block]
    assert list(zip(found["parameter"], found["name"], strict=True)) == expected
    assert list(found.index) == list(range(len(expected)))


@FAMILY
def test_intervals_are_centred_on_the_estimates(cells, member):
    found = fit(cells, member)
    intervals = found.confidence_intervals()
    estimates = {"score": found.scores, "discrimination": found.discrimination, "slope": found.slope}
    expected = [estimates[row.parameter][row.name] for row in intervals[["parameter", "name"]].itertuples(False)]
    assert_allclose(intervals["estimate"], expected, rtol=1e-15)
    centre, product = (intervals["low"] + intervals["high"]) / 2, intervals["low"] * intervals["high"]
    logarithmic = intervals["parameter"] == "discrimination"
    assert_allclose(np.where(logarithmic, np.sqrt(np.abs(product)), centre), expected, rtol=1e-13, atol=1e-15)
    assert (intervals["low"][logarithmic] > 0).all()


@FAMILY
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_intervals_reach_as_far_as_the_normal_quantile_says(cells, member, level):
    found = fit(cells, member)
    expected = norm.isf((1 - level) / 2) * np.sqrt(np.diag(found.covariance))
    assert_allclose(half_widths(found.confidence_intervals(level)), expected, rtol=1e-12)


def test_the_default_level_is_95_percent(cells):
    found = fit(cells)
    pd.testing.assert_frame_equal(found.confidence_intervals(), found.confidence_intervals(0.95))
    assert_allclose(normal_quantile(0.95), 1.959963984540054, rtol=1e-15)


def test_intervals_widen_with_the_level(cells):
    found = fit(cells, "length")
    widths = [half_widths(found.confidence_intervals(level)) for level in (0.1, 0.5, 0.9, 0.95, 0.99)]
    assert (np.diff(widths, axis=0) > 0).all()


@FAMILY
def test_four_times_the_comparisons_halve_the_widths(cells, member):
    once, four = (fit(rows, member) for rows in (cells, replace(cells, count=4 * cells.count)))
    widths = [half_widths(found.confidence_intervals()) for found in (once, four)]
    assert_allclose(widths[1], widths[0] / 2, rtol=1e-8)


def test_clusters_of_one_comparison_each_have_the_binomial_variance_over_one_less():
    """Their sum of squares is n p (1 - p), so that Q / (Q - 1) leaves 1 / ((n - 1) p (1 - p))."""
    outcome = np.repeat([1.0, 0.0], [6, 3])
    one = np.zeros(9, int)
    rows = Comparisons(("a", "b"), ("x",), one, one + 1, one, outcome)
    found = fit(rows, "btl").clustered(rows, np.arange(9))
    expected = 1 / np.sqrt(8 * (2 / 3) * (1 / 3))
    assert_allclose(found.contrast({"a": 1, "b": -1})["standard_error"], expected, rtol=1e-9)


def test_few_clusters_have_students_quantile(cells):
    found = fit(cells)
    rows = Comparisons(
        cells.models, cells.judges, cells.first, cells.second, cells.judge, cells.outcome, cells.count
    )
    cluster = np.arange(len(rows)) % 6
    few, sizes = found.clustered(rows, cluster), np.bincount(cluster, rows.count)
    effective = 6 / (1 + sizes.var() / sizes.mean() ** 2)
    assert 5 < effective < 6
    n, freedom = len(cells.models), np.full(len(few.covariance), effective - 1)
    freedom[:n] = few.degrees_of_scores
    assert (freedom[:n] < effective - 1 + 1e-9).all()
    expected = student.isf(0.025, freedom) * np.sqrt(np.diag(few.covariance))
    assert_allclose(half_widths(few.confidence_intervals()), expected, rtol=1e-9)


def test_clusters_of_one_size_count_in_full_and_unequal_ones_by_their_shares():
    for q in (2, 3, 7, 80, 9_010):
        assert effective_number(np.repeat(np.arange(q), 3), np.full(3 * q, 0.1)) == q
    heavy = np.repeat(np.arange(40), [150] + [3] * 39)
    assert effective_number(heavy, np.ones(len(heavy))) == pytest.approx(267**2 / (150**2 + 39 * 9))


def test_an_interval_all_but_at_zero_stays_above_it_and_finite(boundary):
    wide = boundary._with_errors(robust=boundary.covariance * 1e6)
    rows = wide.confidence_intervals().loc[lambda rows: rows["parameter"] == "discrimination"].dropna()
    assert (rows["low"] > 0).all()
    assert np.isfinite(rows["high"]).all()


def test_a_judge_at_zero_has_an_estimate_and_no_interval(boundary):
    intervals = boundary.confidence_intervals().set_index("name")
    assert intervals.loc["j1", "estimate"] == 0.0
    assert intervals.loc["j1", ["low", "high"]].isna().all()
    assert intervals.drop("j1").notna().all(axis=None)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.5, float("nan")])
def test_a_level_outside_zero_to_one_is_refused(cells, level):
    with pytest.raises(ConfigError, match=rf"^a confidence level lies between 0 and 1, not at {level}$"):
        fit(cells).confidence_intervals(level)


def test_a_wald_interval_is_the_estimate_and_its_reach():
    low, high = wald(np.array([1.0, -2.0]), np.array([0.5, 0.0]), 0.9)
    assert_allclose(low, [1 - norm.ppf(0.95) / 2, -2], rtol=1e-14)
    assert_allclose(high, [1 + norm.ppf(0.95) / 2, -2], rtol=1e-14)


# contrasts


def test_the_contrast_of_a_difference_is_the_textbook_formula(cells):
    found = fit(cells)
    v, error = found.covariance, found.contrast({"m0": 1, "m2": -1}, level=0.9)
    expected = np.sqrt(v[0, 0] + v[2, 2] - 2 * v[0, 2])
    difference = found.scores["m0"] - found.scores["m2"]
    reach = norm.ppf(0.95) * expected
    assert list(error) == ["estimate", "standard_error", "low", "high"]
    assert_allclose(list(error.values()), [difference, expected, difference - reach, difference + reach])


def test_a_contrast_may_weigh_discriminations(boundary):
    v = boundary._covariance_discrimination
    found = boundary.contrast({"j2": 2.0, "m1": 0.5})
    expected = 2 * boundary.discrimination["j2"] + 0.5 * boundary.scores["m1"]
    assert_allclose(found["estimate"], expected, rtol=1e-14)
    # j1 is at zero, so j2 comes right after j0
    variance = 4 * v[N + 1, N + 1] + 0.25 * v[1, 1] + 2 * v[N + 1, 1]
    assert_allclose(found["standard_error"], np.sqrt(variance), rtol=1e-12)


def test_a_contrast_of_one_score_is_its_interval(cells):
    found = fit(cells, "length")
    row = found.confidence_intervals(0.8).iloc[1]
    contrast = found.contrast({"m1": 1}, level=0.8)
    assert_allclose([contrast["low"], contrast["high"]], [row["low"], row["high"]], rtol=1e-13)


@pytest.mark.parametrize("name", ["nobody", "j1"])
def test_a_contrast_refuses_unknown_names_and_judges_at_zero(boundary, name):
    with pytest.raises(DataError, match=rf"^'{name}' is neither a model nor a judge with a free discrimination$"):
        boundary.contrast({"m0": 1, name: 1})


def test_a_contrast_of_an_unweighted_fit_refuses_judges(cells):
    with pytest.raises(DataError, match=r"^'j0' is neither"):
        fit(cells, "btl").contrast({"j0": 1})


# sampling


def test_errors_of_estimates_have_the_variance_that_is_claimed(simulated):
    """Squared errors over claimed variances average one.

    Three free scores give a replication's average a variance near 2/3, so 500 replications leave a Monte Carlo
    error of 0.037; discriminations have two free ones: variance 1, error 0.045. Tolerance: three errors.
    """
    gamma = np.array(GAMMA) / np.prod(GAMMA) ** (1 / K)
    truth = np.r_[np.array(SCORES) - np.mean(SCORES), gamma]
    ratios = []
    for seed in range(500):
        found = fit(simulated(10_000 + seed, truth[:N], gamma, 2000))
        assert found.status is Status.INTERIOR
        error = np.r_[found.scores, found.discrimination] - truth
        ratios.append(error**2 / np.diag(found._covariance_discrimination))
    ratios = np.array(ratios)
    assert abs(ratios[:, :N].mean() - 1) < 3 * 0.037
    assert abs(ratios[:, N:].mean() - 1) < 3 * 0.045
