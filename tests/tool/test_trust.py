"""`judgerank trust` as a user runs it, and what a ranking says of it."""

import json

import numpy as np
import pandas as pd
import pytest

from judgerank import rank, read
from judgerank.data.errors import ConfigError
from judgerank.data.listing import percent
from judgerank.ranking.trust_report import trust_report
from replication.config import ROOT
from tests.tool.command import judgerank

EXAMPLE = ROOT / "examples/judgments.csv"


@pytest.fixture(scope="module")
def report():
    return trust_report(read(EXAMPLE))


def test_the_command_says_what_would_change_it_and_lists_the_judgments(tmp_path, report):
    done = judgerank("trust", EXAMPLE, "-o", tmp_path / "out", anew=True)
    assert done.returncode == 0, done.stderr
    top = report.fragility.changes.iloc[0]
    assert f"{top['size']} of 600 judgments" in done.stdout
    assert f"would put {top['second']} first." in done.stdout
    tables = {path.stem: pd.read_csv(path) for path in (tmp_path / "out").glob("*.csv")}
    assert set(tables) == {"changes", "records", "judges", "worth", "panel", "another", "fitness"}
    assert "Does the model describe the answers?\n- " in done.stdout
    assert "independent judges of their average quality (confidence interval" in done.stdout
    assert "lowers. Here such a judge lowers the average quality, and only errors in common lower" in done.stdout
    records, judgments = tables["records"], pd.read_csv(EXAMPLE)
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
    pd.read_csv(EXAMPLE).drop(index=gone).to_csv(path, index=False)
    board = rank(read(path)).tables["leaderboard"]
    top = report.fragility.changes.iloc[0]
    assert list(board["model"][:2]) == [top["second"], top["first"]]


def test_a_ranking_says_the_short_form(report):
    (told,) = [one for one in rank(read(EXAMPLE)).remarks if one.startswith("Fragility")]
    top = report.fragility.changes.iloc[0]
    assert f"{top['size']} of 600 judgments ({percent(top['share'])}) would put {top['second']} first" in told


def test_another_folder_is_not_replaced(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    done = judgerank("trust", EXAMPLE, "-o", tmp_path)
    assert done.returncode == 1
    assert "holds something else" in done.stderr and len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_without_questions_it_says_what_cannot_be_told(tmp_path):
    path = tmp_path / "m.csv"
    pd.read_csv(EXAMPLE).drop(columns="question").to_csv(path, index=False)
    report = trust_report(read(path))
    assert report.panel is None
    assert set(report.fragility.changes["by"]) == {"judgments", "judges"}
    assert "needs a column of questions" in str(report)


def test_of_two_islands_the_largest_keeps_the_numbers_of_its_records(tmp_path):
    frame = pd.read_csv(EXAMPLE)
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
        trust_report(read(EXAMPLE), most=0)
    assert judgerank("trust", EXAMPLE, "--most", "0").returncode == 2
