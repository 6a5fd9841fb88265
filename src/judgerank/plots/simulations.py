"""The simulation study's figures."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.style import COLOURS, MARKERS, NAMES, PAGE, canvas

SETTING_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
SETTING_MARKERS = ("o", "s", "D", "^", "v", "P", "X")
ERROR_LABELS = {"score": "MSE of s", "log_discrimination": "MSE of log gamma"}


def settings_in(frame: pd.DataFrame) -> list[tuple[str, str, str, pd.DataFrame]]:
    """Label, colour, marker and rows of every (N, K) in a frame, in order of appearance."""
    groups = frame.groupby(["n_models", "n_judges"], sort=False)
    look = zip(SETTING_COLOURS, SETTING_MARKERS, strict=True)
    return [(f"N={n}, K={k}", *next(look), rows) for (n, k), rows in groups]


def mse(frame: pd.DataFrame, title: str) -> Figure:
    """Figure 1: mean squared errors with interquartile bands, and how often there was an interior maximum."""
    figure, panels = canvas(PAGE, 2.9, 1, 3, width_ratios=(1, 1, 0.8))
    for axes, (parameter, label) in zip(panels, ERROR_LABELS.items(), strict=False):
        for name, colour, marker, rows in settings_in(frame[frame["parameter"] == parameter]):
            axes.loglog(rows["n_comparisons"], rows["mean"], marker=marker, color=colour, label=name)
            axes.fill_between(
                rows["n_comparisons"], rows["q25"], rows["q75"], color=colour, alpha=0.2, linewidth=0
            )
        axes.set(xlabel="comparisons T", ylabel=label)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    for _, colour, marker, rows in settings_in(frame[frame["parameter"] == "score"]):
        share = rows["n_interior"] / rows["n_replications"].max()
        panels[2].semilogx(rows["n_comparisons"], share, marker=marker, color=colour)
    panels[2].set(xlabel="comparisons T", ylabel="share with an interior maximum", ylim=(-0.03, 1.03))
    figure.suptitle(title, fontsize=8)
    return figure


def mse_draws(further: pd.DataFrame, main: pd.DataFrame) -> Figure:
    """Mean squared errors under further draws of the truth (thin) beside the main one (thick)."""
    figure, panels = canvas(PAGE, 2.9, 1, 2)
    for axes, (parameter, label) in zip(panels, ERROR_LABELS.items(), strict=True):
        for name, colour, marker, rows in settings_in(main[main["parameter"] == parameter]):
            axes.loglog(rows["n_comparisons"], rows["mean"], marker=marker, color=colour, label=name)
            place = rows[["n_models", "n_judges"]].iloc[0]
            same = (further[["n_models", "n_judges"]] == place).all(axis=1) & (further["parameter"] == parameter)
            for _, line in further[same].groupby("draw"):
                axes.loglog(line["n_comparisons"], line["mean"], color=colour, linewidth=0.5, alpha=0.7)
        axes.set(xlabel="comparisons T", ylabel=label)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle("The same study under further draws of the truth (thin lines)", fontsize=8)
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
            axes.loglog(x, line["mean"], marker="s", color=COLOURS["btl"], label="maximum likelihood")
            axes.loglog(x, line["mean_shrunk"], marker="o", color=COLOURS["judge_aware"], label="shrunk")
            axes.set_ylabel(label if axes in panels[:, 0] else "")
        column[0].set_title(name)
        column[1].set_xlabel("comparisons T")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(title, fontsize=8)
    return figure


def slot_bias(summary: pd.DataFrame, bias: pd.DataFrame, title: str) -> Figure:
    """Root mean squared bias against T in both orders of presentation, and every model's bias at the largest T."""
    figure, (left, right) = canvas(PAGE, 2.9, 1, 2)
    lines = {"names": ("-", "slots follow names"), "random": (":", "slots at random")}
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
    left.set(xlabel="comparisons T", ylabel="root mean squared bias of the scores")
    left.set_title("solid: slots follow names; dotted: at random", fontsize=7)
    right.axhline(0, color=COLOURS["reference"], linewidth=0.6)
    right.set(xlabel="model, in the order of names", ylabel="bias at the largest T")
    right.set_title("slots follow names", fontsize=7)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    figure.suptitle(title, fontsize=8)
    return figure


METHOD_LOOK = {
    "judge_aware": ("judge-aware", COLOURS["judge_aware"], "o"),
    "btl": ("unweighted BTL, against the truth", COLOURS["btl"], "s"),
    "btl_rescaled": ("unweighted BTL, truth on its scale", "#009E73", "^"),
}


def coverage(frame: pd.DataFrame, level: float, title: str) -> Figure:
    """Figure 2: coverage (two Monte Carlo standard errors as bars), mean width, and width over spread."""
    groups = settings_in(frame)
    figure, panels = canvas(PAGE, 5.4, 3, len(groups), sharex="col", sharey="row")
    panels = panels.reshape(3, len(groups))
    for column, (name, _, _, rows) in zip(panels.T, groups, strict=True):
        for method, (label, colour, marker) in METHOD_LOOK.items():
            line = rows[rows["method"] == method]
            x, bars = line["n_comparisons"], 2 * line["coverage_se"]
            column[0].errorbar(x, line["coverage"], bars, marker=marker, color=colour, label=label, capsize=1.5)
            if method != "btl_rescaled":  # the same intervals
                column[1].loglog(x, line["width"], marker=marker, color=colour)
                column[2].loglog(x, line["relative_width"], marker=marker, color=colour)
        column[0].axhline(level, color=COLOURS["reference"], linestyle="--", linewidth=0.8)
        column[0].set(title=name, xscale="log")
        column[2].set(xlabel="comparisons T")
        for axes in column[1:]:
            axes.minorticks_off()
            axes.yaxis.set_major_formatter("{x:.2g}")
        column[2].set_xticks([x.min(), x.max()], [f"{value / 1000:g}K" for value in (x.min(), x.max())])
    for axes, label in zip(panels[:, 0], ("coverage", "mean width", "mean width over spread"), strict=True):
        axes.set_ylabel(label)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle(title, fontsize=8)
    return figure


def coverage_draws(further: pd.DataFrame, main: pd.DataFrame, level: float) -> Figure:
    """Coverage under further draws of the truth (thin) beside the main one (thick)."""
    groups = settings_in(main)
    figure, panels = canvas(PAGE, 2.4, 1, len(groups), sharey=True)
    for axes, (name, _, _, rows) in zip(panels, groups, strict=True):
        place = rows[["n_models", "n_judges"]].iloc[0]
        same = further[(further[["n_models", "n_judges"]] == place).all(axis=1)]
        for method, (label, colour, marker) in METHOD_LOOK.items():
            line = rows[rows["method"] == method]
            axes.plot(line["n_comparisons"], line["coverage"], marker=marker, color=colour, label=label)
            for _, other in same[same["method"] == method].groupby("draw"):
                axes.plot(other["n_comparisons"], other["coverage"], color=colour, linewidth=0.5, alpha=0.7)
        axes.axhline(level, color=COLOURS["reference"], linestyle="--", linewidth=0.8)
        axes.set(title=name, xlabel="comparisons T", xscale="log")
        ends = line["n_comparisons"].iloc[[0, -1]]
        axes.minorticks_off()
        axes.set_xticks(ends, [f"{value / 1000:g}K" for value in ends])
    panels[0].set_ylabel("coverage")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle("Coverage under further draws of the truth (thin lines)", fontsize=8)
    return figure
