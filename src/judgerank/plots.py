"""How stored tables become figures. Nothing here computes a result or draws a random number."""

from __future__ import annotations

from collections.abc import Iterable

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import textalloc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLUMN, PAGE = 3.25, 6.75  # widths of the paper's column and page, in inches
# Okabe and Ito's palette, told apart by colour-blind readers; markers tell them apart in grey print
COLOURS = {
    "judge_aware": "#0072B2",
    "btl": "#D55E00",
    "mt_bench": "#009E73",
    "ultrafeedback": "#CC79A7",
    "chatbot_arena": "#E69F00",
    "reference": "#7F7F7F",
}
MARKERS = {"judge_aware": "o", "btl": "s", "mt_bench": "o", "ultrafeedback": "D", "chatbot_arena": "^"}
NAMES = {
    "judge_aware": "judge-aware",
    "btl": "unweighted BTL",
    "mt_bench": "MT-Bench",
    "ultrafeedback": "UltraFeedback",
    "chatbot_arena": "Chatbot Arena",
}
STYLE = {
    "font.size": 7,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.hashsalt": "judgerank",
}


def canvas(width: float, height: float, rows: int = 1, columns: int = 1, **options) -> tuple[Figure, np.ndarray]:
    """A figure in the project's style, with its axes as a flat array."""
    plt.rcParams.update(STYLE)
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), squeeze=False, **options)
    return figure, axes.ravel()


def label_points(
    axes: Axes, x: Iterable[float], y: Iterable[float], names: Iterable[str], reach: Iterable[float] | None = None
) -> None:
    """Name points where no name covers another, a point, or a vertical bar of half-length `reach`.

    Call when the layout is final.
    """
    x, y = list(x), list(y)
    axes.figure.draw_without_rendering()
    bars = {}
    if reach is not None:
        ends = [(b - r, b + r) for b, r in zip(y, reach, strict=True)]
        bars = {"x_lines": [(a, a) for a in x], "y_lines": ends}
    line = {"linecolor": "#9A9A9A", "linewidth": 0.4}
    where = {"min_distance": 0.012, "max_distance": 0.4, "margin": 0.006, "nbr_candidates": 600}
    textalloc.allocate(axes, x, y, list(names), x_scatter=x, y_scatter=y, textsize=5.5, **where, **line, **bars)


def short(judge: str) -> str:
    """A judge's name without its publisher and serving suffixes."""
    name = judge.rsplit("/", 1)[-1]
    for suffix in ("-FP8", "-tput", "-Turbo", "-Instruct-2507", "-17B-128E-Instruct", "-17B-16E-Instruct"):
        name = name.replace(suffix, "")
    for suffix in (
        "-Instruct-v0.1",
        "-Instruct",
        "-instruct",
        "-preview-llama-109B-MoE",
        "-A22B",
        "-A3B",
        "-it",
    ):
        name = name.replace(suffix, "")
    return name


def leaderboard(frame: pd.DataFrame, title: str) -> Figure:
    """Scores of both fits with their intervals, best judge-aware score on top."""
    figure, (axes,) = canvas(PAGE * 0.75, 0.6 + 0.19 * len(frame))
    height = -np.arange(len(frame))
    for fit, shift in (("judge_aware", 0.16), ("btl", -0.16)):
        score = frame[f"score_{fit}"]
        reach = np.abs(frame[[f"low_{fit}", f"high_{fit}"]].to_numpy().T - score.to_numpy())
        style = {"fmt": MARKERS[fit], "color": COLOURS[fit], "elinewidth": 0.9, "capsize": 1.5}
        axes.errorbar(score, height + shift, xerr=reach, label=NAMES[fit], **style)
    axes.set_yticks(height, frame["model"])
    axes.axvline(0, color=COLOURS["reference"], linewidth=0.6)
    axes.set(title=title, xlabel="score (log-odds at discrimination one; each fit on its own scale)")
    axes.margins(y=0.02)
    axes.legend(loc="lower right")
    return figure


def agreement(frame: pd.DataFrame, reference: str, label: str, title: str) -> Figure:
    """Scores of both fits against a reference column, with the model named once."""
    figure, panels = canvas(PAGE, 3.1, 1, 2)
    known = frame.dropna(subset=[reference])
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        axes.plot(known[reference], known[f"score_{fit}"], MARKERS[fit], color=COLOURS[fit])
        axes.set(xlabel=label, ylabel=f"score, {NAMES[fit]}")
        axes.margins(0.12)
    figure.suptitle(title, fontsize=8)
    for axes, fit in zip(panels, ("judge_aware", "btl"), strict=True):
        label_points(axes, known[reference], known[f"score_{fit}"], known["model"])
    return figure


