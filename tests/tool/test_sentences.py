"""Input that no one means ends in one sentence, and names reach no terminal as commands to it."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgerank import read
from judgerank.cli import app
from judgerank.cli.commands import DEFECT, ending
from judgerank.cli.terminal import plain
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.listing import listed, percent, shortened
from judgerank.model.naming import named
from judgerank.reading.layouts import MOST_COLUMNS

NAMES = ["m0", "m1", "m2"]
PAIRS = [(NAMES[i % 3], NAMES[(i + 1 + i // 3 % 2) % 3]) for i in range(60)]
RECORDS = [
    {"model_a": a, "model_b": b, "winner": "model_a" if (a < b) != (place % 4 == 0) else "model_b"}
    for place, (a, b) in enumerate(PAIRS)
]


def ended(*words: str) -> tuple[int, str]:
    """The command's exit code and all that it printed."""
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.output


@pytest.mark.parametrize("command", ["doctor", "rank"])
def test_half_a_character_is_named_by_its_record(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(json.dumps(RECORDS).replace('"m2"', '"m\\ud800"'))
    code, said = ended(command, "m.json")
    assert code == 1
    assert "record 3 has half a character (a lone surrogate) as 'model_a'" in said
    assert said.count("\n") < 4
    with pytest.raises(DataError, match="half a character"):
        read(Path("m.json"))


def test_more_columns_than_judgments_have_are_refused_fast_and_not_listed(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"c{number}" for number in range(50 * MOST_COLUMNS)]
    path.write_text(f"{','.join(names)}\n{','.join('1' * len(names))}\n")
    code, said = ended("doctor", str(path))
    assert code == 1
    assert f"and {len(names) - 8:,} more" in said
    assert len(said) < 1000


def test_a_file_whose_name_is_no_text_is_ranked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"b\xff.json")
    try:
        Path(name).write_text(json.dumps(RECORDS))
    except OSError:
        pytest.skip("this file system takes no such name")
    assert ended("doctor", name)[0] == 0
    code, said = ended("rank", name, "--model", "btl", "-o", "out")
    assert code == 0, said
    assert Path("out/index.html").is_file()


def test_no_name_moves_a_cursor(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.json").write_text(json.dumps(RECORDS).replace('"m1"', '"\\u001b[31mred\\u001b[2J\\u0007\\u202e"'))
    for command in (["doctor"], ["rank", "--model", "btl", "-o", "out"]):
        code, said = ended(*command, "m.json")
        assert code == 0, said
        assert not set("\x1b\x07\u202e") & set(said)
    assert r"\x1b[31mred" in said


def test_what_a_terminal_would_obey_is_escaped_and_what_it_shows_is_not():
    assert plain("a\tb\nc é 漢 -") == "a\tb\nc é 漢 -"
    assert plain("\x9b1m\u200b\ud800") == r"\x9b1m\u200b\ud800"
    assert len(plain("x" * 10_000_000)) < 200


def test_names_in_a_sentence_are_few_and_short():
    assert listed(["a", "b"]) == "a, b"
    assert listed(map(str, range(10))).endswith("7 and 2 more")
    assert len(shortened("y" * 1000)) == 80
    assert shortened("vendor/model-2025-09-22-instruct-alpha", 20) == "vendor/mode...-alpha"
    assert [percent(share) for share in (0.0056, 0.0956, 0.5)] == ["0.56%", "9.6%", "50%"]


def test_a_file_of_a_block_that_fails_is_named(tmp_path):
    evil = tmp_path / "evil.py"
    evil.write_text("raise RuntimeError('boom')\n")
    with pytest.raises(ConfigError, match=r"evil\.py ends in RuntimeError: boom"):
        named(str(evil))
    evil.write_text("def block():\n    return 1 / 0\n")
    with pytest.raises(ConfigError, match="ends in ZeroDivisionError"):
        named(str(evil))


def test_a_defect_of_ours_says_so_and_too_little_memory_does_too():
    try:
        [].pop()
    except IndexError as error:
        said, code = ending(error)
    assert code == DEFECT
    assert "defect of judgerank" in said
    assert ending(MemoryError()) == (
        "there is not enough memory for this (fewer files at once, or a machine with more)",
        1,
    )
