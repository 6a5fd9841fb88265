"""`judgerank place`, `diff`, `people` and `trust` as a user runs them; unread output, interruptions."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from typer.testing import CliRunner

from judgerank import __main__ as entry
from judgerank import fit, on_human_board, people_report, rank, read
from judgerank.boards.comparing import compare
from judgerank.boards.reported import difference_text
from judgerank.cli import app, terminal
from judgerank.cli.commands import COMMANDS, DEFECT, TRACEBACK, ending
from judgerank.cli.terminal import plain
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.listing import listed, percent, shortened
from judgerank.model.naming import named
from judgerank.people.human_scale import POINTS
from judgerank.ranking.trust_report import bounded, trust_report
from judgerank.reading.layouts import MOST_COLUMNS
from judgerank.trust.sentences import neighbours, on_panel, top_sentence
from replication.config import ROOT
from studies.human_boards import Board, drawn_board
from studies.people import drawn
from tests.forked import RUN, environment, judgerank, usage_text
from tests.library.test_people import frame_of

# `judgerank place` and `judgerank diff` as a user runs them.
EXAMPLE = ROOT / "examples/judgments.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The example's board without one model, its judgments of that model, and the board of all."""
    path = tmp_path_factory.mktemp("boards")
    frame = pd.read_csv(EXAMPLE)
    mine = (frame["model_a"] == "cedar") | (frame["model_b"] == "cedar")
    frame[~mine].to_csv(path / "old.csv", index=False)
    frame[mine].to_csv(path / "new.csv", index=False)
    for name, file, note in (("old", path / "old.csv", "v1"), ("all", EXAMPLE, "v2")):
        saved = ["--save", path / f"{name}.npz", "--note", f"prompt={note}"]
        done = judgerank("rank", file, "-o", path / name, *saved)
        assert done.returncode == 0, done.stderr
        assert f"the fit: {path / name}.npz" in done.stdout
    return path


def test_a_newcomer_is_placed_beside_a_refit(folder):
    done = judgerank("place", folder / "old.npz", folder / "new.csv", anew=True)
    assert done.returncode == 0, done.stderr
    assert "cedar, placed on a board of 4 models" in done.stdout
    assert re.search(r"\bnot separated\b.*\b(oak|elm|ash|fir|pine|maple|birch)\b", done.stdout)


def test_a_partial_judge_is_warned_of(folder, tmp_path):
    frame = pd.read_csv(folder / "new.csv")
    frame = pd.concat([frame] * 4, ignore_index=True)
    mine = (frame["judge"] == "judge-small") & (np.arange(len(frame)) % 10 > 0)
    frame.loc[mine, "winner"] = np.where(frame["model_a"] == "cedar", "model_a", "model_b")[mine]
    frame["question"] = [f"n{i}" for i in range(len(frame))]
    frame.to_csv(tmp_path / "n.csv", index=False)
    done = judgerank("place", folder / "old.npz", tmp_path / "n.csv")
    assert done.returncode == 0, done.stderr
    assert "WARNING: judge-small sees cedar +" in done.stdout


