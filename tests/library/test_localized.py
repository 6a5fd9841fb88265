"""The paper's own solvers: a likelihood over a box, and Algorithm A.1 with its projection and stopping rule."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from judgerank import Comparisons, Status, fit
from judgerank.data.errors import ConfigError, DataError, DisconnectedError, NoMaximumError
from judgerank.engine import adam as algorithm
from judgerank.engine import newton, search
from judgerank.engine.adam import Adam, iterates, maximise_each
from judgerank.engine.likelihood import evaluate, gradient
from judgerank.engine.localized import Localized, maximise
from judgerank.engine.newton import Newton
from judgerank.engine.rows import PlainRows, side_by_side
from judgerank.model.members import BTL, JUDGE_AWARE, LENGTH, Parameters

SCORES, GAMMA = (1.2, 0.3, -0.5, -1.0), (0.5, 1.0, 2.0)
# a relative gradient of 1e-10 of a log-likelihood near 500 over an information above 5
SAME = {"rtol": 0, "atol": 1e-8}


@pytest.fixture(scope="module")
def cells(simulated) -> Comparisons:
    """Four models and three good judges: a maximum well inside the default box."""
    return simulated(11, SCORES, GAMMA, 900, ties=0.05).aggregate()


BOX = Localized(4.0, 1.5)
GOOD = [("a", "b", "x", 70, 30), ("b", "c", "x", 65, 35), ("a", "c", "x", 80, 20)]
OTHER = [("a", "b", "y", 60, 40), ("b", "c", "y", 75, 25), ("a", "c", "y", 85, 15)]
APART = [("d", "e", "x", 7, 2), ("d", "e", "y", 5, 1)]
NO_MAXIMUM_INSIDE = {
    "a contrarian judge": [("a", "b", "z", 30, 70), ("b", "c", "z", 40, 60), ("a", "c", "z", 35, 65)],
    "a judge that guesses": [("a", "b", "z", 50, 50), ("b", "c", "z", 49, 51), ("a", "c", "z", 50, 50)],
    "a consistent judge": [("a", "b", "z", 6, 0), ("b", "c", "z", 5, 0), ("a", "c", "z", 7, 0)],
    "two consistent judges": [row for z in "vz" for row in (("a", "b", z, 6, 0), ("b", "c", z, 5, 0))],
    "a model that wins everything": [("w", "a", "x", 3, 0), ("w", "b", "y", 4, 0)],
    "a model that loses everything": [("l", "a", "x", 0, 3), ("l", "b", "y", 0, 4)],
    "groups that only a contrarian links": [
        *APART,
        ("a", "b", "z", 2, 8),
        ("d", "e", "z", 3, 7),
        ("c", "d", "z", 1, 1),
    ],
    "groups of which one wins": [*APART, ("c", "d", "x", 1, 0)],
    "groups without a link": [*APART, ("f", "e", "x", 2, 0)],
}


@pytest.fixture(params=NO_MAXIMUM_INSIDE)
def open_ended(request, cells_of) -> Comparisons:
    """Three models, two good judges, and what leaves BOX without a maximum inside."""
    return cells_of(*GOOD, *OTHER, *NO_MAXIMUM_INSIDE[request.param])


def large_panel(seed, simulated) -> Comparisons:
    """2 to 5 models, 1 to 4 judges better than guessing, and rows enough for a single maximum over a box.

    With fewer rows the likelihood has several, and no local method finds the highest one every time.
    """
    rng = np.random.default_rng(seed)
    n, k = rng.integers(2, 6), rng.integers(1, 5)
    size = int(rng.integers(100, 301))
    return simulated(seed + 5000, rng.normal(size=n), rng.uniform(0.5, 2.0, k), size, ties=0.1).aggregate()


def small_panel(seed, simulated) -> Comparisons:
    """2 to 8 models, up to 6 judges of any quality, 8 to 120 rows; silent judges left out."""
    rng = np.random.default_rng(seed)
    n, k, size = rng.integers(2, 9), rng.integers(1, 7), rng.integers(8, 121)
    cells = simulated(seed + 3000, rng.normal(size=n), rng.normal(0.6, 0.8, k), size, ties=0.1).aggregate()
    return cells.with_judges([cells.judges[judge] for judge in np.unique(cells.judge)])


def stacked(at: Parameters) -> np.ndarray:
    return np.r_[at.scores, at.judges[0]]


def objective(cells: Comparisons, x: np.ndarray) -> tuple[float, np.ndarray]:
    """Log-likelihood and its gradient in (s, alpha), written without the package."""
    n, k = len(cells.models), len(cells.judges)
    d = x[cells.first] - x[cells.second]
    gamma = np.exp(x[n:])[cells.judge]
    y, eta = cells.outcome, gamma * d
    value = np.sum(cells.count * (y * log_expit(eta) + (1 - y) * log_expit(-eta)))
    r = cells.count * (y - expit(eta))
    scores = np.bincount(cells.first, r * gamma, n) - np.bincount(cells.second, r * gamma, n)
    return float(value), np.r_[scores, np.bincount(cells.judge, r * eta, k)]


def climbed(cells: Comparisons, settings: Localized, start: np.ndarray) -> float:
    """Log-likelihood that SLSQP over the box reaches from a start."""
    n, k = len(cells.models), len(cells.judges)
    sums, bound = np.repeat(np.eye(2), [n, k], axis=1), bounds(cells, settings)
    inside = np.concatenate([part - part.mean() for part in np.split(start, [n])])
    inside /= max(1.0, np.abs(inside / bound).max())

    def loss(x):
        value, gradient = objective(cells, x)
        return -value, -gradient

    found = minimize(
        loss,
        inside,
        jac=True,
        method="SLSQP",
        bounds=np.c_[-bound, bound],
        constraints={"type": "eq", "fun": lambda x: sums @ x, "jac": lambda x: sums},
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    feasible = np.abs(sums @ found.x).max() < 1e-9 and np.all(np.abs(found.x) < bound + 1e-9)
    return -found.fun if feasible else -np.inf


def bounds(cells: Comparisons, settings: Localized) -> np.ndarray:
    sizes = len(cells.models), len(cells.judges)
    return np.repeat([settings.score_bound, settings.discrimination_bound], sizes)


def assert_in_box(at: Parameters, settings: Localized) -> None:
    """Sums of zero and bounds, up to the rounding of sums of numbers near five."""
    assert abs(at.scores.sum()) < 1e-12
    assert abs(at.judges.sum()) < 1e-12
    assert np.abs(at.scores).max() < settings.score_bound + 1e-12
    assert np.abs(at.judges).max() < settings.discrimination_bound + 1e-12


def assert_kkt(cells: Comparisons, at: Parameters, settings: Localized) -> None:
    """In each block, one multiplier that no gradient below the upper bound, or above the lower one, may cross."""
    value, gradient = objective(cells, stacked(at))
    tolerance = 1e-8 * max(1.0, abs(value))  # the solver's, with room for ten parameters
    blocks = np.split(stacked(at), [len(at.scores)]), np.split(gradient, [len(at.scores)])
    for x, g, bound in zip(*blocks, (settings.score_bound, settings.discrimination_bound), strict=True):
        upper, lower = x >= bound - 1e-12, x <= -bound + 1e-12
        assert g[~upper].max(initial=-np.inf) <= g[~lower].min(initial=np.inf) + tolerance


def at_a_bound(cells: Comparisons, at: Parameters, settings: Localized) -> np.ndarray:
    return np.abs(stacked(at)) >= bounds(cells, settings)


# a maximum inside the box


def test_a_maximum_inside_the_box_is_the_exact_fit(cells):
    found = maximise(cells, JUDGE_AWARE, Localized())
    exact = search.maximise(cells, JUDGE_AWARE, Newton())
    assert found.status is exact.status is Status.INTERIOR
    assert_allclose(stacked(found.parameters), stacked(exact.parameters), **SAME)


def test_the_active_set_method_finds_the_maximum_inside_by_itself(cells):
    exact = search.maximise(cells, JUDGE_AWARE, Newton()).parameters
    found = maximise(cells, JUDGE_AWARE, Localized(), Parameters.zeros(JUDGE_AWARE, cells))
    assert found.status is Status.INTERIOR
    assert_allclose(stacked(found.parameters), stacked(exact), **SAME)


@pytest.mark.parametrize("bound", [2.0, 50.0, 1e6])
def test_the_size_of_the_box_does_not_matter_to_a_maximum_inside(cells, bound):
    found = maximise(cells, JUDGE_AWARE, Localized(bound, bound))
    assert found.status is Status.INTERIOR
    assert_allclose(stacked(found.parameters), stacked(fit(cells).solution.parameters), **SAME)


@pytest.mark.parametrize(("settings", "held"), [((1.0, 5.0), [0]), ((5.0, 0.3), [4, 6]), ((0.9, 0.3), [0, 4, 6])])
def test_a_box_that_leaves_the_maximum_out_holds_what_would_leave_it(cells, settings, held):
    settings = Localized(*settings)
    found = maximise(cells, JUDGE_AWARE, settings)
    assert found.status is Status.LOCALIZED
    assert_in_box(found.parameters, settings)
    assert_kkt(cells, found.parameters, settings)
    assert np.flatnonzero(at_a_bound(cells, found.parameters, settings)).tolist() == held


# no maximum inside the box


def test_without_a_maximum_inside_some_parameter_is_at_its_bound(open_ended):
    found = maximise(open_ended, JUDGE_AWARE, BOX)
    assert found.status is Status.LOCALIZED
    assert found.status.converged
    assert_in_box(found.parameters, BOX)
    assert at_a_bound(open_ended, found.parameters, BOX).any()


@pytest.mark.parametrize("box", [BOX, Localized(0.5, 0.5), Localized()], ids=str)
def test_without_a_maximum_inside_the_kkt_conditions_hold(open_ended, box):
    found = maximise(open_ended, JUDGE_AWARE, box)
    assert_in_box(found.parameters, box)
    assert_kkt(open_ended, found.parameters, box)


def test_the_kkt_conditions_hold_wherever_the_method_starts(open_ended):
    rng = np.random.default_rng(1)
    n, k = len(open_ended.models), len(open_ended.judges)
    for _ in range(5):
        scores, alpha = rng.uniform(-1, 1, n), rng.uniform(-0.7, 0.7, (1, k))
        start = Parameters(scores - scores.mean(), alpha - alpha.mean())
        found = maximise(open_ended, JUDGE_AWARE, BOX, start)
        assert found.status is Status.LOCALIZED
        assert_in_box(found.parameters, BOX)
        assert_kkt(open_ended, found.parameters, BOX)


def test_the_log_likelihood_is_that_of_the_parameters(open_ended):
    found = maximise(open_ended, JUDGE_AWARE, BOX)
    expected = objective(open_ended, stacked(found.parameters))[0]
    assert_allclose(found.evaluation.log_likelihood, expected, rtol=1e-13)


def test_groups_without_a_link_end_inside_if_each_has_a_maximum(cells_of):
    cells = cells_of(*GOOD, *OTHER, *APART)
    found = maximise(cells, JUDGE_AWARE, BOX)
    assert found.status.converged
    assert_in_box(found.parameters, BOX)
    assert_kkt(cells, found.parameters, BOX)


def test_a_model_that_always_beats_another_is_as_far_above_it_as_the_box_allows(cells_of):
    found = maximise(cells_of(("a", "b", "x", 4, 0)), JUDGE_AWARE, Localized(1.5))
    assert found.parameters.scores.tolist() == [1.5, -1.5]
    assert_allclose(found.evaluation.log_likelihood, 4 * np.log(expit(3.0)), rtol=1e-13)


def test_two_judges_that_disagree_are_as_far_apart_as_the_box_allows(cells_of):
    cells = cells_of(("a", "b", "x", 9, 1), ("a", "b", "y", 3, 7))
    found = maximise(cells, JUDGE_AWARE, Localized(discrimination_bound=2.0))
    assert found.parameters.judges.tolist() == [[2.0, -2.0]]
    grid = np.linspace(0, 2, 20_001)[:, None] * np.exp([2.0, -2.0])
    best = (np.array([9, 3]) * log_expit(grid) + np.array([1, 7]) * log_expit(-grid)).sum(axis=1).max()
    # half a grid step is 5e-5, and the curvature in d is below 150
    assert best - 1e-12 <= found.evaluation.log_likelihood <= best + 2e-7


# scipy, whose SLSQP stops earlier in old versions: not under `make lowest`, which leaves slow tests out


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "usual"), [(5.0, Status.INTERIOR), (0.7, Status.LOCALIZED)])
def test_no_start_of_slsqp_ends_higher(simulated, bound, usual):
    rng, statuses, box = np.random.default_rng(2), Counter(), Localized(bound, bound)
    for seed in range(15):
        cells = large_panel(seed, simulated)
        found = maximise(cells, JUDGE_AWARE, box)
        statuses[found.status] += 1
        size = len(cells.models) + len(cells.judges)
        reached = [climbed(cells, box, rng.normal(size=size)) for _ in range(6)]
        # SLSQP stops at a relative change of 1e-13, its gradient then being near 1e-5
        assert_allclose(max(reached), found.evaluation.log_likelihood, rtol=0, atol=1e-6)
    assert statuses[usual] > 10


@pytest.mark.slow
def test_no_start_of_slsqp_ends_higher_without_a_maximum_inside(open_ended):
    rng = np.random.default_rng(3)
    found = maximise(open_ended, JUDGE_AWARE, BOX).evaluation.log_likelihood
    size = len(open_ended.models) + len(open_ended.judges)
    assert_allclose(
        max(climbed(open_ended, BOX, rng.normal(size=size)) for _ in range(8)), found, rtol=0, atol=1e-6
    )


def test_slsqp_does_not_climb_from_nearby(simulated):
    rng, box = np.random.default_rng(4), Localized()
    for seed in range(60):
        cells = small_panel(seed, simulated)
        found = maximise(cells, JUDGE_AWARE, box)
        x = stacked(found.parameters)
        assert climbed(cells, box, x + 0.01 * rng.normal(size=len(x))) <= found.evaluation.log_likelihood + 1e-6


# many panels


def test_a_wider_box_never_lowers_the_maximum(simulated):
    for seed in range(40):
        cells = large_panel(seed, simulated)
        boxes = (Localized(bound, bound) for bound in (0.5, 1.0, 2.0, 4.0, 6.0))
        values = [maximise(cells, JUDGE_AWARE, box).evaluation.log_likelihood for box in boxes]
        # a relative gradient of 1e-10 of a log-likelihood of some hundreds, over an information above one
        assert min(np.diff(values)) > -1e-8


@pytest.mark.slow
def test_small_panels_always_end_in_a_maximum_over_the_box(simulated):
    ends, box = Counter(), Localized()
    for seed in range(200):
        cells = small_panel(seed, simulated)
        found = maximise(cells, JUDGE_AWARE, box)
        ends[found.status] += 1
        assert_in_box(found.parameters, box)
        assert_kkt(cells, found.parameters, box)
        assert (found.status is Status.LOCALIZED) == at_a_bound(cells, found.parameters, box).any()
    assert ends[Status.INTERIOR] + ends[Status.LOCALIZED] == 200
    assert min(ends[Status.INTERIOR], ends[Status.LOCALIZED]) > 50


# symmetries


def test_presentation_order_changes_nothing(open_ended, swapped):
    sides = open_ended, swapped(open_ended).aggregate()
    one, other = (maximise(cells, JUDGE_AWARE, BOX).evaluation.log_likelihood for cells in sides)
    assert_allclose(other, one, rtol=1e-10)


def test_doubling_all_counts_doubles_the_log_likelihood(open_ended):
    sides = open_ended, replace(open_ended, count=2 * open_ended.count)
    one, other = (maximise(cells, JUDGE_AWARE, BOX).evaluation.log_likelihood for cells in sides)
    assert_allclose(other, 2 * one, rtol=1e-10)


# the front door


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("a model that wins everything", NoMaximumError),
        ("a model that loses everything", NoMaximumError),
        ("groups that only a contrarian links", NoMaximumError),
        ("groups of which one wins", NoMaximumError),
        ("groups without a link", DisconnectedError),
    ],
)
def test_sets_that_the_exact_fit_refuses_are_fitted(cells_of, name, error):
    cells = cells_of(*GOOD, *OTHER, *NO_MAXIMUM_INSIDE[name])
    with pytest.raises(error):
        fit(cells)
    found = fit(cells, solver="localized")
    assert found.status is Status.LOCALIZED
    assert found.converged
    assert set(found.judge_status) == {"interior"}


def test_settings_reach_the_solver(cells_of):
    cells = cells_of(*GOOD, *OTHER, *NO_MAXIMUM_INSIDE["a model that wins everything"])
    assert fit(cells, solver="localized").scores["w"] == 5.0
    assert fit(cells, solver=Localized(2.5)).scores["w"] == 2.5


@pytest.mark.parametrize("model", ["btl", "length"])
def test_other_models_are_refused(simulated, model):
    cells = simulated(11, SCORES, GAMMA, 200, slope=(0.1, 0.2, 0.3))
    with pytest.raises(ConfigError, match=f"for the judge-aware model, not '{model}'"):
        fit(cells, model, solver="localized")


def test_a_judge_without_comparisons_is_refused(cells_of):
    with pytest.raises(DataError, match="judge 'z' has no comparison"):
        fit(cells_of(*GOOD, *OTHER, judges=("x", "y", "z")), solver="localized")


def test_an_unfinished_fit_says_so(cells_of):
    cells = cells_of(*GOOD, *OTHER, *NO_MAXIMUM_INSIDE["a model that wins everything"])
    found = maximise(cells, JUDGE_AWARE, Localized(max_iterations=1))
    assert found.status is Status.ITERATION_LIMIT
    assert not found.status.converged


# Defects that the localised fit had, each with its smallest reproducer.


def test_opposed_judges_do_not_end_at_the_saddle_point_zero(cells_of):
    rows = [("a", "b", "x", 9, 1), ("a", "b", "y", 1, 9), ("c", "d", "x", 5, 5), ("c", "d", "y", 5, 5)]
    found = maximise(cells_of(*rows), JUDGE_AWARE, Localized())
    # is -27.726 = 40 log(1/2), status interior, 0 iterations; SLSQP reaches -24.0456
    assert found.evaluation.log_likelihood > -24.05


@pytest.mark.parametrize("size", [1, 10])
def test_a_consistent_judge_is_no_interior_maximum(cells_of, size):
    firm = [("a", "b", "z", 6, 0), ("b", "c", "z", 5, 0), ("a", "c", "z", 7, 0)]
    cells = cells_of(*((*row[:3], row[3] / size, row[4] / size) for row in [*GOOD, *OTHER]), *firm)
    assert search.maximise(cells, JUDGE_AWARE, newton.Newton()).status is Status.UNBOUNDED
    assert maximise(cells, JUDGE_AWARE, Localized()).status is Status.LOCALIZED


def test_unlinked_groups_have_no_interior_maximum(cells_of):
    assert fit(cells_of(*GOOD, *OTHER, *APART), solver="localized").status is Status.LOCALIZED


@pytest.mark.slow
def test_interior_means_that_the_exact_fit_is_interior(simulated):
    wrong = []
    for seed in range(600):
        cells = small_panel(seed, simulated)
        if maximise(cells, JUDGE_AWARE, Localized()).status is Status.INTERIOR:
            try:
                status = str(fit(cells).status)
            except Exception as error:
                status = type(error).__name__
            if status != "interior":
                wrong.append((seed, status))
    assert not wrong, wrong


def test_a_start_outside_the_box_is_pulled_inside(simulated):
    cells = simulated(11, (1.2, 0.3, -0.5, -1.0), (0.5, 1, 2), 900).aggregate()
    box = Localized(1.0, 1.0)
    start = Parameters(np.array([3.0, 0, 0, -3]), np.zeros((1, 3)))
    found = maximise(cells, JUDGE_AWARE, box, start)
    assert found.status is Status.LOCALIZED
    assert_in_box(found.parameters, box)


@pytest.mark.parametrize("bound", [0.0, -1.0, np.nan, np.inf])
def test_bounds_are_positive_numbers(bound):
    with pytest.raises(ConfigError):
        Localized(bound, 5.0)


FAMILY = pytest.mark.parametrize("model", [BTL, JUDGE_AWARE, LENGTH], ids=lambda model: model.name)
SCORES_OF_ADAM, GAMMA_OF_ADAM, SLOPE = (1.0, 0.2, -0.3, -0.9), (0.6, 1.0, 1.7), (0.3, -0.2, 0.1)
ENDLESS = Adam(tolerance=0.0, max_iterations=25)


@pytest.fixture(scope="module")
def drawn_cells(simulated) -> Comparisons:
    return simulated(21, SCORES_OF_ADAM, GAMMA_OF_ADAM, 600, slope=SLOPE, ties=0.05).aggregate()


def norm(values) -> float:
    return sum(x * x for x in np.ravel(values)) ** 0.5


def algorithm_1(drawn_cells: Comparisons, s: list, alpha: list, steps: int, settings: Adam, free=True):
    """The paper's Algorithm A.1 in plain loops; yields (s, alpha) after each step. `free` moves alpha too."""
    n, k = len(s), len(alpha)
    m_s, v_s, m_a, v_a = [0.0] * n, [0.0] * n, [0.0] * k, [0.0] * k
    b1, b2, eps = settings.beta1, settings.beta2, settings.epsilon
    for t in range(1, steps + 1):
        g_s, g_a = [0.0] * n, [0.0] * k
        for row in range(len(drawn_cells)):
            i, j, judge = drawn_cells.first[row], drawn_cells.second[row], drawn_cells.judge[row]
            gamma = np.exp(alpha[judge])
            z = gamma * (s[i] - s[j])
            p = 1 / (1 + np.exp(-z))
            delta = drawn_cells.count[row] * (drawn_cells.outcome[row] - p)
            g_s[i] += gamma * delta
            g_s[j] -= gamma * delta
            g_a[judge] += delta * z
        for g, m, v in ((g_s, m_s, v_s), (g_a, m_a, v_a)):
            for x in range(len(g)):
                m[x] = b1 * m[x] + (1 - b1) * g[x]
                v[x] = b2 * v[x] + (1 - b2) * g[x] ** 2

        def moved(old, m, v, size, t=t):
            up = [a / (1 - b1**t) / ((b / (1 - b2**t)) ** 0.5 + eps) for a, b in zip(m, v, strict=True)]
            new = [x + size * u for x, u in zip(old, up, strict=True)]
            return [x - sum(new) / len(new) for x in new]

        s = moved(s, m_s, v_s, settings.step_scores)
        alpha = moved(alpha, m_a, v_a, settings.step_judges) if free else alpha
        yield s, alpha


