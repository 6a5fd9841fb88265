"""Figures of members of the family, of what judges do besides judging quality, and of how far to trust them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.looks import COLOURS, MARKERS, NAMES, PAGE, canvas, shades, short
from replication.plots.judges import HEADROOM, reach_of
from replication.plots.labels import label_points, name_rows
from replication.plots.points import BARS, MONTE_CARLO, columns_of, finished, points, reference
from replication.plots.simulations import ERROR_LABELS, settings_in

# Members of the family and the errors of their fits: by question, of panels, shrunk, with positions, by judge.


def uncertainty(errors: pd.DataFrame, ranks: pd.DataFrame, title: str) -> Figure:
    """Standardised scores with both kinds of errors, and the ranks they leave possible, by the last member."""
    member = errors["member"].iloc[-1]
    rows = errors[errors["member"] == member].iloc[::-1]
    held = ranks[ranks["member"] == member].iloc[::-1]
    figure, (left, right) = canvas(PAGE, 1.0 + 0.14 * len(rows), 1, 2, sharey=True)
    heights = np.arange(len(rows))
    styles = {
        "plug_in": ("standard errors by comparison", 0.16),
        "clustered": ("standard errors clustered by question", -0.16),
    }
    for (kind, (label, shift)), (colour, _) in zip(styles.items(), shades(len(styles)), strict=True):
        # ticks at both ends: an interval of one rank has no length
        style = {"color": colour, "marker": "|", "markersize": 3}
        for axes, table in ((left, rows), (right, held)):
            ends = table[[f"low_{kind}", f"high_{kind}"]].to_numpy().T
            lines = axes.plot(ends, np.tile(heights + shift, (2, 1)), **style)
            lines[0].set_label(label)
    left.plot(rows["score"], heights, "o", color="black", markersize=2)
    right.plot(held["rank"], heights, "o", color="black", markersize=2)
    name_rows(left, rows["model"], heights, fontsize=6)
    left.set(xlabel="score over the standard deviation of scores")
    right.set(xlabel="rank, simultaneous intervals")
    right.xaxis.get_major_locator().set_params(integer=True)
    return finished(figure, f"{title}: {member.replace('_', '-')}", left)


def panel(summary: pd.DataFrame, title: str) -> Figure:
    """How much a model's answers differ, by set, and errors with and without that beside the clustered ones."""
    rows = summary.iloc[::-1]
    figure, (left, right) = canvas(PAGE, 1.1 + 0.32 * len(rows), 1, 2, sharey=True)
    heights = np.arange(len(rows))
    reach = np.abs(rows[["low", "high"]].to_numpy().T - rows["relative_sigma"].to_numpy())
    style = {"fmt": "o", "color": shades(1)[0][0], **BARS}
    left.errorbar(rows["relative_sigma"], heights, xerr=reach, **style)
    left.set(xlabel="spread of answers over spread of scores")
    left.set_xlim(left=0)
    kinds = {"without_ratio": "question effects left out", "with_ratio": "question effects integrated out"}
    for (kind, label), (colour, marker) in zip(kinds.items(), shades(len(kinds)), strict=True):
        right.plot(rows[kind], heights, marker, color=colour, label=label)
    reference(right, 1)
    right.set(xlabel="standard error over the one clustered")
    right.set_xlim(0, 1.2)
    names = rows["title"] + "\n" + rows["comparisons_each"].map("{:.1f} judgments a question".format)
    name_rows(left, names, heights, fontsize=6)
    left.set_ylim(-0.5, len(rows) - 0.5)
    return finished(figure, title, right)


