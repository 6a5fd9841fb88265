"""The paper's Algorithm A.1 on many data sets of the same models and judges at once, read at several stops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from judgerank.data.comparisons import Comparisons
from judgerank.engine.adam import Adam, iterates
from judgerank.model.members import JUDGE_AWARE, Parameters


def read_at(stops: Sequence[int], parts: Sequence[Comparisons]) -> Iterator[tuple[int, Parameters]]:
    """Every stop, in rising order, with the parameters of all sets after so many iterations."""
    constants = [Adam(tolerance=0.0, max_iterations=max(stops))] * len(parts)
    steps, done = iterates(side_by_side(parts), JUDGE_AWARE, constants), 0
    for stop in sorted(stops):
        *_, (_, at, _) = islice(steps, stop - done)
        done = stop
        yield stop, at


def side_by_side(parts: Sequence[Comparisons]) -> Comparisons:
    """Sets of the same models and judges as one set, in which no two share a model or a judge."""
    n, k = len(parts[0].models), len(parts[0].judges)

    def labels(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{number}/{name}" for number in range(len(parts)) for name in names)

    index = {"first": n, "second": n, "judge": k}
    columns = {
        name: np.concatenate([getattr(part, name) + size * number for number, part in enumerate(parts)])
        for name, size in index.items()
    }
    rows = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("outcome", "count")}
    return Comparisons(labels(parts[0].models), labels(parts[0].judges), **columns, **rows)
