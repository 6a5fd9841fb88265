"""Judges of a model's maker have no vote on it: in rankings, and in every command by the same options."""

import inspect
import json
import re
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import judgerank
from judgerank import fit
from judgerank.adaptive.rounds import Kept
from judgerank.cli.commands import COMMANDS, loaded
from judgerank.data.errors import ConfigError
from judgerank.data.frames import BY_REQUEST
from judgerank.data.rankings import rankings_of
from judgerank.gating.verdict_text import sentence
from judgerank.model.kinds.family import relations
from judgerank.ranking import choices, judge_policy
from judgerank.ranking.card import sentence as card_sentence
from judgerank.ranking.judge_policy import STAYS, Kind
from judgerank.ranking.recusal import OTHER_MAKER, UNTESTED, recusal_of
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.next_comparisons import NOBODY
from judgerank.ranking.trust_report import trust_report
from judgerank.ranking.verdict import verdict
from judgerank.reading.read import read_judgments
from judgerank.reading.selection import Filters
from tests.forked import judgerank as command
from tests.forked import judgerank as run

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
    assert said in card_sentence(alone) and said in unescape(alone.to_html())
    both = drawn({"gpt-4o": 1.6, "o3": 1.0})
    assert "all 2 judges are by the leader's maker" in verdict(judgerank.rank(both)).headline
    other = frame[frame["judge"] == "deepseek-chat"]
    assert "maker" not in " ".join(verdict(judgerank.rank(other)).lines())


def test_a_leader_by_the_one_judge_who_outweighs_all_others_depends_on_him():
    rng, models, scores = np.random.default_rng(1), list("uvwxyz"), np.linspace(1, -1, 6)
    rows = []
    for q in range(300):
        i, j = rng.choice(6, 2, replace=False)
        for judge, weight in {"fixed": -3.0, "k1": 0.15, "k2": 0.15, "k3": 0.15, "k4": 0.15}.items():
            p = expit(weight * (scores[i] - scores[j]))
            rows.append((f"q{q}", models[i], models[j], judge, "a" if rng.random() < p else "b"))
    frame = pd.DataFrame(rows, columns=["question_id", "model_a", "model_b", "judge", "winner"])
    ranking = judgerank.rank(frame)
    assert panel.flagged(ranking.tables["judges"]) == []
    summary = verdict(ranking)
    weight = ranking.tables["judges"].set_index("judge")["information"]["fixed"]
    assert weight > judge_policy.MOST_WEIGHT
    assert f"depends on judge fixed, which has {weight:.0%} of the weight" in summary.headline
    assert summary.next.endswith("judges other than fixed.")
    without = ranking.without(judges=["fixed"])
    assert without.tables["leaderboard"]["model"].iloc[0] != ranking.tables["leaderboard"]["model"].iloc[0]


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
    by_kind = {kind: [warning for warning in said.warnings if warning.kind == kind] for kind in Kind}
    assert by_kind[Kind.LEADER] == [text for text in said.warnings if text.startswith("Without ")]
    assert len(by_kind[Kind.JUDGES]) == bool(flagged)
    assert len(by_kind[Kind.UNKNOWN]) == ranked.tables["judges"]["verdict"].eq(panel.UNSURE).any()
    # the terminal shows the first: who leads without a judge comes before what is unknown
    ordered = [f"Warning: {warning}" for kind in Kind for warning in by_kind[kind]]
    assert said.caveats()[: len(ordered)] == ordered


def test_the_advised_command_repeats_the_choice_on_own_makers(tmp_path):
    drawn(bias=1.2, questions=10).to_csv(tmp_path / "j.csv", index=False)
    said = run("rank", "j.csv", "--own-maker", "count", "--json", cwd=tmp_path)
    change = json.loads(said.stdout)["change"]
    assert "judgerank trust j.csv --own-maker count" in change


# What `rank` knows of judges' makers, every command uses: the same votes left out, the same options and words.

FILTERS = {f"--{name.replace('_', '-')}" for name in Filters.__annotations__}
OWN = {"--own-maker", "--models"}
COUNTS_ALONE = {"cells"}  # its file has the judges' names, by which `rank` leaves votes out
GATE = ["--baseline", "claude-haiku", "--candidate", "gpt-4o-mini"]
NEW = "gpt-4o-mini"  # who is placed on the board of the others


