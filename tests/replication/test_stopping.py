"""Algorithm A.1 held against printed columns: matches, stops, and gradients at the printed numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank import fit
from judgerank.engine.adam import Adam, maximise
from judgerank.model.members import JUDGE_AWARE, Parameters
from judgerank.model.streams import generator
from replication import published
from replication.random_designs import draw_comparisons, draw_truth
from replication.stopping import (
    Path,
    Tried,
    followed,
    gradient_at_printed,
    one_at_a_time,
    same_as_printed,
    stops,
)


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
    path, solved = Path.of(cells, start, settings), maximise(cells, JUDGE_AWARE, settings)
    assert np.array_equal(path.scores[-1], solved.parameters.scores)
    assert np.array_equal(path.log_discrimination[-1], solved.parameters.judges[0])


def test_stops_are_the_first_to_meet_their_rule():
    frame = pd.DataFrame({"matched": [0, 2, 2, 1], "largest_difference": [4.0, 3.0, 1.0, 2.0]}, index=[1, 2, 3, 4])
    frame = frame.assign(euclidean=[1.0, 1e-3, 1e-4, 1e-4], maximum=1.0)
    rule = "euclidean norm of the update at most"
    expected = {"nearest": 3, "most matched": 2, f"{rule} 0.001": 2, f"{rule} 0.0001": 3}
    assert dict(stops(frame)) == expected


def test_settings_differ_in_one_respect():
    found = list(one_at_a_time(Tried(), start=["b"], steps=[[0.5, 0.25]]))
    assert found == [Tried(), Tried("b"), Tried(step_scores=0.5, step_judges=0.25)]


def test_rounded_estimates_are_settled_and_a_wrong_one_is_not(monkeypatch):
    cells = panel()
    gammas = fit(cells).discrimination.round(2).to_numpy()
    print_as(monkeypatch, cells, gammas)
    assert gradient_at_printed(cells, "made_up")["settled"].all()
    print_as(monkeypatch, cells, gammas + np.array([0.0, 0.3, 0.0, 0.0]))
    assert not gradient_at_printed(cells, "made_up")["settled"][1]


def test_runs_of_few_rows_take_at_once_the_paths_that_they_take_alone():
    cells = panel()
    few = cells.with_judges(cells.judges[:3]).aggregate()
    at = {judges: Parameters(np.linspace(-1, 1, 5), np.zeros((1, judges))) for judges in (3, 4)}
    slow, quick = (Adam(max_iterations=many, step_judges=step) for many, step in ((40, 1e-3), (30, 1e-2)))
    runs = [(cells, at[4], slow), (few, at[3], slow), (cells.aggregate(), at[4], slow), (few, at[3], quick)]
    runs += [(few, Parameters(np.zeros(5), at[3].judges), slow)] * 20
    for run, path in zip(runs, followed(runs), strict=True):
        alone = Path.of(*run)
        assert path.cells is run[0]
        assert np.array_equal(path.scores, alone.scores)
        assert np.array_equal(path.log_discrimination, alone.log_discrimination)
        solved = maximise(run[0], JUDGE_AWARE, replace(run[2], tolerance=0.0), run[1]).parameters
        assert np.array_equal(path.scores[-1], solved.scores)
