"""Shrinkage: its maximum by a general optimiser, the choice of its strength, judges with few answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from judgerank import Status, fit, load, rank, read
from judgerank.data.arrays import generator
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES, Comparisons
from judgerank.data.errors import ConfigError, DataError, NoMaximumError
from judgerank.engine import marginal_likelihood, problem
from judgerank.engine.information import information, zero_sum_basis
from judgerank.engine.likelihood import evaluate
from judgerank.engine.penalised import NARROWEST, WIDEST, Penalised
from judgerank.engine.penalty import WIDE, penalty
from judgerank.engine.problem import BlockProblem, Problem
from judgerank.fits.storing import save
from judgerank.inference.clusters import for_few_clusters
from judgerank.model.members import BTL, MODELS, Parameters
from judgerank.ranking import studies
from judgerank.ranking.choices import DEFAULT, SHRUNK
from judgerank.ranking.studies import coverage, leaderboards, one_sided_votes
from judgerank.ranking.studies.one_sided_votes import ONE_SIDED, one_sided
from judgerank.ranking.studies.panel import TOO_FEW
from judgerank.ranking.verdict import verdict
from replication.random_designs import draw_comparisons, draw_truth

SCORES, GAMMA = (1.0, 0.2, -0.3, -0.9), (0.5, 1.0, 2.0)
N, K = len(SCORES), len(GAMMA)
GIVEN = {"scores": 0.8, "log_discrimination": 0.5, "slope": 0.3, "position": 0.7, "log_tie": 0.6}


@pytest.fixture(scope="module")
def raw(simulated) -> Comparisons:
    return simulated(81, SCORES, GAMMA, 240, slope=(0.3, 0.0, -0.2), ties=0.15)


@pytest.fixture(scope="module")
def fitted(raw):
    return fit(raw, "position_aware", "penalised")


def normal_about_the_mean(values: np.ndarray, tau: float) -> float:
    """Log density, up to a constant, of normal values about a mean that is all but free."""
    mean = values.mean()
    return -0.5 * np.sum((values - mean) ** 2) / tau**2 - 0.5 * len(values) * mean**2 / (
        tau**2 + len(values) * WIDE**2
    )


@pytest.mark.parametrize("member", MODELS)
def test_a_general_optimiser_finds_the_same_maximum(raw, member):
    model = MODELS[member]
    found = fit(raw, member, Penalised(**GIVEN))
    cells, tied = raw.with_ties() if model.has_ties else raw, int((raw.outcome == 0.5).sum())
    dispersion = 1.0 if model.has_ties else 1 - tied / (len(raw) + 1)
    blocks = model.judge_blocks[model.fixed_scale :]
    sizes = [N - 1, *(K - 1 if block == "log_discrimination" else K for block in blocks)]

    def parameters(x):
        parts = np.split(x, np.cumsum(sizes)[:-1])
        rows = {name: np.zeros(K) for name in model.judge_blocks}
        for name, part in zip(blocks, parts[1:], strict=True):
            rows[name] = zero_sum_basis(K) @ part if name == "log_discrimination" else part
        return Parameters(zero_sum_basis(N) @ parts[0], np.array(list(rows.values())).reshape(-1, K)), rows

    def objective(x):
        at, rows = parameters(x)
        level = np.exp(rows["log_discrimination"]).mean() if "log_discrimination" in blocks else 1.0
        value = evaluate(cells, model, at).log_likelihood / dispersion
        value -= 0.5 * np.sum((level * at.scores) ** 2) / GIVEN["scores"] ** 2
        for name in blocks:
            if name == "log_discrimination":
                value -= 0.5 * np.sum(rows[name] ** 2) / GIVEN[name] ** 2
            else:
                value += normal_about_the_mean(rows[name], GIVEN[name])
        return -value

    best = minimize(objective, np.zeros(sum(sizes)), method="BFGS")
    assert_allclose(found.scores, parameters(best.x)[0].scores, atol=2e-4)
    assert_allclose(found.solution.parameters.judges, parameters(best.x)[0].judges, atol=2e-3)
    assert found.status is Status.SHRUNK
    assert found.converged


def test_wide_penalties_leave_the_maximum_likelihood_estimate(raw):
    wide = Penalised(scores=1e4, log_discrimination=1e4, position=1e4)
    free, shrunk = fit(raw, "position_aware"), fit(raw, "position_aware", wide)
    assert_allclose(shrunk.scores, free.scores, atol=1e-5)
    assert_allclose(shrunk.position, free.position, atol=1e-4)
    assert_allclose(shrunk.standard_errors, free.standard_errors * np.sqrt(shrunk.dispersion), rtol=1e-4)


def test_narrow_penalties_leave_judges_alike(raw):
    narrow = Penalised(scores=1e4, log_discrimination=1e-4)
    assert_allclose(fit(raw, solver=narrow).scores, fit(raw, "btl").scores, atol=1e-4)


def has_maximum(cells: Comparisons) -> bool:
    try:
        return fit(cells, "position_aware").converged
    except NoMaximumError:
        return False


def test_there_is_always_an_estimate(cells_of):
    won_all = [("a", "b", "j", 5, 0), ("a", "c", "j", 3, 0), ("b", "c", "k", 2, 2)]
    apart = [("a", "b", "j", 3, 1), ("c", "d", "k", 1, 1)]
    one_slot = [("a", "b", "j", 4, 0), ("b", "a", "j", 4, 0), ("a", "b", "k", 2, 1)]
    for rows in (won_all, apart, one_slot, won_all[:1]):
        cells = cells_of(*rows)
        assert not has_maximum(cells)
        found = fit(cells, "position_aware", "penalised")
        assert found.converged
        assert np.isfinite(found.confidence_intervals()[["low", "high"]].to_numpy(float)).all()
        assert found.scores.abs().max() < 10


def test_the_strength_is_where_the_marginal_likelihood_is_largest(raw, fitted):
    problem = Problem(fitted._working_comparisons, fitted.model)
    spread = dict(fitted.solution.spread)
    assert set(spread) == {"scores", "log_discrimination", "position"}
    zeros = np.zeros(len(problem.coordinates.free_columns))

    def height(changed):
        value = problem.marginal(problem.mode(zeros, changed, fitted.settings)[0], changed)
        return value - 0.5 * np.sum(np.log(list(changed.values())) ** 2)

    best, step = height(spread), 0.05
    for name in spread:
        lower, upper = (height(spread | {name: spread[name] * np.exp(way * step)}) for way in (-1, 1))
        curvature = (2 * best - lower - upper) / step**2
        assert curvature > 1
        assert abs((upper - lower) / (2 * step) / curvature) < 1e-3  # how far off log tau is


def test_one_step_from_a_mode_is_the_next_one_up_to_the_square_of_the_change(fitted):
    problem, spread = Problem(fitted.comparisons, fitted.model), dict(fitted.solution.spread)
    mode = problem.mode(np.zeros(len(problem.coordinates.free_columns)), spread, fitted.settings)[0]
    off = []
    for change in (0.2, 0.02):
        other = spread | {"log_discrimination": spread["log_discrimination"] * np.exp(change)}
        exact = problem.mode(mode, other, fitted.settings)[0]
        off.append(np.abs(problem.near(mode, other) - exact).max() / np.abs(exact - mode).max())
    assert off[1] < off[0] / 5
    assert off[1] < 0.05


def test_the_marginal_likelihood_is_laplaces_of_the_integral():
    zero = np.zeros(40, int)
    one = Comparisons(("a", "b"), ("j",), zero, zero + 1, zero, (np.arange(40) < 26).astype(float))
    problem, tau = Problem(one, BTL), 0.7

    def integrand(x):  # s = (x, -x) / sqrt 2
        eta = np.sqrt(2) * x
        return np.exp(26 * np.log(expit(eta)) + 14 * np.log(expit(-eta)) + 26.0) * norm.pdf(x, scale=tau)

    mode = problem.mode(np.zeros(1), {"scores": tau}, Penalised())[0]
    found = problem.marginal(mode, {"scores": tau})
    assert_allclose(found, np.log(quad(integrand, -4, 4)[0]) - 26.0, atol=0.02)


def test_intervals_are_those_of_information_and_penalty(raw, fitted):
    known = fit(raw, "position_aware", Penalised(**fitted.solution.spread))
    at = known.solution.parameters
    info = information(evaluate(known.comparisons, known.model, at, "expected"), np.ones((2, K), bool))
    total = info / known.dispersion + penalty(known.model, at, known.solution.spread)
    constraint = np.zeros((2, len(total)))
    constraint[0, :N], constraint[1, N : N + K] = 1, 1
    bordered = np.block([[total, constraint.T], [constraint, np.zeros((2, 2))]])
    assert_allclose(known.covariance, np.linalg.inv(bordered)[:-2, :-2], atol=1e-10)
    free = fit(raw, "position_aware")
    assert (known.standard_errors[: N + K] < fitted.standard_errors[: N + K]).all()
    assert fitted.standard_errors.mean() < free.standard_errors.mean()


def test_intervals_allow_for_what_is_not_known_of_the_strength(cells_of):
    apart = cells_of(
        *[("a", "b", "j", 30, 12), ("b", "c", "j", 25, 9), ("a", "c", "j", 40, 5)],
        *[("d", "e", "j", 21, 20), ("e", "f", "j", 30, 6), ("d", "f", "j", 18, 9)],
    )
    fitted = fit(apart, "btl", "penalised")
    problem, start = Problem(fitted.comparisons, BTL), np.zeros(5)
    grid = np.linspace(-3.5, 3.5, 141)
    heights = np.empty(len(grid))
    for number, log_tau in enumerate(grid):
        spread = {"scores": np.exp(log_tau)}
        mode = problem.mode(start, spread, fitted.settings)[0]
        heights[number] = problem.marginal(mode, spread) - log_tau**2 / 2
    weights = np.exp(heights - heights.max())
    # of three models' mean less that of the other three, of which nothing is known but the prior
    contrast = fitted.contrast(dict(zip("abcdef", np.repeat([1 / 3, -1 / 3], 3), strict=True)))
    known = fitted.solution.spread["scores"] ** 2 * 2 / 3
    exact = weights @ np.exp(2 * grid) * 2 / 3 / weights.sum()
    assert exact > 1.5 * known
    assert (known + exact) / 2 < contrast["standard_error"] ** 2 < 1.05 * exact


def test_few_clusters_leave_out_a_share_of_the_information():
    meat, info, inverse = np.diag([4.0, 1.0]), np.eye(2), np.eye(2) / 2  # one parameter, twice its variance
    assert_allclose(for_few_clusters(meat, info, inverse, 5), 2.5 / 4 * info)
    assert_allclose(for_few_clusters(info / 2, info, inverse, 2), 0.5 * info)


def test_neither_names_nor_the_order_of_presentation_matter(raw, swapped, fitted):
    turned = fit(swapped(raw), "position_aware", "penalised")
    assert_allclose(turned.scores, fitted.scores, atol=1e-6)
    assert_allclose(turned.position, -fitted.position, atol=1e-5)


def test_few_comparisons_are_estimated_better_and_many_as_well():
    truth = draw_truth(generator(5, "truth"), 8, 5, 1.0, 1.0)
    ratio = {}
    for size in (80, 20_000):
        errors = np.zeros(2)
        for seed in range(10):
            cells = draw_comparisons(generator(seed, "data", size), truth, size)
            for way, solver in enumerate(("localized", "penalised")):
                errors[way] += np.mean((fit(cells, solver=solver).solution.parameters.scores - truth.scores) ** 2)
        ratio[size] = errors[0] / errors[1]
    assert ratio[80] > 5
    assert 0.9 < ratio[20_000] < 1.2


def test_a_judge_who_says_little_is_pulled_toward_the_panel_and_not_away_to_shrink_the_scores():
    scores, gamma = np.linspace(-1.5, 1.5, 60), np.array([0.1, 1.0, 1.3, 1.6, 2.0])
    truth = Parameters(scores, np.log(gamma)[None, :]).normalised()
    for seed in range(3):
        cells = draw_comparisons(generator(seed, "little"), truth, 20_000)
        free, shrunk = (fit(cells, solver=solver).discrimination for solver in ("newton", "penalised"))
        assert free.idxmin() == shrunk.idxmin() == "j0000"
        assert free["j0000"] < shrunk["j0000"] < 1


@pytest.mark.parametrize("name", [*GIVEN, "tolerance", "max_iterations"])
def test_settings_that_are_not_positive_are_refused(name):
    with pytest.raises(ConfigError, match=name):
        Penalised(**{name: 0.0})


def test_a_silent_judge_is_still_refused(cells_of):
    with pytest.raises(DataError, match=r"'k'"):
        fit(cells_of(("a", "b", "j", 1, 1), judges=("j", "k")), solver="penalised")


# clusters


def test_what_no_comparison_tells_is_as_unsure_clustered_as_not(cells_of):
    """Two islands: the difference across them is the prior's, and a sandwich must not take it for known."""
    rows = [("a", "b", "j", 30, 20), ("b", "a", "k", 18, 25), ("c", "d", "j", 26, 22), ("d", "c", "k", 15, 30)]
    cells = cells_of(*rows)
    raw = cells.take(np.arange(len(cells)))
    found = fit(raw, "judge_aware", Penalised(scores=1.0, log_discrimination=0.5))
    across = {"a": 0.5, "b": 0.5, "c": -0.5, "d": -0.5}
    plug_in, clustered = (
        result.contrast(across)["standard_error"] for result in (found, found.clustered(raw, np.arange(len(raw))))
    )
    assert plug_in > 0.9  # sqrt(2 / 2) of the prior
    assert clustered > 0.9


