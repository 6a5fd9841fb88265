"""Leaderboards, and scores against what others measured."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, MARKERS, NAMES
from judgerank.plots.looks import PAGE, canvas
from replication.plots.labels import label_points, name_rows


def leaderboard(frame: pd.DataFrame, title: str) -> Figure:
    """Scores of both fits with their intervals, best judge-aware score on top."""
    figure, (axes,) = canvas(PAGE * 0.75, 0.7 + (0.19 if len(frame) <= 30 else 0.175) * len(frame))
    height = -np.arange(len(frame))
    for fit, shift in (("judge_aware", 0.16), ("btl", -0.16)):
        score = frame[f"score_{fit}"]
        reach = np.abs(frame[[f"low_{fit}", f"high_{fit}"]].to_numpy().T - score.to_numpy())
        style = {"fmt": MARKERS[fit], "color": COLOURS[fit], "elinewidth": 0.9, "capsize": 1.5}
        axes.errorbar(score, height + shift, xerr=reach, label=NAMES[fit], **style)
    name_rows(axes, frame["model"], height)
    axes.axvline(0, color=COLOURS["reference"], linewidth=0.6)
    axes.set(title=title, xlabel="score in log-odds, each fit on its own scale")
    axes.legend(loc="lower right")
    return figure


def agreement(frame: pd.DataFrame, reference: str, label: str, title: str) -> Figure:
    """Scores of both fits against a reference column, with the model named once."""
    figure, panels = canvas(PAGE, 3.1, 1, 2)
    known = frame.dropna(subset=[reference])
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        axes.plot(known[reference], known[f"score_{fit}"], MARKERS[fit], color=COLOURS[fit])
        axes.set(xlabel=label, ylabel=f"score, {NAMES[fit]}")
        axes.margins(0.15)
    figure.suptitle(title, fontsize=8)
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        label_points(axes, known[reference], known[f"score_{fit}"], known["model"])
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
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(title, fontsize=8)
    return figure


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