def options_of(name):
    return {option for parameter in loaded(name, COMMANDS[name][0]).params for option in parameter.opts}


def test_every_command_on_judgments_has_the_filters_and_the_choice_on_own_makers():
    reads = [name for name in COMMANDS if {"--column", "--winner-values"} <= options_of(name)]
    assert {"doctor", "rank", "trust", "cells", "gate", "place", "plan", "people"} <= {*reads}
    for name in reads:
        wanted = FILTERS if name in COUNTS_ALONE else FILTERS | OWN
        assert wanted <= options_of(name), name


@pytest.mark.parametrize(
    "function",
    [judgerank.rank, judgerank.gate, judgerank.place, judgerank.people_report, judgerank.on_human_board],
)
def test_functions_take_the_same_words(function):
    names = {*inspect.signature(function).parameters}
    assert {"own_maker", "makers"} <= names and ("filters" in names or {*Filters.__annotations__} <= names)


@pytest.mark.parametrize(
    ("unclear", "of", "said"),
    [
        (1, 3, "1 of 3 judges do not show how well it judges"),
        (3, 3, "all 3 judges do not show how well they judge"),
        (1, 1, "the only judge do not show how well it judges"),
    ],
)
def test_judges_of_whom_too_little_is_known_are_counted_in_words(unclear, of, said):
    verdicts = [*[panel.UNSURE] * unclear, *["fine"] * (of - unclear)]
    judges = pd.DataFrame({"judge": ["j", "k", "m"][:of], "verdict": verdicts})
    (warning,) = judge_policy._on_judges(judges)
    assert warning.startswith(f"The answers of {said}: j")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Judgments; the same with names that say no maker, and facts that do; a board without gpt-4o-mini; people."""
    path, frame = tmp_path_factory.mktemp("own"), drawn(questions=24)
    frame["category"] = np.where(frame["question_id"].str.len() == 2, "few", "many")
    frame.to_csv(path / "all.csv", index=False)
    renamed = {"gpt-4o-mini": "ours", "gpt-4o": "our-judge"}
    frame.replace(renamed).to_csv(path / "renamed.csv", index=False)
    (path / "facts.csv").write_text("model,organisation\nours,Acme\nour-judge,Acme Inc.\n")
    has_new = (frame[["model_a", "model_b"]] == NEW).any(axis=1)
    frame[~has_new].to_csv(path / "old.csv", index=False)
    frame[has_new].to_csv(path / "new.csv", index=False)
    frame[has_new].replace(renamed).to_csv(path / "renamed_new.csv", index=False)
    for name in ("old", "renamed_old"):
        source = frame[~has_new] if name == "old" else frame[~has_new].replace(renamed)
        judgerank.rank(source).fit.save(path / f"{name}.npz")
    people = drawn({"ann": 1.0}, bias=0, questions=24, seed=1).assign(category="many")
    pd.concat([frame, people]).to_csv(path / "people.csv", index=False)
    pd.concat([frame, people]).replace(renamed).to_csv(path / "renamed_people.csv", index=False)
    return path


LINES = {
    "doctor": ["all.csv"],
    "rank": ["all.csv"],
    "trust": ["all.csv", "--most", "1"],
    "gate": ["all.csv", *GATE],
    "place": ["old.npz", "new.csv"],
    "plan": ["all.csv", "--want", "pair_power=0.8"],
    "people": ["people.csv", "--human", "ann"],
}


def run_json(folder, name, *more, line=None):
    done = command(name, *(line or LINES[name]), *more, "--json", cwd=folder)
    assert done.returncode in ((0, 1, 2) if name == "gate" else (0,)), done.stderr
    return json.loads(done.stdout)


def result_of(name, document):
    """What a document says of the models, without what it says of votes left out."""
    return {
        "doctor": lambda: [one["text"] for one in document["findings"] if one["topic"] == "models"],
        "rank": lambda: document["leaderboard"],
        "trust": lambda: document["tables"]["changes"],
        "gate": lambda: [{k: v for k, v in one.items() if k != "missing"} for one in document["criteria"]],
        "place": lambda: document["newcomers"],
        "plan": lambda: document["plan"],
        "people": lambda: document["scores"],
    }[name]()


@pytest.mark.parametrize("name", LINES)
def test_each_command_leaves_the_same_votes_out(name, folder):
    recused, counted = run_json(folder, name), run_json(folder, name, "--own-maker", "count")
    assert (recused["own_maker"], counted["own_maker"]) == ("recuse", "count")
    assert result_of(name, recused) != result_of(name, counted)
    by_hand = pd.read_csv(folder / LINES[name][1 if name == "place" else 0])
    own = by_hand["judge"].map({"gpt-4o": "gpt-4o-mini", "claude-sonnet": "claude-haiku"})
    is_own = (by_hand["model_a"] == own) | (by_hand["model_b"] == own)
    path = folder / f"without_{name}.csv"
    by_hand[~is_own].to_csv(path, index=False)
    line = [path.name if word.endswith(".csv") else word for word in LINES[name]]
    assert result_of(name, run_json(folder, name, "--own-maker", "count", line=line)) == result_of(name, recused)
    among = by_hand[["model_a", "model_b"]].isin(GATE).all(axis=1) if name == "gate" else True
    n = int((is_own & among).sum())
    if name == "gate":
        assert (recused["recused_votes"], counted["recused_votes"]) == (n, 0)
    else:
        said = f"Left out: {n:,} votes"
        assert said in json.dumps(recused) and said not in json.dumps(counted)


@pytest.mark.parametrize("name", [name for name in LINES if name not in ("rank",)])
def test_facts_say_who_makes_a_model_or_a_judge(name, folder):
    files = {"all.csv": "renamed.csv", "new.csv": "renamed_new.csv", "people.csv": "renamed_people.csv"}
    files |= {"old.npz": "renamed_old.npz", "gpt-4o-mini": "ours"}
    line = [files.get(word, word) for word in LINES[name]]
    by_facts = run_json(folder, name, "--models", "facts.csv", line=line)
    text = json.dumps(result_of(name, by_facts)).replace("ours", "gpt-4o-mini").replace("our-judge", "gpt-4o")
    assert sorted(text) == sorted(
        json.dumps(result_of(name, run_json(folder, name)))
    )  # in whichever order of names
    refused = command(name, *line, "--models", "all.csv", cwd=folder)
    assert refused.returncode in (1, 2, 3)


@pytest.mark.parametrize("name", ["doctor", "place", "cells"])
def test_filters_are_those_of_rank_and_kept_in_the_record(name, folder):
    lines = {**LINES, "cells": ["all.csv", "-o", "cells.csv", "--force"]}
    line, source = lines[name], next(word for word in lines[name] if word.endswith(".csv"))
    options = ["--without-judge", "gpt-4o", "--category", "many"]
    filtered = run_json(folder, name, *options, line=line)
    rows = pd.read_csv(folder / source)
    kept = rows[(rows["judge"] != "gpt-4o") & (rows["category"] == "many")]
    kept.to_csv(folder / "kept.csv", index=False)
    (record,) = filtered["filter"]
    assert record["without_judge"] == ["gpt-4o"] and record["category"] == ["many"]
    assert (record["of"], record["left_out"]) == (len(rows), len(rows) - len(kept))
    if name == "cells":
        assert pd.read_csv(folder / "cells.csv")["count"].sum() == len(kept)
        assert command("cells", "all.csv", "--sql", "duckdb", *options, cwd=folder).returncode == 1
    else:
        again = run_json(folder, name, line=["kept.csv" if word == source else word for word in line])
        assert again["filter"] == [] and result_of(name, again) == result_of(name, filtered)
    if name == "doctor":
        assert filtered["run_next"].endswith("--without-judge gpt-4o --category many")
        assert run_json(folder, name, "--own-maker", "count")["run_next"].split()[-2:] == ["--own-maker", "count"]
    plain = command(name, *line, *options, cwd=folder)
    assert BY_REQUEST in plain.stdout + plain.stderr


def test_the_only_judge_of_the_maker_counts_and_everything_says_so(folder):
    mine = ["--only-judge", "gpt-4o"]
    ranking = judgerank.rank(folder / "all.csv", only_judge="gpt-4o")
    page = unescape(ranking.to_html())
    told = run_json(folder, "rank", *mine, "--card", "card.svg")
    for text in (page, told["headline"], (folder / "card.svg").read_text()):
        assert UNTESTED in " ".join(text.split())
    assert OTHER_MAKER in told["caution"] and OTHER_MAKER in page
    gate = run_json(folder, "gate", *mine, "--page", "gate.html")
    assert gate["recused_votes"] == 0 and gate["related_judges"] == ["gpt-4o"]
    assert gate["verdict"] == gate["verdict_with_related_judges"]
    assert gate["verdict_without_related_judges"] is None
    for text in (gate["sentence"], unescape((folder / "gate.html").read_text())):
        assert "the candidate's maker" in text and OTHER_MAKER in text
    place = run_json(folder, "place", *mine)
    assert place["newcomers"][0]["comparisons"] == (pd.read_csv(folder / "new.csv")["judge"] == "gpt-4o").sum()
    assert "maker" in place["headline"] and OTHER_MAKER in " ".join(place["notes"])
    assert "maker" not in run_json(folder, "place", "--only-judge", "deepseek-chat")["headline"]


def test_votes_count_on_a_newcomer_as_they_did_on_the_board(folder):
    frame = pd.read_csv(folder / "renamed.csv")
    frame[~(frame[["model_a", "model_b"]] == "ours").any(axis=1)].to_csv(folder / "board.csv", index=False)
    for choice in ("recuse", "count"):
        options = ["--own-maker", choice, "--models", "facts.csv", "--save", f"{choice}.npz", "--force"]
        command("rank", "board.csv", "-o", f"page_{choice}", *options, cwd=folder)
        line = [f"{choice}.npz", "renamed_new.csv"]
        as_there = run_json(folder, "place", line=line)
        assert as_there["own_maker"] == choice
        told = run_json(folder, "place", "--own-maker", choice, "--models", "facts.csv", line=line)
        assert as_there["newcomers"] == told["newcomers"]
    line = ["recuse.npz", "renamed_new.csv"]
    other = run_json(folder, "place", "--own-maker", "count", line=line)
    assert (
        other["own_maker"] == "count" and other["newcomers"] != run_json(folder, "place", line=line)["newcomers"]
    )
    both = command("diff", "recuse.npz", "count.npz", cwd=folder).stdout
    assert re.search(r"WARNING: .*\bown maker\b.*\bone of the boards\b", both)


def test_judges_of_either_maker_alone_count_on_both(folder):
    both = judgerank.gate(folder / "all.csv", *GATE[1::2], without_judge="deepseek-chat")
    assert both.own.recused == () and both.own.judges == ("claude-sonnet", "gpt-4o")
    assert UNTESTED in sentence(both)
    three = judgerank.gate(folder / "all.csv", *GATE[1::2])
    assert three.own.recused == both.own.judges and UNTESTED not in sentence(three)


def test_a_candidate_is_known_by_the_model_behind_it(folder):
    frame = pd.read_csv(folder / "all.csv").replace({"gpt-4o-mini": "new"})
    pair = "claude-haiku", "new"
    assert judgerank.gate(frame, *pair).related == ("claude-sonnet",)
    assert judgerank.gate(frame, *pair, candidate_model="o3").own.recused == ("claude-sonnet", "gpt-4o")
    itself = judgerank.gate(frame, *pair, candidate_model="deepseek-chat")
    assert itself.own.recused == ("claude-sonnet", "deepseek-chat")


def test_rows_of_comparisons_are_placed_as_the_records_are(folder):
    board, new = judgerank.load(folder / "old.npz"), judgerank.read(folder / "new.csv")
    named = judgerank.place(board, new)
    by_rows = judgerank.place(board, new.comparisons, new.question)
    pd.testing.assert_frame_equal(named.newcomers, by_rows.newcomers)
    assert named.remarks == by_rows.remarks and len(named.remarks) == 1
    strangers = judgerank.read(folder / "new.csv").frame.replace({"deepseek-chat": "kimi-k2"})
    only_own = judgerank.place(board, strangers)  # nobody else of the board compared it
    assert sum(n for why, n in only_own.anchored.left_out.items() if "judges" in why) > 0
    assert only_own.newcomers["comparisons"].iloc[0] > 0


# Rankings of several answers: a model of the judge's maker leaves the ranking, the order of the others stays.
RANKINGS = [
    ("gpt-4o", "gpt-4o-mini > claude-haiku > llama-3-70b", "claude-haiku > llama-3-70b"),
    ("gpt-4o", "claude-haiku > gpt-4o-mini = llama-3-70b", "claude-haiku > llama-3-70b"),
    ("gpt-4o", "gpt-4o-mini > {claude-haiku, llama-3-70b}", None),
    ("gpt-4o", "gpt-4o-mini > claude-haiku", None),
    ("deepseek-chat", "llama-3-70b > gpt-4o-mini > claude-haiku", "llama-3-70b > gpt-4o-mini > claude-haiku"),
    ("claude-sonnet", "llama-3-70b > claude-haiku > gpt-4o-mini", "llama-3-70b > gpt-4o-mini"),
]


def ranked_frame(rows):
    frame = pd.DataFrame(rows, columns=["judge", "ranking"])
    return frame.assign(question=[f"q{n}" for n in range(len(frame))])[frame["ranking"].notna()]


def test_models_of_the_judges_maker_leave_rankings():
    everything = judgerank.read(ranked_frame([(judge, text) for judge, text, _ in RANKINGS]))
    recusal = recusal_of(everything)
    by_hand = ranked_frame([(judge, text) for judge, _, text in RANKINGS])
    expected = rankings_of(judgerank.read(by_hand))[0]
    assert [one.groups for one in rankings_of(recusal.kept)[0]] == [one.groups for one in expected]
    assert recusal.n_left_out == 5 and not recusal.dependent
    (said,) = recusal.on_left_out()
    assert "5 of 6 rankings" in said and "2 judges" in said
    assert recusal_of(everything, recuse=False).kept is everything
    alone = recusal_of(judgerank.read(ranked_frame([(judge, text) for judge, text, _ in RANKINGS[:2]])))
    assert alone.n_left_out == 0 and alone.dependent == ("gpt-4o-mini",)  # nobody else ranks it


def drawn_rankings(n, seed, bias=1.5):
    """Rankings of all four models by Plackett and Luce's model; gpt-4o adds to gpt-4o-mini."""
    rng, names = np.random.default_rng(seed), np.array([*SCORES])
    rows = []
    for judge in JUDGES:
        utility = np.array([*SCORES.values()]) + bias * ((names == "gpt-4o-mini") & (judge == "gpt-4o"))
        noise = rng.gumbel(size=(n, len(names)))
        rows += [(judge, " > ".join(names[order])) for order in np.argsort(-(utility + noise), axis=1)]
    return ranked_frame(rows)


