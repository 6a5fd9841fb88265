"""Whether the record of a run can be true: its own digest, its commit, and what the run took."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from shutil import copy2
from typing import Any

from replication.machine import CODE, differs_from_commit, has_commit
from replication.records import record_digest
from replication.sources import CACHE
from replication.table_differences import Difference

FASTER = 10  # times, by which another machine may be
SMALLER = 2  # times, of a process that has only loaded the libraries
# run by the code of a commit: its digest of what computes a section's tables, with the set chosen
DIGEST = """
import sys
import studies.config
from hydra import compose, initialize_config_dir
from replication.config import CONF
from replication.records import provenance
section, *job = sys.argv[1:]
with initialize_config_dir(CONF, version_base="1.3"):
    print(provenance(section, compose(section, job), {}, "")["made_by"]["code"])
"""


@dataclass(frozen=True)
class Cost:
    """What a recomputation took: seconds by the clock and of the processor, and megabytes before it began."""

    seconds: float
    processor_seconds: float
    start_memory_mb: float | None


def unlike_record(record: dict[str, Any], root: Path) -> Iterator[Difference]:
    """What in a record was edited, or names a commit that the project's history does not have.

    Parameters
    ----------
    record : dict
        As in ``run.json``.
    root : Path
        Of the project. Where it is not a git repository, or one without its history, commits are not looked up.
    """
    stated, digest = record.get("digest", "nothing"), record_digest(record)
    if stated != digest:
        yield Difference("run.json", "", "digest", stated[:12], digest[:12])
    commit = record.get("machine", {}).get("commit")
    if commit is not None and has_commit(root, commit) is False:
        yield Difference("run.json", "", "machine.commit", commit, "a commit in the project's history")


def unlike_code(
    record: dict[str, Any], root: Path, job: Sequence[str], code_now: str | None
) -> Iterator[Difference]:
    """The digest of the code in a record, if its commit has other code.

    Parameters
    ----------
    record : dict
        As in ``run.json``. One of code that was not committed is believed.
    root : Path
        Of the project.
    job : sequence of str
        The override that chooses the section's set, if there is one.
    code_now : str or None
        The digest of the section's code as it is now.
    """
    machine, stated = record.get("machine", {}), record.get("made_by", {}).get("code")
    commit = machine.get("commit")
    if commit is None or not machine.get("clean") or stated is None or not has_commit(root, commit):
        return
    is_other = differs_from_commit(root, commit)
    code = code_at(root, commit, record["section"], job) if is_other else code_now
    if code != stated:
        yield Difference("run.json", "", "made_by.code", stated, f"{code or 'none'}, by commit {commit[:7]}")


def code_at(root: Path, commit: str, section: str, job: Sequence[str]) -> str:
    """The digest that the code of a commit gives of what computes a section's tables; empty if it gives none."""
    packed = subprocess.run(["git", "archive", commit, *CODE], cwd=root, capture_output=True)
    with tempfile.TemporaryDirectory(prefix="judgerank-verify-") as name, suppress(tarfile.TarError):
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
            archive.extractall(name, filter="data")
        cache = Path(name, CACHE.name)
        cache.mkdir(exist_ok=True)
        with suppress(OSError):  # modules that have not changed since need not be read again
            copy2(CACHE / "syntax.json", cache)
        environment = os.environ | {"PYTHONPATH": str(Path(name, "src"))}
        command = [sys.executable, "-c", DIGEST, section, *job]
        done = subprocess.run(command, cwd=name, env=environment, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""
    return ""


def unlike_cost(record: dict[str, Any], cost: Cost) -> Iterator[Difference]:
    """Times and memory in a record that no machine can have needed so little of.

    Parameters
    ----------
    record : dict
        As in ``run.json``.
    cost : Cost
        Of the whole recomputation.
    """
    machine = record.get("machine", {})
    # by the clock a loaded machine takes long, by the processor one with many workers
    least = {
        "seconds": min(cost.seconds, cost.processor_seconds) / FASTER,
        "processor_seconds": cost.processor_seconds / FASTER,
        "peak_memory_mb": (cost.start_memory_mb or 0.0) / SMALLER,
    }
    for name, bound in least.items():
        stated = machine.get(name)
        if stated is not None and stated < round(bound, 1):
            yield Difference("run.json", "", f"machine.{name}", stated, f"at least {bound:.2g}")