# judges that run off


@pytest.fixture(scope="module")
def runaway(simulated) -> Comparisons:
    """One judge who never errs, with few comparisons of all but neighbours."""
    raw = simulated(82, SCORES, (*GAMMA, 1.0), 400)
    right = (raw.judge == K) & (raw.first != raw.second)
    return Comparisons(
        raw.models,
        raw.judges,
        raw.first,
        raw.second,
        raw.judge,
        np.where(right, np.array(SCORES)[raw.first] > np.array(SCORES)[raw.second], raw.outcome).astype(float),
    )


def test_a_judge_that_runs_off_is_shrunk_alone(runaway):
    found = fit(runaway)
    assert found.status is Status.UNBOUNDED
    assert found.unbounded_judges == ("j3",)
    cells = found.comparisons
    # one for ten comparisons by judge and model
    assert found.solution.alone == pytest.approx(np.sqrt(10 * N * (K + 1) / cells.n_comparisons))

    def objective(x):
        alpha = zero_sum_basis(K + 1) @ x[N - 1 :]
        at = Parameters(zero_sum_basis(N) @ x[: N - 1], alpha[None])
        return (
            -evaluate(cells, MODELS["judge_aware"], at).log_likelihood
            + 0.5 * ((alpha[K] - alpha[:K].mean()) / found.solution.alone) ** 2
        )

    best = minimize(objective, np.zeros(N - 1 + K), method="BFGS", options={"gtol": 1e-7})
    assert_allclose(found.scores, zero_sum_basis(N) @ best.x[: N - 1], atol=1e-4)
    assert_allclose(np.log(found.discrimination), zero_sum_basis(K + 1) @ best.x[N - 1 :], atol=1e-4)


