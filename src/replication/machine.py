"""What a run was made by: the code's commit, the processor, the kernels of its libraries, and the time taken."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

try:
    import resource
except ImportError:  # Windows
    resource = None

CODE = (
    "src",
    "experiments",
    "conf",
    "pyproject.toml",
    "requirements.lock",
    "requirements-study.lock",
)  # what a result can depend on


def machine(root: Path, start: float) -> dict:
    """What may differ between two runs with the same results.

    Parameters
    ----------
    root : Path
        Of the project.
    start : float
        When the run began, by `time.monotonic`.
    """
    return {
        **commit(root),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "peak_memory_mb": peak_memory_mb(),
        "cpu": processor(),
        "simd": np.show_config(mode="dicts")["SIMD Extensions"].get("found", []),
        "blas": kernels(),
        "seconds": round(time.monotonic() - start, 1),
        "processor_seconds": round(processor_seconds(), 1),
    }


def peak_memory_mb() -> float | None:
    """Megabytes of this process or of the largest that it waited for; None where nothing tells."""
    if resource is None:
        return None
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(max(peaks) / (1e6 if sys.platform == "darwin" else 1e3), 1)


_counted = [0.0]  # what earlier records of this process have


def processor_seconds() -> float:
    """Seconds of the processor since the last call, or since this process began, its start included.

    Those of its workers are among them: of all that have ended and, where the system tells (Linux), of those
    that wait for more work.
    """
    used = total_processor_seconds()
    spent, _counted[0] = used - _counted[0], used
    return max(spent, 0.0)


def total_processor_seconds() -> float:
    """Seconds of the processor since this process began, its workers' among them."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system + sum(map(_used, _children()))


def _children() -> Iterator[list[str]]:
    """What /proc tells of the processes that this one began and that still run, from the state on."""
    for path in Path("/proc").glob("[0-9]*"):  # not what is in it: that may be gone before it is looked at
        try:
            stat_fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # ended since
            continue
        if int(stat_fields[1]) == os.getpid():
            yield stat_fields


def _used(stat_fields: list[str]) -> float:
    """Seconds of one process and of those it waited for."""
    return sum(map(int, stat_fields[11:15])) / os.sysconf("SC_CLK_TCK")


def commit(root: Path) -> dict[str, str | bool | None]:
    """The code's commit and whether the code is as committed; null where `root` is not a git repository's top.

    Results and figures do not count: a run itself rewrites them.
    """
    unknown = {"commit": None, "clean": None}
    top = _git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != root.resolve():  # installed into some other project's environment
        return unknown
    head, changes = _git(root, "rev-parse", "HEAD"), _git(root, "status", "--porcelain", "--", *CODE)
    return unknown if head is None or changes is None else {"commit": head, "clean": not changes}


def committed(root: Path, path: Path) -> dict[str, Any]:
    """The content of a JSON file as of the last commit; empty if the commit has none."""
    if not path.is_relative_to(root):
        return {}
    text = _git(root, "show", f"HEAD:{path.relative_to(root).as_posix()}")
    return json.loads(text) if text else {}


def commit_date(root: Path, name: str) -> str | None:
    """When a commit was made, in UTC; None if the project's history does not have it."""
    seconds = _git(root, "show", "--no-patch", "--format=%ct", name)
    return datetime.fromtimestamp(int(seconds), UTC).isoformat() if seconds else None


def has_commit(root: Path, name: str) -> bool | None:
    """Whether the project's history has a commit; None where `root` has no history, or not all of it."""
    if not re.fullmatch(r"[0-9a-f]{7,64}", name):
        return False
    if commit(root)["commit"] is None or _git(root, "rev-parse", "--is-shallow-repository") != "false":
        return None
    return _git(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") is not None


def differs_from_commit(root: Path, name: str) -> bool:
    """Whether the code is another one now than that of a commit."""
    return _git(root, "diff", "--quiet", name, "--", *CODE) is None


def _git(root: Path, *command: str) -> str | None:
    try:
        done = subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def processor() -> str:
    """The processor's model, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def kernels() -> list[str]:
    """The BLAS libraries in use, each with its version and the kernel it chose for this processor."""
    libraries = (info for info in threadpool_info() if info["user_api"] == "blas")
    return sorted({f"{info['internal_api']} {info['version']} {info.get('architecture')}" for info in libraries})
