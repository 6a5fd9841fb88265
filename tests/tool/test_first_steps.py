"""First steps with the command `judgerank`: its help, the example, doctor and plan where nothing is wrong."""

import hashlib
import json
import os
import re
import shlex
import subprocess
from collections import defaultdict
from dataclasses import replace
from importlib import import_module
from typing import get_args, get_type_hints

import pandas as pd
import pytest
import typer
import yaml
from typer.testing import CliRunner

from judgerank import fit, rank
from judgerank.cli import app, options
from judgerank.cli.commands import COMMANDS as MODULES
from judgerank.cli.commands import FIRST_HELP, RENAMED
from judgerank.cli.options import FILE, MODEL, OUTPUT, PAGE, SHARED, UNCERTAINTY
from judgerank.cli.terminal import Progress
from judgerank.collecting.answer_sources import COLUMNS
from judgerank.collecting.checking import checked, read_settings
from judgerank.collecting.prompt_settings import PAIRWISE
from judgerank.collecting.settings import Collection, Panel, Prompt
from judgerank.data.errors import ConfigError, DataError
from judgerank.engine.solvers import SOLVERS
from judgerank.model.members import NAMED
from judgerank.planning import USUAL
from judgerank.planning.panels import assumed
from judgerank.planning.plans import panels_by_size
from judgerank.planning.precision import GOALS, needed, precision_of, whole
from judgerank.ranking import components, diagnosis
from judgerank.ranking.choices import CLUSTERS, OWN_MAKER
from judgerank.ranking.diagnosis import on_answers
from judgerank.ranking.exports import FORMS, RAW, TABLES
from judgerank.ranking.page_options import FACTS
from judgerank.ranking.recusal import recusal_of
from judgerank.ranking.studies.panel import LEANS
from judgerank.reading.cells_in_sql import QUOTES, TABLE
from judgerank.reading.file_formats import READERS
from judgerank.reading.read import judgments_of
from replication.config import ROOT
from tests.forked import RUN, environment, judgerank, run_anew

COMMANDS = typer.main.get_command(app).commands


def options_by_name():
    """What an option is, by its name: in each command the first of its names, the kind of value, and the help."""
    by_name = defaultdict(list)
    for command, module in ((name, import_module(f"judgerank.cli.{MODULES[name][0]}")) for name in COMMANDS):
        types = get_type_hints(getattr(module, command))
        for one in COMMANDS[command].params:
            if one.param_type_name == "option" and one.name in types:
                for name in [*one.opts, *one.secondary_opts]:
                    by_name[name].append((one.opts[0], kind_of(types[one.name]), one.help))
    return by_name


def kind_of(annotation):
    """Whether an option is a flag, or takes numbers or anything else."""
    within = {kind_of(one) for one in get_args(annotation)} - {"nothing"}
    if within:
        return within.pop()
    return {bool: "flag", int: "number", float: "number", type(None): "nothing"}.get(annotation, "value")


OPTIONS = options_by_name()


@pytest.mark.parametrize("name", sorted(name for name, uses in OPTIONS.items() if len(uses) > 1))
def test_an_option_of_several_commands_has_one_meaning(name):
    firsts, kinds, helps = map(set, zip(*OPTIONS[name], strict=True))
    assert len(firsts) == len(kinds) == 1
    meaning = SHARED.get(firsts.pop())
    assert len(helps) == 1 if meaning is None else all(text.startswith(meaning) for text in helps)


def test_one_meaning_has_one_name():
    names = defaultdict(set)
    for first, _, text in (use for uses in OPTIONS.values() for use in uses):
        names[SHARED.get(first, text)].add(first)
    assert [several for several in names.values() if len(several) > 1] == []
    assert len({*SHARED.values()}) == len(SHARED)
    assert [name for name in SHARED if len(OPTIONS[name]) < 2] == []


