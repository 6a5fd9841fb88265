"""The search for the highest maximum and the highest supremum, and decisions that must not hang on rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import LinAlgError
from scipy.optimize import linprog, minimize
from scipy.special import expit, log_expit

from judgerank import Comparisons, Status, fit
from judgerank.data.arrays import generator
from judgerank.data.connectivity import positions_are_imitated
from judgerank.data.errors import ConfigError, JudgerankError, NoMaximumError
from judgerank.engine import search
from judgerank.engine.ascent import Ascent, ascended, backtracked, logistic, peak
from judgerank.engine.boundary import NEGLIGIBLE, guess, slopes_at_zero
from judgerank.engine.existence import can_rise, near_maximum, rising_direction, separable_judges
from judgerank.engine.information import SINGULAR, covariance
from judgerank.engine.localized import Localized, maximise
from judgerank.engine.multistart import Ends, FarOut, far_starts
from judgerank.engine.newton import Newton, climb
from judgerank.engine.search import EQUAL_HEIGHT, height, highest
from judgerank.engine.solution import EQUAL, Solution, unerring_judges
from judgerank.engine.suprema import end_above, far_end
from judgerank.model.members import JUDGE_AWARE, MODELS, POSITION_AWARE, Parameters
from judgerank.ranking.components import fit_highest
from judgerank.trust.drift import drift, drifted
from replication.random_designs import uniform_triples
from studies.torture import fits as torture
from tests.library.test_repeats import drawn_in_halves


def drawn(seed: int, ties: float = 0.1) -> Comparisons:
    """3 to 6 models, 2 to 5 judges of any quality, 20 to 160 rows."""
    rng = np.random.default_rng(seed)
    n, k, size = rng.integers(3, 7), rng.integers(2, 6), rng.integers(20, 161)
    scores, gamma = rng.normal(size=n), rng.normal(0.6, 0.8, k)
    i = rng.integers(n, size=size)
    j, judge = (i + rng.integers(1, n, size=size)) % n, np.r_[np.arange(k), rng.integers(k, size=size - k)]
    y = (rng.random(size) < 1 / (1 + np.exp(-gamma[judge] * (scores[i] - scores[j])))).astype(float)
    y[rng.random(size) < ties] = 0.5
    return Comparisons(tuple(f"m{x}" for x in range(n)), tuple(f"j{x}" for x in range(k)), i, j, judge, y)


def test_no_random_start_ends_higher():
    converged = 0
    for seed in range(12):
        cells = drawn(seed).aggregate()
        found = search.maximise(cells, JUDGE_AWARE, Newton())
        if not found.status.converged:
            continue
        converged += 1
        rng = np.random.default_rng(seed + 1000)
        for _ in range(15):
            judges = 1.5 * rng.normal(size=(1, len(cells.judges)))
            start = Parameters(rng.normal(size=len(cells.models)), judges)
            other = search.maximise(cells, JUDGE_AWARE, Newton(), start).evaluation.log_likelihood
            assert other <= found.evaluation.log_likelihood * (1 - 1e-6)
    assert converged > 6


def opposed(wins: float) -> list:
    """Two judges of opposite opinions: at any maximum one of them is at zero."""
    rows = [("a", "b", 9, 1), ("b", "c", 8, 2), ("a", "c", 9, 1)]
    return [(i, j, "x", n, m) for i, j, n, m in rows] + [(j, i, "y", n * wins, m * wins) for i, j, n, m in rows]


@pytest.mark.parametrize(("wins", "first"), [(1.01, "y"), (1 / 1.01, "x")])
def test_the_higher_of_two_opposite_maxima_is_found(cells_of, wins, first):
    found = fit(cells_of(*opposed(wins)))
    assert found.status is Status.BOUNDARY
    assert found.discrimination[first] == 1.0
    assert 0 < found.solution.rival.gap < 2
    assert not found.solution.rival.ambiguous


def test_maxima_of_one_height_are_told_apart_by_a_rule_and_named(cells_of):
    found = fit(cells_of(*opposed(1.0)))
    assert found.scores["a"] > found.scores["c"]  # the lexicographically larger scores
    assert found.solution.rival.ambiguous
    np.testing.assert_allclose(found.solution.rival.parameters.scores, -found.scores, atol=1e-6)


@pytest.mark.parametrize(("share", "ambiguous"), [(0.5, True), (2.0, False)])
def test_heights_are_equal_up_to_a_stated_tolerance(cells_of, share, ambiguous):
    found = fit(cells_of(*opposed(1.0))).solution
    gap = share * EQUAL_HEIGHT * abs(found.evaluation.log_likelihood)
    evaluation = type(found.evaluation)(found.evaluation.log_likelihood - gap, *[np.zeros(3)] * 3)
    other = Solution(found.rival.parameters, evaluation, Status.BOUNDARY, 0)
    for order in ([found, other], [other, found]):
        assert highest(order, found.parameters.scores).parameters is found.parameters
        assert highest(order, found.parameters.scores).rival.ambiguous == ambiguous
        # the rule decides where heights are equal, the height where they are not
        turned = highest(order, -found.parameters.scores).parameters
        assert (turned is other.parameters) == ambiguous


def test_an_end_that_was_stopped_counts_last_among_ends_of_one_height(cells_of):
    found = fit(cells_of(*opposed(1.0))).solution
    stopped = replace(found, status=Status.ITERATION_LIMIT)
    ended = replace(found, parameters=found.rival.parameters)
    for order in ([stopped, ended], [ended, stopped]):
        assert highest(order, found.parameters.scores).parameters is ended.parameters


def test_rough_ends_a_little_below_the_highest_are_climbed_from_and_others_if_they_rank_otherwise():
    """A rough height is not that of the maximum above it: an end that lacks a little may lead to the highest."""
    cells = drawn(1).aggregate()
    n, k = len(cells.models), len(cells.judges)
    scores = np.linspace(1, -1, n)
    ends = [
        Parameters(sign * scores, np.full((1, k), log_gamma))
        for log_gamma, sign in ((0.0, 1), (0.1, 1), (0.2, 1), (0.3, -1))
    ]
    rough = Ends(ends, np.array([-100.0, -100.5, -200.0, -300.0]))
    starts = search.worth_climbing(cells, JUDGE_AWARE, rough)
    assert [start.judges[0, 0] for start in starts] == [0.0, 0.1, 0.3]


def test_a_lower_maximum_over_the_box_is_not_taken():
    """Random starts of the active-set method, on panels small enough to have several maxima."""
    for seed in range(5):
        cells, box = drawn(seed + 50).aggregate(), Localized()
        found = maximise(cells, JUDGE_AWARE, box).evaluation.log_likelihood
        rng = np.random.default_rng(seed)
        for _ in range(6):
            start = Parameters(rng.normal(size=len(cells.models)), rng.normal(size=(1, len(cells.judges))))
            assert maximise(cells, JUDGE_AWARE, box, start).evaluation.log_likelihood <= found * (1 - 1e-6)


# room


@pytest.mark.parametrize(("excess", "zero"), [(0.5, True), (2.0, False)])
def test_a_slope_counts_as_none_up_to_a_stated_level(cells_of, excess, zero):
    cells = cells_of(("a", "b", "x", 50, 50))
    at = Parameters(np.array([0.5, -0.5]), np.zeros((1, 1)))

    class Here:
        slope_at_zero = np.array([excess * NEGLIGIBLE * 100])

    assert (slopes_at_zero(cells, at, Here)[0] == 0.0) == zero


@pytest.mark.parametrize(("apart", "named"), [(0.5, (0,)), (2.0, ())])
def test_scores_are_equal_up_to_a_stated_level(cells_of, apart, named):
    cells = cells_of(("a", "b", "x", 3, 0), ("b", "c", "x", 0, 1))
    scores = np.array([1.0, apart * EQUAL, 0.0])
    assert unerring_judges(cells, JUDGE_AWARE, Parameters(scores, np.zeros((1, 1)))) == named


@pytest.mark.parametrize(("least", "singular"), [(0.3, True), (3.0, False)])
def test_an_information_is_singular_up_to_a_stated_level(least, singular):
    value = least * SINGULAR
    info = np.diag([1.0, 1.0, 1.0, 1.0])
    info[2, 3] = info[3, 2] = 1.0 - value
    if singular:
        with pytest.raises(np.linalg.LinAlgError):
            covariance(info, 2, 0)
    else:
        assert np.isfinite(covariance(info, 2, 0)).all()


def test_one_comparison_off_the_steps_tells_positions_apart(cells_of):
    steps = [("a", "b", "x", 1, 1), ("b", "c", "x", 1, 1)]
    assert positions_are_imitated(cells_of(*steps))
    assert not positions_are_imitated(cells_of(*steps, ("a", "c", "x", 1, 1)))


@pytest.mark.parametrize("tolerance", [0.0, -1.0, 0.01, np.inf, np.nan])
@pytest.mark.parametrize("settings", [Newton, Localized])
def test_a_tolerance_that_certifies_anything_is_refused(settings, tolerance):
    with pytest.raises(ConfigError, match="tolerance"):
        settings(tolerance=tolerance)


# existence


def has_maximum(rows: Comparisons, member: str) -> bool:
    """A linear program with one slack for each form, written without the package's."""
    n, k = len(rows.models), len(rows.judges)
    position, ties = "position" in member, "ties" in member
    answers = list(zip(rows.first, rows.second, rows.judge, rows.outcome, strict=True))
    tie_givers = {judge for _, _, judge, y in answers if y == 0.5}
    forms = []
    for i, j, judge, y in answers:
        first = np.zeros(n + k * (position + ties))
        first[i], first[j] = 0.5, -0.5
        if position:
            first[n + judge] = 0.5
        exponents = {1.0: first, 0.0: -first}
        if ties and judge in tie_givers:
            exponents[0.5] = np.eye(len(first))[n + k * position + judge]
        given = [y] if y in exponents else [1.0, 0.0]  # half a win each way
        forms += [exponents[a] - other for a in given for b, other in exponents.items() if a != b]
    forms = np.array(forms)
    rows_, columns = forms.shape
    found = linprog(
        np.r_[np.zeros(columns), -np.ones(rows_)],
        A_ub=np.hstack([-forms, np.eye(rows_)]),
        b_ub=np.zeros(rows_),
        bounds=[(None, None)] * columns + [(0, 1)] * rows_,
    )
    return -found.fun < 0.5


