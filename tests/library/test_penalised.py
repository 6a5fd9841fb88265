"""Shrinkage: the penalised maximum against a general optimiser, its limits, and the choice of its strength."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from judgerank import Comparisons, Status, fit
from judgerank.data.errors import ConfigError, DataError, NoMaximumError
from judgerank.engine import marginal_likelihood, problem
from judgerank.engine.information import information, zero_sum_basis
from judgerank.engine.likelihood import evaluate
from judgerank.engine.penalised import NARROWEST, WIDEST, Penalised
from judgerank.engine.penalty import WIDE, penalty
from judgerank.engine.problem import Problem
from judgerank.inference.clusters import for_few_clusters
from judgerank.model.members import BTL, MODELS, Parameters
from judgerank.model.streams import generator
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
    problem = Problem(fitted.working_comparisons, fitted.model)
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
