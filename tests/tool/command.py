"""The command `judgerank` as a user runs it, out of this checkout's source, wherever it is run from."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from replication.config import ROOT
from tests.forked import PYTHON, run, run_anew

RUN = [*PYTHON, "-m", "judgerank"]


def environment(**changed: str | None) -> dict[str, str]:
    """The environment with some variables set, or taken away by None; lines are not cut to a screen."""
    found = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "500", **changed}
    return {name: value for name, value in found.items() if value is not None}


def judgerank(
    *arguments: object, cwd: Path = ROOT, anew: bool = False, **changed: str | None
) -> subprocess.CompletedProcess:
    """Run it to its end; `anew` in a process that has to load its libraries itself."""
    program = run_anew if anew else run
    done = program(["-m", "judgerank", *map(str, arguments)], cwd, environment(**changed))
    assert "Traceback" not in done.stderr, done.stderr
    return done


def usage_text(said: str) -> str:
    """What a command said of its command line, without the box around it."""
    return " ".join(re.sub(r"[╭╮╰╯│─]+", " ", said).split())
