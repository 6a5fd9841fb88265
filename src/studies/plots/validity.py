"""The figure of what tests and ranks keep where models are all but equal."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, shades
from judgerank.plots.looks import PAGE, canvas

TESTS = {"wald": "Wald test alone", "both": "both tests"}
PANELS = (
    ("error", 0.05, "false or reversed pair"),
    ("ranks", 0.95, "all ranks covered"),
    ("power", None, "power"),
)


def validity(order: pd.DataFrame, title: str) -> Figure:
    """Shares of data sets by design and method (rows), test (colours); standard errors, doubled, as bars."""
    rows = order.assign(error=order["false"] + order["wrong"], error_se=np.hypot(order.false_se, order.wrong_se))
    cells = list(rows.groupby(["title", "method"], sort=False).groups)
    figure, panels = canvas(PAGE, 1 + 0.19 * len(cells), 1, len(PANELS), sharey=True)
    for axes, (measure, nominal, label) in zip(panels, PANELS, strict=True):
        for (test, name), (colour, marker) in zip(TESTS.items(), shades(len(TESTS)), strict=True):
            chosen = rows[rows["test"] == test]
            y = np.arange(len(chosen))[::-1]
            error = 2 * chosen[f"{measure}_se"].fillna(0)
            axes.errorbar(
                chosen[measure], y, xerr=error, fmt=marker, color=colour, markersize=3, linewidth=0.7, label=name
            )
        if nominal is not None:
            axes.axvline(nominal, color=COLOURS["reference"], linestyle="--", linewidth=0.8)
        axes.set_xlabel(label)
        axes.set_xlim(-0.05, 1.05)
    labels = [f"{design}: {method}" for design, method in cells]
    panels[0].set_yticks(np.arange(len(cells))[::-1], labels)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(title, fontsize=8)
    return figure
