"""How little changes a ranking, and how many judges a panel is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, MARKERS, NAMES, shades
from judgerank.plots.looks import PAGE, canvas
from replication.plots.labels import label_points, name_rows


def fragility(summary: pd.DataFrame, changes: pd.DataFrame, title: str) -> Figure:
    """Judgments whose removal swaps every two neighbours, by set, and what one linear step says of that number."""
    swaps = changes[(changes["change"] == "swap") & (changes["by"] == "judgments") & changes["size"].notna()]
    figure, (left, right) = canvas(PAGE, 3.0, 1, 2)
    titles = summary.drop_duplicates("dataset").set_index("dataset")["title"]
    heights = {name: -float(place) for place, name in enumerate(titles.index)}
    for shift, member in zip((0.16, -0.16), summary["member"].unique(), strict=False):
        style = {"color": COLOURS[member]}
        mine = swaps[swaps["member"] == member]
        left.plot(mine["size"], mine["dataset"].map(heights) + shift, "|", markersize=7, **style)
        rows = summary[summary["member"] == member].dropna(subset="top_judgments")
        at = rows["dataset"].map(heights) + shift
        left.plot(rows["top_judgments"], at, MARKERS[member], label=NAMES[member], **style)
        right.plot(mine["forecast"], mine["size"], MARKERS[member], alpha=0.7, **style)
    name_rows(left, titles, heights.values())
    left.set(xscale="log", xlabel="judgments left out, of 10,000 (in-house 36,000)")
    left.set_title("marker: another model is first; bars: neighbours swap", fontsize=7)
    ends = [0.8, 1.3 * swaps[["forecast", "size"]].replace(np.inf, np.nan).max().max()]
    right.plot(ends, ends, color=COLOURS["reference"], linewidth=0.6)
    right.set(
        xscale="log",
        yscale="log",
        xlabel="predicted by one linear step",
        ylabel="judgments left out, confirmed by a fit",
    )
    right.set_title("on the line: predicted correctly", fontsize=7)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(title, fontsize=8)
    return figure


def effective(summary: pd.DataFrame, calibration: pd.DataFrame | None, title: str) -> Figure:
    """Effective number of judges of every panel, and that of simulated panels beside the known one."""
    rows = summary.iloc[::-1].reset_index(drop=True)
    figure, (left, right) = canvas(PAGE, 1.2 + 0.27 * len(rows), 1, 2)
    reach = np.abs(rows[["information_low", "information_high"]].to_numpy().T - rows["information"].to_numpy())
    style = {"fmt": "o", "elinewidth": 0.9, "capsize": 1.5}
    for member in summary["member"].unique():
        mine = (rows["member"] == member).to_numpy()
        look = style | {"fmt": MARKERS[member], "color": COLOURS[member]}
        left.errorbar(rows["information"][mine], rows.index[mine], xerr=reach[:, mine], **look)
    left.plot(rows["judges"], rows.index, "s", color=COLOURS["reference"], markerfacecolor="white")
    name_rows(left, rows["title"] + ", " + rows["member"].map(NAMES), rows.index)
    left.set_xlim(0, 1.08 * rows["judges"].max())
    left.set_xlabel("judges")
    left.set_title("filled: effective number of judges; hollow: judges", fontsize=7)
    if calibration is None:
        right.set_axis_off()
    else:
        _calibration(right, calibration, style)
    figure.suptitle(title, fontsize=8)
    if calibration is not None:
        places = calibration["worth"], calibration["information"]
        label_points(right, *places, calibration["panel"], reach=2 * calibration["information_se"])
    return figure


def _calibration(axes: Axes, known: pd.DataFrame, style: dict[str, Any]) -> None:
    """Estimated effective number of judges of simulated panels, against the known one."""
    top = 1.15 * float(known["n_judges"].max())
    axes.plot([0, top], [0, top], color=COLOURS["reference"], linewidth=0.6)
    errors = {"xerr": 2 * known["worth_se"], "yerr": 2 * known["information_se"]}
    axes.errorbar(known["worth"], known["information"], color=shades(1)[0][0], **errors, **style)
    axes.set(xlim=(0, 1.3 * top), ylim=(0, top), xlabel="by the variance of the scores", ylabel="estimated")
    axes.set_title("eight simulated judges; bars: two standard errors", fontsize=7)
