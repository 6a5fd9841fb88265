"""Whether the record of a run can be true: its own digest, its commit, and what the run took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replication.machine import has_commit
from replication.records import record_digest
from replication.verifying import Difference

FASTER = 10  # times, by which another machine may be
SMALLER = 2  # times, of a process that has only loaded the libraries


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
