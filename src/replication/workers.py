"""Workers elsewhere: whether they compute by the code and packages of the process that keeps their results."""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from threading import Event, Thread
from typing import Any

from judgerank.data.errors import ConfigError
from replication.errors import ClusterError
from replication.sources import changed_since_loaded, code_files

NUMERIC = ("numpy", "scipy", "pandas")
WATCHED = 2.0  # seconds between looks at the workers
WITHOUT_WORKERS = 60.0  # seconds that a run waits for the first worker to come back
SHOWN = 3  # files that differ, of as many as there are


@dataclass(frozen=True)
class Basis:
    """What a process computes by.

    Attributes
    ----------
    process : str
        Which it is: a worker's address in a cluster, else host and number.
    modules : tuple of str
        The task's module and others that it needs.
    code : dict of str to str
        Digests of the files behind these, by their places in the packages.
    versions : dict of str to str
        Of the packages that compute.
    """

    process: str
    modules: tuple[str, ...]
    code: dict[str, str]
    versions: dict[str, str]

    @classmethod
    def of(cls, *modules: str) -> Basis:
        """That of this process."""
        return cls(_process(), modules, code_files(*modules), {name: version(name) for name in NUMERIC})


@dataclass(frozen=True)
class Refusal:
    """Why a worker does not compute: its basis is another one, or its files are newer than what it loaded."""

    basis: Basis
    newer: tuple[str, ...]

    def error(self, expected: Basis) -> ClusterError:
        """One sentence on the worker and what differs."""
        files = sorted({name for name, _ in expected.code.items() ^ self.basis.code.items()} | {*self.newer})
        names = ", ".join(files[:SHOWN]) + (f" and {len(files) - SHOWN} more" if len(files) > SHOWN else "")
        reasons = [f"other code ({names})"] if files else []
        reasons += [
            f"{name} {self.basis.versions[name]} instead of {version}"
            for name, version in expected.versions.items()
            if self.basis.versions[name] != version
        ]
        return ClusterError(
            f"the worker {self.basis.process} has {', '.join(reasons)}: nothing of it was kept; give it the code "
            "and packages of this process and start it again"
        )


def refusal(expected: Basis) -> Refusal | None:
    """Why this process must not compute for the one that expects some basis; None if it may."""
    if expected.process == _process():
        return None
    basis, newer = _loaded(*expected.modules)
    is_same = (basis.code, basis.versions) == (expected.code, expected.versions)
    return None if is_same and not newer else Refusal(basis, newer)


@cache
def _loaded(*modules: str) -> tuple[Basis, tuple[str, ...]]:
    """What this process loaded, which files that change later do not change; and files that had changed by now."""
    return Basis.of(*modules), tuple(changed_since_loaded(*modules))


@contextmanager
def client_of(options: Mapping[str, Any]) -> Iterator[Any]:
    """A client of a dask cluster, which is closed when no worker is left to wait for.

    Raises
    ------
    ConfigError
        If dask is not installed.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("the dask backend needs the optional extra 'cluster'") from None
    with _quiet("distributed"), Client(**options) as client:
        ended = Event()
        watch = Thread(target=_close_without_workers, args=(client, ended), daemon=True)
        watch.start()
        try:
            yield client
        finally:
            ended.set()
            watch.join()


def lost(options: Mapping[str, Any], error: BaseException) -> ClusterError:
    """One sentence on a cluster that an error says is lost."""
    first = str(error).strip().partition("\n")[0].rstrip(" .:")
    where = options.get("address", "on this machine")
    return ClusterError(
        f"the cluster {where} was lost, or has no workers ({type(error).__name__}: {first}); finished blocks are "
        "kept: start scheduler and workers and run this again"
    )


def _close_without_workers(client: Any, ended: Event) -> None:
    """Close a client once its scheduler has had no workers for a while, so that what waits for them ends."""
    last = time.monotonic()
    while not ended.wait(WATCHED):
        try:
            if client.ncores():
                last = time.monotonic()
        except Exception:  # the scheduler is lost, which ends the run by itself
            return
        if time.monotonic() - last > WITHOUT_WORKERS:
            client.close(timeout=WATCHED)
            return


@contextmanager
def _quiet(package: str) -> Iterator[None]:
    """Leave out what a package logs of its errors, which are raised, too; its loggers have levels of their own."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == package]
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was_disabled in zip(loggers, before, strict=True):
            logger.disabled = was_disabled


@cache
def _process() -> str:
    if "distributed" in sys.modules:
        from distributed import get_worker

        try:
            return str(get_worker().address)
        except ValueError:  # the client, or a process of another kind
            pass
    return f"{socket.gethostname()}, process {os.getpid()}"
