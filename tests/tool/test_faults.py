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
from tests.forked import judgerank, usage_text

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

# fault, what the command is told, and a pattern of what it names
USAGE = [
    ("no file", "rank", "'FILE'"),
    ("an unknown option", "rank m.jsonl --sovler adam", "--sovler;.*--solver"),
    ("an unknown command", "rang m.jsonl", "'rang';.*'rank'"),
    ("an unknown member", "rank m.jsonl --model elo", "'elo' .*'btl', 'judge_aware'"),
    ("an unknown solver", "rank m.jsonl --solver simplex", "'simplex' .*'newton'"),
    ("an unknown form", "rank m.jsonl --format xml", "'xml' .*'csv'"),
    ("a word for a number", "rank m.jsonl --level high", "'--level'"),
    ("no number for a level", "rank m.jsonl --level nan", "'--level': nan .* 0 and 1"),
    ("a level of one", "rank m.jsonl --level 1", "'--level': 1 .* 0 and 1"),
    ("a negative count", "rank m.jsonl --few -3", "'--few'"),
    ("a count without end", "rank m.jsonl --next-lines 1000000000", "'--next-lines': .* 1000"),
    ("nothing in a line", "rank m.jsonl --next-size 0", "'--next-size'"),
    ("a column of nothing", "rank m.jsonl --column judge", "'judge' .*KEY=NAME"),
    ("a column unknown", "rank m.jsonl --column jugde=x", "'jugde';.*'judge'"),
    ("a column unknown to a doctor", "doctor m.jsonl --column won=x", "'won';.*'count'"),
    ("a goal unknown", "plan --want speed=3", "'speed' .*: score_width"),
    ("a goal without a number", "plan --want score_width", "'score_width' .*GOAL=NUMBER"),
    ("a width of nothing", "plan --want score_width=0", "score_width .*, not 0"),
    ("a width without end", "plan --want score_width=inf", "score_width .*, not inf"),
    ("a power of one", "plan --want pair_power=1", "pair_power .*, not at 1"),
    ("a correlation above one", "plan --correlation 1.5", "'--correlation'"),
    ("no correlation", "plan --correlation nan", "'--correlation'"),
    ("no pairs", "plan --question-pairs 0", "'--question-pairs'"),
    ("no spread", "plan --sigma-scores nan", "'--sigma-scores': nan .*above 0"),
    ("one model", "plan --n-models 1", "'--n-models': .* 2"),
    ("a file and an assumption", "plan m.jsonl --n-models 4", "n_models:"),
    ("nobody's questions", "collect q.jsonl", "'--panel': "),
    ("never asked", "collect q.jsonl --panel p.yaml --repeats 0", "'--repeats'"),
    ("no time to answer", "collect q.jsonl --panel p.yaml --timeout nan", "'--timeout': nan .*above 0"),
    ("no end of a wait", "collect q.jsonl --panel p.yaml --first-wait inf", "'--first-wait': inf .*above 0"),
    ("a pace that is none", "collect q.jsonl --panel p.yaml --per-minute inf", "'--per-minute': inf "),
    ("nothing to spend", "collect q.jsonl --panel p.yaml --budget 0", "'--budget': 0 "),
    ("an order unknown", "collect q.jsonl --panel p.yaml --order sideways", "'sideways' .*'random'"),
    ("a column of no question", "collect q.jsonl --panel p.yaml --column modell=x", "'modell'.*'model'"),
]  # fmt: skip

