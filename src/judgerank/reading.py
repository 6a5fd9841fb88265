"""Judgments of one's own, from files in any of the layouts that are recognised."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.comparisons import Comparisons
from judgerank.errors import ConfigError, DataError
from judgerank.files import Files, labels_of, named, paths_of, place_of, title_of
from judgerank.forms import opened
from judgerank.frames import OUTCOMES, codes, counts, finite, standardised_log
from judgerank.judgments import Judgments
from judgerank.layouts import Layout, Table, recognised
from judgerank.layouts.scores import paired
from judgerank.layouts.table import ASK, COLUMNS, ONE_JUDGE, require_models
from judgerank.layouts.words import ANSWERS, meanings

__all__ = ["ANSWERS", "ASK", "COLUMNS", "ONE_JUDGE", "judgments_of", "read_judgments"]


def read_judgments(
    path: Files,
    form: str | None = None,
    columns: Mapping[str, str | None] | None = None,
    winner_values: Mapping[str, str] | None = None,
    baseline: str | None = None,
) -> Judgments:
    """Read judgments from files, each in one of the layouts that are known by their columns.

    Parameters
    ----------
    path : str or Path, or several
        Patterns such as ``logs/*.jsonl`` are resolved. Compressed files (gzip, zstd) are read, too.
    form : {"json", "jsonl", "csv", "tsv", "parquet", "eval"}, optional
        By default what the file's name ends in.
    columns : mapping of str to str, optional
        Names of the file's columns where they are not the usual ones: ``model_a`` (shown first), ``model_b``,
        ``winner``, and, if there are any, ``judge``, ``question``, ``length``, ``category``, ``reply`` (what the
        judge wrote) and ``human`` (whether a person judged). ``count`` names a column that says how many like
        judgments a record stands for; null counts every record once. Unless it is there (or
        ``"ask"``), a column that looks like one is refused, since either reading could be meant.
    winner_values : mapping of str to str, optional
        Words for the winner, and what they mean: ``a``, ``b``, ``tie`` or ``unknown``. Where a record holds two
        games by name, as FastChat's do, ``a`` is the model in the first of its columns.
    baseline : str, optional
        The model that all others were compared with, where the records do not name it.

    Returns
    -------
    Judgments
        In the published columns. Without a column of judges all records are by one. A length becomes the
        comparisons' covariate, its logarithm standardised as in the paper's appendix F.6.1.

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    DataError
        Naming the file, and the record or line (counted from 1), the column or the judge at fault.
    ConfigError
        If the form is not known, or the file's name does not tell it; if an answer is to mean something else;
        if a baseline is told that is not wanted.
    """
    paths, words = paths_of(path), meanings(winner_values)
    tables, told = [], []
    for one, label in zip(paths, labels_of(paths), strict=True):
        content, read = opened(one, form)
        digest = hashlib.sha256(content).hexdigest()
        told.append({"file": one.name, "path": str(one.absolute()), "sha256": digest})
        with named(label):
            tables.append(Table(read(content), columns or {}, words, one, label, baseline))
    source: dict[str, object] = {**told[0]}
    if len(paths) > 1:
        source = {"file": f"{len(paths)} files", "path": place_of(paths), "files": told}
    return judgments_from(tables, title_of(paths), source)


def judgments_of(
    table: pd.DataFrame,
    columns: Mapping[str, str | None] | None = None,
    name: str = "judgments",
    source: Mapping[str, object] | None = None,
    winner_values: Mapping[str, str] | None = None,
    baseline: str | None = None,
) -> Judgments:
    """Judgments in a table, in the columns of `read_judgments`, which says what is raised."""
    one = Table(table, columns or {}, meanings(winner_values), baseline=baseline)
    return judgments_from([one], name, source)


def judgments_from(tables: Sequence[Table], name: str, source: Mapping[str, object] | None = None) -> Judgments:
    """Judgments in all of the tables; `read_judgments` says what is raised."""
    parts = [_read(table, alone=len(tables) == 1) for table in tables]
    with named(*(table.label for table in tables if table.label)):
        frame, remarks = _together(tables, parts)
        comparisons = comparisons_of(frame)
    layouts = list(dict.fromkeys(layout.name for layout, _ in parts))
    told = {**(source or {}), "layout": layouts[0] if len(layouts) == 1 else layouts}
    told |= {"records": sum(len(table.frame) for table in tables), "dropped": dict(comparisons.dropped)}
    return Judgments(name, name, frame, comparisons, told, remarks=tuple(remarks))


def comparisons_of(frame: pd.DataFrame) -> Comparisons:
    """The comparisons in records in the published columns, with the counts, shares and lengths beside them.

    Raises
    ------
    DataError
        If they are no comparisons, naming the record.
    """
    comparisons = Comparisons.from_frame(frame, count="count" if "count" in frame else None)
    parsed = frame["judge_preferred_model"].isin(list(OUTCOMES)).to_numpy()
    if "outcome" in frame:
        shares = pd.to_numeric(frame["outcome"][parsed]).to_numpy(float)
        comparisons = replace(comparisons, outcome=np.where(np.isnan(shares), comparisons.outcome, shares))
    if "length" in frame:
        comparisons = replace(comparisons, covariate=standardised_log(finite(frame["length"], parsed)))
    return comparisons


def _read(table: Table, alone: bool) -> tuple[Layout, pd.DataFrame]:
    """A table's layout and its records; of several tables, all that could be wrong with one is looked at here."""
    with named(*filter(None, [table.label])):
        layout = recognised(table)
        if layout.of_scores and (any(table.said.values()) or table.words):
            raise ConfigError(f"columns and winner values are not those of {layout.name}, which holds scores")
        if table.baseline is not None and not layout.lacks_baseline(table):
            raise ConfigError(f"a baseline is told, and records in {layout.name} do not lack one: leave it out")
        frame = layout.to_frame(table)
        if not alone and not layout.of_scores:
            require_models(frame)
            codes(frame, ["judge_model"])
            if "count" in frame:
                counts(frame["count"])
    return layout, frame


def _together(
    tables: Sequence[Table], parts: Sequence[tuple[Layout, pd.DataFrame]]
) -> tuple[pd.DataFrame, list[str]]:
    """All records in one table, scores made into comparisons, and what to know of it."""
    frames = [frame for layout, frame in parts if not layout.of_scores]
    scores = [frame for layout, frame in parts if layout.of_scores]
    remarks = list(
        dict.fromkeys(f"Read as {layout.name}. {layout.remark}" for layout, _ in parts if layout.remark)
    )
    if scores:
        made, said = paired(pd.concat(scores, ignore_index=True))
        frames.append(made)
        remarks.append(said)
    frame = frames[0] if len(frames) == 1 else _stacked(frames)
    remarks += _on_weights(frame)
    return frame, remarks


def _stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Records of several files, which must agree on having questions and lengths."""
    for name in ("question_id", "length"):
        there = {name in frame for frame in frames}
        if len(there) > 1:
            raise DataError(f"some of the files have {name!r}, and others do not: rank them apart")
    frame = pd.concat(frames, ignore_index=True)
    if "count" in frame:
        frame["count"] = frame["count"].fillna(1)
    return frame


def _on_weights(frame: pd.DataFrame) -> Iterator[str]:
    if "outcome" in frame:
        weighted = pd.to_numeric(frame["outcome"]).dropna()
        many = int((~weighted.isin(list(OUTCOMES.values()))).sum())
        yield f"{many} answers are weights between the two models; in shares of answers each is the nearer one's."
        if many and "question_id" not in frame:
            yield (
                "Weights vary less than answers do. Without questions errors are those of answers, and intervals "
                "mostly too wide (column question=NAME; a column that numbers the judgments will do)."
            )
