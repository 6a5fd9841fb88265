"""New models on human boards: errors of every way to place them, coverage, and each model left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, NAMES, shades
from judgerank.plots.looks import PAGE, canvas, short

KINDS = {"held": "interval by the model", "held_conformal": "conformal interval"}


def human_boards(errors: pd.DataFrame, boards: pd.DataFrame, title: str) -> Figure:
    """Mean errors in Elo points by way, and coverage, for every kind of simulated board."""
    figure, (left, right) = canvas(PAGE, 4.0, 1, 2, sharey=True)
    at, ways = -np.arange(len(boards), dtype=float), list(dict.fromkeys(errors["way"]))
    rows = errors.set_index(["way", "board"])
    for shift, way, (colour, marker) in zip(
        np.linspace(0.3, -0.3, len(ways)), ways, shades(len(ways)), strict=True
    ):
        of = rows.loc[way].loc[boards["board"]]
        look = {"fmt": marker, "color": colour, "capsize": 1.5, "label": way, "markersize": 3.5}
        left.errorbar(of["error"], at + shift, xerr=2 * of["error_se"], **look)
    left.set_xscale("log")
    left.set_xticks([10, 20, 50, 100, 200], ["10", "20", "50", "100", "200"])
    left.minorticks_off()
    left.set_yticks(at, boards["board"])
    left.set_ylim(at.min() - 0.6, 0.6)
    left.set(xlabel="error of a new model's score, in Elo points")
    for shift, (held, label), (colour, marker) in zip((0.12, -0.12), KINDS.items(), shades(2), strict=True):
        look = {"fmt": marker, "color": colour, "capsize": 1.5, "label": label}
        right.errorbar(boards[held], at + shift, xerr=2 * boards[f"{held}_se"], **look)
    right.axvline(0.9, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="coverage at 90%")
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure


def left_off(models: pd.DataFrame, title: str) -> Figure:
    """People's Elo of every model beside the prediction without it; one panel for each arena."""
    names = list(dict.fromkeys(models["arena"]))
    most = int(models.groupby("arena").size().max())
    figure, axes = canvas(PAGE, 0.17 * most + 1.0, 1, len(names))
    (colour, marker), (other, circle) = shades(2)
    for place, name in zip(np.ravel(axes), names, strict=True):
        own = models[models["arena"] == name].sort_values("human")
        at = np.arange(len(own))
        reach = np.array([own["elo"] - own["conformal_low"], own["conformal_high"] - own["elo"]])
        place.errorbar(
            own["elo"],
            at,
            xerr=np.where(np.isfinite(reach), reach, 0.0),
            fmt=marker,
            color=colour,
            capsize=1.5,
            label="predicted without its human votes",
        )
        place.plot(own["human"], at, circle, color=other, markersize=4, label="human votes")
        place.set_yticks(at, [short(model) for model in own["model"]], fontsize=6)
        place.set(title=NAMES.get(name, name), xlabel="Elo")
    np.ravel(axes)[0].legend(loc="lower right", fontsize=6)
    figure.suptitle(title, fontsize=8)
    return figure
