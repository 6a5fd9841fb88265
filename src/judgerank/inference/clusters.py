"""Gradients by cluster, their sum of squares, and what few clusters leave out of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, generator, numbered, sizes
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.data.listing import counted
from judgerank.engine.likelihood import Second, in_parts, row_by_row, row_derivatives, times
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import held

AT_ONCE = 1 << 21  # numbers in a matrix of gradients by cluster
JUDGMENT, RANKING = "judgment", "ranking"  # units of sampling that are no column's name


@dataclass(frozen=True, eq=False)
class Clusters:
    """The units that were sampled, within which comparisons may depend on each other.

    Attributes
    ----------
    names : tuple of str
        Of the unit, such as `QUESTION` or a column of the file; two where units are crossed.
    labels : tuple of int array, shape (T,)
        Number of each comparison's unit, for each name; none of single judgments.
    """

    names: tuple[str, ...]
    labels: tuple[IntArray, ...] = ()

    @property
    def are_judgments(self) -> bool:
        """Whether each judgment is a unit of its own."""
        return not self.labels

    @property
    def are_crossed(self) -> bool:
        """Whether there are two kinds of units."""
        return len(self.labels) > 1


def crossing(first: IntArray, second: IntArray) -> IntArray:
    """Number of each comparison's pair of units, shape (T,)."""
    (_, a), (names, b) = numbered(first), numbered(second)
    return np.asarray(a * len(names) + b)


def two_way(first: FloatArray, second: FloatArray, both: FloatArray, scale: FloatArray) -> FloatArray:
    """Sum of squares that allows for dependence within either of two crossed clusters, positive semidefinite.

    A + B - AB (Cameron, Gelbach and Miller, 2011): what is shared within both is in A and in B, and counts once.
    Eigenvalues below zero, which few clusters can give, are taken as zero.

    Parameters
    ----------
    first, second, both : float array, shape (D, D)
        Sums of squares by the first clusters, by the second, and by pairs of them.
    scale : float array, shape (D,)
        Size of each parameter's information: eigenvalues are of the matrix in units of its root.
    """
    root = np.sqrt(np.maximum(scale, np.finfo(float).tiny))
    values, vectors = np.linalg.eigh((first + second - both) / np.outer(root, root))
    if values[0] >= 0:
        return first + second - both
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T * np.outer(root, root))


def cluster_gradients(
    comparisons: Comparisons, model: Model, parameters: Parameters, cluster: IntArray
) -> FloatArray:
    """Gradient of each cluster's log-likelihood in (s, judges' blocks, further blocks), shape (Q, N + B K + P).

    Raises
    ------
    DataError
        If there is not one cluster for each row, or there are fewer than two.
    """
    names, cluster = numbered(cluster)
    q = len(names)
    if len(cluster) != len(comparisons) or q < 2:
        raise DataError(
            f"{counted(len(comparisons), 'comparison')} in {counted(q, 'cluster')}: that many labels and two "
            "clusters are needed"
        )
    n, still = len(parameters.scores), held(model, parameters)
    still[: model.free_rows.start] = True
    gradients = np.zeros((q, n + parameters.judges.size + len(parameters.common)))
    for rows, terms in in_parts(comparisons, model, parameters):
        row_gradients = row_derivatives(terms, terms.row_scores)
        np.add.at(
            gradients.reshape(-1),
            cluster[rows][row_gradients.row] * gradients.shape[1] + row_gradients.col,
            row_gradients.data,
        )
    gradients[:, n : n + parameters.judges.size][:, still.ravel()] = 0.0
    return gradients


