"""`judgerank people` as a user runs it."""

import numpy as np
import pandas as pd
import pytest

from replication.people import drawn
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
