"""What the judges' discriminations look like."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.style import COLOURS, MARKERS, NAMES, PAGE, canvas, label_points, short

LINES = (
    ("#0072B2", "-"),
    ("#D55E00", "--"),
    ("#009E73", "-."),
    ("#CC79A7", ":"),
    ("#E69F00", "-"),
    ("#56B4E9", "--"),
)


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


def pool(frame: pd.DataFrame, title: str) -> Figure:
    """Discriminations within a pool with intervals, beside the full-data and the printed ones."""
    rows = frame.sort_values("discrimination", kind="stable")
    height = np.arange(len(rows))
    figure, (axes,) = canvas(PAGE * 0.75, 0.9 + 0.27 * len(rows))
    reach = np.abs(rows[["low", "high"]].to_numpy().T - rows["discrimination"].to_numpy())
    known = rows["low"].notna().to_numpy()
    axes.errorbar(
        rows["discrimination"][known],
        height[known],
        xerr=reach[:, known],
        fmt="o",
        color=COLOURS["judge_aware"],
        label="fit to the pool",
        elinewidth=0.9,
        capsize=1.5,
    )
    axes.plot(rows["discrimination"][~known], height[~known], "x", color=COLOURS["judge_aware"], label="at zero")
    axes.plot(rows["full_data"], height, "D", color="#009E73", markerfacecolor="none", label="full data")
    if rows["paper"].notna().any():
        axes.plot(rows["paper"], height, "^", color="black", markerfacecolor="none", label="printed")
    axes.set_yticks(height, [short(name) for name in rows["judge"]])
    top = 1.1 * np.nanmax(rows[["discrimination", "full_data", "paper"]].to_numpy(float))
    axes.set(
        title=title, xlabel="discrimination (geometric mean one over a fit's judges)", xlim=(-0.02 * top, top)
    )
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def length_curves(curves: pd.DataFrame, quartiles: pd.Series, title: str) -> Figure:
    """Discrimination against standardised log length, with pointwise intervals and the quartiles of length."""
    figure, (axes,) = canvas(PAGE * 0.7, 3.4)
    for (judge, rows), (colour, line) in zip(curves.groupby("judge", sort=False), LINES, strict=False):
        axes.plot(rows["z"], rows["estimate"], color=colour, linestyle=line, label=short(judge))
        axes.fill_between(rows["z"], rows["low"], rows["high"], color=colour, alpha=0.13, linewidth=0)
    for name in ("z_q25", "z_q75"):
        axes.axvline(quartiles[name], color=COLOURS["reference"], linestyle="--", linewidth=0.8)
    top = 1.6 * curves["estimate"].max()
    axes.set(title=title, xlabel="standardised log question length z (dashed: quartiles)", ylim=(0, top))
    axes.set_ylabel("discrimination gamma(z)")
    axes.legend(loc="upper center", ncols=2)
    return figure


def slopes(frame: pd.DataFrame, title: str) -> Figure:
    """Slopes in length with intervals by judge, with the true ones where they are known."""
    rows = frame.sort_values("slope", kind="stable")
    known = rows["low_slope"].notna().to_numpy()
    height = np.arange(len(rows))
    figure, (axes,) = canvas(PAGE * 0.75, 0.9 + 0.19 * len(rows))
    reach = (rows["high_slope"] - rows["slope"]).to_numpy()
    axes.errorbar(
        rows["slope"][known],
        height[known],
        xerr=reach[known],
        fmt="o",
        color=COLOURS["judge_aware"],
        label="estimate",
    )
    if not known.all():
        edge = rows["slope"][known].min(), rows["slope"][known].max()
        where = rows["slope"][~known].clip(*edge)
        axes.plot(
            where,
            height[~known],
            "x",
            color=COLOURS["judge_aware"],
            label="no interval: at zero, or on the bound",
        )
    if "true_slope" in rows:
        axes.plot(rows["true_slope"], height, "^", color="black", markerfacecolor="none", label="truth")
    axes.axvline(0, color=COLOURS["reference"], linewidth=0.6)
    axes.set_yticks(height, [short(name) for name in rows["judge"]])
    axes.set(title=title, xlabel="slope in standardised log length")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def answers(frame: pd.DataFrame, title: str) -> Figure:
    """Shares of the first-shown model, the second, ties and unparsed answers, by judge."""
    asked = frame["comparisons"] + frame["unparsed"]
    shares = pd.DataFrame(
        {
            "first shown": frame["share_a"] * frame["comparisons"] / asked,
            "tie": frame["share_tie"] * frame["comparisons"] / asked,
            "second shown": frame["share_b"] * frame["comparisons"] / asked,
            "unparsed": frame["unparsed"] / asked,
        }
    ).assign(judge=frame["judge"])
    rows = shares.sort_values("first shown", kind="stable")
    figure, (axes,) = canvas(PAGE * 0.75, 0.9 + 0.19 * len(rows))
    left, looks = np.zeros(len(rows)), (("#0072B2", ""), ("#F0E442", "//"), ("#E69F00", ""), ("#7F7F7F", ".."))
    for name, (colour, hatch) in zip(rows.columns[:-1], looks, strict=True):
        axes.barh(
            np.arange(len(rows)), rows[name], left=left, color=colour, hatch=hatch, edgecolor="white", label=name
        )
        left = left + rows[name].to_numpy()
    axes.axvline(0.5, color="black", linewidth=0.6, linestyle="--")
    axes.set_yticks(np.arange(len(rows)), [short(name) for name in rows["judge"]])
    axes.set(title=title, xlabel="share of the judge's answers", xlim=(0, 1))
    axes.grid(visible=False)
    axes.margins(y=0.01)
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def character(frame: pd.DataFrame, title: str) -> Figure:
    """What each judge does: its leaning towards a position against its discrimination, with intervals."""
    figure, (axes,) = canvas(PAGE, 4.4)
    x, y = frame["position"], frame["discrimination"]
    up = np.nan_to_num((frame["high_discrimination"] - y).to_numpy())
    across = (frame["high_position"] - x).to_numpy()
    style = {"fmt": MARKERS["position_aware"], "color": COLOURS["position_aware"], "elinewidth": 0.6}
    axes.errorbar(x, y, yerr=up, xerr=across, label="with positions", **style)
    axes.plot(x, frame["discrimination_judge_aware"], "_", color=COLOURS["judge_aware"], label="judge-aware")
    ring = {"facecolors": "none", "edgecolors": COLOURS["btl"], "label": "share of ties, by area"}
    axes.scatter(x, y, 400 * frame["share_tie"], **ring)
    zero = frame["low_discrimination"].isna()
    if zero.any():
        axes.plot(x[zero], y[zero], "x", color="black", label="at zero", markersize=5)
    axes.axvline(0, color=COLOURS["reference"], linewidth=0.6)
    axes.set(title=title, ylabel="discrimination")
    axes.set_xlabel("leaning towards the model shown first, in log-odds (negative: towards the second)")
    axes.margins(0.1)
    figure.legend(loc="outside lower center", ncols=4)
    label_points(axes, x, y, map(short, frame["judge"]), up)
    return figure
