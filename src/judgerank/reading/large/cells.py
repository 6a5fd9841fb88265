"""Files to cells: what `Comparisons.aggregate` gives, without rows in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.frames import require_heard
from judgerank.reading.files import is_files, named
from judgerank.reading.large.numbered import DROPPED, FAULT, NULL, UNKNOWN, Columns, Names, Rows, refuse, rows_of
from judgerank.reading.large.sources import MEMORY, Batch, Engine, session
from judgerank.reading.read import Source, read_judgments

ALIKE = "count(*) AS many, sum(answer::DOUBLE) AS wins"  # of records that count once: a quarter less time
SUMS = "sum(times) AS many, sum(answer * times) AS wins"
TIES = ", sum(times) FILTER (answer = 1) AS ties"


def aggregate(
    files: Source,
    form: str | None = None,
    columns: Columns | None = None,
    winner_values: Mapping[str, str] | None = None,
    memory: str = MEMORY,
    ties: bool = False,
) -> Comparisons:
    """Comparisons in files, aggregated by an engine that reads them in parts and spills to disk.

    The same cells as ``judgerank.read(files).comparisons.aggregate()``, from files of any size: CSV, JSON and JSON
    Lines, and Parquet, compressed or not, by a path, a pattern, or an address such as ``s3://bucket/file.parquet``.
    They must be in one form and in the paper's columns, the arena's, or those that are named. What is no file is
    read and aggregated in memory.

    Parameters
    ----------
    files, form, columns, winner_values
        Those of `judgerank.reading.read.read_judgments`. Questions are not looked at, unless they are asked for
        (`judgerank.fits.errors_by_question`).
    memory : str
        What the engine may hold: a share of the machine's, such as ``"25%"``, or an amount, such as ``"4GB"``.
        The cells that are given back take 28 bytes each beside it.
    ties : bool
        Whether to keep track of ties (`Comparisons.with_ties`).

    Raises
    ------
    DataUnavailableError
        If there is no such file.
    DataError
        Naming the file, and the record or line (counted from 1) or the column at fault; if no answer can be
        read; if no engine reads the layout.
    ConfigError
        If the form is not known; if an answer is to mean something else; if the memory does not suffice.

    Examples
    --------
    >>> import judgerank
    >>> cells = judgerank.aggregate(judgerank.example())
    >>> int(cells.n_comparisons), len(cells.judges)
    (1500, 5)
    """
    if not is_files(files):
        read = read_judgments(files, form, columns, winner_values).comparisons
        return (read.with_ties() if ties else read).aggregate()
    with session(memory) as db:
        rows = rows_of(db, files, form, columns, winner_values)
        batch = db.fetched(cells_of(rows.names, rows.query(), ties or rows.counted, not rows.counted))
        dropped = checked(db, rows, batch["first"], batch["count"])
    with named(*rows.labels):
        require_heard(batch["first"][batch["first"] >= 0])
        cells = comparisons_of(rows.names, batch)
    return replace(cells, dropped=dropped)


def cells_of(names: Names, query: str, ties: bool, alike: bool) -> str:
    """A query for the columns of `Comparisons` in cells, sorted, of a query for ``cell, answer, times``.

    What stands in the place of a cell comes first, as the model shown first.

    Parameters
    ----------
    ties, alike : bool
        Whether ties are wanted; whether times are all one.
    """
    sums = (ALIKE if alike else SUMS) + (TIES if ties else "")
    n, k = len(names.models), len(names.judges)
    columns = [
        f"(CASE WHEN cell < 0 THEN cell ELSE cell // {n * k} END)::INTEGER AS first",
        f"(cell // {k} % {n})::INTEGER AS second, (cell % {k})::INTEGER AS judge",
        "wins / (2 * many) AS outcome, many::DOUBLE AS count",
    ]
    if ties:  # as in `Comparisons.aggregate`, where rounding may take them too far
        columns.append("least(coalesce(ties, 0) / many, 2 * least(outcome, 1 - outcome)) AS tied")
    # the order first, of fewer bytes a cell
    return f"SELECT {', '.join(columns)} FROM (SELECT cell, {sums} FROM ({query}) GROUP BY cell ORDER BY cell)"


def checked(db: Engine, rows: Rows, cell: IntArray, count: FloatArray) -> dict[str, int]:
    """Records that were dropped, by reason, from the start of what stands in the place of cells.

    Raises
    ------
    DataError
        If a record is at fault.
    """
    if len(cell) and cell[0] == FAULT:
        refuse(db, rows)
    dropped, most = {DROPPED[UNKNOWN]: 0, DROPPED[NULL]: 0}, len(DROPPED)
    for code, n_records in zip(cell[:most].tolist(), count[:most].tolist(), strict=True):
        if code < 0:
            dropped[DROPPED[code]] = int(n_records)
    return dropped


def places_of(names: Names, cell: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """First, second and judge of cells, int arrays."""
    pair, judge = np.divmod(cell, len(names.judges))
    first, second = np.divmod(pair, len(names.models))
    return first.astype(np.int32), second.astype(np.int32), judge.astype(np.int32)


def comparisons_of(names: Names, batch: Batch) -> Comparisons:
    """The cells that `cells_of` gives, without what stands in the place of cells; of judges those that have some.

    Raises
    ------
    DataError
        If there are no cells.
    """
    start = np.count_nonzero(batch["first"][: len(DROPPED)] < 0)
    columns: dict[str, Any] = {name: column[start:] for name, column in batch.items()}
    return Comparisons(names.models, names.judges, **columns).heard()
