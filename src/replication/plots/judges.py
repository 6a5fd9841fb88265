"""What the judges' discriminations look like."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.style import COLOURS, MARKERS, NAMES, PAGE, canvas, label_points, name_rows, short

LINES = (
    ("#0072B2", "-"),
    ("#D55E00", "--"),
    ("#009E73", "-."),
    ("#CC79A7", ":"),
    ("#E69F00", "-"),
    ("#56B4E9", "--"),
)


HEADROOM = 1.6  # of the axis of discriminations, over the largest estimate
# why a judge has no slope in length, by status; the slope at which the search ended goes in
NO_SLOPE = {"slope_bound": "on the search's bound ({:+g})", "zero": "discrimination at zero"}


def _reach(estimate, low, high) -> np.ndarray:
    """What an interval reaches below and above its estimate, shape (2, n); nothing where there is none."""
    return np.nan_to_num(np.array([estimate - low, high - estimate], float))


def discrimination_bars(frame: pd.DataFrame, title: str) -> Figure:
    """Discrimination of every judge on every set, with intervals; judges at zero are marked."""
    order = frame.groupby("judge")["discrimination"].mean().sort_values().index
    sets = list(frame["dataset"].unique())
    figure, (axes,) = canvas(PAGE, 0.7 + (0.06 + 0.08 * len(sets)) * len(order))
    thickness = 0.8 / len(sets)
    for position, name in enumerate(sets):
        rows = frame[frame["dataset"] == name].set_index("judge").reindex(order)
        height = np.arange(len(order)) + 0.4 - thickness * (position + 0.5)
        colour = COLOURS.get(name, COLOURS["reference"])
        axes.barh(height, rows["discrimination"], thickness, color=colour, label=NAMES.get(name, name))
        known = rows["low"].notna().to_numpy()
        reach = _reach(rows["discrimination"], rows["low"], rows["high"])[:, known]
        place = (rows["discrimination"][known], height[known])
        axes.errorbar(*place, xerr=reach, fmt="none", ecolor="black", elinewidth=0.5, capsize=1)
        zero = (rows["status"] == "zero").to_numpy()
        axes.plot(np.zeros(zero.sum()), height[zero], "x", color=colour, markersize=4)
    name_rows(axes, order, np.arange(len(order)))
    axes.set_xlim(-0.02 * frame["high"].max(), 1.03 * frame["high"].max())
    axes.set(
        title=title, xlabel="discrimination (geometric mean one over a set's judges above zero; cross: at zero)"
    )
    axes.legend(loc="lower right")
    return figure


def size_against_discrimination(frame: pd.DataFrame, title: str) -> Figure:
    """Parameter count (billions, log scale) against discrimination."""
    figure, (axes,) = canvas(PAGE * 0.75, 3.6)
    reach = _reach(frame["discrimination"], frame["low"], frame["high"])
    colour, known = COLOURS["ultrafeedback"], frame["low"].notna()
    place = frame.loc[known, ["size", "discrimination"]].to_numpy().T
    axes.errorbar(*place, yerr=reach[:, known], fmt=MARKERS["ultrafeedback"], color=colour, elinewidth=0.6)
    if not known.all():
        axes.plot(*frame.loc[~known, ["size", "discrimination"]].to_numpy().T, "x", color=colour, label="at zero")
        axes.legend(loc="upper left")
    axes.set_xscale("log")
    axes.set(title=title, xlabel="parameters (billions)", ylabel="discrimination")
    axes.margins(0.1)
    label_points(axes, frame["size"], frame["discrimination"], map(short, frame["judge"]), reach[1])
    return figure


def discrimination_scatter(frame: pd.DataFrame, title: str) -> Figure:
    """MT-Bench against UltraFeedback discriminations of the same judges, with intervals; those at zero marked.

    Each set has a unit of its own (its judges above zero have geometric mean one), so a line of equality would
    mean nothing: judges who keep their proportions lie on some line through the origin.
    """
    wide = frame.pivot(index="judge", columns="dataset", values=["discrimination", "low", "high"])
    x, y = (wide["discrimination"][name] for name in ("mt_bench", "ultrafeedback"))
    both = x.notna() & y.notna()
    reach = {s: _reach(*(wide[end][s] for end in ("discrimination", "low", "high"))) for s in (x.name, y.name)}
    figure, (axes,) = canvas(PAGE * 0.75, PAGE * 0.66)
    fitted = both & (x > 0) & (y > 0)
    bars = {"xerr": reach[x.name][:, fitted], "yerr": reach[y.name][:, fitted], "ecolor": "#BFD4E6"}
    axes.errorbar(x[fitted], y[fitted], fmt="o", color=COLOURS["judge_aware"], elinewidth=0.6, **bars)
    zero = both & ~fitted
    if zero.any():
        axes.plot(x[zero], y[zero], "x", color=COLOURS["btl"], label="at zero on a set", clip_on=False)
        axes.legend(loc="upper left")
    axes.set(title=title, ylabel="discrimination, UltraFeedback")
    axes.set_xlabel("discrimination, MT-Bench (each set in its own unit: geometric mean one)")
    axes.set(xlim=(-0.05, None), ylim=(-0.1, None))
    label_points(axes, x[both], y[both], map(short, x.index[both]))
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
    """Discriminations within a pool with intervals, beside the full-data ones.

    The printed ones are of the in-house set, and stand beside a fit to that set only.
    """
    rows = frame.sort_values("discrimination", kind="stable")
    height = np.arange(len(rows))
    figure, (axes,) = canvas(PAGE * 0.75, 1.0 + 0.27 * len(rows))
    reach = _reach(rows["discrimination"], rows["low"], rows["high"])
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
    if not known.all():
        axes.plot(
            rows["discrimination"][~known], height[~known], "x", color=COLOURS["judge_aware"], label="at zero"
        )
    axes.plot(rows["full_data"], height, "D", color="#009E73", markerfacecolor="none", label="full data")
    printed = rows["paper"].where(rows["dataset"] == "in_house")
    if printed.notna().any():
        axes.plot(printed, height, "^", color="black", markerfacecolor="none", label="printed")
    name_rows(axes, rows["judge"], height)
    estimates = pd.concat([rows["discrimination"], rows["full_data"], printed]).max()
    highest = max(rows["high"].max(), estimates)
    top = min(1.04 * highest, HEADROOM * estimates)
    cut = "\nintervals cut at the frame" if highest > top else ""
    label = f"discrimination (geometric mean one over a fit's judges){cut}"
    axes.set(title=title, xlabel=label, xlim=(-0.02 * top, top))
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
    top = HEADROOM * curves["estimate"].max()
    axes.set(title=title, xlabel="standardised log question length z (dashed: quartiles)", ylim=(0, top))
    axes.set_ylabel("discrimination gamma(z)")
    axes.legend(loc="upper center", ncols=2)
    return figure


def slopes(frame: pd.DataFrame, title: str) -> Figure:
    """Slopes in length with intervals by judge, with the true ones where they are known.

    Where there is no interval the search ended on its bound or the judge is at zero: that is said in words, since
    any point would look like an estimate.
    """
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
    for y in height[~known]:
        status = NO_SLOPE.get(rows["status"].iloc[y], rows["status"].iloc[y])
        words = f"no estimate: {status}".format(rows["slope"].iloc[y])
        place = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "center", "color": "#595959"}
        axes.annotate(words, (0.99, y), fontsize=6, **place)
    if "true_slope" in rows:
        axes.plot(rows["true_slope"], height, "^", color="black", markerfacecolor="none", label="truth")
    axes.axvline(0, color=COLOURS["reference"], linewidth=0.6)
    name_rows(axes, rows["judge"], height)
    axes.set(title=title, xlabel="slope of log discrimination in standardised log length")
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
    name_rows(axes, rows["judge"], np.arange(len(rows)))
    axes.set(title=title, xlabel="share of the judge's answers", xlim=(0, 1))
    axes.grid(visible=False)
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def character(frame: pd.DataFrame, title: str) -> Figure:
    """What each judge does: its leaning towards a position against its discrimination, with intervals."""
    figure, (axes,) = canvas(PAGE, 4.4)
    x, y = frame["position"], frame["discrimination"]
    reach = _reach(y, frame["low_discrimination"], frame["high_discrimination"])
    across = (frame["high_position"] - x).to_numpy()
    style = {"fmt": MARKERS["position_aware"], "color": COLOURS["position_aware"], "elinewidth": 0.6}
    axes.errorbar(x, y, yerr=reach, xerr=across, label="with positions", **style)
    axes.plot(x, frame["discrimination_judge_aware"], "_", color=COLOURS["judge_aware"], label="judge-aware")
    ring = {"facecolors": "none", "edgecolors": COLOURS["btl"]}
    axes.scatter(x, y, 400 * frame["share_tie"], **ring)
    axes.scatter([], [], 400 * 0.1, label="share of ties, by area (this one: 10%)", **ring)
    zero = frame["low_discrimination"].isna()
    if zero.any():
        axes.plot(x[zero], y[zero], "x", color="black", label="at zero", markersize=5)
    axes.axvline(0, color=COLOURS["reference"], linewidth=0.6)
    axes.set_xlabel("position: preference for the model shown first, in log-odds (negative: for the second)")
    axes.margins(0.1)
    top = HEADROOM * y.max()  # an interval of a judge near zero may reach far beyond all estimates
    cut = (frame["high_discrimination"] > top).any()
    axes.set(
        title=title,
        ylabel="discrimination (intervals cut at the frame)" if cut else "discrimination",
        ylim=(-0.1 * y.max(), top),
    )
    figure.legend(loc="outside lower center", ncols=4)
    label_points(axes, x, y, map(short, frame["judge"]), np.minimum(reach[1], top - y))
    return figure
