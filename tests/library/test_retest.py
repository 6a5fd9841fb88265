"""A judge who is asked the same again later: whether it changed, held against its own noise."""

import itertools
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import judgerank
from judgerank.data.comparisons import Comparisons
from judgerank.trust import retest as module
from judgerank.trust.drift import drift
from judgerank.trust.retest import asked_again, firsts, p_of_change, requests_of
from replication.config import ROOT

SCORES = 2 * np.array([0.9, 0.2, 0.2, -0.2, -0.4, -0.7])
SETS = 200
CHANGES = ("nothing", "position", "replaced", "one taste")
PAGE = ROOT / "docs" / "tutorials" / "anchors.md"


def answers_of(rng: np.random.Generator, requests: int, rounds: int, change: str) -> tuple[np.ndarray, np.ndarray]:
    """One judge's answers to the same requests in every round, and what these are about."""
    i = rng.integers(0, 6, requests)
    j = (i + rng.integers(1, 6, requests)) % 6
    x = np.zeros((requests, 7))
    x[np.arange(requests), i], x[np.arange(requests), j], x[:, 6] = 1.0, -1.0, 1.0
    own, other = rng.normal(0, 2, (2, requests))  # what it makes of these very answers, and another model would
    at = (np.arange(rounds) / (rounds - 1))[:, None]
    eta = np.repeat((SCORES[i] - SCORES[j] + own)[None], rounds, axis=0)
    if change == "position":
        eta[1:] += 1.5
    elif change == "replaced":
        eta[rounds // 2 :] += other - own
    elif change == "one taste":  # from 1 to -1 log-odds, as in the section on tastes
        eta += (1 - 2 * at) * ((i == 2).astype(float) - (j == 2))
    return (rng.random(eta.shape) < expit(eta)).astype(float).T, x


@cache
def found(change: str, requests: int, rounds: int) -> float:
    """In how many of the sets the judge is found to have changed, at 5%."""
    rng = np.random.default_rng([CHANGES.index(change), requests, rounds])
    return float(np.mean([p_of_change(*answers_of(rng, requests, rounds, change)) <= 0.05 for _ in range(SETS)]))


@pytest.mark.slow
def test_the_page_says_how_often_weekly_looks_raise_a_false_alarm(monkeypatch):
    """A look after each of nine weeks, at 1% each, on the answers so far of a judge who does not change."""
    monkeypatch.setattr(module, "PERMUTATIONS", 499)
    rng, alarms = np.random.default_rng(5), []
    for _ in range(SETS // 2):
        answers, x = answers_of(rng, 50, 10, "nothing")
        alarms.append(any(p_of_change(answers[:, :rounds], x) <= 0.01 for rounds in range(2, 11)))
    assert (
        f"Nine weekly looks at a judge who does not change raise an alarm in {np.mean(alarms):.0%} of"
        in PAGE.read_text()
    )


@pytest.fixture(autouse=True)
def fewer_permutations(monkeypatch):
    monkeypatch.setattr(module, "PERMUTATIONS", 199)


@pytest.mark.slow
@pytest.mark.parametrize("requests", [20, 50, 100])
def test_the_page_says_how_often_a_change_is_found(requests):
    """Also the level: a judge who does not change is found to have in 5% of sets, with an error of 1.5%."""
    cells = [f"{found(change, requests, rounds):.0%}" for change in CHANGES for rounds in (3, 10)]
    assert f"| {requests} | {' | '.join(cells)} |" in PAGE.read_text()
    assert max(found("nothing", requests, rounds) for rounds in (3, 10)) <= 0.05 + 3 * 0.0155


def test_two_answers_are_a_test_of_signs():
    """All 2^n exchanges of first and later answers give the p-value of the random ones."""
    x = np.zeros((6, 3))
    x[:, 0], x[:, 1], x[:, 2] = 1, -1, 1
    early = np.array([1.0, 1, 1, 1, 1, 0])
    by_sums = [
        sum(sign * (2 * each - 1) for sign, each in zip(signs, early, strict=True)) ** 2
        for signs in itertools.product((1, -1), repeat=6)
    ]
    exact = np.mean(np.array(by_sums) >= by_sums[0])
    assert p_of_change(np.stack([early, 1 - early], axis=1), x) == pytest.approx(exact, abs=4 * 0.5 / 200**0.5)


def test_answers_that_never_change_say_nothing():
    assert p_of_change(np.ones((20, 5)), np.ones((20, 2))) == 1.0
    assert p_of_change(np.zeros((0, 5)), np.ones((0, 2))) == 1.0


def rows_of(changes: bool, ordered: bool = True) -> tuple[Comparisons, np.ndarray, np.ndarray]:
    """Two judges, asked the same in six rounds, the second of whom is replaced after the third, with times."""
    rng = np.random.default_rng(3)
    parts = []
    for k in range(2):
        answers, x = answers_of(rng, 80, 6, "replaced" if changes and k == 1 else "nothing")
        i, j = x[:, :6].argmax(axis=1), x[:, :6].argmin(axis=1)
        parts += [
            pd.DataFrame({"i": i, "j": j, "k": k, "y": answers[:, t], "q": np.arange(80), "t": t})
            for t in range(6)
        ]
    frame = pd.concat(parts, ignore_index=True).sample(frac=1, random_state=1)
    names = tuple(f"m{n}" for n in range(6)), ("steady", "replaced")
    columns = (frame[name].to_numpy() for name in ("i", "j", "k", "y"))
    return Comparisons(*names, *columns, ordered=ordered), frame["q"].to_numpy(), frame["t"].to_numpy()


def test_the_judge_that_changed_is_named():
    rows, question, time = rows_of(changes=True)
    table = asked_again(rows, question, time)
    assert list(table["judge"]) == ["replaced", "steady"]
    assert table["p_holm"][0] <= 0.02 and table["p_value"][1] > 0.05
    assert list(table["requests"]) == [80, 80] and list(table["answers"]) == [480, 480]
    assert (asked_again(rows_of(changes=False)[0], question, time)["p_holm"] > 0.05).all()


def test_the_order_of_rows_and_of_two_models_does_not_matter_where_positions_are_unknown():
    rows, question, time = rows_of(changes=True, ordered=False)
    back = np.random.default_rng(0).random(len(rows)) < 0.5
    swapped = Comparisons(
        rows.models,
        rows.judges,
        np.where(back, rows.second, rows.first),
        np.where(back, rows.first, rows.second),
        rows.judge,
        np.where(back, 1 - rows.outcome, rows.outcome),
        ordered=False,
    )
    pd.testing.assert_frame_equal(asked_again(swapped, question, time), asked_again(rows, question, time))


def test_only_first_answers_count_where_halves_are_compared():
    """Asking a few requests a hundred times more is no evidence of more answers."""
    rows, question, time = rows_of(changes=False)
    first = firsts(requests_of(rows, question), time)
    assert (time[first] == 0).all() and len(first) == 160
    alone = drift(rows.take(first), time[first], question[first])
    pd.testing.assert_frame_equal(drift(rows, time, question), alone)


@pytest.mark.parametrize(
    ("changes", "said"), [(True, "Judge replaced no longer answers"), (False, "No judge's answers to repeated")]
)
def test_a_ranking_says_whether_judges_changed(changes, said):
    rows, question, time = rows_of(changes)
    names, judges = np.array(rows.models), np.array(rows.judges)
    frame = pd.DataFrame(
        {"model_a": names[rows.first], "model_b": names[rows.second], "judge_model": judges[rows.judge]}
    )
    frame["judge_preferred_model"] = np.where(rows.outcome == 1, "a", "b")
    frame["question_id"] = [f"q{n}" for n in question]
    frame["asked_at"] = [f"2026-{1 + week:02d}-01T10:00:00+00:00" for week in time]
    ranking = judgerank.rank(frame)
    assert any(said in remark for remark in ranking.remarks)
    assert set(ranking.tables["asked_again"]["judge"]) == {"steady", "replaced"}
    minute = frame.assign(asked_at=[f"2026-01-01T10:00:{second:02d}+00:00" for second in time])
    assert not any("repeated request" in remark and "noise" in remark for remark in judgerank.rank(minute).remarks)
