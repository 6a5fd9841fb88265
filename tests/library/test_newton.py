"""The exact solver against closed forms, scipy, a grid over all directions of the scores, and symmetries."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import null_space
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from judgerank import Comparisons, Status, fit
from judgerank.data.errors import JudgerankError
from judgerank.engine.boundary import Bound
from judgerank.engine.likelihood import evaluate
from judgerank.engine.newton import Newton, _line_search, newton_step
from judgerank.engine.search import maximise
from judgerank.engine.solution import unerring_judges
from judgerank.model.members import BTL, JUDGE_AWARE, LENGTH, Parameters

EXACT = Newton()
FAMILY = pytest.mark.parametrize("model", [BTL, JUDGE_AWARE, LENGTH], ids=lambda model: model.name)
SCORES, GAMMA, SLOPE = (1.2, 0.3, -0.5, -1.0), (0.5, 1.0, 2.0), (0.3, -0.2, 0.1)
# a relative gradient of 1e-10 of a log-likelihood near 500 over an information above 5
SAME = {"rtol": 0, "atol": 1e-8}


@pytest.fixture(scope="module")
def cells(simulated) -> Comparisons:
    """Four models and three good judges: an interior maximum for every member of the family."""
    return simulated(11, SCORES, GAMMA, 900, slope=SLOPE, ties=0.05).aggregate()


@pytest.fixture(scope="module", params=[(0, 0.0), (1, -0.3), (2, -0.6), (5, 0.05)], ids=str)
def boundary(request, simulated) -> Comparisons:
    """Two good judges, and a last one that guesses or is contrarian."""
    seed, gamma = request.param
    return simulated(seed, (1.0, 0.1, -1.1), (1.0, 0.7, gamma), 400).aggregate()


def objective(cells: Comparisons, scores, gamma, slope=None):
    """Log-likelihood and its gradient in (s, gamma, beta), written without the package."""
    z = np.zeros(len(cells)) if slope is None else cells.covariate
    h = np.exp((np.zeros(len(gamma)) if slope is None else slope)[cells.judge] * z)
    d = scores[cells.first] - scores[cells.second]
    eta = gamma[cells.judge] * h * d
    y, n = cells.outcome, cells.count
    value = np.sum(n * (y * log_expit(eta) + (1 - y) * log_expit(-eta)))
    residual = n * (y - expit(eta))
    models = np.zeros(len(scores))
    np.add.at(models, cells.first, residual * gamma[cells.judge] * h)
    np.subtract.at(models, cells.second, residual * gamma[cells.judge] * h)
    judges, slopes = np.zeros(len(gamma)), np.zeros(len(gamma))
    np.add.at(judges, cells.judge, residual * h * d)
    np.add.at(slopes, cells.judge, residual * eta * z)
    return value, models, judges, slopes


def scipy_interior(cells: Comparisons, model) -> Parameters:
    """BFGS over zero-sum scores, zero-sum alpha and free slopes."""
    n, k, blocks = len(cells.models), len(cells.judges), len(model.judge_blocks)
    for_scores, for_alpha = null_space(np.ones((1, n))), null_space(np.ones((1, k)))
    cuts = np.cumsum([n - 1, (k - 1) * (blocks > 0)])

    def parts(x):
        u, v, beta = np.split(x, cuts)
        return for_scores @ u, np.exp(for_alpha @ v) if blocks else np.ones(k), beta if blocks > 1 else None

    def loss(x):
        scores, gamma, beta = parts(x)
        value, models, judges, slopes = objective(cells, scores, gamma, beta)
        to_alpha, to_beta = for_alpha.T @ (judges * gamma), slopes
        return -value, -np.r_[for_scores.T @ models, *(to_alpha, to_beta)[:blocks]]

    start = np.zeros(cuts[1] + (blocks > 1) * k)
    start[: n - 1] = 0.1 * np.arange(1, n)
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 1000})
    scores, gamma, beta = parts(found.x)
    return Parameters(scores, np.array([np.log(gamma), beta][:blocks], float).reshape(blocks, k))


def scipy_closed(cells: Comparisons, scores, gamma, slope=None) -> float:
    """Log-likelihood that L-BFGS-B over gamma >= 0 (and slopes within five) reaches from a start."""
    cuts = np.cumsum([len(scores), len(gamma)])

    def loss(x):
        scores, gamma, beta = np.split(x, cuts)
        value, models, judges, slopes = objective(cells, scores, gamma, None if slope is None else beta)
        return -value, -np.r_[models, judges, slopes[: len(beta)]]

    start = np.r_[scores, gamma, [] if slope is None else slope]
    bounds = np.repeat([[-np.inf, np.inf], [0, np.inf], [-5, 5]], np.diff([0, *cuts, len(start)]), axis=0)
    options = {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-9}
    return -minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options).fun


def best_over_directions(cells: Comparisons, size: int = 720) -> float:
    """Maximum for three models: a grid of score directions, and each judge's best gamma >= 0 on each."""
    angle = np.linspace(0, 2 * np.pi, size, endpoint=False)
    scores = np.c_[np.cos(angle), np.sin(angle)] @ null_space(np.ones((1, 3))).T
    d = scores[:, cells.first] - scores[:, cells.second]
    of_judge = np.eye(len(cells.judges))[cells.judge]
    low, high = np.zeros((size, len(cells.judges))), np.full((size, len(cells.judges)), 100.0)
    for _ in range(50):  # bisection: the slope in gamma falls, and where it never was positive low stays zero
        middle = (low + high) / 2
        slope = (cells.count * (cells.outcome - expit(middle[:, cells.judge] * d)) * d) @ of_judge
        low, high = np.where(slope > 0, middle, low), np.where(slope > 0, high, middle)
    eta = low[:, cells.judge] * d
    y = cells.outcome
    return float(np.max((cells.count * (y * log_expit(eta) + (1 - y) * log_expit(-eta))).sum(axis=1)))