def test_two_boards_are_held_against_each_other(folder):
    done = judgerank("diff", folder / "old.npz", folder / "all.npz", anew=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING: prompt was v1 and is v2." in done.stdout
    assert "Models new: cedar." in done.stdout and "Judges are the same." in done.stdout
    assert "Files are not the same." in done.stdout
    assert re.search(r"^p_value: .*\bstandard_error\b", done.stdout, re.MULTILINE)
    same = judgerank("diff", folder / "all.npz", folder / "all.npz").stdout
    assert re.search(r"\bsame comparisons\b", same) and "No model" in same and "prompt: v2." in same


def test_a_note_that_one_board_lacks_is_said_to_be_the_other_ones():
    noted, plain = {"files": ["1"], "notes": {"prompt": "v1"}}, {"files": ["2"], "notes": {}}
    board, newer = pd.read_csv(EXAMPLE).head(200), pd.read_csv(EXAMPLE)
    found = compare(fit(read(board)), fit(read(newer)))
    old, new = (list(difference_text(found, *both)) for both in ((noted, plain), (plain, noted)))
    assert "- The old board notes prompt=v1; the new one has no such note." in old
    assert "- The new board notes prompt=v1; the old one has no such note." in new


def test_what_is_no_board_is_refused(folder, tmp_path):
    done = judgerank("diff", folder / "old.csv", folder / "all.npz")
    assert done.returncode == 1 and "old.csv" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    done = judgerank("place", folder / "all.npz", folder / "new.csv")
    assert done.returncode == 1 and re.search(r"\bevery model\b.*\bboard\b", done.stderr)


def test_a_note_takes_a_file_to_be_kept_in(tmp_path):
    done = judgerank("rank", EXAMPLE, "-o", tmp_path / "r", "--note", "prompt=v1")
    assert done.returncode == 2 and "--save" in usage_text(done.stderr)
    assert not (tmp_path / "r").exists()
    done = judgerank("rank", EXAMPLE, "-o", tmp_path / "r", "--save", tmp_path / "b.npz", "--note", "prompt")
    assert done.returncode == 2 and re.search("'prompt' .*NAME=TEXT", usage_text(done.stderr))


# `judgerank people` as a user runs it.


@pytest.fixture
def votes(tmp_path):
    frame = frame_of(*drawn(np.random.default_rng(1), 1.0, 1.0, 300))
    frame.rename(columns={"human": "by_person"}).to_csv(tmp_path / "votes.csv", index=False)
    return tmp_path / "votes.csv"


def test_a_marked_file_gives_scores_a_test_and_items_to_ask(votes, tmp_path):
    done = judgerank("people", votes, "--column", "human=by_person", "--next", tmp_path / "ask.csv", anew=True)
    assert done.returncode == 0, done.stderr
    full = judgerank("people", votes, "--column", "human=by_person", "--verbose").stdout
    assert (
        full.splitlines()[:2] == judgerank("people", votes, "--column", "human=by_person").stdout.splitlines()[:2]
    )
    assert re.search(r"\bpeople\b.* 300 .*", full) and re.search(r"WARNING\b.*\bas_judge\b", full)
    asked = pd.read_csv(tmp_path / "ask.csv")
    assert len(asked) == 700 and set(asked) == {"first", "second", "question", "panel", "worth"}
    assert set(asked["question"]) <= set(pd.read_csv(votes)["question"])


def test_people_by_name(votes):
    done = judgerank("people", votes, "--human", "people")
    assert done.returncode == 0, done.stderr


def test_people_prints_one_screen_that_claims_no_more_than_its_intervals(votes):
    done = judgerank("people", votes, "--column", "human=by_person")
    report = people_report(read(votes, columns={"human": "by_person"}))
    lines = done.stdout.splitlines()
    assert len(lines) <= 12 + len(report.table) and max(map(len, lines)) <= 100
    first, second = report.table["model"][:2]
    row = report.people.win_probabilities().iloc[0]
    assert f"prefer {first} to {second} (2nd) {row['probability']:.0%} of the time" in lines[1]
    n_pairs = len(report.table) * (len(report.table) - 1) / 2
    strict = report.people.win_probabilities(1 - 0.05 / n_pairs)
    beaten = set(strict.loc[strict["low"] > 0.5, "second"])
    alone = len(beaten) == len(report.table) - 1
    assert lines[0].startswith(f"{first} leads" if alone else "No clear leader")
    document = json.loads(judgerank("people", votes, "--column", "human=by_person", "--json").stdout)
    printed = " ".join(done.stdout.split())
    assert lines[0] == f"{document['headline']}." and document["next"] in printed
    assert document["evidence"] in printed and f"Warning: {document['warnings'][0]}" in printed
    rows = [line.split()[:3] for line in lines if re.match(r" +\d+ +\S+ +-?\d", line)]
    assert rows == [[str(r), m, f"{s:.3f}"] for r, m, s in report.table[["rank", "model", "score"]].to_numpy()]
    assert report.disagree and any(line.startswith("Warning: The panel") for line in lines)


def test_no_people_is_one_sentence_and_no_file(votes, tmp_path):
    done = judgerank("people", votes, "--next", tmp_path / "ask.csv")
    assert done.returncode == 1 and "--human" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and not (tmp_path / "ask.csv").exists()


@pytest.fixture
def verdicts(tmp_path):
    """Verdicts of judges on 14 models, ten of them on a board of human votes."""
    board = Board(models=10)
    found = drawn_board(board, np.random.default_rng(2))
    size = len(found.verdicts)
    table = frame_of(found.verdicts, np.arange(size), np.zeros(size, bool), mark=False)
    table.to_csv(tmp_path / "verdicts.csv", index=False)
    elo = 1000 + POINTS * found.truth[:10]
    pd.DataFrame({"model": found.verdicts.models[:10], "elo": elo}).to_csv(tmp_path / "board.csv", index=False)
    return tmp_path


def test_new_models_are_placed_on_a_human_board(verdicts):
    told = ("people", verdicts / "verdicts.csv", "--leaderboard", verdicts / "board.csv")
    done = judgerank(*told, "--level", "0.9")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 models without human votes, placed on the human scale of 10 others")
    documented = json.loads(judgerank(*told, "--level", "0.9", "--json").stdout)
    found = on_human_board(verdicts / "verdicts.csv", verdicts / "board.csv", 0.9)
    assert [row["model"] for row in documented["newcomers"]] == found.newcomers["model"].tolist()
    assert documented["newcomers"][0]["conformal_high"] == pytest.approx(
        found.newcomers["conformal_high"][0], rel=1e-6
    )
    without = judgerank(*told)  # at 95%
    assert (
        "There is no 95% conformal interval: 10 models allow at most 90.9%. Use --level 0.9 or less"
        in without.stdout
    )
    high = json.loads(judgerank(*told, "--json").stdout)["newcomers"]
    assert all(row["conformal_high"] is None for row in high)


@pytest.mark.parametrize(
    ("board", "more", "said"),
    [
        ("missing.csv", (), "missing.csv: .*No such file or directory"),
        ("verdicts.csv", (), "verdicts.csv: .*model and elo"),
        ("few.csv", (), r"\b3 of .*\b4 or\b"),
        ("board.csv", ("--human", "j0"), "--leaderboard .*--human and --next"),
    ],
)
def test_what_is_no_board_is_one_sentence(board, more, said, verdicts):
    pd.read_csv(verdicts / "board.csv").head(3).to_csv(verdicts / "few.csv", index=False)
    done = judgerank("people", verdicts / "verdicts.csv", "--leaderboard", verdicts / board, *more)
    assert done.returncode == 1 and re.search(said, done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1 and not done.stdout


# `judgerank trust` as a user runs it, and what a ranking says of it.
TRUST_EXAMPLE = ROOT / "examples/judgments.csv"


@pytest.fixture(scope="module")
def report():
    return trust_report(read(TRUST_EXAMPLE))


def test_a_removal_without_a_bound_is_from_one_on(report):
    fragile = report.fragility
    changes = fragile.changes.assign(at_least=pd.array([pd.NA] * len(fragile.changes), "Int64"))
    unbounded = replace(report, fragility=bounded(replace(fragile, changes=changes)))
    sizes = [entry for entry in fragile.changes["size"][changes["change"] != "top"].dropna() if entry > 1]
    assert sizes
    for text in (unbounded.summary()[1], str(unbounded)):
        assert all(f"1-{size}" in text for size in sizes)


def test_two_models_without_an_order_have_a_plan(tmp_path):
    """All judges have equal weight, so that none is said to answer at random."""
    rows = [(f"q{q}", "x", "y", f"j{q % 2}", "a" if q % 3 else "b") for q in range(40)]
    names = ["question_id", "model_a", "model_b", "judge", "winner"]
    rows = [(*row[:4], row[1] if row[4] == "a" else row[2]) for row in rows]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "two.csv", index=False)
    done = CliRunner().invoke(app, ["plan", str(tmp_path / "two.csv"), "--want", "score_width=0.4", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["plan"]


def test_the_command_says_what_would_change_it_and_lists_the_judgments(tmp_path, report):
    done = judgerank("trust", TRUST_EXAMPLE, "-o", tmp_path / "out", "--verbose", anew=True)
    assert done.returncode == 0, done.stderr
    top = report.fragility.changes.iloc[0]
    assert f"{top['size']} of 600 judgments" in done.stdout
    assert f"would put {top['second']} first." in done.stdout
    tables = {path.stem: pd.read_csv(path) for path in (tmp_path / "out").glob("*.csv")}
    assert set(tables) == {"changes", "records", "judges", "worth", "panel", "another", "fitness"}
    assert "Does the model describe the answers?\n- " in done.stdout
    assert not report.panel.is_informative  # few judges were asked of the same two models on a question
    assert not re.search(r"\bindependent judges\b[^.]*\(.*\d to \d", done.stdout)
    records, judgments = tables["records"], pd.read_csv(TRUST_EXAMPLE)
    mine = records[records["set"] == 1]
    assert len(mine) == top["size"]
    there = judgments.iloc[mine["record"] - 1]  # numbered from one, as they are in the file
    assert list(mine["question_id"]) == list(there["question"])
    assert list(mine["judge_model"]) == list(there["judge"])
    assert json.loads((tmp_path / "out/run.json").read_text())["section"] == "trust"


def test_the_command_prints_one_screen_in_which_no_finding_is_missing(report):
    lines = judgerank("trust", TRUST_EXAMPLE).stdout.splitlines()
    assert len(lines) <= 28
    tables = [line for line in lines if re.fullmatch(r" *\w+ +\w+(?: +[-\d]+){3}", line)]
    assert (
        len(tables) == len(neighbours(report.fragility.changes)) + 2 and max(map(len, tables)) <= 60
    )  # 2 are ties
    said, every = " ".join(" ".join(lines).split()), str(report)
    found = [*report.remarks, *report.fitness.sentences(), *on_panel(report.panel, report.same)]
    found += [top_sentence(row) for _, row in report.fragility.changes.query("change == 'top'").iterrows()]
    for text in found:
        assert text.removeprefix("- ").strip() in said or "Effective number" in text
        assert text.strip() in every
    most = report.fragility.judges.sort_values("moved", ascending=False, kind="stable").iloc[0]
    assert most["moved"] > 0 and f"{most['judge']} matters most" in said  # the name as the file has it


def test_without_these_judgments_the_file_ranks_another_model_first(tmp_path, report):
    records = report.records()
    gone = records[records["set"] == 1]["record"] - 1
    path = tmp_path / "left.csv"
    pd.read_csv(TRUST_EXAMPLE).drop(index=gone).to_csv(path, index=False)
    board = rank(read(path)).tables["leaderboard"]
    top = report.fragility.changes.iloc[0]
    assert list(board["model"][:2]) == [top["second"], top["first"]]


def test_a_ranking_says_the_short_form(report):
    (told,) = [one for one in rank(read(TRUST_EXAMPLE)).remarks if one.startswith("Fragility")]
    top = report.fragility.changes.iloc[0]
    assert f"{top['size']} of 600 judgments ({percent(top['share'])}) would put {top['second']} first" in told


def test_another_folder_is_not_replaced(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    done = judgerank("trust", TRUST_EXAMPLE, "-o", tmp_path)
    assert done.returncode == 1
    assert str(tmp_path) in done.stderr and len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_without_questions_it_says_what_cannot_be_told(tmp_path):
    path = tmp_path / "m.csv"
    pd.read_csv(TRUST_EXAMPLE).drop(columns="question").to_csv(path, index=False)
    report = trust_report(read(path))
    assert report.panel is None
    assert set(report.fragility.changes["by"]) == {"judgments", "judges"}
    assert "question=NAME" in str(report)


def test_of_two_islands_the_largest_keeps_the_numbers_of_its_records(tmp_path):
    frame = pd.read_csv(TRUST_EXAMPLE)
    other = pd.DataFrame({"model_a": ["x", "y"] * 4, "model_b": ["y", "x"] * 4, "judge": "judge-small"})
    other["winner"], other["question"] = ["model_a", "model_b"] * 3 + ["model_a"] * 2, [f"z{i}" for i in range(8)]
    path = tmp_path / "m.csv"
    pd.concat([other, frame]).to_csv(path, index=False)
    report = trust_report(read(path))
    assert "fall into 2 components: no comparison connects their models" in str(report)
    planned = judgerank("plan", path)
    assert planned.returncode == 0 and "600 comparisons of the file" in planned.stdout
    assert report.records()["record"].min() > len(other)


def test_coin_flips_of_one_judge_are_fragile(tmp_path):
    rng = np.random.default_rng(3)
    pairs = np.array([rng.permutation(4)[:2] for _ in range(200)])
    frame = pd.DataFrame({"model_a": pairs[:, 0], "model_b": pairs[:, 1]}).map(lambda i: f"m{i}")
    frame["winner"] = rng.choice(["model_a", "model_b", "tie"], 200)
    path = tmp_path / "m.jsonl"
    frame.to_json(path, orient="records", lines=True)
    report = trust_report(read(path))
    assert report.fragility.changes.iloc[0]["share"] < 0.2
    assert report.fragility.judges.empty or len(report.fragility.judges) == 1
    assert "Each judge" not in str(report)


def test_one_judge_whose_absence_changes_the_leader_is_the_smallest_set_of_judges():
    """The search finds two judges for a nearer challenger; without one of them a third model leads."""
    rng, n = np.random.default_rng(26), 400
    scores = np.linspace(0.4, -0.4, 6) + rng.normal(0, 0.9, (5, 6))  # of each judge
    judge, pairs = rng.integers(5, size=n), np.array([rng.permutation(6)[:2] for _ in range(n)])
    gap = scores[judge, pairs[:, 0]] - scores[judge, pairs[:, 1]]
    frame = pd.DataFrame({"model_a": pairs[:, 0], "model_b": pairs[:, 1], "judge": judge}).map(lambda i: f"n{i}")
    report = trust_report(read(frame.assign(winner=np.where(rng.random(n) < expit(gap), "model_a", "model_b"))))
    changes, judges = report.fragility.changes, report.fragility.judges
    (number,) = np.flatnonzero((changes["change"] == "top") & (changes["by"] == "judges"))
    row = changes.iloc[number]
    alone = judges[judges["top"] != row["first"]].set_index("judge")["top"]
    assert len(alone) and (row["size"], row["second"]) == (1, alone.iloc[0])
    records = report.records()
    assert set(records.loc[records["set"] == number + 1, "judge_model"]) == {alone.index[0]}
    assert f"Without {alone.index[0]}, {alone.iloc[0]} is first." in str(report)


def test_a_bad_number_of_pairs_is_refused():
    with pytest.raises(ConfigError, match="most=0"):
        trust_report(read(TRUST_EXAMPLE), most=0)
    assert judgerank("trust", TRUST_EXAMPLE, "--most", "0").returncode == 2


FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
SHIP = "gate judgments.csv --baseline thorn --candidate oak"
BLOCKS = "gate judgments.csv --baseline oak --candidate thorn"


@pytest.fixture(scope="module")
def example_folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("output")
    assert judgerank("example", cwd=place).returncode == 0
    return place


def piped(words, rest, example_folder):
    """Exit code of a command whose output goes elsewhere, and what is on standard error."""
    script = f"{shlex.join(RUN)} {words} {rest}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], cwd=example_folder, env=environment(), capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [SHIP, f"{SHIP} --json", f"{SHIP} 2>&1", f"{SHIP} --help"])
def test_a_reader_who_leaves_changes_no_verdict(words, example_folder):
    assert piped(words, "| true", example_folder) == (0, "")


def test_nor_does_output_that_is_closed_from_the_start(example_folder):
    assert piped(SHIP, ">&-", example_folder) == (0, "")
    assert piped(BLOCKS, "| true", example_folder) == (1, "")


@needs_full
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (SHIP, 3),
        (f"{SHIP} --json", 3),
        (f"{BLOCKS} --json", 3),
        ("doctor judgments.csv --json", 1),
        ("rank judgments.csv --json", 1),
        ("plan judgments.csv", 1),
        ("--version", 1),
        ("rank --help", 1),
    ],
)
def test_output_that_cannot_be_written_is_told_in_one_sentence(words, code, example_folder):
    found, said = piped(words, "> /dev/full", example_folder)
    assert found == code
    name = "" if words.startswith("--") or "--help" in words else f" {words.split()[0]}"
    lost = "standard output could not be written: No space left on device"
    assert said.splitlines()[-1] == f"judgerank{name}: {lost}"


@needs_full
def test_an_error_keeps_its_code_where_nothing_can_be_written(example_folder):
    said = "judgerank gate: there is no file 'none.csv'\n"
    assert piped("gate none.csv --json", "> /dev/full", example_folder) == (3, said)
    assert piped("doctor none.csv", "2> /dev/full", example_folder)[0] == 1
    assert piped(f"{SHIP} --json", "2> /dev/full > verdict.json", example_folder)[0] == 0
    assert json.loads((example_folder / "verdict.json").read_text())["verdict"] == "ship"


def test_ctrl_c_before_anything_is_loaded_ends_in_one_sentence(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "judgerank.cli", Interrupting("judgerank.cli"))
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == 130
    assert re.fullmatch(r"judgerank: interrupted .*\n", capsys.readouterr().err)


class Interrupting(type(sys)):
    """A module in whose loading somebody presses Ctrl-C."""

    def __getattr__(self, name):
        raise KeyboardInterrupt


@pytest.mark.parametrize(("columns", "width"), [(60, 60), (20, terminal.NARROWEST), (300, terminal.WIDTH)])
def test_lines_fit_the_terminal(columns, width, example_folder):
    own, its = pty.openpty()
    words = [*RUN, "gate", "judgments.csv", "--baseline", "thorn", "--candidate", "oak"]
    done = subprocess.run(words, cwd=example_folder, env=environment(COLUMNS=str(columns)), stdout=its)
    assert done.returncode == 0
    os.close(its)
    time.sleep(0.1)
    said = os.read(own, 100_000).decode()
    os.close(own)
    longest = max(len(re.sub(r"\x1b\[\d*m|\r", "", line)) for line in said.split("\n"))
    assert width - 20 < longest <= width


# `--json` of every command: one document on standard output, also on failure, and nothing beside it.
PAGE = (ROOT / "docs/reference/json.md").read_text()
PANEL = "base_url: http://127.0.0.1:9/v1\njudges: [{judge: j}]\n"
# what each command is told in a folder with the example, and a command line that fails there with its exit code
RUNS = {
    "example": ("example other.csv", "example judgments.csv", 1),
    "doctor": ("doctor judgments.csv", "doctor none.csv", 1),
    "rank": ("rank judgments.csv --save new.npz --card c.svg", "rank judgments.csv --level 2", 2),
    "trust": ("trust judgments.csv --most 2 --output sets", "trust broken.csv", 1),
    "cells": ("cells judgments.csv -o cells.csv", "cells judgments.csv -o cells.xlsx", 2),
    "gate": ("gate judgments.csv --baseline oak --candidate maple", "gate judgments.csv", 3),
    "place": ("place board.npz november.csv december.csv", "place judgments.csv judgments.csv", 1),
    "diff": ("diff board.npz board.npz", "diff board.npz none.npz", 1),
    "plan": ("plan judgments.csv --by-judges 2", "plan --want speed=3", 2),
    "collect": ("collect answers.jsonl --panel panel.yaml --dry-run", "collect answers.jsonl", 2),
    "vote": ("vote answers.jsonl --comparisons 2", "vote none.jsonl", 1),
    "people": ("people votes.csv --human judge-large", "people judgments.csv", 1),
}


@pytest.fixture(scope="module")
def json_folder(tmp_path_factory):
    """A folder with the example, a saved ranking, answers, a panel, and a file that is no judgments."""
    place = tmp_path_factory.mktemp("json")
    assert judgerank("example", cwd=place).returncode == 0
    table = pd.read_csv(place / "judgments.csv")  # judge-large is taken for a person, who saw half of the items
    half = table["question_id"] <= "simulated-075"
    table[half | (table["judge"] != "judge-large")].to_csv(place / "votes.csv", index=False)
    (place / "answers.jsonl").write_text((ROOT / "examples/answers.jsonl").read_text())
    (place / "panel.yaml").write_text(PANEL)
    (place / "broken.csv").write_text("a,b\n1,2\n")
    for month in ("november", "december"):
        (place / f"{month}.csv").write_text((ROOT / f"examples/story/{month}.csv").read_text())
    done = judgerank("rank", "november.csv", "--save", "board.npz", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


def keys_on_page(command: str) -> set[str]:
    """Keys that the page lists for a command."""
    section = PAGE.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE))


def test_every_command_is_run():
    assert sorted(RUNS) == sorted(COMMANDS)


@pytest.mark.parametrize("name", RUNS)
def test_the_document_is_all_of_standard_output_and_has_the_keys_of_the_page(name, json_folder):
    done = judgerank(*RUNS[name][0].split(), "--json", cwd=json_folder)
    assert done.returncode in ((0, 1, 2) if name == "gate" else (0,)), done.stderr
    found = json.loads(done.stdout)
    assert found["command"] == name
    assert set(found) - {"command"} == keys_on_page(name)


def test_a_human_board_has_a_document_of_its_own(json_folder):
    table = pd.read_csv(json_folder / "judgments.csv")
    known = sorted({*table["model_a"], *table["model_b"]})[1:]
    elo = pd.Series(range(1000, 1000 + 10 * len(known), 10), known, name="elo")
    elo.rename_axis("model").to_csv(json_folder / "human.csv")
    done = judgerank(
        "people", "judgments.csv", "--leaderboard", "human.csv", "--level", "0.5", "--json", cwd=json_folder
    )
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) - {"command"} == keys_on_page("people --leaderboard")


