"""Figure 2: coverage and width of confidence intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from judgerank.plots.colours import COLOURS, MARKERS, NAMES
from judgerank.plots.looks import PAGE, canvas
from replication.plots.simulations import draws_of, named_once, settings_in

LOOKS = {  # hollow and dashed: the intervals of the same fit, held against another truth
    "judge_aware": {"color": COLOURS["judge_aware"], "marker": MARKERS["judge_aware"]},
    "btl": {"color": COLOURS["btl"], "marker": MARKERS["btl"]},
    "btl_rescaled": {"color": COLOURS["btl"], "marker": "^", "linestyle": "--", "markerfacecolor": "white"},
}
LABELS = {
    "judge_aware": NAMES["judge_aware"],
    "btl": f"{NAMES['btl']}, against the truth",
    "btl_rescaled": f"{NAMES['btl']}, against the truth on its scale (same intervals: no widths of its own)",
}
THIN = {"linewidth": 0.5, "alpha": 0.8}
DRAWS = "further draws of the truth"
ROWS = ("coverage", "coverage", "width", "relative_width")


def coverage(frame: pd.DataFrame, further: pd.DataFrame | None, level: float, title: str) -> Figure:
    """Figure 2 under every draw of the truth: coverage near the level and in full, mean width, width over spread.

    The main draw has markers, and two Monte Carlo standard errors as bars; further draws are thin lines.
    """
    groups = settings_in(frame)
    figure, panels = canvas(
        PAGE, 7.0, len(ROWS), len(groups), sharex="col", sharey="row", height_ratios=(1.5, 1.3, 1, 1)
    )
    panels = panels.reshape(len(ROWS), len(groups))
    for column, (name, _, _, rows) in zip(panels.T, groups, strict=True):
        for axes, value in zip(column, ROWS, strict=True):
            _lines(axes, value, rows, further)
        for axes in column[:2]:
            axes.axhline(level, color=COLOURS["reference"], linestyle=":", label=f"nominal {level:.0%}")
        _scales(column, sorted(rows["n_comparisons"].unique()))
        column[0].set_title(name)
    near = max(0.0, 2 * level - 1)
    panels[0, 0].set(ylim=(near, 1.0), yticks=np.linspace(near, 1.0, 6))
    panels[0, 0].yaxis.set_major_formatter("{x:.2f}")
    panels[1, 0].set_ylim(top=1.02)
    names = (
        f"coverage,\n{near:.2f} to 1",
        "coverage,\nin full",
        "mean width",
        "mean width over\nspread of scores",
    )
    for axes, label in zip(panels[:, 0], names, strict=True):
        axes.set_ylabel(label)
    named = named_once(panels.ravel())
    if further is not None:
        named["handles"].append(Line2D([], [], color=COLOURS["reference"], **THIN))
        named["labels"].append(DRAWS)
    figure.legend(**named, loc="outside lower center", ncols=2)
    figure.suptitle(
        f"{title}\nbars: two Monte Carlo standard errors; column titles: models N, judges K", fontsize=8
    )
    return figure


def _lines(axes: Axes, value: str, rows: pd.DataFrame, further: pd.DataFrame | None) -> None:
    """Every method's line of one measure, over the thin ones of further draws."""
    for method, look in LOOKS.items():
        if value != "coverage" and method == "btl_rescaled":
            continue  # truth on its scale or not, the intervals are the same
        for other in () if further is None else draws_of(further, rows, method=method):
            thin = {key: look[key] for key in ("color", "linestyle") if key in look}
            axes.plot(other["n_comparisons"], other[value], **thin, **THIN)
        line = rows[rows["method"] == method]
        bars = 2 * line["coverage_se"] if value == "coverage" else None
        style = {"label": LABELS[method], "capsize": 1.5, "zorder": 3, "markersize": 3}
        axes.errorbar(line["n_comparisons"], line[value], bars, **look, **style)


def _scales(column: np.ndarray, sizes: list[int]) -> None:
    """Every T of the grid on a logarithmic axis, and widths on a logarithmic one."""
    for axes in column:
        axes.set_xscale("log")
        axes.minorticks_off()
    for axes in column[2:]:
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:g}")
    column[-1].set_xticks(sizes, [f"{size / 1000:g}" for size in sizes], fontsize=6)
    column[-1].set_xlabel("thousand comparisons T")
