"""Panel files that nobody means: each ends in one sentence with the key or the line, and none runs without end."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from judgerank.cli import app
from judgerank.collecting.bounded_yaml import DEEPEST, LARGEST, MOST_VALUES
from judgerank.collecting.checking import keys_of
from judgerank.collecting.settings import Judge
from judgerank.data.errors import ConfigError
from tests.tool.collecting import rows
from tests.tool.command import environment

JUDGE = {"judge": "j", "model": "m", "base_url": "http://127.0.0.1:1/v1", "api_key_env": None}
# what each key takes, of the kinds of value below
TEXT, NUMBER, WHOLE, TRUTH, MAPPING = {"text"}, {"whole", "decimal"}, {"whole"}, {"truth"}, {"mapping"}
TAKES = {
    **dict.fromkeys(("judge", "provider", "model", "base_url", "api_key_env", "reasoning_effort"), TEXT),
    **dict.fromkeys(("reasoning_budget", "image_tokens", "concurrent", "batch_size"), WHOLE),
    **dict.fromkeys(("structured", "logprobs", "batch"), TRUTH),
    **dict.fromkeys(("requests_per_minute", "prompt_price", "completion_price", "cached_price"), NUMBER),
    **dict.fromkeys(("cache_write_price", "batch_discount"), NUMBER),
    "params": MAPPING,
    "images": set(),
}
VALUES = {
    "list": ("[]", "[a, b]", "[[[]]]", "[{judge: j}]"),
    "mapping": ("{a: {b: [c]}}",),
    "text": ("some words",),
    "whole": ("3",),
    "decimal": ("0.5",),
    "truth": ("true",),
    "none of these": (".nan", "-.inf", "-7", "0x" + "f" * 5000, "9" * 5000, '""', "!!binary aGk=", "!!set {a}"),
}
PANEL_KEYS = {"base_url": TEXT, "api_key_env": TEXT, "currency": TEXT, "judges": set()}


def written(values: dict, key: str, value: str) -> str:
    """A mapping in YAML's flow style, one of whose values is given as YAML."""
    parts = {name: json.dumps(one) for name, one in values.items()} | {key: value}
    return "{" + ", ".join(f"{name}: {one}" for name, one in parts.items()) + "}"


def wrong_types() -> list[tuple[str, str]]:
    """Panels with a value of a wrong kind at one key, and the key."""
    judges = [
        (f"judges: [{written(JUDGE, key, value)}]", key)
        for key, takes in TAKES.items()
        for kind, values in VALUES.items()
        if kind not in takes
        for value in values
    ]
    panels = [
        (written({"judges": [JUDGE]}, key, value), key)
        for key, takes in PANEL_KEYS.items()
        for kind, values in VALUES.items()
        if kind not in takes
        for value in values
    ]
    return judges + panels


def growing(line: str, first: str, times: int = 9) -> str:
    """Anchors each of which stands for ten of the one before."""
    names = [",".join([f"*x{number}"] * 10) for number in range(times)]
    lines = [f"x0: &x0 {first}", *(f"x{n + 1}: &x{n + 1} " + line.format(some) for n, some in enumerate(names))]
    return "\n".join([*lines, f"judges: [*x{times}]"])


