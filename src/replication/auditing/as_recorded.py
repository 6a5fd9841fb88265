"""Stored results held against the records of the runs that made them, before anything is told of them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

from hydra import compose

from replication.config import sets_of
from replication.errors import NotAsStoredError
from replication.records import RECORD, provenance
from replication.verifying import Difference, unlike_listed, unlike_settings

log = logging.getLogger("replication")


def require_as_recorded(folder: Path, any_settings: bool = False) -> None:
    """Refuse results that their runs did not write, or that were made with other settings than those of conf/.

    Parameters
    ----------
    folder : Path
        With a folder for each section.
    any_settings : bool
        Whether settings may be others.

    Raises
    ------
    NotAsStoredError
        If a file is not the one that its run wrote, or a setting is another one.
    """
    for record in records(folder):
        found = unlike_listed(record.parent, RECORD)
        again = "restore it, or run the section again"
        if not found and not any_settings:
            found, again = other_settings(record), "run the section again (or `make audit ARGS=accept_falls=true`)"
        for difference in found:
            log.info("%s: %s", record.parent.relative_to(folder), difference)
        if found:
            one, more = found[0], f", and {len(found) - 1} more" if len(found) > 1 else ""
            raise NotAsStoredError(
                f"{record.parent.relative_to(folder)}: {one.column} is {one.stored}, and should be "
                f"{one.recomputed}{more}: nothing was written; {again}"
            )


def records(folder: Path) -> Iterator[Path]:
    """Records of the runs that are told of."""
    yield from sorted(folder.rglob(RECORD))


def other_settings(record: Path) -> list[Difference]:
    """What a run was told that conf/ does not say."""
    run = json.loads(record.read_text())
    section, name = run["section"], record.parent.name
    job = [f"dataset={name}"] if name in sets_of(section) else []
    return unlike_settings(run, provenance(section, compose(section, job), {}, ""), "section", "config")