def shrunk(frame: pd.DataFrame, title: str) -> Figure:
    """Mean squared error with shrinkage and without, over further draws of the truth where there are any."""
    draws = "further" if "further" in set(frame["draws"]) else "main"
    groups = settings_in(frame[frame["draws"] == draws])
    figure, panels = canvas(PAGE, 3.8, 2, len(groups), sharex="col")
    panels = panels.reshape(2, len(groups))
    for column, (name, _, _, rows) in zip(panels.T, groups, strict=True):
        for axes, (parameter, label) in zip(column, ERROR_LABELS.items(), strict=True):
            line = rows[rows["parameter"] == parameter]
            x = line["n_comparisons"]
            style = {"marker": MARKERS["judge_aware"], "color": COLOURS["judge_aware"]}
            axes.loglog(x, line["mean"], label="judge-aware, maximum likelihood", **style)
            hollow = {"linestyle": "--", "markerfacecolor": "white"}
            axes.loglog(x, line["mean_shrunk"], label="judge-aware, with shrinkage", **style, **hollow)
            axes.set_ylabel(label if axes in panels[:, 0] else "")
        column[0].set_title(name)
        column[1].set_xlabel("comparisons T")
    return finished(figure, title, panels[0, 0])


def slot_bias(summary: pd.DataFrame, bias: pd.DataFrame, title: str) -> Figure:
    """Root mean squared bias against T in both orders of presentation, and every model's bias at the largest T."""
    figure, (left, right) = canvas(PAGE, 2.9, 1, 2)
    lines = {"names": ("-", "order follows names"), "random": (":", "random order")}
    for member, rows in summary.groupby("member", sort=False):
        style = {"color": COLOURS.get(member), "marker": MARKERS.get(member, "v")}
        for order, (line, _) in lines.items():
            of_order = rows[rows["order"] == order]
            label = NAMES.get(member, member) if order == "names" else None
            left.loglog(of_order["n_comparisons"], of_order["rms_bias"], line, label=label, **style)
        last = bias[(bias["member"] == member) & (bias["order"] == "names")]
        last = last[last["n_comparisons"] == last["n_comparisons"].max()]
        right.errorbar(last["model"] + 1, last["bias"], 2 * last["bias_se"], linewidth=0.8, **style)
    noise = summary.groupby("n_comparisons")["rms_noise"].min()
    left.loglog(
        noise.index, noise, color=COLOURS["reference"], linestyle="--", label="no bias (Monte Carlo noise)"
    )
    left.set(xlabel="comparisons T", ylabel="root mean squared bias\nof the scores")
    left.set_title("order of presentation: solid by name, dotted random", fontsize=7)
    right.axhline(0, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="model, in the order of names", ylabel="bias at the largest T")
    right.set_title("bars: two standard errors", fontsize=7)
    return finished(figure, title, left, 5)


def character(frame: pd.DataFrame, title: str) -> Figure:
    """Every judge's position bias against its discrimination, with intervals."""
    figure, (axes,) = canvas(PAGE, 4.4)
    x, y = frame["position"], frame["discrimination"]
    reach = reach_of(y, frame["low_discrimination"], frame["high_discrimination"])
    across = (frame["high_position"] - x).to_numpy()
    style = {"fmt": MARKERS["position_aware"], "color": COLOURS["position_aware"], "elinewidth": 0.6}
    axes.errorbar(x, y, yerr=reach, xerr=across, label=NAMES["position_aware"], **style)
    axes.plot(
        x, frame["discrimination_judge_aware"], "_", color=COLOURS["judge_aware"], label=NAMES["judge_aware"]
    )
    ring = {"facecolors": "none", "edgecolors": COLOURS["reference"]}
    axes.scatter(x, y, 400 * frame["share_tie"], **ring)
    axes.scatter([], [], 400 * 0.1, label="share of ties, by area (this one: 10%)", **ring)
    zero = frame["low_discrimination"].isna()
    if zero.any():
        axes.plot(x[zero], y[zero], "x", color="black", label="at zero", markersize=5)
    reference(axes, 0)
    axes.set_xlabel("position: preference for the model shown first, in log-odds (negative: for the second)")
    axes.margins(0.1)
    top = HEADROOM * y.max()  # an interval of a judge near zero may reach far beyond all estimates
    cut = (frame["high_discrimination"] > top).any()
    axes.set(
        title=title,
        ylabel="discrimination (intervals cut at the frame)" if cut else "discrimination",
        ylim=(-0.1 * y.max(), top),
    )
    figure.legend(loc="outside lower center", ncols=4)
    label_points(axes, x, y, map(short, frame["judge"]), np.minimum(reach[1], top - y))
    return figure


# What judges do besides judging quality: what each block predicts, what tests find of it, ranks by category.


