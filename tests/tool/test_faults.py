"""One table of faults of the command `judgerank`: what is wrong, and the one sentence that ends it.

Whatever is the input's fault ends in exit code 1 and that sentence alone, a command line that cannot be meant in
exit code 2; nothing is written, and no key is shown.
"""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgerank.cli import app
from tests.tool.command import judgerank, usage_text

KEY = "sk-secret-0123456789"
HERE = "http://127.0.0.1:9/v1"


def records(*answers: str) -> str:
    """A file of judgments: for every pair of models the letters of its answers, as in "xy:aab"."""
    pairs = [answer.split(":") for answer in answers]
    return "".join(
        f'{{"model_a": "{a}", "model_b": "{b}", "winner": "{w}"}}\n' for (a, b), letters in pairs for w in letters
    )


def panel(url: str = HERE, judges: str = "[{judge: j}]", more: str = "") -> str:
    return f"base_url: {url}\njudges: {judges}\n{more}"


QUESTIONS = "".join(
    json.dumps({"question_id": "q", "question": "Why?", "model": model, "answer": f"since {model}"}) + "\n"
    for model in "xy"
)
GOOD = {"m.jsonl": records("xy:aab", "yx:abb"), "q.jsonl": QUESTIONS, "p.yaml": panel()}

# fault, what the command is told, and what it says
USAGE = [
    ("no file", "rank", "missing argument 'FILE'"),
    ("an unknown option", "rank m.jsonl --sovler adam", "no option --sovler; did you mean --solver"),
    ("an unknown command", "rang m.jsonl", "no such command 'rang'; did you mean 'rank'"),
    ("an unknown member", "rank m.jsonl --model elo", "'elo' is not one of 'btl', 'judge_aware'"),
    ("an unknown solver", "rank m.jsonl --solver simplex", "'simplex' is not one of"),
    ("an unknown form", "rank m.jsonl --format xml", "'xml' is not one of"),
    ("a word for a number", "rank m.jsonl --level high", "'--level'"),
    ("no number for a level", "rank m.jsonl --level nan", "nan is out of range: it must be between 0 and 1"),
    ("a level of one", "rank m.jsonl --level 1", "1 is out of range: it must be between 0 and 1"),
    ("a negative count", "rank m.jsonl --few -3", "'--few'"),
    ("a count without end", "rank m.jsonl --next 1000000000", "'--next': expected at most 1000"),
    ("nothing in a line", "rank m.jsonl --next-size 0", "'--next-size'"),
    ("a column of nothing", "rank m.jsonl --column judge", "'judge' is not KEY=NAME"),
    ("a column unknown", "rank m.jsonl --column jugde=x", "no key 'jugde'; the nearest known one is 'judge'"),
    ("a column unknown to a doctor", "doctor m.jsonl --column won=x", "there is no key 'won'; the nearest"),
    ("a goal unknown", "plan --want speed=3", "there is no goal 'speed' (known: score_width"),
    ("a goal without a number", "plan --want score_width", "'score_width' is not GOAL=NUMBER"),
    ("a width of nothing", "plan --want score_width=0", "a finite number above zero, not 0"),
    ("a width without end", "plan --want score_width=inf", "a finite number above zero, not inf"),
    ("a power of one", "plan --want pair_power=1", "pair_power lies between zero and one, not at 1"),
    ("a correlation above one", "plan --correlation 1.5", "'--correlation'"),
    ("no correlation", "plan --correlation nan", "'--correlation'"),
    ("no pairs", "plan --question-pairs 0", "'--question-pairs'"),
    ("no spread", "plan --sigma-scores nan", "nan is out of range: it must be finite and above 0"),
    ("one model", "plan --n-models 1", "invalid value for '--n-models': expected at least 2"),
    ("a file and an assumption", "plan m.jsonl --n-models 4", "n_models: the file decides that"),
    ("nobody's questions", "collect q.jsonl", "'--judges': there is nobody to ask"),
    ("never asked", "collect q.jsonl --judges p.yaml --repeats 0", "'--repeats'"),
    ("no time to answer", "collect q.jsonl --judges p.yaml --timeout nan", "it must be finite and above 0"),
    ("no end of a wait", "collect q.jsonl --judges p.yaml --first-wait inf", "it must be finite and above 0"),
    ("a pace that is none", "collect q.jsonl --judges p.yaml --per-minute inf", "inf is out of range"),
    ("nothing to spend", "collect q.jsonl --judges p.yaml --budget 0", "0 is out of range"),
    ("an order unknown", "collect q.jsonl --judges p.yaml --order sideways", "'sideways' is not one of"),
    ("a column of no question", "collect q.jsonl --judges p.yaml --column modell=x", "known one is 'model'"),
]  # fmt: skip

