"""`--json` of every command: one document on standard output, also on failure, and nothing beside it."""

import json
import re

import pandas as pd
import pytest

from judgerank.cli.commands import COMMANDS
from replication.config import ROOT
from tests.tool.command import judgerank

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
    "collect": ("collect answers.jsonl --judges panel.yaml --dry-run", "collect answers.jsonl", 2),
    "vote": ("vote answers.jsonl --votes 2", "vote none.jsonl", 1),
    "people": ("people votes.csv --human judge-large", "people judgments.csv", 1),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
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
    assert list(RUNS) == list(COMMANDS)


@pytest.mark.parametrize("name", RUNS)
def test_the_document_is_all_of_standard_output_and_has_the_keys_of_the_page(name, folder):
    done = judgerank(*RUNS[name][0].split(), "--json", cwd=folder)
    assert done.returncode in ((0, 1, 2) if name == "gate" else (0,)), done.stderr
    found = json.loads(done.stdout)
    assert found["command"] == name
    assert set(found) - {"command"} == keys_on_page(name)


def test_a_human_board_has_a_document_of_its_own(folder):
    table = pd.read_csv(folder / "judgments.csv")
    known = sorted({*table["model_a"], *table["model_b"]})[1:]
    elo = pd.Series(range(1000, 1000 + 10 * len(known), 10), known, name="elo")
    elo.rename_axis("model").to_csv(folder / "human.csv")
    done = judgerank("people", "judgments.csv", "--board", "human.csv", "--level", "0.5", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) - {"command"} == keys_on_page("people --board")


@pytest.mark.parametrize("name", RUNS)
def test_a_failure_is_a_document_too(name, folder):
    _, words, code = RUNS[name]
    done = judgerank(*words.split(), "--json", cwd=folder)
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


def test_notes_and_progress_go_to_standard_error(folder):
    plain, documented = (judgerank("plan", "judgments.csv", *more, cwd=folder) for more in ([], ["--json"]))
    note = "Every new question is planned with"
    assert note in plain.stdout
    assert note in documented.stderr
    assert note not in documented.stdout


def test_the_leaderboard_of_the_document_is_the_table_that_is_written(folder):
    done = judgerank("rank", "judgments.csv", "--output", "board", "--json", cwd=folder)
    found = json.loads(done.stdout)
    written = pd.read_csv(folder / "board/leaderboard.csv")
    told = pd.DataFrame(found["leaderboard"])
    assert list(told) == list(written)
    pd.testing.assert_frame_equal(told, written, check_dtype=False, atol=1e-9)
    assert found["files"]["page"] == "board/index.html"


def test_names_with_controls_and_other_scripts_survive(folder):
    names = ["\x7f\x1b[31mred", "caf\u00e9 \u6a21\u578b \U0001f600", "x" * 5000]
    rows = [
        {"model_a": a, "model_b": b, "winner": w, "judge": "j"}
        for a in names
        for b in names
        if a != b
        for w in "aab"
    ]
    (folder / "names.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = judgerank("rank", "names.jsonl", "--json", cwd=folder, LANG="C", PYTHONIOENCODING="ascii")
    assert {row["model"] for row in json.loads(done.stdout)["leaderboard"]} == set(names)