def test_a_judge_who_ranks_his_maker_too_high_does_not_move_the_others():
    """By Luce's axiom: 2,000 rankings of each judge, so 0.1 is three standard errors of a difference at least."""
    frame = drawn_rankings(2000, 5)
    scores = {
        choice: judgerank.fit(recusal_of(judgerank.read(frame), choice == "recuse").kept, "btl").scores
        for choice in ("recuse", "count")
    }
    truth = pd.Series(SCORES) - np.mean([*SCORES.values()])
    assert (scores["recuse"] - truth).abs().max() < 0.1
    assert scores["count"]["gpt-4o-mini"] - truth["gpt-4o-mini"] > 0.25


def test_commands_on_rankings_leave_them_out_too(tmp_path):
    drawn_rankings(60, 1).to_csv(tmp_path / "r.csv", index=False)
    for name, more in {"rank": [], "doctor": [], "trust": ["--most", "1"], "plan": []}.items():
        told, counted = (
            run_json(tmp_path, name, *options, line=["r.csv", *more]) for options in ([], ["--own-maker", "count"])
        )
        assert "120 of 180 rankings" in json.dumps(told) and "120 of 180" not in json.dumps(counted)
    for name, more in {"gate": GATE}.items():
        assert run_json(tmp_path, name, line=["r.csv", *more])["recused_votes"] == 120


def test_looks_during_a_collection_count_the_votes_that_a_ranking_counts(folder):
    judgments = judgerank.read(folder / "all.csv")
    recusal, c = recusal_of(judgments), judgments.comparisons
    seen = SimpleNamespace(models=c.models, judges=c.judges, costs=np.ones(len(c.judges)))
    kept = Kept(seen, c, judgments.question, relations(c.judges, c.models))
    assert kept.raw.n_comparisons == recusal.kept.comparisons.n_comparisons < c.n_comparisons
    assert len(kept.question) == len(kept.raw)
    pd.testing.assert_series_equal(
        fit(kept.raw, "position_aware", "penalised").scores,
        fit(recusal.kept.comparisons, "position_aware", "penalised").scores,
    )
