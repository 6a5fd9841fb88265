"""The audit in one picture: how many printed numbers come out, and one figure of the paper beside ours."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, NAMES, shades
from judgerank.plots.looks import PAGE, canvas
from replication.plots.labels import name_rows

(GOOD, _), (EXPLAINED, _), (OPEN, _) = shades(3)  # no models
BESIDE = ("mt_bench", "ultrafeedback")  # columns of Table A.8, which are the bars of Figure A.9
ROOM = 1.18  # of the axis, for the number after the longest bar


def verdicts(numbers: pd.DataFrame, results: list[str]) -> Figure:
    """Printed results by verdict, and the discriminations of Figure A.9 as printed beside ours.

    Parameters
    ----------
    numbers : DataFrame
        As `replication.auditing.audit.audit` gives them.
    results : list of str
        The verdicts on results, best first.
    """
    figure, (counted, *beside) = canvas(PAGE, 3.3, 1, 3, width_ratios=(0.8, 1, 1))
    _counts(counted, numbers, results)
    printed = numbers[numbers["table"] == "judge_discrimination"]
    order = _of(printed, BESIDE[0])["printed"].sort_values().index
    for axes, column in zip(beside, BESIDE, strict=True):
        _judges(axes, _of(printed, column).reindex(order), NAMES[column])
    beside[-1].set_yticklabels([])
    beside[0].legend(loc="lower right")
    return figure


def _counts(axes: Axes, numbers: pd.DataFrame, results: list[str]) -> None:
    found = numbers["verdict"].astype(str).value_counts().reindex(results, fill_value=0)
    colours = {"exact": GOOD, "within": GOOD, "not checkable": COLOURS["reference"]}
    colours |= {"cause not": OPEN, "differs": EXPLAINED}
    of = [next((colours[start] for start in colours if name.startswith(start)), EXPLAINED) for name in results]
    at = -np.arange(len(results), dtype=float)
    axes.barh(at, found, 0.6, color=of)
    for height, count in zip(at, found, strict=True):
        axes.annotate(f"{count}", (count, height), (3, 0), textcoords="offset points", va="center")
    axes.set_yticks(
        at, [name.replace(", ", ",\n").replace("printed precision", "\nprinted precision") for name in results]
    )
    axes.set_xlim(0, ROOM * found.max())
    axes.grid(axis="y", visible=False)
    axes.set(title=f"The paper's\n{found.sum()} results", xlabel="printed numbers")


def _of(printed: pd.DataFrame, column: str) -> pd.DataFrame:
    rows = printed[printed["column"] == column].set_index("row")
    return rows[["printed", "ours"]].apply(pd.to_numeric)


def _judges(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    at = np.arange(len(rows))
    axes.hlines(at, rows["printed"], rows["ours"], color=COLOURS["reference"], linewidth=0.8)
    axes.plot(rows["printed"], at, "o", markerfacecolor="none", color="black", markersize=5, label="paper")
    axes.plot(rows["ours"], at, "o", color=GOOD, markersize=2.5, label="ours")
    name_rows(axes, rows.index, at, fontsize=6)
    axes.set_xlim(left=-0.1)
    axes.set(title=f"Figure A.9,\n{title}", xlabel="discrimination")
