"""Pairs of which one model wins nearly all, told apart by their own comparisons."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

import judgerank
from judgerank import fit
from judgerank.order.head_to_head import LOPSIDED, PAID, lopsided_leads
from judgerank.order.pairs import orders, pairwise
from judgerank.order.rank_intervals import rank_intervals


def judged(wins, questions=60, judges=("j0",)):
    """Every judge on every pair of every question; `wins` says of how many questions the first is preferred."""
    rows = []
    for judge in judges:
        for (a, b), won in wins.items():
            for question in range(questions):
                names = (a, b) if question % 2 else (b, a)
                better = a if question < won.get(judge, 0) else b
                rows.append((*names, judge, "model_a" if names[0] == better else "model_b", f"q{question}"))
    return pd.DataFrame(rows, columns=["model_a", "model_b", "judge", "winner", "question_id"])


def swept(lost=0, questions=60):
    every = {"j0": questions - lost}
    return judged({("big", "mid"): every, ("mid", "tiny"): every, ("big", "tiny"): every}, questions)


def mixed():
    """Two good judges, and one who tosses a coin, on two models alike and one far worse."""
    rng = np.random.default_rng(3)
    frame = judged(
        {
            ("A", "B"): {"j0": 33, "j1": 33, "coin": 30},
            ("A", "C"): {"j0": 60, "j1": 59, "coin": 30},
            ("B", "C"): {"j0": 59, "j1": 60, "coin": 30},
        },
        judges=("j0", "j1", "coin"),
    )
    coin = frame["judge"] == "coin"
    frame.loc[coin, "winner"] = rng.choice(["model_a", "model_b"], coin.sum())
    alike = (~coin) & ~frame[["model_a", "model_b"]].eq("C").any(axis=1)
    frame.loc[alike, "winner"] = rng.choice(["model_a", "model_b"], alike.sum())
    return frame


@pytest.mark.parametrize("lost", [0, 1])
def test_a_clean_sweep_is_as_clear_as_one_with_a_loss(lost):
    ranking = judgerank.rank(swept(lost))
    pairs, board = ranking.tables["pairs"], ranking.tables["leaderboard"]
    assert pairs["separated"].all()
    assert board[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1], [2, 2], [3, 3]]
    assert (pairs["low"] > 0).all()


def test_the_worse_a_model_the_surer_is_its_place():
    ranking = judgerank.rank(mixed())
    pairs = ranking.tables["pairs"].set_index(["first", "second"])
    of_c = pairs[pairs.index.get_level_values("second") == "C"]
    assert len(of_c) == 2
    assert of_c["separated"].all()
    assert (of_c["test"] == "head_to_head").all()
    assert not pairs[pairs.index.get_level_values("second") != "C"]["separated"].any()
    board = ranking.tables["leaderboard"].set_index("model")
    assert board.loc["C", ["rank_low", "rank_high"]].tolist() == [3, 3]


@pytest.mark.parametrize("questions", [20, 60])
def test_the_statistic_of_a_sweep_is_the_root_of_the_number_of_questions(questions):
    fitted = fit(judgerank.read(swept(0, questions)).comparisons, solver="penalised")
    found = lopsided_leads(fitted)
    names = list(fitted.comparisons.models)
    i, j = names.index("big"), names.index("tiny")
    # without questions every judgment is one of its own
    assert ndtr(-found[i, j]) == pytest.approx(PAID * ndtr(-np.sqrt(questions)), rel=1e-9)
    assert found[j, i] == -found[i, j]


def test_it_is_by_question_where_errors_are():
    frame = pd.concat([swept(1).assign(judge=f"j{copy}") for copy in range(3)], ignore_index=True)
    fitted = fit(judgerank.read(frame), "judge_aware", "penalised").clustered()
    i, j = (fitted.comparisons.models.index(name) for name in ("big", "tiny"))
    # sixty leads of one size, one of them the other way round, however many judges agree
    assert ndtr(-lopsided_leads(fitted)[i, j]) == pytest.approx(PAID * ndtr(-58 / np.sqrt(60)), rel=1e-9)
    assert lopsided_leads(fitted.clustered(cluster=np.arange(len(frame)) // 2)) is None  # by what, is not known


def test_leads_are_of_all_questions_where_part_of_them_tells_the_errors():
    fitted = fit(judgerank.read(swept(1, 200)), "judge_aware", "penalised")
    whole, part = (lopsided_leads(fitted.clustered(most=most)) for most in (None, 50))
    i, j = (fitted.comparisons.models.index(name) for name in ("big", "tiny"))
    # every question's lead has one size, so that any fifty tell their squares
    assert ndtr(-whole[i, j]) == pytest.approx(PAID * ndtr(-198 / np.sqrt(200)), rel=1e-9)
    assert part == pytest.approx(whole, rel=1e-9)


def test_a_pair_is_asked_about_only_if_one_wins_nearly_all():
    for won in range(31, 61, 3):
        comparisons = judgerank.read(judged({("a", "b"): {"j0": won}, ("b", "c"): {"j0": 40}})).comparisons
        fitted = fit(comparisons, solver="penalised")
        i, j = (fitted.comparisons.models.index(name) for name in "ab")
        assert (lopsided_leads(fitted)[i, j] > 0) == (2 * won - 60 >= LOPSIDED * 60)


def test_what_is_said_of_other_judges_is_not_told_by_a_pair_alone():
    frame = pd.concat([swept(2).assign(judge=f"j{copy}") for copy in range(3)], ignore_index=True)
    comparisons = judgerank.read(frame).comparisons
    assert lopsided_leads(fit(comparisons, solver="penalised")) is not None
    assert lopsided_leads(fit(comparisons, blocks=["taste"])) is None


@pytest.mark.parametrize("frame", [swept(0), mixed()], ids=["swept", "mixed"])
def test_an_interval_holds_zero_exactly_if_the_pair_by_itself_may_be_equal(frame):
    fitted = judgerank.rank(frame).fitted
    pairs = pairwise(fitted)
    holds = (pairs["low"] <= 0) & (pairs["high"] >= 0)
    assert (holds == (pairs["p_value"] > 0.05)).all()
    ranks, surely = rank_intervals(fitted), [order.statistic > 0 for order in orders(fitted)]
    assert (ranks["low"] <= ranks["rank"]).all()
    assert (ranks["rank"] <= ranks["high"]).all()
    assert surely