def gamma_of(at: Parameters) -> np.ndarray:
    return np.exp(at.judges[0]) if len(at.judges) else np.ones(at.judges.shape[1])


def assert_stationary(cells: Comparisons, at: Parameters) -> None:
    """The Karush-Kuhn-Tucker conditions over gamma >= 0, by this file's own gradient."""
    gamma, slope = gamma_of(at), at.judges[1] if len(at.judges) > 1 else None
    value, models, judges, slopes = objective(cells, at.scores, gamma, slope)
    size = max(1.0, abs(value))
    assert np.abs(models).max() <= 1e-8 * size
    if len(at.judges):
        assert np.abs(judges * gamma).max() <= 1e-8 * size
        # at zero eta vanishes, so this derivative is the slope at zero; of a judge whose answers
        # cancel it is zero but for rounding, on either side
        assert judges[gamma == 0].max(initial=0.0) <= 1e-14 * size
    if len(at.judges) > 1:
        assert np.abs(slopes).max() <= 1e-8 * size


def assert_same_point(one: Parameters, other: Parameters, **tolerance) -> None:
    assert_allclose(one.scores, other.scores, **tolerance)
    assert_allclose(gamma_of(one), gamma_of(other), **tolerance)
    assert_allclose(one.judges[1:], other.judges[1:], **tolerance)


# closed forms


@pytest.mark.parametrize(("wins", "losses"), [(75, 25), (1, 999), (500, 500), (0.5, 0.25)])
def test_btl_of_two_models_is_the_logit_of_the_share(cells_of, wins, losses):
    found = maximise(cells_of(("a", "b", "x", wins, losses)), BTL, EXACT).parameters.scores
    assert_allclose(found[0] - found[1], logit(wins / (wins + losses)), rtol=0, atol=1e-7)


def test_two_models_give_each_judge_the_logit_of_its_share(cells_of):
    shares = np.array([0.6, 0.9, 0.75])
    rows = [("a", "b", judge, 100 * p, 100 * (1 - p)) for judge, p in zip("xyz", shares, strict=True)]
    found = maximise(cells_of(*rows), JUDGE_AWARE, EXACT)
    # gamma_k d = logit(share_k), and the geometric mean of gamma is one
    d = np.exp(np.log(logit(shares)).mean())
    assert found.status is Status.INTERIOR
    assert_allclose(found.parameters.scores, [d / 2, -d / 2], **SAME)
    assert_allclose(gamma_of(found.parameters), logit(shares) / d, **SAME)


