"""How discriminations depend on the length of the question (appendix F.6)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, MARKERS
from judgerank.plots.looks import PAGE, canvas, short
from replication.plots.labels import name_rows

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
    known = slopes.set_index("judge")
    for axes, judge in zip(panels, judges, strict=False):
        rows = curves[curves["judge"] == judge]
        axes.plot(rows["z"], rows["estimate"], color=COLOURS["judge_aware"])
        band = {"facecolor": f"{COLOURS['judge_aware']}33", "linewidth": 0}
        axes.fill_between(rows["z"], rows["low"], rows["high"], **band)
        for name in ("z_q25", "z_q75"):
            axes.axvline(test[name], color=COLOURS["reference"], linestyle="--", linewidth=0.8)
        axes.set_title(f"{short(judge)}\n{_slope(known.loc[judge])}", fontsize=7)
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
    figure.suptitle(f"{title}\n{note}", fontsize=8)
    return figure


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
    known = rows["low_slope"].notna().to_numpy()
    height = np.arange(len(rows))
    figure, (axes,) = canvas(PAGE * 0.75, 0.9 + 0.19 * len(rows))
    reach = (rows["high_slope"] - rows["slope"]).to_numpy()
    look = {"fmt": MARKERS["judge_aware"], "color": COLOURS["judge_aware"]}
    axes.errorbar(rows["slope"][known], height[known], xerr=reach[known], label="estimate, with interval", **look)
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
