"""Algorithm A.1 against its printed loops, its projection and its stopping rule."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from judgerank import Comparisons, Status
from judgerank.engine import newton, search
from judgerank.engine.adam import Adam, iterates, maximise, maximise_each
from judgerank.engine.likelihood import evaluate, gradient
from judgerank.engine.rows import PlainRows, side_by_side
from judgerank.model.members import BTL, JUDGE_AWARE, LENGTH, Parameters

FAMILY = pytest.mark.parametrize("model", [BTL, JUDGE_AWARE, LENGTH], ids=lambda model: model.name)
SCORES, GAMMA, SLOPE = (1.0, 0.2, -0.3, -0.9), (0.6, 1.0, 1.7), (0.3, -0.2, 0.1)
ENDLESS = Adam(tolerance=0.0, max_iterations=25)


@pytest.fixture(scope="module")
def cells(simulated) -> Comparisons:
    return simulated(21, SCORES, GAMMA, 600, slope=SLOPE, ties=0.05).aggregate()


def norm(values) -> float:
    return sum(x * x for x in np.ravel(values)) ** 0.5


def algorithm_1(cells: Comparisons, s: list, alpha: list, steps: int, settings: Adam, free=True):
    """The paper's Algorithm A.1 in plain loops; yields (s, alpha) after each step. `free` moves alpha too."""
    n, k = len(s), len(alpha)
    m_s, v_s, m_a, v_a = [0.0] * n, [0.0] * n, [0.0] * k, [0.0] * k
    b1, b2, eps = settings.beta1, settings.beta2, settings.epsilon
    for t in range(1, steps + 1):
        g_s, g_a = [0.0] * n, [0.0] * k
        for row in range(len(cells)):
            i, j, judge = cells.first[row], cells.second[row], cells.judge[row]
            gamma = np.exp(alpha[judge])
            z = gamma * (s[i] - s[j])
            p = 1 / (1 + np.exp(-z))
            delta = cells.count[row] * (cells.outcome[row] - p)
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


def test_the_iterates_are_those_of_the_printed_loops(cells):
    settings = replace(ENDLESS, step_judges=5e-3)
    printed = algorithm_1(cells, [0.0] * 4, [0.0] * 3, 25, settings)
    ours = iterates(cells, JUDGE_AWARE, settings)
    for (t, at, _), (s, alpha) in zip(ours, printed, strict=True):
        assert_allclose(at.scores, s, rtol=0, atol=1e-12, err_msg=f"iteration {t}")
        assert_allclose(at.judges[0], alpha, rtol=0, atol=1e-12, err_msg=f"iteration {t}")
    assert t == 25


def test_the_iterates_from_another_start_are_those_of_the_printed_loops(cells):
    start = Parameters(np.array([0.5, -1.0, 0.25, 0.25]), np.array([[0.5, -0.5, 0.0]]))
    printed = algorithm_1(cells, start.scores.tolist(), start.judges[0].tolist(), 25, ENDLESS)
    for (_, at, _), (s, alpha) in zip(iterates(cells, JUDGE_AWARE, ENDLESS, start), printed, strict=True):
        assert_allclose(np.r_[at.scores, at.judges[0]], np.r_[s, alpha], rtol=0, atol=1e-12)


def test_the_unweighted_iterates_leave_discrimination_alone(cells):
    pooled = cells.pool_judges()
    printed = algorithm_1(pooled, [0.0] * 4, [0.0], 25, ENDLESS, free=False)
    for (_, at, _), (s, _) in zip(iterates(pooled, BTL, ENDLESS), printed, strict=True):
        assert_allclose(at.scores, s, rtol=0, atol=1e-12)
        assert at.judges.shape == (0, 1)


@FAMILY
def test_the_projection_keeps_sums_at_zero(cells, model):
    for _, at, _ in iterates(cells, model, ENDLESS):
        assert abs(at.scores.sum()) < 1e-15
        assert np.abs(at.judges[:1].sum(axis=1)).max(initial=0) < 1e-15


def test_slopes_are_not_projected(cells):
    *_, (_, at, _) = iterates(cells, LENGTH, ENDLESS)
    assert abs(at.judges[1].sum()) > 1e-3


@FAMILY
def test_the_change_is_the_larger_euclidean_norm_of_the_two_updates(cells, model):
    run = [(0, Parameters.zeros(model, cells), None), *iterates(cells, model, ENDLESS)]
    for (_, before, _), (_, after, change) in pairwise(run):
        expected = max(norm(after.scores - before.scores), norm(after.judges - before.judges))
        assert_allclose(change, expected, rtol=1e-12)