def test_the_defaults_are_the_published_settings():
    expected = {"step_scores": 1e-2, "step_judges": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6}
    assert vars(Adam()) == expected | {"tolerance": 1e-5, "max_iterations": 100_000}


def test_the_iterates_are_those_of_the_printed_loops(drawn_cells):
    settings = replace(ENDLESS, step_judges=5e-3)
    printed = algorithm_1(drawn_cells, [0.0] * 4, [0.0] * 3, 25, settings)
    ours = iterates(drawn_cells, JUDGE_AWARE, settings)
    for (t, at, _), (s, alpha) in zip(ours, printed, strict=True):
        assert_allclose(at.scores, s, rtol=0, atol=1e-12, err_msg=f"iteration {t}")
        assert_allclose(at.judges[0], alpha, rtol=0, atol=1e-12, err_msg=f"iteration {t}")
    assert t == 25


def test_the_iterates_from_another_start_are_those_of_the_printed_loops(drawn_cells):
    start = Parameters(np.array([0.5, -1.0, 0.25, 0.25]), np.array([[0.5, -0.5, 0.0]]))
    printed = algorithm_1(drawn_cells, start.scores.tolist(), start.judges[0].tolist(), 25, ENDLESS)
    for (_, at, _), (s, alpha) in zip(iterates(drawn_cells, JUDGE_AWARE, ENDLESS, start), printed, strict=True):
        assert_allclose(np.r_[at.scores, at.judges[0]], np.r_[s, alpha], rtol=0, atol=1e-12)


