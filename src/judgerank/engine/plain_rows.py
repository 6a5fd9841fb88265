"""Gradient of the unweighted and the judge-aware model, laid out for thousands of passes over the same rows.

With eta = g (s_i - s_j), a row of n comparisons and mean outcome y has the residual

    n (y - sigmoid(eta)) = n (y - 1/2) - (n / 2) tanh(eta / 2),

so what an iteration computes of a row is one hyperbolic tangent. A pair shown either way round is one row, as are
the judges of a pair whose discriminations are equal. `engine.sums` has the gradient of every other model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import FloatArray, IntArray, exp, tanh
from judgerank.data.comparisons import Comparisons
from judgerank.model.members import BTL, JUDGE_AWARE, Model, Parameters


def is_plain(cells: Comparisons, model: Model) -> bool:
    """Whether `PlainRows` has the gradient of a model of these comparisons."""
    return model in (BTL, JUDGE_AWARE) and cells.stages is None


class PlainRows:
    """Comparisons, raw or aggregated, by judge and unordered pair.

    Parameters
    ----------
    cells : Comparisons
    weighs_judges : bool
        Whether judges have discriminations.
    """

    def __init__(self, cells: Comparisons, weighs_judges: bool) -> None:
        n, first, second = len(cells.models), cells.first.astype(np.int64), cells.second.astype(np.int64)
        low, high = np.minimum(first, second), np.maximum(first, second)
        judge = cells.judge.astype(np.int64) if weighs_judges else 0
        rows, row = np.unique((judge * n + low) * n + high, return_inverse=True)
        surplus = cells.count * (cells.outcome - 0.5) * np.where(first < second, 1.0, -1.0)
        self._surplus = np.bincount(row, surplus, len(rows))  # n (y - 1/2), y the outcome for the lower index
        self._half = np.bincount(row, cells.count, len(rows)) / 2
        self._judge, pair = np.divmod(rows, n * n)
        pairs = pair
        self._pair: IntArray | None = None  # of every row; without judges, rows are pairs
        if weighs_judges:
            pairs, self._pair = np.unique(pair, return_inverse=True)
        self._low, self._high = np.divmod(pairs, n)
        ends, places = np.concatenate(np.divmod(pair, n)), np.tile(np.arange(len(rows)), 2)
        signs = np.repeat([1.0, -1.0], len(rows))
        self._by_model = csr_array((signs, (ends, places)), shape=(n, len(rows)))
        self._n_judges = len(cells.judges) if weighs_judges else 0
        self._first_rows = np.flatnonzero(np.diff(self._judge, prepend=-1))  # of every judge who has any
        self._half_signal, self._g, self._residual = np.empty((3, len(rows)))

    def gradient(self, parameters: Parameters) -> FloatArray:
        """In the scores and, where judges have discriminations, in their logarithms, shape (N + K,) or (N,)."""
        half_signal, residual = self._half_signal, self._residual
        half_difference = (parameters.scores.take(self._low) - parameters.scores.take(self._high)) * 0.5
        if self._pair is None:
            half_signal = half_difference
        else:
            np.take(half_difference, self._pair, out=half_signal, mode="wrap")  # other modes copy, or are slower
            np.take(exp(parameters.judges[0]), self._judge, out=self._g, mode="wrap")
            half_signal *= self._g
        tanh(half_signal, out=residual)
        residual *= self._half
        np.subtract(self._surplus, residual, out=residual)
        if not self._n_judges:
            return np.asarray(self._by_model @ residual)
        by_judge = np.zeros(self._n_judges)
        half_signal *= residual
        by_judge[self._judge[self._first_rows]] = 2.0 * np.add.reduceat(half_signal, self._first_rows)
        residual *= self._g
        return np.concatenate([self._by_model @ residual, by_judge])


# Several sets of comparisons as one, so that a pass over all of them costs little more than one over each.


def side_by_side(parts: Sequence[Comparisons]) -> Comparisons:
    """Sets with equally many models and judges as one set, in which no two share a model or a judge."""
    n, k = len(parts[0].models), len(parts[0].judges)

    def labels(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(f"{number}/{name}" for number in range(len(parts)) for name in names)

    return Comparisons(
        labels(parts[0].models),
        labels(parts[0].judges),
        first=np.concatenate([part.first + n * number for number, part in enumerate(parts)]),
        second=np.concatenate([part.second + n * number for number, part in enumerate(parts)]),
        judge=np.concatenate([part.judge + k * number for number, part in enumerate(parts)]),
        outcome=np.concatenate([part.outcome for part in parts]),
        count=np.concatenate([part.count for part in parts]),
    )
