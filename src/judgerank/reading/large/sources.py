"""Files as one table of an engine: their form, their columns, and their first records."""

from __future__ import annotations

import csv
import json
import re
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.data.frames import COLUMNS as PUBLISHED
from judgerank.data.modules import needed
from judgerank.reading.contents import COLUMNS
from judgerank.reading.decompress import GZIP, ZSTD
from judgerank.reading.file_formats import READERS, absent, delimiter_of, form_of
from judgerank.reading.files import Files, labels_of, named, paths_of
from judgerank.reading.layouts.table import COUNTS, OF_SCORES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The engine (DuckDB): memory limit, where it spills, and its errors in our words.
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
        raise ConfigError(f"reading by an engine requires {needed('scale')}") from None
    with tempfile.TemporaryDirectory(prefix="judgerank-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": memory,
            "temp_directory": folder,
        }
        try:
            db = Engine(duckdb.connect(config=settings))
        except duckdb.Error:
            raise ConfigError(f"memory {memory!r} is not an amount (such as 25% or 4GB)") from None
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


FORMS = ("csv", "tsv", "jsonl", "ndjson", "json", "parquet")
SAMPLE = 1_000  # records that tell the layout
LINES = "delim=e'\\x01', quote='', escape='', strict_mode=false, columns={'line': 'VARCHAR'}"


@dataclass(frozen=True)
class Source:
    """One file as an engine reads it.

    Attributes
    ----------
    address : str
        A path, or an address with ``://`` that the engine can read.
    label : str
        What the file is called in a sentence.
    form : str
    columns : tuple of str
        Their names; of JSON, those that its first records have.
    reader : str
        What the engine reads, without the list of files: a function's name, and its options.
    """

    address: str
    label: str
    form: str
    columns: tuple[str, ...]
    reader: tuple[str, str]

    @property
    def of_json(self) -> bool:
        """Whether values come as the text of JSON."""
        return self.reader[0] == "read_json"

    def expression(self, name: str) -> str:
        """A column as SQL says it; those of CSV go by their places, since a header may say a name twice."""
        if self.reader[0] == "read_csv":
            return f"c{self.columns.index(name)}"
        return quoted(name)

    def sample(self, db: Engine) -> pd.DataFrame:
        """The first records, with values as `judgerank.reading.file_formats` gives them."""
        if self.of_json:
            return pd.DataFrame(_objects(db, self), dtype=object)
        rows = db.rows(f"SELECT * FROM {table([self], self.columns)} LIMIT {SAMPLE}")
        return pd.DataFrame([list(row) for row in rows], columns=list(self.columns), dtype=object)


def table(sources: Sequence[Source], columns: Sequence[str]) -> str:
    """Files of one form and with the same columns as a table; of JSON, these columns are read."""
    function, options = sources[0].reader
    if function == "read_json":
        names = ", ".join(f"{literal(name)}: 'JSON'" for name in columns)
        options = f"{options}, columns={{{names}}}"
    listed = ", ".join(literal(_plain(source.address)) for source in sources)
    return f"{function}([{listed}]{options})"


def _plain(address: str) -> str:
    """A path that means itself: the engine would take a name with a star for a pattern, as it may an address."""
    if "://" in address:
        return address
    return "".join(f"[{character}]" if character in "*?[" else character for character in address)


def sources_of(db: Engine, files: Files, form: str | None) -> list[Source]:
    """Every file, opened far enough to know its columns.

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    ConfigError
        If no engine reads that form, or files are in several.
    DataError
        If a header cannot be read, or headers differ.
    """
    listed = [files] if isinstance(files, str | Path) else list(files)
    remote = [str(file) for file in listed if "://" in str(file)]
    local = [file for file in listed if "://" not in str(file)]
    paths = paths_of(local) if local or not remote else []
    addresses = [*zip(map(str, paths), labels_of(paths), strict=True), *((address, address) for address in remote)]
    sources = []
    for address, label in addresses:
        with named(label):
            sources.append(_source(db, address, label, form))
    first = sources[0]
    for source in sources[1:]:
        both = f"{first.label} and {source.label}"
        if first.form == source.form and first.columns != source.columns and not first.of_json:
            raise DataError(f"{both} have different columns: use judgerank.read")
        if (first.form, first.reader) != (source.form, source.reader):
            raise ConfigError(f"{both} are in different forms, or packed in different ways: use judgerank.read")
    return sources


