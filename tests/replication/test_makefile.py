"""The Makefile: its help names what it can do, and it runs in an environment that is given to it."""

import re
import shutil
import subprocess

import pytest

from replication.config import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
PARTS = ["The paper", "Beyond the paper", "The tool", "Tests and documentation", "Installation"]


def make(*arguments: str, folder=ROOT) -> subprocess.CompletedProcess:
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def listed(variable: str) -> set[str]:
    """What a variable or `.PHONY` of the Makefile lists, without other variables."""
    text = re.search(rf"^{re.escape(variable)}\s*:=?(.*)$", MAKEFILE.replace("\\\n", " "), re.MULTILINE)[1]
    return {name for name in text.split() if "$" not in name}


def test_help_has_every_command_in_its_part():
    shown = make("help").stdout
    assert [line for line in shown.splitlines() if re.match(r"\w", line) and "BIN=" not in line] == PARTS
    named = re.findall(r"^  make ([\w-]+)", shown, re.MULTILINE)
    assert len(named) == len(set(named))
    sections = listed("PAPER") | listed("BEYOND")
    assert sections and "  make <section>" in shown
    assert set(named) - sections == listed(".PHONY") - {"help"}


@pytest.fixture
def copy(tmp_path):
    """What make looks at, in a folder where nothing is installed."""
    for name in ("Makefile", "requirements.lock", "requirements-study.lock", "pyproject.toml", "experiments"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    return tmp_path


COMMANDS = ["reproduce", "beyond", "chatbot_arena", "smoke", "verify", "tables", "test", "rank"]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_environment_that_is_given_is_used_and_nothing_is_installed(copy, command):
    (copy / "env/bin").mkdir(parents=True)
    (copy / "env/bin/python").symlink_to(shutil.which("true"))
    planned = make("--dry-run", command, folder=copy).stdout
    assert "-m venv .venv" in planned and ".venv/bin/" in planned
    planned = make("--dry-run", command, f"BIN={copy}/env/bin", folder=copy).stdout
    assert f"{copy}/env/bin/" in planned
    assert not re.search(r"(?<!\S)[.]venv|-m venv|pip install", planned)


def test_the_environment_that_is_given_runs_a_section_and_the_audit(copy):
    (copy / "env/bin").mkdir(parents=True)
    (copy / "env/bin/python").symlink_to(shutil.which("echo"))
    done = make("chatbot_arena", "audit", f"BIN={copy}/env/bin", "ARGS=level=0.9", folder=copy)
    ran = ["chatbot_arena.py level=0.9", "audit.py level=0.9", "beyond/pages.py"]
    assert [line for line in done.stdout.splitlines() if line.startswith("experiments/")] == [
        f"experiments/{script}" for script in ran
    ]
    assert not (copy / ".venv").exists()


def test_an_environment_that_is_not_there_ends_in_one_sentence(copy):
    done = make("chatbot_arena", "BIN=/nowhere/bin", folder=copy)
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == "BIN=/nowhere/bin: no program named python in this folder"
    assert sorted(path.name for path in copy.iterdir()) == sorted(
        ["Makefile", "requirements.lock", "requirements-study.lock", "pyproject.toml", "experiments"]
    )
