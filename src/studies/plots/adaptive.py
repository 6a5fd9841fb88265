"""Collections by rounds."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from judgerank.plots.colours import shades
from judgerank.plots.looks import PAGE, canvas

RULES = {
    "random": "at random",
    "swiss": "Swiss",
    "d_optimal": "D-optimal",
    "a_optimal": "A-optimal",
    "information": "least certain pairs",
}
MEASURES = {
    "tau": "Kendall's tau with all judgments",
    "error": "mean standard error of a score",
    "open": "pairs not significantly different",
}


def adaptive(looks: pd.DataFrame, title: str) -> Figure:
    """Tau, errors and pairs still tied by comparisons, a row of panels for each set, means over playbacks."""
    sets = looks["title"].unique()
    figure, panels = canvas(PAGE, 0.7 + 2.1 * len(sets), len(sets), 3)
    for row, name in zip(panels.reshape(len(sets), 3), sets, strict=True):
        own = looks[looks["title"] == name]
        for axes, (measure, label) in zip(row, MEASURES.items(), strict=True):
            for (rule, words), (colour, marker) in zip(RULES.items(), shades(len(RULES)), strict=True):
                line = own[own["rule"] == rule].groupby("look")[["comparisons", measure]].mean()
                if len(line):
                    axes.plot(line["comparisons"], line[measure], marker=marker, color=colour, label=words)
            axes.set(xscale="log", xlabel="comparisons", ylabel=label)
            axes.xaxis.set_minor_formatter(NullFormatter())
            if measure == "error":
                axes.set_yscale("log")
        row[0].set_title(name, loc="left")
    figure.legend(*panels.ravel()[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(RULES))
    figure.suptitle(title, fontsize=8)
    return figure