def test_everyone_but_the_judge_that_ran_off_has_an_interval(runaway):
    rows = fit(runaway).confidence_intervals().set_index("name")
    assert rows.loc["j3", ["low", "high"]].isna().all()
    assert rows.drop("j3")[["low", "high"]].notna().all(axis=None)
    # the others are known about as well as without that judge, and the scores better
    others = fit(runaway.with_judges(["j0", "j1", "j2"])).confidence_intervals().set_index("name")
    width, alone = (frame["high"] - frame["low"] for frame in (rows, others))
    relative = width[:N] / np.ptp(rows["estimate"][:N]) * np.ptp(others["estimate"][:N]) / alone[:N]
    assert (relative < 1.1).all()


@pytest.mark.parametrize("member", ["judge_aware", "position_aware"])
@pytest.mark.parametrize("n_models", [3, 4, 5])
def test_one_count_far_above_the_others_takes_no_longer(member, n_models, cells_of, monkeypatch):
    """Their log-likelihoods are sums that rounding changes by more than a step near the mode does."""
    looks, look = [], Problem.look
    monkeypatch.setattr(Problem, "look", lambda *given: looks.append(0) or look(*given))
    pairs = [(f"m{i}", f"m{j}") for i in range(n_models) for j in range(i + 1, n_models)]
    rows = [(a, b, f"j{k}", 1, 1) for a, b in pairs for k in range(3)]
    rows[4] = (*rows[4][:3], 100_000, 1)
    assert fit(cells_of(*rows), member, "penalised").status == "shrunk"
    assert len(looks) < 1500  # hundreds; without end where heights alone are trusted


