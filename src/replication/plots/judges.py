"""Figures of judges' discriminations, and of how they depend on the length of the question (appendix F.6)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from judgerank.plots.looks import COLOURS, DATA_SETS, MARKERS, NAMES, PAGE, canvas, shades, short
from replication.plots.labels import label_points, name_points, name_rows
from replication.plots.points import finished, reference

# What the judges' discriminations look like.
HEADROOM = 1.6  # of the axis of discriminations, over the largest estimate
CROWDED = 0.4  # of the axis: points beyond have their names in the margin
NO_BAR = {"x": "estimate is zero", "_": "did not judge this set"}


def reach_of(estimate, low, high) -> np.ndarray:
    """What an interval reaches below and above its estimate, shape (2, n); nothing where there is none."""
    return np.nan_to_num(np.array([estimate - low, high - estimate], float))


def discrimination_bars(frame: pd.DataFrame, title: str) -> Figure:
    """Figure A.9: discrimination of every judge on every set, with intervals.

    Where a judge has no bar a mark says why: the estimate is zero, or the judge did not judge that set.
    """
    order = frame.groupby("judge")["discrimination"].mean().sort_values().index
    present = set(frame["dataset"])
    sets = [name for name in DATA_SETS if name in present]
    sets += [name for name in frame["dataset"].unique() if name not in sets]
    figure, (axes,) = canvas(PAGE, 1.1 + (0.1 + 0.065 * len(sets)) * len(order))
    thickness = 0.76 / len(sets)
    for row in range(0, len(order), 2):
        axes.axhspan(row - 0.5, row + 0.5, color="black", alpha=0.04, linewidth=0)
    own_shades = iter(shades(len(present - set(DATA_SETS))))
    bars = []
    for position, name in enumerate(sets):
        rows = frame[frame["dataset"] == name].set_index("judge").reindex(order)
        height = np.arange(len(order)) + 0.38 - thickness * (position + 0.5)
        colour = COLOURS[name] if name in DATA_SETS else next(own_shades)[0]
        style = {"color": colour, "label": NAMES.get(name, name)}
        bars.append(axes.barh(height, rows["discrimination"], thickness, **style))
        _over_bars(axes, rows, height, colour)
    name_rows(axes, order, np.arange(len(order)))
    axes.grid(visible=False, axis="y")
    axes.set_xlim(-0.02 * frame["high"].max(), 1.03 * frame["high"].max())
    label = "discrimination, with intervals (geometric mean one over a set's judges above zero)"
    axes.set(title=title, xlabel=label)
    marks = [
        Line2D([], [], linestyle="", marker=m, color="black", markersize=4, label=t) for m, t in NO_BAR.items()
    ]
    figure.legend(handles=[*bars, *marks], loc="outside lower center", ncols=3)
    return figure


def _over_bars(axes: Axes, rows: pd.DataFrame, height: np.ndarray, colour: str) -> None:
    """Intervals on a set's bars, and marks where there is no bar."""
    has_interval = rows["low"].notna().to_numpy()
    reach = reach_of(rows["discrimination"], rows["low"], rows["high"])[:, has_interval]
    position = (rows["discrimination"][has_interval], height[has_interval])
    axes.errorbar(*position, xerr=reach, fmt="none", ecolor="black", elinewidth=0.5, capsize=1)
    for marker, why in (("x", rows["status"] == "zero"), ("_", rows["status"].isna())):
        missing_heights = height[why.to_numpy()]
        axes.plot(np.zeros(len(missing_heights)), missing_heights, marker, color=colour, markersize=4)


