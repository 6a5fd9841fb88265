"""Ratios of the bench beside those stored: which are worse by more than noise, and the table that pages show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from replication.config import ROOT
from replication.machine import commit
from replication.records import store
from replication.tables import Table, markdown_table

STORED = ROOT / "results/beyond/bench"
RATIOS, GROWTH = "ratios", "growth"  # tables
MADE_BY = [
    "code",
    "settings",
    "data",
    "commit",
    "date",
]  # of the run that measured a row, which others may not have
COLUMNS = ["row", "measure", "ratio", "goal", "before", *MADE_BY]
MOST, LEAST = "at most ", "at least "


class Measured(NamedTuple):
    """One line of the bench: what was measured, over what, and what the ratio is to be."""

    row: str
    measure: str
    first: float
    second: float
    goal: str

    @property
    def ratio(self) -> float:
        return self.first / self.second

    @property
    def bound(self) -> float | None:
        """What the ratio is to be at most or at least; None where there is no goal."""
        return float(self.goal.removeprefix(MOST).removeprefix(LEAST)) if self.goal else None

    @property
    def met(self) -> bool:
        """Whether the goal is met, or there is none."""
        if self.bound is None:
            return True
        return self.ratio <= self.bound if self.goal.startswith(MOST) else self.ratio >= self.bound


def measured(
    row: str, run: Callable[[], Iterable[tuple]], stored: pd.DataFrame, tolerance: float, again: int
) -> list[Measured]:
    """The lines of a row; measured again, and the medians taken, while one is worse than stored.

    Parameters
    ----------
    row : str
    run : callable
        Gives ``measure, first, second, goal`` of every line.
    stored : DataFrame
        ``row, measure, ratio, goal, before``.
    tolerance : float
        Share by which a ratio may be worse.
    again : int
        How often to measure again, so that one that is worse is so in the median of all.
    """
    rounds = [[Measured(row, *line) for line in run()]]
    while len(rounds) <= again and worse(_medians(rounds), stored, tolerance):
        rounds.append([Measured(row, *line) for line in run()])
    return _medians(rounds)


def _medians(rounds: Sequence[Sequence[Measured]]) -> list[Measured]:
    """Of several runs of a row the lines with the median ratio."""
    median_lines = []
    for lines in zip(*rounds, strict=True):
        middle = median(line.ratio for line in lines)
        median_lines.append(min(lines, key=lambda line: abs(line.ratio - middle)))
    return median_lines


def worse(lines: Iterable[Measured], stored: pd.DataFrame, tolerance: float) -> list[str]:
    """A sentence on every line with a goal whose ratio is worse than stored by more than the tolerance."""
    stored_ratio = stored.set_index("measure")["ratio"].dropna()
    sentences = []
    for line in lines:
        before = stored_ratio.get(line.measure)
        if before is None or not line.goal:
            continue
        factor = line.ratio / before if line.goal.startswith(MOST) else before / line.ratio
        if factor > 1 + tolerance:
            sentences.append(f"{line.row}: {line.measure}: {line.ratio:.3g}, stored {before:.3g} ({line.goal})")
    return sentences


def read(folder: Path) -> pd.DataFrame:
    """The stored ratios; none where there are none, and NaN where only the one before is known."""
    path = folder / f"{RATIOS}.csv"
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    texts = {name: str for name in COLUMNS if name != "ratio"}
    return pd.read_csv(path, dtype=texts).reindex(columns=COLUMNS).fillna(dict.fromkeys(texts, ""))


def with_measured(stored: pd.DataFrame, lines: Sequence[Measured], made_by: Mapping[str, str]) -> pd.DataFrame:
    """The stored ratios with those of some rows in place of theirs; those before and other rows stay as they are.

    Parameters
    ----------
    stored : DataFrame
        As of `read`.
    lines : sequence of Measured
    made_by : mapping of str to str
        By the names in `MADE_BY`, of the run that measured the lines.
    """
    before = stored.set_index("measure")["before"]
    new = [
        [line.row, line.measure, float(f"{line.ratio:.4g}"), line.goal, before.get(line.measure, ""), *made]
        for line in lines
        for made in [[made_by[name] for name in MADE_BY]]
    ]
    rows = {line.row for line in lines}
    parts = [stored[~stored["row"].isin(rows)], pd.DataFrame(new, columns=COLUMNS)]
    return pd.concat([part for part in parts if len(part)], ignore_index=True).sort_values("row", kind="stable")


def keep(
    folder: Path,
    lines: Sequence[Measured],
    stored: pd.DataFrame,
    record: Mapping[str, Any],
    growth: pd.DataFrame | None,
    start: float,
) -> None:
    """Store the ratios of some rows, and how times grow with sizes if that was measured.

    Parameters
    ----------
    folder : Path
    lines : sequence of Measured
    stored : DataFrame
        As of `read`.
    record : mapping
        As of `provenance`, from before anything was measured.
    growth : DataFrame, optional
        As of `growth.times`.
    start : float
        When the run began, by `time.monotonic`.
    """
    path = folder / f"{GROWTH}.csv"
    if growth is None and path.is_file():
        growth = pd.read_csv(path)
    version = commit(ROOT)
    made_by = dict(record["made_by"], commit=version["commit"] if version["clean"] else "")
    made_by["date"] = f"{datetime.now(UTC):%Y-%m-%d}"
    ratios = with_measured(stored, lines, made_by)
    tables = {RATIOS: Table(ratios, "Speed and memory as ratios, and by what code, settings and data each row is")}
    if growth is not None:
        tables[GROWTH] = Table(growth, "Processor seconds of a shrunk fit by the size of the data", 2)
    run_record = {name: value for name, value in record.items() if name != "made_by"} | {"by_row": f"{RATIOS}.csv"}
    store(folder, tables, run_record, ROOT, start)


def goals_table(folder: Path) -> str:
    """Every ratio that has a goal, with what it was when the goals were set."""
    stored = read(folder)
    rows = []
    for row in stored[stored["goal"] != ""].itertuples():
        line = Measured(row.row, row.measure, float(row.ratio), 1.0, row.goal)
        now, verdict = f"{line.ratio:.3g}", "met" if line.met else "missed"
        if np.isnan(line.ratio):
            now, verdict = "--", "not measured since"
        rows.append((f"`{row.row}`", row.measure, row.before or "--", now, row.goal, verdict))
    return markdown_table(rows, ["row", "measure", "before", "now", "goal", "in the stored run"])
