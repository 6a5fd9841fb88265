"""The record of a run beside its tables, run.json: what it takes to run it again, and what it was made by.

A run that gives the same results again leaves the record of the run that made them, so that repeating everything
changes no file: commits, times and processors would differ each time.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from judgerank.data.judgments import Judgments
from judgerank.writing.atomic import staged, versions
from judgerank.writing.sidecars import content_of, digest
from replication.freshness import inputs_of, made_by, settings_of
from replication.machine import committed, machine
from replication.sources import texts_in
from replication.tables import Replications, Table

log = logging.getLogger("replication")
VERSIONED = ("judgerank", "numpy", "scipy", "pandas", "matplotlib", "hydra-core", "joblib", "datasets")
RECORD = "run.json"
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
    is the machine's; packages are those of the lock file. The code may differ: `freshness.stamp` notes that.
    """
    if _of_results(earlier) != _of_results(now):
        return False
    tells_as_much = all(earlier.get(part, {}).keys() == now.get(part, {}).keys() for part in OF_THE_RUN)
    clean = (bool(record.get("machine", {}).get("clean")) for record in (earlier, now))
    return tells_as_much and next(clean) >= next(clean)


def _of_results(record: dict[str, Any]) -> dict[str, Any]:
    packages = {name: version for name, version in record.get("versions", {}).items() if name != "python"}
    return {key: value for key, value in record.items() if key not in (*OF_THE_RUN, "digest")} | {
        "versions": packages
    }


def record_digest(record: dict[str, Any]) -> str:
    """Digest of all that a record says, so that commit, times and processor are not edited unnoticed."""
    content = {key: value for key, value in record.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