ODD_STRUCTURE = [
    growing("[{}]", "[x]"),
    growing("{{<<: [{}]}}", "{k: v}"),
    growing("{{a: [{}], b: [{}]}}".replace("b: [{}]", "b: 1"), "{k: v}"),
    "judges: &j [*j]",
    "judges: [&j {params: *j}]",
    "judges: [&j {<<: *j}]",
    "judges: [*nobody]",
    "judges: [{<<: 3}]",
    "judges: [{<<: [1, 2]}]",
    "judges: [{judge: a, judge: b}]",
    "judges: []\njudges: []",
    "judges: [{judge: j, params: {a: 1, a: 2}}]",
    "? [judges]\n: []",
    "? {judges: 1}\n: []",
    "judges: [{? [a, b] : c}]",
    "judges: " + "[" * 5000 + "]" * 5000,
    "judges: " + "{a: " * 5000 + "}" * 5000,
    "judges: " + "[" * 20000,
    "- " * 5000,
    "? " * 5000,
    "judges:\n" + "-\n" * 100_000,
    "judges: [" + "{}, " * (MOST_VALUES + 1) + "]",
    "# " + "x" * LARGEST,
    "",
    "# nothing",
    "null",
    "3",
    "judges",
    "[judges]",
    "---\njudges: []\n---\njudges: []",
    "\tjudges: []",
    "judges: [",
    "judges: '",
    "judges: \x00",
    "judges: \ud800",
    "judges: !!python/object/apply:os.system [exit]",
    "judges: !!python/name:os.system",
    "judges: !!omap [a: b]",
    "judges: !!timestamp 2024-01-01",
    "judges: !!int x",
    "judges: !!float x",
    "judges: !!bool x",
    "judges: !!map []",
    "judges: !own {}",
    "%YAML 9.9\n---\njudges: []",
    "%TAG ! x\n---\njudges: !y b",
    "judges: []",
    "judges: [null]",
    "judges: [j]",
    "judges: [[]]",
    "judges: {}",
    "{}",
    "nobody: [{judge: j}]",
    "1: 2",
    "null: 2",
    "true: 2",
    ".nan: 2",
    "judges: [{1: 2}]",
    "judges: [{null: 2}]",
    "judges: [{0x" + "f" * 5000 + ": 2}]",
    "judges: [{judge: j, model: m}]",
    "judges: [{judge: j, model: p/m}]",
    "judges: [{judge: j, model: f.py:g, provider: python}]",
    "judges: [{judge: j, model: f, provider: python}]",
    "judges: [{judge: j, provider: person, batch: true}]",
]
ODD_PARAMS = [
    "{a: .nan}",
    "{a: [[.inf]]}",
    "{a: {b: -.inf}}",
    "{a: 0x" + "f" * 5000 + "}",
    '{a: "\\ud800"}',
    "{1: 2}",
    "{a: {api_key: x}}",
    "{a: [[{1: {api_key: x}}]]}",
    "{a: [[sk-0123456789abcdefghij]]}",
    "{sk-0123456789abcdefghij: 1}",
]
ODD_ADDRESSES = [
    "nowhere",
    "http://",
    "http://[",
    "http://[::1",
    "http://h:99999",
    "http://h:x",
    "http://h:0",
    "http://h:-1",
    "ftp://h",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://user:word@h",
    "http://h?key=1",
    "http://h#f",
    "//h",
    "http:h",
    "http:///v1",
]


# values of the right kind that few mean: they may be taken or refused
EXTREME = {
    "base_url": (
        "http://h h/v1",
        "http://\u00e9/v1",
        "http://h\n/v1",
        "http://" + "a" * 300,
        "http://..",
        "http://*",
    ),
    "judge": ("\0", "\x1b[31m", "x" * 100_000, " ", "../..", "\u202e", "=1+1"),
    "model": ("\0", "x" * 100_000, "/", "a/b/c", "openai/", " "),
    "provider": ("\0", "nobody", "openai/x", " "),
    "concurrent": (10**30,),
    "batch_size": (10**30,),
    "reasoning_budget": (10**300,),
    "image_tokens": (10**300,),
    "requests_per_minute": (1e-300, 1e300),
    "prompt_price": (1e308, 5e-324, 10**300),
    "completion_price": (1e308,),
    "params": (
        {"logit_bias": {"50256": -100}},
        {"messages": []},
        {"model": None},
        {"max_tokens": -1},
        {"a" * 9999: 1},
    ),
    "api_key_env": ("NOT_THERE", "A=B", "\0", " ", "x" * 100_000),
}


def odd_panels() -> list[tuple[str, str]]:
    """Texts, and what their sentence must name; empty for the line or what there is instead of a key."""
    at_params = [(f"judges: [{written(JUDGE, 'params', value)}]", "params") for value in ODD_PARAMS]
    at_address = [
        (f"judges: [{written(JUDGE, 'base_url', json.dumps(one))}]", "base_url") for one in ODD_ADDRESSES
    ]
    return wrong_types() + [(text, "") for text in ODD_STRUCTURE] + at_params + at_address


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    return path


ODD_FILES = {  # what to make in the place of a panel
    "another encoding": lambda path: path.write_bytes("judges: []".encode("utf-16")),
    "no UTF-8": lambda path: path.write_bytes("judges: [{judge: J\u00fcrgen}]".encode("latin-1")),
    "compressed": lambda path: path.write_bytes(gzip.compress(b"judges: []")),
    "a folder": lambda path: path.mkdir(),
    "itself": lambda path: path.symlink_to(path.name),
    "without end": lambda path: path.symlink_to("/dev/zero"),
    "nothing": lambda path: path.symlink_to("/dev/null"),
    "another document": lambda path: path.write_text("judges: []\n...\nmore: ["),
}


