"""What intervals hold where judges have tastes of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank.plots.colours import COLOURS, shades
from judgerank.plots.looks import PAGE, canvas

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
        shifts = np.linspace(0.12, -0.12, len(kinds))
        for (kind, label), shift, (colour, marker) in zip(kinds.items(), shifts, shades(len(kinds)), strict=True):
            at = -np.arange(len(simulated)) + shift
            style = {"fmt": marker, "color": colour, "elinewidth": 0.9, "capsize": 1.5}
            panel.errorbar(simulated[kind], at, xerr=2 * simulated[f"{kind}_se"], label=label, **style)
        panel.axvline(0.95, color=COLOURS["reference"], linewidth=0.6)
        panel.set(xlabel="coverage of 95% intervals", xlim=(0.3, 1.02))
        panel.set_title(target, fontsize=7)
    axes[0].set_yticks(-np.arange(len(names)), names)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(f"{title}\nbars: two Monte Carlo standard errors", fontsize=8)
    return figure
