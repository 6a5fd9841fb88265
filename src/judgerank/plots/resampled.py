"""How much of the full ranking parts of a set give."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.style import COLOURS, MARKERS, NAMES, PAGE, REFERENCES, canvas

MEASURE_NAMES = {"pearson": "Pearson correlation", "spearman": "Spearman correlation"}


def _lines(axes: Axes, rows: pd.DataFrame, x: str) -> None:
    """Means of both methods with interquartile bands."""
    for method in ("judge_aware", "btl"):
        line = rows[rows["method"] == method].sort_values(x)
        axes.plot(line[x], line["mean"], marker=MARKERS[method], color=COLOURS[method], label=NAMES[method])
        axes.fill_between(line[x], line["q25"], line["q75"], color=COLOURS[method], alpha=0.2, linewidth=0)


def efficiency(frame: pd.DataFrame, measure: str, title: str) -> Figure:
    """Correlation against the number of comparisons, one panel per number of judges."""
    judges = sorted(frame["n_judges"].unique())
    figure, panels = canvas(PAGE, 2.4, 1, len(judges), sharey=True)
    for axes, many in zip(panels, judges, strict=True):
        _lines(axes, frame[frame["n_judges"] == many], "n_comparisons")
        axes.set(title=f"K = {many}", xlabel="comparisons T")
    panels[0].set_ylabel(MEASURE_NAMES[measure])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(f"{title}. Bands: interquartile range over repeats", fontsize=8)
    return figure


def weak_share(frame: pd.DataFrame, title: str) -> Figure:
    """Spearman correlation against the share of weak judges, one panel per reference."""
    rows = frame[frame["measure"] == "spearman"]
    references = [name for name in REFERENCES if name in set(rows["reference"])]
    figure, panels = canvas(PAGE, 2.5, 1, len(references), sharey=True)
    for axes, name in zip(panels, references, strict=True):
        _lines(axes, rows[rows["reference"] == name], "share_weak")
        axes.set(title=f"against {REFERENCES[name]}", xlabel="share of weak judges")
    panels[0].set_ylabel(MEASURE_NAMES["spearman"])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(f"{title}. Bands: interquartile range over repeats", fontsize=8)
    return figure


def sparsity(frame: pd.DataFrame, paper: pd.DataFrame | None, title: str) -> Figure:
    """Correlation with the full-data judge-aware fit against the share of edges kept, with the printed draw."""
    rows = frame[frame["reference"] == "judge_aware"]
    names = {"resample": "drawn again from those made", "simulate": "drawn anew from the fit"}
    redraws = [name for name in names if name in set(rows["redraw"])]
    figure, panels = canvas(PAGE, 2.3 * len(redraws) + 0.4, len(redraws), 2, sharey=True)
    for row, redraw in enumerate(redraws):
        for axes, measure in zip(np.reshape(panels, (-1, 2))[row], MEASURE_NAMES, strict=True):
            _lines(axes, rows[(rows["redraw"] == redraw) & (rows["measure"] == measure)], "edge_fraction")
            if paper is not None:
                axes.plot(
                    paper["edge_fraction"], paper[measure], "k^", markerfacecolor="none", label="printed, one draw"
                )
            axes.set(
                title=f"comparisons {names[redraw]}", xlabel="share of edges kept", ylabel=MEASURE_NAMES[measure]
            )
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle(f"{title}. Bands: interquartile range over draws", fontsize=8)
    return figure
