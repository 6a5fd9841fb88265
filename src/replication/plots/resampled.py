"""How much of the full ranking parts of a set give: of all draws, by the paper's Algorithm A.1."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.looks import COLOURS, MARKERS, NAMES, PAGE, canvas
from replication.estimator_names import ALL_DRAWS
from replication.plots.labels import REFERENCES
from replication.plots.points import finished

MEASURE_NAMES = {"pearson": "Pearson correlation", "spearman": "Spearman correlation"}
ENOUGH = 0.9  # of the draws at the fullest point; points with fewer are drawn hollow
PRINTED = {
    "color": "k",
    "linestyle": "",
    "marker": "^",
    "markerfacecolor": "none",
    "label": "printed, one graph each",
}
REDRAWN = {"subset": "without replacement", "resample": "with replacement", "simulate": "drawn anew from the fit"}


def _all_draws(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of the estimator that gives scores for every draw; others are conditional on a maximum."""
    return frame[frame["estimator"] == ALL_DRAWS]


def _lines(axes: Axes, rows: pd.DataFrame, x: str, most: int) -> None:
    """Means of both methods with interquartile bands; `most` is the number of draws at the fullest point."""
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
    note = "Algorithm A.1, all draws; lines: means; bands: interquartile ranges" + more
    if (frame["n_repeats"] < ENOUGH * frame["n_repeats"].max()).any():
        note += f"\nhollow: fewer than {ENOUGH:.0%} of the repeats had enough comparisons"
    return f"{title}\n{note}"


def efficiency(frame: pd.DataFrame, measure: str, title: str) -> Figure:
    """Correlation against the number of comparisons, one panel per number of judges, with draws by point."""
    frame = _all_draws(frame)
    judges, sizes = (sorted(frame[name].unique()) for name in ("n_judges", "n_comparisons"))
    figure, panels = canvas(PAGE, 2.7, 1, len(judges), sharex=True, sharey=True)
    for axes, n_judges in zip(panels, judges, strict=True):
        rows = frame[frame["n_judges"] == n_judges]
        _lines(axes, rows, "n_comparisons", frame["n_repeats"].max())
        repeats = rows.groupby("n_comparisons")["n_repeats"].min().reindex(sizes, fill_value=0)
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xticks(sizes, [f"{size / 1000:g}" for size in sizes])
        for size, count in repeats.items():
            text_style = {
                "xycoords": ("data", "axes fraction"),
                "ha": "center",
                "va": "bottom",
                "color": "#595959",
            }
            axes.annotate(str(count), (size, 1.0), fontsize=6, **text_style)
        axes.set_title(f"K = {n_judges}", pad=12)
        axes.set_xlabel("thousand comparisons T")
    panels[0].set_ylabel(MEASURE_NAMES[measure])
    return finished(figure, _note(frame, title, "; on top: draws"), panels[0])


def weak_share(frame: pd.DataFrame, title: str) -> Figure:
    """Spearman correlation against the share of weak judges, one panel per reference."""
    rows = _all_draws(frame[frame["measure"] == "spearman"])
    references = [name for name in REFERENCES if name in set(rows["reference"])]
    figure, panels = canvas(PAGE, 2.6, 1, len(references), sharey=True)
    for axes, name in zip(panels, references, strict=True):
        _lines(axes, rows[rows["reference"] == name], "share_weak", rows["n_repeats"].max())
        axes.set(title=f"against {REFERENCES[name]}", xlabel="share of weak judges on the panel")
    panels[0].set_ylabel(MEASURE_NAMES["spearman"])
    return finished(figure, _note(rows, title), panels[0])


def sparsity(frame: pd.DataFrame, printed_table: pd.DataFrame | None, title: str) -> Figure:
    """Correlation with the full-data judge-aware fit against the share of edges kept.

    Where numbers are printed, a further row shows them among tables of the design that fits them best.
    """
    rows = _all_draws(frame[frame["reference"] == "judge_aware"])
    redraws = [name for name in REDRAWN if name in set(rows["redraw"])]
    height = len(redraws) + (printed_table is not None)
    figure, panels = canvas(PAGE, 2.3 * height + 0.5, height, 2, sharey=True, sharex=True)
    panels = np.reshape(panels, (-1, 2))
    for line, redraw in zip(panels, redraws, strict=False):
        for axes, measure in zip(line, MEASURE_NAMES, strict=True):
            line_rows = rows[(rows["redraw"] == redraw) & (rows["measure"] == measure)]
            _lines(axes, line_rows, "edge_fraction", rows["n_repeats"].max())
            axes.set(title=f"as many as in the set, {REDRAWN[redraw]}")
    if printed_table is not None:
        _among_tables(panels[-1], printed_table)
        for axes, measure in zip(panels[:-1].T, MEASURE_NAMES, strict=True):
            printed = printed_table[printed_table["measure"] == measure]
            for axis_panel in axes:
                axis_panel.plot(printed["edge_fraction"], printed["paper"], **PRINTED)
    for axes, measure in zip(panels.T, MEASURE_NAMES, strict=True):
        axes[-1].set_xlabel("share of edges kept")
        for axis_panel in axes:
            axis_panel.set_ylabel(MEASURE_NAMES[measure])
    handles = {
        label: handle
        for axes in panels.ravel()
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return finished(figure, _note(rows, title))


def _among_tables(panels: np.ndarray, printed_table: pd.DataFrame) -> None:
    """Printed correlations, and where those of one more table of the same design would fall."""
    design = printed_table.iloc[0]
    for axes, measure in zip(panels, MEASURE_NAMES, strict=True):
        rows = printed_table[printed_table["measure"] == measure]
        x = rows["edge_fraction"]
        label = f"one more table of this design (95%, {design['tables']} tables)"
        axes.fill_between(x, rows["low"], rows["high"], color="#9A9A9A", alpha=0.35, linewidth=0, label=label)
        axes.plot(x, rows["mean"], color="#595959", label="its mean")
        axes.plot(x, rows["paper"], **PRINTED)
        axes.set_title(f"{design['n_comparisons']:,} comparisons, {REDRAWN[design['redraw']]}")
