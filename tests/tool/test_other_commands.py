"""`judgerank place`, `diff`, `people` and `trust` as a user runs them, and what a ranking says of trust."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from judgerank import fit, on_human_board, rank, read
from judgerank.boards.comparing import compare
from judgerank.boards.reported import difference_text
from judgerank.data.errors import ConfigError
from judgerank.data.listing import percent
from judgerank.people.human_scale import POINTS
from judgerank.ranking.trust_report import trust_report
from replication.config import ROOT
from studies.human_boards import Board, drawn_board
from studies.people import drawn
from tests.library.test_people import frame_of
from tests.tool.command import judgerank, usage_text

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
    assert re.search(r"\bpeople\b.* 300 .*", done.stdout) and re.search(r"WARNING\b.*\bas_judge\b", done.stdout)
    asked = pd.read_csv(tmp_path / "ask.csv")
    assert len(asked) == 700 and set(asked) == {"first", "second", "question", "panel", "worth"}
    assert set(asked["question"]) <= set(pd.read_csv(votes)["question"])


def test_people_by_name(votes):
    done = judgerank("people", votes, "--human", "people")
    assert done.returncode == 0, done.stderr


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
    told = ("people", verdicts / "verdicts.csv", "--board", verdicts / "board.csv")
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
        ("board.csv", ("--human", "j0"), "--board .*--human and --next"),
    ],
)
def test_what_is_no_board_is_one_sentence(board, more, said, verdicts):
    pd.read_csv(verdicts / "board.csv").head(3).to_csv(verdicts / "few.csv", index=False)
    done = judgerank("people", verdicts / "verdicts.csv", "--board", verdicts / board, *more)
    assert done.returncode == 1 and re.search(said, done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1 and not done.stdout


# `judgerank trust` as a user runs it, and what a ranking says of it.
TRUST_EXAMPLE = ROOT / "examples/judgments.csv"


@pytest.fixture(scope="module")
def report():
    return trust_report(read(TRUST_EXAMPLE))


def test_the_command_says_what_would_change_it_and_lists_the_judgments(tmp_path, report):
    done = judgerank("trust", TRUST_EXAMPLE, "-o", tmp_path / "out", anew=True)
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
    assert "fall into 2 unconnected groups of models" in str(report)
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


def test_a_bad_number_of_pairs_is_refused():
    with pytest.raises(ConfigError, match="most=0"):
        trust_report(read(TRUST_EXAMPLE), most=0)
    assert judgerank("trust", TRUST_EXAMPLE, "--most", "0").returncode == 2