def blocks(rows: pd.DataFrame, coverage: pd.DataFrame | None, title: str) -> Figure:
    """Held-out log-loss saved by every block, with two standard errors, and how often tests find one simulated."""
    rows = rows[rows["gain"].notna()].iloc[::-1]
    wide = 2 if coverage is not None else 1
    figure, panels = canvas(PAGE, 1.3 + 0.26 * max(len(rows), 6), 1, wide)
    left, heights = panels[0], np.arange(len(rows))
    for dataset in dict.fromkeys(rows["dataset"][::-1]):
        chosen = (rows["dataset"] == dataset).to_numpy()
        style = {"fmt": MARKERS[dataset], "color": COLOURS[dataset], **BARS}
        part = rows[chosen]
        left.errorbar(part["gain"], heights[chosen], xerr=2 * part["gain_se"], **style)
    reference(left, 0)
    left.set(xlabel="held-out log-loss saved per comparison\n(with two standard errors; to the right is better)")
    name_rows(left, rows["block"] + "\n" + rows["title"], heights, fontsize=6)
    left.set_ylim(-0.6, len(rows) - 0.4)
    if coverage is not None:
        _shares_detected(panels[1], coverage)
    return finished(figure, title)


def _shares_detected(axes: Axes, coverage: pd.DataFrame) -> None:
    """Share of simulated data sets in which the test finds a block."""
    names = list(dict.fromkeys(coverage["block"]))
    words = {0.0: "comparisons independent", 1.0: "judges of a question err together"}
    groups = list(coverage.groupby("question_sd"))
    for (sd, part), (colour, marker) in zip(groups, shades(len(groups)), strict=True):
        label = words.get(float(sd), f"spread of answers {sd:g}")
        for is_present, fill in ((True, colour), (False, "white")):
            some = part[(part["size"] > 0) == is_present]
            y = np.array([names.index(name) for name in some["block"]]) + (0.12 if sd else -0.12)
            what = "effect present" if is_present else "no effect"
            axes.errorbar(
                some["rejected"],
                y,
                xerr=2 * some["rejected_se"],
                fmt=marker,
                color=colour,
                markerfacecolor=fill,
                elinewidth=0.9,
                label=f"{what}, {label}",
            )
    reference(axes, 0.05)
    axes.set(xlabel="simulated data sets in which\nthe test finds it (line: .05)", xlim=(-0.03, 1.03))
    name_rows(axes, pd.Series(names), np.arange(len(names)), fontsize=6)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), fontsize=6, ncols=1)


