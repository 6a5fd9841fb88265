"""Paths into cells that hold objects or lists: ``data.model_id``, ``states[0].model_name``, ``answers[*].rank``.

``[*]`` is every item of a list, and makes a row of each; lists that are read together are equally long.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.reading.layouts.table import Table, values

STEP = re.compile(r"\.([^.\[\]]+)|\[(\*|-?\d+)\]")
PLACE_IN_LIST = "place in list"  # a column beside those of lists, from zero
EACH = None  # the step to every item of a list
Steps = tuple[str | int | None, ...]
Index = tuple[int, ...]  # places in the lists on the way


def is_path(name: str) -> bool:
    """Whether a name of a column is written as a path."""
    return "." in name or "[" in name


def split_path(path: str, columns: Collection[object]) -> tuple[str, Steps] | None:
    """The column that a path begins in, the longest that there is, and the steps from there."""
    for end in sorted({match.start() for match in re.finditer(r"[.\[]", path)}, reverse=True):
        steps, rest = list(STEP.finditer(path, end)), path[end:]
        if path[:end] in columns and "".join(step[0] for step in steps) == rest:
            return path[:end], tuple(
                step[1] if step[1] else EACH if step[2] == "*" else int(step[2]) for step in steps
            )
    return None


def _items(value: Any, steps: Steps, index: Index = ()) -> Iterator[tuple[Index, object]]:
    """The values at a path, by the places in the lists on the way; None where there is none."""
    for depth, step in enumerate(steps):
        if isinstance(value, str) and value[:1] in ("{", "["):  # JSON in a cell of CSV
            try:
                value = json.loads(value)
            except ValueError:
                value = None
        is_list = isinstance(value, list | tuple | np.ndarray)
        if step is EACH:
            for place, item in enumerate(value if is_list else ()):
                yield from _items(item, steps[depth + 1 :], (*index, place))
            return
        if isinstance(step, int):
            value = value[step] if is_list and -len(value) <= step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    yield index, None if isinstance(value, float) and np.isnan(value) else value


def has_path(frame: pd.DataFrame, path: str) -> bool:
    """Whether a column has that name, or the first of its cells that has a value has one at that path."""
    if path in frame.columns:
        return True
    found = split_path(path, frame.columns)
    if found is None:
        return False
    cells = (cell for cell in values(frame, found[0]).tolist() if cell is not None)
    return any(value is not None for cell in list(cells)[:50] for _, value in _items(cell, found[1]))


def with_paths(table: Table, paths: Iterable[str]) -> Table:
    """The table with a column for every path that leads somewhere, and a row for each item of its lists.

    Raises
    ------
    DataError
        If two lists of one record do not have the same number of items.
    """
    frame = table.frame
    wanted = [path for path in dict.fromkeys(paths) if path not in frame.columns and is_path(path)]
    found = {path: at for path in wanted if (at := split_path(path, frame.columns)) is not None}
    if not found:
        return table
    cells = {path: values(frame, column).tolist() for path, (column, _) in found.items()}
    depth = max(steps.count(EACH) for _, steps in found.values())
    rows, numbers, read = [], [], {path: list[object]() for path in found}
    for row in range(len(frame)):
        items = {path: dict(_items(cells[path][row], steps)) for path, (_, steps) in found.items()}
        deepest = {path: items[path].keys() for path, (_, steps) in found.items() if steps.count(EACH) == depth}
        places = sorted(set().union(*deepest.values()))
        short = next((path for path, keys in deepest.items() if len(keys) < len(places) and keys), None)
        if short is not None:
            longest = max(deepest, key=lambda path: len(deepest[path]))
            raise DataError(
                f"record {row + 1} has {len(deepest[short])} values in {short!r} and {len(places)} in {longest!r}"
            )
        for place in places:
            rows.append(row)
            numbers.append(place[-1] if place else 0)
            for path, (_, steps) in found.items():
                read[path].append(items[path].get(place[: steps.count(EACH)]))
    made = {path: pd.Series(column, dtype=object) for path, column in read.items()}
    if depth:
        made[PLACE_IN_LIST] = pd.Series(numbers, dtype=object)
    expanded = frame.iloc[rows].reset_index(drop=True) if depth else frame.reset_index(drop=True)
    return replace(table, frame=expanded.assign(**made))
