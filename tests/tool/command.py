"""The command `judgerank` as a user runs it, out of this checkout's source, wherever it is run from."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from replication.config import ROOT

RUN = [sys.executable, "-W", "error::RuntimeWarning", "-m", "judgerank"]


def environment(**changed: str | None) -> dict[str, str]:
    """The environment with some variables set, or taken away by None; lines are not cut to a screen."""
    found = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "500", **changed}
    return {name: value for name, value in found.items() if value is not None}


def judgerank(*arguments: object, cwd: Path = ROOT, **changed: str | None) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [*RUN, *map(str, arguments)], cwd=cwd, env=environment(**changed), capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def usage_text(said: str) -> str:
    """What a command said of its command line, without the box around it."""
    return " ".join(re.sub(r"[╭╮╰╯│─]+", " ", said).split())