def ratings(frame: pd.DataFrame, title: str) -> Figure:
    """Judge-aware score against the mean rating in each of the four dimensions."""
    dimensions = sorted(frame["dimension"].unique())
    figure, panels = canvas(PAGE, 5.2, 2, 2)
    for axes, dimension in zip(panels, dimensions, strict=True):
        rows = frame[frame["dimension"] == dimension]
        axes.plot(rows["score_judge_aware"], rows["rating"], "o", color=COLOURS["judge_aware"])
        axes.set(title=dimension.replace("_", " "), xlabel="score, judge-aware", ylabel="mean rating (1 to 5)")
        axes.margins(0.12)
    figure.suptitle(title, fontsize=8)
    for axes, dimension in zip(panels, dimensions, strict=True):
        rows = frame[frame["dimension"] == dimension]
        label_points(axes, rows["score_judge_aware"], rows["rating"], rows["model"])
    return figure


def discrimination_bars(frame: pd.DataFrame, title: str) -> Figure:
    """Discrimination of every judge on every set, with intervals; judges at zero are marked."""
    order = frame.groupby("judge")["discrimination"].mean().sort_values().index
    sets = [name for name in ("mt_bench", "ultrafeedback", "chatbot_arena") if name in set(frame["dataset"])]
    figure, (axes,) = canvas(PAGE, 0.7 + 0.27 * len(order))
    thickness = 0.8 / len(sets)
    for position, name in enumerate(sets):
        rows = frame[frame["dataset"] == name].set_index("judge").reindex(order)
        height = np.arange(len(order)) + 0.4 - thickness * (position + 0.5)
        axes.barh(height, rows["discrimination"], thickness, color=COLOURS[name], label=NAMES[name])
        known = rows["low"].notna().to_numpy()
        reach = (rows["high"] - rows["discrimination"])[known]
        place = (rows["discrimination"][known], height[known])
        axes.errorbar(*place, xerr=reach, fmt="none", ecolor="black", elinewidth=0.5, capsize=1)
        zero = (rows["status"] == "zero").to_numpy()
        axes.plot(np.zeros(zero.sum()), height[zero], "x", color=COLOURS[name], markersize=4)
    axes.set_yticks(np.arange(len(order)), [short(name) for name in order])
    axes.set(
        title=title, xlabel="discrimination (geometric mean one over a set's judges above zero; cross: at zero)"
    )
    axes.margins(y=0.01)
    axes.legend(loc="lower right")
    return figure


def size_against_discrimination(frame: pd.DataFrame, title: str) -> Figure:
    """Parameter count (billions, log scale) against discrimination."""
    figure, (axes,) = canvas(PAGE * 0.75, 3.6)
    reach = (frame["high"] - frame["discrimination"]).fillna(0.0)
    axes.errorbar(
        frame["size"],
        frame["discrimination"],
        yerr=reach,
        fmt=MARKERS["ultrafeedback"],
        color=COLOURS["ultrafeedback"],
        elinewidth=0.6,
    )
    axes.set_xscale("log")
    axes.set(title=title, xlabel="parameters (billions)", ylabel="discrimination")
    axes.margins(0.1)
    label_points(axes, frame["size"], frame["discrimination"], map(short, frame["judge"]), reach)
    return figure


def discrimination_scatter(frame: pd.DataFrame, title: str) -> Figure:
    """MT-Bench against UltraFeedback discriminations of the same judges, with the diagonal."""
    wide = frame.pivot(index="judge", columns="dataset", values="discrimination")
    wide = wide[["mt_bench", "ultrafeedback"]].dropna()
    figure, (axes,) = canvas(PAGE * 0.7, PAGE * 0.6)
    top = 1.08 * wide.to_numpy().max()
    axes.plot([0, top], [0, top], "--", color=COLOURS["reference"], linewidth=0.7, label="equal")
    axes.plot(wide["mt_bench"], wide["ultrafeedback"], "o", color=COLOURS["judge_aware"])
    axes.set(title=title, xlabel="discrimination, MT-Bench", ylabel="discrimination, UltraFeedback")
    axes.legend(loc="upper left")
    label_points(axes, wide["mt_bench"], wide["ultrafeedback"], map(short, wide.index))
    return figure


def stopping_path(path: pd.DataFrame, maximum: float, title: str) -> Figure:
    """Where Algorithm 1 is after each iteration: distance to the printed column, and to the maximum."""
    nearest = path.loc[path["largest_difference"].idxmin()]
    figure, (gap, shortfall) = canvas(PAGE, 2.5, 1, 2)
    gap.plot(path["iteration"], path["largest_difference"], color=COLOURS["judge_aware"])
    gap.set(xlabel="iterations", ylabel="largest difference\nfrom a printed discrimination", ylim=(0, None))
    shortfall.semilogy(path["iteration"], maximum - path["log_likelihood"], color=COLOURS["judge_aware"])
    shortfall.set(xlabel="iterations", ylabel="log-likelihood\nbelow its supremum")
    for axes in (gap, shortfall):
        axes.axvline(nearest["iteration"], color=COLOURS["reference"], linestyle="--", linewidth=0.8)
    text = f"nearest after\n{nearest['iteration']:.0f} iterations: {nearest['largest_difference']:.3f}"
    gap.annotate(text, (nearest["iteration"], 0.9), (4, 0), ("data", "axes fraction"), "offset points")
    figure.suptitle(title, fontsize=8)
    return figure
