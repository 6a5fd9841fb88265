"""Leaders, judges and verdict of a ranking, against counts by hand and simulated panels."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from typer.testing import CliRunner

from judgerank import Comparisons, fit, rank
from judgerank.cli import app
from judgerank.data.arrays import generator
from judgerank.fits.presentation import win_probability
from judgerank.fits.same_judges import decided, excess_agreement, items_of, same_judges
from judgerank.ranking import page_records as evidence_of
from judgerank.ranking.card import card
from judgerank.ranking.choices import EQUAL_WEIGHTS
from judgerank.ranking.first_screen import headline, judges_of
from judgerank.ranking.page_records import head_to_head
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.judge_notes import CONTRARY_JUDGES
from judgerank.ranking.studies.leaderboards import BY_CHANCE
from judgerank.ranking.studies.panel import LEANS, UNRATED
from judgerank.ranking.verdict import verdict
from judgerank.ranking.views import CATEGORY, views
from judgerank.reading.large import from_engine
from judgerank.reading.read import judgments_of, read_judgments
from replication.datasets import find_file
from tests.real_data import FILES, IN_HOUSE, needs_data, needs_in_house

SCORES = np.linspace(1.5, -1.5, 6)


def panel_of(gamma, position=(), n_questions: int = 150, copy: bool = False, seed: str = "panel") -> pd.DataFrame:
    """Every question asked of all judges; as a copy, the last repeats the first but for one in 50."""
    rng, rows = generator(0, seed), []
    b = np.array(position) if len(position) else np.zeros(len(gamma))
    for question in range(n_questions):
        i, j = rng.choice(len(SCORES), 2, replace=False)
        said = rng.random(len(gamma)) < expit(np.array(gamma) * (SCORES[i] - SCORES[j]) + b)
        if copy and rng.random() > 0.02:
            said[-1] = said[0]
        for judge, first in enumerate(said):
            rows.append((question, f"m{i}", f"m{j}", f"j{judge}", "a" if first else "b"))
    return pd.DataFrame(rows, columns=["question", "model_a", "model_b", "judge", "winner"])


def test_agreement_is_with_the_majority_of_the_others_on_the_same_models():
    rows = [("x", "y", "j", "a")] * 3 + [("x", "y", "k", "a")] * 2 + [("y", "x", "l", "a")] * 2
    rows += [("x", "z", "j", "b"), ("y", "z", "k", "c"), ("y", "z", "l", "a")]
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", "judge_model", "judge_preferred_model"])
    found = panel.agreement(Comparisons.from_frame(frame).aggregate())
    # j: x over y thrice, the others are split 2 : 2, so half; alone on x, z. k: x over y twice, the others lean to
    # x by 3 : 2; a tie on y, z counts half. l: against the others' 5 : 0 twice; on y, z the other one tied.
    assert_allclose(found, [0.5, (2 + 0.5) / 3, (0 + 0.5) / 3])
    alone = Comparisons.from_frame(frame[frame["judge_model"] == "j"]).aggregate()
    assert panel.agreement(alone).isna().all()


def test_shares_of_the_information_are_what_each_judge_takes_off_the_variance():
    judgments = judgments_of(panel_of([2.0, 1.0, 0.5]))
    fitted = fit(judgments.comparisons, "judge_aware")
    share = panel.information_share(fitted)
    assert share.sum() == pytest.approx(1)
    assert share["j0"] > share["j1"] > share["j2"] > 0
    # the trace of L_k L^+ over N - 1, by dense matrices
    c, s, gamma = fitted.comparisons, fitted.scores.to_numpy(), fitted.discrimination.to_numpy()
    by_judge = np.zeros((3, 6, 6))
    for i, j, k, n in zip(c.first, c.second, c.judge, c.count, strict=True):
        p = expit(gamma[k] * (s[i] - s[j]))
        e = np.eye(6)[i] - np.eye(6)[j]
        by_judge[k] += n * gamma[k] ** 2 * p * (1 - p) * np.outer(e, e)
    total = np.linalg.pinv(by_judge.sum(axis=0))
    assert_allclose(share, [np.trace(one @ total) / 5 for one in by_judge], rtol=1e-9)
    assert panel.effective_judges([0.25] * 4) == pytest.approx(4)
    assert panel.effective_judges([1, 0, 0]) == pytest.approx(1)


def test_a_copy_is_found_and_judges_who_err_apart_are_not():
    for gamma in ([3.0, 2.5, 2.0, 1.0], [1.0, 1.0, 0.5, 0.3]):  # easy items, on which all agree, and hard ones
        apart, copied = (judgments_of(panel_of(gamma, copy=copy, seed=str(gamma))) for copy in (False, True))
        fits = [fit(one.comparisons, "judge_aware") for one in (apart, copied)]
        excess = excess_agreement(fits[0], items_of(fits[0], decided(fits[0], apart)))
        assert len(excess) == 6
        assert excess["excess"].abs().max() < 0.5
        assert same_judges(fits[0], apart, 0.95) == {}
        assert same_judges(fits[1], copied, 0.95) == {"j3": "j0"}
    leaning = judgments_of(panel_of([0.1, 0.1, 1.0], position=[5.0, 5.0, 0.0]))  # alike, since both pick the first
    fitted = fit(leaning.comparisons, "position_aware", "penalised")
    assert same_judges(fitted, leaning, 0.95) == {}


def test_excess_agreement_is_observed_less_expected_over_what_is_left(monkeypatch):
    judgments = judgments_of(panel_of([1.0, 0.5], n_questions=60))
    fitted = fit(judgments.comparisons, "judge_aware")
    items = items_of(fitted, decided(fitted, judgments))
    (row,) = excess_agreement(fitted, items).itertuples()
    wide = judgments.frame.pivot(index=["question_id", "model_a", "model_b"], columns="judge_model")
    answers = wide["judge_preferred_model"]
    p = [fitted.predict(*zip(*[(a, b) for _, a, b in wide.index], strict=True), judge=k) for k in ("j0", "j1")]
    assert row.shared == 60
    assert row.agreement == pytest.approx((answers["j0"] == answers["j1"]).mean())
    assert row.expected == pytest.approx(np.mean(p[0] * p[1] + (1 - p[0]) * (1 - p[1])))
    assert row.excess == pytest.approx((row.agreement - row.expected) / (1 - row.expected))
    monkeypatch.setattr("judgerank.fits.same_judges.FEWEST", 61)
    assert excess_agreement(fitted, items).empty


FOUR = {"kimi-k2-0905-preview", "kimi-k2-thinking-turbo", "moonshot-v1-32k", "moonshot-v1-128k"}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        pytest.param(FILES["mt_bench"], FOUR, marks=needs_data),
        pytest.param(FILES["chatbot_arena"], set(), marks=needs_data),  # it has one of them
        pytest.param(IN_HOUSE, FOUR, marks=needs_in_house),
    ],
)
def test_the_four_names_of_one_endpoint_are_found_on_real_data_and_no_others(file, expected):
    judgments = read_judgments(find_file(file))
    same = same_judges(fit(judgments.comparisons, "position_aware"), judgments, 0.95)
    assert {*same, *same.values()} == expected


def strong_panel(seed: int, gamma, sigma: float, slips: float | None = None) -> pd.DataFrame:
    """Judges of different discriminations see the same answers; the last may be a copy of the first."""
    rng, rows, scores = np.random.default_rng(seed), [], np.linspace(0.9, -1.0, 5)
    for question in range(100):
        u = rng.normal(0, sigma, 5)
        for _ in range(3):
            i, j = rng.choice(5, 2, replace=False)
            said = rng.random(len(gamma)) < expit(np.array(gamma) * (scores[i] - scores[j] + u[i] - u[j]))
            if slips is not None:
                said[-1] = said[0] ^ (rng.random() < slips)
            rows += [(question, f"m{i}", f"m{j}", f"j{k}", "a" if one else "b") for k, one in enumerate(said)]
    return pd.DataFrame(rows, columns=["question", "model_a", "model_b", "judge", "winner"])


def copies_in(frame: pd.DataFrame) -> dict[str, str]:
    judgments = judgments_of(frame)
    return same_judges(fit(judgments.comparisons, "position_aware", "penalised"), judgments, 0.95)


@pytest.mark.parametrize(("gamma", "sigma"), [([4.0] * 4, 2.0), ([6.0, 6.0, 0.7, 0.7], 1.5)])
def test_different_good_judges_who_see_the_same_answers_are_no_copies(gamma, sigma):
    """At most 2 of 12 sets may call some; expected is one in twenty."""
    assert sum(bool(copies_in(strong_panel(seed, gamma, sigma))) for seed in range(12)) <= 2


@pytest.mark.parametrize("slips", [0.0, 0.04])
def test_copies_are_found_beside_judges_who_share_the_answers(slips):
    found = [copies_in(strong_panel(seed, [1.5, 1.0, 1.0, 0.7, 1.0], 1.0, slips)) for seed in range(8)]
    assert sum(each == {"j4": "j0"} for each in found) >= 7


def test_two_judges_alone_are_never_called_one():
    assert copies_in(strong_panel(1, [1.5, 1.0], 1.0, slips=0.0)) == {}


@pytest.mark.parametrize("solver", ["penalised", "newton"])
def test_a_judge_who_flips_a_coin_is_random_by_either_fit(solver):
    frame = panel_of([2.0, 1.5, 1.0, 0.0, 1.5], position=[0] * 5, n_questions=400)
    verdicts = rank(frame, model="position_aware", solver=solver).tables["judges"].set_index("judge")["verdict"]
    assert verdicts["j3"] == "random"
    assert (verdicts.drop("j3") == "fine").all()


def test_each_judge_gets_the_verdict_of_its_kind():
    frame = panel_of([2.0, 2.0, 1.5, 1.0, 0.4, 2.0], position=[0, 0, 2.5, -2.5, 0, 0], n_questions=400, copy=True)
    few = frame[frame["judge"] == "j1"].head(12).assign(judge="new")
    contrary = frame[frame["judge"] == "j0"].assign(judge="contrary")
    contrary["winner"] = contrary["winner"].map({"a": "b", "b": "a"})
    ranking = rank(pd.concat([frame, few, contrary]), model="position_aware", whose="this_panel")
    verdicts = ranking.tables["judges"].set_index("judge")["verdict"]
    assert verdicts["j2"] == LEANS[0]
    assert verdicts["j3"] == LEANS[1]
    assert verdicts["j4"] == "noisy"
    assert verdicts["contrary"] == "contrary"
    assert (verdicts["j0"], verdicts["j5"]) == ("fine", "same as j0")
    assert verdicts["j1"] == "fine"
    assert verdicts["new"] == "unclear"
    judges = {judge.name: judge.problem for judge in judges_of(ranking)}
    assert judges == verdicts.to_dict()  # the page and the table say the same
    wrong = sum(problem not in panel.NO_PROBLEM for problem in judges.values())
    warnings = verdict(ranking).warnings
    assert any(f"{wrong} of 8 judges have a problem (see Judges on the page): " in one for one in warnings)


def turned(frame: pd.DataFrame, judge: str) -> pd.DataFrame:
    other = frame["winner"].map({"a": "b", "b": "a"})
    return frame.assign(winner=frame["winner"].mask(frame["judge"] == judge, other))


def test_a_contrary_judge_is_named_with_the_ranking_that_its_turned_answers_give():
    frame = panel_of([1.5, 1.2, 1.0, 1.0, 1.2], n_questions=120)
    swapped = rank(turned(frame, "j4"))
    verdicts = swapped.tables["judges"].set_index("judge")["verdict"]
    assert verdicts[verdicts == "contrary"].index.tolist() == ["j4"]
    (note,) = (remark for remark in swapped.remarks if remark.startswith(CONTRARY_JUDGES))
    assert note.endswith(f"With its answers turned: {verdict(rank(frame)).headline}.") and "j4 (" in note
    assert any("j4 (" in warning and "swapped" in warning for warning in verdict(swapped).warnings)
    (judge,) = (judge for judge in judges_of(swapped) if judge.name == "j4")
    agreement = swapped.tables["judges"].set_index("judge")["agreement"]["j4"]
    assert f"{1 - agreement:.0%}" in judge.reason and "swapped" in judge.reason


def test_answers_turned_twice_are_those_that_were_read():
    judgments = judgments_of(panel_of([1.0, 1.0, 1.0], n_questions=20))
    once = panel.turned(judgments, ["j1"])
    changed = once.comparisons.outcome != judgments.comparisons.outcome
    np.testing.assert_array_equal(changed, judgments.frame["judge_model"] == "j1")
    np.testing.assert_array_equal(panel.turned(once, ["j1"]).comparisons.outcome, judgments.comparisons.outcome)


@pytest.mark.parametrize("gamma", [[0.0] * 5, [1.5, 1.2, 1.0, 1.0, 0.0], [0.0] * 3])
def test_judges_who_flip_a_coin_are_not_contrary(gamma):
    """A set has one of them with a chance of 1% at most."""
    panels = [judgments_of(panel_of(gamma, n_questions=40, seed=f"coin {seed}")) for seed in range(15)]
    assert sum(bool(panel.contrary_in(judgments)) for judgments in panels) <= 1


def test_who_favours_the_second_answer_is_not_contrary_where_favourites_are_shown_first():
    frame = panel_of([1.5, 1.2, 1.0, 1.0, 0.0], position=[0, 0, 0, 0, -3.0], n_questions=300)
    frame = frame[(frame["judge"] != "j4") | (frame["model_a"] < frame["model_b"]) | (frame["question"] % 4 == 0)]
    judgments = judgments_of(frame)
    assert panel.agreement(judgments.comparisons)["j4"] < panel.AGAINST
    assert panel.contrary_in(judgments) == ()


def test_of_two_judges_nobody_knows_who_is_contrary():
    frame = panel_of([1.5, 1.5], n_questions=200)
    assert panel.contrary_in(judgments_of(turned(frame, "j1"))) == ()


def test_a_judge_is_fine_only_if_its_interval_shows_it():
    frame = panel_of([2.0, 1.5, 1.0, 0.3], n_questions=300)
    frame = frame[(frame["judge"] != "j3") | (frame["question"] < 40)]
    ranking = rank(frame)
    table = ranking.tables["judges"].set_index("judge")
    half = table["discrimination"].median() / 2
    assert table.loc["j3", "comparisons"] >= 30 and table.loc["j3", "low_discrimination"] < half
    unclear = list(table.index[table["verdict"] == "unclear"])
    assert "j3" in unclear
    assert any(f"{len(unclear)} of 4 judges" in one and "j3" in one for one in verdict(ranking).warnings)
    fine = table[table["verdict"] == "fine"]
    assert len(fine) and (fine["low_discrimination"] >= half).all()


def test_no_judge_is_fine_where_no_two_models_differ():
    table = rank(panel_of([0.0] * 4, n_questions=40)).tables["judges"]
    assert not table["verdict"].eq("fine").any()


def test_the_verdict_names_first_second_and_how_surely():
    clear = rank(panel_of([3.0, 3.0, 2.0], n_questions=400))
    told = verdict(clear)
    board = clear.tables["leaderboard"]
    chance = float(win_probability(clear.fit, np.array(board["score"][0] - board["score"][1])))
    many, seen = head_to_head(clear.judgments.comparisons, "m0", "m1")
    assert told.headline == "m0 leads"
    numbers = rf"^m0 .* m1 \(2nd\) in {seen:.0%} of their {many} comparisons\. .* {chance:.0%}: a significant .*"
    assert re.search(rf"{numbers}\. m0 ranks first \(95% .* 3 judges\b", told.lead)
    assert told.next and not re.search(r"m\d", told.next)
    assert told.warnings == []
    coins = panel_of([0.0001, 0.0001, 0.0001], n_questions=100, seed="coins")
    tossed = rank(coins, solver="penalised")
    lost = verdict(tossed)
    assert lost.headline == "Not enough data to order the six models"
    first = tossed.tables["leaderboard"]["model"][0]
    assert re.search(rf"no significant difference\. .* rank of {first} is between 1 and 6 \(95%", lost.lead)
    assert (tossed.tables["leaderboard"]["group"] == "a").all()


def two_models(gamma: list[float], n_questions: int) -> pd.DataFrame:
    """Judges of these discriminations on two models, the order of which alternates; x is better."""
    rng, rows = generator(0, "two models"), []
    for question in range(n_questions):
        shown = ("x", "y") if question % 2 else ("y", "x")
        for k, won in enumerate(rng.random(len(gamma)) < expit(0.6 * np.array(gamma))):
            rows.append((question, *shown, f"j{k}", "a" if won == (shown[0] == "x") else "b"))
    return pd.DataFrame(rows, columns=["question", "model_a", "model_b", "judge", "winner"])


def test_the_win_rate_is_the_panels_where_one_judge_decides_the_order():
    """One judge of five has nearly all the information; a win rate of its own would be above 85%."""
    frame = two_models([5.0, 0.2, 0.2, 0.2, 0.2], 200)
    ranking = rank(frame, model="position_aware")  # by default judges of two models have equal weight
    won = np.where(frame["winner"] == "a", frame["model_a"], frame["model_b"]) == "x"
    fitted = ranking.tables["leaderboard"]["win_rate"][0]
    assert abs(fitted - won.mean()) < 0.02
    assert ranking.tables["judges"]["information"].max() > 0.85
    assert ranking.tables["leaderboard"]["share_won"][0] == pytest.approx(won.mean())
    assert verdict(ranking).lead.startswith(
        f"x is preferred to y (2nd) in {won.mean():.0%} of their 1,000 comparisons. The model estimates "
        f"{fitted:.0%}: "
    )
    page = ranking.to_html()
    assert f"in {won.mean():.0%} of their 1,000 comparisons" in page
    assert "on average (95% confidence intervals)" in page


@pytest.mark.parametrize("ordered", [True, False])
def test_judges_of_two_models_have_equal_weight(ordered):
    """One always prefers y; with a discrimination of its own it would have nearly all of the information."""
    frame = two_models([0.1, 0.1, 0.1, 0.1], 100)
    always = frame[frame["judge"] == "j0"].assign(judge="always")
    always["winner"] = np.where(always["model_a"] == "y", "a", "b")
    frame = pd.concat([frame, always])
    if not ordered:
        won = np.where(frame["winner"] == "a", frame["model_a"], frame["model_b"])
        frame = frame.assign(winner=won, loser=np.where(won == "x", "y", "x")).drop(columns=["model_a", "model_b"])
        observed = (won == "y").mean()
    else:
        observed = (np.where(frame["winner"] == "a", frame["model_a"], frame["model_b"]) == "y").mean()
    ranking = rank(frame)
    judges = ranking.tables["judges"]
    assert ranking.fit.model.name == ("position_only" if ordered else "btl")
    assert judges["information"].max() < 0.25 and (judges["verdict"] == UNRATED).all()
    assert abs(ranking.tables["leaderboard"].set_index("model")["win_rate"]["y"] - observed) < 0.05
    assert any(EQUAL_WEIGHTS in remark for remark in ranking.remarks)
    assert not ranking.tables["members"]["member"].str.contains("aware").any()


def test_a_component_of_two_models_has_equal_weights_beside_one_of_more():
    more = panel_of([1.5, 1.0, 0.7], n_questions=60)
    two = two_models([2.0, 0.2, 0.2], 60)
    ranking = rank(pd.concat([more, two]))
    assert [fitted.model.name for fitted in ranking.fits] == ["position_aware", "position_only"]
    assert sum(EQUAL_WEIGHTS in remark for remark in ranking.remarks) == 1
    named = rank(pd.concat([more, two]), model="position_aware")
    assert [fitted.model.name for fitted in named.fits] == ["position_aware"] * 2


def test_the_verdict_says_that_the_first_two_were_never_compared():
    frame = panel_of([3.0, 2.0], n_questions=300)
    both = frame["model_a"].isin(["m0", "m1"]) & frame["model_b"].isin(["m0", "m1"])
    lead = verdict(rank(frame[~both])).lead
    assert lead.startswith("m0 and m1 (2nd) were never compared with each other. The model estimates that ")
    assert " m0 is preferred in " in lead


def test_a_model_too_rarely_compared_may_be_as_good_as_the_leader(tmp_path):
    """It ranks below models that are significantly worse than the first, and is the one to compare next."""
    frame = panel_of([2.0, 2.0], n_questions=300)
    new = pd.DataFrame({"question": [1000, 1001], "model_a": ["new", "m1"], "model_b": ["m1", "new"]})
    new = new.assign(judge="j0", winner=["a", "a"])
    ranking = rank(pd.concat([frame, new], ignore_index=True))
    board, told = ranking.tables["leaderboard"].set_index("model"), verdict(ranking)
    assert (board["rank_low"][["m0", "new"]] == 1).all() and board["rank_low"].eq(1).sum() == 2
    assert told.headline == "m0 leads, but new may be as good"
    assert told.lead.endswith(" m0 is not significantly different from new (2 comparisons).")
    assert told.next.startswith("To decide between m0 and new, ")
    assert f"<h1>{told.headline}" in ranking.to_html()
    texts = ElementTree.fromstring(card(ranking, tmp_path / "card.svg")).itertext()
    assert told.headline in list(texts)


@pytest.mark.parametrize(
    ("apart", "said"),
    [
        ("ab ac ad", "a leads"),
        ("ab ac", "a leads, but d may be as good"),
        ("ab", "a leads, but two others may be as good"),
        ("ac", "No clear leader: a or b may be the best, but d may be as good"),
        ("ad", "No clear leader: three models may be the best"),
        ("ad bc", "No clear leader: a or b may be the best"),
        ("", "Not enough data to order the four models"),
    ],
)
def test_the_headline_names_who_may_be_as_good_as_the_first(apart, said):
    board = pd.DataFrame({"model": list("abcd")})
    pairs = [(x, y, f"{x}{y}" in apart.split()) for x in "abcd" for y in "abcd" if x < y]
    assert headline(board, pd.DataFrame(pairs, columns=["first", "second", "separated"])) == said


@pytest.mark.parametrize("described", [{"blocks": ["family"]}, {"cluster": "effects"}])
def test_what_would_change_another_fit_is_not_in_the_verdict(described):
    names = {"m0": "gpt-4", "m2": "claude-3-opus", "j0": "gpt-4o", "j1": "claude-2"}
    ranking = rank(strong_panel(1, [1.0, 1.0], 1.5).replace(names), **described)
    assert verdict(ranking).change == ""
    what = "blocks" if "blocks" in described else "effects"
    assert any(re.match(rf"Fragility .*\b{what}: Removing \d", one) for one in ranking.remarks)


def test_the_verdict_worries_about_components_and_records_without_questions():
    one = panel_of([1.0, 1.0])
    other = one.assign(model_a="n" + one["model_a"], model_b="n" + one["model_b"])
    said = verdict(rank(pd.concat([one, other]).drop(columns="question")))
    told = " ".join(said.warnings)
    assert re.search(r"\b2 components\b", told)
    assert said.headline.startswith("No overall leader: the models form two components ")
    assert "first component" in said.lead and "for all its models" in said.lead
    assert re.search(r"\bcompare n?m\d with n?m\d\b", said.next)
    assert "question=NAME" in told


@pytest.mark.parametrize("model", ["judge_aware", "position_aware", "position_aware_ties"])
def test_win_probabilities_are_the_mean_of_both_orders_over_the_panel(model):
    frame = panel_of([1.0, 0.5, 2.0], position=[0.5, 0, -1])
    frame.loc[::10, "winner"] = "c"
    judgments = judgments_of(frame)
    fitted = fit(judgments.comparisons, model, "penalised")
    s, k = fitted.scores, np.arange(3)
    names = (("m0", "m3"), fitted.comparisons.judges)
    forth, back = (
        fitted.probability(Comparisons(*names, np.full(3, first), np.full(3, 1 - first), k, np.ones(3)))
        for first in (0, 1)
    )
    found = fitted.win_probability(np.array([s["m0"] - s["m3"], 0.0, s["m3"] - s["m0"]]))
    assert_allclose(found, [(forth + 1 - back).mean() / 2, 0.5, (back + 1 - forth).mean() / 2])


def test_evidence_counts_every_pair_and_keeps_the_first_records_of_each(monkeypatch):
    judgments = judgments_of(panel_of([1.0, 0.5]).assign(reply=lambda x: "because " + x["winner"]))
    models, judges = [f"m{k}" for k in range(6)], ["j0", "j1"]
    whole = evidence_of.evidence(judgments, models, judges)
    json.dumps(whole, allow_nan=False)
    assert sum(whole["pairs"]["count"]) == len(judgments.frame) == len(whole["records"]["first"]) == whole["all"]
    frame = judgments.frame
    mine = frame[frame["model_a"].isin(["m0", "m1"]) & frame["model_b"].isin(["m0", "m1"])]
    won = ((mine["model_a"] == "m0") == (mine["judge_preferred_model"] == "a")).mean()
    row = next(n for n in range(15) if (whole["pairs"]["first"][n], whole["pairs"]["second"][n]) == (0, 1))
    assert whole["pairs"]["count"][row] == len(mine)
    assert whole["pairs"]["won"][row] == pytest.approx(won, abs=1e-4)
    monkeypatch.setattr(evidence_of, "MOST_RECORDS", 100)
    monkeypatch.setattr(evidence_of, "LONGEST_REPLY", 4)
    some = evidence_of.evidence(judgments, models, judges)["records"]
    pairs = pd.DataFrame(np.sort([some["first"], some["second"]], axis=0).T)
    assert 85 <= len(pairs) <= 100
    assert len(pairs.drop_duplicates()) == 15
    assert set(some["reply"]) == {"beca [cut]"}


def test_categories_are_ranked_by_their_own_judgments():
    one, other = panel_of([1.5, 1.0], seed="one"), panel_of([1.5, 1.0], seed="other")
    turned = other.assign(winner=other["winner"].map({"a": "b", "b": "a"}))
    thin = one.head(2).assign(category="thin")
    frame = pd.concat([one.assign(category="code"), turned.assign(category="prose"), thin], ignore_index=True)
    ranking = rank(frame, solver="newton")
    table = ranking.tables["categories"]
    alone = rank(one, solver="newton")
    of_code = table[table["category"] == "code"].reset_index(drop=True).drop(columns="category")
    pd.testing.assert_frame_equal(of_code, alone.tables["leaderboard"])
    assert table[table["category"] == "prose"]["model"].iloc[0] == "m5"
    assert "thin" not in set(table["category"])
    told = f"Categories: {BY_CHANCE}"
    assert told in ranking.remarks and told not in alone.remarks
    assert f" {BY_CHANCE}</p>" in ranking.to_html()
    assert all(BY_CHANCE in view.sentence for view in views(ranking) if view.kind == CATEGORY)
    assert any(remark.startswith("Category thin is not ranked by itself") for remark in ranking.remarks)
    assert "categories" not in rank(one.assign(category="only")).tables
    shrunk = rank(frame).tables["categories"]
    few = shrunk[shrunk["category"] == "thin"]  # shrinkage has an estimate, and nothing is said for sure
    assert (few["rank_low"] == 1).all() and (few["rank_high"] == len(few)).all()


def test_a_table_without_a_maximum_has_no_shares():
    judgments = judgments_of(panel_of([1.0, 0.5]))
    fitted = fit(judgments.comparisons, "judge_aware")
    unfinished = replace(fitted, solution=replace(fitted.solution, status=type(fitted.status).ITERATION_LIMIT))
    assert panel.information_share(unfinished).isna().all()


def test_the_verdict_says_what_to_run_on_the_file_that_was_ranked(tmp_path, monkeypatch):
    folder = tmp_path / "my files"
    folder.mkdir()
    two_models([0.7], 30).to_csv(folder / "one.csv", index=False)
    monkeypatch.chdir(folder)
    said = verdict(rank("one.csv"))
    assert said.change.endswith("See which: judgerank trust one.csv.")
    assert said.next.startswith("To decide between x and y, ")
    assert "judges" not in said.next  # of one judge
    monkeypatch.chdir(tmp_path)
    assert verdict(rank("my files/one.csv")).change.endswith("See which: judgerank trust 'my files/one.csv'.")
    assert verdict(rank(pd.read_csv("my files/one.csv"))).change.endswith("See which: judgerank trust FILE.")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for place in (str(folder / "one.csv"), str(folder), "../my files/o*.csv"):
        found = rank(place)
        command = f"See which: judgerank trust {shlex.quote(place)}."
        assert verdict(found).change.endswith(command)
        result = CliRunner().invoke(
            app, shlex.split(command.removeprefix("See which: judgerank ").removesuffix("."))
        )
        assert result.exit_code == 0, result.output
        own = shlex.quote(Path(place).name)  # a page is passed on, and names no folder of this machine
        assert verdict(found, passed_on=True).change.endswith(f"See which: judgerank trust {own}.")


@pytest.mark.parametrize("engine", [False, True])
def test_the_verdict_repeats_the_options_by_which_the_file_was_read_and_ranked(tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    if engine:
        monkeypatch.setattr(from_engine, "LARGE", 1)
    renamed = two_models([0.7, 0.9], 30).rename(columns={"winner": "my vote", "judge": "who"})
    renamed["my vote"] = renamed["my vote"].replace({"a": "left", "b": "right"})
    renamed.to_csv("one.txt", index=False)
    words = {"left": "a", "right": "b"}
    read = read_judgments("one.txt", "csv", {"winner": "my vote", "judge": "who"}, words, copies="keep")
    said = verdict(rank(read, model="judge_aware", level=0.9)).change
    options = (
        "--format csv --column 'winner=my vote' --column judge=who --winner-values left=a --winner-values right=b "
        "--copies keep --model judge_aware --level 0.9"
    )
    assert said.endswith(f"See which: judgerank trust one.txt {options}.")
    result = CliRunner().invoke(app, shlex.split(said.rpartition("See which: judgerank ")[2].removesuffix(".")))
    assert result.exit_code == 0, result.output


def test_a_file_of_ties_alone_ranks_all_models_as_equal():
    tied = rank(panel_of([1.0, 1.0, 1.0], n_questions=50).assign(winner="tie"))  # a warning would be an error
    assert verdict(tied).headline == "No clear leader among six models"
    assert verdict(tied).lead.split(",")[0].endswith(" ties")
    assert verdict(tied).warnings == [] and verdict(tied).next == verdict(tied).change == ""
    assert tied.tables["leaderboard"][["low", "high", "rank_low", "rank_high", "group"]].isna().all(axis=None)
    assert tied.tables["judges"].filter(like="low_").isna().all(axis=None)
    assert "-0.000" not in tied.board_text()


def test_long_names_that_differ_at_their_ends_stay_different_in_the_terminal():
    far = panel_of([1.0, 1.0])
    named = far.assign(**{name: "vendor/models/" + "x" * 60 + far[name] for name in ("model_a", "model_b")})
    text = rank(named).board_text()
    assert all(re.search(rf"\.\.\.x+m{number} ", text) for number in range(6))
    assert max(map(len, text.splitlines())) < 120