def _source(db: Engine, address: str, label: str, form: str | None) -> Source:
    kind = form_of(Path(address), form)
    if kind not in FORMS:
        what = "a form that an engine reads" if kind in READERS else "a form that can be read"
        raise ConfigError(f"{label}: {kind!r} is not {what} (--format {'|'.join(FORMS)}); use judgerank.read")
    packed = _compression(address)
    if kind == "parquet":
        reader = ("read_parquet", "")
        described = db.rows(f"DESCRIBE SELECT * FROM read_parquet([{literal(_plain(address))}])")
        return Source(address, label, kind, tuple(row[0] for row in described), reader)
    if kind in ("csv", "tsv"):
        delimiter, columns = _header(db, address, kind, packed)
        names = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(columns)))
        options = (
            f", auto_detect=false, header=true, delim={literal(delimiter)}, quote='\"', escape='\"', nullstr='', "
            f"strict_mode=true, {packed}, columns={{{names}}}"
        )
        return Source(address, label, kind, columns, ("read_csv", options))
    shape = "array" if kind == "json" else "newline_delimited"
    reader = ("read_json", f", format='{shape}', records=true, {packed}")
    records = _objects(db, Source(address, label, kind, (), reader))
    return Source(address, label, kind, tuple(dict.fromkeys(key for record in records for key in record)), reader)


def _compression(address: str) -> str:
    """How the engine is to unpack a file: by its first bytes, where they are at hand."""
    if "://" in address:
        return "compression='auto'"
    try:
        if not Path(address).is_file():  # a pipe would wait for its writer
            raise DataUnavailableError(absent(Path(address)))
        with Path(address).open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise DataUnavailableError(f"{address!r} cannot be read: {error.strerror}") from None
    kinds = {GZIP: "gzip", ZSTD: "zstd"}
    return f"compression='{next((kind for magic, kind in kinds.items() if start.startswith(magic)), 'none')}'"


def _header(db: Engine, address: str, form: str, packed: str) -> tuple[str, tuple[str, ...]]:
    reader = f"read_csv([{literal(_plain(address))}], auto_detect=false, header=false, {LINES}, {packed})"
    rows = db.rows(f"SELECT line FROM {reader} LIMIT 1")
    if not rows or rows[0][0] is None:
        raise DataError("there are no comparisons: the set is empty")
    delimiter = delimiter_of(rows[0][0], "\t" if form == "tsv" else ",")
    return delimiter, tuple(next(csv.reader([rows[0][0]], delimiter=delimiter)))


def _objects(db: Engine, source: Source) -> list[dict[str, object]]:
    """The first records of JSON."""
    function, options = source.reader
    options = options.replace("records=true", "records=false")
    listed = f"[{literal(_plain(source.address))}]{options}, columns={{'json': 'JSON'}}"
    texts = [row[0] for row in db.rows(f"SELECT * FROM {function}({listed}) LIMIT {SAMPLE}")]
    try:
        records = list(map(json.loads, texts))
    except ValueError as error:  # such as a number of thousands of digits
        raise DataError(f"the first records cannot be read: {error}") from None
    odd = next((number for number, record in enumerate(records, 1) if not isinstance(record, dict)), None)
    if odd is not None:
        raise DataError(f"record {odd} is not a JSON object")
    return records


def unexpected(columns: Sequence[str]) -> list[str]:
    """Columns that records of JSON may have though the first ones lack them, and that would mean something."""
    recognised = [name for key, (_, names) in COLUMNS.items() if key not in OF_SCORES for name in names]
    return [name for name in dict.fromkeys([*recognised, *PUBLISHED, *COUNTS]) if name not in columns]