@pytest.mark.parametrize("member", ["position_only", "btl_ties"])
def test_existence_is_that_of_an_independent_program(member):
    seen = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = drawn(seed, 0.3).take(rng.choice(20, rng.integers(6, 20), replace=False))
        expected = has_maximum(rows, member)
        cells = (rows.with_ties() if MODELS[member].has_ties else rows).aggregate()
        assert (rising_direction(cells, MODELS[member]) is None) == expected
        seen.add(expected)
    assert seen == {True, False}


@pytest.mark.parametrize("member", ["position_only", "btl_ties"])
def test_no_point_proves_a_maximum_that_is_not_there(member):
    """Far along a rising direction gradients vanish, and so do the probabilities that they are held against."""
    model, proved = MODELS[member], set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = drawn(seed, 0.3).take(rng.choice(20, rng.integers(6, 20), replace=False))
        cells = (rows.with_ties() if model.has_ties else rows).aggregate()
        at = Parameters.zeros(model, cells)
        rising = rising_direction(cells, model, at)
        if rising is None:
            try:
                proved.add(near_maximum(cells, model, fit(rows, member).solution.parameters))
            except NoMaximumError:  # by a judge set aside
                continue
            continue
        levels = rising[len(cells.models) :].reshape(-1, len(cells.judges))
        for far in (0.0, 1.0, 10.0, 30.0, 100.0):
            judges = np.vstack([at.judges[: model.n_scale], at.judges[model.n_scale :] + far * levels])
            assert not near_maximum(cells, model, Parameters(far * rising[: len(cells.models)], judges))
            scores = at.scores + rng.normal(size=len(at.scores))  # nor any other point
            assert not near_maximum(cells, model, Parameters(scores - scores.mean(), judges))
    assert True in proved