# Standard deviations of shrunk blocks against a second optimiser, on their bounds, and how much they cost.


def drawn(seed: int, n_models: int, n_judges: int, size: int, sd: float, sd_judges: float) -> Comparisons:
    truth = draw_truth(generator(seed, "truth"), n_models, n_judges, sd, sd_judges)
    return draw_comparisons(generator(seed, "data"), truth, size)


CASES = {
    "few": (1, 4, 3, 60, 1.0, 0.5),
    "usual": (2, 8, 6, 1_500, 0.8, 0.6),
    "equal models": (3, 6, 4, 300, 1e-6, 0.5),
    "wide": (4, 10, 8, 4_000, 3.0, 1.5),
    "coin flips": (5, 5, 5, 200, 1e-6, 1e-6),
}


def height(cells: Comparisons, member: str, spread: dict[str, float]) -> float:
    """Log marginal likelihood with the prior of log tau, by a fit with these standard deviations."""
    known = fit(cells, member, Penalised(**spread)).solution.integrated
    return known - 0.5 * np.sum(np.log(list(spread.values())) ** 2)


@pytest.mark.parametrize("member", ["judge_aware", "position_aware"])
@pytest.mark.parametrize("case", CASES)
def test_a_second_optimiser_finds_nothing_higher(case, member):
    cells = drawn(*CASES[case]).aggregate()
    found = dict(fit(cells, member, "penalised").solution.spread)
    assert all(NARROWEST <= tau <= WIDEST for tau in found.values())
    ends = [(np.log(NARROWEST), np.log(WIDEST))] * len(found)

    def falls(log_tau):
        return -height(cells, member, dict(zip(found, np.exp(log_tau).tolist(), strict=True)))

    start = np.log([*found.values()])
    other = minimize(falls, start, method="Nelder-Mead", bounds=ends, options={"xatol": 1e-5, "fatol": 1e-9})
    assert -other.fun - height(cells, member, found) < 1e-7
    assert np.abs(other.x - start).max() < 5e-4


