"""Ties as an outcome of their own (Davidson, 1970): against closed forms, other solvers and ties as half a win."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from judgerank import Comparisons, Penalised, fit
from judgerank import pairwise as pairwise_tests
from judgerank.data.errors import DataError
from judgerank.engine.adam import Adam
from judgerank.engine.likelihood import evaluate
from judgerank.inference.wald import likelihood_ratio
from judgerank.model.members import BTL_TIES, JUDGE_AWARE_TIES, POSITION_AWARE_TIES, Parameters

WITH_TIES = (BTL_TIES, JUDGE_AWARE_TIES, POSITION_AWARE_TIES)
MEMBER = pytest.mark.parametrize("member", WITH_TIES, ids=lambda member: member.name)
SCORES, GAMMA = np.array([1.0, 0.3, -0.2, -1.1]), np.array([0.6, 1.0, 1.6])
POSITION, NU = np.array([0.5, -0.4, 0.0]), np.array([0.2, 1.0, 6.0])
N, K = len(SCORES), len(GAMMA)


def odds(eta, nu):
    """Logarithms of the odds of the second model, a tie and the first."""
    return np.stack([-eta / 2, np.broadcast_to(np.log(nu), np.shape(eta)), eta / 2], axis=-1)


def drawn(seed, size, *, position=POSITION, nu=NU, gamma=GAMMA) -> Comparisons:
    rng = np.random.default_rng(seed)
    first = rng.integers(N, size=size)
    second = (first + rng.integers(1, N, size=size)) % N
    judge = rng.integers(K, size=size)
    eta = gamma[judge] * (SCORES[first] - SCORES[second]) + position[judge]
    upper = softmax(odds(eta, nu[judge]), axis=-1).cumsum(axis=-1)
    answer = (rng.random(size)[:, None] > upper[:, :2]).sum(axis=1)
    names = tuple(f"m{i}" for i in range(N)), tuple(f"j{k}" for k in range(K))
    return Comparisons(*names, first, second, judge, answer / 2)


@pytest.fixture(scope="module")
def raw() -> Comparisons:
    return drawn(71, 1500)


def log_likelihood(raw: Comparisons, s, gamma, b, nu) -> float:
    eta = gamma[raw.judge] * (s[raw.first] - s[raw.second]) + b[raw.judge]
    logs = log_softmax(odds(eta, nu[raw.judge]), axis=-1)
    return float(np.take_along_axis(logs, (2 * raw.outcome).astype(int)[:, None], axis=1).sum())


def at_truth(member) -> Parameters:
    rows = {"log_discrimination": np.log(GAMMA), "position": POSITION, "log_tie": np.log(NU)}
    if member.fixed_scale:
        rows["log_discrimination"] = np.zeros(K)
    return Parameters(SCORES, np.array([rows[block] for block in member.judge_blocks]))


@MEMBER
def test_the_likelihood_is_that_of_three_outcomes(raw, member):
    at = at_truth(member)
    b = POSITION if member.has_position else np.zeros(K)
    expected = log_likelihood(raw, SCORES, np.exp(at.judges[0]), b, NU)
    for cells in (raw.with_ties(), raw.with_ties().aggregate()):
        assert_allclose(evaluate(cells, member, at).log_likelihood, expected, rtol=1e-12)


@MEMBER
@pytest.mark.parametrize("curvature", ["expected", "observed"])
def test_derivatives_are_those_of_the_likelihood(raw, member, curvature):
    cells, at = raw.with_ties().aggregate(), at_truth(member)
    here = evaluate(cells, member, at, curvature)
    moving = [row for row, _ in enumerate(member.judge_blocks) if row or not member.fixed_scale]

    def moved(place, size):
        s, judges = at.scores.copy(), at.judges.copy()
        if place < N:
            s[place] += size
        else:
            judges.flat[place - N] += size
        return evaluate(cells, member, Parameters(s, judges))

    def stacked(evaluation):
        return np.concatenate([evaluation.top_gradient, evaluation.judge_gradient.ravel()])

    places = [*range(N), *(N + row * K + k for row in moving for k in range(K))]
    rises = [(moved(p, 1e-5).log_likelihood - moved(p, -1e-5).log_likelihood) / 2e-5 for p in places]
    assert_allclose(stacked(here)[places], rises, rtol=1e-5, atol=1e-5)
    if curvature == "expected":
        return
    hessian = np.array([(stacked(moved(p, 1e-5)) - stacked(moved(p, -1e-5))) / 2e-5 for p in places])
    for row in moving:
        for k in range(K):
            found = -hessian[places.index(N + row * K + k)]
            assert_allclose(here.cross_information[row, k], found[:N], rtol=1e-5, atol=1e-4)
            own = found[[N + other * K + k for other in moving]]
            # it is taken in gamma, where the second derivative lacks the first
            own[0] += here.judge_gradient[0, k] * (row == moving[0] == 0)
            assert_allclose(here.judge_information[k, row, moving], own, rtol=1e-5, atol=1e-4)


def test_the_expected_information_is_the_mean_of_the_observed_one(raw):
    cells, at = raw.with_ties().aggregate(), at_truth(POSITION_AWARE_TIES)
    eta = GAMMA[cells.judge] * (SCORES[cells.first] - SCORES[cells.second]) + POSITION[cells.judge]
    p = softmax(odds(eta, NU[cells.judge]), axis=-1)
    mean = replace(cells, outcome=p[:, 2] + p[:, 1] / 2, tied=p[:, 1])
    expected, observed = (evaluate(mean, POSITION_AWARE_TIES, at, kind) for kind in ("expected", "observed"))
    assert expected.relative_gradient < 1e-14
    for name in ("top_information", "judge_information", "cross_information"):
        assert_allclose(getattr(expected, name), getattr(observed, name), atol=1e-10)


def test_two_models_and_one_judge_have_a_closed_form():
    answers = np.repeat([1.0, 0.5, 0.0], [50, 30, 20])
    zero = np.zeros(100, int)
    one = Comparisons(("a", "b"), ("j",), zero, zero + 1, zero, answers)
    for member in ("btl_ties", "judge_aware_ties"):
        found = fit(one, member)
        assert_allclose(found.scores["a"] - found.scores["b"], np.log(50 / 20))
        assert_allclose(found.tie["j"], 30 / np.sqrt(50 * 20))
        assert_allclose(found.tie_probability(one), 0.3)
        assert_allclose(found.probability(one), 0.65)
    # multinomial: the variance of a difference of two log counts
    assert_allclose(fit(one, "btl_ties").contrast({"a": 1, "b": -1})["standard_error"] ** 2, 1 / 50 + 1 / 20)


@MEMBER
def test_a_general_optimiser_and_adam_find_the_same_maximum(raw, member):
    found = fit(raw, member.name)

    def objective(theta):
        alpha, b, tau = theta[N : N + K], theta[N + K : N + 2 * K], theta[N + 2 * K :]
        gamma = np.ones(K) if member.fixed_scale else np.exp(alpha)
        return -log_likelihood(raw, theta[:N], gamma, b * member.has_position, np.exp(tau))

    assert_allclose(found.log_likelihood, -minimize(objective, np.zeros(N + 3 * K), method="BFGS").fun, rtol=1e-8)
    adam = fit(raw, member.name, Adam(step_judges=1e-2, tolerance=1e-9, max_iterations=6000))
    assert_allclose(adam.scores, found.scores, atol=1e-5)
    assert_allclose(adam.tie, found.tie, rtol=1e-5)


@pytest.mark.parametrize(
    ("member", "without"),
    [("btl_ties", "btl"), ("judge_aware_ties", "judge_aware"), ("position_aware_ties", "position_aware")],
)
def test_without_ties_the_members_are_those_of_two_outcomes(raw, member, without):
    decided = raw.without_ties()
    ours, two = fit(decided, member), fit(decided, without)
    assert_allclose(ours.log_likelihood, two.log_likelihood, rtol=1e-12)
    assert_allclose(ours.scores, two.scores, atol=1e-8)
    assert (ours.tie == 0).all()
    assert ours.n_parameters == two.n_parameters
    n = ours.covariance.shape[0]
    assert_allclose(ours.covariance, two.covariance[:n, :n], atol=1e-8)
    assert ours.confidence_intervals().query("parameter == 'tie'")[["low", "high"]].isna().all(axis=None)


def test_the_order_of_presentation_only_turns_the_positions(raw, swapped):
    one, other = fit(raw, "position_aware_ties"), fit(swapped(raw), "position_aware_ties")
    assert_allclose(one.log_likelihood, other.log_likelihood, rtol=1e-12)
    assert_allclose(one.position, -other.position, atol=1e-7)
    assert_allclose(one.tie, other.tie, rtol=1e-7)


def test_intervals_cover_the_truth():
    """Share of 95% intervals over 80 data sets that hold the truth, within four Monte Carlo errors."""
    held = []
    truth = np.concatenate(
        [SCORES * np.exp(np.log(GAMMA).mean()), GAMMA / np.exp(np.log(GAMMA).mean()), POSITION, NU]
    )
    truth[:N] -= truth[:N].mean()
    for seed in range(80):
        rows = fit(drawn(seed, 1500), "position_aware_ties").confidence_intervals()
        held.append((rows["low"] <= truth) & (truth <= rows["high"]))
    share = np.array(held).mean(axis=0)
    assert np.abs(share - 0.95).max() < 4 * np.sqrt(0.95 * 0.05 / 80)
    assert np.abs(share.mean() - 0.95) < 0.02


def test_a_tie_says_less_as_half_a_win_than_as_an_outcome():
    """With most answers ties, the plug-in errors of ties as half wins are far too wide, relative to the spread."""
    often = drawn(3, 3000, nu=np.array([8.0, 8.0, 8.0]), position=np.zeros(K), gamma=np.ones(K))
    errors = {}
    for member in ("btl", "btl_ties"):
        found = fit(often, member)
        errors[member] = found.standard_errors[:N].mean() / found.scores.std()
    assert errors["btl"] > 1.5 * errors["btl_ties"]


def test_likelihood_ratios_along_the_family_are_nested(raw):
    fits = [fit(raw, member.name) for member in WITH_TIES]
    steps = list(pairwise(fits))
    freed = [large.n_parameters - small.n_parameters for small, large in steps]
    assert freed == [K - 1, K]
    statistics = [
        likelihood_ratio(small.log_likelihood, large.log_likelihood, df)
        for (small, large), df in zip(steps, freed, strict=True)
    ]
    assert all(statistic > 0 and p < 1e-3 for statistic, p in statistics)


def test_no_position_is_found_where_there_is_none():
    """Likelihood-ratio statistics under the null: their mean is that of chi-squared with K degrees of freedom."""
    statistics = []
    for seed in range(60):
        raw = drawn(seed, 800, position=np.zeros(K))
        small, large = (fit(raw, name).log_likelihood for name in ("judge_aware_ties", "position_aware_ties"))
        statistics.append(2 * (large - small))
    assert abs(np.mean(statistics) - K) < 4 * np.sqrt(2 * K / 60)


# judges at the edge


def with_judge(raw: Comparisons, answer) -> Comparisons:
    """One judge more, who answers the first 200 rows by a rule of the score difference."""
    rows = np.arange(200)
    d = SCORES[raw.first[rows]] - SCORES[raw.second[rows]]
    columns = {name: np.r_[getattr(raw, name), getattr(raw, name)[rows]] for name in ("first", "second")}
    judge, outcome = np.r_[raw.judge, np.full(200, K)], np.r_[raw.outcome, answer(d, rows)]
    return Comparisons(raw.models, (*raw.judges, "odd"), columns["first"], columns["second"], judge, outcome)


EDGES = {
    "ties always": (lambda d, rows: np.full(len(d), 0.5), ("judge_aware_ties", "position_aware_ties", "btl_ties")),
    "never prefers the second": (lambda d, rows: np.where(rows % 3 == 0, 0.5, 1.0), ("position_aware_ties",)),
    "ties between its preferences": (
        lambda d, rows: np.where(np.abs(d) < 0.6, 0.5, d > 0),
        ("judge_aware_ties", "position_aware_ties"),
    ),
}


@pytest.mark.parametrize(("rule", "member"), [(rule, m) for rule, (_, ms) in EDGES.items() for m in ms])
def test_judges_without_a_finite_maximum_are_named(raw, rule, member):
    found = fit(with_judge(raw, EDGES[rule][0]), member)
    assert found.unbounded_judges == ("odd",)
    rows = found.confidence_intervals().set_index("name")
    assert rows.loc["odd", ["low", "high"]].isna().all(axis=None)
    assert rows.drop("odd")[["low", "high"]].notna().all(axis=None)


def test_a_judge_who_errs_once_between_its_ties_is_bounded(raw):
    def answer(d, rows):
        outcome = np.where(np.abs(d) < 0.6, 0.5, d > 0)
        outcome[np.argmax(np.abs(d))] = 0.5
        return outcome

    assert fit(with_judge(raw, answer), "judge_aware_ties").unbounded_judges == ()


def test_a_judge_against_the_order_is_at_zero_and_keeps_its_ties(raw):
    odd = with_judge(raw, lambda d, rows: np.where(rows % 4 == 0, 0.5, d < 0))
    found = fit(odd, "judge_aware_ties")
    assert found.judges_at_zero == ("odd",)
    assert_allclose(found.tie["odd"], 2 * 50 / 150)  # ties against either win
    row = found.confidence_intervals().query("parameter == 'tie' and name == 'odd'").iloc[0]
    assert 0 < row["low"] < row["estimate"] < row["high"]
    assert_allclose(np.log(row["high"] / row["low"]), 2 * 1.959964 / np.sqrt(200 * 0.25 * 0.75), rtol=1e-6)


# comparisons


def test_ties_are_kept_through_aggregation_and_forgotten_otherwise(raw):
    cells = raw.with_ties().aggregate()
    assert_allclose((cells.count * cells.tied).sum(), (raw.outcome == 0.5).sum())
    assert raw.aggregate().tied is None
    assert cells.with_ties() is cells
    assert_allclose(cells.take(np.arange(5)).tied, cells.tied[:5])
    with pytest.raises(DataError, match="aggregated"):
        fit(raw.aggregate(), "btl_ties")
    assert_allclose(fit(cells, "btl_ties").scores, fit(raw, "btl_ties").scores)
    assert_allclose(fit(cells, "judge_aware").scores, fit(raw, "judge_aware").scores)


def test_shares_of_ties_that_outcomes_do_not_allow_are_refused(raw):
    with pytest.raises(DataError, match="tied"):
        replace(raw, tied=np.ones(len(raw)))


def test_only_members_with_ties_give_their_probability(raw):
    with pytest.raises(DataError, match="'judge_aware' does not have ties"):
        fit(raw).tie_probability(raw)
    assert fit(raw).tie.isna().all()


# ties as half wins in shrunk fits


@pytest.fixture(scope="module")
def half_wins(simulated):
    """Answers of which a share are ties, whatever the models."""
    return lambda seed, size, share, scores=SCORES: simulated(seed, scores, GAMMA, size, ties=share)


def test_a_shrunk_fit_counts_comparisons_by_the_dispersion_of_half_wins(half_wins):
    raw, question = half_wins(3, 400, 0.6), np.arange(400)
    found = fit(raw, "position_aware", shrink=True, cluster=question)
    assert found.dispersion == pytest.approx(1 - np.sum(raw.outcome == 0.5) / 401)
    more = replace(raw, count=np.full(400, 1 / found.dispersion))
    other = fit(more, "position_aware", Penalised(dispersion=1.0), cluster=question)
    for one, two in ((found, other), (found._of_tests, other._of_tests)):
        assert_allclose(one.scores, two.scores, atol=1e-6)
        assert_allclose(one.covariance, two.covariance, rtol=1e-4, atol=1e-9)
    ends = ["score", "low", "high"]
    assert_allclose(found.leaderboard()[ends], other.leaderboard()[ends], atol=1e-6)
    assert found.marginal_log_likelihood == pytest.approx(other.marginal_log_likelihood)
    assert found.log_likelihood == pytest.approx(found.dispersion * other.log_likelihood)
    plain, counted = fit(raw, shrink=True), fit(more, solver=Penalised(dispersion=1.0))
    assert_allclose(plain.covariance, counted.covariance, rtol=1e-4, atol=1e-9)


def test_nothing_changes_without_ties_nor_where_ties_are_an_outcome(half_wins):
    raw = half_wins(4, 300, 0.0)
    usual, given = fit(raw, "position_aware", shrink=True), fit(raw, "position_aware", Penalised(dispersion=1.0))
    assert usual.dispersion == 1.0
    assert (usual.scores == given.scores).all()
    assert (usual.covariance == given.covariance).all()
    assert fit(half_wins(4, 300, 0.5), "position_aware_ties", shrink=True).dispersion == 1.0
    assert fit(half_wins(4, 300, 0.5), "position_aware").dispersion == 1.0


def test_rows_with_counts_have_the_dispersion_of_as_many_rows(half_wins):
    raw = half_wins(5, 60, 0.5)
    times = np.random.default_rng(5).integers(1, 5, len(raw))
    records = raw.to_frame()
    rows = Comparisons.from_frame(records.loc[records.index.repeat(times)].reset_index(drop=True))
    counted = Comparisons.from_frame(records.assign(times=times), count="times")
    fits = [fit(data, "position_aware", shrink=True) for data in (rows, counted, counted.aggregate())]
    for other in fits[1:]:
        assert other.dispersion == pytest.approx(fits[0].dispersion)
        assert_allclose(other.scores, fits[0].scores, atol=1e-8)


def test_where_all_answers_are_ties_there_is_still_an_estimate(half_wins):
    raw = replace(half_wins(6, 50, 0.0), outcome=np.full(50, 0.5))
    assert_allclose(fit(raw, "position_aware", shrink=True).scores, 0.0, atol=1e-6)


def test_many_ties_do_not_take_the_power_of_the_shrunk_fit(half_wins):
    """Of 120 pairs the exact fit separates 33; taking half wins for wins and losses, shrinkage leaves two."""
    n_separated, scores = np.zeros(3), 0.36 * np.arange(6)
    for seed in range(8):
        raw, question = half_wins(seed, 600, 0.66, scores), np.arange(600)
        for way, solver in enumerate(("newton", "penalised", Penalised(dispersion=1.0))):
            n_separated[way] += pairwise_tests(
                fit(raw, "position_aware", solver, cluster=question)
            ).separated.sum()
    exact, shrunk, undispersed = n_separated
    assert shrunk > 0.85 * exact
    assert shrunk > 3 * undispersed
