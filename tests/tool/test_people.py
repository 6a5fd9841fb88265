"""`judgerank people` as a user runs it."""

import json

import numpy as np
import pandas as pd
import pytest

from judgerank import on_human_board
from judgerank.people.human_scale import POINTS
from studies.human_boards import Board, drawn_board
from studies.people import drawn
from tests.library.test_people import frame_of
from tests.tool.command import judgerank


@pytest.fixture
def votes(tmp_path):
    frame = frame_of(*drawn(np.random.default_rng(1), 1.0, 1.0, 300))
    frame.rename(columns={"human": "by_person"}).to_csv(tmp_path / "votes.csv", index=False)
    return tmp_path / "votes.csv"


def test_a_marked_file_gives_scores_a_test_and_items_to_ask(votes, tmp_path):
    done = judgerank("people", votes, "--column", "human=by_person", "--next", tmp_path / "ask.csv", anew=True)
    assert done.returncode == 0, done.stderr
    assert "people on 300 of them" in done.stdout and "WARNING: as_judge" in done.stdout
    asked = pd.read_csv(tmp_path / "ask.csv")
    assert len(asked) == 700 and set(asked) == {"first", "second", "question", "panel", "worth"}
    assert set(asked["question"]) <= set(pd.read_csv(votes)["question"])


def test_people_by_name(votes):
    done = judgerank("people", votes, "--human", "people")
    assert done.returncode == 0, done.stderr


def test_no_people_is_one_sentence_and_no_file(votes, tmp_path):
    done = judgerank("people", votes, "--next", tmp_path / "ask.csv")
    assert done.returncode == 1 and "no judgment is by a person" in done.stderr
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
        ("missing.csv", (), "missing.csv: the human board cannot be read (No such file or directory)"),
        ("verdicts.csv", (), "verdicts.csv: a human board needs the columns model and elo"),
        ("few.csv", (), "the human board has 3 of the models that the judges compared, and 4 or more are needed"),
        ("board.csv", ("--human", "j0"), "--board takes the place of human votes: leave out --human and --next"),
    ],
)
def test_what_is_no_board_is_one_sentence(board, more, said, verdicts):
    pd.read_csv(verdicts / "board.csv").head(3).to_csv(verdicts / "few.csv", index=False)
    done = judgerank("people", verdicts / "verdicts.csv", "--board", verdicts / board, *more)
    assert done.returncode == 1 and said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and not done.stdout
