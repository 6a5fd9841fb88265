"""The engine (DuckDB): memory limit, where it spills, and its errors in our words."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.writing.extras import needed

if TYPE_CHECKING:  # an optional extra
    from duckdb import DuckDBPyConnection

AS_WRITTEN = "join_order,build_side_probe_side"  # it takes a CSV for 42 rows, and would hash it, not the names
Result = TypeVar("Result")
Batch = dict[str, NDArray[Any]]  # columns by name
MEMORY = "25%"  # of the machine's, or of what its container may take
BATCH = 1 << 20  # rows that come over at a time
LINE = re.compile(r"CSV Error on Line: (\d+)\n.*?\n(?P<why>[^\n]*(?:Found|found|detected)[^\n]*)", re.DOTALL)
FIELDS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
FILE = re.compile(r"^\s*file = (.*)$", re.MULTILINE)
JSON = re.compile(r'in file "(?P<file>.*?)",.*? in (?P<unit>line|\w+(?:/\w+)*) (?P<number>\d+): (?P<why>[^\n]*)')


class Engine:
    """A connection whose queries can be interrupted.

    They run in a thread of their own: a thread that computes does not look for Ctrl-C, and one that waits does.
    """

    def __init__(self, connection: DuckDBPyConnection):
        self._connection, self._thread = connection, ThreadPoolExecutor(1)
        self._thread.submit(int).result()  # it starts here: a start that is interrupted would leave it unknown

    def _wait_for(self, call: Callable[[], Result]) -> Result:
        try:
            future = self._thread.submit(call)
            while not future.done():
                wait([future], 0.1)  # a signal between two instructions, just before a wait, does not end it
            return future.result()
        except KeyboardInterrupt:
            marker = self._thread.submit(int)  # after the query, which may or may not have been handed over
            while not marker.done():  # an interrupt before the query has begun is lost
                self._connection.interrupt()
                wait([marker], 0.1)
            raise

    def rows(self, query: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query, of which there are few."""
        return self._wait_for(lambda: self._connection.execute(query, list(parameters)).fetchall())

    def batches(self, query: str) -> Generator[Batch]:
        """The rows of a query as they come, column by column."""
        reader = self._wait_for(lambda: self._connection.sql(query).to_arrow_reader(BATCH))
        try:
            while (batch := self._wait_for(lambda: next(reader, None))) is not None:
                columns = zip(batch.schema.names, batch.columns, strict=True)
                if batch.num_rows:
                    yield {name: column.to_numpy(zero_copy_only=False) for name, column in columns}
        finally:
            reader.close()  # the engine takes no other query before

    def fetched(self, query: str) -> Batch:
        """All rows of a query, column by column, no number held twice."""
        columns: Batch = {}
        size = room = 0
        for batch in self.batches(query):
            start, size = size, size + len(next(iter(batch.values())))
            if size > room:
                room = size + max(BATCH, size // 8)
            for name, values in batch.items():
                column = columns.setdefault(name, np.empty(0, values.dtype))
                if len(column) < room:
                    column.resize(room, refcheck=False)  # moves pages, not numbers, of a large array
                column[start:size] = values
        for column in columns.values():
            column.resize(size, refcheck=False)
        return columns or {name: np.zeros(0) for name in self._connection.sql(query).columns}

    def close(self) -> None:
        """End the thread and the connection."""
        self._thread.shutdown()
        self._connection.close()


@contextmanager
def session(memory: str = MEMORY) -> Iterator[Engine]:
    """An engine of its own, which spills to a temporary directory that is gone afterwards.

    Parameters
    ----------
    memory : str
        How much the engine may hold before it spills: ``"25%"`` of the machine, or ``"4GB"``. The directory is
        that of `tempfile`, which the variable ``TMPDIR`` names.

    Raises
    ------
    ConfigError
        If DuckDB is not installed, the memory is no amount, or it does not suffice.
    DataUnavailableError, DataError
        If a file cannot be read, naming it, and the line or record.
    """
    try:
        import duckdb
        import pyarrow  # noqa: F401  # what rows come over as
    except ImportError:
        raise ConfigError(f"reading by an engine takes {needed('scale')}") from None
    with tempfile.TemporaryDirectory(prefix="judgerank-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": memory,
            "temp_directory": folder,
        }
        try:
            db = Engine(duckdb.connect(config=settings))
        except duckdb.Error:
            raise ConfigError(f"memory {memory!r} is no amount (such as 25% or 4GB)") from None
        watched = sys.stdout.isatty()  # where the engine draws its bar
        try:
            db.rows(f"SET disabled_optimizers = '{AS_WRITTEN}'")
            db.rows(f"SET enable_progress_bar = {watched}")
            db.rows(f"SET enable_progress_bar_print = {watched}")
            yield db
        except duckdb.OutOfMemoryException:
            raise ConfigError(
                f"memory {memory!r} does not suffice, spilling to disk included: allow more"
            ) from None
        except duckdb.Error as error:
            raise data_error(error) from None
        finally:
            db.close()


def data_error(error: Exception) -> DataError | DataUnavailableError:
    """The engine's error on a file as ours, in one sentence that names the file, and the line or record."""
    text = str(error)
    if match := LINE.search(text):
        file = FILE.search(text)
        location = f"{_name(file[1])}: line {match[1]}" if file else f"line {match[1]}"
        if fields := FIELDS.search(match["why"]):
            return DataError(f"{location} has {fields[2]} fields, and the header {fields[1]}")
        return DataError(f"{location} is not CSV: {match['why'].strip()}")
    if match := JSON.search(text):
        number = int(match["number"]) - ("Malformed JSON" in text)  # there the engine counts one too many
        return DataError(f"{_name(match['file'])}: {match['unit']} {number} is not JSON: {match['why'].strip()}")
    first = text.strip().split("\n")[0].removeprefix("Invalid Input Error: ").removeprefix("IO Error: ")
    if "extension" in first or first.startswith("HTTP"):
        return DataUnavailableError(f"the engine does not reach this address: {first.rstrip(':')}")
    return DataError(f"the engine cannot read this: {first}")


def _name(path: str) -> str:
    return path.strip().rsplit("/", 1)[-1]


def literal(text: object) -> str:
    """A text as SQL says it."""
    return "'" + str(text).replace("'", "''") + "'"


def quoted(name: object) -> str:
    """The name of a column as SQL says it."""
    return '"' + str(name).replace('"', '""') + '"'