# fault, the file at fault, its content, what the command is told, and a pattern of what it names
FILES = [
    ("an unknown winner", "m.jsonl", records("xy:abd"), "rank", "m.jsonl: record 3 .*winner 'd'"),
    ("a record cut short", "m.jsonl", records("xy:ab")[:-9], "rank", "m.jsonl: line 2 .*JSON"),
    ("no record", "m.jsonl", "", "rank", "m.jsonl: .*no comparisons"),
    ("a column that is not there", "m.jsonl", records("xy:ab"), "rank --column judge=who", "m.jsonl: .*'who'"),
    ("only ties", "m.jsonl", records("xy:ccc"), "rank --solver newton", r"\bnothing\b"),
    ("only even", "m.jsonl", records("xy:ab", "vw:ab", "vu:ab"), "rank --solver newton", r"\bnothing\b"),
    ("lengths wanted", "m.jsonl", records("xy:ab"), "rank --model length", "'?length'?.*--column length=NAME"),
    ("no such file", "m.jsonl", None, "rank", "no file 'm.jsonl'"),
    ("no such file to examine", "m.jsonl", None, "doctor", "no file 'm.jsonl'"),
    ("no such file to plan for", "m.jsonl", None, "plan", "no file 'm.jsonl'"),
    ("a pair of a stranger", "m.jsonl", "", "plan --n-models 3 --pair m01 gpt", "'gpt' .*m01"),
    ("repeats of questions", "m.jsonl", "", "plan --question-sd 1 --repeats 2",
     "repeats.*questions|questions.*repeats"),
    ("no questions", "q.jsonl", None, "collect", "no file 'q.jsonl'"),
    ("questions alone", "q.jsonl", '{"question": "q"}\n', "collect", "q.jsonl: .*'question_id'"),
    ("more than there are", "q.jsonl", QUESTIONS, "collect --comparisons 9", "9 comparisons"),
    ("no panel", "p.yaml", None, "collect", "'p.yaml' .*No such file"),
    ("an empty panel", "p.yaml", "", "collect", "p.yaml: .*base_url"),
    ("a list for a panel", "p.yaml", "[1, 2]", "collect", "p.yaml: .*base_url"),
    ("no YAML", "p.yaml", "base_url: [\n", "collect", r"p.yaml: .*YAML .*\(line 2"),
    ("a key twice", "p.yaml", panel(more=f"base_url: {HERE}\n"), "collect", r"p.yaml: .*\(line 3: .*'base_url'"),
    ("a key of the panel", "p.yaml", panel(more="judge: []\n"), "collect",
     "p.yaml: .*'judge';.*'judges'"),
    ("a key of a judge", "p.yaml", panel(judges="[{jugde: j}]"), "collect",
     "p.yaml: judges no. 1: .*'jugde';.*'judge'"),
    ("a judge without a name", "p.yaml", panel(judges="[{judge: j}, {model: m}]"), "collect",
     "p.yaml: judges no. 2.judge: "),
    ("nobody to ask", "p.yaml", panel(judges="[]"), "collect", "p.yaml: judges: .*empty"),
    ("a judge twice", "p.yaml", panel(judges="[{judge: j}, {judge: j}]"), "collect", "'j' .*twice"),
    ("a number for a name", "p.yaml", panel(judges="[{judge: 5}]"), "collect", "p.yaml: judges no. 1.judge=5: "),
    ("a judge who pays", "p.yaml", panel(judges="[{judge: j, prompt_price: -1}]"), "collect",
     "p.yaml: judges no. 1.prompt_price=-1: .* 0"),
    ("a price that is none", "p.yaml", panel(judges="[{judge: j, prompt_price: .nan}]"), "collect",
     "judges no. 1.prompt_price=nan: "),
    ("a price of yes", "p.yaml", panel(judges="[{judge: j, prompt_price: yes}]"), "collect",
     "judges no. 1.prompt_price: .*number"),
    ("no place to ask", "p.yaml", panel("nowhere"), "collect", "p.yaml: base_url: .*address"),
    ("a key in the address", "p.yaml", panel("http://me:secret@127.0.0.1:9/v1"), "collect",
     "p.yaml: base_url: .*api_key_env"),
    ("a key in its query", "p.yaml", panel(f"{HERE}?key=secret"), "collect", "p.yaml: base_url: .*api_key_env"),
    ("a key in a judge's", "p.yaml", panel(judges=f"[{{judge: j, base_url: '{HERE}?k=secret'}}]"), "collect",
     "p.yaml: judges no. 1.base_url: .*api_key_env"),
    ("no price", "p.yaml", panel(), "collect --budget 1", "budget .*'j'"),
    ("the key as a setting", "prompt.yaml", f"name: {KEY}\n", "collect", "OPENAI_API_KEY.* setting"),
    ("the key for a number", "prompt.yaml", f"temperature: {KEY}\n", "collect", "prompt.yaml: temperature: "),
    ("a key of a prompt", "prompt.yaml", "tempreture: 1\n", "collect",
     "prompt.yaml: .*'tempreture';.*'temperature'"),
    ("a prompt without answers", "prompt.yaml", "text: '{question}'\n", "collect", "{first}"),
    ("another environment", "p.yaml", panel(more="api_key_env: NOT_SET\n"), "collect",
     "variable NOT_SET "),
    ("a folder to append to", "q.jsonl", QUESTIONS, "collect --judgments .", r" is a folder,.*--judgments FILE"),
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


@pytest.mark.parametrize(("given", "named"), [row[1:] for row in USAGE], ids=[row[0] for row in USAGE])
def test_a_command_line_that_cannot_be_meant_is_refused(given, named, told):
    code, said = told(given, GOOD)
    assert code == 2
    assert re.search(named, usage_text(said))


@pytest.mark.parametrize(
    ("name", "content", "given", "pattern"), [row[1:] for row in FILES], ids=[row[0] for row in FILES]
)
def test_files_at_fault_end_in_one_sentence(name, content, given, pattern, told):
    command, *options = given.split()
    named = {"collect": "q.jsonl --panel p.yaml", "plan": "" if "--" in given else "m.jsonl"}
    extra = "--prompt prompt.yaml" if name == "prompt.yaml" else ""
    line = " ".join([command, named.get(command, "m.jsonl"), *options, extra])
    code, said = told(line, GOOD | {name: content})
    assert code == 1
    (told_last,) = said.splitlines()
    assert re.match(f"judgerank {command}: ", told_last)
    assert re.search(pattern, told_last), told_last


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
    assert re.match("judgerank doctor: m.csv: record 2 .*winner 'd'", line)


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "m.jsonl").write_text(GOOD["m.jsonl"])
    (tmp_path / "rankings").write_text("a file")
    done = judgerank("rank", "m.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].startswith("judgerank rank: ")
    assert (tmp_path / "rankings").read_text() == "a file"