def test_a_standard_deviation_stays_within_its_bounds(monkeypatch):
    """That of much wider scores than the bounds allow is on its bound, and the others' still at the highest."""
    monkeypatch.setattr("judgerank.engine.penalised.WIDEST", 1.5)
    cells = drawn(4, 10, 8, 4_000, 3.0, 1.5).aggregate()
    found = dict(fit(cells, "judge_aware", "penalised").solution.spread)
    assert found["scores"] == pytest.approx(1.5)
    at, step = height(cells, "judge_aware", found), 0.05
    moved = [
        height(cells, "judge_aware", found | {"log_discrimination": found["log_discrimination"] * np.exp(by)})
        for by in (-step, step)
    ]
    slope, curvature = (moved[1] - moved[0]) / (2 * step), (2 * at - sum(moved)) / step**2
    assert found["log_discrimination"] == pytest.approx(1.5) or abs(slope / curvature) < 1e-3


def test_it_takes_few_looks_at_the_comparisons(monkeypatch):
    """They are what a shrunk fit costs."""
    looked, evaluate = [], problem.evaluate
    monkeypatch.setattr(problem, "evaluate", lambda *args, **more: looked.append(1) or evaluate(*args, **more))
    fit(drawn(*CASES["usual"]), "position_aware", "penalised")
    assert len(looked) < 60


def test_where_the_likelihood_curves_upward_the_step_is_by_the_expected_information(monkeypatch):
    """The first climb starts from zeros, where the observed information has negative eigenvalues."""
    asked, look = [], problem.Problem.look

    def looking(self, x, spread, curvature=None):
        asked.append(curvature)
        return look(self, x, spread, curvature)

    monkeypatch.setattr(problem.Problem, "look", looking)
    cells = drawn(*CASES["wide"]).aggregate()
    known = Penalised(scores=1.0, log_discrimination=1.0, position=1.0)
    found = fit(cells, "position_aware", known)
    assert asked.count("expected") > 1  # one is of the marginal likelihood
    assert found.converged


def test_a_rough_mode_and_one_step_are_the_exact_mode():
    cells = drawn(*CASES["usual"]).aggregate()
    model = fit(cells, "position_aware").model
    spread = {"scores": 0.8, "log_discrimination": 0.6, "position": 0.5}
    one = problem.Problem(cells, model)
    zeros = np.zeros(len(one.coordinates.free_columns))
    exact = one.mode(zeros, spread, Penalised(tolerance=1e-13))[0]
    rough = one.mode(zeros, spread, marginal_likelihood.Rough(100))[0]
    assert np.abs(one.near(rough, spread) - exact).max() < 1e-8
    assert 1e2 * np.abs(one.near(rough, spread) - exact).max() < marginal_likelihood.DIFFERENCE


FOUR_SCORES = np.array([1.2, 0.4, -0.4, -1.2])
MODEL = MODELS[DEFAULT]


