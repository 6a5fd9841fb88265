"""The record of a run beside its tables, run.json: what it takes to run it again, and what it was made by.

A run that gives the same results again leaves the record of the run that made them, so that repeating everything
changes no file: commits, times and processors would differ each time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from shutil import copy2
from typing import Any

from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from judgerank.writing.atomic import staged, versions
from judgerank.writing.sidecars import content_of, digest
from replication.differences import Difference
from replication.freshness import RECORD, inputs_of, made_by, settings_of
from replication.machine import CODE, committed, differs_from_commit, has_commit, machine
from replication.sources import CACHE, texts_in
from replication.tables import Replications, Table

log = logging.getLogger("replication")
VERSIONED = ("judgerank", "numpy", "scipy", "pandas", "matplotlib", "hydra-core", "joblib", "datasets")
OF_THE_RUN = ("machine", "made_by")  # parts in which runs with the same results may differ


def provenance(section: str, cfg: DictConfig, data: dict[str, Judgments], kind: str) -> dict[str, Any]:
    """What it takes to run this again: data, configuration and versions; and digests of what makes the tables."""
    config = settings_of(cfg)
    inputs = inputs_of(texts_in(config))
    return {
        "section": section,
        "surrogate": bool(kind),
        "data": {name: judgments.source for name, judgments in data.items()},
        "inputs": inputs,
        "config": config,
        "made_by": made_by(section, config, inputs, "tables"),
        "versions": versions(VERSIONED),
    }


def store(
    target: Path, tables: Mapping[str, Table | Replications], record: dict[str, Any], root: Path, start: float
) -> None:
    """Write tables and the record of their run into a folder, all or nothing.

    Parameters
    ----------
    target : Path
    tables : mapping of str to Table or Replications
        By the names of their files.
    record : dict
        As of `provenance`.
    root : Path
        Of the project.
    start : float
        When the run began, by `time.monotonic`.
    """
    captions = {
        name: {"caption": table.caption, "digits": table.digits}
        for name, table in tables.items()
        if isinstance(table, Table)
    }
    with staged(target) as folder:
        for name, table in tables.items():
            table.write(folder, name)
        write_record(folder, target, record | {"tables": captions}, root, start)


def write_record(folder: Path, target: Path, fields: dict[str, Any], root: Path, start: float) -> None:
    """Write the record of a run beside its files; that of an earlier run with the same results, if there is one.

    The earlier one is looked for in the folder, and where that is empty in the last commit.

    Parameters
    ----------
    folder : Path
        The staging folder, with all other files.
    target : Path
        The folder that they go to, which may have the earlier record.
    fields : dict
        As of `provenance`.
    root : Path
        Of the project.
    start : float
        When the run began, by `time.monotonic`.
    """
    now = json.loads(json.dumps(fields | {"machine": machine(root, start)}))
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    now["files"] = {path.relative_to(folder).as_posix(): digest(path) for path in files}
    now["digest"] = record_digest(now)
    earlier = content_of(target / RECORD) or committed(root, target / RECORD)
    if earlier.get("digest") == record_digest(earlier) and is_same(earlier, now):
        made, again = earlier["machine"], now["machine"]
        message = "the same results as stored: the record of commit %s stays (%s s then, %s s now)"
        log.info(message, (made["commit"] or "unknown")[:7], made["seconds"], again["seconds"])
        now = earlier
    (folder / RECORD).write_text(json.dumps(now, indent=2) + "\n")


def is_same(earlier: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether two records are of the same results, by the same packages, and the earlier one tells as much.

    A record of code that was not committed does not stay where that of a commit can take its place. Python itself
    is the machine's; packages are those of the lock file. The code may differ, and our own version with it:
    `freshness.stamp` notes that.
    """
    if _of_results(earlier) != _of_results(now):
        return False
    tells_as_much = all(earlier.get(part, {}).keys() == now.get(part, {}).keys() for part in OF_THE_RUN)
    clean = (bool(record.get("machine", {}).get("clean")) for record in (earlier, now))
    return tells_as_much and next(clean) >= next(clean)


def _of_results(record: dict[str, Any]) -> dict[str, Any]:
    others = ("python", "judgerank")
    packages = {name: version for name, version in record.get("versions", {}).items() if name not in others}
    return {key: value for key, value in record.items() if key not in (*OF_THE_RUN, "digest")} | {
        "versions": packages
    }


def record_digest(record: dict[str, Any]) -> str:
    """Digest of all that a record says, so that commit, times and processor are not edited unnoticed."""
    content = {key: value for key, value in record.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# Whether the record of a run can be true: its own digest, its commit, and what the run took.


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