def size_against_discrimination(frame: pd.DataFrame, title: str) -> Figure:
    """Figure A.7: parameter count (billions, log scale) against discrimination."""
    figure, (axes,) = canvas(PAGE * 0.75, 3.9)
    reach = reach_of(frame["discrimination"], frame["low"], frame["high"])
    colour, has_interval = COLOURS["ultrafeedback"], frame["low"].notna()
    position = frame.loc[has_interval, ["size", "discrimination"]].to_numpy().T
    style = {"color": colour, "elinewidth": 0.6, "label": "estimate, with interval"}
    axes.errorbar(*position, yerr=reach[:, has_interval], fmt=MARKERS["ultrafeedback"], **style)
    if not has_interval.all():
        axes.plot(
            *frame.loc[~has_interval, ["size", "discrimination"]].to_numpy().T, "x", color=colour, label="at zero"
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set(title=title, xlabel="parameters in billions, as printed in Table A.8", ylabel="discrimination")
    axes.margins(0.1)
    figure.legend(loc="outside lower center", ncols=2)
    label_points(axes, frame["size"], frame["discrimination"], map(short, frame["judge"]), reach[1])
    return figure


def discrimination_scatter(frame: pd.DataFrame, title: str) -> Figure:
    """Figure A.8: MT-Bench against UltraFeedback discriminations of the same judges, with intervals.

    Each set has a unit of its own (its judges above zero have geometric mean one), so judges who keep their
    proportions lie on some line through the origin, which need not be the diagonal. Both lines are drawn: the
    diagonal, and the one of the median ratio.
    """
    wide = frame.pivot(index="judge", columns="dataset", values=["discrimination", "low", "high"])
    x, y = (wide["discrimination"][name] for name in ("mt_bench", "ultrafeedback"))
    both = x.notna() & y.notna()
    reach = {s: reach_of(*(wide[end][s] for end in ("discrimination", "low", "high"))) for s in (x.name, y.name)}
    figure, (axes,) = canvas(PAGE, PAGE * 0.78)
    fitted = both & (x > 0) & (y > 0)
    top = 1.03 * wide["high"].loc[both, [x.name, y.name]].max().max()
    ratio = float((y / x)[fitted].median())
    lines = ((1.0, "--", "equal on both sets"), (ratio, ":", f"median ratio, {ratio:.2f}"))
    for slope, style, label in lines:
        axes.plot([0, top], [0, slope * top], style, color=COLOURS["reference"], linewidth=0.9, label=label)
    bars = {"xerr": reach[x.name][:, fitted], "yerr": reach[y.name][:, fitted], "ecolor": "#C4D6E6"}
    marker_style = {
        "fmt": MARKERS["judge_aware"],
        "color": COLOURS["judge_aware"],
        "elinewidth": 0.6,
        "markersize": 2.5,
    }
    axes.errorbar(x[fitted], y[fitted], label="judge, with intervals", **marker_style, **bars)
    zero = both & ~fitted
    if zero.any():
        axes.plot(x[zero], y[zero], "x", color=COLOURS["judge_aware"], label="at zero on a set", clip_on=False)
    axes.set(title=title, xlabel="discrimination, MT-Bench", ylabel="discrimination, UltraFeedback")
    axes.set(xlim=(-0.07 * top, top), ylim=(-0.07 * top, top), aspect="equal")
    figure.legend(loc="outside lower center", ncols=4)
    crowd = both & (x > CROWDED * top)
    name_points(axes, x[crowd], y[crowd], map(short, x.index[crowd]))
    for judge in x.index[zero & ~crowd]:  # side by side on the axis, so the names lean
        text_style = {"textcoords": "offset points", "rotation": 45, "ha": "left", "va": "bottom", "fontsize": 6}
        axes.annotate(short(judge), (x[judge], y[judge]), (2, 2), **text_style)
    is_labelled = fitted & ~crowd
    label_points(axes, x[is_labelled], y[is_labelled], map(short, x.index[is_labelled]))
    return figure


def stopping_path(path: pd.DataFrame, maximum: float, title: str) -> Figure:
    """Where Algorithm A.1 is after each iteration: distance to the printed column, and to the maximum."""
    stop = path.loc[path["stop"].idxmax()]
    figure, (gap, shortfall) = canvas(PAGE, 2.5, 1, 2)
    thousands = path["iteration"] / 1000
    gap.plot(thousands, path["largest_difference"], color=COLOURS["judge_aware"])
    gap.set(ylabel="largest difference\nfrom a printed discrimination", ylim=(0, None))
    shortfall.semilogy(thousands, maximum - path["log_likelihood"], color=COLOURS["judge_aware"])
    shortfall.set(ylabel="log-likelihood\nbelow its supremum")
    for axes in (gap, shortfall):
        axes.set_xlabel("iterations (thousands)")
        axes.axvline(stop["iteration"] / 1000, color=COLOURS["reference"], linestyle="--", linewidth=0.8)
    text = f"after {stop['iteration']:,.0f} iterations\n{stop['matched']:.0f} of {stop['of']:.0f} as printed"
    text_style = {"textcoords": "offset points", "ha": "right", "va": "top"}
    gap.annotate(text, (stop["iteration"] / 1000, 0.95), (-4, 0), ("data", "axes fraction"), **text_style)
    return finished(figure, title)


def pool(frame: pd.DataFrame, title: str) -> Figure:
    """Discriminations within a pool with intervals, beside the full-data ones.

    The printed ones are of the in-house set, and stand beside a fit to that set only.
    """
    rows = frame.sort_values("discrimination", kind="stable")
    height = np.arange(len(rows))
    figure, (axes,) = canvas(PAGE * 0.75, 1.0 + 0.27 * len(rows))
    reach = reach_of(rows["discrimination"], rows["low"], rows["high"])
    has_interval = rows["low"].notna().to_numpy()
    axes.errorbar(
        rows["discrimination"][has_interval],
        height[has_interval],
        xerr=reach[:, has_interval],
        fmt="o",
        color=COLOURS["judge_aware"],
        label="fit to the pool",
        elinewidth=0.9,
        capsize=1.5,
    )
    if not has_interval.all():
        axes.plot(
            rows["discrimination"][~has_interval],
            height[~has_interval],
            "x",
            color=COLOURS["judge_aware"],
            label="at zero",
        )
    axes.plot(
        rows["full_data"],
        height,
        "D",
        color=COLOURS["judge_aware"],
        markerfacecolor="none",
        label="fit to the full data",
    )
    printed = rows["paper"].where(rows["dataset"] == "in_house")
    if printed.notna().any():
        axes.plot(
            printed, height, MARKERS["printed"], color=COLOURS["printed"], markerfacecolor="none", label="printed"
        )
    name_rows(axes, rows["judge"], height)
    estimates = pd.concat([rows["discrimination"], rows["full_data"], printed]).max()
    highest = max(rows["high"].max(), estimates)
    top = min(1.04 * highest, HEADROOM * estimates)
    cut = "\nintervals cut at the frame" if highest > top else ""
    label = f"discrimination (geometric mean one over a fit's judges){cut}"
    axes.set(title=title, xlabel=label, xlim=(-0.02 * top, top))
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def answers(frame: pd.DataFrame, title: str) -> Figure:
    """Shares of the first-shown model, the second, ties and unparsed answers, by judge."""
    requests = frame["comparisons"] + frame["unparsed"]
    shares = pd.DataFrame(
        {
            "first shown": frame["share_a"] * frame["comparisons"] / requests,
            "tie": frame["share_tie"] * frame["comparisons"] / requests,
            "second shown": frame["share_b"] * frame["comparisons"] / requests,
            "unparsed": frame["unparsed"] / requests,
        }
    ).assign(judge=frame["judge"])
    rows = shares.sort_values("first shown", kind="stable")
    figure, (axes,) = canvas(PAGE * 0.75, 0.9 + 0.19 * len(rows))
    left, colours = np.zeros(len(rows)), (*(colour for colour, _ in shades(3)), COLOURS["reference"])
    for name, colour, hatch in zip(rows.columns[:-1], colours, ("", "//", "", ".."), strict=True):
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


# How discriminations depend on the length of the question (appendix F.6).
ACROSS = 4  # panels side by side
TALLEST = 2.5  # axis of discriminations over the largest estimate; bands are cut above
# why a judge has no slope in length, by status; the slope at which the search ended goes in
NO_SLOPE = {"slope_bound": "on the search's bound ({:+g})", "zero": "discrimination at zero"}


def length_curves(curves: pd.DataFrame, slopes: pd.DataFrame, test: pd.Series, title: str) -> Figure:
    """Figure A.10: discrimination against standardised log length, a panel for each judge.

    Bands are pointwise intervals, dashed lines the quartiles of length in `test` (``z_q25, z_q75``).
    """
    judges = list(curves["judge"].unique())
    across = min(ACROSS, len(judges))
    down = -(-len(judges) // across)
    figure, panels = canvas(PAGE, 0.9 + 2.0 * down, down, across, sharex=True, sharey=True)
    slope_of_judge = slopes.set_index("judge")
    for axes, judge in zip(panels, judges, strict=False):
        rows = curves[curves["judge"] == judge]
        axes.plot(rows["z"], rows["estimate"], color=COLOURS["judge_aware"])
        band = {"facecolor": f"{COLOURS['judge_aware']}33", "linewidth": 0}
        axes.fill_between(rows["z"], rows["low"], rows["high"], **band)
        for name in ("z_q25", "z_q75"):
            axes.axvline(test[name], color=COLOURS["reference"], linestyle="--", linewidth=0.8)
        axes.set_title(f"{short(judge)}\n{_slope(slope_of_judge.loc[judge])}", fontsize=7)
    for axes in panels[len(judges) :]:
        axes.set_visible(False)
    highest, top = curves["high"].max(), TALLEST * curves["estimate"].max()
    panels[0].set_ylim(0, min(1.05 * highest, top))
    for axes in panels[::across]:
        axes.set_ylabel("discrimination gamma(z)")
    for axes in panels[max(0, len(judges) - across) : len(judges)]:
        axes.set_xlabel("standardised log length z")
    cut = ", cut at the frame" if highest > top else ""
    note = f"bands: pointwise intervals{cut}; dashed: quartiles of length"
    return finished(figure, f"{title}\n{note}")


def _slope(row: pd.Series) -> str:
    """A judge's slope with its interval, in words."""
    if pd.isna(row["low_slope"]):
        return f"no slope: {NO_SLOPE.get(row['status'], row['status'])}".format(row["slope"])
    return f"slope {row['slope']:+.2f} ({row['low_slope']:+.2f} to {row['high_slope']:+.2f})"


def slopes(frame: pd.DataFrame, title: str) -> Figure:
    """Slopes in length with intervals by judge, with the true ones where they are known.

    Where there is no interval the search ended on its bound or the judge is at zero: that is said in words, since
    any point would look like an estimate.
    """
    rows = frame.sort_values("slope", kind="stable")
    has_interval = rows["low_slope"].notna().to_numpy()
    height = np.arange(len(rows))
    figure, (axes,) = canvas(PAGE * 0.75, 0.9 + 0.19 * len(rows))
    reach = (rows["high_slope"] - rows["slope"]).to_numpy()
    style = {"fmt": MARKERS["judge_aware"], "color": COLOURS["judge_aware"]}
    axes.errorbar(
        rows["slope"][has_interval],
        height[has_interval],
        xerr=reach[has_interval],
        label="estimate, with interval",
        **style,
    )
    for y in height[~has_interval]:
        status = NO_SLOPE.get(rows["status"].iloc[y], rows["status"].iloc[y])
        words = f"no estimate: {status}".format(rows["slope"].iloc[y])
        text_style = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "center", "color": "#595959"}
        axes.annotate(words, (0.99, y), fontsize=6, **text_style)
    if "true_slope" in rows:
        axes.plot(rows["true_slope"], height, "^", color="black", markerfacecolor="none", label="truth")
    reference(axes, 0)
    name_rows(axes, rows["judge"], height)
    axes.set(title=title, xlabel="slope of log discrimination in standardised log length")
    figure.legend(loc="outside lower center", ncols=3)
    return figure