def test_the_unweighted_iterates_leave_discrimination_alone(drawn_cells):
    pooled = drawn_cells.pool_judges()
    printed = algorithm_1(pooled, [0.0] * 4, [0.0], 25, ENDLESS, free=False)
    for (_, at, _), (s, _) in zip(iterates(pooled, BTL, ENDLESS), printed, strict=True):
        assert_allclose(at.scores, s, rtol=0, atol=1e-12)
        assert at.judges.shape == (0, 1)


@FAMILY
def test_the_projection_keeps_sums_at_zero(drawn_cells, model):
    for _, at, _ in iterates(drawn_cells, model, ENDLESS):
        assert abs(at.scores.sum()) < 1e-15
        assert np.abs(at.judges[:1].sum(axis=1)).max(initial=0) < 1e-15


def test_slopes_are_not_projected(drawn_cells):
    *_, (_, at, _) = iterates(drawn_cells, LENGTH, ENDLESS)
    assert abs(at.judges[1].sum()) > 1e-3


@FAMILY
def test_the_change_is_the_larger_euclidean_norm_of_the_two_updates(drawn_cells, model):
    run = [(0, Parameters.zeros(model, drawn_cells), None), *iterates(drawn_cells, model, ENDLESS)]
    for (_, before, _), (_, after, change) in pairwise(run):
        expected = max(norm(after.scores - before.scores), norm(after.judges - before.judges))
        assert_allclose(change, expected, rtol=1e-12)


