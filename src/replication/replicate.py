"""Many replications: keyed seeds, joblib, checkpoints, progress.

A study is a task (a function of one cell, a generator and what all cells share) over cells. A cell is a frozen
record of everything that a replication depends on, and so is what a task returns: both travel as they are from the
section to the workers.

Replications run in blocks; each finished block becomes one file, written whole with a checksum and named by
everything that determines its content, the code behind the task among it. So a killed study loses the blocks in
flight and nothing else, a finished one has nothing to do, a damaged block is computed again, and neither the
number of workers nor their order can change a byte.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import socket
import sys
import time
import warnings
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pandas as pd
from joblib import delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from judgerank.data.arrays import generator
from judgerank.data.errors import ConfigError, DataError, JudgerankError
from replication.cache_files import read_block, write_block
from replication.errors import ClusterError
from replication.sources import SOURCES, changed_since_loaded, code_digest, code_files, named_modules

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from replication.schemas.section import Parallel  # loads hydra, which workers can do without

log = logging.getLogger("replication")
BACKENDS = ("loky", "sequential", "dask")
Cell = Any  # a frozen dataclass, or a dictionary of plain values
Record = dict[str, Any]
Task = Callable[..., Any]


@dataclass(frozen=True)
class Study:
    """Replications of a task over cells.

    Attributes
    ----------
    name : str
        The section; part of every seed.
    task : callable
        From a cell, a numpy Generator and, if there is one, the shared object to a record (a dataclass or a
        dictionary) of numbers, strings and further records. A function of a module, so that workers can import it.
    cells : dict
        Cells by name; the name is part of the cell's seeds. Fields that do not count where two cells are compared
        (``compare=False``), such as a title, do not determine its results.
    replications : dict of str to int
        How many replications of each cell.
    seed : int
    folder : Path
        Where finished blocks are kept.
    block : int
        Replications in a block.
    shared : object, optional
        What every replication works on, such as a data set.
    by_block : bool
        Whether the task takes the generators of a block at once, and returns a list of as many records: data sets
        that are fitted together. No record may depend on which others are in its block.
    """

    name: str
    task: Task
    cells: dict[str, Cell]
    replications: dict[str, int]
    seed: int
    folder: Path
    block: int = 25
    shared: Any = None
    by_block: bool = False

    def run(self, parallel: Parallel) -> int:
        """Compute the blocks that are missing and return how many replications that took."""
        missing = [job for job in self._jobs() if not self._is_complete(*job)]
        total = sum(stop - start for _, start, stop in missing)
        if not missing:
            log.info("%s: every replication was computed before", self.name)
            return 0
        basis = {cell: Basis.of(*self._modules(cell)) for cell in {cell: None for cell, *_ in missing}}
        jobs = (
            delayed(_run_block)(
                basis[cell],
                self.task,
                self.by_block,
                self.name,
                cell,
                self.cells[cell],
                self.seed,
                start,
                stop,
                self.shared,
            )
            for cell, start, stop in missing
        )
        with (
            _quiet_about_cancelled_jobs(),
            closing(_computed(jobs, parallel)) as computed,
            tqdm(total=total, desc=self.name, unit="rep", smoothing=0.05) as progress,
        ):
            for cell, start, stop, lines in computed:
                if isinstance(lines, Refusal):
                    raise lines.error(basis[cell])
                write_block(self._path(cell, start, stop), lines)
                progress.update(stop - start)
        for folder in {self._path(*job).parent for job in missing}:
            for left in folder.glob("*.partial"):  # by a run that was killed
                left.unlink(missing_ok=True)
        log.info("%s: %d replications computed", self.name, total)
        return total

    def records(self, cell: str) -> Iterator[Record]:
        """The cell's records in the order of their replications, failures among them.

        Raises
        ------
        DataError
            If a block was damaged since the study ran.
        """
        for job in self._jobs(cell):
            records = read_block(self._path(*job))
            if records is None:
                raise DataError(f"{self._path(*job)} was damaged while it was in use; run this again")
            yield from records

    def frame(self, cell: str) -> pd.DataFrame:
        """The cell's records as a table, a row a replication; records within records have columns ``outer/inner``.

        The columns ``status`` and ``failure``, the reason why a replication has no result, are always there.
        """
        frame = pd.json_normalize(list(self.records(cell)), sep="/")
        return frame.assign(**{name: None for name in ("status", "failure") if name not in frame})

    def _is_complete(self, cell: str, start: int, stop: int) -> bool:
        path = self._path(cell, start, stop)
        if not path.exists():
            return False
        is_complete = read_block(path) is not None
        if not is_complete:
            log.info("%s: %s is damaged, and is computed again", self.name, path)
        return is_complete

    @cached_property
    def _shared_digest(self) -> str:
        return joblib.hash(self.shared)

    def _jobs(self, only: str | None = None) -> list[tuple[str, int, int]]:
        return [
            (cell, start, min(start + self.block, n_replications))
            for cell, n_replications in self.replications.items()
            if only in (None, cell)
            for start in range(0, n_replications, self.block)
        ]

    def _path(self, cell: str, start: int, stop: int) -> Path:
        task = f"{self.task.__module__}.{self.task.__qualname__}"
        plain, code = self._plain(cell), code_digest(*self._modules(cell))
        determined_by = [self.name, task, plain, self.seed, code, self._shared_digest]
        key = hashlib.sha256(json.dumps(determined_by, sort_keys=True).encode()).hexdigest()[:16]
        return self.folder / self.name / f"{cell}-{key}" / f"{start:06d}-{stop:06d}.jsonl"

    def _plain(self, cell: str) -> Any:
        return json.loads(json.dumps(self.cells[cell], default=_compared))

    def _modules(self, cell: str) -> list[str]:
        """Modules whose code determines the cell's results, with all that they import."""
        return [__name__, self.task.__module__, *sorted(named_modules(self._plain(cell)))]


