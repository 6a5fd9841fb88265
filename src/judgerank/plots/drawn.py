"""Draw rectangles and texts as a PNG."""

from __future__ import annotations

import io
from collections.abc import Iterable

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from judgerank.plots.shapes import Box, Shape

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
