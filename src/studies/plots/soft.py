"""The probability of the letter in place of the letter."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, MARKERS, shades
from judgerank.plots.looks import PAGE, canvas

# way, column, label, look
JUDGE_AWARE = {"color": COLOURS["judge_aware"], "fmt": MARKERS["judge_aware"]}
GAINS = (
    ("p", "gain", "p, judge-aware", JUDGE_AWARE),
    (
        "p, weighted",
        "gain",
        "p, judge-aware, judges weighted by dispersion",
        JUDGE_AWARE | {"markerfacecolor": "white"},
    ),
    ("p, BTL", "gain", "p, unweighted BTL", {"color": COLOURS["btl"], "fmt": MARKERS["btl"]}),
)
HELD = tuple(
    (way, column, label, {"color": colour, "fmt": marker})
    for (way, column, label), (colour, marker) in zip(
        (
            ("p", "covered_clustered", "p, clustered standard errors"),
            ("p", "covered_plug_in", "p, plug-in standard errors"),
            ("letter", "covered_clustered", "letter, clustered standard errors"),
        ),
        shades(3),
        strict=True,
    )
)
TICKS = (0.1, 0.2, 0.5, 1, 2, 4)


def soft(worth: pd.DataFrame, title: str) -> Figure:
    """Letters that give the precision of one probability, and coverage of intervals."""
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
    left.set(xlabel="letters that give the precision of one probability p")
    right.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="coverage of 95% intervals of the scores")
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure


def _points(axes: Axes, table: pd.DataFrame, settings: list[str], series: tuple) -> None:
    """One row of points for each setting, with bars of two Monte Carlo errors."""
    at = -np.arange(len(settings), dtype=float)
    for shift, (way, column, label, look) in zip((0.22, 0.0, -0.22), series, strict=True):
        rows = table.loc[way].loc[settings]
        axes.errorbar(
            rows[column],
            at + shift,
            xerr=2 * rows[f"{column}_se"],
            elinewidth=0.9,
            capsize=1.5,
            label=label,
            **look,
        )
