"""Judgments and ratings from disk, by download or from the hub, and surrogates where there are none."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pooch
import requests

from judgerank.comparisons import Comparisons
from judgerank.config import ROOT, Dataset
from judgerank.errors import ChecksumError, DataError, DataUnavailableError
from judgerank.frames import COLUMNS
from judgerank.simulate import draw_panel, generator

STORED = ROOT / "results"  # the fits of the real data that surrogates are drawn from
DIMENSIONS = ("instruction_following", "honesty", "truthfulness", "helpfulness")


@dataclass(frozen=True)
class Judgments:
    """One loaded set.

    Attributes
    ----------
    name, title : str
        The title says `surrogate` if the data are.
    comparisons : Comparisons
    judges : DataFrame
        One row per judge: ``dataset, judge, comparisons, share_a, share_b, share_tie, unparsed``.
    source : dict
        Where the data came from, for run.json.
    """

    name: str
    title: str
    comparisons: Comparisons
    judges: pd.DataFrame
    source: dict

    @property
    def is_surrogate(self) -> bool:
        return self.source.get("surrogate", False)


def data_folders() -> list[Path]:
    """Where data are looked for, in order: the folder named by JUDGERANK_DATA, then data/."""
    named = os.environ.get("JUDGERANK_DATA")
    return [*([Path(named)] if named else []), ROOT / "data"]


def find_file(name: str) -> Path | None:
    """The first file of that name in the data folders (or at that absolute path)."""
    return next((folder / name for folder in data_folders() if (folder / name).is_file()), None)


def load_judgments(dataset: Dataset) -> Judgments:
    """Load a set of judgments, downloading it into data/ if it is nowhere on disk.

    Raises
    ------
    DataError
        If the file is malformed; the record is named.
    ChecksumError
        If the file is well-formed but is not the published one.
    DataUnavailableError
        If it is neither on disk nor reachable.
    """
    path = find_file(dataset.file) or _download(dataset)
    content = path.read_bytes()
    try:
        frame = read_records(content)
        comparisons = Comparisons.from_frame(frame)
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None
    # after the contents, so that a damaged file is described by its damage
    digest = hashlib.sha256(content).hexdigest()
    if dataset.sha256 and digest != dataset.sha256:
        raise ChecksumError(f"{path.name}: its SHA-256 is {digest}, not the published {dataset.sha256}")
    source = {
        "file": path.name,
        "sha256": digest,
        "records": len(frame),
        "dropped": dict(comparisons.dropped),
    }
    return Judgments(dataset.name, dataset.title, comparisons, _judge_table(dataset.name, frame), source)


def _download(dataset: Dataset) -> Path:
    if not dataset.url:
        folders = " or ".join(str(folder) for folder in data_folders())
        raise DataUnavailableError(f"{dataset.file} is not in {folders}, and has no address to fetch it from")
    known = f"sha256:{dataset.sha256}" if dataset.sha256 else None
    try:
        return Path(pooch.retrieve(dataset.url, known, dataset.file, ROOT / "data", progressbar=True))
    except (requests.RequestException, OSError) as error:
        reason = type(error).__name__
        raise DataUnavailableError(f"{dataset.file} is not on disk and cannot be fetched ({reason})") from error
    except ValueError:
        message = f"{dataset.file}: what {dataset.url} sends does not have the published SHA-256"
        raise ChecksumError(message) from None


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
    from datasets import Dataset as Table  # seconds to import, so only when records are read
    from datasets import Features, Value

    types = Features({name: Value("float64" if name == COLUMNS[-1] else "string") for name in COLUMNS})
    return Table.from_list(rows, features=types).to_pandas()


def _normalised(record: object, number: int) -> dict:
    """A record with its question as one string (in-house ones are lists of mixed types)."""
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
    if confidence is not None and (isinstance(confidence, bool) or not isinstance(confidence, int | float)):
        raise DataError(f"record {number} has {confidence!r} as {COLUMNS[-1]!r}, not a number")
    question = row["question_id"]
    row["question_id"] = "/".join(map(str, question)) if isinstance(question, list) else str(question)
    return row


def _judge_table(dataset: str, frame: pd.DataFrame) -> pd.DataFrame:
    """How often each judge was asked and what it answered."""
    answer = frame["judge_preferred_model"].where(frame["judge_preferred_model"].isin(["a", "b", "c"]))
    groups = answer.groupby(frame["judge_model"])
    share = groups.value_counts(normalize=True).unstack(fill_value=0.0)
    share = share.reindex(columns=["a", "b", "c"], fill_value=0.0)
    table = pd.DataFrame({"dataset": dataset, "judge": share.index, "comparisons": groups.count().to_numpy()})
    table[["share_a", "share_b", "share_tie"]] = share.to_numpy()
    table["unparsed"] = (groups.size() - groups.count()).to_numpy()
    return table


def surrogate_judgments(dataset: Dataset, seed: int) -> Judgments:
    """A simulated stand-in of the published size.

    Drawn from the judge-aware fit of the real data stored under ``results/``: scores, discriminations and each
    judge's share of ties, on uniformly random pairs and judges.

    Raises
    ------
    DataUnavailableError
        If no fit of the real data is stored.
    """
    by_model = (
        "chatbot_arena/ranking" if dataset.name == "chatbot_arena" else f"benchmark_alignment/{dataset.name}"
    )
    try:
        scores = pd.read_csv(STORED / f"{by_model}.csv")
        gamma = pd.read_csv(STORED / "judge_reliability/discrimination.csv").query("dataset == @dataset.name")
        ties = pd.read_csv(STORED / "judge_reliability/answers.csv").query("dataset == @dataset.name")
    except FileNotFoundError as error:
        missing = Path(error.filename).name
        raise DataUnavailableError(f"no surrogate of {dataset.name}: the stored {missing} is not there") from None
    comparisons = draw_panel(
        generator(seed, "surrogate", dataset.name),
        dict(zip(scores["model"], scores["score_judge_aware"], strict=True)),
        dict(zip(gamma["judge"], gamma["discrimination"], strict=True)),
        dict(zip(ties["judge"], ties["share_tie"], strict=True)),
        dataset.records,
    )
    source = {"surrogate": True, "seed": seed, "records": dataset.records}
    title = f"{dataset.title} (surrogate)"
    judges = _judge_table(dataset.name, comparisons.to_frame())
    return Judgments(dataset.name, title, comparisons, judges, source)


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
    import datasets

    path = find_file(source)
    options = {"path": "json", "data_files": str(path)} if path else {"path": source}
    try:
        if not path and not datasets.config.HF_HUB_OFFLINE:
            # one quick question instead of half a minute of retries
            requests.head(f"{datasets.config.HF_ENDPOINT}/datasets/{source}", timeout=10).raise_for_status()
        rows = datasets.load_dataset(**options, split="train").select_columns("completions")
    except (OSError, RuntimeError, ValueError, requests.RequestException) as error:
        reason = type(error).__name__
        raise DataUnavailableError(f"the ratings {source!r} cannot be loaded ({reason})") from error
    try:
        ratings = [
            (completion["model"], dimension, completion["annotations"][dimension]["Rating"])
            for row in rows
            for completion in row["completions"]
            for dimension in DIMENSIONS
        ]
    except (KeyError, TypeError) as error:
        raise DataError(f"the ratings {source!r} are not in UltraFeedback's form: {error}") from None
    frame = pd.DataFrame(ratings, columns=["model", "dimension", "rating"])
    frame["rating"] = pd.to_numeric(frame["rating"], errors="coerce")
    groups = frame.groupby(["model", "dimension"], sort=True)["rating"]
    table = groups.agg(rating="mean", n="count", n_missing=lambda values: values.isna().sum())
    return table.reset_index()
