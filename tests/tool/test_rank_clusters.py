"""Rankings by the unit that was sampled: the single judgment where no question is named, or a column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import rank
from judgerank.model.streams import generator

ENDS = ["score", "low", "high", "win_rate", "rank_low", "rank_high"]
TESTS = ["difference", "standard_error", "low", "high", "p_value", "p_holm"]


def votes(name: str, n_rows: int = 240, n_models: int = 4) -> pd.DataFrame:
    """Judgments by four judges with a third of ties, each on a question of its own."""
    rng = generator(0, "rank clusters", name)
    ends = np.array([rng.choice(n_models, 2, replace=False) for _ in range(n_rows)])
    lead = (ends[:, 1] - ends[:, 0]) * 0.5 + rng.logistic(size=n_rows)
    names = np.array([f"m{i}" for i in range(n_models)])
    frame = pd.DataFrame({"model_a": names[ends[:, 0]], "model_b": names[ends[:, 1]]})
    frame["judge"] = [f"j{k}" for k in rng.integers(0, 4, n_rows)]
    frame["winner"] = np.where(np.abs(lead) < 0.7, "tie", np.where(lead > 0, "a", "b"))
    return frame.assign(question=[f"q{number:04d}" for number in range(n_rows)])


def assert_same_ranking(one, other) -> None:
    assert one.leaderboard["model"].tolist() == other.leaderboard["model"].tolist()
    assert_allclose(*(ranking.leaderboard[ENDS].astype(float) for ranking in (one, other)), rtol=1e-9)
    first, second = (ranking.pairs.sort_values(["first", "second"]) for ranking in (one, other))
    assert first["test"].tolist() == second["test"].tolist()
    assert_allclose(first[TESTS].astype(float), second[TESTS].astype(float), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"solver": "newton"}, {"blocks": ["taste"]}], ids=str)
def test_a_file_without_questions_is_ranked_as_with_an_id_for_every_judgment(settings):
    frame = votes("ids")
    assert_same_ranking(rank(frame, **settings), rank(frame.drop(columns="question"), **settings))


def test_so_is_one_with_fewer_judgments_than_parameters():
    frame = votes("few", n_rows=9, n_models=3)
    assert_same_ranking(rank(frame), rank(frame.drop(columns="question")))


def test_a_row_that_counts_for_several_is_as_many_judgments():
    frame = votes("counted").drop(columns="question")
    counted = frame.groupby(list(frame)).size().rename("count").reset_index()
    assert counted["count"].max() > 2
    assert_same_ranking(rank(frame), rank(counted, columns={"count": "count"}))


def test_a_ranking_of_several_answers_is_one_judgment():
    rng = generator(0, "rank clusters", "rankings")
    rows = [" > ".join(f"m{i}" for i in np.argsort(rng.gumbel(size=4) - np.arange(4) * 0.4)) for _ in range(90)]
    frame = pd.DataFrame({"ranking": rows, "judge": [f"j{n % 3}" for n in range(90)]})
    named = frame.assign(question=[f"q{n:03d}" for n in range(90)])
    assert_same_ranking(rank(named), rank(frame))


def test_errors_are_the_models_own_on_request_alone():
    frame = votes("none").drop(columns="question")
    by_judgment, by_model = rank(frame), rank(frame, cluster="none")
    assert by_judgment.fit.robust is not None and by_model.fit.robust is None
    wide, wider = (
        (board["high"] - board["low"]).mean() for board in (by_judgment.leaderboard, by_model.leaderboard)
    )
    assert wide < wider  # ties vary less than the model's wins and losses
