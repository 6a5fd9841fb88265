"""Members of the family and the errors of their fits: by question, of panels, shrunk, with positions, by judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, MARKERS, NAMES, shades
from judgerank.plots.looks import PAGE, canvas, short
from replication.plots.judges import HEADROOM, reach_of
from replication.plots.labels import label_points, name_rows
from replication.plots.simulations import ERROR_LABELS, settings_in


def uncertainty(errors: pd.DataFrame, ranks: pd.DataFrame, title: str) -> Figure:
    """Standardised scores with both kinds of errors, and the ranks they leave possible, by the last member."""
    member = errors["member"].iloc[-1]
    rows = errors[errors["member"] == member].iloc[::-1]
    held = ranks[ranks["member"] == member].iloc[::-1]
    figure, (left, right) = canvas(PAGE, 1.0 + 0.14 * len(rows), 1, 2, sharey=True)
    at = np.arange(len(rows))
    looks = {
        "plug_in": ("standard errors by comparison", 0.16),
        "clustered": ("standard errors clustered by question", -0.16),
    }
    for (kind, (label, shift)), (colour, _) in zip(looks.items(), shades(len(looks)), strict=True):
        # ticks at both ends: an interval of one rank has no length
        style = {"color": colour, "marker": "|", "markersize": 3}
        for axes, table in ((left, rows), (right, held)):
            ends = table[[f"low_{kind}", f"high_{kind}"]].to_numpy().T
            lines = axes.plot(ends, np.tile(at + shift, (2, 1)), **style)
            lines[0].set_label(label)
    left.plot(rows["score"], at, "o", color="black", markersize=2)
    right.plot(held["rank"], at, "o", color="black", markersize=2)
    name_rows(left, rows["model"], at, fontsize=6)
    left.set(xlabel="score over the standard deviation of scores")
    right.set(xlabel="rank, simultaneous intervals")
    right.xaxis.get_major_locator().set_params(integer=True)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(f"{title}: {member.replace('_', '-')}", fontsize=8)
    return figure


def panel(summary: pd.DataFrame, title: str) -> Figure:
    """How much a model's answers differ, by set, and errors with and without that beside the clustered ones."""
    rows = summary.iloc[::-1]
    figure, (left, right) = canvas(PAGE, 1.1 + 0.32 * len(rows), 1, 2, sharey=True)
    at = np.arange(len(rows))
    reach = np.abs(rows[["low", "high"]].to_numpy().T - rows["relative_sigma"].to_numpy())
    style = {"fmt": "o", "color": shades(1)[0][0], "elinewidth": 0.9, "capsize": 1.5}
    left.errorbar(rows["relative_sigma"], at, xerr=reach, **style)
    left.set(xlabel="spread of answers over spread of scores")
    left.set_xlim(left=0)
    kinds = {"without_ratio": "question effects left out", "with_ratio": "question effects integrated out"}
    for (kind, label), (colour, marker) in zip(kinds.items(), shades(len(kinds)), strict=True):
        right.plot(rows[kind], at, marker, color=colour, label=label)
    right.axvline(1, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="standard error over the one clustered")
    right.set_xlim(0, 1.2)
    names = rows["title"] + "\n" + rows["comparisons_each"].map("{:.1f} judgments a question".format)
    name_rows(left, names, at, fontsize=6)
    left.set_ylim(-0.5, len(rows) - 0.5)
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(title, fontsize=8)
    return figure


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
            look = {"marker": MARKERS["judge_aware"], "color": COLOURS["judge_aware"]}
            axes.loglog(x, line["mean"], label="judge-aware, maximum likelihood", **look)
            hollow = {"linestyle": "--", "markerfacecolor": "white"}
            axes.loglog(x, line["mean_shrunk"], label="judge-aware, with shrinkage", **look, **hollow)
            axes.set_ylabel(label if axes in panels[:, 0] else "")
        column[0].set_title(name)
        column[1].set_xlabel("comparisons T")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(title, fontsize=8)
    return figure


def slot_bias(summary: pd.DataFrame, bias: pd.DataFrame, title: str) -> Figure:
    """Root mean squared bias against T in both orders of presentation, and every model's bias at the largest T."""
    figure, (left, right) = canvas(PAGE, 2.9, 1, 2)
    lines = {"names": ("-", "order follows names"), "random": (":", "random order")}
    for member, rows in summary.groupby("member", sort=False):
        look = {"color": COLOURS.get(member), "marker": MARKERS.get(member, "v")}
        for order, (line, _) in lines.items():
            of_order = rows[rows["order"] == order]
            label = NAMES.get(member, member) if order == "names" else None
            left.loglog(of_order["n_comparisons"], of_order["rms_bias"], line, label=label, **look)
        last = bias[(bias["member"] == member) & (bias["order"] == "names")]
        last = last[last["n_comparisons"] == last["n_comparisons"].max()]
        right.errorbar(last["model"] + 1, last["bias"], 2 * last["bias_se"], linewidth=0.8, **look)
    noise = summary.groupby("n_comparisons")["rms_noise"].min()
    left.loglog(
        noise.index, noise, color=COLOURS["reference"], linestyle="--", label="no bias (Monte Carlo noise)"
    )
    left.set(xlabel="comparisons T", ylabel="root mean squared bias\nof the scores")
    left.set_title("order of presentation: solid by name, dotted random", fontsize=7)
    right.axhline(0, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="model, in the order of names", ylabel="bias at the largest T")
    right.set_title("bars: two standard errors", fontsize=7)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    figure.suptitle(title, fontsize=8)
    return figure


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
    axes.axvline(0, color=COLOURS["reference"], linewidth=0.6)
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
