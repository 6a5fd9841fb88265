"""The plan's figure: what comparisons and judges buy."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from judgerank.plots.colours import COLOURS, shades
from judgerank.plots.looks import PAGE, canvas

POWER_NAMES = {
    "pair_power": "the pair, by itself",
    "pairs_interval_excludes_zero": "all pairs, each by itself",
    "separated": "all pairs, Holm-adjusted",
}
# score widths are in units that depend on who judges
SCALE_FREE = {
    **{goal: f"{name} {{:.0%}}" for goal, name in POWER_NAMES.items()},
    "standardised_width": "mean width {:g}",
    "standardised_width_worst": "widest {:g}",
}


def plan(
    wanted: pd.DataFrame, by_judges: pd.DataFrame, simulated: pd.DataFrame, curves: pd.DataFrame, title: str
) -> Figure:
    """Width and power against T, formula (lines) and simulation (points), and T by number of judges."""
    figure, panels = canvas(PAGE, 3.3, 1, 3)
    sizes = sorted(curves["n_judges"].unique())
    judges = {size: f"{size} judge" + ("s" if size > 1 else "") for size in sizes}
    widths = (frame[frame["goal"] == "standardised_width"] for frame in (curves, simulated))
    _curves(panels[0], *widths, "n_judges", judges)
    panels[0].set(yscale="log", ylabel="mean width of\nstandardised scores")
    everyone = (frame[frame["n_judges"] == sizes[-1]] for frame in (curves, simulated))
    _curves(panels[1], *everyone, "goal", POWER_NAMES)
    panels[1].set(ylabel=f"share with an interval\nwithout zero, {judges[sizes[-1]]}", ylim=(0, 1.03))
    for axes, goals in zip(panels, (["standardised_width"], list(POWER_NAMES)), strict=False):
        for level in wanted.loc[wanted["goal"].isin(goals), "wanted"].unique():
            axes.axhline(level, color=COLOURS["reference"], linestyle="--", linewidth=0.8, zorder=0)
        axes.set(xscale="log", xlabel="comparisons T")
    for (goal, label), (colour, marker) in zip(SCALE_FREE.items(), shades(len(SCALE_FREE)), strict=True):
        rows = by_judges[by_judges["goal"] == goal].sort_values("n_judges")
        if len(rows):
            named = label.format(rows["wanted"].iloc[0])
            panels[2].plot(rows["n_judges"], rows["comparisons"], color=colour, marker=marker, label=named)
    panels[2].set(yscale="log", xlabel="judges", ylabel="comparisons needed", xticks=sizes)
    for axes in (panels[0], panels[2]):
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_locator(NullLocator())
    for axes in panels:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2))
    figure.suptitle(f"{title}. Lines: formula; points: simulation; dashed: wanted", fontsize=8)
    return figure


def _curves(axes: Axes, curves: pd.DataFrame, simulated: pd.DataFrame, column: str, names: dict) -> None:
    for (value, name), (colour, marker) in zip(names.items(), shades(len(names)), strict=True):
        line, points = (frame[frame[column] == value] for frame in (curves, simulated))
        axes.plot(line["comparisons"], line["formula"], color=colour)
        style = {"fmt": marker, "color": colour, "capsize": 1.5, "label": name}
        axes.errorbar(points["comparisons"], points["simulated"], 2 * points["simulated_se"], **style)
