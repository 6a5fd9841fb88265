"""Stored tables and figures held against those made anew: cells, data drawn, words and pixels."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import image
from matplotlib.figure import Figure

from judgerank.data.errors import ConfigError
from judgerank.writing.atomic import versions
from judgerank.writing.sidecars import STAGING, digest, written
from replication.freshness import SIDECAR, figures_record, figures_sidecar, listed_figures
from replication.legends import wrong_labels
from replication.plots.drawn import DIGITS, drawn_by, figure_record
from replication.plots.labels import save_figures


@dataclass(frozen=True)
class Tolerance:
    """How far two numbers may be apart: `absolute`, or `relative` to the larger of both."""

    absolute: float
    relative: float

    def of(self, first: float, second: float) -> float:
        """What is allowed between two numbers."""
        return max(self.absolute, self.relative * max(abs(first), abs(second)))


# The one place where tolerances are stated: of text, truth values and whole numbers (counts, ranks, statuses); of
# other numbers; and of those in tables of means over replications, which say how many these were.
TOLERANCES = {
    "exact": Tolerance(0.0, 0.0),
    # maxima are found to a relative gradient of 1e-10, and stored with nine significant digits
    "estimate": Tolerance(1e-6, 1e-6),
    # means inherit that; still below a tenth of any stored coverage's Monte Carlo error
    "monte_carlo": Tolerance(1e-5, 5e-5),
}
LEAST_PYTHON = (3, 11)
REPLICATED = {"n_replications", "n_repeats"}
ANYWAY = {"config.surrogate"}  # a setting that decides whether a section runs, not what it gives
MEASURED = {"seconds"}  # times of the processor, which no run gives again


def kind_of(frame: pd.DataFrame) -> str:
    """The kind of a table's numbers with decimals, a key of `TOLERANCES`."""
    return "monte_carlo" if REPLICATED & set(frame.columns) else "estimate"


@dataclass(frozen=True)
class Difference:
    """One cell, row, column or file that is not as it should be."""

    table: str
    row: str
    column: str
    stored: object
    recomputed: object
    tolerance: float = 0.0

    def __str__(self) -> str:
        cell = f"{self.table}, {self.row}, {self.column}" if self.row else f"{self.table}, {self.column}"
        text = f"{cell}: stored {self.stored}, recomputed {self.recomputed}"
        if self.tolerance:
            distance = abs(float(self.stored) - float(self.recomputed))
            text += f", {distance:.2g} apart where {self.tolerance:.2g} is allowed"
        return text


def compare(name: str, stored: pd.DataFrame, again: pd.DataFrame, part: bool = False) -> list[Difference]:
    """Differences between a stored table and a recomputed one.

    Rows are matched by the names and whole numbers in the first columns that tell them apart, else by position.

    Parameters
    ----------
    name : str
    stored, again : DataFrame
        As read from CSV.
    part : bool
        Only some of the rows were recomputed, and none of the columns that are zero in those.
    """
    if part:
        again = again.assign(**{column: 0.0 for column in stored.columns if column not in again.columns})
        again = again[[*stored.columns, *(column for column in again.columns if column not in stored.columns)]]
    if list(stored.columns) != list(again.columns):
        return [Difference(name, "", "columns", *(", ".join(frame.columns) for frame in (stored, again)))]
    key, kind = _key(stored, part), kind_of(stored)
    # a column with decimals has none where the rows recomputed happen to be whole
    decimals = [column for column in key if pd.api.types.is_float_dtype(stored[column])]
    again = again.astype({column: float for column in decimals if pd.api.types.is_numeric_dtype(again[column])})
    rows, rows_again = (_rows_by_key(frame, key) for frame in (stored, again))
    differences = [
        Difference(name, row_key, "row", "missing", "there") for row_key in rows_again if row_key not in rows
    ]
    if not part:
        differences += [
            Difference(name, row_key, "row", "there", "missing") for row_key in rows if row_key not in rows_again
        ]
    common = [row_key for row_key in rows if row_key in rows_again]
    again_in_order = [row_key for row_key in rows_again if row_key in rows]
    if common != again_in_order:
        first = next(n for n, keys in enumerate(zip(common, again_in_order, strict=True)) if keys[0] != keys[1])
        differences.append(
            Difference(name, f"row {first + 1}", "order of rows", common[first], again_in_order[first])
        )
    return differences + [
        d for row_key in common for d in _row(name, row_key, rows[row_key], rows_again[row_key], kind)
    ]


def _key(frame: pd.DataFrame, part: bool) -> list[str]:
    """The fewest leading columns that tell the rows apart, those with decimals only without a choice."""
    exact_columns = [name for name in frame.columns if not pd.api.types.is_float_dtype(frame[name])]
    for columns in (exact_columns, list(frame.columns) if part else []):
        for n_columns in range(1, len(columns) + 1):
            if not frame.duplicated(columns[:n_columns]).any():
                return columns[:n_columns]
    return []


def _rows_by_key(frame: pd.DataFrame, key: list[str]) -> dict[str, dict]:
    records = frame.to_dict("records")
    if not key:
        return {f"row {number}": record for number, record in enumerate(records, 1)}
    return {", ".join(f"{name}={record[name]}" for name in key): record for record in records}


def _row(name: str, key: str, stored: dict, again: dict, kind: str) -> Iterator[Difference]:
    for column, old_value in stored.items():
        new_value = again[column]
        if old_value == new_value or (pd.isna(old_value) and pd.isna(new_value)) or column in MEASURED:
            continue
        allowed = TOLERANCES["exact"].of(0.0, 0.0)
        if (
            _is_number(old_value)
            and _is_number(new_value)
            and not (_is_integer(old_value) and _is_integer(new_value))
        ):
            allowed = TOLERANCES[kind].of(old_value, new_value)
        if not (allowed and abs(old_value - new_value) <= allowed):
            yield Difference(name, key, column, old_value, new_value, allowed)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))