@pytest.mark.parametrize(("command", "old"), [(name, old) for name, olds in RENAMED.items() for old in olds])
def test_an_option_that_was_renamed_is_refused_by_its_new_name(command, old):
    new = RENAMED[command][old].split()[0]
    names = {name for one in COMMANDS[command].params for name in one.opts}
    assert new in names and old not in names
    done = CliRunner().invoke(app, [command, "file.jsonl", old, "x"])
    usage_error = 3 if command == "gate" else 2  # 2 is an inconclusive gate
    assert done.exit_code == usage_error and RENAMED[command][old] in done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_options_on_files_model_uncertainty_and_output_are_in_groups(name):
    """What a command has of its own comes first, and where the results go last."""
    groups = [getattr(one, "rich_help_panel", None) for one in COMMANDS[name].params if one.opts != ["--help-all"]]
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
    code = "import sys; sys.argv = ['judgerank', 'collect', 'examples/answers.jsonl', '--panel', 'no.yaml']\n"
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
    assert "doctor" in done.stdout and "collect" in done.stdout
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
    assert list(COMMANDS)[:6] == ["example", "rank", "gate", "plan", "collect", "people"]
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
    assert "--force" in refused.stderr
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
    assert judges["judge-first"] == LEANS[0]
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
        "rank ./judgments.csv",
        "plan judgments.csv --by-judges 2",
        "trust judgments.csv --most 1",
    ):
        assert run.invoke(app, words.split()).exit_code == 0
    assert {what.split()[0] for what in told} == {"ranking", "drawing", "planning", "searching"} and len(told) == 4
    for steps in told.values():
        done = [step for step, _ in steps]
        assert len({total for _, total in steps}) == 1 and len(steps) > 3
        assert done == sorted(done)
        assert steps[-1][1] - done[-1] <= 1


# The command `judgerank` where nothing is wrong: help, doctor, plan, and that all of it works anywhere.


def lines(done) -> dict[str, list[str]]:
    """What a doctor says, by what it is about."""
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        topic, said = line.split(":", 1)
        found.setdefault(topic, []).append(said.strip())
    return found


def written(path, *rows):
    names = ("model_a", "model_b", "judge", "winner")
    records = [dict(zip(names, (*row[:3], letter), strict=True)) for row in rows for letter in row[3]]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


ROWS = [("x", "y", "j", "aab"), ("y", "x", "k", "bba"), ("y", "z", "j", "aba"), ("z", "y", "k", "bab")]
ROWS += [("x", "z", "j", "aab"), ("z", "x", "k", "bac")]


# help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name):
    for parameter in COMMANDS[name].params:
        assert getattr(parameter, "help", None), parameter.name
    done = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert f"Usage: judgerank {name} [OPTIONS]" in done.output


def in_help(name: str, word: str) -> set[str]:
    return set(re.findall(r"^│ (?:\* +)?(--[a-z-]+)", judgerank(name, word, COLUMNS="80").stdout, re.MULTILINE))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_two_screens_and_the_rest_is_in_help_all(name):
    every = {option.opts[0] for option in COMMANDS[name].params if option.opts[0].startswith("--")}
    shown = FIRST_HELP.get(name, tuple(every))
    assert set(shown) <= every
    assert in_help(name, "--help") == in_help(name, "-h") == {*shown, "--help-all", "--help"}
    assert in_help(name, "--help-all") == {*every, "--help"}
    assert len(judgerank(name, "--help", COLUMNS="80").stdout.splitlines()) <= 2 * 24
    assert ("more options: " in judgerank(name, "--help").stdout) == (name in FIRST_HELP)


def test_what_help_does_not_show_is_completed_and_suggested():
    completion = {"_JUDGERANK_COMPLETE": "complete_bash", "COMP_WORDS": "judgerank rank --cop", "COMP_CWORD": "2"}
    assert "--copies" not in FIRST_HELP["rank"]
    assert judgerank(**completion).stdout.split() == ["--copies"]
    slip = judgerank("rank", "x.csv", "--copie", "keep")
    assert slip.returncode == 2 and "--copies?" in slip.stderr and "judgerank rank --help-all" in slip.stderr