# fault, the file at fault, its content, what the command is told, and what it says after its own name
FILES = [
    ("an unknown winner", "m.jsonl", records("xy:abd"), "rank", "m.jsonl: record 3 has the unknown winner 'd'"),
    ("a record cut short", "m.jsonl", records("xy:ab")[:-9], "rank", "m.jsonl: line 2 is not JSON"),
    ("no record", "m.jsonl", "", "rank", "m.jsonl: there are no comparisons: the set is empty"),
    ("a column that is not there", "m.jsonl", records("xy:ab"), "rank --column judge=who", "no column 'who'"),
    ("only ties", "m.jsonl", records("xy:ccc"), "rank --solver newton", "there is nothing to rank"),
    ("only even", "m.jsonl", records("xy:ab", "vw:ab", "vu:ab"), "rank --solver newton", "nothing to rank"),
    ("lengths wanted", "m.jsonl", records("xy:ab"), "rank --model length", "column length=NAME"),
    ("no such file", "m.jsonl", None, "rank", "there is no file 'm.jsonl'"),
    ("no such file to examine", "m.jsonl", None, "doctor", "there is no file 'm.jsonl'"),
    ("no such file to plan for", "m.jsonl", None, "plan", "there is no file 'm.jsonl'"),
    ("a pair of a stranger", "m.jsonl", "", "plan --n-models 3 --pair m01 gpt", "no model 'gpt' among m01"),
    ("repeats of questions", "m.jsonl", "", "plan --question-sd 1 --repeats 2", "without questions"),
    ("no questions", "q.jsonl", None, "collect", "there is no file 'q.jsonl'"),
    ("questions alone", "q.jsonl", '{"question": "q"}\n', "collect", "the table has no column 'question_id'"),
    ("more than there are", "q.jsonl", QUESTIONS, "collect --comparisons 9", "9 comparisons cannot be drawn"),
    ("no panel", "p.yaml", None, "collect", "'p.yaml' cannot be read: No such file or directory"),
    ("an empty panel", "p.yaml", "", "collect", "p.yaml: there are no keys, such as base_url"),
    ("a list for a panel", "p.yaml", "[1, 2]", "collect", "p.yaml: there are no keys, such as base_url"),
    ("no YAML", "p.yaml", "base_url: [\n", "collect", "p.yaml: this is not YAML for settings (line 2"),
    ("a key twice", "p.yaml", panel(more=f"base_url: {HERE}\n"), "collect", "(line 3: the key 'base_url' is"),
    ("a key of the panel", "p.yaml", panel(more="judge: []\n"), "collect",
     "p.yaml: there is no key 'judge'; the nearest known one is 'judges'"),
    ("a key of a judge", "p.yaml", panel(judges="[{jugde: j}]"), "collect",
     "p.yaml: judges no. 1: there is no key 'jugde'; the nearest known one is 'judge'"),
    ("a judge without a name", "p.yaml", panel(judges="[{judge: j}, {model: m}]"), "collect",
     "p.yaml: judges no. 2.judge: field required"),
    ("nobody to ask", "p.yaml", panel(judges="[]"), "collect", "judges: it is empty: there is nobody to ask"),
    ("a judge twice", "p.yaml", panel(judges="[{judge: j}, {judge: j}]"), "collect", "judge 'j' is there twice"),
    ("a number for a name", "p.yaml", panel(judges="[{judge: 5}]"), "collect", "judges no. 1.judge=5: input"),
    ("a judge who pays", "p.yaml", panel(judges="[{judge: j, prompt_price: -1}]"), "collect",
     "judges no. 1.prompt_price=-1: input should be greater than or equal to 0"),
    ("a price that is none", "p.yaml", panel(judges="[{judge: j, prompt_price: .nan}]"), "collect", "price=nan"),
    ("a price of yes", "p.yaml", panel(judges="[{judge: j, prompt_price: yes}]"), "collect", "be a valid number"),
    ("no place to ask", "p.yaml", panel("nowhere"), "collect", "p.yaml: base_url: this is not an address"),
    ("a key in the address", "p.yaml", panel("http://me:secret@127.0.0.1:9/v1"), "collect", "more than a place"),
    ("a key in its query", "p.yaml", panel(f"{HERE}?key=secret"), "collect", "carries more than a place"),
    ("a key in a judge's", "p.yaml", panel(judges=f"[{{judge: j, base_url: '{HERE}?k=secret'}}]"), "collect",
     "more than a place"),
    ("no price", "p.yaml", panel(), "collect --budget 1", "a budget needs prices, and judge 'j' has none"),
    ("the key as a setting", "prompt.yaml", f"name: {KEY}\n", "collect", "also stands in a setting"),
    ("the key for a number", "prompt.yaml", f"temperature: {KEY}\n", "collect", "prompt.yaml: temperature: input"),
    ("a key of a prompt", "prompt.yaml", "tempreture: 1\n", "collect", "the nearest known one is 'temperature'"),
    ("a prompt without answers", "prompt.yaml", "text: '{question}'\n", "collect", "where {first} goes"),
    ("another environment", "p.yaml", panel(more="api_key_env: NOT_SET\n"), "collect",
     "the environment variable NOT_SET holds no key"),
    ("a folder to append to", "q.jsonl", QUESTIONS, "collect --output .", "is a folder"),
]  # fmt: skip


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Exit code and what a command says at its end, in this process; that it writes nothing and shows no key."""

    def run(given: str, files: dict[str, str | None]) -> tuple[int, str]:
        monkeypatch.chdir(tmp_path)
        for name, content in files.items():
            if content is not None:
                Path(name).write_text(content)
        before = sorted(tmp_path.iterdir())
        done = CliRunner().invoke(app, given.split(), env={"OPENAI_API_KEY": KEY, "COLUMNS": "500"})
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert "secret" not in done.output
        assert sorted(path for path in tmp_path.iterdir() if path.suffix != ".lock") == before
        return done.exit_code, done.stderr

    return run


@pytest.mark.parametrize(("given", "sentence"), [row[1:] for row in USAGE], ids=[row[0] for row in USAGE])
def test_a_command_line_that_cannot_be_meant_is_refused(given, sentence, told):
    code, said = told(given, GOOD)
    assert code == 2
    assert sentence in usage_text(said)


@pytest.mark.parametrize(
    ("name", "content", "given", "sentence"), [row[1:] for row in FILES], ids=[row[0] for row in FILES]
)
def test_files_at_fault_end_in_one_sentence(name, content, given, sentence, told):
    command, *options = given.split()
    named = {"collect": "q.jsonl --judges p.yaml", "plan": "" if "--" in given else "m.jsonl"}
    extra = "--prompt prompt.yaml" if name == "prompt.yaml" else ""
    line = " ".join([command, named.get(command, "m.jsonl"), *options, extra])
    code, said = told(line, GOOD | {name: content})
    assert code == 1
    (told_last,) = said.splitlines()
    assert re.match(f"judgerank {command}: ", told_last)
    assert sentence in told_last


def test_what_is_read_of_a_file_at_fault_is_told_before(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("left,model_b,winner\nx,y,a\nx,y,d\n")
    done = judgerank("doctor", path, "--column", "model_a=left", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "file:       csv, 2 records",
        "layout:     the columns that are named.",
        "columns:    model_a from 'left', model_b, winner",
    ]
    (line,) = done.stderr.splitlines()
    assert line.startswith("judgerank doctor: m.csv: record 2 has the unknown winner 'd'")


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "m.jsonl").write_text(GOOD["m.jsonl"])
    (tmp_path / "rankings").write_text("a file")
    done = judgerank("rank", "m.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].startswith("judgerank rank: ")
    assert (tmp_path / "rankings").read_text() == "a file"