def test_iteration_stops_when_the_euclidean_norm_first_meets_the_tolerance(drawn_cells):
    free = [change for _, _, change in iterates(drawn_cells, JUDGE_AWARE, replace(ENDLESS, max_iterations=400))]
    tolerance = free[250]
    first = next(t for t, change in enumerate(free, 1) if change <= tolerance)
    run = list(iterates(drawn_cells, JUDGE_AWARE, replace(ENDLESS, tolerance=tolerance, max_iterations=400)))
    assert [t for t, _, _ in run] == list(range(1, first + 1))
    assert 10 < first < 400


def test_the_maximum_norm_would_stop_sooner(drawn_cells):
    """The printed rule and the published code's differ; ours is the code's."""
    run = list(iterates(drawn_cells, JUDGE_AWARE, replace(ENDLESS, max_iterations=400)))
    flat = [np.r_[at.scores, at.judges[0]] for _, at, _ in run]
    largest = [np.abs(after - before).max() for before, after in pairwise(flat)]  # from iteration 2 on
    tolerance = largest[300]
    stopped = algorithm.maximise(
        drawn_cells, JUDGE_AWARE, replace(ENDLESS, tolerance=tolerance, max_iterations=400)
    )
    assert stopped.iterations > 2 + next(t for t, size in enumerate(largest) if size <= tolerance)