@pytest.mark.parametrize("member", ["position_aware", "position_aware_ties"])
def test_an_all_but_certain_answer_takes_no_linear_program(member, monkeypatch):
    rng = np.random.default_rng(0)
    i, j, k = uniform_triples(rng, 40, 3, 6000)
    s, gamma = np.linspace(-3, 3, 40), np.array([8.0, 1.0, 0.5])
    y = (rng.random(6000) < expit(gamma[k] * (s[i] - s[j]) + 0.3)).astype(float)
    y[(rng.random(6000) < 0.1) & (k > 0)] = 0.5
    names = (tuple(f"{kind}{x}" for x in range(many)) for kind, many in (("m", 40), ("j", 3)))
    monkeypatch.setattr("judgerank.fits.certified.rising_direction", None)
    found = fit(Comparisons(*names, i, j, k, y), member)
    at = found.solution.parameters
    eta = np.exp(at.judges[0])[k] * (at.scores[i] - at.scores[j])
    assert np.abs(eta).max() > 40  # beyond what double precision tells from certainty
    assert found.status == "interior"


def test_the_smallest_set_once_falsely_called_interior_has_no_maximum():
    i, j, y = [1, 1, 1, 1, 2], [0, 2, 2, 0, 1], [0.5, 0.5, 0.0, 1.0, 1.0]
    rows = Comparisons(("m0", "m1", "m2"), ("j",), np.array(i), np.array(j), np.zeros(5, int), np.array(y))
    with pytest.raises(NoMaximumError, match=r"scores of m\d"):
        fit(rows, "position_only")


