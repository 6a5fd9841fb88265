"""Files of records, in any of the common forms, as tables; nothing in them is guessed or filled up."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import pandas as pd

from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.data.modules import needed
from judgerank.reading.confined import confined
from judgerank.reading.contents import Content, split
from judgerank.reading.databases import SQLITE, from_database, from_sheet, squared
from judgerank.reading.decompress import MACOS, ZIP, Archive, inflated, require_cells_within, require_within
from judgerank.reading.hub import Address, about, is_hub, load_rows, sha256
from judgerank.reading.tabular import records_in
from judgerank.writing.sidecars import STDIN

COMPRESSED = (".gz", ".zst", ".zstd", ".bz2", ".xz", ".zip")
DELIMITERS = (",", ";", "\t", "|")
TOLD = re.compile(r'"?sep=(?P<sign>[^"\r\n])"?\r?(\n|$)', re.IGNORECASE)  # Excel's own line above the header
ARROW_FILE = b"ARROW1"
MAGIC = {b"PAR1": "parquet", ARROW_FILE: "arrow", SQLITE: "sqlite", ZIP: "xlsx"}
HEADER, START = "header.json", "_journal/start.json"  # of an archive of inspect_ai
# keys of files that are one object: inspect_ai's log, evaluatorq's run, JudgeArena's report, promptfoo's,
# skill-creator's comparison and grading, deepeval's test runs
WHOLE = (
    *({"eval", "samples"}, {"judging", "entries"}, {"model_A", "model_B", "preferences"}, {"results", "config"}),
    *({"comparison_summary", "winner_strengths"}, {"expectations", "summary"}, {"testCases"}, {"testRunData"}),
)


@dataclass(frozen=True)
class Opened:
    """A file whose records can be read.

    Attributes
    ----------
    sha256 : str
        Of the bytes in the file.
    form : str
    read : callable
        Gives its records as they are, or raises a `DataError` if they are not in that form.
    about : mapping of str to str
        What else is known of where they are from: of a set on the hub, its revision and split.
    """

    sha256: str
    form: str
    read: Callable[[], pd.DataFrame]
    about: Mapping[str, str] = field(default_factory=dict)


def read_table(path: Path) -> pd.DataFrame:
    """The records of a file as they are.

    Raises
    ------
    DataUnavailableError, DataError, ConfigError
        As of `opened`; or if the content is not in that form.
    """
    return opened(path, None).read()


def opened(path: Path, form: str | None, encoding: str | None = None) -> Opened:
    """A file, and what reads it: by the form named, else by its ending; of standard input by its content.

    Raises
    ------
    DataUnavailableError
        If there is no such file, or it cannot be read.
    ConfigError
        If the form is not known.
    """
    if is_hub(path):
        return _of_hub(str(path), form or encoding)
    file, part = split(path)
    data = sys.stdin.buffer.read() if str(path) == STDIN else _bytes_of(file)
    form = form_of(path, form)
    if not form and str(path) == STDIN:
        form = guessed(inflated(data))
    if not form and file.suffix.lower() == ".zip":
        form = form_of(Path(_name_in(data)))
    read = READERS.get(form)
    if read is not None and part is not None and form not in PARTED:
        raise ConfigError(f"{path.name}: {form} has no parts to name (those of {', '.join(PARTED)} have)")
    if read is None:
        raise ConfigError(f"{path.name}: {form!r} is not a form that can be read (--format {'|'.join(READERS)})")
    digest = hashlib.sha256(data).hexdigest()
    return Opened(digest, form, lambda: read(Content(inflated(data, file.name), file, part, encoding)))


def _of_hub(source: str, option: str | None) -> Opened:
    """A set on the hub; whole conversations, as lists and objects, are not read."""
    if option is not None:
        raise ConfigError(f"{source}: a form and an encoding are those of a file")
    rows = load_rows(source, nested=False)
    return Opened(sha256(rows), "arrow", rows.to_pandas, about(rows))


def _name_in(archive: bytes) -> str:
    """Name of the one file in a zip."""
    inflated(archive, ".zip")  # refuses any other number of files
    with ZipFile(io.BytesIO(archive)) as files:
        return next(name for name in files.namelist() if not name.endswith("/") and not name.startswith(MACOS))


def _bytes_of(path: Path) -> bytes:
    try:
        content = path.read_bytes() if path.is_file() else None
    except (OSError, ValueError) as error:  # no right to read it, or no name a file could have
        raise DataUnavailableError(f"{str(path)!r} cannot be read: {_reason(error)}") from None
    if content is None:
        raise DataUnavailableError(absent(path))
    return content


def absent(path: Path) -> str:
    """The message on a path that is no file."""
    if path.exists():
        return f"{str(path)!r} is a pipe or a device, not a regular file: name - to read standard input"
    return f"there is no file {str(path)!r}"


def form_of(path: Path, form: str | None = None) -> str:
    """The form named, else what the file's name ends in, before any ending of a compressed file."""
    return form or Path(_uncompressed(split(path)[0])).suffix.lstrip(".").lower()


