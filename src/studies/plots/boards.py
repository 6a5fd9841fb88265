"""Figures of new models on boards, of human votes beside a panel's, and of the reported scale."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.looks import COLOURS, MARKERS, NAMES, PAGE, canvas, shades, short

# Newcomers on boards.


def newcomers(left_out: pd.DataFrame, simulated: pd.DataFrame | None, title: str) -> Figure:
    """Scores by placement against those in the fit of all, and what intervals of simulated newcomers hold."""
    figure, (left, right) = canvas(PAGE, 2.9, 1, 2)
    rows = left_out[left_out["placed"].notna()]
    ends = [rows[["score_all", "placed"]].min().min() - 0.2, rows[["score_all", "placed"]].max().max() + 0.2]
    left.plot(ends, ends, color=COLOURS["reference"], linewidth=0.6)
    for name, mine in rows.groupby("dataset", sort=False):
        style = {"fmt": MARKERS[name], "color": COLOURS[name], "elinewidth": 0.7, "label": NAMES[name]}
        left.errorbar(mine["score_all"], mine["placed"], yerr=2 * mine["standard_error"], **style)
    left.set(xlabel="score in the fit of all comparisons", ylabel="score by placement")
    left.set_title("bars: two standard errors, with the board's", fontsize=7)
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.19), ncols=3)
    if simulated is None:
        right.set_axis_off()
    else:
        heights = -np.arange(len(simulated), dtype=float)
        kinds = (("covered", "with the board's uncertainty"), ("covered_own", "without it"))
        styles = shades(len(kinds))
        for shift, (kind, label), (colour, marker) in zip((0.12, -0.12), kinds, styles, strict=True):
            style = {"fmt": marker, "color": colour, "elinewidth": 0.9, "capsize": 1.5}
            right.errorbar(
                simulated[kind], heights + shift, xerr=2 * simulated[f"{kind}_se"], label=label, **style
            )
        right.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
        right.set_yticks(heights, simulated["setting"])
        right.set_ylim(heights.min() - 0.6, 0.9)
        right.set(xlabel="coverage of 95% intervals, simulated")
        right.set_title("bars: two Monte Carlo standard errors", fontsize=7)
        right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.19), ncols=2)
    figure.suptitle(title, fontsize=8)
    return figure


# New models on human boards: errors of every way to place them, coverage, and each model left out.
KINDS = {"held": "interval by the model", "held_conformal": "conformal interval"}


def human_boards(errors: pd.DataFrame, boards: pd.DataFrame, title: str) -> Figure:
    """Mean errors in Elo points by way, and coverage, for every kind of simulated board."""
    figure, (left, right) = canvas(PAGE, 4.0, 1, 2, sharey=True)
    heights, variants = -np.arange(len(boards), dtype=float), list(dict.fromkeys(errors["way"]))
    rows = errors.set_index(["way", "board"])
    for shift, variant, (colour, marker) in zip(
        np.linspace(0.3, -0.3, len(variants)), variants, shades(len(variants)), strict=True
    ):
        of = rows.loc[variant].loc[boards["board"]]
        style = {"fmt": marker, "color": colour, "capsize": 1.5, "label": variant, "markersize": 3.5}
        left.errorbar(of["error"], heights + shift, xerr=2 * of["error_se"], **style)
    left.set_xscale("log")
    left.set_xticks([10, 20, 50, 100, 200], ["10", "20", "50", "100", "200"])
    left.minorticks_off()
    left.set_yticks(heights, boards["board"])
    left.set_ylim(heights.min() - 0.6, 0.6)
    left.set(xlabel="error of a new model's score, in Elo points")
    for shift, (held, label), (colour, marker) in zip((0.12, -0.12), KINDS.items(), shades(2), strict=True):
        style = {"fmt": marker, "color": colour, "capsize": 1.5, "label": label}
        right.errorbar(boards[held], heights + shift, xerr=2 * boards[f"{held}_se"], **style)
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
    (colour, marker), (vote_colour, circle) = shades(2)
    for panel, name in zip(np.ravel(axes), names, strict=True):
        models_of_arena = models[models["arena"] == name].sort_values("human")
        heights = np.arange(len(models_of_arena))
        reach = np.array(
            [
                models_of_arena["elo"] - models_of_arena["conformal_low"],
                models_of_arena["conformal_high"] - models_of_arena["elo"],
            ]
        )
        panel.errorbar(
            models_of_arena["elo"],
            heights,
            xerr=np.where(np.isfinite(reach), reach, 0.0),
            fmt=marker,
            color=colour,
            capsize=1.5,
            label="predicted without its human votes",
        )
        panel.plot(models_of_arena["human"], heights, circle, color=vote_colour, markersize=4, label="human votes")
        panel.set_yticks(heights, [short(model) for model in models_of_arena["model"]], fontsize=6)
        panel.set(title=NAMES.get(name, name), xlabel="Elo")
    np.ravel(axes)[0].legend(loc="lower right", fontsize=6)
    figure.suptitle(title, fontsize=8)
    return figure


# A few human votes beside a panel's many.
WAYS = {
    "toward the panel": "people, drawn toward the panel",
    "helped": "people, helped by the panel",
    "alone": "people alone",
    "as a judge": "people as one more judge",
}


def people(votes: pd.DataFrame, title: str) -> Figure:
    """What intervals hold, and the errors of scores on the human scale, by every way to them."""
    figure, (left, right) = canvas(PAGE, 2.9, 1, 2, sharey=True)
    heights = -np.arange(len(votes), dtype=float)
    styles = shades(len(WAYS))
    for shift, (variant, label), (colour, marker) in zip(
        np.linspace(0.24, -0.24, len(WAYS)), WAYS.items(), styles, strict=True
    ):
        style = {
            "fmt": marker,
            "color": colour,
            "elinewidth": 0.9,
            "capsize": 1.5,
            "label": label,
        }
        for axes, measure in ((left, "covered"), (right, "error")):
            reach = 2 * votes[f"{measure}/{variant}_se"]
            axes.errorbar(votes[f"{measure}/{variant}"], heights + shift, xerr=reach, **style)
    left.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    left.set_yticks(heights, votes["setting"])
    left.set_ylim(heights.min() - 0.6, 0.6)
    left.set_xlim(right=1.03)
    left.set(xlabel="coverage of 95% intervals of people's scores")
    right.set_xlim(left=0)
    right.set(xlabel="error of the scores, in log-odds")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure


# The reported scale: what its intervals hold, and how often boards that did not change seem to.


def scale(scores: pd.DataFrame, compared: pd.DataFrame, title: str) -> Figure:
    """Coverage of reported scores by panel and size, and how often a model is said to have moved."""
    figure, (left, right) = canvas(PAGE, 2.7, 1, 2)
    panels, sizes = list(dict.fromkeys(scores["panel"])), sorted(set(scores["n_comparisons"]))
    shifts = np.linspace(0.15, -0.15, len(sizes))
    for size, shift, (colour, marker) in zip(sizes, shifts, shades(len(sizes)), strict=True):
        rows = scores[scores["n_comparisons"] == size].set_index("panel").loc[panels]
        style = {"fmt": marker, "color": colour, "elinewidth": 0.9, "capsize": 1.5}
        heights = -np.arange(len(panels)) + shift
        left.errorbar(
            rows["coverage"], heights, xerr=2 * rows["coverage_se"], label=f"{size:,} comparisons", **style
        )
    left.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
    left.set_yticks(-np.arange(len(panels)), panels)
    left.set(xlabel="coverage of the reported 95% intervals")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=len(sizes))
    heights, (colour, marker) = -np.arange(len(compared)), shades(1)[0]
    right.errorbar(
        compared["any"],
        heights,
        xerr=2 * compared["any_se"],
        fmt=marker,
        color=colour,
        elinewidth=0.9,
        capsize=1.5,
    )
    right.axvline(0.05, color=COLOURS["reference"], linewidth=0.6)
    right.set_yticks(
        heights, [name.replace(" prefer", "\nprefer").replace(", ", ",\n") for name in compared["boards"]]
    )
    right.set(xlabel="share of pairs of boards", xlim=(-0.05, 1.05))
    right.set_title("some model is said to have moved", fontsize=7)
    left.set_title("bars: two Monte Carlo standard errors", fontsize=7)
    figure.suptitle(title, fontsize=8)
    return figure
