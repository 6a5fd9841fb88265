"""Warm start: begin a fit at a fit of fewer comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.rankings import pairs_in
from judgerank.engine.search import is_sure
from judgerank.fits.fitted import Fitted
from judgerank.model.members import Model, Parameters

ROUNDING = 1e-9  # relative, of wins that are sums of products


def beginning(previous: Fitted, cells: Comparisons, model: Model) -> Parameters:
    """Where a climb begins: what was fitted before, by label; new models and judges at the mean of the others.

    Parameters
    ----------
    previous : Fitted
        Of any member of the family: blocks that it lacks begin at zero.
    cells : Comparisons
    model : Model
    """
    at, before = previous.solution.parameters, previous.comparisons
    rows = [np.zeros(len(before.judges))] * len(model.judge_blocks)
    for number, block in enumerate(model.judge_blocks):
        if block in previous.model.judge_blocks:
            rows[number] = at.judges[previous.model.row(block)]
    judges = np.array([_by_label(before.judges, row, cells.judges) for row in rows]).reshape(-1, len(cells.judges))
    return Parameters(_by_label(before.models, at.scores, cells.models), judges)


def _by_label(labels: Sequence[str], values: FloatArray, wanted: Sequence[str]) -> FloatArray:
    """Values by label, those of new labels being the mean of the finite ones."""
    finite = values[np.isfinite(values)]
    mean = float(finite.mean()) if finite.size else 0.0
    by_label = dict(zip(labels, values.tolist(), strict=True))
    return np.array([by_label.get(label, mean) for label in wanted])


def bar(previous: Fitted, cells: Comparisons, model: Model) -> float:
    """Height of the likelihood that no other maximum, of those which a search met before, can be above now.

    Further comparisons lower the log-likelihood at every point, since none has a probability above one. So it is
    the height at which the best other maximum was; infinite if nothing is known: because no search was made, or
    the fit before was of another member or of comparisons that are not all among these.
    """
    same = previous.model == model and not model.weights_vary and previous.converged
    if cells.stages is not None or not same or not contain(cells, previous.comparisons):
        return np.inf
    rival = previous.solution.rival
    if rival is not None:
        return previous.log_likelihood - rival.gap
    return np.inf if is_sure(previous.comparisons, model, previous.solution) else -np.inf


def contain(cells: Comparisons, before: Comparisons) -> bool:
    """Whether aggregated comparisons have at least the wins and losses of others in every cell.

    Of rankings, the wins and losses of every two answers.
    """
    if cells.stages is not None or before.stages is not None:
        cells, before = pairs_in(cells).aggregate(), pairs_in(before).aggregate()
    if not {*before.models} <= {*cells.models} or not {*before.judges} <= {*cells.judges}:
        return False
    index = _positions(before.models, cells.models), _positions(before.judges, cells.judges)
    n, k = len(cells.models), len(cells.judges)

    def key(first: IntArray, second: IntArray, judge: IntArray) -> IntArray:
        return (first.astype(np.int64) * n + second) * k + judge

    keys = key(cells.first, cells.second, cells.judge)
    earlier_keys = key(index[0][before.first], index[0][before.second], index[1][before.judge])
    position = np.minimum(np.searchsorted(keys, earlier_keys), len(keys) - 1)
    if not np.array_equal(keys[position], earlier_keys):
        return False
    for share in (1.0, -1.0):  # wins of the first, and of the second
        least = before.count * (before.outcome if share > 0 else 1 - before.outcome)
        now = (cells.count * (cells.outcome if share > 0 else 1 - cells.outcome))[position]
        if np.any(now < least - ROUNDING * before.count):
            return False
    return True


def _positions(labels: Sequence[str], available: Sequence[str]) -> IntArray:
    index = {label: number for number, label in enumerate(available)}
    return np.array([index[label] for label in labels], np.int64)
