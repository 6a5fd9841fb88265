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
from replication.table_differences import Difference

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
    versions = (
        ", ".join(f"{name} {version}" for name, version in packages.items()) or "unknown" for packages in drawers
    )
    return "drawn by {}, here {}".format(*versions)


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
    differences = [
        Difference(section, name, "legend", wrong, "the numbers of its label")
        for name, figure in drawn.items()
        for wrong in wrong_labels(section, name, figure, tables)
    ]
    with tempfile.TemporaryDirectory(prefix="judgerank-verify-") as name:
        save_figures(drawn, Path(name))
        differences += _unlike_records(section, _record(stored), figure_record(drawn))
        is_comparable = not other_drawers(stored)
        for file in sorted({path.name for folder in (stored, Path(name)) for path in folder.glob("*.png")}):
            stored_file, drawn_file = stored / file, Path(name, file)
            if not (stored_file.is_file() and drawn_file.is_file()):
                both = ("there" if path.is_file() else "missing" for path in (stored_file, drawn_file))
                differences.append(Difference(stored.name, "", file, *both))
            elif is_comparable and (difference := unlike_pixels(stored_file, drawn_file)):
                differences.append(Difference(stored.name, "", file, difference, "as drawn from the tables"))
    return differences


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
        stored_data, drawn_data = before.get(name, {}), now["data"].get(name, {})
        for key in sorted(stored_data.keys() | drawn_data.keys()):
            if not _is_close(stored_data.get(key), drawn_data.get(key)):
                yield Difference(section, name, f"data of {key}", stored_data.get(key), drawn_data.get(key))


def _is_close(stored: list[float] | None, drawn: list[float] | None) -> bool:
    if stored is None or drawn is None:
        return False
    return stored[0] == drawn[0] and np.allclose(stored, drawn, rtol=0, atol=CLOSE * max(map(abs, drawn[1:])))


def unlike_pixels(stored: Path, drawn: Path) -> str:
    """How a stored picture differs from one that the same libraries drew; empty if it shows the same."""
    try:
        stored_pixels, drawn_pixels = (image.imread(path) for path in (stored, drawn))
    except (OSError, SyntaxError, ValueError) as error:
        return f"no picture ({error})"
    if stored_pixels.shape != drawn_pixels.shape:
        return (
            f"{stored_pixels.shape[1]} by {stored_pixels.shape[0]} pixels for {drawn_pixels.shape[1]} by "
            f"{drawn_pixels.shape[0]}"
        )
    far = np.abs(stored_pixels - drawn_pixels).max(axis=2) > LEVELS
    if not far.any():
        return ""
    rows, columns = (np.flatnonzero(far.any(axis=axis)) for axis in (1, 0))
    return f"{far.sum():,} pixels differ, from {columns[0]}, {rows[0]} to {columns[-1]}, {rows[-1]}"
