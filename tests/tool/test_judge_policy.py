"""Judges of a model's maker have no vote on it, and advice asks no judge with a problem."""

import json
from html import unescape

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import judgerank
from judgerank.data.errors import ConfigError
from judgerank.ranking import choices
from judgerank.ranking.card import sentence
from judgerank.ranking.judge_policy import STAYS
from judgerank.ranking.recusal import OTHER_MAKER, UNTESTED, recusal_of
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.next_comparisons import NOBODY
from judgerank.ranking.trust_report import trust_report
from judgerank.ranking.verdict import verdict
from judgerank.reading.read import read_judgments
from tests.tool.command import judgerank as run

SCORES = {"gpt-4o-mini": 0.5, "claude-haiku": 0.8, "llama-3-70b": 0.1, "mistral-large": 0.3}
JUDGES = {"gpt-4o": 1.6, "claude-sonnet": 1.8, "deepseek-chat": 1.2}
SETTINGS = choices.Settings()


def drawn(judges=JUDGES, bias=2.0, questions=60, scores=SCORES, seed=0):
    """Every pair in both orders by every judge; judge gpt-4o adds `bias` to gpt-4o-mini."""
    rng, models = np.random.default_rng(seed), list(scores)
    rows = []
    for q in range(questions):
        quality = {model: scores[model] + rng.normal(0, 0.4) for model in models}
        for judge, gamma in judges.items():
            for a in models:
                for b in models:
                    if a != b:
                        own = (a == "gpt-4o-mini") - (b == "gpt-4o-mini") if judge == "gpt-4o" else 0
                        p = expit(gamma * (quality[a] - quality[b]) + bias * own)
                        rows.append((f"q{q}", a, b, judge, "a" if rng.random() < p else "b"))
    return pd.DataFrame(rows, columns=["question_id", "model_a", "model_b", "judge", "winner"])


@pytest.fixture(scope="module")
def frame():
    return drawn()


@pytest.fixture(scope="module")
def ranking(frame):
    return judgerank.rank(frame)


def test_a_judge_who_favours_his_maker_does_not_decide(frame, ranking):
    assert ranking.tables["leaderboard"]["model"].iloc[0] == "claude-haiku"
    assert judgerank.rank(frame, own_maker="count").tables["leaderboard"]["model"].iloc[0] == "gpt-4o-mini"
    verdicts = ranking.tables["judges"].set_index("judge")["verdict"]
    assert verdicts["gpt-4o"] == "favours its maker's other models"
    assert panel.flagged(ranking.tables["judges"]) == ["gpt-4o"]


def test_votes_left_out_are_counted_and_shown(frame, ranking):
    own = frame["judge"].map({"gpt-4o": "gpt-4o-mini", "claude-sonnet": "claude-haiku"})
    left_out = (frame["model_a"] == own) | (frame["model_b"] == own)
    table = ranking.tables["own_maker"].set_index("judge")
    assert table["left_out"].to_dict() == frame["judge"][left_out].value_counts().to_dict()
    assert ranking.judgments.comparisons.n_comparisons == (~left_out).sum()
    mine = frame[(frame["judge"] == "gpt-4o") & left_out]
    won = mine["model_a"].where(mine["winner"] == "a", mine["model_b"]) == "gpt-4o-mini"
    assert table.loc["gpt-4o", "share_own"] == pytest.approx(won.mean())
    assert table.loc["gpt-4o", "share_expected"] < won.mean() - 0.1
    assert abs(np.subtract(*table.loc["claude-sonnet", ["share_own", "share_expected"]])) < 0.06
    remark = next(remark for remark in ranking.remarks if remark.startswith("Left out"))
    assert f"{left_out.sum():,} votes of 2 judges" in remark and "gpt-4o-mini would have the highest" in remark


def test_an_innocent_judge_is_not_accused_where_the_partial_ones_votes_count(frame):
    assert panel.flagged(judgerank.rank(frame, own_maker="count").tables["judges"]) == ["gpt-4o"]


def test_a_leader_that_only_its_maker_judged_is_called_so(frame):
    alone = judgerank.rank(frame[frame["judge"] == "gpt-4o"])
    said = f"the only judge is by the leader's maker; {UNTESTED}"
    assert verdict(alone).headline == f"gpt-4o-mini leads, but {said}"
    assert verdict(alone).next == OTHER_MAKER
    assert said in sentence(alone) and said in unescape(alone.to_html())
    both = drawn({"gpt-4o": 1.6, "o3": 1.0})
    assert "all 2 judges are by the leader's maker" in verdict(judgerank.rank(both)).headline
    other = frame[frame["judge"] == "deepseek-chat"]
    assert "maker" not in " ".join(verdict(judgerank.rank(other)).lines())


def test_votes_count_where_no_others_connect_the_models(frame):
    mini = (frame["model_a"] == "gpt-4o-mini") | (frame["model_b"] == "gpt-4o-mini")
    mine = frame["judge"] == "gpt-4o"
    ranking = judgerank.rank(frame[~mini | mine])
    assert len(ranking.fits) == 1 and set(ranking.tables["leaderboard"]["model"]) == set(SCORES)
    assert ranking.recusal.dependent == ("gpt-4o-mini",)
    assert ranking.tables["own_maker"].set_index("judge")["left_out"]["gpt-4o"] == 0
    summary = verdict(ranking)
    assert summary.headline.startswith("gpt-4o-mini") and (
        "but only judges of its maker compared gpt-4o-mini with some of the others" in summary.headline
    )
    assert summary.next == "Ask judges of other makers to compare gpt-4o-mini with the other models."