@pytest.mark.parametrize("name", RUNS)
def test_a_failure_is_a_document_too(name, json_folder):
    _, words, code = RUNS[name]
    done = judgerank(*words.split(), "--json", cwd=json_folder)
    assert done.returncode == code
    found = json.loads(done.stdout)
    assert (found["command"], found["exit_code"]) == (name, code)
    assert done.stderr == f"judgerank {name}: {found['error']}\n"
    assert set(found) - {"command"} == keys_on_page("Failure")


def test_a_command_that_is_unknown_and_an_option_that_is_misspelt_are_documents():
    for words, command in ((["rang", "--json"], "judgerank"), (["rank", "--sovler", "x", "--json"], "rank")):
        done = judgerank(*words)
        assert done.returncode == 2
        assert json.loads(done.stdout) == {
            "command": command,
            "error": done.stderr.strip().partition(": ")[2],
            "exit_code": 2,
        }


def test_notes_and_progress_go_to_standard_error(json_folder):
    plain, documented = (judgerank("plan", "judgments.csv", *more, cwd=json_folder) for more in ([], ["--json"]))
    note = "Every new question has"
    assert note in plain.stdout
    assert note in documented.stderr
    assert note not in documented.stdout


def test_the_leaderboard_of_the_document_is_the_table_that_is_written(json_folder):
    done = judgerank("rank", "judgments.csv", "--output", "board", "--json", cwd=json_folder)
    found = json.loads(done.stdout)
    written = pd.read_csv(json_folder / "board/leaderboard.csv")
    told = pd.DataFrame(found["leaderboard"])
    assert list(told) == list(written)
    pd.testing.assert_frame_equal(told, written, check_dtype=False, atol=1e-9)
    assert found["files"]["page"] == "board/index.html"


