"""Figures compared with what is stored of them: the data and words that they draw, and their pixels."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import image
from matplotlib.figure import Figure

from replication.legends import wrong_labels
from replication.plots.drawn import DIGITS, drawn_by, figure_record
from replication.plots.labels import save_figures
from replication.verifying import Difference

SIDECAR = "figures.json"
CLOSE = 1.5 * 10.0 ** (1 - DIGITS)  # relative to the largest sum over the points drawn: one of the last digit
LEVELS = 2 / 255  # by which processors may smooth an edge otherwise


def other_drawers(stored: Path) -> str:
    """In words, by which libraries the pictures in a folder were drawn, if they are not those in use; else empty.

    Other versions of matplotlib and FreeType set every letter and margin otherwise. Measured over this project's
    figures with 3.10.8 and 3.11.2: two names swapped in a picture differ less than the same picture does.
    """
    drawers = [_record(stored).get("drawn_by") or {}, drawn_by()]
    if drawers[0] == drawers[1]:
        return ""
    shown = (", ".join(f"{name} {version}" for name, version in one.items()) or "unknown" for one in drawers)
    return "drawn by {}, here {}".format(*shown)


def unlike_figures(
    section: str, drawn: Mapping[str, Figure], tables: Mapping[str, pd.DataFrame], stored: Path
) -> list[Difference]:
    """Differences between figures drawn from the stored tables and what is stored of them.

    Pixels are compared where the same libraries drew both, see `other_drawers`.

    Parameters
    ----------
    section : str
    drawn : mapping of str to Figure
    tables : mapping of str to DataFrame
        The section's stored tables, by name.
    stored : Path
        The folder with the pictures and their sidecar.
    """
    found = [
        Difference(section, name, "legend", wrong, "the numbers of its label")
        for name, figure in drawn.items()
        for wrong in wrong_labels(section, name, figure, tables)
    ]
    with tempfile.TemporaryDirectory(prefix="judgerank-verify-") as name:
        save_figures(drawn, Path(name))
        found += _unlike_records(section, _record(stored), figure_record(drawn))
        is_comparable = not other_drawers(stored)
        for file in sorted({path.name for folder in (stored, Path(name)) for path in folder.glob("*.png")}):
            one, other = stored / file, Path(name, file)
            if not (one.is_file() and other.is_file()):
                both = ("there" if path.is_file() else "missing" for path in (one, other))
                found.append(Difference(stored.name, "", file, *both))
            elif is_comparable and (shown := unlike_pixels(one, other)):
                found.append(Difference(stored.name, "", file, shown, "as drawn from the tables"))
    return found


def _record(stored: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((stored / SIDECAR).read_text())
    return record


def _unlike_records(section: str, stored: dict[str, Any], now: dict[str, Any]) -> Iterator[Difference]:
    for part in sorted(now.keys() - stored.keys()):
        yield Difference(section, SIDECAR, part, "missing", "there")
    stored = now | stored
    for part in ("legends", "words"):
        before = stored[part]
        for name in sorted(before.keys() | now[part].keys()):
            if before.get(name) != now[part].get(name):
                yield Difference(section, name, part, before.get(name), now[part].get(name))
    before = stored["data"]
    for name in sorted(before.keys() | now["data"].keys()):
        one, other = before.get(name, {}), now["data"].get(name, {})
        for key in sorted(one.keys() | other.keys()):
            if not _is_close(one.get(key), other.get(key)):
                yield Difference(section, name, f"data of {key}", one.get(key), other.get(key))


def _is_close(one: list[float] | None, other: list[float] | None) -> bool:
    if one is None or other is None:
        return False
    return one[0] == other[0] and np.allclose(one, other, rtol=0, atol=CLOSE * max(map(abs, other[1:])))


def unlike_pixels(stored: Path, drawn: Path) -> str:
    """How a stored picture differs from one that the same libraries drew; empty if it shows the same."""
    try:
        one, other = (image.imread(path) for path in (stored, drawn))
    except (OSError, SyntaxError, ValueError) as error:
        return f"no picture ({error})"
    if one.shape != other.shape:
        return f"{one.shape[1]} by {one.shape[0]} pixels for {other.shape[1]} by {other.shape[0]}"
    far = np.abs(one - other).max(axis=2) > LEVELS
    if not far.any():
        return ""
    rows, columns = (np.flatnonzero(far.any(axis=axis)) for axis in (1, 0))
    return f"{far.sum():,} pixels differ, from {columns[0]}, {rows[0]} to {columns[-1]}, {rows[-1]}"
