"""Output that nobody reads any more, or that cannot be written, and interruptions: none becomes a verdict."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judgerank import __main__ as entry
from judgerank.cli import terminal
from tests.tool.command import RUN, environment, judgerank

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
SHIP = "gate judgments.csv --baseline thorn --candidate oak"
BLOCKS = "gate judgments.csv --baseline oak --candidate thorn"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("output")
    assert judgerank("example", cwd=place).returncode == 0
    return place


def piped(words, rest, folder):
    """Exit code of a command whose output goes elsewhere, and what is on standard error."""
    script = f"{shlex.join(RUN)} {words} {rest}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment(), capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [SHIP, f"{SHIP} --json", f"{SHIP} 2>&1", f"{SHIP} --help"])
def test_a_reader_who_leaves_changes_no_verdict(words, folder):
    assert piped(words, "| true", folder) == (0, "")


def test_nor_does_output_that_is_closed_from_the_start(folder):
    assert piped(SHIP, ">&-", folder) == (0, "")
    assert piped(BLOCKS, "| true", folder) == (1, "")


@needs_full
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (SHIP, 3),
        (f"{SHIP} --json", 3),
        (f"{BLOCKS} --json", 3),
        ("doctor judgments.csv --json", 1),
        ("rank judgments.csv --json", 1),
        ("plan judgments.csv", 1),
        ("--version", 1),
        ("rank --help", 1),
    ],
)
def test_output_that_cannot_be_written_is_told_in_one_sentence(words, code, folder):
    found, said = piped(words, "> /dev/full", folder)
    assert found == code
    name = "" if words.startswith("--") or "--help" in words else f" {words.split()[0]}"
    lost = "standard output could not be written: No space left on device"
    assert said.splitlines()[-1] == f"judgerank{name}: {lost}"


@needs_full
def test_an_error_keeps_its_code_where_nothing_can_be_written(folder):
    said = "judgerank gate: there is no file 'none.csv'\n"
    assert piped("gate none.csv --json", "> /dev/full", folder) == (3, said)
    assert piped("doctor none.csv", "2> /dev/full", folder)[0] == 1
    assert piped(f"{SHIP} --json", "2> /dev/full > verdict.json", folder)[0] == 0
    assert json.loads((folder / "verdict.json").read_text())["verdict"] == "ship"


def test_ctrl_c_before_anything_is_loaded_ends_in_one_sentence(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "judgerank.cli", Interrupting("judgerank.cli"))
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "judgerank: interrupted before it began\n"


class Interrupting(type(sys)):
    """A module in whose loading somebody presses Ctrl-C."""

    def __getattr__(self, name):
        raise KeyboardInterrupt


@pytest.mark.parametrize(("columns", "width"), [(60, 60), (20, terminal.NARROWEST), (300, terminal.WIDTH)])
def test_lines_fit_the_terminal(columns, width, folder):
    own, its = pty.openpty()
    words = [*RUN, "gate", "judgments.csv", "--baseline", "thorn", "--candidate", "oak"]
    done = subprocess.run(words, cwd=folder, env=environment(COLUMNS=str(columns)), stdout=its)
    assert done.returncode == 0
    os.close(its)
    time.sleep(0.1)
    said = os.read(own, 100_000).decode()
    os.close(own)
    longest = max(len(re.sub(r"\x1b\[\d*m|\r", "", line)) for line in said.split("\n"))
    assert width - 20 < longest <= width
