"""Algorithm A.1 held against printed columns: matches, stops, and gradients at the printed numbers."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import fit
from judgerank.data.errors import ConfigError
from judgerank.engine.adam import Adam, maximise
from judgerank.model.members import JUDGE_AWARE, Parameters
from judgerank.model.streams import generator
from replication import published
from replication.datasets import load_judgments
from replication.random_designs import draw_comparisons, draw_truth
from replication.stopping import (
    LIMIT,
    Path,
    Tried,
    combinations_of,
    followed,
    gradient_at_printed,
    one_at_a_time,
    printed_differences,
    same_as_printed,
    search,
    stops,
)
from tests.real_data import needs_data
from tests.replication.test_config import composed


def panel():
    rng = generator(1, "stopping")
    return draw_comparisons(rng, draw_truth(rng, 5, 4, 1.0, 0.5), 4000)


def print_as(monkeypatch, cells, gammas):
    """Let the paper have printed these discriminations, and no score."""
    table = pd.Series(gammas, list(cells.judges))
    scores = pd.Series(np.nan, list(cells.models))
    monkeypatch.setattr(published, "numbers", lambda name, _: table if "judge" in name else scores)


def test_a_number_is_the_printed_one_at_two_decimals_only():
    found = same_as_printed(np.array([1.2349, 1.2351, 1.0]), np.array([1.23, 1.23, np.nan]))
    assert found.tolist() == [True, False, False]


def test_a_path_ends_where_the_solver_does():
    cells, start = panel(), Parameters(np.zeros(5), np.zeros((1, 4)))
    settings = Adam(max_iterations=300, tolerance=0.0)
    (path,) = Path.together([(cells, start, settings)])
    solved = maximise(cells, JUDGE_AWARE, settings)
    assert np.array_equal(path.scores[-1], solved.parameters.scores)
    assert np.array_equal(path.log_discrimination[-1], solved.parameters.judges[0])
    moved = np.diff(path.scores, axis=0), np.diff(path.log_discrimination, axis=0)
    assert_allclose(path.euclidean[1:], np.max([np.linalg.norm(one, axis=1) for one in moved], axis=0))
    assert_allclose(path.maximum[1:], np.max([np.abs(one).max(axis=1) for one in moved], axis=0))


def test_small_steps_are_compared_at_every_tenth_iteration_at_round_ones_and_the_last():
    cells, start = panel(), Parameters(np.zeros(5), np.zeros((1, 4)))
    small, smaller = (Adam(1e-4, step, max_iterations=1010, tolerance=0.0) for step in (1e-5, 3e-5))
    at = {step: Path.together([(cells, start, settings)])[0] for step, settings in ((10, small), (3, smaller))}
    assert at[10].iterations.tolist() == list(range(10, 1011, 10))
    assert set(at[3].iterations) == {*range(3, 1011, 3), 1000, 1010}
    alone = maximise(cells, JUDGE_AWARE, replace(small, max_iterations=1000)).parameters
    assert np.array_equal(at[10].log_discrimination[99], alone.judges[0])


def test_stops_are_the_first_to_meet_their_rule():
    matched = pd.DataFrame({"both_matched": [0, 2, 2, 1], "largest_difference": [4.0, 3.0, 1.0, 2.0]})
    frame = matched.set_axis([999, 1000, 1001, 2000]).assign(euclidean=[1.0, 1e-3, 1e-4, 1e-4], maximum=1e-4)
    rule = "euclidean norm of the update at most"
    (_, nearest), (_, most_matched), *by_rule = stops(frame)
    assert (nearest, most_matched) == (1001, 1000)
    assert dict(by_rule) == {LIMIT: 1000, f"{rule} 0.001": 1000, f"{rule} 0.0001": 1001}


def test_settings_differ_in_one_respect():
    found = list(one_at_a_time(Tried(9), start=["b"], steps=[[0.5, 0.25]], betas=[[0.5, 0.75]]))
    steps, rates = Tried(9, step_scores=0.5, step_judges=0.25), Tried(9, beta1=0.5, beta2=0.75)
    assert found == [Tried(9), Tried(9, "b"), steps, rates]


def test_pairs_of_constants_are_two_numbers():
    with pytest.raises(ConfigError, match=r"search.betas takes pairs .* not \[0.9\]"):
        list(one_at_a_time(Tried(9), betas=[[0.9]]))


def test_the_best_is_of_all_judges_and_a_round_number_comes_before_others(monkeypatch):
    cells = panel()
    print_as(monkeypatch, cells, fit(cells).discrimination.to_numpy())
    quick = Tried(3000, step_judges=1e-2)  # at its maximum before it ends, so that all late stops match the same
    zero = Parameters(np.zeros(5), np.zeros((1, 4)))
    result = search(
        SimpleNamespace(comparisons=cells),
        "made_up",
        [replace(quick, left_out=cells.judges[:1]), quick],
        {"zero": zero},
    )
    complete = result.rows[result.rows["left_out"] == "none"]
    assert (result.best["stop"], result.best["of"]) == (LIMIT, 4)
    assert result.best["matched"] == complete["matched"].max() == 4
    assert result.path.cells.judges == cells.judges


def test_grids_have_every_combination_as_far_as_its_steps_reach():
    grid = {"step_scores": [1e-2, 1e-3], "step_judges": [1e-3, 1e-4], "beta2": [0.9]}
    found = list(combinations_of(grid, 2.0))
    assert len({(one.step_scores, one.step_judges) for one in found}) == len(found) == 4
    assert {(one.length, one.step_judges, one.beta2) for one in found} == {(2000, 1e-3, 0.9), (20_000, 1e-4, 0.9)}


@needs_data
@pytest.mark.parametrize("beside", [1, 2])  # two runs are summed in one order, three and more in another
def test_ultrafeedbacks_numbers_come_out_in_smaller_steps_than_published_however_sums_round(beside):
    judgments = load_judgments(composed("judge_reliability").datasets.ultrafeedback)
    cells = judgments.comparisons.aggregate()
    zero = Parameters(np.zeros(len(cells.models)), np.zeros((1, len(cells.judges))))
    small = Tried(16_000, step_scores=5e-4, step_judges=1e-4, beta2=0.99)
    found = search(judgments, "ultrafeedback", [small, *[replace(small, beta2=0.999)] * beside], {"zero": zero})
    best = found.best
    assert (best["beta2"], best["matched"], best["of"]) == (0.99, 20, 20)
    assert best["scores_matched"] == best["scores_of"] == 5
    numbers = printed_differences(found, "ultrafeedback", fit(cells))
    assert numbers["reproduced"].sum() == 25
    assert numbers.groupby("column")["maximum"].min()["ultrafeedback"] == 0.0
    assert found.rows.query("beta2 == 0.999")["matched"].max() < 10


def test_rounded_estimates_are_settled_and_a_wrong_one_is_not(monkeypatch):
    cells = panel()
    gammas = fit(cells).discrimination.round(2).to_numpy()
    print_as(monkeypatch, cells, gammas)
    assert gradient_at_printed(cells, "made_up")["settled"].all()
    print_as(monkeypatch, cells, gammas + np.array([0.0, 0.3, 0.0, 0.0]))
    assert not gradient_at_printed(cells, "made_up")["settled"][1]


def test_runs_of_one_size_take_at_once_the_paths_that_they_take_alone():
    cells = panel()
    few = cells.with_judges(cells.judges[:3]).aggregate()
    at = {judges: Parameters(np.linspace(-1, 1, 5), np.zeros((1, judges))) for judges in (3, 4)}
    slow = Adam(max_iterations=40, tolerance=0.0)
    quick = Adam(max_iterations=30, tolerance=0.0, step_judges=1e-2)
    rates = replace(slow, beta1=0.5, beta2=0.95, epsilon=1e-2, step_scores=5e-3)
    runs = [(cells, at[4], slow), (few, at[3], slow), (cells.aggregate(), at[4], rates), (few, at[3], quick)]
    runs += [(few, Parameters(np.zeros(5), at[3].judges), slow), (few, at[3], rates)] * 10
    paths = dict(followed(runs))
    assert sorted(paths) == list(range(len(runs)))
    for number, run in enumerate(runs):
        path, (alone,) = paths[number], Path.together([run])
        assert path.cells is run[0]
        assert_allclose(path.scores, alone.scores, rtol=0, atol=1e-13)
        assert_allclose(path.log_discrimination, alone.log_discrimination, rtol=0, atol=1e-13)
        solved = maximise(run[0], JUDGE_AWARE, run[2], run[1]).parameters
        assert_allclose(path.scores[-1], solved.scores, rtol=0, atol=1e-13)
