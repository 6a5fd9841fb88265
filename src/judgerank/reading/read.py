"""Judgments of one's own, from files in any of the layouts that are recognised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.reading.contents import COLUMNS
from judgerank.reading.file_formats import opened
from judgerank.reading.files import (
    Files,
    file_names,
    is_files,
    label_of,
    labels_of,
    named,
    paths_of,
    place_of,
    title_of,
)
from judgerank.reading.from_tables import judgments_from
from judgerank.reading.hub import on_revisions
from judgerank.reading.large.from_engine import are_large, records_of
from judgerank.reading.layouts import Table
from judgerank.reading.layouts.names import require_copies, require_names
from judgerank.reading.layouts.paths import is_path
from judgerank.reading.layouts.table import ASK, EXACT, ONE_JUDGE
from judgerank.reading.layouts.unordered import won_lost
from judgerank.reading.layouts.words import ANSWERS, meanings
from judgerank.reading.selection import Selection
from judgerank.reading.tabular import Pairs, Tabular, are_pairs, frame_of, is_tabular, refuse_other
from judgerank.writing.sidecars import digest

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
    *,
    without_judge: str | Iterable[str] = (),
    only_judge: str | Iterable[str] = (),
    without_model: str | Iterable[str] = (),
    category: str | Iterable[str] = (),
    keep: Sequence[str] = (),
) -> Judgments:
    """Read judgments from files or a table, each in one of the layouts that are known by their columns.

    Parameters
    ----------
    path : str or Path, or several; or a table; or Comparisons; or Judgments, which are given back
        Patterns such as ``logs/*.jsonl`` and folders are resolved, ``-`` is standard input, and ``votes.db::june``
        one table of a file that has several. ``hf:owner/name`` is a set on the Hugging Face hub, and
        ``hf:owner/name::test`` one split of it (`hub.Address`). Compressed files (gzip, zstd, bzip2, xz,
        zip) are read, too. A table is a frame of pandas, anything with Arrow's PyCapsule protocol (polars, DuckDB,
        pyarrow), a dict of columns, a list of dicts, or a list of pairs (winner, loser). An index of pandas is a
        column if it has the name of one.
    form : str, optional
        One of `judgerank.reading.file_formats.READERS`; by default what the file's name ends in.
    columns : mapping of str to str, optional
        Names of the file's columns where they are not the usual ones: ``model_a`` (shown first), ``model_b``,
        ``winner``, and, if there are any, ``judge``, ``question``, ``length``, ``category``, ``reply`` (what the
        judge wrote), ``human`` (whether a person judged) and ``strength`` (1 or better, 2 or much
        better, and so on).
        ``model`` and ``score`` are of tables of scores.
        ``count`` names a column that says how many like judgments a record stands for; null counts every record
        once. Unless it is there (or ``"ask"``), a column that looks like one is refused, since either
        reading could be meant. ``swapped`` names one that is true where model_b was shown first though the winner
        still names its column. ``valid`` names one that says which records count; null counts all. ``judges``
        names the judges of a wide table, separated by commas, and so do ``tasks`` and ``models`` in a wide table
        of scores; after ``!`` are the columns that are none. ``run`` names repeated runs of a task in a table of
        scores. A name may be a path, such as
        ``data.model_id`` or ``answers[*].rank``, and may be written in another way (``Judge``, ``model-a``). A
        column that is nearly a known one is refused, unless its key is there; None says that there is none.
    winner_values : mapping of str to str, optional
        Words for the winner, and what they mean: ``a``, ``b``, ``tie`` or ``unknown``. Where a record holds two
        games by name, as FastChat's do, ``a`` is the model in the first of its columns.
    baseline : str, optional
        The model that all others were compared with, where the records do not name it.
    encoding : str, optional
        Of texts that are not UTF-8 and do not say what they are, such as ``cp1252``.
    names : {"ask", "fold", "exact"}
        Names of models and judges that look the same are one name. Those that differ in case alone are refused
        (``ask``) or one (``fold``); ``None``, ``nan`` and the like are refused as missing. ``exact`` keeps all
        names as they are written.
    copies : {"ask", "keep", "drop"}
        Records that are exact copies of others count (``keep``), or do not (``drop``). By default a set is refused
        whose records are doubled.
    without_judge, only_judge : str or collection of str
        Judges whose judgments do not count, or whose judgments alone count. An argument like this is an option of
        the command: ``--without-judge NAME``, given once for every name.
    without_model : str or collection of str
        Models whose comparisons do not count. Rankings of several answers become rankings of the others.
    category : str or collection of str
        Categories whose judgments alone count.
    keep : sequence of str
        Further columns to keep in the records, such as that of the unit that was sampled (``cluster`` of
        `judgerank.rank`).

    Returns
    -------
    Judgments
        In the published columns. A judge none of whose answers can be read keeps its records, and has no
        comparisons, which a remark says. Without a column of judges all records are by one. A length becomes the
        comparisons' covariate, its logarithm standardised as in the paper's appendix F.6.1.

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    DataError
        Naming the file, and the record or line (counted from 1), the column or the judge at fault.
    ConfigError
        If the form is not known, or the file's name does not tell it; if an answer is to mean something else;
        if a baseline is given that is not wanted; if an option does not apply to the source; if no record has a
        name that is to be left out or kept.

    Examples
    --------
    >>> import judgerank
    >>> judgments = judgerank.read(judgerank.example())
    >>> judgments.comparisons.models
    ('cedar', 'hazel', 'maple', 'oak', 'thorn', 'willow')
    """
    selection = Selection.of(
        without_judge=without_judge, only_judge=only_judge, without_model=without_model, category=category
    )
    return selection.applied(
        _read(path, form, columns, winner_values, baseline, encoding, names, copies, tuple(keep))
    )


def _read(
    path: Source,
    form: str | None,
    columns: Mapping[str, str | None] | None,
    winner_values: Mapping[str, str] | None,
    baseline: str | None,
    encoding: str | None,
    names: str,
    copies: str,
    keep: tuple[str, ...],
) -> Judgments:
    """All judgments of a source, as `read_judgments` describes them."""
    require_names(names)
    require_copies(copies)
    if are_pairs(path):
        path = won_lost(path)
    if isinstance(path, Comparisons):
        path = Judgments.of(path)
    if isinstance(path, Judgments) or is_tabular(path):
        if form is not None or encoding is not None:
            raise ConfigError("a form and an encoding are those of a file, and this source is not a file")
        if not isinstance(path, Judgments):
            return judgments_of(frame_of(path), columns, winner_values, baseline, names, copies, keep)
        if columns or winner_values or baseline or (names, copies) != (ASK, ASK):
            raise ConfigError("columns are those of a file or a table, and this source has its own")
        return path
    if not is_files(path):
        refuse_other(path)
    paths, words = paths_of(path), meanings(winner_values)
    settings = {"baseline": baseline, "encoding": encoding, "names": names, "copies": copies}
    options = _options(form, columns, winner_values, settings)
    how = {"given": file_names(path), **({"options": options} if options else {})}
    plain = baseline is None and encoding is None and names != EXACT and not set(keep) - set(COLUMNS)
    plain = (
        plain
        and not {"valid", "judges", "tasks", "models"} & {*(columns or {})}
        and not any(map(is_path, filter(None, (columns or {}).values())))
    )
    if plain and are_large(paths, form):
        large = _large(paths, form, columns, winner_values, copies)
        if large is not None:
            return replace(large, source={**large.source, **how})
    tables, sources = [], []
    for file_path, label in zip(paths, labels_of(paths), strict=True):
        with named(label):
            file = opened(file_path, form, encoding)
            records = file.read()
            table = Table(records, columns or {}, words, file_path, label, baseline, names, copies, keep=keep)
            tables.append(table)
        sources.append(
            {"file": label_of(file_path), "path": place_of([file_path]), "sha256": file.sha256, **file.about}
        )
    judgments = judgments_from(tables, title_of(paths), {**_source(paths, sources), **how})
    return replace(judgments, remarks=(*judgments.remarks, *on_revisions(sources)))


def _options(
    form: str | None,
    columns: Mapping[str, str | None] | None,
    winner_values: Mapping[str, str] | None,
    settings: Mapping[str, str | None],
) -> list[str]:
    """How files are read, as the options of a command; of `settings` those that are not None or "ask"."""
    options = [] if form is None else ["--format", form]
    for option, pairs in (("--column", columns), ("--winner-values", winner_values)):
        for key, value in (pairs or {}).items():
            options += [option, f"{key}={'null' if value is None else value}"]
    for name, setting in settings.items():
        options += [] if setting is None or setting == ASK else [f"--{name}", setting]
    return options


def _source(paths: Sequence[Path], sources: Sequence[Mapping[str, object]]) -> dict[str, object]:
    if len(paths) == 1:
        return {**sources[0]}
    return {"file": f"{len(paths)} files", "path": place_of(paths), "files": list(sources)}


def _large(
    paths: Sequence[Path],
    form: str | None,
    columns: Mapping[str, str | None] | None,
    winner_values: Mapping[str, str] | None,
    copies: str,
) -> Judgments | None:
    """Judgments read by an engine, with names as categories; None where no engine reads such files."""
    records = records_of(paths, form, columns, winner_values, copies)
    if records is None:
        return None
    sources = [
        {"file": label_of(file_path), "path": place_of([file_path]), "sha256": digest(file_path)}
        for file_path in paths
    ]
    source = {**_source(paths, sources), "layout": records.layout, "records": len(records.frame)}
    source["dropped"] = dict(records.comparisons.dropped)
    title = title_of(paths)
    return Judgments(title, title, records.frame, records.comparisons, source, remarks=records.remarks)


def comparisons_in(source: Comparisons | Source) -> Comparisons:
    """The comparisons themselves, or those in anything that `read_judgments` reads, which says what is raised."""
    return source if isinstance(source, Comparisons) else read_judgments(source).comparisons


def judgments_of(
    table: pd.DataFrame,
    columns: Mapping[str, str | None] | None = None,
    winner_values: Mapping[str, str] | None = None,
    baseline: str | None = None,
    names: str = ASK,
    copies: str = ASK,
    keep: tuple[str, ...] = (),
) -> Judgments:
    """Judgments in a table, in the columns of `read_judgments`, which says what is raised."""
    require_names(names)
    require_copies(copies)
    words = meanings(winner_values)
    judgment_table = Table(table, columns or {}, words, None, "", baseline, names, copies, keep=keep)
    return judgments_from([judgment_table], "judgments", None)
