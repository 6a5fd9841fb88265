"""Ties of two bad answers: counted by model and question, and ties in the fit all the same."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm, t

from judgerank import rank, read
from judgerank.inference.wald import effective_trials, wilson
from judgerank.ranking.studies.failures import by_model

FAILS = {"good": 0.15, "middling": 0.4, "poor": 0.8}


@pytest.fixture(scope="module")
def table():
    rng, size = np.random.default_rng(0), 900
    names = np.array(list(FAILS))
    ends = np.array([rng.permutation(3)[:2] for _ in range(size)])
    bad = rng.random(size) < np.prod(np.array(list(FAILS.values()))[ends], axis=1)
    won = rng.random(size) < 1 / (1 + np.exp(ends[:, 0] - ends[:, 1]))
    asked = rng.integers(150, size=size)
    winner = np.where(
        bad, "tie (bothbad)", np.where(rng.random(size) < 0.1, "tie", np.where(won, "model_a", "model_b"))
    )
    columns = {"model_a": names[ends[:, 0]], "model_b": names[ends[:, 1]], "question_id": asked, "judge": "people"}
    return pd.DataFrame(columns | {"winner": winner})


def test_both_bad_is_a_tie_in_the_fit_and_counted_beside_it(table):
    known, plain = (
        rank(read(table)),
        rank(read(table.assign(winner=table["winner"].replace("tie (bothbad)", "tie")))),
    )
    pd.testing.assert_frame_equal(known.tables["leaderboard"], plain.tables["leaderboard"])
    assert "failures" not in plain.tables and not any("bad" in text for text in plain.remarks)
    found = known.tables["failures"].set_index("model")
    assert found.index.tolist() == ["poor", "middling", "good"]
    bad = table["winner"] == "tie (bothbad)"
    own = (table["model_a"] == "poor") | (table["model_b"] == "poor")
    assert found.loc["poor", "both_bad"] == (bad & own).sum() and found.loc["poor", "comparisons"] == own.sum()
    assert any(
        text.startswith(f"Both answers are bad in {bad.mean():.1%} of comparisons") for text in known.remarks
    )
    questions = known.tables["failed_questions"]
    assert (questions["low"].diff().dropna() <= 0).all() and (questions["both_bad"] > 0).all()


@pytest.mark.parametrize(("share", "many"), [(0.0, 7), (0.3, 10), (1.0, 4), (0.02, 400)])
def test_intervals_are_wilsons(share, many):
    exact = binomtest(round(share * many), many).proportion_ci(0.9, "wilson")
    assert wilson(round(share * many) / many, many, 0.9) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_answers_to_one_question_count_as_one(table):
    """Every record five times over: errors by question are as they were, but for the number of questions."""
    judgments = read(table)
    bad = judgments.frame["both_bad"].to_numpy(bool)
    again = read(pd.concat([table] * 5, ignore_index=True), copies="keep")
    one, five = by_model(judgments, bad, 0.95), by_model(again, again.frame["both_bad"].to_numpy(bool), 0.95)
    np.testing.assert_allclose(five["share"], one["share"])
    assert ((five["high"] - five["low"]) > 0.9 * (one["high"] - one["low"])).all()


def test_trials_of_few_questions_count_less():
    """Ten answers to each of four questions: by their spread, and by what Student's t leaves of it."""
    failures, answers = np.array([1.0, 4.0, 2.0, 5.0]), np.full(4, 10.0)
    share, many = effective_trials(failures, answers, 40.0, 0.9)
    variance = (failures / 10).var(ddof=1) / 4
    assert share == pytest.approx(0.3)
    assert many == pytest.approx(0.3 * 0.7 / variance * (norm.ppf(0.95) / t.ppf(0.95, 3)) ** 2)
    assert effective_trials(np.zeros(4), answers, 40.0, 0.9) == (0.0, 4.0)


def test_questions_count_where_a_model_never_fails():
    """Eight judges who agree: a share of none has the interval of its questions, and one of all likewise."""
    size, judges = 30, 8
    asked = np.arange(size)
    winner = np.select([asked % 3 == 0, asked % 3 == 1], ["tie (bothbad)", "model_a"], "model_b")
    ends = {
        "model_a": np.where(asked % 3 == 0, "poor", "good"),
        "model_b": np.where(asked % 3 == 0, "bad", "fair"),
    }
    one = pd.DataFrame(ends | {"question_id": asked, "winner": winner})
    judgments = read(pd.concat([one.assign(judge=f"judge-{k}") for k in range(judges)], ignore_index=True))
    found = by_model(judgments, judgments.frame["both_bad"].to_numpy(bool), 0.95).set_index("model")
    assert (found["comparisons"] == judges * np.where(found["share"] > 0, 10, 20)).all()
    assert found.loc["good", ["low", "high"]].tolist() == pytest.approx(wilson(0.0, 20, 0.95))
    assert found.loc["poor", ["low", "high"]].tolist() == pytest.approx(wilson(1.0, 10, 0.95))


def test_intervals_hold_the_share_of_impossible_questions():
    """Of 400, models without failures among them; eight judges, and one question in ten is impossible."""
    rng, truth, held, size = np.random.default_rng(18), 0.1, [], 30
    judges = np.repeat([f"judge-{k}" for k in range(8)], size)
    for _ in range(100):
        ends = np.tile(rng.permuted(np.tile(np.arange(4), (size, 1)), axis=1)[:, :2], (8, 1))
        impossible, won = np.tile(rng.random(size) < truth, 8), rng.random(8 * size) < 0.5
        winner = np.where(impossible, "tie (bothbad)", np.where(won, "model_a", "model_b"))
        columns = {"model_a": ends[:, 0].astype(str), "model_b": ends[:, 1].astype(str), "judge": judges}
        judgments = read(pd.DataFrame(columns | {"question_id": np.tile(np.arange(size), 8), "winner": winner}))
        if impossible.any():
            found = by_model(judgments, judgments.frame["both_bad"].to_numpy(bool), 0.95)
            held += ((found["low"] <= truth) & (truth <= found["high"])).tolist()
    assert 0.92 < np.mean(held) < 0.985


def test_other_words_for_it_and_the_page(table, tmp_path):
    said = table.assign(winner=table["winner"].replace("tie (bothbad)", "Both Bad"))
    assert read(said).frame["both_bad"].sum() == (table["winner"] == "tie (bothbad)").sum()
    rank(read(said)).write(tmp_path / "out")
    assert "How often both answers are bad, by model" in (tmp_path / "out" / "index.html").read_text()
    assert (tmp_path / "out" / "failures.csv").is_file()