def test_the_stopping_rule_is_reported_with_its_iterate(drawn_cells):
    settings = Adam(step_judges=1e-2, tolerance=1e-4)
    *_, (t, at, change) = iterates(drawn_cells, JUDGE_AWARE, settings)
    found = algorithm.maximise(drawn_cells, JUDGE_AWARE, settings)
    assert (found.status, found.status.converged) == (Status.STOPPING_RULE, True)
    assert found.iterations == t < settings.max_iterations
    assert change <= settings.tolerance
    assert_array_equal(found.parameters.scores, at.scores)
    assert found.evaluation.log_likelihood == evaluate(drawn_cells, JUDGE_AWARE, at).log_likelihood


def test_the_iteration_limit_is_not_convergence(drawn_cells):
    found = algorithm.maximise(drawn_cells, JUDGE_AWARE, ENDLESS)
    assert (found.status, found.status.converged) == (Status.ITERATION_LIMIT, False)
    assert found.iterations == 25


def test_a_judge_that_always_agrees_is_unbounded(cells_of):
    good = (("a", "b", "x", 7, 3), ("b", "c", "x", 6, 4), ("a", "c", "x", 8, 2))
    found = algorithm.maximise(
        cells_of(*good, ("a", "b", "firm", 3, 0), ("c", "a", "firm", 0, 3)), JUDGE_AWARE, ENDLESS
    )
    assert (found.status, found.unbounded_judges) == (Status.UNBOUNDED, (0,))


