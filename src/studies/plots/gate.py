"""Decisions of a gate."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, shades
from judgerank.plots.looks import PAGE, canvas

RULES = {
    "gate": "judgerank gate",
    "sign": "sign test",
    "t": "t-test of mean scores",
    "mcnemar": "McNemar, judgments",
}
PANELS = {"equal": "equal variants: blocked", "worse": "win rate 35%: blocked"}
ALPHA = 0.05


def gate(levels: pd.DataFrame, power: pd.DataFrame, title: str) -> Figure:
    """Blocks by number of questions, of three judges with every departure at once, by the gate and other tests."""
    figure, axes = canvas(PAGE, 2.9, 1, 2)
    everything = pd.concat([levels, power])
    everything = everything[(everything["condition"] == "everything") & (everything["n_judges"] == 3)]
    for panel, (case, label) in zip(axes, PANELS.items(), strict=True):
        for (rule, name), (colour, marker) in zip(RULES.items(), shades(len(RULES)), strict=True):
            own = everything[(everything["case"] == case) & (everything["rule"] == rule)]
            style = {"fmt": marker + "-", "color": colour, "linewidth": 0.9, "capsize": 1.5, "label": name}
            panel.errorbar(own["n_questions"], own["share"], yerr=2 * own["share_se"], **style)
        panel.set_xscale("log")
        panel.set(xlabel="questions", ylabel=label)
        panel.set_ylim(bottom=0)
    axes[0].axhline(ALPHA, color=COLOURS["reference"], linewidth=0.6)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure
