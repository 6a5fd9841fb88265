"""Names of rows and points that do not cover each other, and figures written to files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import textalloc
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from judgerank.plots.looks import short

GAP = 0.04  # between names beside the axes, of their height
REFERENCES = {
    "judge_aware": "the judge-aware full-data fit",
    "btl": "the BTL full-data fit",
    "human": "human Elo",
    "truth": "the surrogate's truth",
}


def save_figures(figures: Mapping[str, Figure], folder: Path) -> None:
    """Write figures as PNG, the same to the byte each time.

    Raises
    ------
    OSError
        If the folder cannot be written to.
    """
    for name, figure in figures.items():
        figure.savefig(folder / f"{name}.png", metadata={"Software": None})  # without the version that drew it


def name_rows(axes: Axes, names: Iterable[str], heights: Iterable[float], **options: Any) -> None:
    """Name the rows of a list, and leave half a row and a bit above the first and below the last.

    A margin in shares of the height would cut the markers of a list of few rows.
    """
    heights = list(heights)
    axes.set_yticks(heights, [short(name) for name in names], **options)
    axes.set_ylim(min(heights) - 0.7, max(heights) + 0.7)


def label_points(
    axes: Axes, x: Iterable[float], y: Iterable[float], names: Iterable[str], reach: Iterable[float] | None = None
) -> None:
    """Name points where no name covers another, a point, or a vertical bar of half-length `reach`.

    Call when the layout is final.
    """
    x, y = list(x), list(y)
    axes.figure.canvas.figure.draw_without_rendering()  # the whole figure, also from a part of it
    bars: dict[str, Any] = {}
    if reach is not None:
        ends = [(b - r, b + r) for b, r in zip(y, reach, strict=True)]
        bars = {"x_lines": [(a, a) for a in x], "y_lines": ends}
    with _stable_sorting():
        textalloc.allocate(
            axes,
            x,
            y,
            list(names),
            x_scatter=x,
            y_scatter=y,
            textsize=6,
            min_distance=0.012,
            max_distance=0.4,
            margin=0.006,
            nbr_candidates=600,
            linecolor="#9A9A9A",
            linewidth=0.4,
            **bars,
        )


@contextmanager
def _stable_sorting() -> Iterator[None]:
    """Let textalloc try places at equal distances in one order, which else depends on the processor's vectors."""
    with mock.patch.object(np, "argsort", partial(np.argsort, kind="stable")):
        yield


def name_points(axes: Axes, x: Iterable[float], y: Iterable[float], names: Iterable[str]) -> None:
    """Name points in a column to the right of the axes, in order of height, each with a line to its point.

    For crowds that leave no room beside their points.
    """
    points = sorted(zip(y, x, names, strict=True))
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    heights: list[float] = []
    for height, _, _ in points:
        heights.append(max(height, heights[-1] + GAP * (top - bottom)) if heights else height)
    down = sum(high - point[0] for high, point in zip(heights, points, strict=True)) / max(len(points), 1)
    line = {
        "arrowstyle": "-",
        "color": "#9A9A9A",
        "linewidth": 0.4,
        "relpos": (0, 0.5),
        "shrinkA": 1,
        "shrinkB": 1,
    }
    for height, (point_y, point_x, name) in zip(heights, points, strict=True):
        axes.annotate(
            name,
            (point_x, point_y),
            (right + 0.015 * (right - left), height - down),
            fontsize=6,
            va="center",
            annotation_clip=False,
            arrowprops=line,
        )
