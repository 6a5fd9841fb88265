"""Judgments of one's own, from files in any of the layouts that are recognised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError
from judgerank.data.frames import NO_QUESTION, OUTCOMES, codes, counts, finite, standardised_log
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted
from judgerank.reading.accepted import COLUMNS
from judgerank.reading.file_formats import opened
from judgerank.reading.files import Files, is_files, label_of, labels_of, named, paths_of, place_of, title_of
from judgerank.reading.hub import on_revisions
from judgerank.reading.joining import Part, together
from judgerank.reading.layouts import Layout, Table, recognised
from judgerank.reading.layouts.doubled import require_copies, without_copies
from judgerank.reading.layouts.names import require_names, with_answers
from judgerank.reading.layouts.recognised import on_reading, winner_written
from judgerank.reading.layouts.strength import STRENGTH, shares_of
from judgerank.reading.layouts.swaps import shown_as_told
from judgerank.reading.layouts.table import ASK, ONE_JUDGE, require_models
from judgerank.reading.layouts.unordered import by_name, won_lost
from judgerank.reading.layouts.words import ANSWERS, meanings
from judgerank.reading.tabular import Pairs, Tabular, are_pairs, frame_of, is_tabular, refuse_other

__all__ = ["ANSWERS", "ASK", "COLUMNS", "ONE_JUDGE", "Source", "comparisons_in", "judgments_of", "read_judgments"]
Source = Files | Tabular | Pairs | Judgments | Comparisons


def read_judgments(
    path: Source,
    form: str | None = None,
    columns: Mapping[str, str | None] | None = None,
    winner_values: Mapping[str, str] | None = None,
    baseline: str | None = None,
    encoding: str | None = None,
    names: str = ASK,
    copies: str = ASK,
    silent: bool = False,
) -> Judgments:
    """Read judgments from files or a table, each in one of the layouts that are known by their columns.

    Parameters
    ----------
    path : str or Path, or several; or a table; or Comparisons; or Judgments, which are given back
        Patterns such as ``logs/*.jsonl`` and folders are resolved, ``-`` is standard input, and ``votes.db::june``
        one table of a file that has several. ``hf:owner/name`` is a set on the Hugging Face hub, and
        ``hf:owner/name::test`` one split of it (`hub.Place`). Compressed files (gzip, zstd, bzip2, xz,
        zip) are read, too. A table is a frame of pandas, anything with Arrow's PyCapsule protocol (polars, DuckDB,
        pyarrow), a dict of columns, a list of dicts, or a list of pairs (winner, loser).
    form : str, optional
        One of `judgerank.reading.file_formats.READERS`; by default what the file's name ends in.
    columns : mapping of str to str, optional
        Names of the file's columns where they are not the usual ones: ``model_a`` (shown first), ``model_b``,
        ``winner``, and, if there are any, ``judge``, ``question``, ``length``, ``category``, ``reply`` (what the
        judge wrote), ``human`` (whether a person judged) and ``strength`` (1 or better, 2 or much better).
        ``model`` and ``score`` are of tables of scores.
        ``count`` names a column that says how many like judgments a record stands for; null counts every record
        once. Unless it is there (or ``"ask"``), a column that looks like one is refused, since either
        reading could be meant. ``swapped`` names one that is true where model_b was shown first though the winner
        still names its column. A name may be written in another way (``Judge``, ``model-a``). A column that is
        nearly a known one is refused, unless its key is there; None says that there is none.
    winner_values : mapping of str to str, optional
        Words for the winner, and what they mean: ``a``, ``b``, ``tie`` or ``unknown``. Where a record holds two
        games by name, as FastChat's do, ``a`` is the model in the first of its columns.
    baseline : str, optional
        The model that all others were compared with, where the records do not name it.
    encoding : str, optional
        Of texts that are not UTF-8 and do not say what they are, such as ``cp1252``.
    names : {"ask", "fold", "exact"}
        Names of models and judges that look the same are one name. Those that differ in case alone are refused
        (``ask``) or one (``fold``); ``exact`` keeps all names as they are written.
    copies : {"ask", "keep", "drop"}
        Records that are exact copies of others count (``keep``), or do not (``drop``). By default a set is refused
        whose records are doubled.
    silent : bool
        Whether a judge none of whose answers can be read keeps its records, and only has no comparisons. By
        default it is refused, since nothing can be fitted for it.

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
        if a baseline is given that is not wanted; if an option does not apply to the source.
    """
    require_names(names)
    require_copies(copies)
    if are_pairs(path):
        path = won_lost(path)
    if isinstance(path, Comparisons):
        path = Judgments.of(path)
    if isinstance(path, Judgments) or is_tabular(path):
        if form is not None or encoding is not None:
            raise ConfigError("a form and an encoding are those of a file, and this source is none")
        if not isinstance(path, Judgments):
            return judgments_of(
                frame_of(path),
                columns,
                winner_values=winner_values,
                baseline=baseline,
                names=names,
                copies=copies,
                silent=silent,
            )
        if columns or winner_values or baseline or (names, copies) != (ASK, ASK):
            raise ConfigError("columns are those of a file or a table, and this source has its own")
        return path
    if not is_files(path):
        refuse_other(path)
    paths, words = paths_of(path), meanings(winner_values)
    tables, told = [], []
    for one, label in zip(paths, labels_of(paths), strict=True):
        with named(label):
            file = opened(one, form, encoding)
            tables.append(Table(file.read(), columns or {}, words, one, label, baseline, names, copies))
        told.append({"file": label_of(one), "path": place_of([one]), "sha256": file.sha256, **file.about})
    source: dict[str, object] = {**told[0]}
    if len(paths) > 1:
        source = {"file": f"{len(paths)} files", "path": place_of(paths), "files": told}
    judgments = judgments_from(tables, title_of(paths), source, silent)
    return replace(judgments, remarks=(*judgments.remarks, *on_revisions(told)))


def comparisons_in(source: Comparisons | Source) -> Comparisons:
    """The comparisons themselves, or those in anything that `read_judgments` reads, which says what is raised."""
    return source if isinstance(source, Comparisons) else read_judgments(source).comparisons


def judgments_of(
    table: pd.DataFrame,
    columns: Mapping[str, str | None] | None = None,
    name: str = "judgments",
    source: Mapping[str, object] | None = None,
    winner_values: Mapping[str, str] | None = None,
    baseline: str | None = None,
    names: str = ASK,
    copies: str = ASK,
    silent: bool = False,
) -> Judgments:
    """Judgments in a table, in the columns of `read_judgments`, which says what is raised."""
    require_names(names)
    require_copies(copies)
    one = Table(table, columns or {}, meanings(winner_values), None, "", baseline, names, copies)
    return judgments_from([one], name, source, silent)


def judgments_from(
    tables: Sequence[Table], name: str, source: Mapping[str, object] | None = None, silent: bool = False
) -> Judgments:
    """Judgments in all of the tables; `read_judgments` says what is raised."""
    settled = [_settled(table) for table in tables]
    labels = [table.label for table in tables if table.label]
    with named(*labels):
        settled, copies = without_copies(settled, tables[0].copies)
    read = [(layout, table, _read(layout, table, alone=len(tables) == 1)) for layout, table in settled]
    parts, left_out = _with_questions(read)
    with named(*labels):
        frame, remarks = together(parts, tables[0].names)
        remarks = [*on_reading(settled), *copies, *remarks]
        ordered = all(layout.ordered for layout, *_ in parts)
        always = winner_written(frame) if ordered else []
        ordered = ordered and not always
        frame = frame if ordered else by_name(frame)
        comparisons = comparisons_of(frame, ordered, silent)
    if left_out:
        comparisons = replace(comparisons, dropped={**comparisons.dropped, NO_QUESTION: left_out})
        remarks.insert(0, f"Left out: {left_out} judgments without a question.")
    layouts = list(dict.fromkeys(layout.name for layout, *_ in parts))
    told = {**(source or {}), "layout": layouts[0] if len(layouts) == 1 else layouts}
    told |= {"records": sum(len(table.frame) for table in tables), "dropped": dict(comparisons.dropped)}
    return Judgments(name, name, frame, comparisons, told, remarks=(*always, *remarks))


def comparisons_of(frame: pd.DataFrame, ordered: bool = True, silent: bool = False) -> Comparisons:
    """The comparisons in records in the published columns, with the counts, shares and lengths beside them.

    Parameters
    ----------
    frame : DataFrame
    ordered : bool
        Whether ``model_a`` was shown first.
    silent : bool
        Whether judges none of whose answers can be read are left out, rather than refused.

    Raises
    ------
    DataError
        If they are no comparisons, naming the record.
    """
    parsed = frame["judge_preferred_model"].isin(list(OUTCOMES)).to_numpy()
    if silent:
        if len(frame) and not parsed.any():
            raise DataError(f"none of the {counted(len(frame), 'record')} has an answer that can be read")
        heard = frame["judge_model"].isin(frame["judge_model"][parsed]).to_numpy()
        frame, parsed = frame[heard], parsed[heard]
    comparisons = Comparisons.from_frame(frame, count="count" if "count" in frame else None)
    if "outcome" in frame:
        shares = pd.to_numeric(frame["outcome"][parsed]).to_numpy(float)
        comparisons = replace(comparisons, outcome=np.where(np.isnan(shares), comparisons.outcome, shares))
    if STRENGTH in frame and "outcome" not in frame:
        comparisons = replace(comparisons, strong=shares_of(frame)[parsed])
    if "length" in frame:
        comparisons = replace(comparisons, covariate=standardised_log(finite(frame["length"], parsed)))
    return comparisons if ordered else replace(comparisons, ordered=False)


def _settled(table: Table) -> tuple[Layout, Table]:
    """A table's layout, and the table with the names of that layout's columns."""
    with named(*filter(None, [table.label])):
        layout, table = recognised(table)
        _refuse_what_is_not_taken(table, layout)
        if table.baseline is not None and not layout.lacks_baseline(table):
            raise ConfigError(f"a baseline is given, but records in {layout.name} name both models: leave it out")
        return layout, table


def _read(layout: Layout, table: Table, alone: bool) -> pd.DataFrame:
    """A table's records; of several tables, all that could be wrong with one is looked at here."""
    with named(*filter(None, [table.label])):
        frame = shown_as_told(layout.to_frame(with_answers(table, layout)))
        # what is wrong is named by its record, so before any are put together or left out
        if not layout.of_scores and (not alone or _lacks_question(frame).any()):
            require_models(frame)
            codes(frame, ["judge_model"])
            if "count" in frame:
                counts(frame["count"])
        return frame


def _lacks_question(frame: pd.DataFrame) -> BoolArray:
    """Which records have no question though there is a column of them, shape (records,)."""
    there = "question_id" in frame
    return frame["question_id"].isna().to_numpy() if there else np.zeros(len(frame), bool)


def _with_questions(parts: Sequence[Part]) -> tuple[list[Part], int]:
    """The same without the few records that lack a question, and how many judgments these are."""
    kept, left_out = [], 0
    for layout, table, frame in parts:
        lacks = np.zeros(len(frame), bool) if layout.of_scores else _lacks_question(frame)
        times = counts(frame["count"])[lacks].sum() if lacks.any() and "count" in frame else lacks.sum()
        left_out += int(times)
        kept.append((layout, table, frame[~lacks].reset_index(drop=True) if lacks.any() else frame))
    return kept, left_out


def _refuse_what_is_not_taken(table: Table, layout: Layout) -> None:
    """Refuse names of columns, and words for the winner, that a layout has no use for."""
    if layout.takes is None:
        return
    named = [key for key, name in table.said.items() if name is not None and key not in layout.takes]
    if named or table.words:
        what = f"--column {named[0]}=NAME is" if named else "winner values are"
        raise ConfigError(f"{what} not for {layout.name}: leave that out")
