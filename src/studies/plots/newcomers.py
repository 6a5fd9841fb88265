"""Newcomers on boards."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, MARKERS, NAMES, shades
from judgerank.plots.looks import PAGE, canvas


def newcomers(left_out: pd.DataFrame, placed: pd.DataFrame | None, title: str) -> Figure:
    """Scores by placement against those in the fit of all, and what intervals of simulated newcomers hold."""
    figure, (left, right) = canvas(PAGE, 2.9, 1, 2)
    rows = left_out[left_out["placed"].notna()]
    ends = [rows[["score_all", "placed"]].min().min() - 0.2, rows[["score_all", "placed"]].max().max() + 0.2]
    left.plot(ends, ends, color=COLOURS["reference"], linewidth=0.6)
    for name, mine in rows.groupby("dataset", sort=False):
        style = {"fmt": MARKERS[name], "color": COLOURS[name], "elinewidth": 0.7, "label": NAMES[name]}
        left.errorbar(mine["score_all"], mine["placed"], yerr=2 * mine["standard_error"], **style)
    left.set(xlabel="score in the fit of all comparisons", ylabel="score by placement")
    left.set_title("bars: two standard errors, with the board's", fontsize=7)
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.19), ncols=3)
    if placed is None:
        right.set_axis_off()
    else:
        at = -np.arange(len(placed), dtype=float)
        kinds = (("covered", "with the board's uncertainty"), ("covered_own", "without it"))
        looks = shades(len(kinds))
        for shift, (kind, label), (colour, marker) in zip((0.12, -0.12), kinds, looks, strict=True):
            style = {"fmt": marker, "color": colour, "elinewidth": 0.9, "capsize": 1.5}
            right.errorbar(placed[kind], at + shift, xerr=2 * placed[f"{kind}_se"], label=label, **style)
        right.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
        right.set_yticks(at, placed["setting"])
        right.set_ylim(at.min() - 0.6, 0.9)
        right.set(xlabel="coverage of 95% intervals, simulated")
        right.set_title("bars: two Monte Carlo standard errors", fontsize=7)
        right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.19), ncols=2)
    figure.suptitle(title, fontsize=8)
    return figure
