"""Rankings of several answers, fitted whole and broken into pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, shades
from judgerank.plots.looks import PAGE, canvas

SERIES = (  # way, column and label of what intervals hold
    ("whole", "covered_plug_in", "whole rankings"),
    ("pairs", "covered_plug_in", "broken into pairs"),
    ("pairs", "covered_clustered", "broken into pairs, clustered by ranking"),
)
ORDERS = (
    ("whole, shrunk", "tau", "judges weighted"),
    ("whole, judges alike", "tau", "judges alike"),
    ("mean ranks", "tau", "mean ranks"),
)


def ranked_answers(fits: pd.DataFrame, title: str) -> Figure:
    """Pair judgments that a ranking is worth, coverage of intervals, and agreement with the true order."""
    figure, (left, middle, right) = canvas(PAGE, 3.4, 1, 3)
    table = fits.set_index(["way", "setting"])
    held = [setting for way, setting in table.index if way == "pairs"]
    few = [setting for way, setting in table.index if way == "whole, shrunk"]
    _points(left, table, held, (("whole", "pairs_worth", "whole rankings"),))
    _points(middle, table, held, SERIES)
    _points(right, table, few, ORDERS)
    left.set(xlabel="pair judgments per ranking")
    middle.set(xlabel="coverage of 95% intervals", yticklabels=[])
    middle.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="tau with the true order")
    right.set_yticks(-np.arange(len(few)), [_short(name) for name in few])
    for axes in (middle, right):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=1)
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure


def _short(setting: str) -> str:
    """What judges are like, of a setting with few rankings."""
    told = setting.partition(", ")[2] or "no judge at random"
    return told.replace(" at", "\nat")


def _points(
    axes: Axes, table: pd.DataFrame, settings: list[str], series: tuple[tuple[str, str, str], ...]
) -> None:
    """One row of points for each setting, with bars of two Monte Carlo errors."""
    at = -np.arange(len(settings), dtype=float)
    shifts = np.linspace(0.2, -0.2, len(series)) if len(series) > 1 else [0.0]
    for shift, (way, column, label), (colour, marker) in zip(shifts, series, shades(len(series)), strict=True):
        rows = table.loc[way].reindex(settings)
        style = {"fmt": marker, "color": colour, "elinewidth": 0.9, "capsize": 1.5}
        axes.errorbar(rows[column], at + shift, xerr=2 * rows[f"{column}_se"], label=label, **style)
    axes.set_yticks(at, settings)
    axes.set_ylim(-len(settings) + 0.4, 0.6)
