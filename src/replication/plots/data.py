"""What the sets look like before anything is fitted."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.looks import PAGE, canvas, short

COUNTED = 20  # models at most for the counts to be legible in their cells


def pair_heatmap(pairs: pd.DataFrame, title: str) -> Figure:
    """Number of comparisons of every pair of models; white for none."""
    models = sorted(set(pairs["model_1"]) | set(pairs["model_2"]), key=lambda name: short(name).lower())
    n = len(models)
    counts = np.full((n, n), np.nan)
    place = {name: position for position, name in enumerate(models)}
    i, j = pairs["model_1"].map(place), pairs["model_2"].map(place)
    counts[i, j] = counts[j, i] = pairs["comparisons"]
    width = PAGE if n > 8 else PAGE * 0.75
    figure, (axes,) = canvas(width, width * 0.92)
    image = axes.imshow(counts, cmap="cividis", vmin=0)
    size = 5 if n > 25 else 6
    names = [short(name) for name in models]
    axes.set_xticks(np.arange(n), names, rotation=90, fontsize=size)
    axes.set_yticks(np.arange(n), names, fontsize=size)
    axes.grid(visible=False)
    axes.set(title=f"{title} (white: none)", xlabel="model", ylabel="model")
    figure.colorbar(image, label="comparisons", shrink=0.8)
    if n <= COUNTED:
        for (row, column), count in np.ndenumerate(counts):
            if np.isfinite(count):
                bright = count > 0.6 * np.nanmax(counts)
                axes.text(
                    column,
                    row,
                    f"{count:.0f}",
                    ha="center",
                    va="center",
                    color="black" if bright else "white",
                    fontsize=6,
                )
    return figure


def prompt(text: str, title: str) -> Figure:
    """The text that a judge is given."""
    lines = text.count("\n") + 1
    figure, (axes,) = canvas(PAGE, 0.6 + 0.125 * lines)
    axes.set_axis_off()
    axes.set_title(title)
    box = {"boxstyle": "round,pad=0.8", "facecolor": "#F5F5F5", "edgecolor": "#9A9A9A"}
    axes.text(
        0.5,
        0.5,
        text,
        family="monospace",
        fontsize=6,
        ha="center",
        va="center",
        ma="left",
        linespacing=1.5,
        bbox=box,
    )
    return figure
