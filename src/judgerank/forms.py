"""Files of records, in any of the common forms, as tables; nothing in them is guessed or filled up."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import pandas as pd

from judgerank.errors import ConfigError, DataError, DataUnavailableError

COMPRESSED = (".gz", ".zst", ".zstd")
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
DELIMITERS = (",", ";", "\t")
# keys of files that are one object: a log of inspect_ai, a run of evaluatorq, a report of JudgeArena
WHOLE = ({"eval", "samples"}, {"judging", "entries"}, {"model_A", "model_B", "preferences"})


def read_table(path: Path, form: str | None = None) -> pd.DataFrame:
    """The records of a file as they are.

    Raises
    ------
    DataUnavailableError, DataError, ConfigError
        As of `opened`; or if the content is not in that form.
    """
    content, read = opened(path, form)
    return read(content)


def opened(path: Path, form: str | None) -> tuple[bytes, Callable[[bytes], pd.DataFrame]]:
    """A file's content, and what reads it: by the form named, else by what the file's name ends in.

    Raises
    ------
    DataUnavailableError
        If there is no such file, or it cannot be read.
    ConfigError
        If the form is not known.
    """
    try:
        content = path.read_bytes() if path.is_file() else None
    except (OSError, ValueError) as error:  # no right to read it, or no name a file could have
        raise DataUnavailableError(f"{str(path)!r} cannot be read: {_reason(error)}") from None
    if content is None:
        raise DataUnavailableError(f"there is no file {str(path)!r}")
    read = READERS.get(form := form_of(path, form))
    if read is None:
        raise ConfigError(f"{path.name}: {form!r} is not a form that can be read (format {'|'.join(READERS)})")
    return content, lambda content: read(_inflated(content))


def form_of(path: Path, form: str | None = None) -> str:
    """The form named, else what the file's name ends in, before any ending of a compressed file."""
    return form or Path(_uncompressed(path)).suffix.lstrip(".").lower()


def bare_name(path: Path) -> str:
    """A file's name without its endings of form and compression."""
    return Path(_uncompressed(path)).stem


def _uncompressed(path: Path) -> str:
    return path.stem if path.suffix.lower() in COMPRESSED else path.name


def _inflated(content: bytes) -> bytes:
    """Content as it was before gzip or zstd, which are known by their first bytes."""
    if content.startswith(GZIP):
        try:
            return gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"this is not gzip, or cut short: {error}") from None
    return _unpacked(content) if content.startswith(ZSTD) else content


def _unpacked(content: bytes) -> bytes:
    """Content as it was before zstd, frame by frame: the library says nothing of a frame that is cut short."""
    try:
        import zstandard
    except ImportError:
        raise ConfigError("reading zstd takes the extra 'zstd' (pip install 'judgerank[zstd]')") from None
    parts = []
    while content:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            parts.append(frame.decompress(content))
        except zstandard.ZstdError as error:
            raise DataError(f"this is not zstd: {error}") from None
        if not frame.eof:
            raise DataError("this is not zstd, or cut short")
        content = frame.unused_data
    return b"".join(parts)


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"this is not UTF-8 text (byte {error.start + 1})") from None


def _loads(text: str) -> object:
    """JSON in which no object has a key twice: the standard reader keeps the last one, and says nothing."""
    return json.loads(text, object_pairs_hook=_distinct, parse_int=_whole)


def _whole(digits: str) -> int:
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


def _json(content: bytes) -> pd.DataFrame:
    try:
        records = _loads(_text(content))
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"this is not JSON: {error} (format jsonl reads one record a line)") from None
    if isinstance(records, dict) and any(records.keys() >= keys for keys in WHOLE):
        records = [records]
    if not isinstance(records, list):
        raise DataError("this is not a JSON list of records")
    return _objects(dict(enumerate(records, 1)), "record")


def _json_lines(content: bytes) -> pd.DataFrame:
    records = {}
    for number, line in enumerate(_text(content).split("\n"), 1):
        if not line.strip():
            continue
        try:
            records[number] = _loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise DataError(f"line {number} is not JSON: {error}") from None
    return _objects(records, "line")


def _objects(records: Mapping[int, object], unit: str) -> pd.DataFrame:
    odd = next((number for number, record in records.items() if not isinstance(record, dict)), None)
    if odd is not None:
        raise DataError(f"{unit} {odd} is not a JSON object")
    return pd.DataFrame(list(records.values()), dtype=object)


def _csv(content: bytes, delimiter: str = ",") -> pd.DataFrame:
    # the standard reader, since pandas fills up rows that are cut short
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))  # whole conversations may stand beside
    text = _text(content)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter_of(text, delimiter))
    try:
        header = next(rows, [])
        records = []
        for row in rows:
            if row and len(row) != len(header):
                raise DataError(f"line {rows.line_num} has {len(row)} fields, and the header {len(header)}")
            if row:
                records.append([field or None for field in row])
    except csv.Error as error:
        raise DataError(f"line {rows.line_num} is not CSV: {error}") from None
    return pd.DataFrame(records, columns=header, dtype=object)


def delimiter_of(text: str, usual: str) -> str:
    """What separates the fields of the header: the usual character, unless another does and that one does not."""
    header = text[: text.find("\n")] if "\n" in text else text
    if usual in header:
        return usual
    others = [one for one in DELIMITERS if one in header]
    if len(others) > 1:
        raise DataError(f"the header could be separated by any of {', '.join(map(repr, others))}")
    return others[0] if others else usual


def _tsv(content: bytes) -> pd.DataFrame:
    return _csv(content, "\t")


def _eval(content: bytes) -> pd.DataFrame:
    """One record: an archive of inspect_ai, which has a file for the header and one for each sample."""
    try:
        with ZipFile(io.BytesIO(content)) as log:
            names = [name for name in log.namelist() if name.startswith("samples/") and name.endswith(".json")]
            header = _loads(_text(log.read("header.json")))
            samples = [_loads(_text(log.read(name))) for name in sorted(names)]
    except KeyError:
        raise DataError("the log has no header: it was not finished") from None
    except (BadZipFile, NotImplementedError, zlib.error, json.JSONDecodeError) as error:
        raise DataError(f"this is not a log of inspect_ai: {error}") from None
    told = header.get("eval") if isinstance(header, dict) else None
    return _objects({1: {"eval": told, "samples": samples}}, "record")


def _parquet(content: bytes) -> pd.DataFrame:
    try:
        return pd.read_parquet(io.BytesIO(content))
    except ImportError:
        raise ConfigError("reading Parquet takes the extra 'parquet' (pip install 'judgerank[parquet]')") from None
    except (OSError, ValueError) as error:
        raise DataError(f"this is not Parquet: {error}") from None


READERS: dict[str, Callable[[bytes], pd.DataFrame]] = {
    "json": _json,
    "jsonl": _json_lines,
    "ndjson": _json_lines,
    "csv": _csv,
    "tsv": _tsv,
    "parquet": _parquet,
    "eval": _eval,
}