def categories(rows: pd.DataFrame, title: str) -> Figure:
    """Ranks within every category, with intervals that hold at once there."""
    names = sorted(rows["category"].unique())
    across = min(4, len(names))
    down = -(-len(names) // across)
    models = rows.groupby("model")["score"].mean().sort_values(ascending=False).index.tolist()
    figure, panels = canvas(PAGE, 0.5 + down * (0.65 + 0.16 * len(models)), down, across, sharex=True, sharey=True)
    for axes, category in zip(panels, names, strict=False):
        part = rows[rows["category"] == category].set_index("model").loc[models]
        heights = -np.arange(len(models))
        reach = [part["rank"] - part["low"], part["high"] - part["rank"]]
        style = {"fmt": "o", "color": COLOURS["judge_aware"], **BARS}
        axes.errorbar(part["rank"], heights, xerr=reach, **style)
        remark = f"{part['separated'].iloc[0]:.0f} of {part['pairs'].iloc[0]:.0f} pairs differ significantly"
        axes.set_title(f"{category}\n{remark}", fontsize=6)
        axes.set_xticks(range(1, len(models) + 1))
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    for axes in panels[::across]:
        name_rows(axes, pd.Series(models), -np.arange(len(models)), fontsize=6)
    for axes in panels[max(0, len(names) - across) : len(names)]:
        axes.set_xlabel("rank in the category")
    return finished(figure, title)


# What intervals hold where judges have tastes of their own.
KINDS = {
    "Score of judges like these": {"like_these": "with tastes", "plain": "without tastes"},
    "Score of this panel": {"panel": "with tastes", "plain_panel": "without tastes"},
}


def tastes(simulated: pd.DataFrame, title: str) -> Figure:
    """Coverage of both targets by the fit with tastes and the one without, by panel and size."""
    figure, axes = canvas(PAGE, 2.7, 1, 2, sharey=True)
    names = [
        f"{row.judges} judges, {row.n_comparisons:,} comparisons, tastes {row.true_sd:g}"
        for row in simulated.itertuples()
    ]
    for panel, (target, kinds) in zip(axes, KINDS.items(), strict=True):
        points(panel, columns_of(simulated, kinds), 0.12)
        reference(panel, 0.95)
        panel.set(xlabel="coverage of 95% intervals", xlim=(0.3, 1.02))
        panel.set_title(target, fontsize=7)
    axes[0].set_yticks(-np.arange(len(names)), names)
    return finished(figure, f"{title}\n{MONTE_CARLO}", axes[0])


# How often the wrong model is first where a judge favours his maker's model.
TREATMENTS = {"counted": "all votes count", "btl": "plain BTL", "recused": "no vote on one's maker's models"}


def self_preference(simulated: pd.DataFrame, title: str) -> Figure:
    """Share of sets in which the wrong model is first, by panel, bias and method."""
    figure, (axes,) = canvas(PAGE, 3.4)
    points(axes, columns_of(simulated, TREATMENTS, "wrong_{}"))
    names = [f"{row.panel}, bias {row.bias:g}" for row in simulated.itertuples()]
    axes.set_yticks(-np.arange(len(names)), names)
    axes.set(xlabel="share of sets with the wrong model first")
    return finished(figure, f"{title}\n{MONTE_CARLO}", axes, 3)


# Crowds of judges with few answers each.
WAYS = {"own": "a discrimination for each", "shared": "the panel's for all", "btl": "BTL"}


def few_answers(table: pd.DataFrame, title: str) -> Figure:
    """Rank correlation with the truth by answers a judge: an honest crowd alone, and crowds beside a panel."""
    panels = [("honest", False), ("honest", True), ("half bloc", True), ("bloc", True)]
    figure, axes = canvas(PAGE, 2.4, 1, len(panels), sharey=True)
    for panel, (kind, beside) in zip(axes, panels, strict=True):
        rows = table[(table["kind"] == kind) & ((table["panel"] > 0) == beside)].sort_values("answers")
        for (way, label), (colour, marker) in zip(WAYS.items(), shades(len(WAYS)), strict=True):
            style = {"fmt": f"{marker}-", "color": colour, "elinewidth": 0.9, "capsize": 1.5, "markersize": 3}
            error = 2 * rows[f"spearman_{way}_se"]
            panel.errorbar(rows["answers"], rows[f"spearman_{way}"], yerr=error, label=label, **style)
        panel.set(xscale="log", xlabel="answers a judge", xticks=rows["answers"])
        panel.set_xticks([], minor=True)
        panel.set_xticklabels([f"{answers}" for answers in rows["answers"]])
        panel.set_title(f"{kind} crowd{' beside a panel' if beside else ''}", fontsize=7)
    axes[0].set_ylabel("rank correlation with the truth")
    return finished(figure, f"{title}\nbars: two Monte Carlo standard errors", axes[0], len(WAYS))


def contrary(table: pd.DataFrame, title: str) -> Figure:
    """Share of sets in which the last judge is called contrary, by its kind and the number of answers."""
    figure, panels = canvas(PAGE, 2.6, 1, 1)
    axes = panels.flat[0]
    groups = list(table[table["kind"] != "honest"].groupby("kind", sort=False))  # who is never called so
    for (kind, rows), (colour, marker) in zip(groups, shades(len(groups)), strict=True):
        style = {"fmt": f"{marker}-", "color": colour, "elinewidth": 0.9, "capsize": 1.5, "markersize": 3}
        axes.errorbar(rows["answers"], rows["last"], yerr=2 * rows["last_se"], label=kind, **style)
    answers = sorted(table["answers"].unique())
    axes.set(xscale="log", xlabel="answers of each judge", ylabel="called contrary", xticks=answers)
    axes.set_xticks([], minor=True)
    axes.set_xticklabels([f"{number:.0f}" for number in answers])
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center")
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure


# How little changes a ranking, and how many judges a panel is worth.


def fragility(summary: pd.DataFrame, changes: pd.DataFrame, title: str) -> Figure:
    """Judgments whose removal swaps every two neighbours, by set, and what one linear step says of that number."""
    swaps = changes[(changes["change"] == "swap") & (changes["by"] == "judgments") & changes["size"].notna()]
    figure, (left, right) = canvas(PAGE, 3.0, 1, 2)
    titles = summary.drop_duplicates("dataset").set_index("dataset")["title"]
    heights = {name: -float(index) for index, name in enumerate(titles.index)}
    for shift, member in zip((0.16, -0.16), summary["member"].unique(), strict=False):
        style = {"color": COLOURS[member]}
        mine = swaps[swaps["member"] == member]
        left.plot(mine["size"], mine["dataset"].map(heights) + shift, "|", markersize=7, **style)
        rows = summary[summary["member"] == member].dropna(subset="top_judgments")
        row_heights = rows["dataset"].map(heights) + shift
        left.plot(rows["top_judgments"], row_heights, MARKERS[member], label=NAMES[member], **style)
        right.plot(mine["forecast"], mine["size"], MARKERS[member], alpha=0.7, **style)
    name_rows(left, titles, heights.values())
    left.set(xscale="log", xlabel="judgments left out, of 10,000 (in-house 36,000)")
    left.set_title("marker: another model is first; bars: neighbours swap", fontsize=7)
    ends = [0.8, 1.3 * swaps[["forecast", "size"]].replace(np.inf, np.nan).max().max()]
    right.plot(ends, ends, color=COLOURS["reference"], linewidth=0.6)
    right.set(
        xscale="log",
        yscale="log",
        xlabel="predicted by one linear step",
        ylabel="judgments left out, confirmed by a fit",
    )
    right.set_title("on the line: predicted correctly", fontsize=7)
    return finished(figure, title, left)


def effective(summary: pd.DataFrame, calibration: pd.DataFrame | None, title: str) -> Figure:
    """Effective number of judges of every panel, and that of simulated panels beside the known one."""
    rows = summary.iloc[::-1].reset_index(drop=True)
    figure, (left, right) = canvas(PAGE, 1.2 + 0.27 * len(rows), 1, 2)
    reach = np.abs(rows[["information_low", "information_high"]].to_numpy().T - rows["information"].to_numpy())
    style = {"fmt": "o", **BARS}
    for member in summary["member"].unique():
        mine = (rows["member"] == member).to_numpy()
        marker_style = style | {"fmt": MARKERS[member], "color": COLOURS[member]}
        left.errorbar(rows["information"][mine], rows.index[mine], xerr=reach[:, mine], **marker_style)
    left.plot(rows["judges"], rows.index, "s", color=COLOURS["reference"], markerfacecolor="white")
    name_rows(left, rows["title"] + ", " + rows["member"].map(NAMES), rows.index)
    left.set_xlim(0, 1.08 * rows["judges"].max())
    left.set_xlabel("judges")
    left.set_title("filled: effective number of judges; hollow: judges", fontsize=7)
    if calibration is None:
        right.set_axis_off()
    else:
        _calibration(right, calibration, style)
    figure.suptitle(title, fontsize=8)
    if calibration is not None:
        points = calibration["worth"], calibration["information"]
        label_points(right, *points, calibration["panel"], reach=2 * calibration["information_se"])
    return figure


def _calibration(axes: Axes, calibration: pd.DataFrame, style: dict[str, Any]) -> None:
    """Estimated effective number of judges of simulated panels, against the known one."""
    top = 1.15 * float(calibration["n_judges"].max())
    axes.plot([0, top], [0, top], color=COLOURS["reference"], linewidth=0.6)
    errors = {"xerr": 2 * calibration["worth_se"], "yerr": 2 * calibration["information_se"]}
    axes.errorbar(calibration["worth"], calibration["information"], color=shades(1)[0][0], **errors, **style)
    axes.set(xlim=(0, 1.3 * top), ylim=(0, top), xlabel="by the variance of the scores", ylabel="estimated")
    axes.set_title("eight simulated judges; bars: two standard errors", fontsize=7)
