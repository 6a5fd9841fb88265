"""Methods of the literature written here: each against its closed form, its symmetries and a known truth."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit
from scipy.stats import spearmanr

from judgerank import Comparisons, aggregate, fit
from judgerank.data.errors import ConfigError, DataError, DisconnectedError, JudgerankError
from replication.errors import MethodUnavailableError
from studies import packages
from studies.methods import judge_models
from studies.methods.judge_models import crowd_bt, graded_response, product_of_experts
from studies.methods.triplets import full_triplets, greedy_triplets
from studies.scaling import TASKS, extrapolated, line_at, measured, write_judgments

TRUTH = np.array([-1.2, 0.9, 0.3, -0.4, 1.7, -0.1])
EVERYWHERE = [crowd_bt, graded_response, product_of_experts]


@pytest.fixture(scope="module")
def data(simulated):
    return simulated(5, TRUTH, [0.6, 1.0, 1.6, 0.9], 6_000, ties=0.1)


def candidates(strength, judge=None) -> Comparisons:
    """Every model judges every two others once and prefers the stronger; `judge` overrules by (k, i, j)."""
    n = len(strength)
    rows = [(i, j, k) for k in range(n) for i, j in combinations(range(n), 2) if k not in (i, j)]
    i, j, k = (np.array(column) for column in zip(*rows, strict=True))
    outcome = np.array([float(strength[a] > strength[b]) for a, b in zip(i, j, strict=True)])
    for (a, b, c), value in (judge or {}).items():
        outcome[(k == a) & (i == b) & (j == c)] = value
    names = tuple(f"m{index:02}" for index in range(n))
    return Comparisons(names, names, i, j, k, outcome)


def relabelled(c: Comparisons, models, judges) -> Comparisons:
    """The same comparisons with models and judges held in other orders."""
    to_model, to_judge = np.argsort(models), np.argsort(judges)
    names = tuple(c.models[i] for i in models), tuple(c.judges[k] for k in judges)
    return replace(
        c, models=names[0], judges=names[1], first=to_model[c.first], second=to_model[c.second],
        judge=to_judge[c.judge],
    )  # fmt: skip


# every method


@pytest.mark.parametrize("method", EVERYWHERE)
def test_the_true_order_is_recovered_from_many_comparisons(method, simulated):
    c = simulated(1, TRUTH, [0.5, 1.0, 2.0], 60_000, ties=0.1)
    assert spearmanr(method(c).scores, TRUTH).statistic == 1


@pytest.mark.parametrize("method", EVERYWHERE)
def test_relabelling_changes_nothing(method, data):
    other = relabelled(data, [3, 0, 5, 1, 4, 2], [2, 0, 3, 1])
    a, b = method(data), method(other)
    np.testing.assert_allclose(b.scores[a.scores.index], a.scores, atol=2e-5)
    np.testing.assert_allclose(b.predict(other), a.predict(data), atol=2e-5)
    if a.judges is not None:
        np.testing.assert_allclose(b.judges[a.judges.index], a.judges, rtol=1e-4)


@pytest.mark.parametrize("method", EVERYWHERE)
def test_swapping_all_slots_changes_nothing_but_the_side_predicted(method, data, swapped):
    a, b = method(data), method(swapped(data))
    np.testing.assert_allclose(b.scores, a.scores, atol=2e-5)
    np.testing.assert_allclose(b.predict(swapped(data)), 1 - a.predict(data), atol=2e-5)


@pytest.mark.parametrize("method", EVERYWHERE)
def test_aggregated_rows_with_ties_give_what_raw_rows_give(method, data):
    cells = data.with_ties().aggregate()
    a, b = method(data), method(cells)
    np.testing.assert_allclose(b.scores, a.scores, atol=2e-5)
    if a.errors is not None:
        np.testing.assert_allclose(b.errors, a.errors, rtol=1e-9)


@pytest.mark.parametrize("method", EVERYWHERE)
def test_predictions_are_mean_outcomes_strictly_between_zero_and_one(method, simulated):
    c = simulated(2, TRUTH, [1.0, 0.5], 40_000, ties=0.1)
    p = method(c).predict(c)
    assert p.shape == (len(c),)
    assert 0 < p.min() < p.max() < 1
    for low, high in ((0.1, 0.35), (0.35, 0.65), (0.65, 0.9)):  # calibrated
        there = (p > low) & (p < high)
        assert c.outcome[there].mean() == pytest.approx(p[there].mean(), abs=0.04)


@pytest.mark.parametrize("method", EVERYWHERE)
def test_two_runs_are_the_same_to_the_last_bit(method, data):
    assert method(data).scores.equals(method(data).scores)


@pytest.mark.parametrize("method", EVERYWHERE)
def test_predictions_follow_names_where_a_judge_is_missing(method, data):
    result = method(data)
    late = np.flatnonzero(data.judge == 2)
    np.testing.assert_array_equal(result.predict(data.take(late)), result.predict(data)[late])


# Crowd-BT


def test_crowd_bt_gradient_is_that_of_its_objective(data):
    rng = np.random.default_rng(0)
    x = np.r_[rng.normal(0, 1, 6), rng.uniform(0.1, 0.9, 4)]
    value, gradient = judge_models._crowd_loss(x, data, 1.5)
    numeric = approx_fprime(x, lambda v: judge_models._crowd_loss(v, data, 1.5)[0], 1e-7)
    np.testing.assert_allclose(gradient, numeric, atol=2e-6)
    d, eta = x[data.first] - x[data.second], x[6:][data.judge]
    p = eta * expit(d) + (1 - eta) * expit(-d)
    direct = np.sum(data.outcome * np.log(p) + (1 - data.outcome) * np.log(1 - p))
    direct += 1.5 * np.sum(np.log(expit(x[:6]) * expit(-x[:6])))
    assert value == pytest.approx(-direct / len(data))


def test_crowd_bt_with_honest_judges_and_no_virtual_model_is_bradley_terry(data):
    x, done = judge_models._maximise(data.aggregate(), 0.0, np.r_[np.zeros(6), np.ones(4)], (1.0, 1.0))
    assert done
    np.testing.assert_allclose(x[:6] - x[:6].mean(), fit(data, "btl").scores, atol=1e-5)


def test_an_adversary_is_found_dishonest_and_predicted_to_be(simulated):
    c = simulated(3, TRUTH, [1.0, 1.0, 1.0, -1.0], 8_000)
    result = crowd_bt(c)
    assert result.judges["j3"] < 0.1 < 0.9 < result.judges["j0"]
    assert spearmanr(result.scores, TRUTH).statistic > 0.9
    strong = (c.first == 4) & (c.second == 0)
    p = result.predict(c)[strong]
    assert p[c.judge[strong] == 3].max() < 0.5 < p[c.judge[strong] == 0].min()


def test_honesties_of_the_simulated_model_are_recovered():
    rng, honesty = np.random.default_rng(4), np.array([0.6, 0.8, 0.95, 0.2])
    i = rng.integers(6, size=40_000)
    j, k = (i + rng.integers(1, 6, 40_000)) % 6, rng.integers(4, size=40_000)
    p = expit(TRUTH[i] - TRUTH[j])
    y = (rng.random(40_000) < honesty[k] * p + (1 - honesty[k]) * (1 - p)).astype(float)
    result = crowd_bt(Comparisons(tuple("abcdef"), tuple("wxyz"), i, j, k, y))
    np.testing.assert_allclose(result.judges, honesty, atol=0.05)
    np.testing.assert_allclose(result.scores - result.scores.mean(), TRUTH - TRUTH.mean(), atol=0.2)


def test_the_virtual_model_holds_scores_of_a_model_that_always_wins(cells_of):
    c = cells_of(("a", "b", "j", 5, 0))
    held, free = crowd_bt(c), crowd_bt(c, strength=0.0)
    assert held.remark == ""
    assert 0 < held.scores["a"] < 5
    assert held.scores["b"] == pytest.approx(-held.scores["a"])
    assert free.remark and np.ptp(free.scores) > judge_models.FAR
    tighter = crowd_bt(c, strength=5.0)
    assert tighter.scores["a"] < held.scores["a"]


def test_most_of_the_panel_is_taken_to_be_honest(cells_of):
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    rows = [(*pair, judge, wins, 10 - wins) for pair in pairs for judge, wins in (("j", 10), ("k", 0), ("l", 0))]
    result = crowd_bt(cells_of(*rows))
    assert result.judges.tolist() == [0, 1, 1]
    assert result.scores["c"] > result.scores["b"] > result.scores["a"]


@pytest.mark.parametrize("wrong", [{"strength": -1.0}, {"start": 0.5}, {"start": 1.5}, {"strength": np.nan}])
def test_crowd_bt_refuses_settings_out_of_range(data, wrong):
    with pytest.raises(ConfigError, match="must"):
        crowd_bt(data, **wrong)


# graded response


def test_graded_gradient_is_that_of_its_objective(data):
    rng, spread = np.random.default_rng(0), np.array([1.2, 0.7, 0.5])
    cells = data.with_ties()
    answers = judge_models._answers(cells)
    x = np.r_[rng.normal(0, 1, 6), rng.normal(0, 0.5, 4), rng.uniform(0.05, 1, 4)]
    value, gradient = judge_models._graded_loss(x, cells, answers, spread)
    numeric = approx_fprime(x, lambda v: judge_models._graded_loss(v, cells, answers, spread)[0], 1e-7)
    np.testing.assert_allclose(gradient, numeric, atol=2e-6)
    d, a, b = x[data.first] - x[data.second], np.exp(x[6:10])[data.judge], x[10:][data.judge]
    win, lose = expit(a * (d - b)), expit(-a * (d + b))
    p = np.select([data.outcome == 1, data.outcome == 0], [win, lose], 1 - win - lose)
    prior = np.sum(x**2 / np.repeat(spread, (6, 4, 4)) ** 2) / 2
    assert value == pytest.approx(-(np.log(p).sum() - prior) / len(data))


def test_graded_response_without_ties_and_with_wide_priors_is_the_judge_aware_model(simulated):
    c = simulated(6, TRUTH, [0.6, 1.0, 1.6, 0.9], 6_000)
    result, exact = graded_response(c, score_spread=1e3, log_discrimination_spread=1e3), fit(c)
    scale = np.exp(np.log(result.judges).mean())
    np.testing.assert_allclose(result.scores * scale, exact.scores, atol=1e-3)
    np.testing.assert_allclose(result.judges / scale, exact.discrimination, rtol=1e-3)


def test_thresholds_and_discriminations_are_told_apart():
    rng, n = np.random.default_rng(7), 60_000
    a, b = np.array([0.5, 1.0, 2.0]), np.array([0.8, 0.1, 0.3])
    i = rng.integers(6, size=n)
    j, k = (i + rng.integers(1, 6, n)) % 6, rng.integers(3, size=n)
    d, u = TRUTH[i] - TRUTH[j], rng.random(n)
    win, win_or_tie = expit(a[k] * (d - b[k])), expit(a[k] * (d + b[k]))
    y = np.where(u < win, 1.0, np.where(u < win_or_tie, 0.5, 0.0))
    c = Comparisons(tuple("abcdef"), tuple("xyz"), i, j, k, y)
    result = graded_response(c)
    scale = result.judges["y"]  # which the likelihood leaves open
    np.testing.assert_allclose(result.judges / scale, a, rtol=0.06)
    np.testing.assert_allclose(result.scores * scale, TRUTH - TRUTH.mean(), atol=0.06)
    np.testing.assert_allclose(result.predict(c), win + (win_or_tie - win) / 2, atol=0.02)


def test_a_contrary_judge_gets_hardly_any_discrimination(simulated):
    result = graded_response(simulated(8, TRUTH, [1.0, 1.0, -1.0], 6_000, ties=0.1))
    assert result.judges["j2"] < 0.15 < 0.5 < result.judges["j0"]
    assert spearmanr(result.scores, TRUTH).statistic > 0.9


def test_graded_response_exists_where_a_model_always_wins(cells_of):
    c = cells_of(("a", "b", "j", 5, 0), ("b", "c", "j", 5, 0))
    scores = graded_response(replace(c, tied=np.zeros(2))).scores
    assert scores["a"] > scores["b"] > scores["c"]
    assert abs(scores.sum()) < 1e-9


def test_graded_response_needs_ties_and_spreads_above_zero(data):
    with pytest.raises(DataError, match="aggregated"):
        graded_response(data.aggregate())
    with pytest.raises(ConfigError, match="above zero"):
        graded_response(data, score_spread=0.0)


# product of experts


@pytest.mark.parametrize("debias", [True, False])
def test_product_of_experts_is_least_squares(data, debias):
    rows = np.arange(len(data))
    w = np.zeros((len(data), 6))
    w[rows, data.first], w[rows, data.second] = 1, -1
    beta = data.outcome.mean() if debias else 0.5
    scores, _, rank, _ = np.linalg.lstsq(w, data.outcome - beta)
    residual = data.outcome - beta - w @ scores
    variance = residual @ residual / (len(data) - rank - debias)
    result = product_of_experts(data, debias=debias)
    np.testing.assert_allclose(result.scores, scores, atol=1e-12)
    np.testing.assert_allclose(result.errors, np.sqrt(variance * np.diag(np.linalg.pinv(w.T @ w))), rtol=1e-9)
    np.testing.assert_allclose(result.predict(data), np.clip(beta + w @ scores, 0.01, 0.99), atol=1e-12)


def test_a_straight_line_that_leaves_zero_and_one_is_clipped(cells_of):
    rows = [("a", "b", "j", 90, 10), ("b", "c", "j", 90, 10), ("c", "d", "j", 90, 10)]
    c = cells_of(*rows, ("a", "d", "j", 9, 0), ("d", "a", "j", 0, 9))
    assert product_of_experts(c, debias=False).predict(c)[-2:].tolist() == [0.99, 0.01]


def test_a_ridge_is_one_more_expert_on_every_score(data):
    rows = np.arange(len(data))
    w = np.zeros((len(data), 6))
    w[rows, data.first], w[rows, data.second] = 1, -1
    mean = data.outcome - data.outcome.mean()
    expected = np.linalg.lstsq(np.r_[w, np.sqrt(300.0) * np.eye(6)], np.r_[mean, np.zeros(6)])[0]
    np.testing.assert_allclose(product_of_experts(data, ridge=300.0).scores, expected, atol=1e-12)


def test_standard_errors_are_those_of_repeated_samples(simulated):
    runs = [product_of_experts(simulated(seed, 0 * TRUTH, [1.0], 400)) for seed in range(300)]
    spread = np.std([run.scores for run in runs], axis=0)
    np.testing.assert_allclose(np.mean([run.errors for run in runs], axis=0), spread, rtol=0.15)


def test_debiasing_takes_a_leaning_toward_the_first_slot_out(simulated):
    c = simulated(9, TRUTH, [1.0], 20_000)
    c = c.take(np.flatnonzero((c.first < c.second) | (np.arange(len(c)) % 3 == 0)))  # low numbers mostly first
    leaning = replace(c, outcome=np.where(np.arange(len(c)) % 4 == 0, 1.0, c.outcome))
    fair = product_of_experts(c).scores
    error = {
        debias: np.abs(product_of_experts(leaning, debias=debias).scores - 0.75 * fair) for debias in (True, False)
    }
    assert error[True].max() < 0.5 * error[False].max()


def test_groups_that_never_met_need_a_ridge(cells_of):
    c = cells_of(("a", "b", "j", 3, 1), ("c", "d", "j", 2, 2))
    with pytest.raises(DisconnectedError, match="'a' and 'c'"):
        product_of_experts(c)
    assert np.isfinite(product_of_experts(c, ridge=1.0).scores).all()
    with pytest.raises(ConfigError, match="ridge"):
        product_of_experts(c, ridge=-1.0)


def test_no_standard_errors_without_a_residual(cells_of):
    result = product_of_experts(cells_of(("a", "b", "j", 1, 0)))
    assert result.errors is None
    assert "too few" in result.remark


# triplets


@pytest.mark.parametrize("method", [greedy_triplets, full_triplets])
@pytest.mark.parametrize("n", [3, 4, 7, 12])
def test_triplets_of_flawless_judges_give_the_true_order(method, n):
    strength = np.random.default_rng(n).permutation(n)
    c = candidates(strength)
    for version in (c, relabelled(c, np.random.default_rng(1).permutation(n), np.arange(n)[::-1])):
        result = method(version)
        assert tuple(result.scores.index) == version.models
        assert result.scores[list(c.models)].rank().tolist() == (strength + 1).tolist()
        assert result.predict is None and result.errors is None


def test_reputations_are_the_vector_of_perron():
    c = candidates([3, 1, 0, 2], {(0, 1, 2): 0.0, (1, 0, 3): 0.5, (2, 0, 1): 0.0})
    m = 4
    votes = np.full((m, m, m), np.nan)
    for k, i, j, y in zip(c.judge, c.first, c.second, c.outcome, strict=True):
        votes[k, i, j], votes[k, j, i] = y, 1 - y
    weights = np.full((m, m), 0.5)
    for i in range(m):
        for k in range(m):
            weights[i, k] += m - 1 if i == k else sum(votes[k, i, j] for j in range(m) if j not in (i, k))
    values, vectors = np.linalg.eig(weights)
    expected = np.abs(vectors[:, values.real.argmax()].real)
    result = full_triplets(c)
    np.testing.assert_allclose(result.scores, expected / expected.sum(), atol=1e-9)
    assert result.judges.equals(result.scores.rename("reputation"))


def test_a_weak_candidate_that_judges_at_random_does_not_mislead():
    # the weakest model, m00, prefers the weaker of any two
    strength = np.arange(6)
    wrong = {(0, i, j): 1.0 for i, j in combinations(range(1, 6), 2)}
    for method in (greedy_triplets, full_triplets):
        assert method(candidates(strength, wrong)).scores.rank().tolist() == [1, 2, 3, 4, 5, 6]


def test_a_vote_is_the_majority_of_what_a_judge_said_in_both_orders(swapped):
    c = candidates([0, 1, 2, 3])
    against = replace(c, outcome=1 - c.outcome)
    both = [c, swapped(c), against]
    rows = {
        name: np.concatenate([getattr(x, name) for x in both]) for name in ("first", "second", "judge", "outcome")
    }
    c = replace(c, count=None, **rows)
    for method in (greedy_triplets, full_triplets):
        assert method(c).scores.rank().tolist() == [1, 2, 3, 4]
        assert method(c.aggregate()).scores.tolist() == method(c).scores.tolist()


def test_models_that_do_not_judge_are_left_out_and_named():
    c = candidates([0, 1, 2, 3])
    c = c.with_judges(["m00", "m01", "m03"])
    for method in (greedy_triplets, full_triplets):
        result = method(c)
        assert result.scores.index.tolist() == ["m00", "m01", "m03"]
        assert result.scores.is_monotonic_increasing
        assert "m02" in result.remark


@pytest.mark.parametrize("method", [greedy_triplets, full_triplets])
def test_triplets_say_why_they_are_unavailable(method, simulated):
    with pytest.raises(MethodUnavailableError, match="none of 6"):
        method(simulated(0, TRUTH, [1.0], 100))
    c = candidates([0, 1, 2])
    with pytest.raises(MethodUnavailableError, match="only 'm00', 'm01' of 3"):
        method(c.with_judges(["m00", "m01"]))
    gap = c.take(np.flatnonzero(c.judge != 1))
    with pytest.raises(MethodUnavailableError, match="only 'm00', 'm02' of 3"):
        method(replace(gap, judges=c.judges, judge=np.where(gap.judge == 1, 2, gap.judge)))
    full = candidates([0, 1, 2, 3])
    lacking = full.take(np.flatnonzero((full.judge != 2) | (full.first != 0) | (full.second != 1)))
    with pytest.raises(MethodUnavailableError, match=r"judgment by 'm02' of '(m00|m01)' and '(m00|m01)'"):
        method(lacking)
    assert issubclass(MethodUnavailableError, JudgerankError)


# What is compared for speed counts the same cells.


pytest.importorskip("duckdb")
pytest.importorskip("polars")


def test_engines_and_ours_count_the_same_cells_of_the_same_judgments(tmp_path):
    paths = write_judgments(tmp_path, 3000, 1, ("parquet", "csv"))
    cells = {form: aggregate(path) for form, path in paths.items()}
    assert cells["csv"].n_comparisons == cells["parquet"].n_comparisons == 3000
    assert 0.05 < aggregate(paths["csv"], ties=True).known_ties.mean() < 0.15
    for form, path in paths.items():
        for task in ("by_duckdb", "by_polars", "by_acero", "to_cells"):
            assert TASKS[task](str(path), "500MB") == len(cells[form]), task


def test_a_measure_has_its_time_and_its_own_memory(tmp_path):
    path = write_judgments(tmp_path, 3000, 1, ("parquet",))["parquet"]
    held = bytearray(400_000_000)
    held[::4096] = b"x" * len(held[::4096])  # of this process, and none of that one's
    found = measured("by_duckdb", path, "500MB")
    assert 0 < found["seconds"] < 60
    assert 1e7 < found["peak"] < 4e8
    assert found["counted"] == len(aggregate(path))


def test_a_line_is_found_with_an_error_that_is_its_own():
    x = np.array([1e6, 3e6, 1e7, 3e7])
    assert line_at(x, 2 + 3e-6 * x, 1e9) == (pytest.approx(3002), pytest.approx(0, abs=1e-6))
    rng, off, said = np.random.default_rng(0), [], []
    for _ in range(400):
        value, error = line_at(x, (2 + 3e-6 * x) * (1 + 0.05 * rng.standard_normal(4)), 1e9)
        off.append(value - 3002)
        said.append(error**2)
    assert np.mean(said) == pytest.approx(np.var(off), rel=0.25)


def test_what_is_extrapolated_is_a_line_in_rows_and_one_in_cells_which_run_out():
    most = 1000 * 999 // 2 * 100  # the files show each pair in one order
    found = {}
    for rows in (10**6, 3 * 10**6, 10**7, 3 * 10**7):
        cells = -most * np.expm1(-rows / most)
        alike = {"counted": cells}
        times = {"seconds": 1 + 4e-7 * rows, "processor": 2 + 5e-7 * rows}
        fitted = {what: taken + 0.1 + 3e-7 * cells for what, taken in times.items()}
        found[rows] = {"to_cells": alike | times, "to_fit": alike | fitted}
    values = [line.split("|")[2].strip() for line in extrapolated(found, 10**9)]
    assert values == ["401", "416", "502", "517"]


# other packages

SETTINGS = packages.Settings(0.95, 20)


@pytest.mark.parametrize("method", ["choix", "evalica"])
def test_packages_without_judges_give_the_scores_of_equal_weights(method, simulated):
    pytest.importorskip(packages.METHODS[method][0])
    c = simulated(2, TRUTH, [0.5, 1.0, 2.0], 5_000, ties=0.1)
    ours = packages.by_equal_weights(c, SETTINGS).scores
    theirs = packages.METHODS[method][2](c, SETTINGS).scores[ours.index]
    np.testing.assert_allclose(theirs - theirs.mean(), ours - ours.mean(), atol=0.01)


def test_coverage_is_the_same_on_any_scale():
    truth = pd.Series([0.0, 1.0, 2.0, 3.0], list("abcd"))
    scores = pd.Series([0.1, 1.0, 1.8, 3.1], list("abcd"))
    once, again = (
        packages.against(truth, packages.Scored(a + b * scores, a + b * (scores - 0.15), a + b * (scores + 0.15)))
        for a, b in ((0, 1), (1000, 170))
    )
    assert once == pytest.approx(again)
    assert once == pytest.approx({"spearman": 1.0, "coverage": 0.75})


def test_what_is_not_installed_is_left_out_and_listed(monkeypatch):
    monkeypatch.setattr(packages, "installed_version", lambda name: "" if name != packages.OURS else "1")
    assert packages.methods_at_hand() == ["default", "equal weights"]
    table = packages.methods_table({"default": 2.0, "equal weights": 1.0}).set_index("method")
    assert table["version"]["noisy"] == "" and table["ratio"]["equal weights"] == 0.5
    assert set(table["package"]) >= {"crowd-kit", "evaluatorq", "honestboard", "statgate"}


def test_a_judge_with_a_fixed_idea_prefers_the_first_name_in_either_order():
    cell = {"n_models": 5, "n_honest": 2, "discrimination": 1.0, "n_questions": 40}
    rows, truth, question = packages.drawn_fixed_idea(cell, np.random.default_rng(3))
    fixed = rows.judge == 2
    assert rows.judges[2] == "fixed-idea" and fixed.sum() == 40 and list(truth.index) == list(rows.models)
    assert (rows.outcome[fixed] == (rows.first < rows.second)[fixed]).all()
    assert {0.0, 1.0} == set(rows.outcome[fixed])
    pairs = {(q, *sorted((i, j))) for q, i, j in zip(question, rows.first, rows.second, strict=True)}
    assert len(pairs) == 40
