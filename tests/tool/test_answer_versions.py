"""The file that `judgerank gate --panel` keeps, read back: judgments of earlier answers do not count."""

import json

import pandas as pd
import pytest

from judgerank import gate, read
from judgerank.data.errors import DataError
from judgerank.reading.cells_in_sql import columns_in
from judgerank.reading.large import from_engine
from tests.tool.command import judgerank

OLD, NEW = "0123456789ab", "ba9876543210"


def record(question: int, version: str, winner: str, judge: str = "j") -> dict[str, object]:
    shown = ("old", "new") if question % 2 else ("new", "old")
    letter = "c" if winner == "tie" else "ab"[shown.index(winner)]
    about = {"question_id": f"q{question}#{version}", "model_a": shown[0], "model_b": shown[1]}
    return about | {"judge_model": judge, "texts": version[::-1], "judge_preferred_model": letter}


@pytest.fixture
def kept(tmp_path):
    """Twenty questions: ten whose answers changed and were judged again, and ten that stayed."""
    first = [record(n, OLD, "old" if n < 10 else "new") for n in range(20)]
    again = [record(n, NEW, "new") for n in range(10)]
    path = tmp_path / "judgments.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in [*first, *again]))
    return path


def test_of_each_question_the_answers_judged_last_count(kept):
    found = read(kept)
    assert sorted(found.frame["question_id"]) == sorted(f"q{n}" for n in range(20))
    told = "10 judgments of earlier answers are left out: of each question, the answers judged last count."
    assert found.remarks[0] == told
    verdict = gate(kept, "old", "new")
    assert verdict.criteria[0].evidence.win_rate == 1.0
    assert verdict.criteria[0].evidence.questions == 20
    assert told in verdict.remarks


def test_every_command_says_so(kept):
    done = judgerank("gate", kept.name, "--baseline", "old", "--candidate", "new", cwd=kept.parent)
    assert done.returncode == 0
    assert "read: 10 judgments of earlier answers are left out" in done.stderr
    assert "10 judgments of earlier answers are left out" in judgerank("doctor", kept.name, cwd=kept.parent).stdout


def test_the_last_file_counts_where_there_are_several(kept, tmp_path):
    later = tmp_path / "later.jsonl"
    later.write_text(json.dumps(record(0, OLD, "old")) + "\n")
    found = read([kept, later])
    of_first = found.frame[found.frame["question_id"] == "q0"]  # the answers of before, which are back
    assert of_first["judge_preferred_model"].tolist() == ["b", "b"]
    assert found.remarks[0].startswith("10 judgments of earlier answers")


def test_without_later_answers_only_the_key_goes(kept):
    frame = pd.read_json(kept, lines=True)[:20]
    found = read(frame)
    assert len(found.frame) == 20
    assert not any("earlier answers" in one for one in found.remarks)


def test_other_ids_with_such_an_end_stay(kept):
    frame = pd.read_json(kept, lines=True).drop(columns="texts")
    assert read(frame).frame["question_id"].nunique() == 30


def test_no_engine_counts_them_all(kept, monkeypatch):
    monkeypatch.setattr(from_engine, "LARGE", 1)
    assert len(read(kept).frame) == 20
    with pytest.raises(DataError, match="answers have changed between judgments"):
        columns_in(kept, None, None)
