"""How the time of a ranking's fit grows with judgments, models, judges and questions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from judgerank import fit
from judgerank.model.streams import generator
from judgerank.plots.colours import shades
from judgerank.plots.looks import PAGE, canvas
from studies.measuring import simulated

BASE = {"judgments": 100_000, "models": 30, "judges": 10, "questions": 10_000}
SIZES: Mapping[str, Sequence[int]] = {
    "judgments": (30_000, 100_000, 300_000, 1_000_000, 3_000_000),
    "models": (10, 30, 100, 300, 600),
    "judges": (3, 10, 30, 100, 300),
    "questions": (1_000, 3_000, 10_000, 30_000, 100_000),
}
REPEATS = 3
MEMBER = "position_aware"


def times(seed: int) -> pd.DataFrame:
    """Processor seconds from judgments to a shrunk fit with errors by question: ``axis, size, seconds``."""
    rows = []
    for axis, sizes in SIZES.items():
        for size in sizes:
            shape = BASE | {axis: size}
            taken = [_seconds(shape, seed) for _ in range(REPEATS)]
            rows.append((axis, size, float(np.median(taken))))
    return pd.DataFrame(rows, columns=["axis", "size", "seconds"])


def _seconds(shape: Mapping[str, int], seed: int) -> float:
    rows, _ = simulated(seed, shape["models"], shape["judges"], shape["judgments"])
    question = generator(seed, "growth").integers(shape["questions"], size=len(rows))
    start = time.process_time()
    fit(rows, MEMBER, "penalised").clustered(rows, question)
    return time.process_time() - start


def exponents(found: pd.DataFrame) -> pd.DataFrame:
    """Slopes of log seconds on log size by axis, over the larger sizes: ``axis, exponent, error``.

    The two smallest sizes are left out: there most of the time depends on nothing. The error is that of a
    least-squares line.
    """
    lines = []
    for axis, part in found.groupby("axis", sort=False):
        x, y = np.log(part["size"].to_numpy(float)[2:]), np.log(part["seconds"].to_numpy()[2:])
        (slope, start), left = np.polyfit(x, y, 1), x - x.mean()
        noise = ((y - start - slope * x) ** 2).sum() / (len(x) - 2)
        lines.append((axis, slope, float(np.sqrt(noise / (left**2).sum()))))
    return pd.DataFrame(lines, columns=["axis", "exponent", "error"])


def measures(found: pd.DataFrame) -> Iterator[tuple]:
    """The exponents of measured times as lines of the bench."""
    for one in exponents(found).itertuples():
        yield f"exponent of the time of a fit in {one.axis} / 1", one.exponent, 1.0, ""


def drawn(found: pd.DataFrame, lines: pd.DataFrame) -> Figure:
    """Time against size on logarithmic axes, a curve for each axis, with its exponent; within `in_style`."""
    figure, panels = canvas(PAGE, 2.6, 1, len(SIZES))
    told = lines.set_index("axis")
    for axes, (axis, part), (colour, marker) in zip(
        panels, found.groupby("axis", sort=False), shades(len(SIZES)), strict=True
    ):
        axes.plot(part["size"], part["seconds"], color=colour, marker=marker)
        exponent, error = told.loc[axis, ["exponent", "error"]]
        axes.set(xscale="log", yscale="log", xlabel=axis, title=f"exponent {exponent:.2f} (SE {error:.2f})")
    panels[0].set_ylabel("seconds of the processor")
    low, high = found["seconds"].min() / 1.5, found["seconds"].max() * 1.5
    for axes in panels:
        axes.set_ylim(low, high)
    return figure