def test_two_models_put_a_contrarian_judge_at_zero(cells_of):
    shares = np.array([0.6, 0.9, 0.3])
    rows = [("a", "b", judge, 100 * p, 100 * (1 - p)) for judge, p in zip("xyz", shares, strict=True)]
    found = maximise(cells_of(*rows), JUDGE_AWARE, EXACT)
    d = np.sqrt(np.prod(logit(shares[:2])))
    assert found.status is Status.BOUNDARY
    assert_allclose(found.parameters.scores, [d / 2, -d / 2], **SAME)
    assert_allclose(gamma_of(found.parameters), [*(logit(shares[:2]) / d), 0.0], **SAME)
    entropy = -100 * (shares * np.log(shares) + (1 - shares) * np.log(1 - shares))
    expected = -entropy[:2].sum() - 100 * np.log(2)
    assert_allclose(found.evaluation.log_likelihood, expected, rtol=1e-13)


def test_a_balanced_cycle_scores_all_models_alike(cells_of):
    cells = cells_of(("a", "b", "x", 3, 1), ("b", "c", "x", 3, 1), ("c", "a", "x", 3, 1))
    assert_allclose(maximise(cells, BTL, EXACT).parameters.scores, np.zeros(3), **SAME)


# scipy


@FAMILY
def test_the_maximum_is_that_of_scipy(cells, model):
    found = maximise(cells.aggregate(), model, EXACT)
    assert found.status is Status.INTERIOR
    assert_stationary(cells, found.parameters)
    # BFGS stops at a gradient of 1e-7, over an information above 5
    assert_same_point(found.parameters, scipy_interior(cells, model), rtol=0, atol=1e-6)


@FAMILY
def test_the_log_likelihood_is_that_of_the_parameters(cells, model, log_likelihood):
    found = maximise(cells, model, EXACT)
    at = found.parameters
    slope = at.judges[1] if model.has_slope else None
    expected = log_likelihood(cells, at.scores, gamma_of(at), slope)
    assert_allclose(found.evaluation.log_likelihood, expected, rtol=1e-13)


@FAMILY
def test_the_solution_is_normalised(cells, model):
    at = maximise(cells, model, EXACT).parameters
    assert abs(at.scores.sum()) < 1e-13
    assert abs(np.log(gamma_of(at)).sum()) < 1e-13


# the boundary


def test_a_guessing_or_contrarian_judge_is_put_at_zero(boundary):
    found = maximise(boundary, JUDGE_AWARE, EXACT)
    assert found.status is Status.BOUNDARY
    assert found.parameters.in_play.tolist() == [True, True, False]
    assert found.parameters.judges[0, 2] == -np.inf
    assert abs(found.parameters.judges[0, :2].sum()) < 1e-13


def test_the_boundary_meets_the_kkt_conditions(boundary):
    found = maximise(boundary, JUDGE_AWARE, EXACT)
    assert found.evaluation.slope_at_zero[2] <= 0
    assert_stationary(boundary, found.parameters)


def test_a_judge_at_zero_has_no_say_in_the_scores(boundary):
    found = maximise(boundary, JUDGE_AWARE, EXACT).parameters
    others = maximise(boundary.with_judges(["j0", "j1"]), JUDGE_AWARE, EXACT).parameters
    assert_allclose(found.scores, others.scores, **SAME)
    assert_allclose(gamma_of(found)[:2], gamma_of(others), **SAME)


def test_the_boundary_log_likelihood_is_that_of_bounded_lbfgs(boundary):
    found = maximise(boundary, JUDGE_AWARE, EXACT).evaluation.log_likelihood
    rng = np.random.default_rng(5)
    reached = [scipy_closed(boundary, rng.normal(size=3), rng.uniform(0, 2, 3)) for _ in range(8)]
    # L-BFGS-B stops when the relative change is near rounding: about 1e-9 of a log-likelihood near 250
    assert_allclose(max(reached), found, rtol=1e-9)
    assert max(reached) <= found + 1e-9


def test_no_direction_of_the_scores_beats_the_boundary(boundary):
    found = maximise(boundary, JUDGE_AWARE, EXACT).evaluation.log_likelihood
    best = best_over_directions(boundary)
    # half a grid step is an angle of 0.0044; the curvature there is below 1000
    assert found - 1e-2 < best <= found + 1e-10


@pytest.mark.parametrize("model", [JUDGE_AWARE, LENGTH], ids=lambda model: model.name)
def test_no_random_start_of_bounded_lbfgs_ends_higher(cells, model):
    found = maximise(cells, model, EXACT).evaluation.log_likelihood
    rng = np.random.default_rng(6)
    slope = np.zeros(3) if model.has_slope else None
    reached = [scipy_closed(cells, rng.normal(size=4), rng.uniform(0, 2, 3), slope) for _ in range(10)]
    assert_allclose(max(reached), found, rtol=1e-9)
    assert max(reached) <= found + 1e-9


