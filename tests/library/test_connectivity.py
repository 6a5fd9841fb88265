"""Components, models that won or lost everything, and the condition for a maximum (Ford, 1957)."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerank import Comparisons, Status, fit
from judgerank.data.arrays import generator
from judgerank.data.connectivity import components, require_maximum, runaway_models
from judgerank.data.errors import ConfigError, DisconnectedError, JudgerankError, NoMaximumError
from judgerank.engine import search
from judgerank.engine.adam import Adam
from judgerank.engine.boundary import guess
from judgerank.engine.likelihood import evaluate, row_by_row
from judgerank.engine.localized import Localized
from judgerank.engine.newton import Newton, climb, line_point, newton_step
from judgerank.engine.penalised import on_the_scale_of_the_others
from judgerank.engine.search import maximise
from judgerank.engine.solution import log_odds
from judgerank.model.members import LENGTH, MODELS, POSITION_AWARE, Parameters
from studies.torture.fits import drawn

CYCLE = (("a", "b", "x", 1, 0), ("b", "c", "x", 1, 0), ("c", "a", "x", 1, 0))


@st.composite
def tournaments(draw):
    """Up to five models and a few rows, each a win, a loss, a tie or a share."""
    n = draw(st.integers(2, 5))
    pairs = st.permutations(range(n)).map(lambda order: order[:2])
    rows = draw(st.lists(st.tuples(pairs, st.sampled_from([0.0, 0.3, 0.5, 1.0, 1.0])), min_size=1, max_size=9))
    pair = np.array([row[0] for row in rows])
    outcome = np.array([row[1] for row in rows])
    zeros = np.zeros(len(rows), int)
    return Comparisons(tuple("abcde"[:n]), ("x",), pair[:, 0], pair[:, 1], zeros, outcome)


def wins(cells: Comparisons) -> set[tuple[str, str]]:
    """Pairs (winner, loser) of models; ties and shares count both ways."""
    named = [(cells.models[i], cells.models[j]) for i, j in zip(cells.first, cells.second, strict=True)]
    forth = {pair for pair, y in zip(named, cells.outcome, strict=True) if y > 0}
    return forth | {pair[::-1] for pair, y in zip(named, cells.outcome, strict=True) if y < 1}


def proper_subsets(models):
    return [set(group) for size in range(1, len(models)) for group in combinations(models, size)]


def closure(models, pairs) -> dict[str, frozenset]:
    """Models reachable from each model, itself included."""
    reach = {model: {model} for model in models}
    for _ in models:
        for a, b in pairs:
            for group in reach.values():
                if a in group:
                    group.add(b)
    return {model: frozenset(group) for model, group in reach.items()}


def test_a_connected_graph_is_one_component(cells_of):
    assert components(cells_of(*CYCLE)) == (("a", "b", "c"),)


def test_components_are_listed(cells_of):
    rows = (("d", "a", "x", 1, 0), ("b", "e", "y", 0, 1), ("e", "c", "x", 1, 0))
    assert components(cells_of(*rows)) == (("a", "d"), ("b", "c", "e"))


@given(cells=tournaments())
def test_components_equal_undirected_reachability(cells):
    edges = wins(cells) | {pair[::-1] for pair in wins(cells)}
    expected = {tuple(sorted(group)) for group in closure(cells.models, edges).values()}
    assert components(cells) == tuple(sorted(expected))


def test_a_cycle_of_wins_has_no_runaway(cells_of):
    assert runaway_models(cells_of(*CYCLE)) == ()


def test_a_model_that_won_everything_is_named(cells_of):
    cells = cells_of(*CYCLE, ("d", "a", "x", 3, 0), ("b", "d", "x", 0, 1))
    # the others lost every comparison with the models outside their group, so they are named too
    assert runaway_models(cells) == (("a", "b", "c"), ("d",))


def test_winners_losers_and_nobody_in_between_are_named(cells_of):
    cells = cells_of(*CYCLE, ("d", "a", "x", 1, 0), ("c", "e", "x", 1, 0))
    assert runaway_models(cells) == (("d",), ("e",))


def test_two_models_that_beat_all_the_rest_are_named_together(cells_of):
    top = (("e", "d", "x", 1, 1), ("d", "a", "x", 2, 0), ("e", "b", "x", 1, 0), ("c", "e", "x", 0, 1))
    assert ("d", "e") in runaway_models(cells_of(*CYCLE, *top))


@pytest.mark.parametrize("wins_and_losses", [(0.5, 0.5), (9, 1), (1, 9)])
def test_a_tie_or_a_share_connects_both_ways(cells_of, wins_and_losses):
    assert runaway_models(cells_of(("a", "b", "x", *wins_and_losses))) == ()


def test_wins_of_different_judges_connect(cells_of):
    assert runaway_models(cells_of(("a", "b", "x", 1, 0), ("a", "b", "y", 0, 1))) == ()


@given(cells=tournaments())
def test_no_runaway_exactly_if_every_group_won_and_lost_against_the_rest(cells):
    pairs = wins(cells)

    def beats_outside(group):
        return any(a in group and b not in group for a, b in pairs)

    assert (runaway_models(cells) == ()) == all(beats_outside(group) for group in proper_subsets(cells.models))


@given(cells=tournaments())
def test_runaways_are_the_strong_components_without_way_in_or_way_out(cells):
    reach = closure(cells.models, wins(cells))
    strong = {frozenset(b for b in reach[a] if a in reach[b]) for a in cells.models}
    ends = []
    for group in strong:
        way_out = any(not reach[a] <= group for a in group)
        way_in = any(reach[a] & group for a in set(cells.models) - group)
        if len(strong) > 1 and not (way_in and way_out):
            ends.append(tuple(sorted(group)))
    assert runaway_models(cells) == tuple(sorted(ends))


def test_a_maximum_exists_for_a_cycle(cells_of):
    assert require_maximum(cells_of(*CYCLE)) is None


def test_a_disconnected_graph_is_refused_with_its_components(cells_of):
    with pytest.raises(DisconnectedError, match=r"across its 2 components: a, b, c; d, e$") as caught:
        require_maximum(cells_of(*CYCLE, ("d", "e", "x", 1, 1)))
    assert caught.value.models == (("a", "b", "c"), ("d", "e"))


def test_a_runaway_is_refused_by_name(cells_of):
    with pytest.raises(NoMaximumError, match=r"won or lost every .*: a, b, c; d$") as caught:
        require_maximum(cells_of(*CYCLE, ("d", "a", "x", 0, 1)))
    assert caught.value.models == (("a", "b", "c"), ("d",))
    assert not isinstance(caught.value, DisconnectedError)


# Defects that were, each with its smallest reproducer.
GOOD = (("a", "b", "x", 70, 30), ("b", "c", "x", 65, 35), ("a", "c", "x", 80, 20))


def test_a_contrast_of_a_judge_is_its_own_if_another_judge_is_also_a_model(cells_of):
    found = fit(cells_of(("A", "B", "A", 30, 10), ("A", "B", "J", 35, 5), ("A", "B", "Z", 25, 15)))
    assert found.contrast({"J": 1})["estimate"] == pytest.approx(found.discrimination["J"])


def test_every_newton_step_goes_uphill(simulated):
    """The log-gamma correction comes after the check that `own` is positive definite: length steps may descend."""
    cells = simulated(
        11, (1.2, 0.3, -0.5, -1.0), (0.5, 1.0, 2.0), 900, slope=(0.3, -0.2, 0.1), ties=0.05
    ).aggregate()
    rng = np.random.default_rng(7)
    for _ in range(200):
        judges = 0.5 * rng.normal(size=(2, 3))
        at = Parameters(rng.normal(size=4), judges).normalised()
        here = evaluate(cells, LENGTH, at, "observed")
        step = newton_step(cells, LENGTH, at, here)
        assert here.top_gradient @ step.scores + np.sum(here.judge_gradient * step.judges) > 0


@pytest.mark.parametrize("half", [5_000, 50_000])
def test_a_weak_judge_with_many_comparisons_converges(cells_of, half):
    weak = [("a", "b", "w", half + 0.5, half - 0.5), ("b", "c", "w", half, half), ("a", "c", "w", half, half)]
    found = fit(cells_of(*GOOD, *weak))
    assert found.status is Status.INTERIOR


def test_a_length_fit_from_a_moderate_start_converges(simulated):
    cells = simulated(
        11, (1.2, 0.3, -0.5, -1.0), (0.5, 1.0, 2.0), 900, slope=(0.3, -0.2, 0.1), ties=0.05
    ).aggregate()
    found = maximise(cells, LENGTH, Newton()).parameters
    rng = np.random.default_rng(7)
    for _ in range(5):
        scores = 0.7 * found.scores + 0.2 * rng.normal(size=4)
        start = Parameters(scores, found.judges + 0.2 * rng.normal(size=found.judges.shape))
        assert maximise(cells, LENGTH, Newton(), start).status is Status.INTERIOR


def test_a_balanced_judge_is_at_zero_whatever_the_rounding(cells_of):
    """j0 and j2 are split evenly; a slope of 1e-17 instead of zero kept them in play with gamma 1e-6 and 5e10."""
    found = fit(
        cells_of(
            *(("a", "b", "j0", 3.0, 2.0), ("b", "a", "j0", 1.5, 0.5)),
            *(("a", "b", "j1", 0.5, 6.5), ("b", "a", "j1", 1.5, 4.5)),
            *(("a", "b", "j2", 3.0, 2.0), ("b", "a", "j2", 2.5, 1.5)),
        )
    )
    assert found.judges_at_zero == ("j0", "j2")
    assert found.discrimination["j1"] == pytest.approx(1.0)


def test_a_judge_that_ties_models_with_equal_scores_is_unbounded(cells_of):
    rows = [("a", "b", "x", 10, 10), ("a", "c", "x", 14, 6), ("b", "c", "x", 14, 6)]
    firm = [("a", "b", "firm", 5, 5), ("a", "c", "firm", 10, 0), ("b", "c", "firm", 10, 0)]
    assert fit(cells_of(*rows, *firm)).status is Status.UNBOUNDED


def test_a_judge_whose_difference_shrinks_as_it_runs_off_is_unbounded(cells_of):
    """The panel mildly prefers b to a, `firm` a to b, and both beat c always: gamma -> inf, s_a - s_b -> 0."""
    rows = [("a", "b", "x", 45, 55), ("a", "c", "x", 70, 30), ("b", "c", "x", 70, 30)]
    firm = [("a", "b", "firm", 14, 6), ("a", "c", "firm", 10, 0), ("b", "c", "firm", 10, 0)]
    assert fit(cells_of(*rows, *firm)).status is Status.UNBOUNDED


def test_an_unbounded_judge_leaves_the_others_their_intervals():
    first = np.array([0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5])
    second = np.array([2, 2, 3, 3, 5, 1, 5, 2, 4, 0, 0, 1, 2, 1, 4, 4])
    judge = np.array([0, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 1])
    outcome = np.array([0, 0, 0, 0, 0, 1, 1, 0.5, 0, 0, 1, 0, 0, 1, 1, 0.25])
    count = np.where(np.arange(16) == 15, 2.0, 1.0)
    found = fit(Comparisons(tuple("abcdef"), ("j0", "j1"), first, second, judge, outcome, count))
    assert found.status is Status.UNBOUNDED
    rows = found.confidence_intervals().set_index("name")
    away = list(found.unbounded_judges)
    assert rows.loc[away, ["low", "high"]].isna().all(axis=None)
    assert rows.drop(away)[["low", "high"]].notna().all(axis=None)


def test_opposed_judges_are_not_told_that_nobody_agrees_with_an_order(cells_of):
    """Two equally good maxima, and the start is the saddle between them."""
    found = fit(cells_of(("a", "b", "x", 8, 2), ("a", "b", "y", 2, 8)))
    assert found.status is Status.BOUNDARY
    assert len(found.judges_at_zero) == 1
    assert abs(found.scores["a"] - found.scores["b"]) == pytest.approx(np.log(4))


def test_a_broadcast_count_is_a_count():
    zeros = np.zeros(2, int)
    rows = Comparisons(tuple("ab"), ("j",), zeros, zeros + 1, zeros, np.array([1.0, 0.0]), np.broadcast_to(2.0, 2))
    assert rows.aggregate().outcome.tolist() == [0.5]


@pytest.mark.parametrize("settings", [Newton, Adam, Localized])
def test_no_iterations_are_a_setting_that_is_refused(settings):
    with pytest.raises(ConfigError, match="max_iterations"):
        settings(max_iterations=0)


def test_the_last_newton_step_may_be_the_one_that_converges(cells_of):
    cells = cells_of(("a", "b", "x", 60, 20), ("a", "b", "y", 50, 30))
    needed = fit(cells).solution.iterations
    found = fit(cells, solver=replace(Newton(), max_iterations=needed))
    assert found.converged


def test_a_covariate_that_is_not_finite_is_refused_by_record_and_column(frame):
    rows = frame(("a", "b", "x", "a"), ("b", "a", "x", "a")).assign(z=[0.0, np.nan])
    with pytest.raises(JudgerankError, match=r"record 2 .*'z'"):
        Comparisons.from_frame(rows, covariate="z")


def test_a_covariate_of_words_is_a_data_error(frame):
    with pytest.raises(JudgerankError):
        Comparisons.from_frame(frame(("a", "b", "x", "a")).assign(z=["long"]), covariate="z")


@pytest.mark.parametrize("seed", [327, 3187, 4284, 5146])
def test_no_small_panel_crashes(seed):
    """RuntimeWarning in matmul , or ValueError of cho_factor: infinities reach the solve."""
    rng = np.random.default_rng(seed)
    n, k, size = rng.integers(2, 7), rng.integers(1, 6), rng.integers(10, 81)
    s, g = rng.normal(size=n), rng.normal(0.6, 0.8, size=k)
    i = rng.integers(n, size=size)
    j = (i + rng.integers(1, n, size=size)) % n
    judge = rng.integers(k, size=size)
    y = (rng.random(size) < 1 / (1 + np.exp(-g[judge] * (s[i] - s[j])))).astype(float)
    y[rng.random(size) < 0.1] = 0.5
    names = tuple(f"m{x}" for x in range(n)), tuple(f"j{x}" for x in range(k))
    with contextlib.suppress(JudgerankError):
        fit(Comparisons(*names, i, j, judge, y))


def few(member: str, seed: int, most: int) -> Comparisons:
    """Some ten judgments of three models, or up to so many, by two judges, with lengths."""
    settings = {"member": member, "models": [3, most], "judges": [2, 2], "comparisons": [8, 8 + 2 * most]}
    return drawn(settings, np.random.default_rng(seed))


def test_scores_beside_a_judge_who_runs_off_do_not_hang_on_where_a_climb_stopped():
    """With slopes nothing holds such a judge: scores moved by .08 as models were renamed."""
    member, settings = "position_length", {"models": [3, 6], "judges": [1, 5], "comparisons": [4, 160]}
    rows = drawn(settings | {"member": member}, generator(2026, "torture_scales", member, 44))
    cells, model = rows.aggregate(), MODELS[member]
    never = -np.inf
    judges = [[-1.7, 3.8, -2.0, never, never], [-2.0, -2.0, -2.0, 0.0, 0.0], [7.0, -1867.0, 1.9, -22.0, 22.0]]
    near = Parameters(np.array([8.3, 2.4, -3.5, 2.3, -9.5]), np.array(judges))  # judge 1 runs off
    ends = [climb(cells, model, Newton(max_iterations=most), near, furthest=1e9) for most in (3, 200)]
    held = [search.held_far_out(cells, model, Newton(), end) for end in ends]
    before, after = ([on_the_scale_of_the_others(cells, model, end) for end in both] for both in (ends, held))
    assert np.abs(before[0].parameters.scores - before[1].parameters.scores).max() > 1e-3
    np.testing.assert_allclose(after[0].parameters.scores, after[1].parameters.scores, atol=1e-9)


def test_a_judge_who_runs_off_beside_slopes_is_held_at_one_place_and_the_others_at_their_best():
    found = fit(few("length", 3, 3), "length")
    assert (found.status, found.unbounded_judges) == (Status.UNBOUNDED, ("j0",))
    at, cells = found.solution.parameters, found.comparisons
    assert log_odds(at)[0] == pytest.approx(search.MAX_CLIMB_LOG_ODDS)
    height = evaluate(cells, LENGTH, at).log_likelihood
    rng = np.random.default_rng(0)
    for _ in range(100):
        judges = at.judges + 1e-3 * rng.normal(size=at.judges.shape)
        judges[1] = np.clip(judges[1], -2, 2)
        there = Parameters(at.scores + 1e-3 * rng.normal(size=len(at.scores)), judges)
        judges[0, 0] += np.log(search.MAX_CLIMB_LOG_ODDS / log_odds(there)[0])
        assert evaluate(cells, LENGTH, there).log_likelihood <= height + 1e-12


def test_where_all_answers_are_certain_no_judge_is_held():
    """The likelihood is flat there, so that a climb from another place would end at another one."""
    cells, model = few("position_length", 2, 4).aggregate(), MODELS["position_length"]
    end = climb(cells, model, Newton(), guess(cells, model, search.unweighted_scores(cells, Newton())))
    assert end.status is Status.UNBOUNDED
    assert search.held_far_out(cells, model, Newton(), end) is end


def test_a_step_is_linear_in_the_predictors_of_a_judge_who_leads(cells_of):
    cells = cells_of(("a", "b", "x", 9, 1), ("b", "c", "x", 8, 2), ("a", "b", "y", 6, 4), ("a", "c", "y", 7, 3))
    at = Parameters(np.array([2.0, 0.0, -2.0]), np.array([[3.0, -3.0], [5.0, 0.1]]))
    step = Parameters(np.array([0.3, -0.1, -0.2]), np.array([[0.5, -0.2], [7.0, 0.3]]))
    rows = cells.judge == 0
    here, half, whole = (
        row_by_row(cells, POSITION_AWARE, line_point(at, step, size, POSITION_AWARE.offsets, leader=0)).eta[rows]
        for size in (0.0, 0.5, 1.0)
    )
    np.testing.assert_allclose(whole - here, 2 * (half - here), rtol=1e-12)
    assert np.ptp(whole - here) > 1
