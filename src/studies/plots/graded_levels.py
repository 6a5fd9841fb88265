"""Answers that say how strong they are: what they add, and how judges use their confidence."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, NAMES, shades
from judgerank.plots.looks import PAGE, canvas, short

WAYS = ("strength", "winner or tie", "winner")


def strength(table: pd.DataFrame, title: str) -> Figure:
    """Judgments by winner or tie that carry as much as one with its strength, and coverage of intervals."""
    figure, (left, right) = canvas(PAGE, 3.4, 1, 2, sharey=True)
    settings = list(dict.fromkeys(table["setting"]))
    at = -np.arange(len(settings), dtype=float)
    rows = table.set_index(["way", "setting"])
    gain = rows.loc["strength"].loc[settings]
    colour, marker = shades(3)[0]
    left.errorbar(gain["gain"], at, xerr=2 * gain["gain_se"], fmt=marker, color=colour, capsize=1.5)
    left.axvline(1.0, color=COLOURS["reference"], linewidth=0.6)
    left.set_yticks(at, settings)
    left.set_ylim(-len(settings) + 0.4, 0.6)
    left.set(xlabel="judgments of winner or tie that carry\nas much as one with its strength")
    for shift, way, (colour, marker) in zip((0.22, 0.0, -0.22), WAYS, shades(3), strict=True):
        held = rows.loc[way].loc[settings]
        errors = 2 * held["covered_plug_in_se"]
        look = {"fmt": marker, "color": colour, "capsize": 1.5, "label": way}
        right.errorbar(held["covered_plug_in"], at + shift, xerr=errors, **look)
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
    looks = dict(zip(("share_close", "share_far"), shades(2), strict=True))
    labels = {"share_close": "close models", "share_far": "models far apart"}
    for place, name in zip(np.ravel(axes), sets, strict=False):
        own = judges[(judges["dataset"] == name) & judges["share_far"].notna()]
        own = own.assign(rise=own["share_far"] - own["share_close"]).sort_values("rise")
        at = np.arange(len(own))
        place.hlines(at, own["share_close"], own["share_far"], color=COLOURS["reference"], linewidth=0.8)
        for column, (colour, marker) in looks.items():
            place.plot(own[column], at, marker, color=colour, label=labels[column], markersize=4)
        place.set_yticks(at, [short(judge) for judge in own["judge"]], fontsize=6)
        place.set(title=NAMES.get(name, name), xlim=(-0.02, 1.02), xlabel="share of answers with high confidence")
    np.ravel(axes)[0].legend(loc="lower right", fontsize=6)
    for place in np.ravel(axes)[len(sets) :]:
        place.set_axis_off()
    figure.suptitle(title, fontsize=8)
    return figure
