"""Files as one table of an engine: their form, their columns, and their first records."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.data.frames import COLUMNS as PUBLISHED
from judgerank.reading.accepted import COLUMNS
from judgerank.reading.decompress import GZIP, ZSTD
from judgerank.reading.file_formats import READERS, absent, delimiter_of, form_of
from judgerank.reading.files import Files, labels_of, named, paths_of
from judgerank.reading.large.engine import Engine, literal, quoted
from judgerank.reading.layouts.table import COUNTS, OF_SCORES

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
