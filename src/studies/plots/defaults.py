"""Exact and shrunk fits: accuracy on samples of the sets, and coverage on simulated sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, NAMES, shades
from judgerank.plots.looks import PAGE, canvas

SHOWN = {
    "position_aware": "position-aware, exact",
    "position_aware_shrunk": "position-aware, shrunk",
    "btl": "BTL",
}


def defaults(accuracy: pd.DataFrame, simulated: pd.DataFrame, title: str) -> Figure:
    """Spearman's correlation with a fit of the rest by set and size, and coverage by design."""
    figure, (left, right) = canvas(PAGE, 3.2, 1, 2)
    sets, sizes = list(dict.fromkeys(accuracy["dataset"])), sorted(set(accuracy["n_comparisons"]))
    labels = [f"{NAMES[name]}, {size:,}" for name in sets for size in sizes]
    rows = [(name, size) for name in sets for size in sizes]
    for (method, label), (colour, marker) in zip(SHOWN.items(), shades(len(SHOWN)), strict=True):
        part = accuracy[accuracy["method"] == method].set_index(["dataset", "n_comparisons"]).reindex(rows)
        _points(left, part["spearman"], part["spearman_se"], label, colour, marker)
        same = simulated["method"].isin([method, method.replace("position", "judge")])
        known = simulated[same & simulated["coverage"].notna()]
        designs = list(dict.fromkeys(simulated[simulated["coverage"].notna()]["title"]))
        if len(known):
            of_design = known.set_index("title").reindex(designs)
            _points(right, of_design["coverage"], of_design["coverage_se"], label, colour, marker)
            right.set_yticks(-np.arange(len(designs)), designs)
    left.set_yticks(-np.arange(len(labels)), labels)
    left.set(xlabel="Spearman's correlation with a fit of the rest")
    right.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="coverage of 95% intervals")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=len(SHOWN))
    figure.suptitle(title, fontsize=8)
    return figure


def _points(axes: Axes, at: pd.Series, error: pd.Series, label: str, colour: str, marker: str) -> None:
    shift = {"o": 0.2, "s": 0.0}.get(marker, -0.2)
    style = {"fmt": marker, "color": colour, "elinewidth": 0.9, "capsize": 1.5}
    axes.errorbar(at, -np.arange(len(at)) + shift, xerr=2 * error, label=label, **style)
