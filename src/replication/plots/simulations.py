"""Figures of the simulation study: errors of estimates, coverage and width of intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from judgerank.plots.looks import COLOURS, MARKERS, NAMES, PAGE, canvas, shades
from replication.plots.points import finished

# The simulation study's figures.
ERROR_LABELS = {"score": "mean squared error\nof s", "log_discrimination": "mean squared error\nof log gamma"}


def settings_in(frame: pd.DataFrame) -> list[tuple[str, str, str, pd.DataFrame]]:
    """Label, colour, marker and rows of every (N, K) in a frame, in order of appearance."""
    groups = list(frame.groupby(["n_models", "n_judges"], sort=False))
    styles = shades(len(groups))
    return [(f"N={n}, K={k}", *style, rows) for style, ((n, k), rows) in zip(styles, groups, strict=True)]


def estimator_of(endings: pd.DataFrame) -> str:
    """Which estimator a study used, in words, from how its fits ended."""
    if "ambiguous" in endings:  # asked of no other
        return "maximum likelihood over a box"
    if {"stopping_rule", "iteration_limit"} & set(endings):
        return "Algorithm A.1"
    return "maximum likelihood, where there is an interior maximum"


def mse(frame: pd.DataFrame, endings: pd.DataFrame, title: str) -> Figure:
    """Figure 1: mean squared errors with interquartile bands, and how often there was an interior maximum."""
    figure, panels = canvas(PAGE, 3.1, 1, 3, width_ratios=(1, 1, 0.8))
    for axes, (parameter, label) in zip(panels, ERROR_LABELS.items(), strict=False):
        for name, colour, marker, rows in settings_in(frame[frame["parameter"] == parameter]):
            axes.loglog(rows["n_comparisons"], rows["mean"], marker=marker, color=colour, label=name)
            axes.fill_between(
                rows["n_comparisons"], rows["q25"], rows["q75"], color=colour, alpha=0.2, linewidth=0
            )
        axes.set(xlabel="comparisons T", ylabel=label)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    for _, colour, marker, rows in settings_in(frame[frame["parameter"] == "score"]):
        share = rows["n_interior"] / rows["n_replications"].max()
        panels[2].semilogx(rows["n_comparisons"], share, marker=marker, color=colour)
    panels[2].set(xlabel="comparisons T", ylabel="share with an interior maximum", ylim=(-0.03, 1.03))
    runs = frame["n_replications"].max()
    note = f"estimator: {estimator_of(endings)}; lines: means of {runs} runs; bands: interquartile ranges"
    return finished(figure, f"{title}\n{note}")


def mse_draws(
    other_draws: pd.DataFrame, main: pd.DataFrame, algorithm: pd.DataFrame | None, endings: pd.DataFrame
) -> Figure:
    """Mean squared errors under every draw of the truth, by setting, and Algorithm A.1's where it was run."""
    groups = settings_in(main)
    figure, panels = canvas(PAGE, 4.0, 2, len(groups), sharex="col", sharey="row")
    panels = panels.reshape(2, len(groups))
    for column, (name, colour, marker, rows) in zip(panels.T, groups, strict=True):
        for axes, parameter in zip(column, ERROR_LABELS, strict=True):
            for line in draws_of(other_draws, rows, parameter=parameter):
                thin = axes.loglog(line["n_comparisons"], line["mean"], color=colour, linewidth=0.5, alpha=0.8)
                thin[0].set_label("further draws")
            line = rows[rows["parameter"] == parameter]
            axes.loglog(line["n_comparisons"], line["mean"], marker=marker, color=colour, label="main draw")
            for line in () if algorithm is None else draws_of(algorithm, rows, parameter=parameter, draw=0):
                for dashes, (stop, rows_at_stop) in zip(("--", ":", "-."), line.groupby("stop"), strict=False):
                    style = {"color": "black", "linestyle": dashes, "marker": "+", "zorder": 3}
                    label = f"main draw, Algorithm A.1, {stop:,} iterations"
                    axes.loglog(rows_at_stop["n_comparisons"], rows_at_stop["mean"], label=label, **style)
        column[0].set_title(name)
        column[1].set_xlabel("comparisons T")
    for axes, label in zip(panels[:, 0], ERROR_LABELS.values(), strict=True):
        axes.set_ylabel(label)
    figure.legend(**named_once(panels[0]), loc="outside lower center", ncols=3)
    note = f"estimator: {estimator_of(endings)}; dashed: Algorithm A.1"
    return finished(figure, f"Mean squared error under every draw of the truth\n{note}")


def draws_of(frame: pd.DataFrame, rows: pd.DataFrame, **where: object) -> list[pd.DataFrame]:
    """The lines of a frame, draw by draw, that are of the same N and K as some rows."""
    condition = rows[["n_models", "n_judges"]].iloc[0].to_dict() | where
    same = (frame[list(condition)] == pd.Series(condition)).all(axis=1)
    return [line for _, line in frame[same].groupby("draw")]


def named_once(panels: np.ndarray) -> dict[str, list]:
    """Handles and labels for a legend, each label once, whichever panels it is in."""
    handle_of_label = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handle_of_label.setdefault(label, handle)
    return {"handles": list(handle_of_label.values()), "labels": list(handle_of_label)}


# Figure 2: coverage and width of confidence intervals.
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


def coverage(frame: pd.DataFrame, other_draws: pd.DataFrame | None, level: float, title: str) -> Figure:
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
            _lines(axes, value, rows, other_draws)
        for axes in column[:2]:
            axes.axhline(level, color=COLOURS["reference"], linestyle=":", label=f"nominal {level:.0%}")
        _scales(column, sorted(rows["n_comparisons"].unique()))
        column[0].set_title(name)
    lowest = max(0.0, 2 * level - 1)
    panels[0, 0].set(ylim=(lowest, 1.0), yticks=np.linspace(lowest, 1.0, 6))
    panels[0, 0].yaxis.set_major_formatter("{x:.2f}")
    panels[1, 0].set_ylim(top=1.02)
    names = (
        f"coverage,\n{lowest:.2f} to 1",
        "coverage,\nin full",
        "mean width",
        "mean width over\nspread of scores",
    )
    for axes, label in zip(panels[:, 0], names, strict=True):
        axes.set_ylabel(label)
    named = named_once(panels.ravel())
    if other_draws is not None:
        named["handles"].append(Line2D([], [], color=COLOURS["reference"], **THIN))
        named["labels"].append(DRAWS)
    figure.legend(**named, loc="outside lower center", ncols=2)
    figure.suptitle(
        f"{title}\nbars: two Monte Carlo standard errors; column titles: models N, judges K", fontsize=8
    )
    return figure


def _lines(axes: Axes, value: str, rows: pd.DataFrame, other_draws: pd.DataFrame | None) -> None:
    """Every method's line of one measure, over the thin ones of further draws."""
    for method, line_style in LOOKS.items():
        if value != "coverage" and method == "btl_rescaled":
            continue  # truth on its scale or not, the intervals are the same
        for other_line in () if other_draws is None else draws_of(other_draws, rows, method=method):
            thin = {key: line_style[key] for key in ("color", "linestyle") if key in line_style}
            axes.plot(other_line["n_comparisons"], other_line[value], **thin, **THIN)
        line = rows[rows["method"] == method]
        bars = 2 * line["coverage_se"] if value == "coverage" else None
        style = {"label": LABELS[method], "capsize": 1.5, "zorder": 3, "markersize": 3}
        axes.errorbar(line["n_comparisons"], line[value], bars, **line_style, **style)


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
