"""Figures of fits beside others: defaults, tests of fit, levels of tests, and other methods."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.looks import COLOURS, DATA_SETS, MARKERS, NAMES, PAGE, canvas, shades
from studies.plots.points import (
    MONTE_CARLO,
    columns_of,
    finished,
    legend_below,
    points,
    reference,
    rows_named,
)

# Exact and shrunk fits: accuracy on samples of the sets, and coverage on simulated sets.
SHOWN = {
    "position_aware": "position-aware, exact",
    "position_aware_shrunk": "position-aware, shrunk",
    "btl": "BTL",
}


def defaults(accuracy: pd.DataFrame, simulated: pd.DataFrame, title: str) -> Figure:
    """Spearman's correlation with a fit of the rest by set and size, and coverage by design."""
    figure, (left, right) = canvas(PAGE, 3.2, 1, 2)
    sets, sizes = list(dict.fromkeys(accuracy["dataset"])), sorted(set(accuracy["n_comparisons"]))
    labels = [f"{NAMES[name]}, {size:,}" for name in sets for size in sizes]
    rows = [(name, size) for name in sets for size in sizes]
    with_coverage = simulated[simulated["coverage"].notna()]
    designs = list(dict.fromkeys(with_coverage["title"]))
    correlations, coverages = [], []
    for method, label in SHOWN.items():
        part = accuracy[accuracy["method"] == method].set_index(["dataset", "n_comparisons"]).reindex(rows)
        correlations.append((label, part["spearman"], part["spearman_se"]))
        same = with_coverage["method"].isin([method, method.replace("position", "judge")])
        part = with_coverage[same].set_index("title").reindex(designs)
        coverages.append((label, part["coverage"], part["coverage_se"]))
    points(left, correlations)
    points(right, coverages)
    right.set_yticks(-np.arange(len(designs)), designs)
    left.set_yticks(-np.arange(len(labels)), labels)
    left.set(xlabel="Spearman's correlation with a fit of the rest")
    reference(right, 0.95)
    right.set(xlabel="coverage of 95% intervals")
    legend_below(left, 0.15, len(SHOWN))
    return finished(figure, title)


# Tests of fit: how often they find a departure, by design, and pairs of models with few questions.
FIT_TESTS = {"overall": "overall", "order": "one order", "judge": "some judge", "question": "some question"}
KINDS = {"rank": "judgerank rank", "plain": "plain standard errors"}


def fitness(levels: pd.DataFrame, few: pd.DataFrame, title: str) -> Figure:
    """Shares of sets in which each test finds a departure, and in which equal models are said to differ."""
    figure, (left, right) = canvas(PAGE, 4.4, 1, 2)
    thin = {"elinewidth": 0.8, "capsize": 1.2, "markersize": 3}
    equal = few[few["rank_power"].isna()]
    points(left, columns_of(levels, FIT_TESTS), 0.27, **thin)
    points(right, columns_of(equal, KINDS, "{}_false"), 0.1, **thin)
    left.set_yticks(-np.arange(len(levels)), levels["design"])
    left.set(xlabel="share of sets with a departure", xlim=(-0.03, 1.03))
    rows_named(right, [f"{questions} questions" for questions in equal["n_questions"]])
    right.set(xlabel="share of sets with a significant pair", xlim=(-0.03, 0.53))
    for axes, columns in ((left, 2), (right, 1)):
        reference(axes, 0.05)
        legend_below(axes, 0.12, columns)
    left.set_title(f"tests of fit; {MONTE_CARLO}", fontsize=7)
    right.set_title("pairs of six equal models", fontsize=7)
    return finished(figure, title)


# The figure of what tests and ranks keep where models are all but equal.
PAIR_TESTS = {"wald": "Wald test alone", "both": "both tests"}
PANELS = (
    ("error", 0.05, "false or reversed pair"),
    ("ranks", 0.95, "all ranks covered"),
    ("power", None, "power"),
)


