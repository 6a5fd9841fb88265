"""Figures of new models on boards, of human votes beside a panel's, and of the reported scale."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.looks import COLOURS, MARKERS, NAMES, PAGE, canvas, shades, short
from studies.plots.points import (
    MONTE_CARLO,
    columns_of,
    finished,
    legend_below,
    points,
    reference,
    rows_named,
)

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
    legend_below(left, 0.19, 3)
    if simulated is None:
        right.set_axis_off()
    else:
        kinds = {"covered": "with the board's uncertainty", "covered_own": "without it"}
        points(right, columns_of(simulated, kinds), 0.12)
        reference(right, 0.95)
        rows_named(right, simulated["setting"], above=0.9)
        right.set(xlabel="coverage of 95% intervals, simulated")
        right.set_title(MONTE_CARLO, fontsize=7)
        legend_below(right, 0.19, 2)
    return finished(figure, title)


# New models on human boards: errors of every way to place them, coverage, and each model left out.
KINDS = {"held": "interval by the model", "held_conformal": "conformal interval"}


def human_boards(errors: pd.DataFrame, boards: pd.DataFrame, title: str) -> Figure:
    """Mean errors in Elo points by way, and coverage, for every kind of simulated board."""
    figure, (left, right) = canvas(PAGE, 4.0, 1, 2, sharey=True)
    rows, plain = errors.set_index(["way", "board"]), {"elinewidth": None}
    ways = [(way, rows.loc[way].loc[boards["board"]]) for way in dict.fromkeys(errors["way"])]
    points(left, [(way, of["error"], of["error_se"]) for way, of in ways], 0.3, markersize=3.5, **plain)
    left.set_xscale("log")
    left.set_xticks([10, 20, 50, 100, 200], ["10", "20", "50", "100", "200"])
    left.minorticks_off()
    rows_named(left, boards["board"])
    left.set(xlabel="error of a new model's score, in Elo points")
    points(right, columns_of(boards, KINDS), 0.12, **plain)
    reference(right, 0.9)
    right.set(xlabel="coverage at 90%")
    legend_below(right, 0.13, 2)
    return finished(figure, f"{title}\n{MONTE_CARLO}", left)


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
    return finished(figure, title)


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
    points(left, columns_of(votes, WAYS, "covered/{}"), 0.24)
    points(right, columns_of(votes, WAYS, "error/{}"), 0.24)
    reference(left, 0.95)
    rows_named(left, votes["setting"])
    left.set_xlim(right=1.03)
    left.set(xlabel="coverage of 95% intervals of people's scores")
    right.set_xlim(left=0)
    right.set(xlabel="error of the scores, in log-odds")
    return finished(figure, f"{title}\n{MONTE_CARLO}", left)


# The reported scale: what its intervals hold, and how often boards that did not change seem to.


def scale(scores: pd.DataFrame, compared: pd.DataFrame, title: str) -> Figure:
    """Coverage of reported scores by panel and size, and how often a model is said to have moved."""
    figure, (left, right) = canvas(PAGE, 2.7, 1, 2)
    panels, sizes = list(dict.fromkeys(scores["panel"])), sorted(set(scores["n_comparisons"]))
    by_size = [(size, scores[scores["n_comparisons"] == size].set_index("panel").loc[panels]) for size in sizes]
    series = [(f"{size:,} comparisons", rows["coverage"], rows["coverage_se"]) for size, rows in by_size]
    points(left, series, 0.15)
    reference(left, 0.95)
    left.set_yticks(-np.arange(len(panels)), panels)
    left.set(xlabel="coverage of the reported 95% intervals")
    legend_below(left, 0.2, len(sizes))
    points(right, columns_of(compared, {"any": ""}))
    reference(right, 0.05)
    names = [name.replace(" prefer", "\nprefer").replace(", ", ",\n") for name in compared["boards"]]
    right.set_yticks(-np.arange(len(names)), names)
    right.set(xlabel="share of pairs of boards", xlim=(-0.05, 1.05))
    right.set_title("some model is said to have moved", fontsize=7)
    left.set_title(MONTE_CARLO, fontsize=7)
    return finished(figure, title)