@pytest.mark.parametrize("member", ["position_only", "btl_ties"])
def test_no_fit_of_an_unbounded_likelihood_converges(member):
    endings = {True: 0, False: 0}
    for seed in range(15):
        rows = drawn(seed, 0.3)
        rows = rows.take(np.random.default_rng(seed).choice(20, 14, replace=False))
        if len(np.unique(rows.judge)) < len(rows.judges):
            continue
        try:
            converged = fit(rows, member).converged
        except JudgerankError:
            converged = False
        assert not (converged and not has_maximum(rows, member))
        endings[converged] += 1
    assert min(endings.values()) > 0


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_ranking_turned_round_by_sharp_contrary_judges_is_found(simulated, seed):
    """All judges counted alike say one thing; by their sharpness two contrary ones make its reverse likelier."""
    scores = np.linspace(-1.2, 1.2, 12)
    cells = simulated(seed, scores, [-4.0, -3.0, *[1.0] * 6], 4000).aggregate()
    found = fit(cells)
    starts = [guess(cells, JUDGE_AWARE, way * scores) for way in (1, -1)]
    heights = [climb(cells, JUDGE_AWARE, Newton(), start).evaluation.log_likelihood for start in starts]
    assert fit(cells, "btl").scores @ scores > 0
    assert found.log_likelihood >= max(heights) - 1e-6


# judges who run off where no climb from an ordinary maximum leads


def thin(seed: int, n: int = 45, k: int = 12, size: int = 900) -> Comparisons:
    """Some 75 votes of every judge on 45 models."""
    rng = np.random.default_rng(seed)
    s, gamma, b = rng.normal(size=n), np.exp(rng.normal(0.3, 0.5, k)), 0.5 * rng.normal(size=k)
    i = rng.integers(n, size=size)
    j, judge = (i + rng.integers(1, n, size=size)) % n, rng.integers(k, size=size)
    y = (rng.random(size) < expit(gamma[judge] * (s[i] - s[j]) + b[judge])).astype(float)
    return Comparisons(tuple(f"m{x}" for x in range(n)), tuple(f"j{x}" for x in range(k)), i, j, judge, y)


@pytest.mark.parametrize(("seed", "member"), [(1, "judge_aware"), (24, "position_aware"), (28, "position_aware")])
def test_a_judge_who_runs_off_above_an_ordinary_maximum_is_found_at_every_scale(seed, member, monkeypatch):
    cells, model = thin(seed).aggregate(), MODELS[member]
    found = [
        search.maximise(replace(cells, count=times * cells.count), model, Newton()) for times in (1, 100, 100_000)
    ]
    assert {end.status for end in found} == {Status.UNBOUNDED}
    assert len({end.unbounded_judges for end in found}) == 1
    monkeypatch.setattr(search, "far_starts", lambda *_: FarOut([], []))
    ordinary = search.maximise(cells, model, Newton())
    assert ordinary.status is Status.INTERIOR
    assert found[0].evaluation.log_likelihood > ordinary.evaluation.log_likelihood + 1