@FAMILY
def test_a_start_nearby_ends_at_the_same_maximum(cells, model):
    found = maximise(cells, model, EXACT).parameters
    rng = np.random.default_rng(7)
    for _ in range(5):
        scores = 0.7 * found.scores + 0.2 * rng.normal(size=4)
        start = Parameters(scores, found.judges + 0.2 * rng.normal(size=found.judges.shape))
        again = maximise(cells, model, EXACT, start)
        assert again.status is Status.INTERIOR
        assert_same_point(again.parameters, found, **SAME)


def test_no_random_start_ends_higher_than_the_boundary(boundary):
    found = maximise(boundary, JUDGE_AWARE, EXACT)
    rng = np.random.default_rng(8)
    for _ in range(10):
        start = Parameters(found.parameters.scores + rng.normal(size=3), 0.5 * rng.normal(size=(1, 3)))
        again = maximise(boundary, JUDGE_AWARE, EXACT, start)
        assert again.evaluation.log_likelihood <= found.evaluation.log_likelihood + 1e-9


@pytest.mark.parametrize("model", [JUDGE_AWARE, LENGTH], ids=lambda model: model.name)
def test_a_good_judge_that_starts_at_zero_is_taken_back(cells, model):
    found = maximise(cells, model, EXACT).parameters
    judges = found.judges.copy()
    judges[0, 1] = -np.inf
    again = maximise(cells, model, EXACT, Parameters(found.scores, judges))
    assert again.status is Status.INTERIOR
    assert_same_point(again.parameters, found, **SAME)


def test_a_bad_judge_that_starts_in_play_is_put_at_zero(boundary):
    found = maximise(boundary, JUDGE_AWARE, EXACT).parameters
    judges = found.judges.copy()
    judges[0, 2] = 1.0
    again = maximise(boundary, JUDGE_AWARE, EXACT, Parameters(found.scores, judges))
    assert again.status is Status.BOUNDARY
    assert_same_point(again.parameters, found, **SAME)


@pytest.mark.parametrize("start_slope", [None, 0.5])
def test_a_judge_at_zero_has_no_slope(simulated, start_slope):
    cells = simulated(8, SCORES, (1.0, 1.5, -1.0), 900, slope=SLOPE).aggregate()
    start = start_slope and Parameters(np.array(SCORES), np.full((2, 3), [[0.0], [start_slope]]))
    found = maximise(cells, LENGTH, EXACT, start)
    assert found.status is Status.BOUNDARY
    assert found.parameters.judges[:, 2].tolist() == [-np.inf, 0.0]
    assert_stationary(cells, found.parameters)


@pytest.mark.parametrize("half", [500, 5_000, 50_000])
def test_a_barely_positive_judge_stays_in_play(cells_of, half):
    # slope at zero: half a win in thousands
    weak = [("a", "b", "w", half + 0.5, half - 0.5), ("b", "c", "w", half, half), ("a", "c", "w", half, half)]
    good = [("a", "b", "x", 70, 30), ("b", "c", "x", 65, 35), ("a", "c", "x", 80, 20)]
    cells = cells_of(*good, *weak)
    found = maximise(cells, JUDGE_AWARE, EXACT)
    assert found.status is Status.INTERIOR
    assert 0 < gamma_of(found.parameters)[0] / gamma_of(found.parameters)[1] < 1 / half
    assert found.iterations <= 10
    assert_stationary(cells, found.parameters)
    judges = found.parameters.judges.copy()
    judges[0, 0] = -np.inf
    again = maximise(cells, JUDGE_AWARE, EXACT, Parameters(found.parameters.scores, judges))
    assert again.status is Status.INTERIOR  # as soon as the slope at zero is above the tolerance
    assert_same_point(again.parameters, found.parameters, **SAME)


def test_every_newton_step_goes_uphill(cells):
    rng = np.random.default_rng(7)
    for _ in range(200):
        at = Parameters(rng.normal(size=4), rng.normal(size=(1, 3))).normalised()
        here = evaluate(cells, JUDGE_AWARE, at, "observed")
        step = newton_step(cells, JUDGE_AWARE, at, here)
        assert here.top_gradient @ step.scores + np.sum(here.judge_gradient * step.judges) > 0