def bare_name(path: Path) -> str:
    """A file's name without its endings of form and compression, and without a part of it."""
    if is_hub(path):
        return Path(Address.of(str(path)).name).name
    return "stdin" if str(path) == STDIN else Path(_uncompressed(split(path)[0])).stem


def _uncompressed(path: Path) -> str:
    return path.stem if path.suffix.lower() in COMPRESSED else path.name


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def _loads(text: str) -> object:
    """JSON in which no object has a key twice: the standard reader keeps the last one, and says nothing."""
    return json.loads(text, object_pairs_hook=_distinct, parse_int=_integer)


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python's limit, so that a file cannot keep it busy
        raise DataError(f"a number has {len(digits)} digits") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise DataError(f"an object has the key {max(keys, key=keys.count)!r} twice")
    return record


def _json(content: Content) -> pd.DataFrame:
    try:
        records = _loads(content.text)
    except (json.JSONDecodeError, RecursionError) as error:
        if guessed(content.data) == "jsonl":
            return _json_lines(content)
        is_json = content.text.lstrip().startswith(("[", "{"))
        remedy = (
            "--format jsonl reads one record a line" if is_json else "--format csv reads comma-separated values"
        )
        raise DataError(f"this is not JSON: {error} ({remedy})") from None
    if isinstance(records, dict) and any(records.keys() >= keys for keys in WHOLE):
        records = [records]
    if isinstance(records, dict):
        records = records_in(records, content.part)
    if not isinstance(records, list):
        raise DataError("this is not a JSON list of records")
    return _objects(dict(enumerate(records, 1)), "record")


