"""The reported scale: what its intervals hold, and how often boards that did not change seem to."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, shades
from judgerank.plots.looks import PAGE, canvas


def scale(scores: pd.DataFrame, compared: pd.DataFrame, title: str) -> Figure:
    """Coverage of reported scores by panel and size, and how often a model is said to have moved."""
    figure, (left, right) = canvas(PAGE, 2.7, 1, 2)
    panels, sizes = list(dict.fromkeys(scores["panel"])), sorted(set(scores["n_comparisons"]))
    shifts = np.linspace(0.15, -0.15, len(sizes))
    for size, shift, (colour, marker) in zip(sizes, shifts, shades(len(sizes)), strict=True):
        rows = scores[scores["n_comparisons"] == size].set_index("panel").loc[panels]
        style = {"fmt": marker, "color": colour, "elinewidth": 0.9, "capsize": 1.5}
        at = -np.arange(len(panels)) + shift
        left.errorbar(rows["coverage"], at, xerr=2 * rows["coverage_se"], label=f"{size:,} comparisons", **style)
    left.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    left.set_yticks(-np.arange(len(panels)), panels)
    left.set(xlabel="coverage of the reported 95% intervals")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=len(sizes))
    at, (colour, marker) = -np.arange(len(compared)), shades(1)[0]
    right.errorbar(
        compared["any"], at, xerr=2 * compared["any_se"], fmt=marker, color=colour, elinewidth=0.9, capsize=1.5
    )
    right.axvline(0.05, color=COLOURS["reference"], linewidth=0.6)
    right.set_yticks(at, [name.replace(" prefer", "\nprefer").replace(", ", ",\n") for name in compared["boards"]])
    right.set(xlabel="share of pairs of boards", xlim=(-0.05, 1.05))
    right.set_title("some model is said to have moved", fontsize=7)
    left.set_title("bars: two Monte Carlo standard errors", fontsize=7)
    figure.suptitle(title, fontsize=8)
    return figure