@FAMILY
def test_adam_and_newton_agree(drawn_cells, model):
    settings = Adam(step_judges=1e-2, tolerance=1e-9)
    adam = algorithm.maximise(drawn_cells, model, settings)
    exact = search.maximise(drawn_cells, model, newton.Newton())
    assert adam.status is Status.STOPPING_RULE
    # an update of 1e-9 is a step of 1e-2 times the gradient over its running size: the gradient is near 1e-6
    assert_allclose(adam.parameters.scores, exact.parameters.scores, rtol=0, atol=1e-6)
    assert_allclose(adam.parameters.judges, exact.parameters.judges, rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def parts(drawn_cells, simulated, cells_of) -> list[Comparisons]:
    """Sets of four models and three judges: some with a maximum that is met early, and one without."""
    known = [simulated(seed, SCORES_OF_ADAM, GAMMA_OF_ADAM, 300 + 100 * seed).aggregate() for seed in range(5)]
    unerring = ("m0", "m1", "j0", 9, 0), ("m0", "m2", "j0", 5, 0)
    return [*known, cells_of(*unerring, ("m1", "m2", "j1", 3, 4), ("m2", "m3", "j2", 5, 2))]


@pytest.mark.parametrize("model", [BTL, JUDGE_AWARE], ids=lambda model: model.name)
def test_plain_rows_have_the_gradient_of_the_whole_family(drawn_cells, model):
    rng = np.random.default_rng(0)
    turned = rng.random(len(drawn_cells)) < 0.5  # either model of a pair may be shown first
    first, second = np.where(
        turned, [drawn_cells.second, drawn_cells.first], [drawn_cells.first, drawn_cells.second]
    )
    both = replace(
        drawn_cells,
        first=first,
        second=second,
        outcome=np.where(turned, 1 - drawn_cells.outcome, drawn_cells.outcome),
    )
    at = Parameters(rng.normal(size=4), rng.normal(size=(len(model.judge_blocks), 3)))
    expected = gradient(drawn_cells, model, at)
    expected = np.r_[expected.top_gradient, expected.judge_gradient.ravel()]
    for laid_out in (drawn_cells, both):
        found = PlainRows(laid_out, model.weighs_judges).gradient(at)
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_the_quick_path_has_the_iterates_of_the_gradient_of_the_whole_family(drawn_cells):
    settings = Adam(tolerance=0.0, max_iterations=1000)
    quick = maximise_each([drawn_cells], JUDGE_AWARE, settings)[0].parameters
    *_, (_, general, _) = iterates(drawn_cells, JUDGE_AWARE, settings)
    assert_allclose(quick.scores, general.scores, rtol=0, atol=1e-10)
    assert_allclose(quick.judges, general.judges, rtol=0, atol=1e-10)


@pytest.mark.parametrize("others", [Adam(tolerance=0.0, max_iterations=300), Adam(beta2=0.99, max_iterations=300)])
def test_iterates_do_not_depend_on_the_runs_that_are_followed_beside(parts, others):
    settings = Adam(tolerance=0.0, max_iterations=300)
    *_, (_, together, _) = iterates(side_by_side(parts[:2]), JUDGE_AWARE, [settings, others])
    *_, (_, alone, _) = iterates(parts[0], JUDGE_AWARE, settings)
    assert_array_equal(together.scores[: len(alone.scores)], alone.scores)
    assert_array_equal(together.judges[:, : alone.judges.shape[1]], alone.judges)


@pytest.mark.parametrize("model", [BTL, JUDGE_AWARE], ids=lambda model: model.name)
def test_sets_at_once_end_where_each_ends_alone_and_stop_by_their_own_rule(parts, model):
    settings = Adam(step_judges=1e-2, tolerance=1e-4, max_iterations=2500)
    together = maximise_each(parts, model, settings)
    for found, part in zip(together, parts, strict=True):
        (alone,) = maximise_each([part], model, settings)
        assert (found.status, found.iterations) == (alone.status, alone.iterations)
        assert_array_equal(found.parameters.scores, alone.parameters.scores)
        assert_array_equal(found.parameters.judges, alone.parameters.judges)
    iterations = [found.iterations for found in together]
    assert len(set(iterations)) > 2
    if model == JUDGE_AWARE:
        assert together[-1].status is Status.UNBOUNDED
        assert max(iterations[:-1]) < settings.max_iterations == iterations[-1]


def test_no_sets_have_no_ends():
    assert maximise_each([], JUDGE_AWARE, Adam()) == []
