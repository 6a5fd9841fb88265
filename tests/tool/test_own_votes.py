"""What `rank` knows of judges' makers, every command uses: the same votes left out, the same options and words.

The judgments are made up: judge gpt-4o adds two log-odds to gpt-4o-mini, the other two judges add nothing.
"""

import inspect
import json
import re
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import judgerank
from judgerank import fit
from judgerank.adaptive.rounds import Kept
from judgerank.cli.commands import COMMANDS, loaded
from judgerank.data.frames import BY_REQUEST
from judgerank.data.rankings import rankings_of
from judgerank.fits import loading
from judgerank.gating.verdict_text import sentence
from judgerank.model.kinds.family import relations
from judgerank.ranking.recusal import OTHER_MAKER, UNTESTED, recusal_of
from judgerank.reading.selection import Filters
from tests.tool.command import judgerank as command
from tests.tool.test_judge_policy import JUDGES, SCORES, drawn

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


def run(folder, name, *more, line=None):
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
    recused, counted = run(folder, name), run(folder, name, "--own-maker", "count")
    assert (recused["own_maker"], counted["own_maker"]) == ("recuse", "count")
    assert result_of(name, recused) != result_of(name, counted)
    by_hand = pd.read_csv(folder / LINES[name][1 if name == "place" else 0])
    own = by_hand["judge"].map({"gpt-4o": "gpt-4o-mini", "claude-sonnet": "claude-haiku"})
    is_own = (by_hand["model_a"] == own) | (by_hand["model_b"] == own)
    path = folder / f"without_{name}.csv"
    by_hand[~is_own].to_csv(path, index=False)
    line = [path.name if word.endswith(".csv") else word for word in LINES[name]]
    assert result_of(name, run(folder, name, "--own-maker", "count", line=line)) == result_of(name, recused)
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
    by_facts = run(folder, name, "--models", "facts.csv", line=line)
    text = json.dumps(result_of(name, by_facts)).replace("ours", "gpt-4o-mini").replace("our-judge", "gpt-4o")
    assert sorted(text) == sorted(json.dumps(result_of(name, run(folder, name))))  # in whichever order of names
    refused = command(name, *line, "--models", "all.csv", cwd=folder)
    assert refused.returncode in (1, 2, 3)


@pytest.mark.parametrize("name", ["doctor", "place", "cells"])
def test_filters_are_those_of_rank_and_kept_in_the_record(name, folder):
    lines = {**LINES, "cells": ["all.csv", "-o", "cells.csv", "--force"]}
    line, source = lines[name], next(word for word in lines[name] if word.endswith(".csv"))
    options = ["--without-judge", "gpt-4o", "--category", "many"]
    filtered = run(folder, name, *options, line=line)
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
        again = run(folder, name, line=["kept.csv" if word == source else word for word in line])
        assert again["filter"] == [] and result_of(name, again) == result_of(name, filtered)
    if name == "doctor":
        assert filtered["run_next"].endswith("--without-judge gpt-4o --category many")
        assert run(folder, name, "--own-maker", "count")["run_next"].split()[-2:] == ["--own-maker", "count"]
    plain = command(name, *line, *options, cwd=folder)
    assert BY_REQUEST in plain.stdout + plain.stderr


def test_the_only_judge_of_the_maker_counts_and_everything_says_so(folder):
    mine = ["--only-judge", "gpt-4o"]
    ranking = judgerank.rank(folder / "all.csv", only_judge="gpt-4o")
    page = unescape(ranking.to_html())
    told = run(folder, "rank", *mine, "--card", "card.svg")
    for text in (page, told["headline"], (folder / "card.svg").read_text()):
        assert UNTESTED in " ".join(text.split())
    assert OTHER_MAKER in told["caution"] and OTHER_MAKER in page
    gate = run(folder, "gate", *mine, "--page", "gate.html")
    assert gate["recused_votes"] == 0 and gate["related_judges"] == ["gpt-4o"]
    assert gate["verdict"] == gate["verdict_with_related_judges"]
    assert gate["verdict_without_related_judges"] is None
    for text in (gate["sentence"], unescape((folder / "gate.html").read_text())):
        assert "the candidate's maker" in text and OTHER_MAKER in text
    place = run(folder, "place", *mine)
    assert place["newcomers"][0]["comparisons"] == (pd.read_csv(folder / "new.csv")["judge"] == "gpt-4o").sum()
    assert "maker" in place["headline"] and OTHER_MAKER in " ".join(place["notes"])
    assert "maker" not in run(folder, "place", "--only-judge", "deepseek-chat")["headline"]


def test_votes_count_on_a_newcomer_as_they_did_on_the_board(folder):
    frame = pd.read_csv(folder / "renamed.csv")
    frame[~(frame[["model_a", "model_b"]] == "ours").any(axis=1)].to_csv(folder / "board.csv", index=False)
    for choice in ("recuse", "count"):
        options = ["--own-maker", choice, "--models", "facts.csv", "--save", f"{choice}.npz", "--force"]
        command("rank", "board.csv", "-o", f"page_{choice}", *options, cwd=folder)
        line = [f"{choice}.npz", "renamed_new.csv"]
        as_there = run(folder, "place", line=line)
        assert as_there["own_maker"] == choice
        told = run(folder, "place", "--own-maker", choice, "--models", "facts.csv", line=line)
        assert as_there["newcomers"] == told["newcomers"]
    line = ["recuse.npz", "renamed_new.csv"]
    other = run(folder, "place", "--own-maker", "count", line=line)
    assert other["own_maker"] == "count" and other["newcomers"] != run(folder, "place", line=line)["newcomers"]
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
    board, new = loading.load(folder / "old.npz"), judgerank.read(folder / "new.csv")
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
            run(tmp_path, name, *options, line=["r.csv", *more]) for options in ([], ["--own-maker", "count"])
        )
        assert "120 of 180 rankings" in json.dumps(told) and "120 of 180" not in json.dumps(counted)
    for name, more in {"gate": GATE}.items():
        assert run(tmp_path, name, line=["r.csv", *more])["recused_votes"] == 120


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
