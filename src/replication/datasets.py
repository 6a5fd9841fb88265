"""Judgments, questions and ratings from disk, by download or from the hub."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, DataUnavailableError
from judgerank.data.frames import COLUMNS, question_name
from judgerank.data.judgments import Judgments
from judgerank.reading.hub import PART, PREFIX, Address, about, is_hub, load_rows
from judgerank.reading.read import read_judgments
from replication.config import ROOT
from replication.errors import ChecksumError
from replication.schemas.section import Dataset

DIMENSIONS = ("instruction_following", "honesty", "truthfulness", "helpfulness")


def data_folders() -> list[Path]:
    """Where data are looked for, in order: the folder named by JUDGERANK_DATA, then data/."""
    named = os.environ.get("JUDGERANK_DATA")
    return [*([Path(named)] if named else []), ROOT / "data"]


def find_file(name: str) -> Path | None:
    """The first file of that name in the data folders (or at that absolute path)."""
    return next((folder / name for folder in data_folders() if (folder / name).is_file()), None)


def find_source(name: str) -> str | None:
    """A file as `find_file` finds it; for a set on the hub, a folder ``owner/name`` in a data folder, or the hub.

    Whoever has no access to the hub puts a set's files (README.md, data/...) into such a folder.
    """
    if not is_hub(name):
        path = find_file(name)
        return path and str(path)
    address = Address.of(name)
    folder = next((folder for folder in data_folders() if (folder / address.name).is_dir()), None)
    part = f"{PART}{address.part}" if address.part else ""
    return name if folder is None else f"{PREFIX}{folder / address.name}{part}"


def load_judgments(dataset: Dataset) -> Judgments:
    """Load a set of judgments; a file that is nowhere on disk is downloaded into data/.

    Raises
    ------
    DataError
        If the file is malformed; the record is named, and both ids where it is not the published file.
    ChecksumError
        If the file, or that of the questions, is well-formed but not the published one; both ids are named.
    DataUnavailableError
        If it is neither on disk nor reachable.
    """
    if not dataset.file:
        raise DataUnavailableError(f"{dataset.title}: no file is configured")
    source = find_source(dataset.file) or str(_download(dataset))
    is_published = not (dataset.columns or is_hub(source))
    loaded = _published(dataset, Path(source)) if is_published else _in_any_form(dataset, source)
    questions = find_file(dataset.questions) if dataset.questions else None
    lengths = question_lengths(questions) if questions else None
    mismatch = _mismatch(questions.read_bytes(), dataset.questions_sha256) if questions else ""
    if mismatch:
        raise ChecksumError(f"{questions.name}: {mismatch}")
    return replace(loaded, name=dataset.name, title=dataset.title, lengths=lengths)


def _published(dataset: Dataset, path: Path) -> Judgments:
    """A file in the published form."""
    content = path.read_bytes()
    mismatch = _mismatch(content, dataset.sha256, dataset.git_blob)
    try:
        frame = read_records(content)
        comparisons = Comparisons.from_frame(frame)
    except DataError as error:  # a damaged copy is described by its damage, and by what it is not
        raise DataError("; ".join(filter(None, (f"{path.name}: {error}", mismatch)))) from None
    if mismatch:
        raise ChecksumError(f"{path.name}: {mismatch}")
    source = {
        "file": path.name,
        "sha256": _sha256(content),
        "records": len(frame),
        "dropped": dict(comparisons.dropped),
    }
    return Judgments(dataset.name, dataset.title, frame, comparisons, source)


def _in_any_form(dataset: Dataset, source: str) -> Judgments:
    """A set on the hub, or a file with columns of its own; where on this machine it lies is not recorded."""
    try:
        loaded = read_judgments(source, columns=dataset.columns)
    except DataUnavailableError as error:
        folder = data_folders()[-1] / Address.of(source).name
        raise DataUnavailableError(f"{dataset.title}: {error}, or put them into {folder}") from None
    if not is_hub(source):
        mismatch = _mismatch(Path(source).read_bytes(), dataset.sha256, dataset.git_blob)
        if mismatch:
            raise ChecksumError(f"{dataset.file}: {mismatch}")
    origin = {key: value for key, value in loaded.source.items() if key not in ("path", "given")}
    return replace(loaded, source=origin | {"file": dataset.file})


def _mismatch(content: bytes, sha256: str | None, git_blob: str | None = None) -> str:
    """Which id of a file is not the published one, found and wanted; empty if it is that file."""
    for kind, identify, published in (("SHA-256", _sha256, sha256), ("git blob id", _blob, git_blob)):
        digest = identify(content)
        if published and digest != published:
            unix = content.replace(b"\r\n", b"\n")
            converted = published in (identify(unix), identify(unix.replace(b"\n", b"\r\n")))
            why = " (it has other line ends)" if converted else ""
            return f"its {kind} is {digest}, not the published {published}{why}"
    return ""


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _blob(content: bytes) -> str:
    """The id that git gives to a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def question_lengths(path: Path) -> pd.Series:
    """Characters by question, all turns together, from JSON Lines with ``question_id`` and ``turns``.

    Raises
    ------
    DataError
        Naming the line at fault.
    """
    lengths = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            row = json.loads(line)
            lengths[question_name(row["question_id"])] = sum(map(len, row["turns"]))
        except (json.JSONDecodeError, KeyError, TypeError):
            raise DataError(f"{path.name}: line {number} is not an object with question_id and turns") from None
    return pd.Series(lengths, name="characters")