def _is_integer(value: float) -> bool:
    """A count, not a number with decimals that looks whole because nine digits of it are stored."""
    return isinstance(value, int | np.integer) or (float(value).is_integer() and abs(value) < 1e9)


def unlike_listed(folder: Path, sidecar: str) -> list[Difference]:
    """What in a folder is not as it is listed in its sidecar, which for figures may be one of several folders.

    Files may have been replaced, be missing, or have been added beside those listed.
    """
    name, is_of_figures = folder.name, sidecar == SIDECAR
    home = figures_sidecar(folder).parent if is_of_figures else folder
    if (home / STAGING).exists():
        return [Difference(name, "", STAGING, "left by an interrupted run", "run the section again")]
    try:
        listed = listed_figures(folder) if is_of_figures else written(folder, sidecar)
    except ConfigError as error:
        return [Difference(name, "", sidecar, str(error), "a list of files with digests")]
    if listed is None:
        return [Difference(name, "", sidecar, "missing", "a list of files with digests")]
    differences = []
    for file, listed_digest in listed.items():
        now = digest(folder / file) if (folder / file).is_file() else "missing"
        if now != listed_digest:
            differences.append(Difference(name, "", file, now[:12], listed_digest[:12]))
    present = {path.name for path in folder.iterdir() if path.is_file()}
    differences += [
        Difference(name, "", file, "there", "not listed") for file in sorted(present - listed.keys() - {sidecar})
    ]
    return differences


def unlike_settings(stored: dict, now: dict, *parts: str) -> list[Difference]:
    """What some parts of the record of a run say that is not so now."""
    flat, flat_now = (
        pd.json_normalize({key: run.get(key) for key in parts}).iloc[0].to_dict() for run in (stored, now)
    )
    names = [name for name in dict.fromkeys([*flat, *flat_now]) if name not in ANYWAY]
    both = [(name, *(side.get(name, "nothing") for side in (flat, flat_now))) for name in names]
    return [Difference("run.json", "", name, before, after) for name, before, after in both if before != after]


def unlike_versions(stored: dict[str, str], lock: str, packages: Iterable[str]) -> list[Difference]:
    """Versions in the record of a run that are neither the lock file's for its Python nor the installed ones.

    Parameters
    ----------
    stored : dict
        Of Python and of packages, by name.
    lock : str
        The lock file's text.
    packages : iterable of str
        Those recorded by every run. Of our own package any release up to this one will do.
    """
    installed, python = versions(packages), stored.get("python", "")
    differences = []
    if not re.fullmatch(r"3\.\d+\.\d+", python) or _order(python) < LEAST_PYTHON:
        differences.append(
            Difference("run.json", "", "versions.python", python or "nothing", "Python 3.11 or newer")
        )
    for name in packages:
        now, allowed = stored.get(name, "nothing"), _locked(lock, name, python)
        ours = (
            name == "judgerank" and re.fullmatch(r"\d+\.\d+\.\d+", now) and _order(now) <= _order(installed[name])
        )
        if python == installed["python"]:
            allowed |= {installed[name]}
        if now not in allowed and not ours:
            differences.append(Difference("run.json", "", f"versions.{name}", now, " or ".join(sorted(allowed))))
    return differences


def _locked(lock: str, name: str, python: str) -> set[str]:
    """Versions of a package in a lock file; where they depend on Python's, those for a version of it."""
    entries = rf"^{re.escape(name)}==(\S+)(?: ; python_full_version (<|>=) '([\d.]+)')?"
    tests = {"<": lambda bound: _order(python) < bound, ">=": lambda bound: _order(python) >= bound}
    matches = re.findall(entries, lock, re.MULTILINE)
    return {version for version, test, bound in matches if not test or tests[test](_order(bound))}


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


# Figures compared with what is stored of them: the data and words that they draw, and their pixels.


CLOSE = 1.5 * 10.0 ** (1 - DIGITS)  # relative to the largest sum over the points drawn: one of the last digit
LEVELS = 2 / 255  # by which processors may smooth an edge otherwise


def other_drawers(stored: Path) -> str:
    """In words, by which libraries the pictures in a folder were drawn, if they are not those in use; else empty.

    Other versions of matplotlib and FreeType set every letter and margin otherwise. Measured over this project's
    figures with 3.10.8 and 3.11.2: two names swapped in a picture differ less than the same picture does.
    """
    drawers = [(figures_record(stored) or {}).get("drawn_by") or {}, drawn_by()]
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
        The folder with the pictures.
    """
    differences = [
        Difference(section, name, "legend", wrong, "the numbers of its label")
        for name, figure in drawn.items()
        for wrong in wrong_labels(section, name, figure, tables)
    ]
    with tempfile.TemporaryDirectory(prefix="judgerank-verify-") as name:
        save_figures(drawn, Path(name))
        differences += _unlike_records(section, figures_record(stored) or {}, figure_record(drawn))
        is_comparable = not other_drawers(stored)
        for file in sorted({path.name for folder in (stored, Path(name)) for path in folder.glob("*.png")}):
            stored_file, drawn_file = stored / file, Path(name, file)
            if not (stored_file.is_file() and drawn_file.is_file()):
                both = ("there" if path.is_file() else "missing" for path in (stored_file, drawn_file))
                differences.append(Difference(stored.name, "", file, *both))
            elif is_comparable and (difference := unlike_pixels(stored_file, drawn_file)):
                differences.append(Difference(stored.name, "", file, difference, "as drawn from the tables"))
    return differences


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
