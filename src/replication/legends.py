"""Legends held against the tables that their figures show: what has a label's look shows that label's numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

LEGENDS = Path(__file__).with_name("legends.csv")
NO_POINT = ("None", "", "_", "|")  # markers of a line without points, and of the ends of error bars


def legend_styles(figure: Figure) -> dict[str, str]:
    """Colour, and marker if it has one, of every label in a figure's legends."""
    legends: list[Legend | None] = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    return {
        text.get_text(): style_of(handle)
        for legend in filter(None, legends)
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
        if handle is not None
    }


def wrong_labels(section: str, name: str, figure: Figure, tables: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    """What is wrong in the legend of a section's figure, in words; a figure without entries has none.

    `LEGENDS` says for every label which rows and columns of the stored tables it stands for (``|`` separates
    columns, and values), or that it stands for none, like a nominal level. Points that are some label's numbers
    must have that label's look; what else a figure shows, such as a panel of shares, is not looked at.
    """
    entries, style_of_label = expected(section, name), legend_styles(figure)
    for label in style_of_label.keys() - entries.keys() if entries else ():
        yield f"legends.csv says nothing of the label {label!r}"
    # drawn only where its table is stored, or where a set has such rows
    drawn = {
        label: entry for label, entry in entries.items() if label in style_of_label and entry["table"] in tables
    }
    numbers = {label: _values(tables[entry["table"]], entry) for label, entry in drawn.items()}
    for label, entry in drawn.items():
        plotted = [
            points
            for points in _points_with_style(figure, style_of_label[label])
            if any(_is_of(points, values) for values in numbers.values())
        ]
        if not plotted or not all(_is_of(points, numbers[label]) for points in plotted):
            where = f", {entry['where']}" if entry["where"] else ""
            yield f"what looks like {label!r} is not {entry['value']} of {entry['table']}{where}"


@cache
def expected(section: str, name: str) -> dict[str, dict[str, str]]:
    """What the labels of a section's figure stand for, by label: entries of `LEGENDS`."""
    table = pd.read_csv(LEGENDS, dtype=str, keep_default_na=False)
    entries = table[table["section"] == section].to_dict("records")
    return {entry["label"]: entry for entry in entries if fnmatch(name, entry["figure"])}


def style_of(artist: Artist) -> str:
    """Colour of an artist, and its marker if it has one."""
    if isinstance(artist, Line2D):
        marker = str(artist.get_marker())
        return to_hex(artist.get_color()) + ("" if marker in NO_POINT else f" {marker}")
    colour = artist.get_facecolor() if hasattr(artist, "get_facecolor") else None
    if colour is None or not np.size(colour):
        # the bars of errors, else hollow points
        colour = artist.get_color() if hasattr(artist, "get_color") else artist.get_edgecolor()  # type: ignore[attr-defined]
    return to_hex(np.reshape(np.asarray(colour, float), (-1, 4))[0])


def _points_with_style(figure: Figure, wanted: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Both coordinates of the points, or both sides of the bars, that have a look."""
    colour, _, marker = wanted.partition(" ")
    coordinates = []
    for axes in figure.axes:
        for line in axes.lines:
            of_line = str(line.get_marker())
            if to_hex(line.get_color()) == colour and of_line not in NO_POINT and marker in ("", of_line):
                coordinates.append((np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)))
        bars = [patch for patch in axes.patches if to_hex(patch.get_facecolor()) == colour]
        if bars:
            sides = ([bar.get_width() for bar in bars], [bar.get_height() for bar in bars])
            coordinates.append((np.array(sides[0]), np.array(sides[1])))
    return coordinates


def _values(table: pd.DataFrame, entry: Mapping[str, str]) -> np.ndarray:
    for condition in filter(None, entry["where"].split("; ")):
        column, _, value = condition.partition("=")
        table = table[table[column].astype(str).isin(value.split("|"))]
    return table[entry["value"].split("|")].to_numpy(float).ravel()


def _is_of(points: tuple[np.ndarray, np.ndarray], values: np.ndarray) -> bool:
    """Whether one coordinate of all points is among some values."""
    for side in points:
        finite = side[np.isfinite(side)]
        if len(finite) and np.isclose(finite[:, None], values, rtol=1e-9, atol=0).any(axis=1).all():
            return True
    return False