def _json_lines(content: Content) -> pd.DataFrame:
    """One record a line; a list of records, or one object over several lines, is read as JSON."""
    if _is_json(content.text):
        return _json(content)
    records = {}
    for number, line in enumerate(content.text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            records[number] = _loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DataError(f"line {number} is not JSON: {error}") from None
    return _objects(records, "line")


def _is_json(text: str) -> bool:
    """Whether a text is one value of JSON, and its first line is no record."""
    first = text.lstrip().partition("\n")[0].rstrip()
    if first.startswith("{") and first.endswith("}"):
        return False
    try:
        return isinstance(json.loads(text), list | dict)
    except (ValueError, RecursionError):
        return False


def _objects(records: Mapping[int, object], unit: str) -> pd.DataFrame:
    odd = next((number for number, record in records.items() if not isinstance(record, dict)), None)
    if odd is not None:
        raise DataError(f"{unit} {odd} is not a JSON object")
    return pd.DataFrame(list(records.values()), dtype=object)


def _csv(content: Content, delimiter: str = ",") -> pd.DataFrame:
    # the standard reader, since pandas fills up rows that are cut short
    csv.field_size_limit(max(csv.field_size_limit(), len(content.data)))  # whole conversations may stand beside
    text = content.text
    sep_line = TOLD.match(text)
    sign, skipped = (delimiter_of(text, delimiter), 0) if sep_line is None else (sep_line["sign"], 1)
    rows = csv.reader(
        io.StringIO(text[sep_line.end() if sep_line else 0 :], newline=""), strict=True, delimiter=sign
    )
    try:
        return squared((rows.line_num + skipped, row) for row in rows)
    except csv.Error as error:
        raise DataError(f"line {rows.line_num + skipped} is not CSV: {error}") from None


def delimiter_of(text: str, usual: str) -> str:
    """The delimiter of the header: the usual character, unless another does and that one does not."""
    header = text[: text.find("\n")] if "\n" in text else text
    if usual in header:
        return usual
    candidates = [delimiter for delimiter in DELIMITERS if delimiter in header]
    if len(candidates) > 1:
        raise DataError(f"the header could be separated by any of {', '.join(map(repr, candidates))}")
    return candidates[0] if candidates else usual


def _tsv(content: Content) -> pd.DataFrame:
    return _csv(content, "\t")


def _eval(content: Content) -> pd.DataFrame:
    """One record: an archive of inspect_ai, with a file for the header and one for each sample."""
    try:
        log = Archive(content.data, inflated)
        require_within(log.size, len(content.data))
        names = sorted(name for name in log.names if name.startswith("samples/") and name.endswith(".json"))
        # what was known at the start is all that there is of a run that was not finished
        header = next((name for name in (HEADER, START) if name in log.names), None)
        if header is None:
            raise DataError(f"this is not a log of inspect_ai: it has neither {HEADER} nor {START}")
        parsed = _loads(_text(log.read(header), content.path))
        samples = [_loads(_text(log.read(name), content.path)) for name in names]
    except (BadZipFile, NotImplementedError, zlib.error, json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"this is not a log of inspect_ai, or it is damaged: {error}") from None
    about = parsed if isinstance(parsed, dict) else {}
    status = about.get("status", "started") if header == HEADER else "started"
    return _objects({1: {"eval": about.get("eval"), "status": status, "samples": samples}}, "record")


def _text(data: bytes, path: Path) -> str:
    return Content(data, path).text


def _parquet(content: Content) -> pd.DataFrame:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ConfigError(f"reading Parquet requires {needed('parquet')}") from None
    try:
        file = parquet.ParquetFile(io.BytesIO(content.data))
        require_cells_within(file.metadata.num_rows, file.metadata.num_columns, len(content.data))
        return file.read().to_pandas()
    except DataError:
        raise
    except (OSError, ValueError) as error:
        raise DataError(f"this is not Parquet: {error}") from None


def _arrow(content: Content) -> pd.DataFrame:
    """Arrow's file form, which feather is, or its stream, which the package datasets writes."""
    try:
        import pyarrow
    except ImportError:
        raise ConfigError(f"reading Arrow requires {needed('parquet')}") from None
    kind = pyarrow.ipc.open_file if content.data.startswith(ARROW_FILE) else pyarrow.ipc.open_stream
    try:
        table = kind(pyarrow.BufferReader(content.data)).read_all()  # as it lies in the file, without copies
        require_cells_within(table.num_rows, table.num_columns, len(content.data))
        return table.to_pandas()
    except DataError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise DataError(f"this is not Arrow: {error}") from None


def guessed(data: bytes) -> str:
    """The form of content without a name: by its first bytes, else JSON or CSV."""
    for sign, form in MAGIC.items():
        if data.startswith(sign):
            return form
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text.startswith((b"{", b"[")):
        return "csv"
    first, _, rest = text.partition(b"\n")
    return "jsonl" if first.startswith(b"{") and first.rstrip().endswith(b"}") and rest.strip() else "json"


SHEET, DATABASE, ARROW = confined(from_sheet), confined(from_database), confined(_arrow)
READERS: dict[str, Callable[[Content], pd.DataFrame]] = {
    "json": _json,
    "jsonl": _json_lines,
    "ndjson": _json_lines,
    "csv": _csv,
    "tsv": _tsv,
    "parquet": confined(_parquet),
    "arrow": ARROW,
    "feather": ARROW,
    "xlsx": SHEET,
    "db": DATABASE,
    "sqlite": DATABASE,
    "sqlite3": DATABASE,
    "duckdb": DATABASE,
    "eval": _eval,
}
PARTED = [name for name, read in READERS.items() if read in (_json, SHEET, DATABASE)]
