"""The probability of the letter in place of the letter."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.style import COLOURS, MARKERS, PAGE, canvas

# way, column, label, colour
GAINS = (
    ("p", "gain", "p", "judge_aware"),
    ("p, weighted", "gain", "p, judges weighted by dispersion", "position_aware"),
    ("p, BTL", "gain", "p, unweighted BTL", "btl"),
)
HELD = (
    ("p", "covered_clustered", "p, clustered errors", "judge_aware"),
    ("p", "covered_plug_in", "p, plug-in errors", "position_only"),
    ("letter", "covered_clustered", "letter, clustered errors", "in_house"),
)
TICKS = (0.1, 0.2, 0.5, 1, 2, 4)


def soft(worth: pd.DataFrame, title: str) -> Figure:
    """How many letters one probability is worth, and what intervals hold."""
    figure, (left, right) = canvas(PAGE, 3.9, 1, 2, sharey=True)
    settings = list(dict.fromkeys(worth["setting"]))
    for axes, series in ((left, GAINS), (right, HELD)):
        _points(axes, worth.set_index(["way", "setting"]), settings, series)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=1)
    left.set_yticks(-np.arange(len(settings)), settings)
    left.set_ylim(-len(settings) + 0.4, 0.6)
    left.set_xscale("log")
    left.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    left.set_xticks([], minor=True)
    left.axvline(1.0, color=COLOURS["reference"], linewidth=0.6)
    left.set(xlabel="letters that one judgment with p is worth")
    right.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="share of 95% intervals that hold the score")
    figure.suptitle(f"{title}\nbars: two Monte Carlo errors", fontsize=8)
    return figure


def _points(axes: Axes, table: pd.DataFrame, settings: list[str], series: tuple[tuple[str, ...], ...]) -> None:
    """One row of points for each setting, with bars of two Monte Carlo errors."""
    at = -np.arange(len(settings), dtype=float)
    for shift, (way, column, label, colour) in zip((0.22, 0.0, -0.22), series, strict=True):
        rows = table.loc[way].loc[settings]
        axes.errorbar(
            rows[column],
            at + shift,
            xerr=2 * rows[f"{column}_se"],
            fmt=MARKERS[colour],
            color=COLOURS[colour],
            elinewidth=0.9,
            capsize=1.5,
            label=label,
        )
