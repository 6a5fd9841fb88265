"""Figures of answers that say more than who won: levels, rankings and probabilities."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.looks import COLOURS, MARKERS, NAMES, PAGE, canvas, shades, short

# Answers that say how strong they are: what they add, and how judges use their confidence.
WAYS = ("strength", "winner or tie", "winner")


def strength(table: pd.DataFrame, title: str) -> Figure:
    """Judgments by winner or tie that carry as much as one with its strength, and coverage of intervals."""
    figure, (left, right) = canvas(PAGE, 3.4, 1, 2, sharey=True)
    settings = list(dict.fromkeys(table["setting"]))
    heights = -np.arange(len(settings), dtype=float)
    rows = table.set_index(["way", "setting"])
    gain = rows.loc["strength"].loc[settings]
    colour, marker = shades(3)[0]
    left.errorbar(gain["gain"], heights, xerr=2 * gain["gain_se"], fmt=marker, color=colour, capsize=1.5)
    left.axvline(1.0, color=COLOURS["reference"], linewidth=0.6)
    left.set_yticks(heights, settings)
    left.set_ylim(-len(settings) + 0.4, 0.6)
    left.set(xlabel="judgments of winner or tie that carry\nas much as one with its strength")
    for shift, variant, (colour, marker) in zip((0.22, 0.0, -0.22), WAYS, shades(3), strict=True):
        held = rows.loc[variant].loc[settings]
        errors = 2 * held["covered_plug_in_se"]
        style = {"fmt": marker, "color": colour, "capsize": 1.5, "label": variant}
        right.errorbar(held["covered_plug_in"], heights + shift, xerr=errors, **style)
    right.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="coverage of 95% intervals of the scores")
    right.legend(loc="upper center", bbox_to_anchor=(0.4, -0.17), ncols=3)
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure


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
    figure.suptitle(title, fontsize=8)
    return figure


# Rankings of several answers, fitted whole and broken into pairs.
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
    _ranking_points(left, table, held, (("whole", "pairs_worth", "whole rankings"),))
    _ranking_points(middle, table, held, SERIES)
    _ranking_points(right, table, few, ORDERS)
    left.set(xlabel="pair judgments per ranking")
    middle.set(xlabel="coverage of 95% intervals", yticklabels=[])
    middle.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="tau with the true order")
    right.set_yticks(-np.arange(len(few)), [_short(name) for name in few])
    for axes in (middle, right):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=1)
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure


def _short(setting: str) -> str:
    """What judges are like, of a setting with few rankings."""
    text = setting.partition(", ")[2] or "no judge at random"
    return text.replace(" at", "\nat")


def _ranking_points(
    axes: Axes, table: pd.DataFrame, settings: list[str], series: tuple[tuple[str, str, str], ...]
) -> None:
    """One row of points for each setting, with bars of two Monte Carlo errors."""
    heights = -np.arange(len(settings), dtype=float)
    shifts = np.linspace(0.2, -0.2, len(series)) if len(series) > 1 else [0.0]
    for shift, (variant, column, label), (colour, marker) in zip(shifts, series, shades(len(series)), strict=True):
        rows = table.loc[variant].reindex(settings)
        style = {"fmt": marker, "color": colour, "elinewidth": 0.9, "capsize": 1.5}
        axes.errorbar(rows[column], heights + shift, xerr=2 * rows[f"{column}_se"], label=label, **style)
    axes.set_yticks(heights, settings)
    axes.set_ylim(-len(settings) + 0.4, 0.6)


# The probability of the letter in place of the letter.
# way, column, label, look
JUDGE_AWARE = {"color": COLOURS["judge_aware"], "fmt": MARKERS["judge_aware"]}
GAINS = (
    ("p", "gain", "p, judge-aware", JUDGE_AWARE),
    (
        "p, weighted",
        "gain",
        "p, judge-aware, judges weighted by dispersion",
        JUDGE_AWARE | {"markerfacecolor": "white"},
    ),
    ("p, BTL", "gain", "p, unweighted BTL", {"color": COLOURS["btl"], "fmt": MARKERS["btl"]}),
)
HELD = tuple(
    (variant, column, label, {"color": colour, "fmt": marker})
    for (variant, column, label), (colour, marker) in zip(
        (
            ("p", "covered_clustered", "p, clustered standard errors"),
            ("p", "covered_plug_in", "p, plug-in standard errors"),
            ("letter", "covered_clustered", "letter, clustered standard errors"),
        ),
        shades(3),
        strict=True,
    )
)
TICKS = (0.1, 0.2, 0.5, 1, 2, 4)


def soft(worth: pd.DataFrame, title: str) -> Figure:
    """Letters that give the precision of one probability, and coverage of intervals."""
    figure, (left, right) = canvas(PAGE, 3.9, 1, 2, sharey=True)
    settings = list(dict.fromkeys(worth["setting"]))
    for axes, series in ((left, GAINS), (right, HELD)):
        _probability_points(axes, worth.set_index(["way", "setting"]), settings, series)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=1)
    left.set_yticks(-np.arange(len(settings)), settings)
    left.set_ylim(-len(settings) + 0.4, 0.6)
    left.set_xscale("log")
    left.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    left.set_xticks([], minor=True)
    left.axvline(1.0, color=COLOURS["reference"], linewidth=0.6)
    left.set(xlabel="letters that give the precision of one probability p")
    right.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="coverage of 95% intervals of the scores")
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure


def _probability_points(axes: Axes, table: pd.DataFrame, settings: list[str], series: tuple) -> None:
    """One row of points for each setting, with bars of two Monte Carlo errors."""
    heights = -np.arange(len(settings), dtype=float)
    for shift, (variant, column, label, marker_style) in zip((0.22, 0.0, -0.22), series, strict=True):
        rows = table.loc[variant].loc[settings]
        axes.errorbar(
            rows[column],
            heights + shift,
            xerr=2 * rows[f"{column}_se"],
            elinewidth=0.9,
            capsize=1.5,
            label=label,
            **marker_style,
        )
