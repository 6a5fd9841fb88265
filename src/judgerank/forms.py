"""Files of records, in any of the common forms, as tables; nothing in them is guessed or filled up."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from judgerank.errors import ConfigError, DataError, DataUnavailableError


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
    form = form or path.suffix.lstrip(".").lower()
    if form not in READERS:
        raise ConfigError(f"{path.name}: {form!r} is not a form that can be read (format {'|'.join(READERS)})")
    return content, READERS[form]


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"this is not UTF-8 text (byte {error.start + 1})") from None


def _loads(text: str) -> object:
    """JSON in which no object has a key twice: the standard reader keeps the last one, and says nothing."""
    return json.loads(text, object_pairs_hook=_distinct)


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


def _csv(content: bytes) -> pd.DataFrame:
    # the standard reader, since pandas fills up rows that are cut short
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))  # whole conversations may stand beside
    rows = csv.reader(io.StringIO(_text(content), newline=""), strict=True)
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


def _parquet(content: bytes) -> pd.DataFrame:
    try:
        return pd.read_parquet(io.BytesIO(content))
    except ImportError:
        raise ConfigError("reading Parquet takes the extra 'parquet' (pip install 'judgerank[parquet]')") from None
    except (OSError, ValueError) as error:
        raise DataError(f"this is not Parquet: {error}") from None


READERS = {"json": _json, "jsonl": _json_lines, "ndjson": _json_lines, "csv": _csv, "parquet": _parquet}