def votes(seed: int, panel: int = 3, each: int = 60, crowd: int = 80, answers: int = 1) -> Comparisons:
    """A panel of some judges, and a crowd of judges with few answers."""
    rng = np.random.default_rng(seed)
    judge = np.r_[np.repeat(np.arange(panel), each), panel + np.repeat(np.arange(crowd), answers)]
    i = rng.integers(0, 4, len(judge))
    j = (i + rng.integers(1, 4, len(judge))) % 4
    gamma, position = np.exp(np.linspace(-0.5, 0.5, panel)), np.linspace(-0.4, 0.4, panel)
    g, b = np.r_[gamma, np.ones(crowd)][judge], np.r_[position, np.full(crowd, 0.2)][judge]
    won = (rng.random(len(judge)) < expit(g * (FOUR_SCORES[i] - FOUR_SCORES[j]) + b)).astype(float)
    names = tuple("wxyz"), (*(f"judge-{k}" for k in range(panel)), *(f"guest-{k}" for k in range(crowd)))
    return Comparisons(*names, i, j, judge, won)


def bloc(size: int, model: int = 3) -> Comparisons:
    """The panel, and accounts with one vote each, all for one model."""
    honest = votes(1, crowd=size)
    rival = np.array([k for k in range(4) if k != model])[np.arange(len(honest)) % 3]
    guest = honest.judge >= 3
    first = np.arange(len(honest)) % 2 == 0
    i, j = np.where(first, model, rival), np.where(first, rival, model)
    return replace(
        honest,
        first=np.where(guest, i, honest.first),
        second=np.where(guest, j, honest.second),
        outcome=np.where(guest, first, honest.outcome).astype(float),
    )


def table(comparisons: Comparisons, questions: np.ndarray) -> pd.DataFrame:
    return comparisons.to_frame().assign(question_id=questions)


def test_judges_with_few_answers_have_one_label_and_rows_stay():
    raw = votes(0, panel=2, crowd=5, answers=FEW_ANSWERS - 1)
    pooled = raw.pool_few()
    assert pooled.judges == ("judge-0", "judge-1", FEW_JUDGES)
    assert (pooled.first == raw.first).all() and (pooled.outcome == raw.outcome).all()
    assert (pooled.judge == np.minimum(raw.judge, 2)).all() and pooled.pool_few() is pooled
    kept = votes(0, panel=2, crowd=5, answers=FEW_ANSWERS)
    assert kept.pool_few() is kept
    assert raw.pool_few(keep=("guest-3",)).judges == ("judge-0", "judge-1", "guest-3", FEW_JUDGES)
    assert list(pooled.is_pooled) == [False, False, True] == list(pooled.at_mean)


def test_a_judge_whose_answers_tell_no_order_gives_no_mean():
    raw = votes(0, panel=1, crowd=30)
    assert raw.pool_few().at_mean.any()
    always_first = replace(raw, outcome=np.where(raw.judge == 0, 1.0, raw.outcome))
    assert not always_first.pool_few().at_mean.any()
    assert not raw.pool_few().with_judges([FEW_JUDGES]).at_mean.any()


@pytest.mark.parametrize("solver", [SHRUNK, "newton"])
@pytest.mark.parametrize("name", [DEFAULT, "judge_aware", "position_aware_ties"])
def test_their_discrimination_is_the_geometric_mean_of_the_others(solver, name):
    raw = votes(2)
    raw = replace(raw, outcome=np.where(np.arange(len(raw)) % 9 == 0, 0.5, raw.outcome))
    fitted = fit(raw.pool_few(), name, solver)
    own = fitted.discrimination.drop(FEW_JUDGES)
    assert fitted.converged and fitted.discrimination[FEW_JUDGES] == pytest.approx(1)
    assert np.log(own).mean() == pytest.approx(0, abs=1e-9) and own.std() > 0
    assert not fitted._free[0, -1] and fitted._free[0, :-1].all()
    assert fitted.judge_status[FEW_JUDGES] == "pooled"
    assert np.isfinite(fitted.standard_errors[: 4 + 3]).all() and np.isnan(fitted.standard_errors[4 + 3])


def test_it_is_the_maximum_under_that_constraint():
    """No point nearby that keeps to it is higher, by the exact fit's own likelihood."""
    cells = votes(3).pool_few().aggregate()
    fitted = fit(cells, DEFAULT)
    best, rng = fitted.solution.parameters, np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            judges = best.judges + size * rng.normal(size=best.judges.shape)
            judges[0, -1] = 0.0
            judges[0, :-1] -= judges[0, :-1].mean()
            scores = best.scores + size * rng.normal(size=4)
            other = Parameters(scores - scores.mean(), judges)
            assert likelihood(cells, other) < fitted.log_likelihood
    free = fit(replace(cells, judges=(*cells.judges[:-1], "guests")), DEFAULT)
    assert free.log_likelihood >= fitted.log_likelihood