def test_iteration_stops_when_the_euclidean_norm_first_meets_the_tolerance(cells):
    free = [change for _, _, change in iterates(cells, JUDGE_AWARE, replace(ENDLESS, max_iterations=400))]
    tolerance = free[250]
    first = next(t for t, change in enumerate(free, 1) if change <= tolerance)
    run = list(iterates(cells, JUDGE_AWARE, replace(ENDLESS, tolerance=tolerance, max_iterations=400)))
    assert [t for t, _, _ in run] == list(range(1, first + 1))
    assert 10 < first < 400


def test_the_maximum_norm_would_stop_sooner(cells):
    """The printed rule and the published code's differ; ours is the code's."""
    run = list(iterates(cells, JUDGE_AWARE, replace(ENDLESS, max_iterations=400)))
    flat = [np.r_[at.scores, at.judges[0]] for _, at, _ in run]
    largest = [np.abs(after - before).max() for before, after in pairwise(flat)]  # from iteration 2 on
    tolerance = largest[300]
    stopped = maximise(cells, JUDGE_AWARE, replace(ENDLESS, tolerance=tolerance, max_iterations=400))
    assert stopped.iterations > 2 + next(t for t, size in enumerate(largest) if size <= tolerance)


def test_the_stopping_rule_is_reported_with_its_iterate(cells):
    settings = Adam(step_judges=1e-2, tolerance=1e-4)
    *_, (t, at, change) = iterates(cells, JUDGE_AWARE, settings)
    found = maximise(cells, JUDGE_AWARE, settings)
    assert (found.status, found.status.converged) == (Status.STOPPING_RULE, True)
    assert found.iterations == t < settings.max_iterations
    assert change <= settings.tolerance
    assert_array_equal(found.parameters.scores, at.scores)
    assert found.evaluation.log_likelihood == evaluate(cells, JUDGE_AWARE, at).log_likelihood


def test_the_iteration_limit_is_not_convergence(cells):
    found = maximise(cells, JUDGE_AWARE, ENDLESS)
    assert (found.status, found.status.converged) == (Status.ITERATION_LIMIT, False)
    assert found.iterations == 25


def test_a_judge_that_always_agrees_is_unbounded(cells_of):
    good = (("a", "b", "x", 7, 3), ("b", "c", "x", 6, 4), ("a", "c", "x", 8, 2))
    found = maximise(cells_of(*good, ("a", "b", "firm", 3, 0), ("c", "a", "firm", 0, 3)), JUDGE_AWARE, ENDLESS)
    assert (found.status, found.unbounded_judges) == (Status.UNBOUNDED, (0,))


@FAMILY
def test_adam_and_newton_agree(cells, model):
    settings = Adam(step_judges=1e-2, tolerance=1e-9)
    adam = maximise(cells, model, settings)
    exact = search.maximise(cells, model, newton.Newton())
    assert adam.status is Status.STOPPING_RULE
    # an update of 1e-9 is a step of 1e-2 times the gradient over its running size: the gradient is near 1e-6
    assert_allclose(adam.parameters.scores, exact.parameters.scores, rtol=0, atol=1e-6)
    assert_allclose(adam.parameters.judges, exact.parameters.judges, rtol=0, atol=1e-6)


@pytest.fixture(scope="module")
def parts(cells, simulated, cells_of) -> list[Comparisons]:
    """Sets of four models and three judges: some with a maximum that is met early, and one without."""
    known = [simulated(seed, SCORES, GAMMA, 300 + 100 * seed).aggregate() for seed in range(5)]
    unerring = ("m0", "m1", "j0", 9, 0), ("m0", "m2", "j0", 5, 0)
    return [*known, cells_of(*unerring, ("m1", "m2", "j1", 3, 4), ("m2", "m3", "j2", 5, 2))]


@pytest.mark.parametrize("model", [BTL, JUDGE_AWARE], ids=lambda model: model.name)
def test_plain_rows_have_the_gradient_of_the_whole_family(cells, model):
    rng = np.random.default_rng(0)
    turned = rng.random(len(cells)) < 0.5  # either model of a pair may be shown first
    first, second = np.where(turned, [cells.second, cells.first], [cells.first, cells.second])
    both = replace(cells, first=first, second=second, outcome=np.where(turned, 1 - cells.outcome, cells.outcome))
    at = Parameters(rng.normal(size=4), rng.normal(size=(len(model.judge_blocks), 3)))
    expected = gradient(cells, model, at)
    expected = np.r_[expected.top_gradient, expected.judge_gradient.ravel()]
    for laid_out in (cells, both):
        found = PlainRows(laid_out, model.weighs_judges).gradient(at)
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_the_quick_path_has_the_iterates_of_the_gradient_of_the_whole_family(cells):
    settings = Adam(tolerance=0.0, max_iterations=1000)
    quick = maximise_each([cells], JUDGE_AWARE, settings)[0].parameters
    *_, (_, general, _) = iterates(cells, JUDGE_AWARE, settings)
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