def test_version_and_completion_are_there():
    assert judgerank("--version").stdout.startswith("judgerank ")
    shown = judgerank("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_JUDGERANK_COMPLETE" in shown.stdout


def test_output_that_nobody_reads_any_more_is_no_error(tmp_path):
    path = written(tmp_path / "m.jsonl", *ROWS)
    script = f"{shlex.join(RUN)} doctor {shlex.quote(str(path))} | head -1"
    done = subprocess.run(["bash", "-c", script], env=environment(), capture_output=True, text=True)
    assert done.stdout.startswith("file:")
    assert "Traceback" not in done.stderr


# doctor


def test_a_file_that_can_be_ranked_is_said_to_be_and_how(tmp_path):
    path = written(tmp_path / "it's mine.txt", *ROWS, *ROWS)  # enough to fit position bias
    done = judgerank("doctor", path.name, "--format", "jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = lines(done)
    assert told["file"] == ["jsonl, 36 records"]
    assert told["columns"][0].split(", ") == ["model_a", "model_b", "winner", "judge"]
    assert told["answers"][0].startswith(
        "36 read: 18 for the model shown first, 16 for the second, 2 ties; left out as unreadable"
    )
    assert told["models"][0].startswith("3, with 24 comparisons each")
    assert told["judges"][0].startswith("2, with 18 comparisons each")
    assert told["questions"][0].startswith("no column")
    assert told["order"][0].startswith("Fitted with position bias (position_aware")
    assert len(told["connected"]) == 1 and "any two" in told["connected"][0]
    assert told["exact fit"][0].startswith("exists (--model position_aware)")
    command = shlex.split(told["run next"][0])
    assert command == ["judgerank", "rank", "it's mine.txt", "--format", "jsonl"]
    again = judgerank(*command[1:], cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "rankings" / "it's mine" / "index.html").is_file()


def test_a_doctor_says_how_judges_with_few_answers_count_and_what_one_vote_a_question_is(tmp_path):
    frame = pd.DataFrame([*[(*pair, "j", "ab"[n % 3 == 0]) for pair in ("xy", "yz", "zx") for n in range(14)]])
    frame.columns = ["model_a", "model_b", "judge", "winner"]
    frame.loc[:5, "judge"] = ["k", "k", "k", "m", "m", "m"]
    frame["question"] = [f"q{n}" for n in range(len(frame))]
    frame.to_csv(tmp_path / "m.csv", index=False)
    told = lines(judgerank("doctor", tmp_path / "m.csv"))
    assert told["judges"] == ["3, with 3 (k) to 36 (j) comparisons"]
    assert any(said.startswith("2 judges with fewer than 10 answers (k, m) count") for said in told["few"])
    assert told["questions"] == ["42, with 1 comparison each"]


def test_a_doctor_names_the_models_that_a_number_of_judges_is_for(simulated):
    parts = [simulated(n, [0.8, 0.0, -0.8], [1.5, 0.7, 1.0], 600).to_frame() for n in (1, 2)]
    for name, part in zip("ab", parts, strict=True):
        part["question_id"] = [f"{name}{n % 40}" for n in range(len(part))]
    parts[1][["model_a", "model_b"]] = "other " + parts[1][["model_a", "model_b"]]
    told = [said for _, said in diagnosis.on_panel_size(judgments_of(pd.concat(parts, ignore_index=True)))]
    assert len({said.split(": ")[0] for said in told}) == 2 and all(said.startswith("of ") for said in told)


def test_a_doctor_examines_the_votes_that_rank_counts(tmp_path):
    """Only the votes that are left out are in both orders: without them position bias cannot be fitted."""
    own = [(*pair, "gpt-4-turbo", "abab" * 5) for pair in (("gpt-4o", "x"), ("x", "gpt-4o"), ("z", "gpt-4o"))]
    others = [(*pair, judge, "aaba" * 4) for pair in (("gpt-4o", "x"), ("x", "z")) for judge in ("j", "k")]
    path = written(tmp_path / "m.jsonl", *own, *others)
    told = lines(judgerank("doctor", path))
    ranking = rank(path)
    assert ranking.recusal.n_left_out == 60
    assert told["own maker"] == [*ranking.recusal.sentences(), diagnosis.COUNTED_BY]
    assert told["order"][0] in ranking.remarks and f"--model {ranking.fit.model.name})" in told["exact fit"][0]
    assert ranking.fit.model.name != "position_aware"
    assert told["models"][0].startswith("3, with 32 (gpt-4o) to 64 (x) comparisons")
    assert told["judges"][0].startswith("2, with 32 comparisons each")
    assert told["answers"][0].startswith("124 read")
    bare = lines(judgerank("doctor", written(tmp_path / "n.jsonl", *others)))
    topics = ("models", "judges", "questions", "order", "connected", "exact fit", "few")
    assert [bare.get(topic) for topic in topics] == [told.get(topic) for topic in topics]
    assert "own maker" not in bare


def test_what_a_doctor_says_next_works_where_there_is_no_maximum(tmp_path):
    path = written(tmp_path / "m.jsonl", ("x", "y", "j", "aaa"), ("y", "z", "j", "ab"), ("x", "z", "j", "aa"))
    done = judgerank("doctor", path, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = lines(done)
    assert told["exact fit"][0].startswith("none, since the likelihood has no maximum")
    command = shlex.split(told["run next"][0])
    assert "--solver" not in command
    assert judgerank(*command[1:], cwd=tmp_path).returncode == 0


def test_a_doctor_says_all_that_a_file_supports(tmp_path):
    rows = [("x", "y", "j", "aabc"), ("y", "x", "k", "bbac"), ("y", "z", "j", "aba"), ("z", "y", "k", "bab")]
    records = [json.loads(line) for line in written(tmp_path / "m.jsonl", *rows).read_text().splitlines()]
    (tmp_path / "m.json").write_text(
        json.dumps([record | {"question": f"q{n % 7}", "length": 10 + n} for n, record in enumerate(records)])
    )
    bare, full = (lines(judgerank("doctor", tmp_path / name)) for name in ("m.jsonl", "m.json"))
    for topic in ("order", "ties", "questions", "judges", "lengths", "categories", "connected", "run next"):
        assert len(bare[topic]) == len(full[topic]) == 1, topic
    assert bare["ties"][0].startswith(
        "14% of the answers; each is half a win for either model (to model ties: --model"
    )
    assert bare["lengths"][0].startswith("no column; --model length or position_length needs one")
    assert full["lengths"] == ["a column, for --model length or position_length"]
    assert full["questions"][0].startswith("7, 2.0 comparisons each")
    assert bare["categories"][0].startswith("no column")


@pytest.mark.parametrize("name", ["category", "criterion"])
def test_a_doctor_counts_the_records_of_categories(name, simulated):
    judgments = judgments_of(simulated(4, [0.8, 0.0, -0.8], [1.5, 0.7], 60).to_frame())
    told = replace(judgments, frame=judgments.frame.assign(**{name: ["code"] * 20 + ["prose"] * 40}))
    assert dict(on_answers(recusal_of(told)))["categories"] == "2, with their records: prose (40), code (20)"


def test_the_members_that_a_doctor_says_are_refused_are(tmp_path):
    path = written(tmp_path / "m.jsonl", *ROWS)
    (said,) = lines(judgerank("doctor", path))["lengths"]
    for member in said.split("--model ")[1].split(" needs one")[0].split(" or "):
        with pytest.raises(DataError, match=rf"\b{member}\b.*--column length=NAME"):
            rank(path, model=member)


def test_a_doctor_does_without_the_exact_fit_of_many_models(tmp_path, monkeypatch):
    path = written(tmp_path / "m.jsonl", ("x", "y", "j", "aab"), ("y", "z", "j", "abb"), ("x", "z", "k", "ab"))
    monkeypatch.setattr(diagnosis, "SEARCHED", 2)
    searched = []
    monkeypatch.setattr(components, "fit_highest", lambda *given: searched.append(given))
    told = dict(diagnosis.examine(path))
    assert not searched and told["exact fit"].startswith("not searched for, with 3 models")
    assert told["run next"].startswith("judgerank rank ")


def test_components_and_slots_that_follow_names_are_told(tmp_path):
    rows = [("x", "y", "j", "aab"), ("u", "v", "j", "abb"), ("x", "y", "k", "ab"), ("u", "v", "k", "ab")]
    done = judgerank("doctor", written(tmp_path / "m.jsonl", *rows))
    assert done.returncode == 0, done.stderr
    told = lines(done)
    assert told["judges"] == ["2, with 4 (k) to 6 (j) comparisons"]
    assert "(judge_aware): each" in told["order"][0]
    assert "No chain of comparisons connects these 2 groups" in told["connected"][0]
    assert len(told["exact fit"]) == 2


# plan


def test_the_plan_of_an_assumed_panel_is_the_formula(tmp_path):
    asked = ["--n-models", 6, "--n-judges", 3, "--want", "score_width=0.3", "--by-judges", 2]
    done = judgerank("plan", *asked, cwd=tmp_path, anew=True)
    assert done.returncode == 0, done.stderr
    panel = assumed(6, 3, *USUAL[2:])
    expected = whole(needed("score_width", 0.3, [precision_of(panel)]))
    told = done.stdout.splitlines()
    assert told[0] == "An assumed panel: 6 models and 3 judges."
    assert told[2].split() == ["score_width", "0.3", str(expected), str(expected), "0.3"]
    of_two = [precision_of(one) for one in panels_by_size(panel, [2], 50, 2026)[2]]
    assert told[5].split()[:5] == ["2", "3", "score_width", "0.3", str(whole(needed("score_width", 0.3, of_two)))]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("sd", [0.5, 0])
def test_a_plan_has_as_many_questions_as_a_ranking_takes(tmp_path, sd):
    asked = ["--n-models", 6, "--n-judges", 10, "--sigma-discrimination", 0.5, "--question-sd", sd]
    asked += ["--question-pairs", 15, "--question-judges", 10, "--json"]
    planned, without = (
        json.loads(judgerank("plan", *asked, *model, cwd=tmp_path).stdout)
        for model in ([], ["--model", "judge_aware"])
    )
    assert min(row["questions"] for row in planned["plan"]) == 6 - 1 + 2 * 10 - 1 + 1
    assert min(row["questions"] for row in without["plan"]) == 6 - 1 + 10 - 1 + 1
    assert all(row["comparisons"] == 150 * row["questions"] for row in planned["plan"])
    assert any("more than the model's 24 parameters" in note for note in planned["notes"])
    refused = judgerank("plan", *asked, "--model", "position_aware_ties", cwd=tmp_path)
    assert refused.returncode != 0 and "position_aware, judge_aware" in refused.stdout + refused.stderr


def test_a_plan_from_a_file_is_for_the_panel_that_ranks_it(tmp_path, simulated):
    data = simulated(4, [0.8, 0.0, -0.8], [1.5, 0.7], 600)
    data.to_frame().to_csv(tmp_path / "mine.csv", index=False)
    goals = ["--want", "pair_power=0.8", "--want", "score_width=0.2"]
    done = judgerank("plan", "mine.csv", "--model", "judge_aware", *goals, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    board = rank(tmp_path / "mine.csv", model="judge_aware").tables["leaderboard"]
    planned = int(done.stdout.splitlines()[-1].split()[2])
    width = (board["high"] - board["low"]).mean() * (600 / planned) ** 0.5
    assert width == pytest.approx(0.2, rel=0.03)
    assert "m0 scores +" in done.stdout
    assert fit(data).converged


def test_a_plan_names_whom_it_leaves_out_and_says_what_is_more(tmp_path, simulated):
    simulated(4, [0.8, 0.0, -0.8], [1.5, 0.7, 0.0], 600).to_frame().to_csv(tmp_path / "mine.csv", index=False)
    asked = ["plan", "mine.csv", "--model", "judge_aware", "--want", "score_width=0.2", "--json"]
    shrunk, exact = (
        json.loads(judgerank(*asked, *solver, cwd=tmp_path).stdout) for solver in ([], ["--solver", "newton"])
    )
    assert (shrunk["judges"], shrunk["left_out"]) == (3, [])
    assert exact["judges"] + len(exact["left_out"]) == 3
    assert all(any(name in note for note in exact["notes"]) for name in exact["left_out"])
    for document in (shrunk, exact):
        (row,) = document["plan"]
        assert row["more"] == max(row["comparisons"] - 600, 0)
        assert row["judges"] is None


def test_a_plan_by_a_column_counts_its_values(tmp_path, simulated):
    frame = simulated(4, [0.8, 0.0, -0.8], [1.5, 0.7], 600).to_frame()
    frame.assign(template=[f"t{row % 30}" for row in range(600)]).to_csv(tmp_path / "mine.csv", index=False)
    asked = ["plan", "mine.csv", "--want", "score_width_worst=2", "--json", "--cluster"]
    document = json.loads(judgerank(*asked, "template", cwd=tmp_path).stdout)
    assert (document["cluster"], document["collected"], document["tastes"]) == ("template", 600, None)
    (row,) = document["plan"]
    assert row["questions"] < 30 and row["comparisons"] == 20 * row["questions"] and row["more"] == 0
    assert sum("values of template" in note for note in document["notes"]) >= 2  # what is counted, and the fewest
    refused = judgerank(*asked, "template,judge", cwd=tmp_path)
    assert refused.returncode == 2 and "--cluster" in refused.stderr


def test_a_plan_is_for_all_the_files_that_are_named(tmp_path, simulated):
    frame = simulated(4, [0.8, 0.0, -0.8], [1.5, 0.7], 600).to_frame()
    for name, rows in {"all": frame, "part1": frame[:300], "part2": frame[300:]}.items():
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    words = ["--winner-values", "a=a", "b=b"]  # the second of these stands among the files
    plans = [
        judgerank("plan", *files, "--model", "judge_aware", "--want", "score_width=0.1", cwd=tmp_path)
        for files in (["all.csv"], ["part1.csv", "part2.csv"], ["part?.csv", *words], ["part1.csv"])
    ]
    assert plans[0].returncode == 0, plans[0].stderr
    assert plans[0].stdout == plans[1].stdout == plans[2].stdout
    assert plans[0].stdout != plans[3].stdout


def test_a_baseline_is_handed_on_by_the_doctor(tmp_path):
    games = [{"score": "A>B"}, {"score": "A>>B"}], [{"score": "B>A"}, {"score": "A>B"}]
    records = [
        {"question_id": turn, "model": model, "judge": "j", "games": pair}
        for turn, pair in enumerate(games)
        for model in "xy"
    ]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    done = judgerank("doctor", "m.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert "gpt-4-0314" in done.stderr
    done = judgerank("doctor", "m.jsonl", "--baseline", "gpt-4-0314", cwd=tmp_path)
    command = shlex.split(lines(done)["run next"][0])
    assert command[:5] == ["judgerank", "rank", "m.jsonl", "--baseline", "gpt-4-0314"]
    assert judgerank(*command[1:], cwd=tmp_path).returncode == 0


# settings of collecting


def test_the_example_panel_and_the_default_prompt_are_settings():
    panel = read_settings(Panel, ROOT / "examples/panel.yaml")
    assert [judge.sent for judge in panel.judges] == ["my-org/large-model", "my-org/small-model"]
    assert Prompt().model_dump() == PAIRWISE | {
        "system": None,
        "criteria": {},
        "scale": 3,
        "form": None,
        "nonce": False,
    }
    assert (panel.by_name["small"].prompt_price, panel.by_name["small"].completion_price) == (None, None)
    assert panel.by_name["small"].api_key_env == "OPENAI_API_KEY"


def test_a_whole_number_is_a_price_and_nothing_is_converted(tmp_path):
    (tmp_path / "p.yaml").write_text("base_url: http://h/v1\njudges: [{judge: j, prompt_price: 2}]\n")
    panel = read_settings(Panel, tmp_path / "p.yaml")
    assert panel.judges[0].prompt_price == 2.0
    values = {"questions": "q", "panel": panel, "output": tmp_path / "o"}
    assert checked(Collection, values).requests_per_minute is None
    for key, value in (("repeats", "2"), ("repeats", True), ("seed", -1), ("timeout", float("inf"))):
        with pytest.raises(ConfigError, match=f"^{key}"):
            checked(Collection, values | {key: value})
    with pytest.raises(
        ConfigError, match="there is no key 'max_concurent'; the nearest known one is 'max_concurrent'"
    ):
        checked(Collection, values | {"max_concurent": 1})


def test_settings_are_stored_as_they_were_given(tmp_path):
    panel = checked(Panel, yaml.safe_load((ROOT / "examples/panel.yaml").read_text()))
    settings = checked(Collection, {"questions": "q", "panel": panel, "output": tmp_path / "o"})
    assert Collection.model_validate_json(settings.model_dump_json()) == settings
    assert os.fspath(settings.output) == str(tmp_path / "o")