def squares_by_cluster(
    comparisons: Comparisons, model: Model, parameters: Parameters, cluster: IntArray, chosen: BoolArray
) -> tuple[FloatArray, int]:
    """Sum of u u' over the clusters' gradients u in the chosen parameters, shape (D, D), and how many clusters.

    Raises
    ------
    DataError
        As of `cluster_gradients`.
    """
    names, number = numbered(cluster)
    parts = min(-(-len(names) * len(chosen) // AT_ONCE), len(names) // 2)
    ends = np.linspace(0, len(names), max(parts, 1) + 1).astype(np.intp)[1:-1]
    order = np.argsort(number, kind="stable") if len(ends) else np.arange(len(number))
    squares = np.zeros((int(chosen.sum()),) * 2)
    for rows in np.split(order, np.searchsorted(number[order], ends)):
        part = comparisons if len(rows) == len(order) else comparisons._rows(rows)
        gradients = cluster_gradients(part, model, parameters, number[rows])[:, chosen]
        squares += gradients.T @ gradients
    return squares, len(names)


def drawn_clusters(cluster: IntArray, most: int | None) -> tuple[int | None, IntArray | None]:
    """Number of clusters, and the rows of those that stand for all; None twice where none are left out.

    Parameters
    ----------
    cluster : int array, shape (T,)
    most : int, optional
        How many are drawn at most.
    """
    if most is None or cluster.max(initial=-1) < most:
        return None, None
    labels = np.flatnonzero(np.bincount(cluster))
    if len(labels) <= most:
        return None, None
    drawn = np.zeros(int(labels[-1]) + 1, bool)
    drawn[generator(0, "errors", "clusters").choice(labels, most, replace=False)] = True
    return len(labels), np.flatnonzero(drawn[cluster])


def single_judgments(comparisons: Comparisons, most: int | None) -> tuple[int | None, Comparisons]:
    """Comparisons written out, a row for each, as many at most; and of how many, None where none are left out.

    A row that stands for several like judgments is as many rows. Rankings are not judgments of single rows, and
    are given as clusters.
    """
    times = np.rint(comparisons.count).astype(np.intp)
    total = int(times.sum())
    if most is not None and total > most:
        drawn = np.sort(generator(0, "errors", "clusters").choice(total, most, replace=False))
        rows = np.searchsorted(np.cumsum(times), drawn, side="right")
    elif total == len(times):
        return None, comparisons
    else:
        rows = np.repeat(np.arange(len(times)), times)
    return (total if len(rows) < total else None), comparisons._rows(rows, count=np.ones(len(rows)))


def effective_number(cluster: IntArray, count: FloatArray) -> float:
    """How many clusters of equal size tell as much of a variance: (sum n)^2 / sum n^2, n being their sizes.

    A sandwich sums one square for each cluster. Where few clusters have most comparisons, the sum is as uncertain
    as one of few squares (Satterthwaite's degrees of freedom; Carter, Schnepel and Steigerwald, 2017). Clusters of
    equal size count in full.

    Parameters
    ----------
    cluster : int array, shape (T,)
    count : float array, shape (T,)
        Comparisons in every row.
    """
    compared = np.asarray(sizes(cluster, count), float)
    return float(effective_of(compared.sum(), compared @ compared))


def effective_of(total: FloatArray, squares: FloatArray) -> FloatArray:
    """The same from the sum of the sizes and that of their squares; rounded, so that equal sizes count exactly.

    Zero where there are no sizes.
    """
    effective = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
    return np.asarray(effective.round(9), float)


def information_by_cluster(
    comparisons: Comparisons, model: Model, parameters: Parameters, cluster: IntArray
) -> csr_array:
    """Information of every cluster in every model's score, the other scores known; sparse, shape (Q, N)."""
    names, number = numbered(cluster)
    information = np.empty(len(comparisons))
    for rows, terms in in_parts(comparisons, model, parameters):
        information[rows] = terms.of_scores
    coords = np.r_[number, number], np.r_[comparisons.first, comparisons.second]
    return coo_array((np.r_[information, information], coords), (len(names), len(parameters.scores))).tocsr()


def sums_and_products(information: csr_array) -> tuple[FloatArray, FloatArray]:
    """Sums over clusters of the models' information, shape (N,), and of its products, shape (N, N)."""
    return np.asarray(information.sum(axis=0), float), (information.T @ information).toarray()


def effective_by_pair(sums: FloatArray, products: FloatArray, prior: FloatArray | float) -> FloatArray:
    """Effective number of clusters behind each difference of scores, and, on the diagonal, each score; (N, N).

    With w_qi the information of cluster q in the score of model i, p_i that of a penalty, d_i = sum_q w_qi + p_i,
    the score's variance is about 1 / d_i, of which the cluster adds w_qi / d_i^2. A difference of two scores has
    the variances of both, and the parts of their sum are counted as in `effective_number`. What a penalty adds is
    known without clusters, so that its square is left out.
    """
    variance = np.divide(1.0, sums + prior, out=np.zeros_like(sums), where=sums + prior > 0)
    squares = products * np.outer(variance**2, variance**2)
    diagonal = np.diag(squares)
    return effective_of(np.add.outer(variance, variance), np.add.outer(diagonal, diagonal) + 2 * squares)


def for_few_clusters(
    meat: FloatArray, info: FloatArray, inverse: FloatArray, n_clusters: int, dispersion: float = 1.0
) -> FloatArray:
    """What few clusters leave out of their gradients' sum of squares (Morel, Bokossa and Neerchal, 2003).

    The information I times min(1/2, p / (Q - p)) max(phi, tr(B M) / p), p = tr(B I) being the number of parameters
    that the data decide.

    Parameters
    ----------
    meat, info, inverse : float array, shape (D, D)
        M; I, of the comparisons alone; B, the inverse of the whole information.
    n_clusters : int
        Q.
    dispersion : float
        phi, M over I where comparisons are independent.
    """
    p = float(np.sum(inverse * info))
    return few_clusters_share(p, n_clusters) * max(dispersion, float(np.sum(inverse * meat)) / p) * info


def few_clusters_share(n_parameters: float, n_clusters: float) -> float:
    """min(1/2, p / (Q - p)), the share of the information that `for_few_clusters` adds."""
    left = n_clusters - n_parameters
    return min(0.5, n_parameters / left) if left > 0 else 0.5


# Standard errors by leaving out groups of rows, one after the other.


def jackknife(without: FloatArray, axis: int) -> FloatArray:
    """Standard errors of statistics, from their values without each group, along an axis; NaN of one group."""
    n_left_out = without.shape[axis]
    mean = without.mean(axis=axis, keepdims=True)
    squares = ((without - mean) ** 2).sum(axis=axis)
    return (
        np.asarray(np.sqrt((n_left_out - 1) / n_left_out * squares))
        if n_left_out > 1
        else np.full(squares.shape, np.nan)
    )


def sum_and_without(values: FloatArray, group: IntArray, n_groups: int) -> FloatArray:
    """Sum of values, and the sums without each group, shape (1 + G,)."""
    return np.asarray(values.sum() - np.r_[0.0, np.bincount(group, values, n_groups)])


# Residuals of comparisons at a fit, free of the judges' offsets, and their sums by cluster.


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
    def of(cls, cells: Comparisons, model: Model, parameters: Parameters) -> Residuals:
        pooled = not model.judge_blocks
        k = np.zeros(len(cells), np.intp) if pooled else cells.judge.astype(np.intp)
        terms = row_by_row(cells, model, parameters)
        law, n, second = terms.law, cells.count, Second(terms, observed=False)
        offsets: list[tuple[FloatArray, FloatArray]] = []
        offset_information: list[tuple[FloatArray, ...]] = []
        variance, residual, rows_apart = n * law.variance, terms.residual, terms.rows.apart
        # beside a level that has no chance, the other thresholds are known from each other alone
        still, thresholds = held(model, parameters)[:, cells.judge], model.blocks[model.offsets]
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
            signal = terms.rows.differences(parameters.scores) * (1.0 if terms.g is None else terms.g)
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


def residuals_by_cluster(
    comparisons: Comparisons, model: Model, parameters: Parameters, cluster: IntArray
) -> csr_array:
    """Residuals of raw comparisons by cluster, as `order.equality.NetResults` takes them; shape (Q, K (N + B))."""
    rows = Residuals.of(comparisons, model, parameters)
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