def validity(order: pd.DataFrame, title: str) -> Figure:
    """Shares of data sets by design and method (rows), test (colours); standard errors, doubled, as bars."""
    rows = order.assign(error=order["false"] + order["wrong"], error_se=np.hypot(order.false_se, order.wrong_se))
    cells = list(rows.groupby(["title", "method"], sort=False).groups)
    figure, panels = canvas(PAGE, 1 + 0.19 * len(cells), 1, len(PANELS), sharey=True)
    for axes, (measure, nominal, label) in zip(panels, PANELS, strict=True):
        for (test, name), (colour, marker) in zip(PAIR_TESTS.items(), shades(len(PAIR_TESTS)), strict=True):
            chosen = rows[rows["test"] == test]
            y = np.arange(len(chosen))[::-1]
            error = 2 * chosen[f"{measure}_se"].fillna(0)
            axes.errorbar(
                chosen[measure], y, xerr=error, fmt=marker, color=colour, markersize=3, linewidth=0.7, label=name
            )
        if nominal is not None:
            axes.axvline(nominal, color=COLOURS["reference"], linestyle="--", linewidth=0.8)
        axes.set_xlabel(label)
        axes.set_xlim(-0.05, 1.05)
    labels = [f"{design}: {method}" for design, method in cells]
    panels[0].set_yticks(np.arange(len(cells))[::-1], labels)
    return finished(figure, title, panels[0])


# The figure of methods side by side.
NOMINAL = 0.95


def methods(comparison: pd.DataFrame, titles: pd.Series, title: str) -> Figure:
    """Agreement, log-loss and coverage by method (rows) and data (colours); standard errors, doubled, as bars."""
    figure, panels = canvas(PAGE, 4.8, 1, 4, sharey=True)
    height_of_method = pd.Series(np.arange(len(titles))[::-1], index=titles.index)
    sets = comparison["kind"] == "set"
    measures = (
        ("spearman", comparison, "Spearman with the truth,\nor with people"),
        ("log_loss", comparison[sets], "held-out log-loss"),
        ("log_loss", comparison[~sets], "log-loss above\nthat of the truth"),
        ("coverage", comparison, "coverage of intervals"),
    )
    kinds = list(comparison.groupby("data", sort=False).first()["title"].items())
    simulated = iter(shades(sum(name not in DATA_SETS for name, _ in kinds)))
    styles = {
        name: (label, *((COLOURS[name], MARKERS[name]) if name in DATA_SETS else next(simulated)))
        for name, label in kinds
    }
    for axes, (measure, rows, label) in zip(panels, measures, strict=True):
        for number, (name, (_, colour, marker)) in enumerate(styles.items()):
            of_data = rows[(rows["data"] == name) & rows[measure].notna()]
            y = height_of_method[of_data["method"]] + 0.3 * (1 - 2 * number / (len(styles) - 1))
            error = 2 * of_data.get(f"{measure}_se", pd.Series(np.nan, of_data.index)).fillna(0)
            axes.errorbar(of_data[measure], y, xerr=error, fmt=marker, color=colour, markersize=3, linewidth=0.7)
        axes.set_xlabel(label)
        axes.set_yticks(height_of_method, titles)
        for y in height_of_method:
            axes.axhspan(y - 0.5, y + 0.5, color="black", alpha=0.04 if y % 2 else 0.0, linewidth=0)
    panels[0].set_ylim(-0.6, len(titles) - 0.4)
    panels[2].set_xscale("log")
    panels[3].axvline(NOMINAL, color=COLOURS["reference"], linestyle="--", linewidth=0.8)
    handles = [
        panels[0].plot([], [], marker, linestyle="", color=colour, label=label)[0]
        for label, colour, marker in styles.values()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return finished(figure, f"{title} (no point: the method does not give it)")


def claims(levels: pd.DataFrame, title: str) -> Figure:
    """Shares of sets with a false claim, by design, beside the level that they are held to."""
    figure, (axes,) = canvas(PAGE, 3.6)
    look = {"fmt": "o", "color": COLOURS["judge_aware"]}
    points(axes, [("", levels["false"], levels["false_se"])], looks=[look])
    reference(axes, 0.05)
    axes.set_yticks(-np.arange(len(levels)), levels["design"])
    axes.set(xlabel="sets with any false claim (line: 5%; bars: two Monte Carlo standard errors)", title=title)
    return figure
