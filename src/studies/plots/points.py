"""Rows of points with bars of two standard errors, and the frame that most figures of simulations share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.looks import COLOURS, shades

BARS = {"elinewidth": 0.9, "capsize": 1.5}
MONTE_CARLO = "bars: two Monte Carlo standard errors"
Series = tuple[str, pd.Series, pd.Series]  # label, values, standard errors


def columns_of(rows: pd.DataFrame, labels: Mapping[str, str], column: str = "{}") -> list[Series]:
    """A series for each label: the column that it names, with its errors in ``column_se``."""
    named = ((label, column.format(name)) for name, label in labels.items())
    return [(label, rows[name], rows[f"{name}_se"]) for label, name in named]


def points(
    axes: Axes,
    series: Sequence[Series],
    spread: float = 0.2,
    looks: Iterable[Mapping[str, Any]] = (),
    **style: Any,
) -> None:
    """Draw every series as points, one row below the other, with bars of two standard errors.

    Parameters
    ----------
    axes : Axes
    series : sequence of (label, values, standard errors)
    spread : float
        How far above its row the first series is drawn, and below it the last.
    looks : iterable of mapping, optional
        Colour and marker of each series; by default shades.
    **style
        Further arguments of `Axes.errorbar`.
    """
    shifts = np.linspace(spread, -spread, len(series)) if len(series) > 1 else [0.0]
    looks = looks or [{"color": colour, "fmt": marker} for colour, marker in shades(len(series))]
    for (label, values, errors), shift, look in zip(series, shifts, looks, strict=True):
        heights = -np.arange(len(values), dtype=float) + shift
        axes.errorbar(values, heights, xerr=2 * errors, label=label, **(BARS | dict(look) | style))


def reference(axes: Axes, value: float) -> None:
    """Mark a nominal level, or no effect."""
    axes.axvline(value, color=COLOURS["reference"], linewidth=0.6)


def rows_named(axes: Axes, names: Sequence[str], below: float = 0.6, above: float = 0.6) -> None:
    """Name the rows of `points`, with room below the last and above the first."""
    axes.set_yticks(-np.arange(len(names)), names)
    axes.set_ylim(1 - len(names) - below, above)


def legend_below(axes: Axes, down: float, ncols: int, across: float = 0.5) -> None:
    """A legend below the axes, `down` of their height."""
    axes.legend(loc="upper center", bbox_to_anchor=(across, -down), ncols=ncols)


def finished(figure: Figure, title: str, legend_of: Axes | None = None, ncols: int = 2) -> Figure:
    """The figure with its title, and the legend of one of its axes below all."""
    if legend_of is not None:
        figure.legend(*legend_of.get_legend_handles_labels(), loc="outside lower center", ncols=ncols)
    figure.suptitle(title, fontsize=8)
    return figure