# no maximum


def agreeing(cells_of, *judges: str):
    good = [("a", "b", "x", 70, 30), ("b", "c", "x", 65, 35), ("a", "c", "x", 80, 20)]
    other = [("a", "b", "y", 60, 40), ("b", "c", "y", 75, 25), ("a", "c", "y", 85, 15)]
    firm = [row for j in judges for row in (("a", "b", j, 6, 0), ("c", "b", j, 0, 5), ("a", "c", j, 7, 0))]
    return cells_of(*good, *other, *firm)


@pytest.mark.parametrize("judges", ["f", "fz"])
def test_a_judge_that_always_agrees_is_unbounded_and_named(cells_of, judges):
    cells = agreeing(cells_of, *judges)
    found = maximise(cells, JUDGE_AWARE, EXACT)
    assert found.status is Status.UNBOUNDED
    assert not found.status.converged
    assert "".join(cells.judges[k] for k in found.unbounded_judges) == judges


def test_one_disagreement_makes_the_maximum_finite(cells_of):
    cells = agreeing(cells_of, "f")
    outcome = np.where((cells.judge == 0) & (cells.first == 0) & (cells.second == 1), 5 / 6, cells.outcome)
    found = maximise(replace(cells, outcome=outcome), JUDGE_AWARE, EXACT)
    assert found.status is Status.INTERIOR
    assert_stationary(replace(cells, outcome=outcome), found.parameters)


def test_separated_judges_are_those_that_never_disagree_with_the_scores(cells_of, monkeypatch):
    cells = cells_of(
        *(("a", "b", "agrees", 1, 0), ("c", "b", "agrees", 0, 2)),
        *(("a", "b", "ties", 1, 0), ("b", "c", "ties", 1, 1)),
        *(("b", "a", "opposes", 1, 0), ("c", "b", "opposes", 1, 0)),
        ("c", "a", "at zero", 0, 1),
        ("b", "a", "also agrees", 0, 3),
    )
    judges = np.where([name == "at zero" for name in cells.judges], -np.inf, 0.0)
    at = Parameters(np.array([1.0, 0.0, -1.0]), judges[None])
    for chunk in (1, 3, 1 << 14):
        monkeypatch.setattr("judgerank.engine.solution.CHUNK", chunk)
        named = [cells.judges[k] for k in unerring_judges(cells, JUDGE_AWARE, at)]
        assert named == ["agrees", "also agrees"]
    assert unerring_judges(cells, BTL, Parameters(at.scores, np.zeros((0, 5)))) == ()


def test_an_unfinished_fit_says_so(cells):
    found = maximise(
        cells, JUDGE_AWARE, Newton(max_iterations=1), Parameters(3 * np.array(SCORES), np.zeros((1, 3)))
    )
    assert found.status is Status.ITERATION_LIMIT
    assert not found.status.converged
    assert found.evaluation.relative_gradient > EXACT.tolerance


def test_only_what_ended_at_a_maximum_or_by_the_published_rule_has_converged():
    assert all(Status(name).converged for name in ("interior", "boundary", "stopping_rule"))
    assert not any(Status(name).converged for name in ("unbounded", "iteration_limit"))


# symmetries


def relabelled(cells: Comparisons, models, judges) -> Comparisons:
    """Models and judges under new numbers: model i becomes models[i]."""
    names = [None] * len(cells.models), [None] * len(cells.judges)
    for new, old in zip(names, (cells.models, cells.judges), strict=True):
        for label, place in zip(old, models if new is names[0] else judges, strict=True):
            new[place] = label
    columns = models[cells.first], models[cells.second], judges[cells.judge]
    return Comparisons(*map(tuple, names), *columns, cells.outcome, cells.count, cells.covariate).aggregate()


@FAMILY
def test_relabelling_permutes_the_result(cells, model):
    models, judges = np.array([2, 0, 3, 1]), np.array([1, 2, 0])
    one = maximise(cells, model, EXACT)
    other = maximise(relabelled(cells, models, judges), model, EXACT)
    back = Parameters(other.parameters.scores[models], other.parameters.judges[:, judges])
    assert_same_point(back, one.parameters, **SAME)
    assert_allclose(other.evaluation.log_likelihood, one.evaluation.log_likelihood, rtol=1e-13)


@FAMILY
def test_presentation_order_changes_nothing(cells, model, swapped):
    one, other = (maximise(rows.aggregate(), model, EXACT) for rows in (cells, swapped(cells)))
    assert_same_point(one.parameters, other.parameters, **SAME)


