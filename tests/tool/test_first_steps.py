"""First steps with the command `judgerank`: alone, its help, and the example that it writes."""

import hashlib
import re
import resource
import subprocess

import pandas as pd
import pytest
import typer

from judgerank.cli import app, offered
from judgerank.cli.options import FILE, MODEL, OUTPUT, PAGE, UNCERTAINTY
from judgerank.collecting.answer_sources import COLUMNS
from judgerank.engine.solvers import SOLVERS
from judgerank.model.members import NAMED
from judgerank.planning.precision import GOALS
from judgerank.ranking.choices import CLUSTERS
from judgerank.ranking.exports import FORMS, TABLES
from judgerank.ranking.model_facts import FACTS
from tests.tool.command import RUN, environment, judgerank

COMMANDS = typer.main.get_command(app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_options_on_files_model_uncertainty_and_output_are_in_groups(name):
    """What a command has of its own comes first, and where the results go last."""
    groups = [getattr(one, "rich_help_panel", None) for one in COMMANDS[name].params if "--help" not in one.opts]
    seen = [group for group, before in zip(groups, [None, *groups], strict=False) if group != before]
    assert len(seen) == len(set(seen)), "a group is in one piece"
    assert seen[-1] == OUTPUT
    by_name = {one.name: getattr(one, "rich_help_panel", None) for one in COMMANDS[name].params}
    expected = {
        OUTPUT: ("json", "force", "raw", "output", "save", "export"),
        FILE: ("format", "column", "winner_values", "encoding", "names", "copies"),
        MODEL: ("model", "solver", "block"),
        UNCERTAINTY: ("level", "cluster"),
        PAGE: ("since", "card", "each_judge"),
    }
    for group, names in expected.items():
        assert {by_name[one] for one in names if one in by_name} <= {group}


def test_names_that_help_lists_are_those_of_the_library():
    assert tuple(NAMED) == offered.NAMED
    assert tuple(SOLVERS) == offered.SOLVERS
    assert offered.CLUSTERS == CLUSTERS
    assert tuple(FORMS) == offered.EXPORT_FORMS
    assert offered.EXPORT_TABLES == TABLES
    assert tuple(FACTS) == offered.FACTS
    assert offered.GOALS == GOALS
    assert tuple(COLUMNS) == offered.ANSWER_COLUMNS


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_takes_a_quarter_of_a_second_of_the_processor(name):
    """The least of three runs, since others use the machine, too."""
    took = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*RUN, *name.split(), "--help"], env=environment(), capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(took) < 0.25


def test_judgerank_alone_says_which_command_is_for_which_task():
    done = judgerank()
    assert done.returncode == 0
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    first = re.findall(r"^  judgerank (\w+)", done.stdout, re.MULTILINE)
    assert first == ["example", "doctor", "rank"]
    table = [
        line.split("  ")[-1].strip().split(", ") for line in done.stdout.splitlines() if line.startswith("  ")
    ]
    assert [name for names in table[3:] for name in names] == list(COMMANDS)
    listed = re.findall(r"^│ ([a-z]+)  ", judgerank("--help", COLUMNS="100").stdout, re.MULTILINE)
    assert listed == list(COMMANDS)


def test_what_judgerank_alone_says_to_run_runs(tmp_path):
    for words in re.findall(r"^  judgerank ([^#\n]+)#", judgerank().stdout, re.MULTILINE):
        done = judgerank(*words.split(), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "rankings/judgments/index.html").is_file()


# example


def test_the_example_is_always_the_same_and_overwrites_nothing(tmp_path):
    assert judgerank("example", cwd=tmp_path).returncode == 0
    path = tmp_path / "judgments.csv"
    content = path.read_bytes()
    assert hashlib.sha256(content).hexdigest()[:16] == "d1fbaa3d48fd3a7f"
    path.write_text("mine")
    refused = judgerank("example", cwd=tmp_path)
    assert refused.returncode == 1
    assert path.read_text() == "mine"
    assert "is there already" in refused.stderr
    assert judgerank("example", "--force", cwd=tmp_path).returncode == 0
    assert path.read_bytes() == content
    assert judgerank("example", "play.jsonl", cwd=tmp_path).returncode == 0
    table = pd.read_csv(path)
    pd.testing.assert_frame_equal(pd.read_json(tmp_path / "play.jsonl", lines=True), table)
    refused = judgerank("example", "play.xlsx", cwd=tmp_path)
    assert refused.returncode == 1 and ".csv or .jsonl" in refused.stderr


def test_the_example_has_what_it_says_and_the_ranking_finds_it(tmp_path):
    said = judgerank("example", cwd=tmp_path).stdout
    assert "simulated" in said and "judgerank rank judgments.csv" in said
    table = pd.read_csv(tmp_path / "judgments.csv")
    assert {"tie", "model_a", "model_b"} == set(table["winner"])
    assert table["category"].nunique() == 3 and table["question_id"].str.startswith("simulated-").all()
    assert not table.duplicated().any()
    judgerank("rank", "judgments.csv", cwd=tmp_path)
    judges = pd.read_csv(tmp_path / "rankings/judgments/judges.csv").set_index("judge")["verdict"]
    assert judges["judge-first"].startswith("favours the first")
    assert judges["judge-random"] in ("silent", "weak")
    assert (judges[["judge-large", "judge-medium"]] == "trust").all()
    order = pd.read_csv(tmp_path / "rankings/judgments/leaderboard.csv")["model"]
    assert set(order[:2]) == {"maple", "oak"} and order.iloc[-1] == "thorn"
