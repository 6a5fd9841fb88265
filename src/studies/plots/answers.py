"""Figures of answers that say more than who won: levels, rankings and probabilities."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.looks import COLOURS, MARKERS, NAMES, PAGE, canvas, shades, short
from studies.plots.points import (
    MONTE_CARLO,
    Series,
    finished,
    legend_below,
    points,
    reference,
    rows_named,
)

# Answers that say how strong they are: what they add, and how judges use their confidence.
WAYS = ("strength", "winner or tie", "winner")


def strength(table: pd.DataFrame, title: str) -> Figure:
    """Judgments by winner or tie that carry as much as one with its strength, and coverage of intervals."""
    figure, (left, right) = canvas(PAGE, 3.4, 1, 2, sharey=True)
    settings = list(dict.fromkeys(table["setting"]))
    rows, plain = table.set_index(["way", "setting"]), {"elinewidth": None}
    points(
        left,
        _series(rows, settings, [("strength", "gain", "")]),
        looks=[{"color": shades(3)[0][0], "fmt": "o"}],
        **plain,
    )
    reference(left, 1.0)
    rows_named(left, settings)
    left.set(xlabel="judgments of winner or tie that carry\nas much as one with its strength")
    points(right, _series(rows, settings, [(way, "covered_plug_in", way) for way in WAYS]), 0.22, **plain)
    reference(right, 0.95)
    right.set(xlabel="coverage of 95% intervals of the scores")
    legend_below(right, 0.17, 3, across=0.4)
    return finished(figure, f"{title}\n{MONTE_CARLO}")


def _series(rows: pd.DataFrame, settings: list[str], shown: Iterable[tuple[str, str, str]]) -> list[Series]:
    """Series of some settings, from way, column and label of each."""
    ways = [(label, rows.loc[way].reindex(settings), column) for way, column, label in shown]
    return [(label, of_way[column], of_way[f"{column}_se"]) for label, of_way, column in ways]


def use_of_confidence(judges: pd.DataFrame, title: str) -> Figure:
    """Share of confident answers of every judge between close models and between models far apart."""
    sets = list(dict.fromkeys(judges["dataset"]))
    most = int(judges.groupby("dataset").size().max())
    figure, axes = canvas(PAGE, 0.2 * most * ((len(sets) + 1) // 2) + 1.2, (len(sets) + 1) // 2, 2)
    styles = dict(zip(("share_close", "share_far"), shades(2), strict=True))
    labels = {"share_close": "close models", "share_far": "models far apart"}
    for panel, name in zip(np.ravel(axes), sets, strict=False):
        judges_of_set = judges[(judges["dataset"] == name) & judges["share_far"].notna()]
        judges_of_set = judges_of_set.assign(
            rise=judges_of_set["share_far"] - judges_of_set["share_close"]
        ).sort_values("rise")
        heights = np.arange(len(judges_of_set))
        panel.hlines(
            heights,
            judges_of_set["share_close"],
            judges_of_set["share_far"],
            color=COLOURS["reference"],
            linewidth=0.8,
        )
        for column, (colour, marker) in styles.items():
            panel.plot(judges_of_set[column], heights, marker, color=colour, label=labels[column], markersize=4)
        panel.set_yticks(heights, [short(judge) for judge in judges_of_set["judge"]], fontsize=6)
        panel.set(title=NAMES.get(name, name), xlim=(-0.02, 1.02), xlabel="share of answers with high confidence")
    np.ravel(axes)[0].legend(loc="lower right", fontsize=6)
    for panel in np.ravel(axes)[len(sets) :]:
        panel.set_axis_off()
    return finished(figure, title)


# Rankings of several answers, fitted whole and broken into pairs.
WORTH = (("whole", "pairs_worth", "whole rankings"),)
SERIES = (  # way, column and label of what intervals hold
    ("whole", "covered_plug_in", "whole rankings"),
    ("pairs", "covered_plug_in", "broken into pairs"),
    ("pairs", "covered_clustered", "broken into pairs, clustered by ranking"),
)
ORDERS = (
    ("whole, shrunk", "tau", "judges weighted"),
    ("whole, judges alike", "tau", "judges alike"),
    ("mean ranks", "tau", "mean ranks"),
)


def ranked_answers(fits: pd.DataFrame, title: str) -> Figure:
    """Pair judgments that a ranking is worth, coverage of intervals, and agreement with the true order."""
    figure, (left, middle, right) = canvas(PAGE, 3.4, 1, 3)
    table = fits.set_index(["way", "setting"])
    held = [setting for variant, setting in table.index if variant == "pairs"]
    few = [setting for variant, setting in table.index if variant == "whole, shrunk"]
    for axes, settings, shown in ((left, held, WORTH), (middle, held, SERIES), (right, few, ORDERS)):
        points(axes, _series(table, settings, shown))
        rows_named(axes, settings)
    left.set(xlabel="pair judgments per ranking")
    middle.set(xlabel="coverage of 95% intervals", yticklabels=[])
    reference(middle, 0.95)
    right.set(xlabel="tau with the true order")
    right.set_yticks(-np.arange(len(few)), [_short(name) for name in few])
    for axes in (middle, right):
        legend_below(axes, 0.16, 1)
    return finished(figure, f"{title}\n{MONTE_CARLO}")


def _short(setting: str) -> str:
    """What judges are like, of a setting with few rankings."""
    text = setting.partition(", ")[2] or "no judge at random"
    return text.replace(" at", "\nat")


# The probability of the letter in place of the letter.
JUDGE_AWARE = {"color": COLOURS["judge_aware"], "fmt": MARKERS["judge_aware"]}
LOOKS = (
    JUDGE_AWARE,
    JUDGE_AWARE | {"markerfacecolor": "white"},
    {"color": COLOURS["btl"], "fmt": MARKERS["btl"]},
)
GAINS = (
    ("p", "gain", "p, judge-aware"),
    ("p, weighted", "gain", "p, judge-aware, judges weighted by dispersion"),
    ("p, BTL", "gain", "p, unweighted BTL"),
)
HELD = (
    ("p", "covered_clustered", "p, clustered standard errors"),
    ("p", "covered_plug_in", "p, plug-in standard errors"),
    ("letter", "covered_clustered", "letter, clustered standard errors"),
)
TICKS = (0.1, 0.2, 0.5, 1, 2, 4)


def soft(worth: pd.DataFrame, title: str) -> Figure:
    """Letters that give the precision of one probability, and coverage of intervals."""
    figure, (left, right) = canvas(PAGE, 3.9, 1, 2, sharey=True)
    settings = list(dict.fromkeys(worth["setting"]))
    rows = worth.set_index(["way", "setting"])
    for axes, shown, looks in ((left, GAINS, LOOKS), (right, HELD, ())):
        points(axes, _series(rows, settings, shown), 0.22, looks)
        legend_below(axes, 0.13, 1)
    rows_named(left, settings)
    left.set_xscale("log")
    left.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    left.set_xticks([], minor=True)
    reference(left, 1.0)
    left.set(xlabel="letters that give the precision of one probability p")
    reference(right, 0.95)
    right.set(xlabel="coverage of 95% intervals of the scores")
    return finished(figure, f"{title}\n{MONTE_CARLO}")
