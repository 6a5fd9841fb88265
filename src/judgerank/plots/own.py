"""One ranking: where the models stand."""

from __future__ import annotations

import io
from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from judgerank.data.arrays import FloatArray, ObjectArray
from judgerank.plots import Box, Shape
from judgerank.plots.looks import COLOURS, PAGE, canvas

MOST = 60  # rows in a figure
LONGEST = 44  # characters of a name beside it


def standings(frame: pd.DataFrame, title: str) -> Figure:
    """Scores and ranks with their intervals, best on top."""
    rows = frame.head(MOST)
    figure, panels = _panels(rows["model"], 2, title if len(rows) == len(frame) else f"{title}, first {MOST}")
    _intervals(panels[0], rows["score"], rows["low"], rows["high"])
    panels[0].axvline(0, color=COLOURS["reference"], linewidth=0.6)
    panels[0].set_xlabel("score in log-odds")
    low, high = (rows[f"rank_{end}"].to_numpy(float, na_value=np.nan) for end in ("low", "high"))
    _intervals(panels[1], rows["rank"], low, high)
    panels[1].set_xlabel("rank, with the ranks it may have")
    panels[1].set_xlim(0.5, len(frame) + 0.5)
    panels[1].xaxis.get_major_locator().set_params(integer=True)
    return figure


def _panels(names: pd.Series, columns: int, title: str) -> tuple[Figure, ObjectArray]:
    figure, panels = canvas(PAGE, 0.9 + 0.19 * len(names), 1, columns, sharey=True)
    panels[0].set_yticks(-np.arange(len(names)), _labels(list(names)), parse_math=False)
    panels[0].set_ylim(0.6 - len(names), 0.6)
    figure.suptitle(title, fontsize=8, parse_math=False)
    return figure, panels


def _intervals(axes: Axes, value: pd.Series, low: pd.Series | FloatArray, high: pd.Series | FloatArray) -> None:
    x, left, right = (np.asarray(column, float) for column in (value, low, high))
    height, has_interval = -np.arange(len(x)), np.isfinite(left)
    reach = np.maximum(np.array([x - left, right - x])[:, has_interval], 0.0)
    colour = COLOURS["judge_aware"]
    axes.errorbar(
        x[has_interval], height[has_interval], xerr=reach, fmt="o", color=colour, elinewidth=0.9, capsize=1.5
    )
    axes.plot(x[~has_interval], height[~has_interval], "x", color=colour)


def _labels(names: list[str]) -> list[str]:
    """Names without their middle where they are long, if they stay distinct."""
    half = LONGEST // 2
    cut = [name if len(name) <= LONGEST else f"{name[:half]}…{name[-half:]}" for name in names]
    return cut if len(set(cut)) == len(names) else names


# Draw rectangles and texts as a PNG.
DOTS = 100  # for an inch; a point is 1/72 of it


def png(shapes: Iterable[Shape], width: int, height: int) -> bytes:
    """Shapes on a canvas of `width` times `height` pixels, the same to the byte each time."""
    figure = Figure(figsize=(width / DOTS, height / DOTS), dpi=DOTS)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for shape in shapes:
        if isinstance(shape, Box):
            box = (shape.x, shape.y), shape.width, shape.height
            axes.add_patch(Rectangle(*box, facecolor=shape.colour, edgecolor="none"))
            continue
        text = axes.text(shape.x, shape.y, shape.text, fontsize=0.92 * shape.size * 72 / DOTS, parse_math=False)
        text.set(color=shape.colour, ha="right" if shape.end else "left", va="baseline")
        text.set_fontweight("bold" if shape.bold else "normal")
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=DOTS, metadata={"Software": None})
    return content.getvalue()