def test_two_makers_with_a_judge_each_leave_two_models_to_both():
    two = drawn({"gpt-4o": 1.6, "claude-sonnet": 1.8}, scores={"gpt-4o-mini": 0.5, "claude-haiku": 0.8})
    recusal = recusal_of(read_judgments(two))
    assert recusal.n_left_out == 0 and recusal.dependent == ("claude-haiku", "gpt-4o-mini")


def test_components_stay_what_they_are(frame):
    other = drawn({"gpt-4o": 1.0, "deepseek-chat": 1.0}, questions=30, scores={"chatgpt-x": 0.4, "kimi-k2": 0.0})
    ranking = judgerank.rank(pd.concat([frame, other], ignore_index=True))
    assert [len(fitted.scores) for fitted in ranking.fits] == [4, 2]


def test_advice_asks_no_judge_with_a_problem_and_none_about_his_maker(ranking):
    asked = ranking.tables["next"]
    assert set(asked["judge_model"]) <= {"claude-sonnet", "deepseek-chat"}
    own = asked["judge_model"] == "claude-sonnet"
    assert own.any() and not (asked[own][["model_a", "model_b"]] == "claude-haiku").any().any()


def test_nobody_is_asked_where_every_judge_has_a_problem():
    rows = drawn({"only": 1.5}, scores={"m0": 0.05, "m1": 0.0, "m2": -0.05})
    rows.loc[np.random.default_rng(0).random(len(rows)) < 0.6, "winner"] = "a"  # favours the first answer
    ranking = judgerank.rank(rows)
    assert panel.flagged(ranking.tables["judges"]) == ["only"] and ranking.tables["next"].empty
    assert "add judges" in verdict(ranking).next and "only" not in verdict(ranking).next
    assert NOBODY in ranking.to_html()


def test_facts_on_makers_come_before_names(frame):
    renamed = frame.replace({"gpt-4o-mini": "our-model", "gpt-4o": "our-judge"})
    assert "own_maker" in judgerank.rank(renamed).tables  # claude's votes
    assert judgerank.rank(renamed, makers={"our-model": "Acme", "our-judge": "acme inc."}).recusal.n_left_out == (
        judgerank.rank(frame).recusal.n_left_out
    )
    assert judgerank.rank(frame, makers={"claude-haiku": "Acme"}).recusal.n_left_out == 360
    with pytest.raises(ConfigError, match="own_maker"):
        judgerank.rank(frame, own_maker="maybe")


def test_other_commands_leave_the_same_votes_out(frame, ranking):
    report = trust_report(read_judgments(frame), SETTINGS)
    assert report.judgments.comparisons.n_comparisons == ranking.judgments.comparisons.n_comparisons
    assert any(remark.startswith("Left out: ") for remark in report.remarks)
    people = drawn({"ann": 1.0, "bob": 1.0}, questions=60, seed=1)
    both = pd.concat([frame, people], ignore_index=True)
    heard = judgerank.people_report(both, ["ann", "bob"]).panel.comparisons
    assert heard.n_comparisons == ranking.judgments.comparisons.n_comparisons
    counted = judgerank.people_report(both, ["ann", "bob"], own_maker="count").panel.comparisons
    assert counted.n_comparisons == len(frame)


def test_the_command_says_so_everywhere(tmp_path, frame):
    path, facts = tmp_path / "five.csv", tmp_path / "facts.csv"
    frame.replace({"gpt-4o-mini": "our-model"}).to_csv(path, index=False)
    facts.write_text("model,organisation\nour-model,OpenAI\n")
    options = ["--models", facts, "-o", tmp_path / "out", "--json"]
    shown = json.loads(run("rank", path, *options).stdout)
    assert shown["headline"].startswith("claude-haiku") and shown["own_maker"] == "recuse"
    assert {row["judge"] for row in shown["tables"]["own_maker"]} == {"gpt-4o", "claude-sonnet"}
    kept = json.loads((tmp_path / "out/run.json").read_text())["settings"]
    assert kept["own_maker"] == "recuse" and kept["makers"] == [["our-model", "OpenAI"]]
    counted = json.loads(run("rank", path, *options, "--own-maker", "count", "--whose", "this_panel").stdout)
    assert counted["headline"].startswith("our-model leads, but this depends on judge gpt-4o, which favours")
    plan = run("plan", path, "--json")
    assert any(note.startswith("Left out: ") for note in json.loads(plan.stdout)["notes"])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("own_maker", ["recuse", "count"])
def test_no_leader_changes_where_that_is_said(seed, own_maker):
    """With few questions the leaders are more or fewer without a judge, though the first stays among them."""
    judged = drawn(bias=1.2, questions=8, seed=seed)
    ranked = judgerank.rank(judged, own_maker=own_maker)
    flagged = panel.flagged(ranked.tables["judges"])
    said = verdict(ranked)
    for judge in flagged:
        others = judgerank.rank(judged, own_maker=own_maker, without_judge=judge).leaderboard
        without = set(others["model"][others["rank_low"] == 1])
        leaders = set(ranked.leaderboard["model"][ranked.leaderboard["rank_low"] == 1])
        if any(text.endswith(STAYS.rpartition("{}")[2]) for text in said.warnings):
            assert without == leaders
        elif len(flagged) == 1 and without != leaders:
            assert f"Without {judge}: " in " ".join(said.warnings) or judge in said.headline


def test_the_advised_command_repeats_the_choice_on_own_makers(tmp_path):
    drawn(bias=1.2, questions=10).to_csv(tmp_path / "j.csv", index=False)
    said = run("rank", "j.csv", "--own-maker", "count", "--json", cwd=tmp_path)
    change = json.loads(said.stdout)["change"]
    assert "judgerank trust j.csv --own-maker count" in change
