"""`judgerank gate` that asks a panel by rounds, the pytest plugin, and the example of a gated repository."""

import json
import re
import shlex
import shutil
from pathlib import Path
from threading import Timer

import numpy as np
import pytest
import yaml
from filelock import FileLock
from typer.testing import CliRunner

from judgerank import read
from judgerank.cli import app
from judgerank.collecting.settings import read_panel
from judgerank.data.errors import DataError
from judgerank.gating import panel_rounds
from judgerank.gating.answer_pairs import paired
from judgerank.gating.callers import as_called
from judgerank.gating.gate import gate
from judgerank.gating.panel_rounds import Asked, ask_until_decided, looks
from judgerank.gating.rule import Rule
from judgerank.ranking.recusal import OTHER_MAKER
from replication.config import ROOT
from tests.forked import environment, run_anew
from tests.library.test_gating import records

EXAMPLE = Path(ROOT, "examples", "gate")
JUDGE = """
def judge(question, first, second):
    with open("asked.txt", "a") as file:
        file.write(question + "\\n")
    return "c" if first == second else "a" if int(first) > int(second) else "b"
"""


def answers(path, values):
    rows = [{"question_id": f"q{n}", "question": f"Q{n}?", "answer": str(value)} for n, value in enumerate(values)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one judge who prefers the larger number, and 60 old answers."""
    monkeypatch.chdir(tmp_path)
    Path("judge.py").write_text(JUDGE)
    judges = [{"judge": "larger", "provider": "python", "model": "judge.py"}]
    Path("panel.yaml").write_text(yaml.safe_dump({"judges": judges}))
    answers(Path("old.jsonl"), [50] * 60)
    return tmp_path


def asked_so_far():
    return Path("asked.txt").read_text().split() if Path("asked.txt").exists() else []


def run(*arguments):
    done = CliRunner().invoke(app, ["gate", "old.jsonl", "new.jsonl", "--panel", "panel.yaml", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_the_variants_are_called_as_their_files(folder):
    answers(Path("worse.jsonl"), [40] * 60)
    told = ["gate", "old.jsonl", "worse.jsonl", "--panel", "panel.yaml"]
    assert "prefers worse over old" in CliRunner().invoke(app, told).stdout
    assert "prefers bad over old" in CliRunner().invoke(app, [*told, "--candidate", "bad"]).stdout


@pytest.mark.parametrize(("value", "code"), [(60, 0), (40, 1)])
def test_a_clear_change_is_decided_at_the_first_look(folder, value, code):
    answers(Path("new.jsonl"), [value] * 60)
    done = run("--json")
    assert done.exit_code == code, done.output
    assert json.loads(done.stdout)["criteria"][0]["questions"] == len(asked_so_far()) == looks(60)[0]


def test_judges_whose_votes_would_not_count_are_not_asked(folder):
    answers(Path("new.jsonl"), [60] * 60)
    judges = [{"judge": name, "provider": "python", "model": "judge.py"} for name in ("larger", "gpt-4o")]
    Path("panel.yaml").write_text(yaml.safe_dump({"judges": judges}))
    told = json.loads(run("--json", "--candidate-model", "o3").stdout)
    assert told["criteria"][0]["judges"] == ["larger"] and told["verdict"] == "ship"
    assert told["recused_judges"] == told["related_judges"] == ["gpt-4o"] and told["recused_votes"] == 0
    assert len(asked_so_far()) == looks(60)[0] and "Add a judge" not in told["sentence"]
    Path("facts.csv").write_text("model,organisation\nnew,Acme\nlarger,Acme\n")
    by_facts = json.loads(run("--json", "--models", "facts.csv", "--judgments", "again.jsonl").stdout)
    assert by_facts["recused_judges"] == ["larger"]
    both = json.loads(
        run("--json", "--candidate-model", "o3", "--own-maker", "count", "--judgments", "c.jsonl").stdout
    )
    assert both["criteria"][0]["judges"] == ["gpt-4o", "larger"] and both["recused_judges"] == []
    Path("panel.yaml").write_text(yaml.safe_dump({"judges": judges[1:]}))
    alone = json.loads(run("--json", "--candidate-model", "o3", "--judgments", "alone.jsonl").stdout)
    assert alone["criteria"][0]["judges"] == ["gpt-4o"] and OTHER_MAKER in alone["sentence"]


def test_a_judge_that_has_changed_is_asked_again_and_the_others_are_not(folder):
    """One Python judge is edited after a first gate: the file loses its judgments alone, to a file beside it."""
    Path("other.py").write_text("def judge(question, first, second):\n    return 'c'\n")
    judges = [{"judge": name, "provider": "python", "model": f"{name}.py"} for name in ("judge", "other")]
    Path("panel.yaml").write_text(yaml.safe_dump({"judges": judges}))
    answers(Path("new.jsonl"), [60] * 60)
    run()
    n_asked, before = len(asked_so_far()), Path("judgments.jsonl").read_text().splitlines()
    Path("other.py").write_text("def judge(question, first, second):\n    return 'b'\n")
    assert run().exit_code in (0, 2)
    kept = [line for line in before if '"judge_model": "judge"' in line]
    now = Path("judgments.jsonl").read_text().splitlines()
    assert now[: len(kept)] == kept and sum('"judge_model": "other"' in line for line in now) >= len(kept)
    assert Path("judgments.jsonl.earlier.jsonl").read_text().splitlines() == [x for x in before if x not in kept]
    assert len(set(asked_so_far()[n_asked:]) & set(asked_so_far()[:n_asked])) == 0


def test_judgments_of_earlier_answers_are_set_aside_where_that_is_asked_for(folder):
    """Three versions of an answer: all stay, or with --prune those of the last, and of other questions."""
    for value in (60, 70, 80):
        answers(Path("new.jsonl"), [value, *[60] * 59])
        run("--until", "all")
    before = Path("judgments.jsonl").read_text().splitlines()
    assert len(before) == len(asked_so_far()) == 62
    other = before[0].replace('"question_id": "q', '"question_id": "other q')
    Path("judgments.jsonl").write_text("".join(f"{line}\n" for line in [*before, other]))
    done = run("--until", "all", "--prune")
    assert done.exit_code == 0 and "2 judgments of earlier answers" in done.stderr
    kept = Path("judgments.jsonl").read_text().splitlines()
    assert len(kept) == 61 and kept[-1] == other and len(asked_so_far()) == 62
    assert sorted(Path("judgments.jsonl.earlier.jsonl").read_text().splitlines() + kept) == sorted(
        [*before, other]
    )


def test_questions_of_a_panel_are_clustered_by_a_column_of_the_answers(folder):
    """Four templates of 15 questions; equal answers, of which there are no judgments, count with theirs."""
    rows = [json.loads(line) for line in Path("old.jsonl").read_text().splitlines()]
    values = ["50"] * 15 + ["90"] * 45

    def write(labels):
        for name, column in (("old", ["50"] * 60), ("new", values)):
            labelled = [
                row | label | {"answer": value} for row, label, value in zip(rows, labels, column, strict=True)
            ]
            Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, labelled)))

    write([{"template": n // 15} for n in range(60)])
    by_question, by_template = (
        json.loads(run("--until", "all", "--json", *more).stdout) for more in ([], ["--cluster", "template"])
    )
    assert by_question["verdict"] == "ship" and by_question["by_other_units"][0]["size"] == 4
    assert by_template["rule"]["cluster"] == "template"
    seen, told = by_template["criteria"][0], by_question["by_other_units"][0]["evidences"][0]
    assert {name: seen[name] for name in told if name != "p_block"} == {
        name: told[name] for name in told if name != "p_block"
    }
    n_asked = len(asked_so_far())
    Path("judgments.jsonl").unlink()
    for labels in ([{}] * 60, [{"template": 1}] * 59 + [{}]):
        write(labels)
        assert run("--cluster", "template").exit_code == 3
        assert len(asked_so_far()) == n_asked
    assert run("--protect", "topic=law").exit_code == 3 and len(asked_so_far()) == n_asked


def test_another_prompt_is_asked_anew_and_its_earlier_judgments_are_set_aside(folder):
    answers(Path("new.jsonl"), [60] * 60)
    run()
    n_asked = len(asked_so_far())
    records_before = [json.loads(line) for line in Path("judgments.jsonl").read_text().splitlines()]
    changed = "".join(json.dumps(record | {"prompt": "another"}) + "\n" for record in records_before)
    Path("judgments.jsonl").write_text(changed)
    assert run().exit_code == 0
    assert asked_so_far()[n_asked:] == asked_so_far()[:n_asked]
    assert Path("judgments.jsonl.earlier.jsonl").read_text() == changed


@pytest.mark.parametrize(
    ("judge", "options", "is_allowed"),
    [
        ({"base_url": "http://evil.example/v1"}, [], False),
        ({"base_url": "http://evil.example/v1"}, ["--allow-host", "evil.example"], True),
        ({"base_url": "http://evil.example/v1"}, ["--allow-host", "example"], False),
        ({"base_url": "https://api.openai.com.evil.example/v1"}, [], False),
        ({"base_url": "https://api.openai.com/v1"}, [], True),
        ({"base_url": "http://localhost:1/v1"}, [], True),
        ({"base_url": "http://[::1]:1/v1"}, [], True),
    ],
)
def test_a_panel_cannot_send_a_key_to_a_host_that_nobody_has_named(
    folder, monkeypatch, judge, options, is_allowed
):
    """Nobody is asked here: who would be is refused before, or named by a stand-in for what asks."""
    monkeypatch.setenv("SECRET_OF_MINE", "not-to-be-sent-anywhere")
    asked = []
    monkeypatch.setattr(panel_rounds, "collect", lambda settings, wait: asked.append(settings))
    answers(Path("new.jsonl"), [60] * 60)
    judges = [{"judge": "j", "provider": "openai", "model": "m", "api_key_env": "SECRET_OF_MINE", **judge}]
    Path("panel.yaml").write_text(yaml.safe_dump({"judges": judges}))
    done = run(*options)
    assert done.exit_code == 3 and bool(asked) == is_allowed
    assert ("--allow-host" in done.output) == (not is_allowed) and "not-to-be" not in done.output


def test_a_budget_is_for_the_judgments_of_these_answers_over_all_runs(folder, monkeypatch):
    """Of a file that cost 5, of which 2 are for these answers, a budget of 3 leaves one."""
    settings_seen = []

    def spent(requests, questions=None):
        return 5.0 if questions is None else 2.0

    monkeypatch.setattr(panel_rounds, "spent", spent)
    monkeypatch.setattr(panel_rounds, "collect", lambda settings, wait: settings_seen.append(settings))
    answers(Path("new.jsonl"), [60] * 60)
    run("--budget", "3")
    assert settings_seen[0].budget == 6.0


@pytest.mark.parametrize(
    ("caller", "options"),
    [
        ("command", ["--judgments FILE", "--look 2", "--budget"]),
        ("pytest", ["--judgerank-judgments FILE", "rule=Rule(look=2)", "larger budget."]),
        ("action", ["input judgments", "input look: 2.", "input budget"]),
    ],
)
def test_a_message_names_the_option_of_its_caller(caller, options):
    message = "it is a folder (--judgments FILE). Run it again with --look 2. Or with a larger --budget."
    said = as_called(message, caller)
    assert all(option in said for option in options)
    assert caller == "command" or "--judgments" not in said


@pytest.mark.parametrize("ending", [" makes that count.", "", " |"])
def test_a_group_to_protect_is_named_whole_as_its_caller_writes_it(ending):
    message = f"worse on it: --protect category=long-form text{ending}"
    given = as_called(message, "command").removesuffix(ending).partition("it: ")[2]
    assert shlex.split(given) == ["--protect", "category=long-form text"]
    given = as_called(message, "pytest").removesuffix(ending).partition("rule=")[2]
    assert eval(given, {"Rule": Rule}) == Rule(protect=(("category", "long-form text"),))
    assert as_called(message, "action").endswith(f"input protect: category=long-form text{ending}")


def test_a_test_is_told_how_a_file_is_read_in_python(tmp_path):
    """Every option in what is said of columns, words, names and copies; the first of them reads the file."""
    names = {"winner": "pref", "judge_preferred_model": "pref"}
    records(np.tile([1.0, 1.0, 0.0], 20)).rename(columns=names).to_csv(tmp_path / "j.csv", index=False)
    with pytest.raises(DataError) as missing:
        read(tmp_path / "j.csv")
    said = as_called(str(missing.value).replace("NAME", "pref"), "pytest")
    how = re.search(r"columns=(\{.*?\})", said)
    assert "--" not in said and gate(read(tmp_path / "j.csv", columns=eval(how[1])), "old", "new").criteria
    said = as_called("--names fold, --copies drop, --winner-values 1=a, --own-maker count", "pytest")
    assert "--" not in said and "copies='drop'" in said and "winner_values={'1': 'a'}" in said


def test_an_address_of_the_environment_is_allowed_by_the_command_alone():
    message = "unset it, name the address in the panel (base_url), or allow it by --allow-env-url"
    assert as_called(message, "command") == message
    for caller in ("pytest", "action"):
        assert as_called(message, caller) == "unset it, or name the address in the panel (base_url)"


@pytest.mark.parametrize("caller", ["command", "pytest", "action"])
def test_a_gate_names_no_option_that_collecting_alone_has(caller):
    message = (
        "give it more by params: {max_tokens: ...}, then --again unreadable; 2 replies refuse to judge (--again "
        "refused asks once more); it asks to wait for 2 hours (429), longer than --patience"
    )
    assert as_called(message, caller) == (
        "give it more by params: {max_tokens: ...}; 2 replies refuse to judge; it asks to wait for 2 hours (429), "
        "too long to wait for"
    )


def test_what_is_said_while_judges_are_asked_names_the_inputs_of_the_action(folder, monkeypatch):
    monkeypatch.setenv("JUDGERANK_CALLER", "action")
    said_by_judge = "    logging.getLogger('judgerank').info('its choice may follow the place (--order both)')\n"
    Path("judge.py").write_text(f"import logging\n{JUDGE}".replace("    with", f"{said_by_judge}    with", 1))
    answers(Path("new.jsonl"), [40] * 60)
    said = run("--until", "all").output
    assert "input order: both" in said and "--order" not in said


def test_the_action_names_no_option_of_the_command(folder, monkeypatch):
    monkeypatch.setenv("JUDGERANK_CALLER", "action")
    answers(Path("new.jsonl"), [40] * 60)
    for options in ([], ["--look", "0"], ["--protect", "x"], ["--question-cost", "2"]):
        said = run(*options).output
        written = [line for line in said.splitlines() if re.search(r"(^|\s)--?[a-z]", line)]
        assert said and not written


def test_errors_reach_the_summary_and_the_outputs_of_a_step(folder, monkeypatch):
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.setenv(name, str(folder / name))
    monkeypatch.setenv("JUDGERANK_CALLER", "action")
    Path("new.jsonl").write_text("{")
    done = run()
    assert done.exit_code == 3 and done.output.count("is not JSON") == 1
    assert "line 1 is not JSON" in Path("GITHUB_STEP_SUMMARY").read_text()
    assert Path("GITHUB_OUTPUT").read_text().splitlines() == ["verdict=error", "failed=false", "needed="]
    Path("GITHUB_STEP_SUMMARY").unlink()
    answers(Path("new.jsonl"), [60, 40] * 30)
    done = run()
    assert "input look: 2" in Path("GITHUB_STEP_SUMMARY").read_text() and "--look" not in done.output


def test_gates_that_write_to_one_file_wait_for_each_other(folder):
    answers(Path("new.jsonl"), [60] * 60)
    lock = FileLock("judgments.jsonl.lock", thread_local=False)
    lock.acquire()
    release = Timer(0.5, lock.release)
    release.start()
    assert run().exit_code == 0 and release.finished.is_set()


def test_an_unchanged_answer_is_never_judged_twice(folder):
    values = [60, 40] * 30
    answers(Path("new.jsonl"), values)
    assert run().exit_code == 2
    assert len(asked_so_far()) == 60
    run()
    assert len(asked_so_far()) == 60
    values[7] = 70
    answers(Path("new.jsonl"), values)
    run()
    assert asked_so_far()[60:] == ["Q7?"]


def test_the_page_has_the_questions_texts_and_both_answers(folder):
    answers(Path("new.jsonl"), [60, *[50] * 59])
    assert run("--until", "all", "--page", "gate.html").exit_code == 0
    html = Path("gate.html").read_text()
    said = ["Q0?", "50", "60", "larger"]
    places = [html.index(f">{one}<", html.index("<b>q0</b>")) for one in said]
    assert places == sorted(places)
    assert len(re.findall(r"\bBoth\b.*\bthe same\b", html)) == 59


def test_ids_are_numbers_and_an_empty_answer_is_judged_and_counted(folder):
    """The judge calls an empty answer the worse one; nothing else has changed."""
    Path("judge.py").write_text("def judge(question, first, second):\n    return 'a' if first else 'b'\n")
    for name in ("old", "new"):
        rows = [{"question_id": n, "question": f"Q{n}?", "answer": str(n)} for n in range(60)]
        rows[7]["answer"] = "" if name == "new" else "7"
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("--until", "all", "--json", "--page", "gate.html")
    found = json.loads(done.stdout)
    assert (found["verdict"], found["criteria"][0]["judgments"]) == ("ship", 1)
    assert found["criteria"][0]["win_rate"] == pytest.approx(59 * 0.5 / 60)
    html = Path("gate.html").read_text()
    assert "1 of new (60 questions)" in html and "<b>0</b>" in html


def test_equal_answers_are_ties_that_nobody_is_asked_about(folder):
    answers(Path("new.jsonl"), [50] * 60)
    done = run("--until", "all", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["criteria"][0]["win_rate"]) == (0, 0.5)
    assert asked_so_far() == []


def test_a_group_of_the_answers_is_protected_where_a_panel_is_asked(folder):
    """Equal answers, of which there are no judgments, count in their group."""
    rows = [json.loads(line) for line in Path("old.jsonl").read_text().splitlines()]
    labelled = [row | {"topic": "law" if n < 30 else "art"} for n, row in enumerate(rows)]
    values = ["50"] * 10 + ["10"] * 20 + ["90"] * 30
    for name, column in (("old", ["50"] * 60), ("new", values)):
        lines = [json.dumps(row | {"answer": value}) for row, value in zip(labelled, column, strict=True)]
        Path(f"{name}.jsonl").write_text("\n".join(lines))
    done = run("--until", "all", "--protect", "topic=law", "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["failed"]) == (1, ["topic=law"])
    assert [one["questions"] for one in report["criteria"]] == [60, 30]


def test_the_looks_are_fixed_beforehand_and_spend_alpha_once(folder):
    assert looks(60) == [10, 15, 22, 33, 50, 60]
    assert looks(4) == [4]
    answers(Path("new.jsonl"), [60, 40] * 30)
    asked = Asked(read_panel(Path("panel.yaml"), []), Path("judgments.jsonl"))
    found = ask_until_decided(paired(Path("old.jsonl"), Path("new.jsonl")), asked, Rule())
    assert found.rule.look == 6
    assert found.next_look == 2  # of runs, whatever the number of looks in this one


def test_a_judge_who_never_answers_is_named_and_further_questions_have_a_price(folder):
    Path("broken.py").write_text("def judge(question, first, second):\n    raise RuntimeError('timeout')\n")
    panel = yaml.safe_load(Path("panel.yaml").read_text())
    panel["judges"].append({"judge": "broken", "provider": "python", "model": "broken.py"})
    Path("panel.yaml").write_text(yaml.safe_dump(panel))
    answers(Path("new.jsonl"), [60, 40] * 30)
    done = run("--until", "all", "--baseline", "v1", "--candidate", "v2")
    assert done.exit_code == 2
    assert "prefers v2 over v1" in done.stdout and "broken" in done.stdout
    said = " ".join(run("--until", "all", "-v").stdout.split())
    assert "60 of 120" in said and "none from broken" in said


def test_a_further_run_spends_less(folder):
    answers(Path("new.jsonl"), [60, 40] * 30)
    first, second = (json.loads(run("--json", "--look", str(run_)).stdout)["rule"] for run_ in (1, 2))
    assert (first["run"], second["run"], second["look"]) == (1, 2, 6)
    assert "Then give --look 3." in " ".join(run("--look", "2").stdout.split())
    assert second["level"] == pytest.approx(first["level"] / 3)


def test_until_all_asks_everything_and_looks_once(folder):
    answers(Path("new.jsonl"), [60] * 60)
    found = json.loads(run("--until", "all", "--json").stdout)
    assert (len(asked_so_far()), found["rule"]["look"]) == (60, None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "new.jsonl holds no"),
        ("{", "line 1 is not JSON"),
        ('{"question_id": "q0", "question": "Q0?"}', "line 1 has no 'answer'"),
        ('{"question_id": "q0", "question": "Q0?", "answer": "1"}', "no answer to question 'q1'"),
    ],
)
def test_files_that_do_not_fit_end_in_code_3(folder, content, said):
    Path("new.jsonl").write_text(content)
    done = run()
    assert (done.exit_code, asked_so_far()) == (3, [])
    assert said in done.output


def test_a_question_must_have_one_text(folder):
    Path("new.jsonl").write_text(Path("old.jsonl").read_text().replace("Q3?", "Q4?"))
    with pytest.raises(DataError, match=r"'q3'.*\bnew\.jsonl\b.*\bold\.jsonl\b"):
        paired(Path("old.jsonl"), Path("new.jsonl"))


PLUGIN_TEST = """
QUESTIONS = {f"q{n}": f"Q{n}?" for n in range(60)}

def test_better(judgerank_gate):
    found = judgerank_gate(lambda question: "50", lambda question: "60", "panel.yaml", QUESTIONS)
    assert found.verdict == "ship"

def test_worse(judgerank_gate):
    judgerank_gate(lambda question: "50", lambda question: "40", "panel.yaml", QUESTIONS)

def test_files(judgerank_gate):
    judgerank_gate("old.jsonl", "new.jsonl", "panel.yaml")
"""


def test_the_plugin_passes_fails_and_skips(folder):
    answers(Path("new.jsonl"), [60, 40] * 30)
    Path("test_change.py").write_text(PLUGIN_TEST)
    options = ["-p", "judgerank.gating.pytest_plugin", "-p", "no:judgerank", "-p", "no:cacheprovider", "-rA"]
    done = run_anew(["-m", "pytest", *options, "test_change.py"], folder, environment())
    assert "1 failed, 1 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "Block." in done.stdout and "Inconclusive." in done.stdout
    assert Path(".judgerank", "judgments.jsonl").exists()
    assert done.stdout.count("Block.") == 2, "in the failure, and in the summary of all of them"
    assert "rule=Rule(look=2)" in done.stdout and "--look" not in done.stdout


SIX = """
import pytest

@pytest.mark.parametrize("value", range(60, 66))
def test_better(judgerank_gate, value):
    questions = {f"q{n}": f"Q{n}?" for n in range(60)}
    judgerank_gate(lambda question: "50", lambda question: str(value), "panel.yaml", questions)
"""


def test_six_gates_in_four_processes_wait_for_each_other(folder):
    pytest.importorskip("xdist")
    Path("test_change.py").write_text(SIX)
    options = ["-p", "judgerank.gating.pytest_plugin", "-p", "no:judgerank", "-p", "no:cacheprovider", "-n", "4"]
    done = run_anew(["-m", "pytest", *options, "test_change.py"], folder, environment())
    assert "6 passed" in done.stdout, done.stdout + done.stderr
    judged = [json.loads(line) for line in Path(".judgerank", "judgments.jsonl").read_text().splitlines()]
    assert len(judged) == len({record["question_id"] for record in judged}) >= 6 * looks(60)[0]


WITHOUT_EXTRA = """
import sys

def test_judgments(judgerank_gate):
    found = judgerank_gate("old", "new", judgments="ship.csv")
    assert found.verdict == "ship"

def test_worse(judgerank_gate):
    judgerank_gate("new", "old", judgments="ship.csv")

def test_neither(judgerank_gate):
    judgerank_gate("old.jsonl", "new.jsonl")

def test_panel(judgerank_gate, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    judgerank_gate("old.jsonl", "new.jsonl", "panel.yaml")
"""


def test_the_plugin_takes_judgments_and_says_what_to_install_for_a_panel(folder):
    records(np.tile([1.0, 0.5, 1.0, 0.0, 1.0], 8)).to_csv("ship.csv", index=False)
    Path("test_change.py").write_text(WITHOUT_EXTRA)
    options = ["-p", "judgerank.gating.pytest_plugin", "-p", "no:judgerank", "-p", "no:cacheprovider", "-rA"]
    done = run_anew(["-m", "pytest", *options, "test_change.py"], folder, environment())
    assert "3 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "Block. This panel prefers old over new" in done.stdout
    assert "judgerank_gate: name the judges to ask (panel=FILE)" in done.stdout
    assert "judgerank_gate: asking judges requires the extra 'collect' (pip install" in done.stdout
    assert "there is no yaml" in done.stdout
    assert "Traceback" not in done.stdout and "pytest_plugin.py:" not in done.stdout
    assert "During handling" not in done.stdout


def test_the_example_repository_is_gated_from_end_to_end(tmp_path, monkeypatch):
    """Its workflow's steps on its own files: answers of both versions, then the gate with judges in Python."""
    shutil.copytree(EXAMPLE, tmp_path / "repository")
    monkeypatch.chdir(tmp_path / "repository")
    for version in ("old", "new"):
        done = run_anew(["answer.py", version], Path.cwd(), environment())
        Path(f"{version}.jsonl").write_text(done.stdout)
    options = ["--panel", "panel.yaml", "--json", "--markdown", "verdict.md"]
    done = CliRunner().invoke(app, ["gate", "old.jsonl", "new.jsonl", *options])
    found = json.loads(done.stdout)
    assert (done.exit_code, found["verdict"]) == (2, "inconclusive")
    assert found["criteria"][0]["judges"] == ["brief", "exact"]
    assert 0.5 < found["criteria"][0]["win_rate"] < 0.7  # shorter, and wrong about one country of five
    assert Path("verdict.md").read_text().startswith("### Inconclusive")


def test_the_action_is_pinned_and_its_inputs_are_never_run():
    action = yaml.safe_load(Path(ROOT, "action.yml").read_text())
    steps = action["runs"]["steps"]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    for uses in used:
        assert len(uses.partition("@")[2]) == 40, uses
    assert set(action["outputs"]) == {"verdict", "failed", "needed"}
    save = next(step for step in steps if "cache/save" in step.get("uses", ""))
    assert save["if"] == "always()", "a gate that blocks has asked its judges, too"
    for step in steps:
        assert "${{" not in step.get("run", ""), "inputs go through the environment, never into a script"
    workflow = yaml.safe_load(Path(EXAMPLE, "workflow.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"}
