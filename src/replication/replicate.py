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
import warnings
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pandas as pd
from joblib import delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from judgerank.data.errors import ConfigError, DataError, JudgerankError
from judgerank.model.streams import generator
from replication.cache_files import read_block, write_block
from replication.sources import SOURCES, code_digest, named_modules
from replication.workers import Basis, Refusal, client_of, lost, refusal

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