def likelihood(cells: Comparisons, at: Parameters) -> float:
    eta = np.exp(at.judges[0])[cells.judge] * (at.scores[cells.first] - at.scores[cells.second])
    eta = eta + at.judges[1][cells.judge]
    return float(cells.count @ (cells.outcome * eta - np.logaddexp(0, eta)))


def test_the_information_by_blocks_is_that_of_one_matrix():
    cells = votes(4, panel=6, each=40).pool_few().aggregate()
    spread = {"scores": 0.9, "log_discrimination": 0.4, "position": 0.3}
    whole, blocks = Problem(cells, MODEL), BlockProblem(cells, MODEL)
    x = np.zeros(len(whole.coordinates.free_columns))
    modes = [problem.mode(x, spread, Penalised())[0] for problem in (whole, blocks)]
    assert_allclose(*modes, atol=1e-8)
    assert whole.marginal(modes[0], spread) == pytest.approx(blocks.marginal(modes[0], spread), rel=1e-12)


def test_many_accounts_move_a_ranking_hardly_more_than_they_move_bradley_terry():
    """Where each had a discrimination of its own, those of the panel fell to nearly nothing."""
    panel = votes(1, crowd=1)
    before, plain = fit(panel.pool_few(), DEFAULT, SHRUNK).scores, fit(panel, "btl").scores
    for size in (40, 120):
        shared, equal = fit(bloc(size).pool_few(), DEFAULT, SHRUNK), fit(bloc(size), "btl")
        assert shared.ranks.idxmin() == equal.ranks.idxmin() == "w"
        assert abs(shared.scores - before).max() < 1.5 * abs(equal.scores - plain).max()
    own = fit(bloc(120), DEFAULT, SHRUNK)
    assert own.ranks.idxmin() == "z"


LAYOUTS = {
    "one vote a judge": lambda frame: frame.assign(judge_model=[f"p{k}" for k in range(len(frame))]),
    "two votes a judge": lambda frame: frame.assign(judge_model=[f"p{k // 2}" for k in range(len(frame))]),
    "judges within questions": lambda frame: frame.assign(
        question_id=[f"q{k // 6}" for k in range(len(frame))],
        judge_model=[f"q{k // 6}-p{k % 3}" for k in range(len(frame))],
    ),
}