def test_names_with_controls_and_other_scripts_survive(json_folder):
    names = ["\x7f\x1b[31mred", "caf\u00e9 \u6a21\u578b \U0001f600", "x" * 5000]
    rows = [
        {"model_a": a, "model_b": b, "winner": w, "judge": "j"}
        for a in names
        for b in names
        if a != b
        for w in "aab"
    ]
    (json_folder / "names.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = judgerank("rank", "names.jsonl", "--json", cwd=json_folder, LANG="C", PYTHONIOENCODING="ascii")
    assert {row["model"] for row in json.loads(done.stdout)["leaderboard"]} == set(names)


# Input that no one means ends in one sentence, and names reach no terminal as commands to it.
NAMES = ["m0", "m1", "m2"]
PAIRS = [(NAMES[i % 3], NAMES[(i + 1 + i // 3 % 2) % 3]) for i in range(60)]
RECORDS = [
    {"model_a": a, "model_b": b, "winner": "model_a" if (a < b) != (place % 4 == 0) else "model_b"}
    for place, (a, b) in enumerate(PAIRS)
]


def ended(*words: str) -> tuple[int, str]:
    """The command's exit code and all that it printed."""
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.output


@pytest.mark.parametrize("command", ["doctor", "rank"])
def test_half_a_character_is_named_by_its_record(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(json.dumps(RECORDS).replace('"m2"', '"m\\ud800"'))
    code, said = ended(command, "m.json")
    assert code == 1
    assert "record 3 has half a character (a lone surrogate) as 'model_a'" in said
    assert said.count("\n") < 4
    with pytest.raises(DataError, match=r"\brecord 3\b.*'model_a'"):
        read(Path("m.json"))


def test_more_columns_than_judgments_have_are_refused_fast_and_not_listed(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"c{number}" for number in range(50 * MOST_COLUMNS)]
    path.write_text(f"{','.join(names)}\n{','.join('1' * len(names))}\n")
    code, said = ended("doctor", str(path))
    assert code == 1
    assert f"and {len(names) - 8:,} more" in said
    assert len(said) < 1000


def test_a_file_whose_name_is_no_text_is_ranked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"b\xff.json")
    try:
        Path(name).write_text(json.dumps(RECORDS))
    except OSError:
        pytest.skip("this file system takes no such name")
    assert ended("doctor", name)[0] == 0
    code, said = ended("rank", name, "--model", "btl", "-o", "out")
    assert code == 0, said
    assert Path("out/index.html").is_file()


def test_no_name_moves_a_cursor(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(json.dumps(RECORDS).replace('"m1"', '"\\u001b[31mred\\u001b[2J\\u0007\\u202e"'))
    for command in (["doctor"], ["rank", "--model", "btl", "-o", "out"]):
        code, said = ended(*command, "m.json")
        assert code == 0, said
        assert not set("\x1b\x07\u202e") & set(said)
    assert r"\x1b[31mred" in said


def test_what_a_terminal_would_obey_is_escaped_and_what_it_shows_is_not():
    assert plain("a\tb\nc é 漢 -") == "a\tb\nc é 漢 -"
    assert plain("\x9b1m\u200b\ud800") == r"\x9b1m\u200b\ud800"
    assert len(plain("x" * 10_000_000)) < 200


def test_names_in_a_sentence_are_few_and_short():
    assert listed(["a", "b"]) == "a, b"
    assert listed(map(str, range(10))).endswith("7 and 2 more")
    assert len(shortened("y" * 1000)) == 80
    assert shortened("vendor/model-2025-09-22-instruct-alpha", 20) == "vendor/mode...-alpha"
    assert [percent(share) for share in (0.0056, 0.0956, 0.5)] == ["0.56%", "9.6%", "50%"]


def test_a_file_of_a_block_that_fails_is_named(tmp_path):
    evil = tmp_path / "evil.py"
    evil.write_text("raise RuntimeError('boom')\n")
    with pytest.raises(ConfigError, match=r"evil\.py ends in RuntimeError: boom"):
        named(str(evil))
    evil.write_text("def block():\n    return 1 / 0\n")
    with pytest.raises(ConfigError, match="ends in ZeroDivisionError"):
        named(str(evil))


def test_a_defect_of_ours_says_so_and_too_little_memory_does_too():
    try:
        [].pop()
    except IndexError as error:
        said, code = ending(error)
    assert code == DEFECT
    assert f"({TRACEBACK}=1" in said
    said, code = ending(MemoryError())
    assert code == 1 and "memory" in said and TRACEBACK not in said
