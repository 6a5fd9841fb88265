"""The look of every figure: sizes, fonts, short names; and one ranking drawn."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from judgerank.data.arrays import FloatArray, ObjectArray

# The look of every figure: sizes, fonts, and names short enough to print.
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


# One ranking: where the models stand.
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
