"""The look of every figure: sizes, fonts, and names short enough to print."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from judgerank.data.arrays import ObjectArray

COLUMN, PAGE = 3.25, 6.75  # widths of the paper's column and page, in inches
STYLE: dict[str, Any] = {
    "font.size": 7,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.hashsalt": "judgerank",
}


def in_style() -> AbstractContextManager[None]:
    """The project's style over matplotlib's defaults; the user's own settings come back afterwards."""
    return style.context(["default", STYLE])


def short(judge: str) -> str:
    """A judge's or model's name without its publisher and serving suffixes."""
    name = judge.rsplit("/", 1)[-1]
    for suffix in ("-FP8", "-tput", "-Turbo", "-Instruct-2507", "-17B-128E-Instruct", "-17B-16E-Instruct"):
        name = name.replace(suffix, "")
    for suffix in (
        "-Instruct-v0.1",
        "-Instruct",
        "-instruct",
        "-preview-llama-109B-MoE",
        "-A22B",
        "-A3B",
        "-it",
    ):
        name = name.replace(suffix, "")
    return name


def canvas(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Figure, ObjectArray]:
    """A figure with its axes as a flat array, for use within `in_style`.

    It is not one of pyplot's, so that drawing opens no window and leaves a notebook's backend alone.
    """
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options).ravel()