def test_presentation_order_changes_nothing_on_the_boundary(boundary, swapped):
    one, other = (maximise(rows.aggregate(), JUDGE_AWARE, EXACT) for rows in (boundary, swapped(boundary)))
    assert_same_point(one.parameters, other.parameters, **SAME)


@FAMILY
def test_doubling_all_counts_changes_no_estimate(cells, model):
    one, other = (maximise(rows, model, EXACT) for rows in (cells, replace(cells, count=2 * cells.count)))
    assert_same_point(one.parameters, other.parameters, **SAME)
    assert_allclose(other.evaluation.log_likelihood, 2 * one.evaluation.log_likelihood, rtol=1e-13)


@FAMILY
def test_a_start_at_the_maximum_needs_no_step(cells, model):
    found = maximise(cells, model, EXACT)
    again = maximise(cells, model, EXACT, found.parameters)
    assert again.iterations == 0
    assert_array_equal(again.parameters.scores, found.parameters.scores - found.parameters.scores.mean())


def test_reversing_all_answers_reverses_the_unweighted_scores(cells):
    reversed_ = replace(cells, outcome=1 - cells.outcome)
    one, other = (maximise(rows, BTL, EXACT).parameters.scores for rows in (cells, reversed_))
    assert_allclose(other, -one, **SAME)


# many small panels


def small_panel(seed, simulated) -> Comparisons:
    """2 to 6 models, 1 to 5 judges of any quality, 10 to 80 rows, a tenth of them ties."""
    rng = np.random.default_rng(seed)
    n, k, size = rng.integers(2, 7), rng.integers(1, 6), rng.integers(10, 81)
    return simulated(seed + 1000, rng.normal(size=n), rng.normal(0.6, 0.8, k), size, ties=0.1).aggregate()


def test_small_panels_end_in_a_maximum_or_in_a_named_way(simulated):
    ends = Counter()
    for seed in range(150):
        cells = small_panel(seed, simulated)
        try:
            found = fit(cells)
        except JudgerankError as error:
            ends[type(error).__name__] += 1
            continue
        ends[found.status] += 1
        if found.converged:
            at = found.solution.parameters
            assert_stationary(cells, at)
            assert (found.status is Status.INTERIOR) == at.in_play.all()
    assert ends[Status.INTERIOR] > 35
    assert ends[Status.BOUNDARY] > 30


def test_no_point_near_the_maximum_of_a_small_panel_is_higher(simulated):
    rng = np.random.default_rng(9)
    for seed in range(60):
        cells = small_panel(seed, simulated)
        try:
            found = fit(cells)
        except JudgerankError:
            continue
        if found.converged:
            scores, gamma = found.scores.to_numpy(), found.discrimination.to_numpy()
            shaken = scores + 0.02 * rng.normal(size=len(scores)), gamma * rng.uniform(0.98, 1.02, len(gamma))
            assert scipy_closed(cells, *shaken) <= found.log_likelihood + 1e-8


def test_a_step_may_fall_by_rounding_and_by_no_more():
    """At a maximum every step falls; one a thousand times rounding is not taken."""
    rng = np.random.default_rng(3)
    i, j = np.array([rng.permutation(5)[:2] for _ in range(4000)]).T
    k, s, gamma = rng.integers(3, size=4000), np.linspace(1, -1, 5), np.array([0.5, 1.0, 2.0])
    y = (rng.random(4000) < expit(gamma[k] * (s[i] - s[j]))).astype(float)
    names = tuple(f"m{x}" for x in range(5)), tuple(f"j{x}" for x in range(3))
    found = fit(Comparisons(*names, i, j, k, y))
    cells, at = found.comparisons, found.solution.parameters
    here = evaluate(cells, JUDGE_AWARE, at, "observed")
    step = Parameters(1e-4 * rng.normal(size=5), np.zeros((1, 3)))
    tried = evaluate(cells, JUDGE_AWARE, Parameters(at.scores + step.scores, at.judges)).log_likelihood
    assert tried < here.log_likelihood - 1e-10 * abs(here.log_likelihood)
    _, there = _line_search(cells, JUDGE_AWARE, at, here, step, Bound(-1.0, 1.0))
    assert there.log_likelihood >= here.log_likelihood - 1e-12 * abs(here.log_likelihood)
