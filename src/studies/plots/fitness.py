"""Tests of fit: how often they find a departure, by design, and pairs of models with few questions."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, shades
from judgerank.plots.looks import PAGE, canvas

TESTS = {"overall": "overall", "order": "one order", "judge": "some judge", "question": "some question"}
KINDS = {"rank": "judgerank rank", "plain": "plain standard errors"}


def fitness(levels: pd.DataFrame, few: pd.DataFrame, title: str) -> Figure:
    """Shares of sets in which each test finds a departure, and in which equal models are said to differ."""
    figure, (left, right) = canvas(PAGE, 4.4, 1, 2)
    at, shifts = -np.arange(len(levels)), np.linspace(0.27, -0.27, len(TESTS))
    for (test, told), shift, style in zip(TESTS.items(), shifts, shades(len(TESTS)), strict=True):
        _points(left, levels[test], levels[f"{test}_se"], at + shift, told, style)
    equal = few[few["rank_power"].isna()]
    at_few = -np.arange(len(equal))
    for (kind, told), shift, style in zip(KINDS.items(), (0.1, -0.1), shades(len(KINDS)), strict=True):
        _points(right, equal[f"{kind}_false"], equal[f"{kind}_false_se"], at_few + shift, told, style)
    left.set_yticks(at, levels["design"])
    left.set(xlabel="share of sets with a departure", xlim=(-0.03, 1.03))
    right.set_yticks(at_few, [f"{questions} questions" for questions in equal["n_questions"]])
    right.set(xlabel="share of sets with a significant pair", xlim=(-0.03, 0.53), ylim=(at_few.min() - 0.6, 0.6))
    for axes, columns in ((left, 2), (right, 1)):
        axes.axvline(0.05, color=COLOURS["reference"], linewidth=0.6)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=columns)
    left.set_title("tests of fit; bars: two Monte Carlo standard errors", fontsize=7)
    right.set_title("pairs of six equal models", fontsize=7)
    figure.suptitle(title, fontsize=8)
    return figure


def _points(axes, values: pd.Series, errors: pd.Series, at: np.ndarray, label: str, style: tuple) -> None:
    colour, marker = style
    axes.errorbar(
        values,
        at,
        xerr=2 * errors,
        fmt=marker,
        color=colour,
        label=label,
        elinewidth=0.8,
        capsize=1.2,
        markersize=3,
    )
