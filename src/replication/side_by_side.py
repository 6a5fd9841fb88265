"""The paper's Algorithm A.1 on many data sets of the same models and judges at once, read at several stops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from judgerank.data.comparisons import Comparisons
from judgerank.engine.adam import Adam, iterates
from judgerank.engine.side_by_side import side_by_side
from judgerank.model.members import JUDGE_AWARE, Parameters


def read_at(stops: Sequence[int], parts: Sequence[Comparisons]) -> Iterator[tuple[int, Parameters]]:
    """Every stop, in rising order, with the parameters of all sets after so many iterations."""
    constants = [Adam(tolerance=0.0, max_iterations=max(stops))] * len(parts)
    steps, done = iterates(side_by_side(parts), JUDGE_AWARE, constants, quick=True), 0
    for stop in sorted(stops):
        *_, (_, parameters, _) = islice(steps, stop - done)
        done = stop
        yield stop, parameters
