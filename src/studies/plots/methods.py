"""The figure of methods side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, DATA_SETS, MARKERS, shades
from judgerank.plots.looks import PAGE, canvas

NOMINAL = 0.95


def methods(comparison: pd.DataFrame, titles: pd.Series, title: str) -> Figure:
    """Agreement, log-loss and coverage by method (rows) and data (colours); standard errors, doubled, as bars."""
    figure, panels = canvas(PAGE, 4.8, 1, 4, sharey=True)
    place = pd.Series(np.arange(len(titles))[::-1], index=titles.index)
    sets = comparison["kind"] == "set"
    shown = (
        ("spearman", comparison, "Spearman with the truth,\nor with people"),
        ("log_loss", comparison[sets], "held-out log-loss"),
        ("log_loss", comparison[~sets], "log-loss above\nthat of the truth"),
        ("coverage", comparison, "coverage of intervals"),
    )
    kinds = list(comparison.groupby("data", sort=False).first()["title"].items())
    simulated = iter(shades(sum(name not in DATA_SETS for name, _ in kinds)))
    looks = {
        name: (label, *((COLOURS[name], MARKERS[name]) if name in DATA_SETS else next(simulated)))
        for name, label in kinds
    }
    for axes, (measure, rows, label) in zip(panels, shown, strict=True):
        for number, (name, (_, colour, marker)) in enumerate(looks.items()):
            of_data = rows[(rows["data"] == name) & rows[measure].notna()]
            y = place[of_data["method"]] + 0.3 * (1 - 2 * number / (len(looks) - 1))
            error = 2 * of_data.get(f"{measure}_se", pd.Series(np.nan, of_data.index)).fillna(0)
            axes.errorbar(of_data[measure], y, xerr=error, fmt=marker, color=colour, markersize=3, linewidth=0.7)
        axes.set_xlabel(label)
        axes.set_yticks(place, titles)
        for y in place:
            axes.axhspan(y - 0.5, y + 0.5, color="black", alpha=0.04 if y % 2 else 0.0, linewidth=0)
    panels[0].set_ylim(-0.6, len(titles) - 0.4)
    panels[2].set_xscale("log")
    panels[3].axvline(NOMINAL, color=COLOURS["reference"], linestyle="--", linewidth=0.8)
    handles = [
        panels[0].plot([], [], marker, linestyle="", color=colour, label=label)[0]
        for label, colour, marker in looks.values()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    figure.suptitle(f"{title} (no point: the method does not give it)", fontsize=8)
    return figure