@pytest.mark.parametrize("columns", ["paper", "arena", "one-hot"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", [0, 1])
def test_where_nobody_has_ten_answers_a_ranking_is_that_of_equal_weights(layout, columns, seed):
    raw = votes(seed, panel=2, each=90, crowd=0)
    frame = LAYOUTS[layout](table(raw, [f"q{k}" for k in range(len(raw))]))
    given = frame
    if columns == "arena":
        winner = frame["judge_preferred_model"].map({"a": "model_a", "b": "model_b"})
        given = frame.drop(columns=["judge_preferred_model"]).assign(winner=winner)
        given = given.rename(columns={"judge_model": "judge"})
    elif columns == "one-hot":
        hot = {f"winner_model_{x}": (frame["judge_preferred_model"] == x).astype(int) for x in "ab"}
        given = frame.drop(columns="judge_preferred_model").assign(**hot, winner_tie=0)
    ranking = rank(given)
    one_judge = fit(raw.pool_judges(), "position_only", SHRUNK)
    assert_allclose(ranking.fit.scores, one_judge.scores, rtol=1e-6)
    assert list(ranking.fit.ranks) == list(fit(raw, "btl").ranks)
    assert ranking.judgments.n_judges == frame["judge_model"].nunique()
    assert "members" in ranking.tables and ranking.tables["pairs"]["separated"].notna().all()


def test_a_ranking_says_so_and_its_table_has_one_row_for_them(tmp_path):
    raw = votes(5)
    ranking = rank(table(raw, [f"q{k}" for k in range(len(raw))]))
    judges = ranking.tables["judges"].set_index("judge")
    assert list(judges.index.sort_values()) == sorted(["judge-0", "judge-1", "judge-2", FEW_JUDGES])
    assert judges.loc[FEW_JUDGES, "verdict"] == TOO_FEW and judges.loc[FEW_JUDGES, "status"] == "pooled"
    (remark,) = (text for text in ranking.remarks if text.startswith("80 judges with fewer than 10 answers"))
    assert "discrimination" in remark
    assert not any(FEW_JUDGES in text for text in verdict(ranking).warnings)
    assert FEW_JUDGES not in set(ranking.tables["next"]["judge_model"])
    ranking.write(tmp_path / "out")
    save(ranking.fit, tmp_path / "board.npz")
    board = load(tmp_path / "board.npz")
    assert_allclose(board.discrimination, ranking.fit.discrimination)


def test_new_votes_on_a_board_count_with_those_of_its_judges_with_few_answers():
    from judgerank.boards.moving import place

    raw = votes(6)
    board = fit(raw.pool_few(), DEFAULT, SHRUNK)
    frame = (
        votes(7, panel=1, each=40, crowd=30).to_frame().replace({"model_a": {"z": "new"}, "model_b": {"z": "new"}})
    )
    frame["judge_model"] = frame["judge_model"].str.replace("guest", "other")
    placed = place(board, Comparisons.from_frame(frame))
    (without_newcomer,) = placed.anchored.left_out.values()
    assert without_newcomer == (frame[["model_a", "model_b"]] != "new").all(axis=1).sum()


def test_a_bloc_is_named_with_the_ranking_without_it():
    frame = bloc(120).to_frame()
    ranking = rank(frame)
    (remark,) = (text for text in ranking.remarks if text.startswith(ONE_SIDED))
    assert "120 judges" in remark and "chose z in 100%" in remark and "w still has the highest score" in remark
    assert remark.removeprefix(ONE_SIDED) in verdict(ranking).warnings
    judges = ranking.tables["judges"].set_index("judge")
    assert judges.loc[FEW_JUDGES, "verdict"] == TOO_FEW
    (group,) = one_sided(bloc(120).pool_few(), MODEL)
    assert group.model == "z" and group.share == 1 and group.expected < 0.4 and group.first == "w"


def test_an_honest_crowd_is_not_accused():
    accused = [one_sided(votes(seed, answers=1 + seed % 3).pool_few(), MODEL) for seed in range(20)]
    assert not any(accused)


def test_accounts_with_many_votes_for_one_model_are_one_group():
    raw = bloc(60)
    ten = replace(
        raw,
        judges=(*raw.judges[:3], *(f"fan-{k}" for k in range(6))),
        judge=np.where(raw.judge < 3, raw.judge, 3 + raw.judge % 6),
    )
    (group,) = one_sided(ten.pool_few(), MODEL)
    assert group.judges == tuple(f"fan-{k}" for k in range(6)) and group.model == "z"


def test_no_study_ends_a_ranking(monkeypatch):
    raw = votes(8)

    def refuses(*_):
        raise DataError("there is nothing to see")

    monkeypatch.setattr(coverage, "left_out", refuses)
    monkeypatch.setattr(one_sided_votes, "of_component", lambda _: np.linalg.inv(np.zeros((2, 2))))
    remarks = rank(raw.to_frame()).remarks
    assert any("left out" in text and "there is nothing to see" in text for text in remarks)
    assert any("one sided votes" in text and "Singular" in text for text in remarks)


def test_faults_of_the_code_are_raised_and_so_are_those_of_the_ranking_itself(monkeypatch):
    raw = votes(8).to_frame()
    monkeypatch.setattr(coverage, "left_out", lambda _: [].missing)
    with pytest.raises(AttributeError):
        rank(raw)
    monkeypatch.undo()

    def refuses(_):
        raise DataError("no board")

    monkeypatch.setattr(leaderboards, "leaderboard", refuses)
    with pytest.raises(DataError):
        rank(raw)
    assert studies.REQUIRED[0] == "leaderboard"


def test_records_marked_as_not_counting_are_refused_until_it_is_said_whether_they_count():
    frame = votes(9).to_frame()
    marked = frame.assign(anony=np.arange(len(frame)) >= 80, is_refusal=False, archived=[None] * len(frame))
    with pytest.raises(DataError, match="anony"):
        read(marked)
    (warning,) = read(marked, columns={"valid": None}).warnings
    assert f"80 of {len(frame)} records" in warning and "anony" in warning
    assert len(read(marked, columns={"valid": "anony"}).frame) == len(frame) - 80
    assert not read(frame.assign(anony=True)).warnings
    nested = frame.assign(dedup_tag=[{"sampled": k > 4} for k in range(len(frame))])
    (warning,) = read(nested, columns={"valid": None}).warnings
    assert "5 of" in warning and "dedup_tag.sampled" in warning