@pytest.mark.parametrize("kind", ODD_FILES)
def test_a_panel_that_is_no_file_of_settings_is_refused_in_a_sentence(tmp_path, answers, kind):
    path = tmp_path / "panel.yaml"
    ODD_FILES[kind](path)
    done = CliRunner().invoke(app, ["collect", str(answers), "--panel", str(path), "--dry-run"])
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("judgerank collect: ")]
    assert done.exit_code in (1, 2) and ("panel.yaml" in sentence or path.resolve(strict=False).name in sentence)


def test_no_odd_panel_is_a_defect_and_each_ends_in_a_sentence_with_its_key(tmp_path, answers):
    panels = odd_panels()
    assert len(panels) >= 200
    wrong = []
    for text, key in panels:
        path = tmp_path / "panel.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        begun = time.process_time()
        done = CliRunner().invoke(app, ["collect", str(answers), "--panel", str(path), "--dry-run"])
        sentence = done.stderr.strip()
        is_named = (
            key.removesuffix("s") in sentence if key else len(sentence) > len("judgerank collect: panel.yaml")
        )
        is_named |= re.search(r"line \d", sentence) is not None
        is_one = sentence.count("\n") == 0 and len(sentence) < 600
        if done.exit_code != 1 or not is_named or not is_one or time.process_time() - begun > 20:
            wrong.append((text[:120], key, done.exit_code, repr(done.exception)[:200], sentence[:400]))
    assert not wrong, f"{len(wrong)} of {len(panels)}: {wrong}"


def test_no_extreme_panel_is_a_defect(tmp_path, answers):
    wrong = []
    for key, values in EXTREME.items():
        for value in values:
            path = tmp_path / "panel.yaml"
            path.write_text(json.dumps({"judges": [{**JUDGE, key: value}]}))
            done = CliRunner().invoke(app, ["collect", str(answers), "--panel", str(path), "--dry-run"])
            if done.exit_code not in (0, 1) or (done.exit_code and done.stderr.count("\n") != 1):
                wrong.append(
                    (key, str(value)[:40], done.exit_code, repr(done.exception)[:200], done.stderr[-400:])
                )
    assert not wrong


def test_dates_are_names_and_numbers_may_be_keys_within_parameters():
    values = keys_of("{judge: 2024-05-01, model: 2024-99-99, params: {logit_bias: {50256: -100}}}", "panel")
    judge = Judge.model_validate(values)
    assert (judge.judge, judge.model) == ("2024-05-01", "2024-99-99")
    assert judge.params == {"logit_bias": {50256: -100}}


def test_bounds_of_yaml_are_where_they_say():
    assert keys_of("[" * DEEPEST + "]" * DEEPEST, "panel")
    assert len(keys_of("[" + "1, " * (MOST_VALUES - 1) + "]", "panel")) == MOST_VALUES - 1
    for text in ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "[" + "1, " * MOST_VALUES + "]"):
        with pytest.raises(ConfigError):
            keys_of(text, "panel")
    shared = keys_of("{a: &x {k: 1}, b: *x, c: {<<: *x, l: 2}}", "panel")
    assert shared == {"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1, "l": 2}}
    nested = keys_of("{b: &b {a: 1}, q: {x: &x {<<: *b, a: 2}}, y: {<<: *x}}", "panel")
    assert nested["y"] == nested["q"]["x"] == {"a": 2}


@pytest.mark.parametrize("command", [["doctor", "-"], ["rank", "-"], ["gate", "-"]])
def test_closed_standard_input_is_a_sentence(command):
    shell = f'exec "{sys.executable}" -m judgerank {" ".join(command)} <&-'
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, env=environment())
    assert done.returncode in (1, 3), done.stderr
    assert done.stderr.count("\n") == 1 and " input" in done.stderr


def test_a_person_who_is_not_there_is_not_asked(answers):
    shell = f'exec "{sys.executable}" -m judgerank collect {answers} --judge "judge: me, provider: person" <&-'
    done = subprocess.run(
        ["sh", "-c", shell], capture_output=True, text=True, env=environment(), cwd=answers.parent
    )
    assert done.returncode == 1 and "stopped" in done.stdout + done.stderr, done.stderr
