"""Figures of the sets, of leaderboards and scores beside what others measured, and of the audit."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.looks import COLOURS, MARKERS, NAMES, PAGE, canvas, shades, short
from replication.plots.labels import label_points, name_rows
from replication.plots.points import BARS, finished, reference

# Leaderboards, and scores against what others measured.


def leaderboard(frame: pd.DataFrame, title: str) -> Figure:
    """Scores of both fits with their intervals, best judge-aware score on top."""
    figure, (axes,) = canvas(PAGE * 0.75, 0.7 + (0.19 if len(frame) <= 30 else 0.175) * len(frame))
    height = -np.arange(len(frame))
    for fit, shift in (("judge_aware", 0.16), ("btl", -0.16)):
        score = frame[f"score_{fit}"]
        reach = np.abs(frame[[f"low_{fit}", f"high_{fit}"]].to_numpy().T - score.to_numpy())
        style = {"fmt": MARKERS[fit], "color": COLOURS[fit], **BARS}
        axes.errorbar(score, height + shift, xerr=reach, label=NAMES[fit], **style)
    name_rows(axes, frame["model"], height)
    reference(axes, 0)
    axes.set(title=title, xlabel="score in log-odds, each fit on its own scale")
    axes.legend(loc="lower right")
    return figure


def agreement(frame: pd.DataFrame, reference: str, label: str, title: str) -> Figure:
    """Scores of both fits against a reference column, with the model named once."""
    figure, panels = canvas(PAGE, 3.1, 1, 2)
    with_reference = frame.dropna(subset=[reference])
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        axes.plot(with_reference[reference], with_reference[f"score_{fit}"], MARKERS[fit], color=COLOURS[fit])
        axes.set(xlabel=label, ylabel=f"score, {NAMES[fit]}")
        axes.margins(0.15)
    figure.suptitle(title, fontsize=8)
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        label_points(axes, with_reference[reference], with_reference[f"score_{fit}"], with_reference["model"])
    return figure


def tie_handling(frame: pd.DataFrame, title: str) -> Figure:
    """Scores and intervals with ties as half (filled) and without ties (hollow), and moves in rank."""
    rows = frame.sort_values("rank_judge_aware_half")
    height = -np.arange(len(rows))
    figure, panels = canvas(PAGE, 1.0 + 0.17 * len(rows), 1, 2, sharey=True)
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        for ties, shift, fill in (("half", 0.16, COLOURS[fit]), ("dropped", -0.16, "white")):
            score = rows[f"score_{fit}_{ties}"]
            reach = np.abs(rows[[f"low_{fit}_{ties}", f"high_{fit}_{ties}"]].to_numpy().T - score.to_numpy())
            style = {"fmt": MARKERS[fit], "color": COLOURS[fit], "elinewidth": 0.7, "markerfacecolor": fill}
            label = {"half": "ties as half a win", "dropped": "ties dropped"}[ties]
            axes.errorbar(score, height + shift, xerr=reach, label=label, **style)
        for y, move in zip(height, rows[f"move_{fit}"], strict=True):
            if move:
                axes.annotate(f"{move:+d}", (1.0, y), xycoords=("axes fraction", "data"), ha="right", va="center")
        axes.set(title=NAMES[fit], xlabel="score (right: ranks gained without ties)")
        axes.margins(x=0.1)
    name_rows(panels[0], rows["model"], height)
    return finished(figure, title, panels[0])


def ratings(frame: pd.DataFrame, title: str) -> Figure:
    """Judge-aware score against the mean rating in each of the four dimensions."""
    dimensions = sorted(frame["dimension"].unique())
    figure, panels = canvas(PAGE, 5.2, 2, 2)
    for axes, dimension in zip(panels, dimensions, strict=True):
        rows = frame[frame["dimension"] == dimension]
        axes.plot(rows["score_judge_aware"], rows["rating"], "o", color=COLOURS["judge_aware"])
        axes.set(title=dimension.replace("_", " "), xlabel="score, judge-aware", ylabel="mean rating (1 to 5)")
        axes.margins(0.12)
    figure.suptitle(title, fontsize=8)
    for axes, dimension in zip(panels, dimensions, strict=True):
        rows = frame[frame["dimension"] == dimension]
        label_points(axes, rows["score_judge_aware"], rows["rating"], rows["model"])
    return figure


# What the sets look like before anything is fitted.
COUNTED = 20  # models at most for the counts to be legible in their cells


def pair_heatmap(pairs: pd.DataFrame, title: str) -> Figure:
    """Number of comparisons of every pair of models; white for none."""
    models = sorted(set(pairs["model_1"]) | set(pairs["model_2"]), key=lambda name: short(name).lower())
    n = len(models)
    counts = np.full((n, n), np.nan)
    index_of = {name: position for position, name in enumerate(models)}
    i, j = pairs["model_1"].map(index_of), pairs["model_2"].map(index_of)
    counts[i, j] = counts[j, i] = pairs["comparisons"]
    width = PAGE if n > 8 else PAGE * 0.75
    figure, (axes,) = canvas(width, width * 0.92)
    image = axes.imshow(counts, cmap="cividis", vmin=0)
    size = 5 if n > 25 else 6
    names = [short(name) for name in models]
    axes.set_xticks(np.arange(n), names, rotation=90, fontsize=size)
    axes.set_yticks(np.arange(n), names, fontsize=size)
    axes.grid(visible=False)
    axes.set(title=f"{title} (white: none)", xlabel="model", ylabel="model")
    figure.colorbar(image, label="comparisons", shrink=0.8)
    if n <= COUNTED:
        for (row, column), count in np.ndenumerate(counts):
            if np.isfinite(count):
                bright = count > 0.6 * np.nanmax(counts)
                axes.text(
                    column,
                    row,
                    f"{count:.0f}",
                    ha="center",
                    va="center",
                    color="black" if bright else "white",
                    fontsize=6,
                )
    return figure


def prompt(text: str, title: str) -> Figure:
    """The text that a judge is given."""
    lines = text.count("\n") + 1
    figure, (axes,) = canvas(PAGE, 0.6 + 0.125 * lines)
    axes.set_axis_off()
    axes.set_title(title)
    box = {"boxstyle": "round,pad=0.8", "facecolor": "#F5F5F5", "edgecolor": "#9A9A9A"}
    axes.text(
        0.5,
        0.5,
        text,
        family="monospace",
        fontsize=6,
        ha="center",
        va="center",
        ma="left",
        linespacing=1.5,
        bbox=box,
    )
    return figure


# The audit in one picture: how many printed numbers come out, and one figure of the paper beside ours.
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
    figure, (counted, *judge_panels) = canvas(PAGE, 3.3, 1, 3, width_ratios=(0.8, 1, 1))
    _counts(counted, numbers, results)
    printed = numbers[numbers["table"] == "judge_discrimination"]
    order = _of(printed, BESIDE[0])["printed"].sort_values().index
    for axes, column in zip(judge_panels, BESIDE, strict=True):
        _judges(axes, _of(printed, column).reindex(order), NAMES[column])
    judge_panels[-1].set_yticklabels([])
    judge_panels[0].legend(loc="lower right")
    return figure


def _counts(axes: Axes, numbers: pd.DataFrame, results: list[str]) -> None:
    counts = numbers["verdict"].astype(str).value_counts().reindex(results, fill_value=0)
    colours = {"exact": GOOD, "within": GOOD, "not checkable": COLOURS["reference"]}
    colours |= {"cause not": OPEN, "differs": EXPLAINED}
    of = [next((colours[start] for start in colours if name.startswith(start)), EXPLAINED) for name in results]
    heights = -np.arange(len(results), dtype=float)
    axes.barh(heights, counts, 0.6, color=of)
    for height, count in zip(heights, counts, strict=True):
        axes.annotate(f"{count}", (count, height), (3, 0), textcoords="offset points", va="center")
    axes.set_yticks(
        heights,
        [name.replace(", ", ",\n").replace("printed precision", "\nprinted precision") for name in results],
    )
    axes.set_xlim(0, ROOM * counts.max())
    axes.grid(axis="y", visible=False)
    axes.set(title=f"The paper's\n{counts.sum()} results", xlabel="printed numbers")


def _of(printed: pd.DataFrame, column: str) -> pd.DataFrame:
    rows = printed[printed["column"] == column].set_index("row")
    return rows[["printed", "ours"]].apply(pd.to_numeric)


def _judges(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    heights = np.arange(len(rows))
    axes.hlines(heights, rows["printed"], rows["ours"], color=COLOURS["reference"], linewidth=0.8)
    axes.plot(rows["printed"], heights, "o", markerfacecolor="none", color="black", markersize=5, label="paper")
    axes.plot(rows["ours"], heights, "o", color=GOOD, markersize=2.5, label="ours")
    name_rows(axes, rows.index, heights, fontsize=6)
    axes.set_xlim(left=-0.1)
    axes.set(title=f"Figure A.9,\n{title}", xlabel="discrimination")