def test_a_judge_runs_off_as_long_as_its_judgments_count_more_often(monkeypatch):
    """A rough climb stopped at a tenth of the way, and from there the way led back to an ordinary maximum."""
    settings = {"member": "judge_aware", "models": [15, 50], "judges": [4, 12], "comparisons": [500, 1500]}
    cells = torture.drawn(settings, generator(2026, "torture_thin", "judge_aware", 60)).aggregate()
    found = search.maximise(cells, JUDGE_AWARE, Newton())
    assert (found.status, found.unbounded_judges) == (Status.UNBOUNDED, (3,))
    monkeypatch.setattr(search, "carried_on", lambda *_: [])
    ordinary = search.maximise(cells, JUDGE_AWARE, Newton())
    assert ordinary.status is Status.BOUNDARY
    assert found.evaluation.log_likelihood > ordinary.evaluation.log_likelihood + 0.1


@pytest.mark.parametrize("member", ["judge_aware", "position_aware"])
def test_judges_who_can_run_off_are_those_of_a_linear_program(member):
    model, seen = MODELS[member], set()
    for seed in range(24):
        cells = thin(seed, *((6, 4, 70), (15, 2, 300), (30, 2, 700))[seed % 3]).aggregate()
        alone = [cells.with_judges([judge]) for judge in cells.judges]
        expected = [k for k, own in enumerate(alone) if rising_direction(own, model) is not None]
        assert separable_judges(cells, model).tolist() == expected
        seen |= {k in expected for k in range(len(cells.judges))}
    assert seen == {True, False}


@pytest.mark.parametrize("member", ["judge_aware_ties", "position_aware_ties"])
def test_judges_who_can_run_off_with_ties_are_those_of_a_linear_program(member):
    """The program is asked only about those who have an order without ties, or nothing but ties."""
    model, seen = MODELS[member], set()
    for number in range(150):
        rng = generator(7, "separable with ties", number)
        n, k, size = rng.integers(2, 5), rng.integers(1, 4), rng.integers(3, 14)
        first = rng.integers(0, n, size)
        second = (first + rng.integers(1, n, size)) % n
        judge = np.unique(rng.integers(0, k, size), return_inverse=True)[1]
        outcome = np.where(rng.random(size) < 0.7, 1.0 * (first < second), rng.integers(0, 2, size))
        outcome = np.where((rng.random(size) < 0.35) | ((judge == 0) & (number % 5 == 0)), 0.5, outcome)
        judges = tuple("jkl"[: judge.max() + 1])
        cells = Comparisons(tuple("abcd"[:n]), judges, first, second, judge, outcome).with_ties().aggregate()
        expected = [number for number, name in enumerate(judges) if can_rise(cells.with_judges([name]), model)]
        assert separable_judges(cells, model).tolist() == expected
        seen.add(len(expected) > 0)
    assert seen == {True, False}


def test_where_nobody_can_run_off_nobody_is_tried(cells_of):
    cells = cells_of(*opposed(1.0))
    assert far_starts(cells, JUDGE_AWARE, Parameters.zeros(JUDGE_AWARE, cells), np.array([], int), 2.0) == ([], [])
    assert not separable_judges(cells, JUDGE_AWARE).size


# The loop of the exact climbs and the climb of small concave fits: how they end, and on which edges.


# The one loop of the exact climbs: how it ends, and what it does on an edge.


class Hill(Ascent[float]):
    """-(x - top)^2 / 2 over x >= 0 by half of Newton's steps; a point at zero stays there until it is released."""

    def __init__(self, top: float, furthest: float = np.inf, held: bool = True):
        self.top, self.furthest, self.held = top, furthest, held

    def settled(self, here: float) -> float:
        return max(here, 0.0)

    def strays(self, here: float) -> bool:
        return here > self.furthest

    def arrived(self, here: float) -> bool:
        return abs(self.top - here) < 1e-6 or (here == 0 and (self.held or self.top < 0))

    def released(self, here: float) -> float | None:
        if here > 0 or self.top <= 0:
            return None
        self.held = False
        return here

    def next_point(self, here: float) -> float:
        if here == self.top / 2:
            raise LinAlgError("no way up")
        return here + (self.top - here) / 2