def _download(dataset: Dataset) -> Path:
    if not dataset.url:
        folders = " or ".join(str(folder) for folder in data_folders())
        raise DataUnavailableError(f"{dataset.file} is not in {folders}, and has no address to fetch it from")
    import pooch  # both load slowly, and are needed once
    import requests

    checksum = f"sha256:{dataset.sha256}" if dataset.sha256 else None
    try:
        path = Path(pooch.retrieve(dataset.url, checksum, dataset.file, ROOT / "data", progressbar=True))
    except (requests.RequestException, OSError) as error:
        reason = type(error).__name__
        raise DataUnavailableError(f"{dataset.file} is not on disk and cannot be fetched ({reason})") from error
    except ValueError:
        message = f"{dataset.file}: what {dataset.url} sends does not have the published SHA-256"
        raise ChecksumError(message) from None
    mismatch = _mismatch(path.read_bytes(), dataset.sha256, dataset.git_blob)
    if mismatch:
        path.unlink()  # so that it is not taken for the published file the next time
        raise ChecksumError(f"{path.name}: {mismatch}")
    return path


def read_records(content: bytes) -> pd.DataFrame:
    """Judgments in the published JSON form as a typed table.

    Raises
    ------
    DataError
        If this is not a JSON list of records with the six keys and names for values.
    """
    try:
        records = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"this is not JSON: {error}") from None
    if not isinstance(records, list):
        raise DataError("this is not a JSON list of records")
    if not records:
        raise DataError("there are no comparisons: the set is empty")
    rows = [_normalised(record, number) for number, record in enumerate(records, 1)]
    return pd.DataFrame(rows, columns=COLUMNS).astype({COLUMNS[-1]: float})


def _normalised(record: object, number: int) -> dict:
    """A record with its question as one string."""
    if not isinstance(record, dict):
        raise DataError(f"record {number} is not a JSON object")
    missing = [name for name in COLUMNS if name not in record]
    if missing:
        raise DataError(f"record {number} has no {missing[0]!r}")
    row = {name: record[name] for name in COLUMNS}
    for name in COLUMNS[1:5]:
        optional = name == "judge_preferred_model" and row[name] is None
        if not optional and not (isinstance(row[name], str) and row[name]):
            raise DataError(f"record {number} has {row[name]!r} as {name!r}, not a name")
    confidence = row[COLUMNS[-1]]
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if confidence is not None and (not is_number or abs(confidence) > sys.float_info.max):
        raise DataError(f"record {number} has {confidence!r:.40} as {COLUMNS[-1]!r}, not a number")
    row["question_id"] = question_name(row["question_id"])
    return row


def ultrafeedback_ratings(source: str) -> pd.DataFrame:
    """Mean rating of every model in four dimensions: ``model, dimension, rating, n, n_missing``.

    Parameters
    ----------
    source : str
        A JSON file (in a data folder, or a path) or the id of a hub dataset with the same rows.

    Raises
    ------
    DataUnavailableError
        If there is neither such a file nor access to the hub.
    DataError
        If the rows are not in UltraFeedback's form.
    """
    location = find_file(source) or find_source(PREFIX + source.removeprefix(PREFIX))
    rows = load_rows(str(location), "completions")
    try:
        ratings = [
            (completion["model"], dimension, completion["annotations"][dimension]["Rating"])
            for batch in rows.to_batches()  # one in memory at a time: the answers are in them, too
            for completions in batch["completions"].to_pylist()
            for completion in completions
            for dimension in DIMENSIONS
        ]
    except (KeyError, TypeError) as error:
        raise DataError(f"the ratings {source!r} are not in UltraFeedback's form: {error}") from None
    frame = pd.DataFrame(ratings, columns=["model", "dimension", "rating"])
    frame["rating"] = pd.to_numeric(frame["rating"], errors="coerce")
    groups = frame.groupby(["model", "dimension"], sort=True)["rating"]
    table = groups.agg(rating="mean", n="count", n_missing=lambda values: values.isna().sum()).reset_index()
    table.attrs["source"] = named_source({"file": source, **about(rows)})
    return table


def named_source(source: Mapping[str, object]) -> str:
    """A set and its revision in a caption, from what is known of where it is from."""
    revision = f" at {str(source['revision'])[:7]}" if "revision" in source else ""
    return f"{source['file']}{revision}"
