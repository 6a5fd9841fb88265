"""Figures of collections by rounds, of a gate's decisions, and of plans."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from judgerank.plots.looks import COLOURS, PAGE, canvas, shades
from studies.plots.points import (
    finished,
)

# Collections by rounds.
COLLECTION_RULES = {
    "random": "at random",
    "swiss": "Swiss",
    "d_optimal": "D-optimal",
    "a_optimal": "A-optimal",
    "information": "least certain pairs",
}
MEASURES = {
    "tau": "Kendall's tau with all judgments",
    "error": "mean standard error of a score",
    "open": "pairs not significantly different",
}


def adaptive(looks: pd.DataFrame, title: str) -> Figure:
    """Tau, errors and pairs still tied by comparisons, a row of panels for each set, means over playbacks."""
    sets = looks["title"].unique()
    figure, panels = canvas(PAGE, 0.7 + 2.1 * len(sets), len(sets), 3)
    for row, name in zip(panels.reshape(len(sets), 3), sets, strict=True):
        looks_of_set = looks[looks["title"] == name]
        for axes, (measure, label) in zip(row, MEASURES.items(), strict=True):
            for (rule, words), (colour, marker) in zip(
                COLLECTION_RULES.items(), shades(len(COLLECTION_RULES)), strict=True
            ):
                line = looks_of_set[looks_of_set["rule"] == rule].groupby("look")[["comparisons", measure]].mean()
                if len(line):
                    axes.plot(line["comparisons"], line[measure], marker=marker, color=colour, label=words)
            axes.set(xscale="log", xlabel="comparisons", ylabel=label)
            axes.xaxis.set_minor_formatter(NullFormatter())
            if measure == "error":
                axes.set_yscale("log")
        row[0].set_title(name, loc="left")
    figure.legend(
        *panels.ravel()[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(COLLECTION_RULES)
    )
    return finished(figure, title)


# Decisions of a gate.
GATE_RULES = {
    "gate": "judgerank gate",
    "sign": "sign test",
    "t": "t-test of mean scores",
    "mcnemar": "McNemar, judgments",
}
PANELS = {"equal": "equal variants: blocked", "worse": "win rate 35%: blocked"}
ALPHA = 0.05


def gate(levels: pd.DataFrame, power: pd.DataFrame, title: str) -> Figure:
    """Blocks by number of questions, of three judges with every departure at once, by the gate and other tests."""
    figure, axes = canvas(PAGE, 2.9, 1, 2)
    everything = pd.concat([levels, power])
    everything = everything[(everything["condition"] == "everything") & (everything["n_judges"] == 3)]
    for panel, (case, label) in zip(axes, PANELS.items(), strict=True):
        for (rule, name), (colour, marker) in zip(GATE_RULES.items(), shades(len(GATE_RULES)), strict=True):
            rows = everything[(everything["case"] == case) & (everything["rule"] == rule)]
            style = {"fmt": marker + "-", "color": colour, "linewidth": 0.9, "capsize": 1.5, "label": name}
            panel.errorbar(rows["n_questions"], rows["share"], yerr=2 * rows["share_se"], **style)
        panel.set_xscale("log")
        panel.set(xlabel="questions", ylabel=label)
        panel.set_ylim(bottom=0)
    axes[0].axhline(ALPHA, color=COLOURS["reference"], linewidth=0.6)
    return finished(figure, f"{title}\nbars: two Monte Carlo standard errors", axes[0], 4)


# The plan's figure: what comparisons and judges buy.
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
    return finished(figure, f"{title}. Lines: formula; points: simulation; dashed: wanted")


def _curves(axes: Axes, curves: pd.DataFrame, simulated: pd.DataFrame, column: str, names: dict) -> None:
    for (value, name), (colour, marker) in zip(names.items(), shades(len(names)), strict=True):
        line, points = (frame[frame[column] == value] for frame in (curves, simulated))
        axes.plot(line["comparisons"], line["formula"], color=colour)
        style = {"fmt": marker, "color": colour, "capsize": 1.5, "label": name}
        axes.errorbar(points["comparisons"], points["simulated"], 2 * points["simulated_se"], **style)