def test_a_climb_ends_at_the_maximum_or_on_the_edge():
    assert ascended(Hill(3.0), 1.0, 100)[:2] == (pytest.approx(3.0, abs=1e-6), True)
    assert ascended(Hill(-3.0), 1.0, 100)[:2] == (0.0, True)


def test_what_would_rise_from_the_edge_is_released_and_goes_on():
    assert ascended(Hill(3.0), 0.0, 100)[:2] == (1.5, False)  # no way up half way
    end, done, steps = ascended(Hill(3.0), 0.1, 100)
    assert (done, steps) == (True, 22) and end == pytest.approx(3.0, abs=1e-6)


def test_a_climb_that_runs_off_or_is_out_of_steps_is_no_maximum():
    assert ascended(Hill(3.0, furthest=2.0), 1.0, 100)[1:] == (False, 2)
    end, done, steps = ascended(Hill(3.0), 1.0, 3)
    assert (end, done, steps) == (3.0 - 2.0 / 8, False, 3)


def test_a_step_is_halved_until_the_log_likelihood_rises_enough():
    """-(1 - 3 a)^2 rises along a at the rate six; a step of one overshoots, half of it falls back to a quarter."""
    size, there = backtracked(lambda a: -((1 - 3 * a) ** 2), lambda value: value, -1.0, 6.0, 1.0)
    assert (size, there) == (0.5, -0.25)
    with pytest.raises(LinAlgError, match="no ascent"):
        backtracked(lambda a: -2.0, lambda value: value, -1.0, 1.0, 1.0)
    assert (
        backtracked(lambda a: -1.0 - a, lambda value: value, -1.0, 1.0, 1.0, lambda value: value > -1.3)[0] == 0.25
    )


# The climb of small concave fits: where it ends, and what it says where there is no maximum.


def regression(seed, size=200):
    rng = np.random.default_rng(seed)
    x, count = rng.normal(size=(size, 3)), rng.integers(1, 5, size).astype(float)
    return x, rng.binomial(count.astype(int), 1 / (1 + np.exp(-x @ [2.0, -1.0, 0.3]))).astype(float), count


def test_derivatives_are_those_of_the_height():
    x, won, count = regression(1)
    at, step = np.array([0.3, -0.2, 1.0]), 1e-5
    _, gradient, information = logistic(x, won, count, at)
    ends = [[logistic(x, won, count, at + way * step * unit) for way in (1, -1)] for unit in np.eye(3)]
    np.testing.assert_allclose(gradient, [(up[0] - down[0]) / (2 * step) for up, down in ends], rtol=1e-6)
    np.testing.assert_allclose(information, [(down[1] - up[1]) / (2 * step) for up, down in ends], rtol=1e-6)


@pytest.mark.parametrize("far", [0.0, 5.0, 30.0])
def test_the_maximum_is_found_from_anywhere(far):
    x, won, count = regression(2)
    at, height, information = peak(lambda b: logistic(x, won, count, b), np.full(3, far), "no")
    best = minimize(lambda b: -logistic(x, won, count, b)[0], np.zeros(3), tol=1e-12)
    np.testing.assert_allclose(at, best.x, atol=1e-5)
    again = logistic(x, won, count, at)
    assert height == again[0]
    np.testing.assert_array_equal(information, again[2])
    assert np.abs(again[1]).max() < 1e-9


def test_a_regression_without_a_maximum_is_refused():
    x, _, count = regression(3)
    for won in (count * (x[:, 0] > 0), count * (x @ [1.0, 2.0, -1.0] > 0), count):
        columns = np.c_[x[:, :2], np.ones(len(x))] if won is count else x
        with pytest.raises(NoMaximumError, match="runs off"):
            peak(lambda b, c=columns, w=won: logistic(c, w, count, b), np.zeros(3), "runs off")


