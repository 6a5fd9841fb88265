"""Rankings by the unit that was sampled: the single judgment where no question is named, or a column."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from judgerank import fit, rank, read
from judgerank.data.errors import ConfigError, DataError
from judgerank.inference.clusters import two_way
from judgerank.model.streams import generator
from tests.tool.command import judgerank

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
    written, given = (
        rank(source, columns=names) for source, names in ((frame, None), (counted, {"count": "count"}))
    )
    assert_same_ranking(written, given)


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
    widths = [(board["high"] - board["low"]).mean() for board in (by_judgment.leaderboard, by_model.leaderboard)]
    assert 0.9 < widths[0] / widths[1] < 1.1  # the model allows for ties, which vary less than wins and losses


# Units that are named.


@pytest.fixture(scope="module")
def crossed() -> pd.DataFrame:
    """Judgments of 40 questions, each by several of 24 raters, from templates of eight questions."""
    rng, frame = generator(0, "rank clusters", "raters"), votes("crossed", n_rows=480)
    number, rater = rng.integers(0, 40, 480), rng.integers(0, 24, 480)
    columns = {"question": [f"q{n:02d}" for n in number], "template": [f"t{n // 8}" for n in number]}
    return frame.assign(**columns, person=[f"r{n:02d}" for n in rater])


def test_question_by_name_is_the_default(crossed):
    assert_same_ranking(rank(crossed), rank(crossed, cluster="question"))
    assert_same_ranking(rank(crossed), rank(crossed, cluster=["question"]))


def test_a_column_with_the_ids_of_questions_is_their_like(crossed):
    other = crossed.assign(unit=crossed["question"].map({f"q{n:02d}": f"u{97 * n % 40}" for n in range(40)}))
    assert_same_ranking(rank(crossed), rank(other, cluster="unit"))


def test_the_two_ways_are_the_sum_of_either_less_both(crossed):
    judgments = read(crossed, keep=["person"])
    fitted = fit(judgments, "judge_aware")
    question, rater = judgments.question, judgments.unit("person")
    of_both = fitted.clustered(cluster=(question, rater)).covariance
    parts = [fitted.clustered(cluster=labels).covariance for labels in (question, rater, question * 24 + rater)]
    assert np.linalg.eigvalsh(parts[0] + parts[1] - parts[2])[0] > -1e-9
    assert_allclose(of_both, parts[0] + parts[1] - parts[2], rtol=1e-9, atol=1e-12)


def test_crossed_clusters_have_no_order_and_no_names(crossed):
    one = rank(crossed, cluster=("question", "person"))
    assert one.fit.across is not None and one.fit.degrees_of_freedom < 24
    assert_same_ranking(one, rank(crossed, cluster="person,question"))
    other = crossed.assign(person=crossed["person"].map(lambda name: f"p{int(name[1:]) * 7 % 24}"))
    assert_same_ranking(one, rank(other.sample(frac=1.0, random_state=1), cluster=["question", "person"]))


def test_a_variance_that_would_be_negative_is_none():
    first, both = np.diag([1.0, 2.0]), np.diag([3.0, 1.0])
    assert_allclose(two_way(first, first, both, np.ones(2)), np.diag([0.0, 3.0]), atol=1e-12)
    scale = np.array([4.0, 9.0])
    turned = two_way(*(np.outer(np.sqrt(scale), np.sqrt(scale)) * x for x in (first, first, both)), scale)
    assert_allclose(turned, np.diag([0.0, 27.0]), atol=1e-12)


def test_questions_within_templates_are_no_further_unit(crossed):
    one = rank(crossed, cluster=("question", "template"))
    assert one.sampled_by == "template"
    assert_same_ranking(one, rank(crossed, cluster="template"))


@pytest.mark.parametrize("cluster", ["template", "template,person"])
def test_pairs_are_tested_by_flips_where_there_are_few_units(crossed, cluster):
    ranking = rank(crossed, cluster=cluster)
    assert set(ranking.pairs["test"]) <= {"flips", "implied"}
    plain = rank(crossed).pairs["p_value"]
    assert ranking.pairs["p_value"].min() > 0.99 * 2.0**-4 > plain.min()


@pytest.mark.parametrize(
    ("cluster", "error"),
    [("templat", DataError), ("none,person", ConfigError), ("a,b,c", ConfigError), ("", ConfigError)],
)
def test_what_is_no_unit_is_refused_in_a_sentence(crossed, cluster, error):
    with pytest.raises(error):
        rank(crossed, cluster=cluster)


def test_a_unit_that_is_not_known_of_a_record_is_refused(crossed):
    with pytest.raises(DataError, match="record 7 "):
        rank(crossed.assign(person=crossed["person"].mask(crossed.index == 6)), cluster="person")


def test_the_command_takes_columns_once_or_twice(crossed, tmp_path):
    file = tmp_path / "votes.csv"
    crossed.to_csv(file, index=False)
    out = ["--output", tmp_path / "out", "--json", "--cluster"]
    once, twice = (
        judgerank("rank", file, *out, "template"),
        judgerank("rank", file, *out, "question", "--cluster", "person"),
    )
    assert json.loads(once.stdout)["cluster"] == "template"
    assert json.loads(twice.stdout)["cluster"].split(" and ") == ["question", "person"]
    wrong = judgerank("rank", file, *out, "templat")
    assert wrong.returncode == 1 and "template" in wrong.stdout


def test_the_column_of_judges_is_a_unit_by_its_own_name_too(crossed):
    file = crossed.drop(columns="judge").rename(columns={"person": "rater"})
    assert rank(file, cluster="question,rater").sampled_by.split(" and ") == ["question", "rater"]
    assert_same_ranking(rank(file, cluster="question,rater"), rank(file, cluster="question,judge"))


def test_a_plan_takes_the_values_of_a_column_for_questions(crossed, tmp_path):
    file = tmp_path / "votes.csv"
    crossed.to_csv(file, index=False)
    crossed.drop(columns="question").rename(columns={"template": "question"}).to_csv(
        tmp_path / "as.csv", index=False
    )
    named, read_as = (
        judgerank("plan", file, "--cluster", "template", "--json"),
        judgerank("plan", tmp_path / "as.csv", "--json"),
    )
    plans = [json.loads(run.stdout) for run in (named, read_as)]
    assert plans[0]["plan"] == plans[1]["plan"] and plans[0]["cluster"] == "template"
    assert plans[0]["plan"] != json.loads(judgerank("plan", file, "--json").stdout)["plan"]
    assert judgerank("plan", file, "--cluster", "templat").returncode == 1
    assert judgerank("plan", "--cluster", "template").returncode == 2
