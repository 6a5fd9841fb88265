"""Residuals of comparisons at a fit, free of the judges' offsets, and their sums by cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.numbering import numbered
from judgerank.engine.likelihood_rows import Second, row_by_row, times
from judgerank.model.block import Role
from judgerank.model.limits import held
from judgerank.model.members import Model, Parameters


@dataclass(frozen=True)
class Residuals:
    """Comparisons seen from the fit: judge, counted variance and residual of every outcome, counted signal."""

    cells: Comparisons
    judge: IntArray
    variance: FloatArray
    residual: FloatArray
    signal: FloatArray
    offsets: tuple[
        tuple[FloatArray, FloatArray], ...
    ]  # covariance with the outcome, and residual, of b and log nu
    offset_information: tuple[tuple[FloatArray, ...], ...]  # information of those among themselves

    @classmethod
    def at(cls, cells: Comparisons, model: Model, at: Parameters) -> Residuals:
        pooled = not model.judge_blocks
        k = np.zeros(len(cells), np.intp) if pooled else cells.judge.astype(np.intp)
        terms = row_by_row(cells, model, at)
        law, n, second = terms.law, cells.count, Second(terms, observed=False)
        offsets: list[tuple[FloatArray, FloatArray]] = []
        offset_information: list[tuple[FloatArray, ...]] = []
        variance, residual, rows_apart = n * law.variance, terms.residual, terms.rows.apart
        # beside a level that has no chance, the other thresholds are known from each other alone
        still, thresholds = held(model, at)[:, cells.judge], model.blocks[model.offsets]
        for row, block in enumerate(model.blocks[model.offsets], model.n_scale):
            if block.role is Role.OFFSET:
                shared = times(variance, rows_apart)
                offset_information.append((times(shared, rows_apart),))
                offsets.append((shared, times(residual, rows_apart)))
            else:
                moves = np.where(still[row], 0.0, 1.0)
                shared = moves * n * law.with_chance(block.role)
                moments = []
                for second_moment in thresholds[: len(offsets) + 1]:
                    column = rows_apart if second_moment.role is Role.OFFSET else None
                    moments.append(moves * times(second.of(second_moment.role, block.role)[0], column))
                offset_information.append(tuple(moments))
                offsets.append((shared, moves * terms.residual_of(block.role)))
        signal = terms.signal
        if model.further:  # what they add is taken as it is
            signal = terms.rows.differences(at.scores) * (1.0 if terms.g is None else terms.g)
        return cls(cells, k, variance, residual, signal, tuple(offsets), tuple(offset_information))

    def net_results(self, k: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """U_k, shape (K, N), and covariance with and regression on the offsets, both of shape (K, B, N)."""
        n = len(self.cells.models)
        i, j = self.judge * n + self.cells.first, self.judge * n + self.cells.second

        def net(values: FloatArray) -> FloatArray:
            first, second = (np.asarray(np.bincount(end, values, k * n), float) for end in (i, j))
            return (first - second).reshape(k, n)

        results = net(self.residual + self.variance * self.signal)
        if not self.offsets:
            return results, np.zeros((k, 0, n)), np.zeros((k, 0, n))
        cross = np.array([net(shared) for shared, _ in self.offsets]).transpose(1, 0, 2)
        working = [np.bincount(self.judge, r + x * self.signal, k) for x, r in self.offsets]
        slopes = np.linalg.solve(_offset_information(self, k), cross)
        return results - np.einsum("kba,bk->ka", slopes, np.array(working)), cross, slopes


def _offset_information(rows: Residuals, n_judges: int) -> FloatArray:
    """Information of every judge's offsets among themselves, shape (K, B, B); one where there is none."""
    b = len(rows.offsets)
    information = np.zeros((n_judges, b, b))
    for row, values in enumerate(rows.offset_information):
        for column, value in enumerate(values):
            information[:, row, column] = information[:, column, row] = np.bincount(rows.judge, value, n_judges)
    counts = np.bincount(rows.judge, rows.cells.count, n_judges)
    for row in range(b):
        information[information[:, row, row] <= np.finfo(float).eps * counts, row, row] = 1.0
    return information


def residuals_by_cluster(comparisons: Comparisons, model: Model, at: Parameters, cluster: IntArray) -> csr_array:
    """Residuals of raw comparisons by cluster, as `order.equality.NetResults` takes them; shape (Q, K (N + B))."""
    rows = Residuals.at(comparisons, model, at)
    n, k = len(comparisons.models), len(comparisons.judges) if model.judge_blocks else 1
    names, q = numbered(cluster)
    columns = [rows.judge * n + comparisons.first, rows.judge * n + comparisons.second]
    values = [rows.residual, -rows.residual]
    for number, (_, residual) in enumerate(rows.offsets):
        columns.append(k * n + rows.judge * len(rows.offsets) + number)
        values.append(residual)
    coords = (np.tile(q, len(values)), np.concatenate(columns))
    shape = (len(names), k * (n + len(rows.offsets)))
    return coo_array((np.concatenate(values), coords), shape=shape).tocsr()
