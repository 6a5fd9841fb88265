"""Leaderboards, and scores against what others measured."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.style import COLOURS, MARKERS, NAMES, PAGE, canvas, label_points, short


def leaderboard(frame: pd.DataFrame, title: str) -> Figure:
    """Scores of both fits with their intervals, best judge-aware score on top."""
    figure, (axes,) = canvas(PAGE * 0.75, 0.6 + (0.19 if len(frame) <= 30 else 0.175) * len(frame))
    height = -np.arange(len(frame))
    for fit, shift in (("judge_aware", 0.16), ("btl", -0.16)):
        score = frame[f"score_{fit}"]
        reach = np.abs(frame[[f"low_{fit}", f"high_{fit}"]].to_numpy().T - score.to_numpy())
        style = {"fmt": MARKERS[fit], "color": COLOURS[fit], "elinewidth": 0.9, "capsize": 1.5}
        axes.errorbar(score, height + shift, xerr=reach, label=NAMES[fit], **style)
    axes.set_yticks(height, [short(name) for name in frame["model"]])
    axes.axvline(0, color=COLOURS["reference"], linewidth=0.6)
    axes.set(title=title, xlabel="score (log-odds at discrimination one; each fit on its own scale)")
    axes.margins(y=0.02)
    axes.legend(loc="lower right")
    return figure


def agreement(frame: pd.DataFrame, reference: str, label: str, title: str) -> Figure:
    """Scores of both fits against a reference column, with the model named once."""
    figure, panels = canvas(PAGE, 3.1, 1, 2)
    known = frame.dropna(subset=[reference])
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        axes.plot(known[reference], known[f"score_{fit}"], MARKERS[fit], color=COLOURS[fit])
        axes.set(xlabel=label, ylabel=f"score, {NAMES[fit]}")
        axes.margins(0.12)
    figure.suptitle(title, fontsize=8)
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        label_points(axes, known[reference], known[f"score_{fit}"], known["model"])
    return figure


def tie_handling(frame: pd.DataFrame, title: str) -> Figure:
    """Scores without ties against scores with ties as half, and by how many ranks a model moves."""
    figure, panels = canvas(PAGE, 3.1, 1, 2)
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        half, dropped = frame[f"score_{fit}_half"], frame[f"score_{fit}_dropped"]
        ends = [min(half.min(), dropped.min()), max(half.max(), dropped.max())]
        axes.plot(ends, ends, "--", color=COLOURS["reference"], linewidth=0.7, label="equal")
        stays = frame[f"move_{fit}"] == 0
        style = {"color": COLOURS[fit], "linestyle": "none", "marker": MARKERS[fit]}
        axes.plot(half[stays], dropped[stays], **style, label="same rank")
        axes.plot(half[~stays], dropped[~stays], **style, markerfacecolor="white", label="another rank")
        axes.set(xlabel=f"score, {NAMES[fit]}, ties as half", ylabel="score, ties dropped")
        axes.margins(0.12)
        axes.legend(loc="upper left")
    figure.suptitle(title, fontsize=8)
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        moved = frame[frame[f"move_{fit}"] != 0]
        if len(moved):
            names = [
                f"{short(name)} ({move:+d})"
                for name, move in zip(moved["model"], moved[f"move_{fit}"], strict=True)
            ]
            label_points(axes, moved[f"score_{fit}_half"], moved[f"score_{fit}_dropped"], names)
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
