"""What judges do besides judging quality: what each block predicts, what tests find of it, ranks by category."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, MARKERS, shades
from judgerank.plots.looks import PAGE, canvas
from replication.plots.labels import name_rows


def blocks(rows: pd.DataFrame, coverage: pd.DataFrame | None, title: str) -> Figure:
    """Held-out log-loss saved by every block, with two standard errors, and how often tests find one simulated."""
    rows = rows[rows["gain"].notna()].iloc[::-1]
    wide = 2 if coverage is not None else 1
    figure, panels = canvas(PAGE, 1.3 + 0.26 * max(len(rows), 6), 1, wide)
    left, at = panels[0], np.arange(len(rows))
    for dataset in dict.fromkeys(rows["dataset"][::-1]):
        chosen = (rows["dataset"] == dataset).to_numpy()
        style = {"fmt": MARKERS[dataset], "color": COLOURS[dataset], "elinewidth": 0.9, "capsize": 1.5}
        part = rows[chosen]
        left.errorbar(part["gain"], at[chosen], xerr=2 * part["gain_se"], **style)
    left.axvline(0, color=COLOURS["reference"], linewidth=0.6)
    left.set(xlabel="held-out log-loss saved per comparison\n(with two standard errors; to the right is better)")
    name_rows(left, rows["block"] + "\n" + rows["title"], at, fontsize=6)
    left.set_ylim(-0.6, len(rows) - 0.4)
    if coverage is not None:
        _found(panels[1], coverage)
    figure.suptitle(title, fontsize=8)
    return figure


def _found(axes: Axes, coverage: pd.DataFrame) -> None:
    """Share of simulated data sets in which the test finds a block."""
    names = list(dict.fromkeys(coverage["block"]))
    words = {0.0: "comparisons independent", 1.0: "judges of a question err together"}
    groups = list(coverage.groupby("question_sd"))
    for (sd, part), (colour, marker) in zip(groups, shades(len(groups)), strict=True):
        label = words.get(float(sd), f"spread of answers {sd:g}")
        for there, fill in ((True, colour), (False, "white")):
            some = part[(part["size"] > 0) == there]
            y = np.array([names.index(name) for name in some["block"]]) + (0.12 if sd else -0.12)
            what = "effect present" if there else "no effect"
            axes.errorbar(
                some["rejected"],
                y,
                xerr=2 * some["rejected_se"],
                fmt=marker,
                color=colour,
                markerfacecolor=fill,
                elinewidth=0.9,
                label=f"{what}, {label}",
            )
    axes.axvline(0.05, color=COLOURS["reference"], linewidth=0.6)
    axes.set(xlabel="simulated data sets in which\nthe test finds it (line: .05)", xlim=(-0.03, 1.03))
    name_rows(axes, pd.Series(names), np.arange(len(names)), fontsize=6)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), fontsize=6, ncols=1)


def categories(rows: pd.DataFrame, title: str) -> Figure:
    """Ranks within every category, with intervals that hold at once there."""
    names = sorted(rows["category"].unique())
    across = min(4, len(names))
    down = -(-len(names) // across)
    models = rows.groupby("model")["score"].mean().sort_values(ascending=False).index.tolist()
    figure, panels = canvas(PAGE, 0.5 + down * (0.65 + 0.16 * len(models)), down, across, sharex=True, sharey=True)
    for axes, category in zip(panels, names, strict=False):
        part = rows[rows["category"] == category].set_index("model").loc[models]
        at = -np.arange(len(models))
        reach = [part["rank"] - part["low"], part["high"] - part["rank"]]
        style = {"fmt": "o", "color": COLOURS["judge_aware"], "elinewidth": 0.9, "capsize": 1.5}
        axes.errorbar(part["rank"], at, xerr=reach, **style)
        told = f"{part['separated'].iloc[0]:.0f} of {part['pairs'].iloc[0]:.0f} pairs differ significantly"
        axes.set_title(f"{category}\n{told}", fontsize=6)
        axes.set_xticks(range(1, len(models) + 1))
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    for axes in panels[::across]:
        name_rows(axes, pd.Series(models), -np.arange(len(models)), fontsize=6)
    for axes in panels[max(0, len(names) - across) : len(names)]:
        axes.set_xlabel("rank in the category")
    figure.suptitle(title, fontsize=8)
    return figure