def test_a_judge_whose_fit_does_not_settle_has_no_p_value(monkeypatch):
    rows = drawn_in_halves(1, 2000, 2.0)
    monkeypatch.setattr("judgerank.engine.ascent.STEPS", 1)
    found = drift(rows)
    assert len(found) == 4
    assert found[["statistic", "p_value", "p_holm"]].isna().all().all()
    assert drifted(rows, 0.95) == ()


# Exact fits of a ranking where a judge runs off: the order with the highest supremum.


def thin_panel(seed: int) -> Comparisons:
    """130 comparisons of 20 models by four judges, some of whom agree with an order of their own."""
    rng = generator(seed, "suprema")
    return drawn_comparisons(rng, rng.normal(0, 1, 20), np.exp(rng.normal(0, 1, 4)), 130)


def sharp(seed: int, size: int = 150) -> Comparisons:
    """Comparisons of six models by six judges, most of them sharp."""
    rng = generator(seed, "above")
    return drawn_comparisons(rng, rng.normal(0, 1, 6), np.exp(rng.normal(0.5, 0.7, 6)), size)


def drawn_comparisons(rng: np.random.Generator, scores: np.ndarray, gamma: np.ndarray, size: int) -> Comparisons:
    n = len(scores)
    i = rng.integers(n, size=size)
    j, k = (i + rng.integers(1, n, size=size)) % n, rng.integers(len(gamma), size=size)
    won = rng.random(size) < 1 / (1 + np.exp(-gamma[k] * (scores[i] - scores[j])))
    frame = pd.DataFrame({"model_a": i, "model_b": j, "judge_model": k}).astype(str)
    return Comparisons.from_frame(frame.assign(judge_preferred_model=np.where(won, "a", "b")))


def supremum(result) -> float:
    """The height that a climb from the fit approaches."""
    return height(far_end(result.comparisons, result.model, result.solution.parameters, Newton()))


def test_a_ranking_has_the_order_of_the_highest_supremum():
    gains = []
    for seed in range(24):
        data = thin_panel(seed)
        try:
            plain = fit(data, POSITION_AWARE)
        except JudgerankError:
            continue
        if plain.status is Status.UNBOUNDED:
            higher = fit_highest(data, POSITION_AWARE)
            assert higher.status is Status.UNBOUNDED and higher.settings == plain.settings
            gains.append(supremum(higher) - supremum(plain))
    assert len(gains) >= 6
    assert min(gains) > -1e-3
    assert max(gains) > 0.3


def log_likelihood(result, at: Parameters) -> float:
    """Of comparisons without ties, by hand."""
    c = result.comparisons
    eta = np.exp(at.judges[0])[c.judge] * (at.scores[c.first] - at.scores[c.second])
    eta = eta if len(at.judges) == 1 else eta + at.judges[1][c.judge]
    return float(c.count @ (c.outcome * log_expit(eta) + (1 - c.outcome) * log_expit(-eta)))


@pytest.mark.parametrize(
    ("seed", "member"), [(16, POSITION_AWARE), (25, POSITION_AWARE), (36, JUDGE_AWARE), (57, JUDGE_AWARE)]
)
def test_a_ranking_calls_no_point_a_maximum_above_which_a_judge_runs_off(seed, member):
    plain = fit(sharp(seed), member)
    assert plain.status.converged  # the search is for maxima
    assert plain.log_likelihood == pytest.approx(log_likelihood(plain, plain.solution.parameters))
    above = end_above(plain.comparisons, plain.model, plain.solution.parameters, Newton())
    assert log_likelihood(plain, above) > plain.log_likelihood + 0.05
    highest = fit_highest(sharp(seed), member)
    assert highest.status is Status.UNBOUNDED and highest.unbounded_judges


def test_a_maximum_with_nothing_above_stays():
    for seed in range(4):
        plain, highest = fit(sharp(seed, 2000), JUDGE_AWARE), fit_highest(sharp(seed, 2000), JUDGE_AWARE)
        assert highest.status is plain.status is Status.INTERIOR
        assert (highest.scores == plain.scores).all()
