"""`judgerank place` and `judgerank diff` as a user runs them."""

import numpy as np
import pandas as pd
import pytest

from judgerank import fit, read
from judgerank.boards.comparing import compare
from judgerank.boards.reported import difference_text
from replication.config import ROOT
from tests.tool.command import judgerank, usage_text

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
    assert "not separated from" in done.stdout and "no judge sees them otherwise" in done.stdout


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
    assert "a test that weights the judges alike on both boards" in done.stdout
    same = judgerank("diff", folder / "all.npz", folder / "all.npz").stdout
    assert "Both boards have the same comparisons." in same and "No model moved" in same and "prompt: v2." in same


def test_a_note_that_one_board_lacks_is_said_to_be_the_other_ones():
    noted, plain = {"files": ["1"], "notes": {"prompt": "v1"}}, {"files": ["2"], "notes": {}}
    board, newer = pd.read_csv(EXAMPLE).head(200), pd.read_csv(EXAMPLE)
    found = compare(fit(read(board)), fit(read(newer)))
    old, new = (list(difference_text(found, *both)) for both in ((noted, plain), (plain, noted)))
    assert "- The old board notes prompt=v1; the new one has no such note." in old
    assert "- The new board notes prompt=v1; the old one has no such note." in new


def test_what_is_no_board_is_refused(folder, tmp_path):
    done = judgerank("diff", folder / "old.csv", folder / "all.npz")
    assert done.returncode == 1 and "is not a fit that judgerank saved" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    done = judgerank("place", folder / "all.npz", folder / "new.csv")
    assert done.returncode == 1 and "on the board already" in done.stderr


def test_a_note_takes_a_file_to_be_kept_in(tmp_path):
    done = judgerank("rank", EXAMPLE, "-o", tmp_path / "r", "--note", "prompt=v1")
    assert done.returncode == 2 and "--save" in usage_text(done.stderr)
    assert not (tmp_path / "r").exists()
    done = judgerank("rank", EXAMPLE, "-o", tmp_path / "r", "--save", tmp_path / "b.npz", "--note", "prompt")
    assert done.returncode == 2 and "is not NAME=TEXT" in usage_text(done.stderr)
