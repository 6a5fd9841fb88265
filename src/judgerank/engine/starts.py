"""The likelihood at many points at once, and the distance between their predictions."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from judgerank.data.comparisons import Comparisons
from judgerank.model.members import Model


class Look(NamedTuple):
    """Log-likelihood of every start, shape (S,), and discrimination, signal and probability of a win, (C, S)."""

    fit: np.ndarray
    g: np.ndarray
    signal: np.ndarray
    p: np.ndarray


class Rows:
    """The comparisons with the sums that a climb takes over them; by unordered pair where no order matters.

    Columns of every array are starts: scores have the shape (N, S), a block of the judges (K, S), rows (C, S).
    """

    def __init__(self, cells: Comparisons, model: Model):
        self.n, self.k = n, k = len(cells.models), len(cells.judges)
        # ties are half wins here, and all wins alike: near enough to tell basins apart
        thresholds = {block.name for block in model.blocks if block.role.is_threshold}
        self.blocks = tuple(block for block in model.judge_blocks if block not in thresholds)
        first, second, judge = (column.astype(np.intp) for column in (cells.first, cells.second, cells.judge))
        self.cells, self.count, self.wins = cells, cells.count, cells.count * cells.outcome
        if len(self.blocks) == 1:
            low, high = np.minimum(first, second), np.maximum(first, second)
            key, codes = np.unique((judge * n + low) * n + high, return_inverse=True)
            won = np.where(first < second, cells.outcome, 1 - cells.outcome)
            self.count, self.wins = (
                np.asarray(np.bincount(codes, n * y), float) for n, y in ((cells.count, 1.0), (cells.count, won))
            )
            judge, pair = np.divmod(key, n * n)
            first, second = np.divmod(pair, n)
        self.i, self.j, self.judge = first, second, judge
        rows, ones = np.arange(len(judge)), np.ones(len(judge))
        signs, both = np.r_[ones, -ones], np.r_[rows, rows]
        self._by_model = csr_array((signs, (np.r_[first, second], both)), shape=(n, len(judge)))
        self._by_judge = csr_array((ones, (judge, rows)), shape=(k, len(judge)))
        index = np.r_[judge * n + first, judge * n + second]
        self._by_both = csr_array((signs, (index, both)), shape=(k * n, len(judge)))

    def __len__(self) -> int:
        return len(self.count)

    @cached_property
    def _laplacian(self) -> csr_array:
        """From weights of the rows to the Laplacian, row by row; it takes memory as the square of the models."""
        i, j, n_rows = self.i, self.j, len(self.i)
        index = np.r_[i, i, j, j] * self.n + np.r_[i, j, i, j]
        signs = np.repeat([1.0, -1.0, -1.0, 1.0], n_rows)
        return csr_array((signs, (index, np.tile(np.arange(n_rows), 4))), shape=(self.n**2, n_rows))

    @cached_property
    def shares_of_judge(self) -> csr_array:
        """Those of `shares`."""
        return shares(self.judge, self.count)

    def parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Scores (N, S) and judges' blocks (B, K, S) of stacked parameters."""
        return x[: self.n], x[self.n :].reshape(len(self.blocks), self.k, -1)

    def predictor(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Discrimination, signal and predictor of every row."""
        scores, judges = self.parts(x)
        if "slope" in self.blocks:
            slope = judges[1].take(self.judge, axis=0)
            g = np.exp(judges[0].take(self.judge, axis=0) + slope * self.cells.known_covariate[:, None])
        else:
            g = np.exp(judges[0]).take(self.judge, axis=0)
        signal = g * (scores.take(self.i, axis=0) - scores.take(self.j, axis=0))
        if "position" not in self.blocks:
            return g, signal, signal
        return g, signal, signal + judges[-1].take(self.judge, axis=0)

    def shares(self, signal: np.ndarray) -> list[np.ndarray | float]:
        """Derivative of the predictor in each block."""
        by_block: dict[str, np.ndarray | float] = {"log_discrimination": signal, "position": 1.0}
        if "slope" in self.blocks:
            by_block["slope"] = self.cells.known_covariate[:, None] * signal
        return [by_block[block] for block in self.blocks]

    def look(self, x: np.ndarray) -> Look:
        """Everything about a point that the rows have a part in."""
        g, signal, eta = self.predictor(x)
        q = 1.0 / (1.0 + np.exp(-np.abs(eta)))  # of the likelier outcome
        fit = _total(self.wins, eta) + _total(self.count, np.log(q) - np.maximum(eta, 0.0))
        return Look(fit, g, signal, np.exp(np.minimum(eta, 0.0)) * q)

    def counting(self, factors: np.ndarray) -> Rows:
        """The same rows with every judge's counts times a factor of its own at each start, shape (K, S)."""
        recounted, by_row = copy(self), factors[self.judge]
        recounted.count, recounted.wins = self.count[:, None] * by_row, self.wins[:, None] * by_row
        return recounted

    def laplacian(self, weight: np.ndarray) -> np.ndarray:
        """Of the comparison graph with these weights, shape (S, N, N)."""
        return np.ascontiguousarray((self._laplacian @ weight).T).reshape(-1, self.n, self.n)

    def sparse_laplacian(self, weight: np.ndarray) -> csr_array:
        """The same for the weights of one start, shape (C,), as a sparse matrix of shape (N, N)."""
        ends = self.i, self.j
        values, coords = np.r_[-weight, -weight, weight, weight], (np.r_[*ends, *ends], np.r_[*ends[::-1], *ends])
        return coo_array((values, coords), (self.n, self.n)).tocsr()

    def by_judge(self, values: np.ndarray) -> np.ndarray:
        return self._by_judge @ values

    def by_model(self, values: np.ndarray) -> np.ndarray:
        """Sums over the rows of a model, minus those where it comes second."""
        return self._by_model @ values

    def by_both(self, values: np.ndarray) -> np.ndarray:
        """The same judge by judge, shape (S, K, N)."""
        return (self._by_both @ values).reshape(self.k, self.n, -1).transpose(2, 0, 1)


def _total(count: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums over rows of values by start, shape (S,), with the same counts at all starts, or counts by start."""
    return count @ values if count.ndim == 1 else np.einsum("cs,cs->s", count, values)


def shares(judge: np.ndarray, count: np.ndarray) -> csr_array:
    """Share of its judge's comparisons that every row has, shape (K, C)."""
    total = np.bincount(judge, count)
    return csr_array((count / total[judge], (judge, np.arange(len(judge)))))


def apart(weights: csr_array, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Root mean square difference of probabilities over the rows of the judge of whom it is largest.

    Parameters
    ----------
    weights : sparse float array, shape (K, C)
        Of `shares`.
    one : float array, shape (C, 1)
    others : float array, shape (C, S)

    Returns
    -------
    float array, shape (S,)
    """
    return np.sqrt((weights @ (first - second) ** 2).max(axis=0))
