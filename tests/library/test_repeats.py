"""Requests asked more than once: flip rates with intervals, and what repeats buy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, norm, t

from judgerank import Comparisons, fit
from judgerank.data.changed_answers import changed_answers
from judgerank.data.errors import ConfigError
from judgerank.ranking.ranking import rank
from judgerank.trust.repeats import Repeats, design_effect, repeats_of
from studies.fit_tests import Design, drawn
from tests.tool.command import judgerank

GOAL = "score_width=0.3"


def asked(seed: int, **settings) -> tuple[Comparisons, np.ndarray]:
    return drawn(
        Design(**{"judges": 3, "questions": 40, "pairs": 3, "repeats": 2} | settings), np.random.default_rng(seed)
    )


def flip_rate(request, answer, count) -> float:
    differ, pairs = changed_answers(request, answer, count)
    return differ.sum() / pairs.sum()


def test_pairs_of_answers_to_one_request_are_counted():
    request, answer = np.array([0, 0, 0, 1, 1, 2]), np.array([1.0, 0.0, 1.0, 0.5, 0.5, 1.0])
    differ, pairs = changed_answers(request, answer, np.ones(6))
    assert (differ.tolist(), pairs.tolist()) == ([2, 0, 0], [3, 1, 0])


def test_counts_are_as_many_answers():
    once = changed_answers(np.zeros(4, int), np.array([1.0, 1.0, 1.0, 0.0]), np.ones(4))
    counted = changed_answers(np.zeros(2, int), np.array([1.0, 0.0]), np.array([3.0, 1.0]))
    assert [x.tolist() for x in once] == [x.tolist() for x in counted]


def test_the_table_is_by_judge_and_of_all():
    rows, question = asked(1)
    found = repeats_of(fit(rows, "position_aware"), rows, question)
    assert found is not None
    table = found.table.set_index("judge")
    assert table.index.tolist() == ["all judges", "j0", "j1", "j2"]
    assert table.loc["all judges", "requests"] == table.loc["j0":, "requests"].sum()
    asked_for = np.c_[question, rows.first, rows.second, rows.judge]
    request = np.unique(asked_for, axis=0, return_inverse=True)[1].ravel()  # of another shape in numpy 2.0
    assert table.loc["all judges", "flip_rate"] == pytest.approx(flip_rate(request, rows.outcome, rows.count))
    mine = rows.judge == 1
    assert table.loc["j1", "flip_rate"] == pytest.approx(
        flip_rate(request[mine], rows.outcome[mine], rows.count[mine])
    )
    assert (table["low"] <= table["flip_rate"]).all()
    assert (table["flip_rate"] <= table["high"]).all()
    assert found.correlation == pytest.approx(1 - table["noise"].iloc[0])


def test_independent_answers_are_all_noise_and_a_judge_who_never_changes_has_none():
    rows, question = asked(2, questions=150)
    noisy = repeats_of(fit(rows, "position_aware"), rows, question)
    assert noisy is not None
    assert noisy.table["noise_high"].iloc[0] > 0.9
    assert noisy.table["second_answer"].iloc[0] > 0.7
    first = np.arange(len(rows)) - np.arange(len(rows)) % 2  # both answers are the first one
    same = Comparisons(
        rows.models, rows.judges, rows.first, rows.second, rows.judge, rows.outcome[first], ordered=True
    )
    still = repeats_of(fit(same, "position_aware"), same, question)
    assert still is not None
    row = still.table.iloc[0]
    assert (row["flip_rate"], row["noise"], row["second_answer"], row["pays_from"]) == (0, 0, 0, np.inf)
    assert 0 < row["high"] < 0.1
    assert list(still.sentences())[1].endswith("ask new questions instead.")
    free = noisy.table.assign(pays_from=0.01)
    who, told = Repeats(free).sentences()
    assert f"% of {free['requests'].iloc[1]} requests)" in who
    assert told.endswith("so asking again pays if a new question costs anything more to make.")


def test_a_second_answer_pays_from_the_price_at_which_both_cost_the_same():
    """Variance times cost of one answer and of two, a new question costing c beside its answers."""
    rows, question = asked(3, own=1.5)
    found = repeats_of(fit(rows, "position_aware"), rows, question)
    assert found is not None
    row, rho = found.table.iloc[0], found.correlation
    c = row["pays_from"]
    assert (c + 1) * 1 == pytest.approx((c + 2) * (1 + rho) / 2)
    assert row["second_answer"] == pytest.approx(2 / (1 + rho) - 1)


def test_intervals_of_a_coin_that_is_asked_twice_are_in_closed_form():
    """Its answers depart from an even chance by a half: what it changes is half of what is noise."""
    asked, changed = 41, 12
    question, answer = np.repeat(np.arange(asked), 2), np.zeros((asked, 2))
    answer[:changed, 0] = 1
    answer[changed::2] = 1  # of the other 29 questions 15, and 14 answered as often against
    answer = np.r_[answer.ravel(), 0.0, 0.0]
    question = np.r_[question, asked, asked + 1]  # two more, asked once, make the chance even
    ends = np.zeros(len(answer), int)
    rows = Comparisons(("a", "b"), ("coin",), ends, ends + 1, ends, answer, ordered=True)
    found = repeats_of(fit(rows, "btl"), rows, question)
    assert answer.mean() == 0.5 and found is not None
    row, rate, trials = found.table.iloc[0], changed / asked, asked - 1  # Q - 1 by the variance's own factor
    counted = trials * (norm.ppf(0.975) / t.ppf(0.975, trials)) ** 2
    hits = rate * counted
    assert row["flip_rate"] == pytest.approx(rate)
    assert row["low"] == pytest.approx(beta.ppf(0.025, hits, counted - hits + 1))
    assert row["high"] == pytest.approx(beta.ppf(0.975, hits + 1, counted - hits))
    reach = t.ppf(0.975, trials) * 2 * np.sqrt(rate * (1 - rate) / trials)
    assert row["noise"] == pytest.approx(2 * rate)
    assert (row["noise_low"], row["noise_high"]) == pytest.approx((2 * rate - reach, 2 * rate + reach))


def test_nothing_is_said_where_nothing_was_repeated():
    rows, question = asked(4, repeats=1, pairs=1)
    assert repeats_of(fit(rows, "position_aware"), rows, question) is None


def test_design_effects_are_kishs():
    assert design_effect(3, 0.25) == 1.5
    for repeats, correlation, said in (
        (0, 0.5, "repeats must be at least 1"),
        (2, 1.5, "lies between zero and one"),
    ):
        with pytest.raises(ConfigError, match=said):
            design_effect(repeats, correlation)


def test_a_ranking_has_the_table_and_a_line():
    rows, question = asked(5)
    frame = rows.to_frame().assign(question_id=[f"q{q}" for q in question], nth=np.arange(len(rows)) % 2)
    ranking = rank(frame)
    assert isinstance(ranking.tables["repeats"], pd.DataFrame)
    said = [
        text for text in ranking.remarks if text.startswith("Asked the same again, judges change their answer")
    ]
    assert len(said) == 1
    assert "It pays only if making a new question costs more than" in said[0]
    assert "Requests asked more than once" in ranking.to_html()
    assert "Goodness of fit" in ranking.to_html()


def test_a_plan_takes_the_correlation_of_repeats_from_the_file(tmp_path):
    rows, question = asked(6, own=2.0)
    frame = rows.to_frame().assign(question_id=[f"q{q}" for q in question], nth=np.arange(len(rows)) % 2)
    frame.to_csv(tmp_path / "twice.csv", index=False)
    found = repeats_of(fit(rows, "position_aware"), rows, question)
    assert found is not None

    def planned(*more: object) -> list[str]:
        done = judgerank("plan", tmp_path / "twice.csv", "--repeats", 2, "--question-sd", 0, "--want", GOAL, *more)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    told = planned()
    assert any(line.startswith("Asked the same again, judges change their answer") for line in told)
    assert told[-1] == planned("--correlation", found.correlation)[-1]
    assert told[-1] != planned("--correlation", 0)[-1]
