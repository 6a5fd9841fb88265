"""First steps with the command `judgerank`: alone, its help, and the example that it writes."""

import hashlib
import re
from importlib import import_module

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from judgerank.cli import app, options
from judgerank.cli.options import FILE, MODEL, OUTPUT, PAGE, UNCERTAINTY
from judgerank.cli.terminal import Progress
from judgerank.collecting.answer_sources import COLUMNS
from judgerank.engine.solvers import SOLVERS
from judgerank.model.members import NAMED
from judgerank.planning.precision import GOALS
from judgerank.ranking.choices import CLUSTERS, OWN_MAKER
from judgerank.ranking.exports import FORMS, RAW, TABLES
from judgerank.ranking.page_options import FACTS
from judgerank.reading.cells_in_sql import QUOTES, TABLE
from judgerank.reading.file_formats import READERS
from replication.config import ROOT
from tests.forked import run_anew
from tests.tool.command import environment, judgerank

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
        MODEL: ("model", "solver", "block", "own_maker"),
        UNCERTAINTY: ("level", "cluster"),
        PAGE: ("since", "card", "each_judge"),
    }
    for group, names in expected.items():
        assert {by_name[one] for one in names if one in by_name} <= {group}


def test_names_that_help_lists_are_those_of_the_library():
    assert tuple(NAMED) == options.NAMED
    assert tuple(SOLVERS) == options.SOLVERS
    assert options.CLUSTERS == CLUSTERS
    assert options.OWN_MAKER == OWN_MAKER
    assert tuple(FORMS) == options.EXPORT_FORMS
    assert options.EXPORT_TABLES == TABLES
    assert tuple(FACTS) == options.FACTS
    assert options.GOALS == GOALS
    assert (tuple(QUOTES), TABLE) == (options.DIALECTS, options.CELL_TABLE)
    assert set(options.CELL_FORMS) == set(RAW) & set(READERS)
    assert tuple(COLUMNS) == options.ANSWER_COLUMNS


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_loads_nothing_but_what_draws_it(name):
    """That takes about 0.15 s of the processor; pydantic, for typer's checks, would take as much again."""
    code = f"import sys; sys.argv = ['judgerank', *{name.split()!r}, '--help']\nfrom judgerank.cli import app\n"
    heavy = {"numpy", "pandas", "scipy", "pydantic", "tqdm", "jinja2", "yaml", "litellm"}
    code += f"try:\n    app()\nfinally:\n    print(sorted({heavy!r} & set(sys.modules)))"
    done = run_anew(["-c", code], ROOT, environment())
    assert done.stdout.rstrip().endswith("[]"), done.stdout + done.stderr
    assert f"Usage: judgerank {name or '[OPTIONS]'}" in done.stdout


def test_collect_says_its_first_word_before_it_loads_what_takes_seconds():
    """After about 0.15 s of the processor; the client library alone takes three."""
    code = "import sys; sys.argv = ['judgerank', 'collect', 'examples/answers.jsonl', '--judges', 'no.yaml']\n"
    code += "from judgerank.cli import app, collect\n"
    code += "heavy = {'numpy', 'pandas', 'scipy', 'yaml', 'litellm'}\n"
    code += "collect.say = lambda text: print(text, sorted(heavy & set(sys.modules)))\napp()"
    done = run_anew(["-c", code], ROOT, environment())
    assert done.stdout.splitlines()[0] == "reading examples/answers.jsonl []", done.stdout + done.stderr


def test_a_ranking_loads_nothing_that_it_does_not_use(tmp_path):
    """Packages of other commands and of other options; scipy.stats alone takes half a second."""
    code = "import sys, judgerank; path, folder = sys.argv[1:]\n"
    code += "sys.argv = ['judgerank', 'rank', path, '--output', folder]\n"
    code += "from judgerank.cli import app\n"
    heavy = {
        "scipy.stats",
        "matplotlib",
        "duckdb",
        "yaml",
        "httpx",
        "http",
        "tabulate",
        "tqdm",
        "joblib",
        "litellm",
    }
    folders = {"adaptive", "boards", "collecting", "gating", "inspecting", "people", "planning", "voting"}
    heavy |= {f"judgerank.{name}" for name in folders}
    code += f"try:\n    app()\nfinally:\n    print(sorted({heavy!r} & set(sys.modules)))"
    done = run_anew(["-c", code, str(ROOT / "examples/judgments.csv"), str(tmp_path)], ROOT, environment())
    assert done.stdout.rstrip().endswith("[]"), done.stdout + done.stderr
    assert (tmp_path / "index.html").is_file()


def test_duckdb_has_nothing_to_report_at_the_end_of_a_command():
    """What a process leaves to its end without a search for garbage DuckDB takes for leaked."""
    pytest.importorskip("duckdb")
    code = "import sys, duckdb; sys.argv = ['judgerank']\nduckdb.connect().sql('select 1').fetchall()\n"
    done = run_anew(["-c", f"{code}from judgerank.cli import app\napp()"], ROOT, environment())
    assert "Which command" in done.stdout
    assert "leaked" not in done.stderr


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
    assert judges["judge-random"] in ("random", "noisy")
    assert (judges[["judge-large", "judge-medium"]] == "fine").all()
    order = pd.read_csv(tmp_path / "rankings/judgments/leaderboard.csv")["model"]
    assert set(order[:2]) == {"maple", "oak"} and order.iloc[-1] == "thorn"


# progress


def test_a_long_computation_says_how_far_it_is_and_how_long_the_rest_takes(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 2.5, 5.0, 6.0, 300.0, 301.0, 900.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    progress = Progress("ranking")
    for done in (1, 2, 10, 15, 20, 21, 100):  # after 1, 2.5, 5, 6, 300, 301 and 900 seconds
        progress(done, 100)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "ranking: 2%",
        "ranking: 10%, about 45 s left",
        "ranking: 20%, about 20 min left",
    ]


def test_what_may_take_long_says_how_far_it_is(monkeypatch, tmp_path):
    """Every step of a ranking, a plan for smaller panels and a search for sets is counted, up to the whole."""
    told: dict[str, list[tuple[float, float]]] = {}

    class Recorded:
        def __init__(self, what: str):
            self.what = what

        def __call__(self, done: float, total: float) -> None:
            told.setdefault(self.what, []).append((done, total))

    for module in ("rank", "plan", "trust"):
        monkeypatch.setattr(import_module(f"judgerank.cli.{module}"), "Progress", Recorded)
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    for words in (
        "example",
        "rank judgments.csv",
        "plan judgments.csv --by-judges 2",
        "trust judgments.csv --most 1",
    ):
        assert run.invoke(app, words.split()).exit_code == 0
    assert set(told) == {"ranking", "drawing the page", "planning for smaller panels", "searching for sets"}
    for steps in told.values():
        done = [step for step, _ in steps]
        assert len({total for _, total in steps}) == 1 and len(steps) > 3
        assert done == sorted(done)
        assert steps[-1][1] - done[-1] <= 1
