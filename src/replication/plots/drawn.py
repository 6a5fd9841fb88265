"""What a figure draws, as it is recorded beside its picture: data, words and legends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import ft2font
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from replication.legends import legend_styles, style_of

DIGITS = 6  # of the largest sum: fewer than any two processors agree on
NUMERAL = re.compile(r"[-\u2212+]?[\d.,]+%?|\$.*\$")  # tick labels, which another version places elsewhere


def drawn_by() -> dict[str, str]:
    """Versions of the libraries that decide every pixel."""
    return {"matplotlib": mpl.__version__, "freetype": ft2font.__freetype_version__}


def figure_record(figures: Mapping[str, Figure]) -> dict[str, Any]:
    """What ``figures.json`` says of figures that were saved: legends, data drawn, words, and who drew them."""
    return {
        "legends": {name: entries for name, figure in figures.items() if (entries := legend_styles(figure))},
        "data": {name: drawn_data(figure) for name, figure in figures.items()},
        "words": {name: words_digest(figure) for name, figure in figures.items()},
        "drawn_by": drawn_by(),
    }


def drawn_data(figure: Figure) -> dict[str, list[float]]:
    """Number of points and sums over them, by axes, kind of artist and look.

    Returns
    -------
    dict of str to list of float
        Points, the sums of both coordinates, and these sums with weights that rise from 0 to 1 in the order of
        drawing, so that a point moved, or two swapped, change them.
    """
    parts: dict[str, list[np.ndarray]] = {}
    for number, axes in enumerate(figure.axes):
        for kind, points in _artists(axes):
            parts.setdefault(f"{number} {kind}", []).append(points)
    return {key: _sums(np.concatenate(points)) for key, points in parts.items()}


def _artists(axes: Axes) -> Iterator[tuple[str, np.ndarray]]:
    for artist in [*axes.lines, *axes.collections, *axes.patches, *axes.images]:
        points = _points(artist)
        if len(points):
            kind = type(artist).__name__
            yield kind if isinstance(artist, AxesImage) else f"{kind} {style_of(artist)}", points


def _points(artist: Artist) -> np.ndarray:
    """Data that an artist draws, float array, shape (points, 2)."""
    if isinstance(artist, Line2D):
        return np.asarray(artist.get_xydata(), float)
    if isinstance(artist, PathCollection):
        return np.asarray(artist.get_offsets(), float)
    if isinstance(artist, LineCollection):
        return np.concatenate(
            [np.empty((0, 2)), *(np.reshape(segment, (-1, 2)) for segment in artist.get_segments())]
        )
    if isinstance(artist, Patch):
        return np.asarray(artist.get_patch_transform().transform(artist.get_path().vertices), float)
    values = artist.get_array() if isinstance(artist, Collection | AxesImage) else None
    if values is not None:
        numbers = np.ma.filled(np.ma.asarray(values, float), np.nan).ravel()
        return np.column_stack([np.zeros_like(numbers), numbers])
    paths = artist.get_paths() if isinstance(artist, Collection) else []
    return np.concatenate([np.empty((0, 2)), *(path.vertices for path in paths)])


def _sums(points: np.ndarray) -> list[float]:
    seen = points[np.isfinite(points).all(axis=1)]
    weights = np.arange(len(seen)) / max(len(seen) - 1, 1)
    sums = np.array([*seen.sum(axis=0), *(weights @ seen)])
    largest = np.abs(sums).max()
    digits = DIGITS - 1 - int(np.floor(np.log10(largest))) if largest else 0
    return [len(points), *(round(float(value), digits) + 0.0 for value in sums)]


def words_digest(figure: Figure) -> str:
    """Digest of a figure's words in the order of drawing, numerals left out."""
    texts = [text.get_text() for text in figure.findobj(Text) if text.get_visible()]
    words = [text for text in texts if text.strip() and not NUMERAL.fullmatch(text.strip())]
    return sha256("\n".join(words).encode()).hexdigest()[:16]
