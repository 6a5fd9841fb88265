"""How much of the full ranking parts of a set give."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, MARKERS, NAMES
from judgerank.plots.style import PAGE, REFERENCES, canvas

MEASURE_NAMES = {"pearson": "Pearson correlation", "spearman": "Spearman correlation"}
ENOUGH = 0.9  # of the repeats at the fullest point; points with fewer are drawn hollow


def _lines(axes: Axes, rows: pd.DataFrame, x: str, most: int) -> None:
    """Means of both methods with interquartile bands; `most` is the number of repeats at the fullest point."""
    for method in ("judge_aware", "btl"):
        line = rows[rows["method"] == method].sort_values(x)
        colour, marker = COLOURS[method], MARKERS[method]
        axes.plot(line[x], line["mean"], marker=marker, color=colour, label=NAMES[method])
        # with an edge, lest a band of no height vanish
        axes.fill_between(line[x], line["q25"], line["q75"], facecolor=f"{colour}33", edgecolor=f"{colour}66")
        few = line[line["n_repeats"] < ENOUGH * most]
        axes.plot(few[x], few["mean"], marker, color=colour, markerfacecolor="white")


def _note(frame: pd.DataFrame, title: str, more: str = "") -> str:
    """The title, and below it what bands and hollow points are."""
    note = "lines: means; bands: interquartile ranges" + more
    if (frame["n_repeats"] < ENOUGH * frame["n_repeats"].max()).any():
        note += f"; hollow: fewer than {ENOUGH:.0%} of the repeats have both fits"
    return f"{title}\n{note}"


def efficiency(frame: pd.DataFrame, measure: str, title: str) -> Figure:
    """Correlation against the number of comparisons, one panel per number of judges, with repeats by point."""
    judges, sizes = (sorted(frame[name].unique()) for name in ("n_judges", "n_comparisons"))
    figure, panels = canvas(PAGE, 2.7, 1, len(judges), sharex=True, sharey=True)
    for axes, many in zip(panels, judges, strict=True):
        rows = frame[frame["n_judges"] == many]
        _lines(axes, rows, "n_comparisons", frame["n_repeats"].max())
        repeats = rows.groupby("n_comparisons")["n_repeats"].min().reindex(sizes, fill_value=0)
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xticks(sizes, [f"{size / 1000:g}" for size in sizes])
        for size, count in repeats.items():
            place = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "bottom", "color": "#595959"}
            axes.annotate(str(count), (size, 1.0), fontsize=6, **place)
        axes.set_title(f"K = {many}", pad=12)
        axes.set_xlabel("thousand comparisons T")
    panels[0].set_ylabel(MEASURE_NAMES[measure])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(_note(frame, title, "; on top: repeats"), fontsize=8)
    return figure


def weak_share(frame: pd.DataFrame, title: str) -> Figure:
    """Spearman correlation against the share of weak judges, one panel per reference."""
    rows = frame[frame["measure"] == "spearman"]
    references = [name for name in REFERENCES if name in set(rows["reference"])]
    figure, panels = canvas(PAGE, 2.6, 1, len(references), sharey=True)
    for axes, name in zip(panels, references, strict=True):
        _lines(axes, rows[rows["reference"] == name], "share_weak", rows["n_repeats"].max())
        axes.set(title=f"against {REFERENCES[name]}", xlabel="share of weak judges on the panel")
    panels[0].set_ylabel(MEASURE_NAMES["spearman"])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(_note(rows, title), fontsize=8)
    return figure


def sparsity(frame: pd.DataFrame, paper: pd.DataFrame | None, title: str) -> Figure:
    """Correlation with the full-data judge-aware fit against the share of edges kept, with the printed draw."""
    rows = frame[frame["reference"] == "judge_aware"]
    names = {"resample": "drawn again from those made", "simulate": "drawn anew from the fit"}
    redraws = [name for name in names if name in set(rows["redraw"])]
    figure, panels = canvas(PAGE, 2.3 * len(redraws) + 0.5, len(redraws), 2, sharey=True)
    for row, redraw in enumerate(redraws):
        for axes, measure in zip(np.reshape(panels, (-1, 2))[row], MEASURE_NAMES, strict=True):
            shown = rows[(rows["redraw"] == redraw) & (rows["measure"] == measure)]
            _lines(axes, shown, "edge_fraction", rows["n_repeats"].max())
            if paper is not None:
                axes.plot(
                    paper["edge_fraction"], paper[measure], "k^", markerfacecolor="none", label="printed, one draw"
                )
            axes.set(
                title=f"comparisons {names[redraw]}", xlabel="share of edges kept", ylabel=MEASURE_NAMES[measure]
            )
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle(_note(rows, title), fontsize=8)
    return figure
