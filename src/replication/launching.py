"""A section's script in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from replication.config import ROOT, script_of


def launched(section: str, *overrides: str, environment: Mapping[str, str] = os.environ) -> str:
    """Run a section to its end.

    Parameters
    ----------
    section : str
        The name of its script.
    *overrides : str
        Of its configuration, as on the command line.
    environment : mapping, optional
        The variables it sees; by default our own.

    Returns
    -------
    str
        Empty if it ended well, else the last line it said.
    """
    command = [sys.executable, str(script_of(section)), *overrides]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
