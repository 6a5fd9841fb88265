"""What the judges' discriminations look like."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.style import COLOURS, MARKERS, NAMES, PAGE, canvas, label_points


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