def studied(
    cfg: DictConfig, name: str, task: Task, cells: dict[str, Cell], replications: int | dict[str, int], shared=None
) -> Study:
    """A study as it is configured, every replication computed; see `Study`."""
    repeats = dict.fromkeys(cells, replications) if isinstance(replications, int) else replications
    study = Study(name, task, cells, repeats, cfg.seed, Path(SOURCES.parent, cfg.cache), cfg.block, shared)
    study.run(cfg.parallel)
    return study


def simulated(
    cfg: DictConfig, name: str, task: Task, cells: dict[str, Cell], replications: int | dict[str, int]
) -> dict[str, pd.DataFrame]:
    """The records of every cell; cells may have names that no folder should have."""
    keys = {cell: cell.replace(" ", "-").replace(",", "") for cell in cells}
    repeats = dict.fromkeys(cells, replications) if isinstance(replications, int) else replications
    by_key = {keys[cell]: settings for cell, settings in cells.items()}
    study = studied(
        cfg, name, task, by_key, {keys[cell]: n_replications for cell, n_replications in repeats.items()}
    )
    return {cell: pd.DataFrame(study.records(key)) for cell, key in keys.items()}


def _compared(record: Any) -> dict[str, Any]:
    """A record's type with the fields that tell it from others."""
    return {type(record).__name__: {f.name: getattr(record, f.name) for f in fields(record) if f.compare}}


def _without_none(items: Iterable[tuple[str, Any]]) -> Record:
    return {name: value for name, value in items if value is not None}


def _run_block(
    basis: Basis,
    task: Task,
    by_block: bool,
    study: str,
    name: str,
    cell: Cell,
    seed: int,
    start: int,
    stop: int,
    shared: Any,
) -> tuple[str, int, int, str | Refusal]:
    """Records of replications start to stop, as JSON lines without the fields that are None.

    A process with another basis than that of the one which asked refuses: its records would be kept as those of
    the code and packages that it does not have.
    """
    refused = refusal(basis)
    if refused is not None:
        return name, start, stop, refused
    shared_arguments = () if shared is None else (shared,)
    numbers = range(start, stop)
    with threadpool_limits(1):  # so that sums are the same however many workers share the machine
        generators = [generator(seed, study, name, number) for number in numbers]
        if by_block:
            records = map(_plain, task(cell, generators, *shared_arguments))
        else:
            records = (_record(task, cell, rng, *shared_arguments) for rng in generators)
        lines = [
            json.dumps({"replication": number, **record}) for number, record in zip(numbers, records, strict=True)
        ]
    return name, start, stop, "".join(line + "\n" for line in lines)


def _record(task: Task, cell: Cell, rng: np.random.Generator, *shared_arguments: Any) -> Record:
    """The record of one replication, or why it has none."""
    try:
        return _plain(task(cell, rng, *shared_arguments))
    except (JudgerankError, ArithmeticError, ValueError) as error:
        return {"failure": f"{type(error).__name__}: {error}"}


def _plain(record: Any) -> Record:
    return asdict(record, dict_factory=_without_none) if is_dataclass(record) else record


@contextmanager
def _quiet_about_cancelled_jobs() -> Iterator[None]:
    """Leave out joblib's advice to those who stop early: here an error says why."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\d+ tasks which were still being processed", UserWarning)
        yield


def _computed(jobs: Iterable[Any], parallel: Parallel) -> Iterator[Any]:
    """What jobs return, in the order in which they end.

    Raises
    ------
    ClusterError
        If a scheduler or its workers are lost.
    """
    try:
        with _backend(parallel):
            yield from joblib.Parallel(return_as="generator_unordered")(jobs)
    except JudgerankError:
        raise
    except (Exception, CancelledError) as error:  # whatever comes of connections that break
        if parallel.backend != "dask":
            raise
        raise lost(parallel.options, error) from error


def require_workers(backend: str, n_jobs: int) -> None:
    """Refuse replications without workers; commands ask before anything begins, a progress bar included.

    Raises
    ------
    ConfigError
    """
    if backend not in BACKENDS:
        raise ConfigError(f"there is no backend {backend!r} (known: {', '.join(BACKENDS)})")
    if n_jobs == 0:
        raise ConfigError("parallel.n_jobs=0 would leave nobody to do the work (-1 takes all processors)")


@contextmanager
def _backend(parallel: Parallel) -> Iterator[None]:
    require_workers(parallel.backend, parallel.n_jobs)
    if parallel.backend != "dask":
        with joblib.parallel_config(parallel.backend, n_jobs=parallel.n_jobs, **parallel.options):
            yield
        return
    with client_of(parallel.options), joblib.parallel_config("dask"):
        yield


# Workers elsewhere: whether they compute by the code and packages of the process that keeps their results.


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
