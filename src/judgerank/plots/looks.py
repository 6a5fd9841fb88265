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


# What colours and markers mean, the same in every figure.
#
# A colour is a model of judgments or a data set; any other series has a shade of one hue, dark to light. A variant
# of a model (another estimator, another target) keeps its colour and is hollow or dashed. The colours stay
# distinct under the three kinds of colour blindness, and those of one family in grey print.
COLOURS = {
    # models of judgments; with positions, lighter
    "judge_aware": "#0064A8",
    "btl": "#D55E00",
    "position_aware": "#56B4E9",
    "position_only": "#F0B429",
    # data sets
    "mt_bench": "#0F4113",
    "ultrafeedback": "#932774",
    "chatbot_arena": "#BDCC60",
    "in_house": "#579F87",
    # nominal levels, zero, equality
    "reference": "#7F7F7F",
    # what the paper printed
    "printed": "#000000",
}
MODELS = ("judge_aware", "btl", "position_aware", "position_only")
DATA_SETS = ("mt_bench", "ultrafeedback", "chatbot_arena", "in_house")
MARKERS = {
    "judge_aware": "o",
    "btl": "s",
    "position_aware": "D",
    "position_only": "^",
    "mt_bench": "o",
    "ultrafeedback": "D",
    "chatbot_arena": "^",
    "in_house": "s",
    "printed": "^",
}
NAMES = {
    "judge_aware": "judge-aware",
    "btl": "unweighted BTL",
    "position_aware": "position-aware",
    "position_only": "BTL with positions",
    "mt_bench": "MT-Bench",
    "ultrafeedback": "UltraFeedback",
    "chatbot_arena": "Chatbot Arena",
    "in_house": "In-house data",
}
DARKEST, LIGHTEST = (0x2D, 0x00, 0x4B), (0xB3, 0x94, 0xDB)
SHADE_MARKERS = ("o", "s", "D", "^", "v", "P", "X")


def shades(n: int) -> list[tuple[str, str]]:
    """Colour and marker of each of `n` series that are neither models nor data sets, dark to light.

    Raises
    ------
    ValueError
        If there are more series than markers.
    """
    if n > len(SHADE_MARKERS):
        raise ValueError(f"a figure can show {len(SHADE_MARKERS)} series at most, not {n}")
    steps = [number / max(n - 1, 1) for number in range(n)]
    mixed = [tuple(round(a + t * (b - a)) for a, b in zip(DARKEST, LIGHTEST, strict=True)) for t in steps]
    return [
        ("#{:02X}{:02X}{:02X}".format(*rgb), marker) for rgb, marker in zip(mixed, SHADE_MARKERS, strict=False)
    ]
