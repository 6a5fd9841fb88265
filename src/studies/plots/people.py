"""A few human votes beside a panel's many."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, shades
from judgerank.plots.looks import PAGE, canvas

WAYS = {
    "toward the panel": "people, drawn toward the panel",
    "helped": "people, helped by the panel",
    "alone": "people alone",
    "as a judge": "people as one more judge",
}


def people(votes: pd.DataFrame, title: str) -> Figure:
    """What intervals hold, and the errors of scores on the human scale, by every way to them."""
    figure, (left, right) = canvas(PAGE, 2.9, 1, 2, sharey=True)
    at = -np.arange(len(votes), dtype=float)
    looks = shades(len(WAYS))
    for shift, (way, label), (colour, marker) in zip(
        np.linspace(0.24, -0.24, len(WAYS)), WAYS.items(), looks, strict=True
    ):
        style = {
            "fmt": marker,
            "color": colour,
            "elinewidth": 0.9,
            "capsize": 1.5,
            "label": label,
        }
        for axes, measure in ((left, "covered"), (right, "error")):
            reach = 2 * votes[f"{measure}/{way}_se"]
            axes.errorbar(votes[f"{measure}/{way}"], at + shift, xerr=reach, **style)
    left.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    left.set_yticks(at, votes["setting"])
    left.set_ylim(at.min() - 0.6, 0.6)
    left.set_xlim(right=1.03)
    left.set(xlabel="coverage of 95% intervals of people's scores")
    right.set_xlim(left=0)
    right.set(xlabel="error of the scores, in log-odds")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure
