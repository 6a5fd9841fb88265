"""Differences of scores by their sizes: least squares of models and tasks, and tests of every pair of models.

A cell is one judge's scores of all models in one run of a task. In cell c

    x_ic = s_i + b_c + error,

with cells weighted so that every task counts once: its judges by the same weight, and the runs of a judge. Models
without a score in a cell are missing there.

Tasks are what was sampled, or the clusters of them that are given. The covariance of the s_i is the jackknife's,

    (Q - 1) / Q sum_q (s_(-q) - s) (s_(-q) - s)',    s_(-q) - s = -(L - L_q)^+ u_q,

L_q and u_q being what cluster q adds to the normal equations and to the residuals (R. M. Bell and D. F.
McCaffrey, 2002, Bias reduction in standard errors for linear regression with multi-stage samples, Survey
Methodology 28). Degrees of freedom are Satterthwaite's, from how the tasks share in the variance of a difference.
In a table without missing cells a pair's test is the paired t-test of the tasks' means.

Where the two models' scores differ by one size only, as with right and wrong, the pair's test is exact: the sign
test of the tasks on which they differ (Q. McNemar, 1947, Note on the sampling error of the difference between
correlated proportions or percentages, Psychometrika 12).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import bdtr, ndtri

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, numbered

ROUNDING = 1e-9  # relative, of scores and their differences
RELATIVE = 1e-12  # of means of equal scores, over the largest


@dataclass(frozen=True)
class Gaps:
    """Differences of two models' scores in a cell.

    Attributes
    ----------
    first, second : int array, shape (R,)
        Models.
    gap : float array, shape (R,)
        Score of the first less that of the second.
    task, judge, run : int array, shape (R,)
        What was scored by whom; `run` tells several scores of the same apart.
    cluster : int array, shape (R,)
        What was sampled behind each task; the task itself by default.
    """

    first: IntArray
    second: IntArray
    gap: FloatArray
    task: IntArray
    judge: IntArray
    run: IntArray
    cluster: IntArray


@dataclass(frozen=True, repr=False)
class ScoreSizes:
    """Mean differences of scores, their errors, and exact tests where these apply.

    Attributes
    ----------
    scores : float array, shape (N,)
        Sum zero.
    covariance : float array, shape (N, N)
        Of the scores, by the clusters of tasks.
    degrees : float array, shape (N, N)
        Degrees of freedom of the errors of differences, and, on the diagonal, of scores.
    leads : float array, shape (N, N)
        Standard normal statistics with the p-values of the exact tests, positive where the first did better.
    exact : bool array, shape (N, N)
        Pairs whose scores differ by one size only, so that these tests replace the t-tests.
    n_tasks, n_clusters : int
    by_cluster : float array, shape (Q, N), optional
        Sums of the scores of every cluster, less those of all models, where no cell is missing.
    is_in_units : bool
        Whether scores are in the units of the file, and not shares of each judge's scale.
    unit : float
        By how much the scores are multiplied to be on another scale than that of the gaps.
    """

    scores: FloatArray
    covariance: FloatArray
    degrees: FloatArray
    leads: FloatArray
    exact: BoolArray
    n_tasks: int
    n_clusters: int
    by_cluster: FloatArray | None = None
    is_in_units: bool = True
    unit: float = 1.0

    def __repr__(self) -> str:
        return f"<ScoreSizes of {len(self.scores)} models, {self.n_tasks} tasks>"

    @property
    def errors(self) -> FloatArray:
        """Standard errors of the differences of scores, shape (N, N)."""
        variances = np.diag(self.covariance)
        return np.sqrt(np.maximum(variances[:, None] + variances[None, :] - 2 * self.covariance, 0.0))


def score_sizes(gaps: Gaps, n_models: int) -> ScoreSizes | None:
    """Scores of the models from their differences, with tests of every pair.

    None where the sizes do not give an error for every difference: in less than two clusters of tasks, where some
    cell lacks the difference of two of its models, or where a model is linked to the others by one cluster alone.
    """
    cells = _Cells.of(gaps, n_models)
    if cells is None or cells.n_clusters < 2:
        return None
    laplacian, score_sum = cells.normal_equations()
    if not _is_connected(laplacian):
        return None
    inverse = _pseudoinverse(laplacian)
    scores = _rounded(inverse @ score_sum)
    jackknife = _jackknife(cells, laplacian, inverse, scores)
    if jackknife is None:
        return None
    covariance, degrees = jackknife
    leads, exact = exact_tests(gaps, n_models)
    counts = cells.n_tasks, cells.n_clusters, cells.sums_if_complete()
    return ScoreSizes(scores, covariance, degrees, leads, exact, *counts)


@dataclass(frozen=True)
class _Cells:
    """Scores by cell, less the mean of the cell.

    Attributes
    ----------
    centred : float array, shape (C, N)
        Zero of a model that is missing.
    present : bool array, shape (C, N)
    weight : float array, shape (C,)
        Of which every task has one in all.
    cluster : int array, shape (C,)
    n_tasks, n_clusters : int
    """

    centred: FloatArray
    present: BoolArray
    weight: FloatArray
    cluster: IntArray
    n_tasks: int
    n_clusters: int

    @classmethod
    def of(cls, gaps: Gaps, n: int) -> _Cells | None:
        """None where a cell lacks the difference of two of its models."""
        tasks, task = numbered(gaps.task)
        judged = numbered(task * (int(gaps.judge.max(initial=0)) + 1) + gaps.judge)[1]
        cell = numbered(judged * (int(gaps.run.max(initial=0)) + 1) + gaps.run)[1]
        n_cells = int(cell.max(initial=-1)) + 1
        centred, times = np.zeros((n_cells, n)), np.zeros((n_cells, n))
        for model, sign in ((gaps.first, 1.0), (gaps.second, -1.0)):
            np.add.at(centred, (cell, model), sign * gaps.gap)
            np.add.at(times, (cell, model), 1.0)
        present = times > 0
        size = present.sum(axis=1)
        pairs, place = numbered(
            (cell * n + np.minimum(gaps.first, gaps.second)) * n + np.maximum(gaps.first, gaps.second)
        )
        n_pairs, copies = np.bincount(pairs // n**2), np.bincount(place)
        of_cell = np.empty(n_cells, np.intp)  # how often a cell was read
        of_cell[pairs // n**2] = copies
        if not (
            np.array_equal(n_pairs, size * (size - 1) // 2) and np.array_equal(copies, of_cell[pairs // n**2])
        ):
            return None
        centred /= (size * of_cell)[:, None]
        judged_of, task_of, cluster_of = (np.empty(n_cells, np.intp) for _ in range(3))
        judged_of[cell], task_of[cell], cluster_of[cell] = judged, task, numbered(gaps.cluster)[1]
        n_runs = np.bincount(judged_of)
        task_of_judged = np.empty(len(n_runs), np.intp)
        task_of_judged[judged_of] = task_of
        weight = 1 / (n_runs[judged_of] * np.bincount(task_of_judged)[task_of])
        return cls(centred, present, weight, cluster_of, len(tasks), int(cluster_of.max()) + 1)

    def normal_equations(self) -> tuple[FloatArray, FloatArray]:
        """Matrix, shape (N, N), and right side, shape (N,)."""
        return self._laplacian(self.present, self.weight), self.weight @ self.centred

    @staticmethod
    def _laplacian(present: BoolArray, weight: FloatArray) -> FloatArray:
        shares = present * (weight / present.sum(axis=1))[:, None]
        return np.asarray(np.diag(weight @ present) - shares.T @ present)

    def residuals(self, scores: FloatArray) -> FloatArray:
        """What every cluster adds to the normal equations at given scores, shape (Q, N)."""
        means = (self.present @ scores) / self.present.sum(axis=1)
        left = self.centred - self.present * (scores - means[:, None])
        summed = np.zeros((self.n_clusters, len(scores)))
        np.add.at(summed, self.cluster, self.weight[:, None] * left)
        return summed

    def sums_if_complete(self) -> FloatArray | None:
        """Sums of the centred scores of every cluster; None where a model is missing somewhere."""
        return self.residuals(np.zeros(self.present.shape[1])) if self.present.all() else None

    def alike(self) -> list[tuple[IntArray, FloatArray]]:
        """Clusters with the same cells and weights: their numbers, and what each adds to the matrix."""
        order = np.argsort(self.cluster, kind="stable")
        starts = np.searchsorted(self.cluster[order], np.arange(self.n_clusters + 1))
        by_design = dict[bytes, list[int]]()
        rows = [order[start:end] for start, end in pairwise(starts)]
        for number, of_cluster in enumerate(rows):
            design = np.c_[self.present[of_cluster], self.weight[of_cluster]]
            by_design.setdefault(design[np.lexsort(design.T)].tobytes(), []).append(number)
        return [
            (np.array(numbers), self._laplacian(self.present[rows[numbers[0]]], self.weight[rows[numbers[0]]]))
            for numbers in by_design.values()
        ]


def _rounded(scores: FloatArray) -> FloatArray:
    """Scores without the last digits, by which models of the same mean would differ."""
    step = RELATIVE * float(np.abs(scores).max(initial=0.0))
    return np.asarray(np.rint(scores / step) * step if step > 0 else scores)


def _jackknife(
    cells: _Cells, laplacian: FloatArray, inverse: FloatArray, scores: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Covariance of the scores, and degrees of freedom of differences; None if a cluster alone links some."""
    n, n_clusters = len(scores), cells.n_clusters
    residuals = cells.residuals(scores)
    covariance, total, squares = (np.zeros((n, n)) for _ in range(3))
    for numbers, of_one in cells.alike():
        if not _is_connected(laplacian - of_one):
            return None
        moved = residuals[numbers] @ _pseudoinverse(laplacian - of_one)
        covariance += moved.T @ moved
        share = _of_differences(inverse @ of_one @ inverse)
        total += len(numbers) * share
        squares += len(numbers) * share**2
    effective = np.divide(total**2, squares, out=np.full((n, n), float(n_clusters)), where=squares > 0)
    return (n_clusters - 1) / n_clusters * covariance, np.clip(effective, 2.0, n_clusters) - 1


def _of_differences(covariance: FloatArray) -> FloatArray:
    """Variances of differences, and, on the diagonal, of the scores; shape (N, N)."""
    variances = np.diag(covariance)
    spread = variances[:, None] + variances[None, :] - 2 * covariance
    return np.asarray(np.where(np.eye(len(variances), dtype=bool), variances, spread))


def _is_connected(laplacian: FloatArray) -> bool:
    links = np.abs(laplacian) > ROUNDING * np.abs(laplacian).max(initial=0.0)
    return bool(connected_components(links, directed=False)[0] == 1)


def _pseudoinverse(laplacian: FloatArray) -> FloatArray:
    """Inverse on the scores whose sum is zero, of a connected design."""
    n = len(laplacian)
    middle = np.full((n, n), 1 / n)
    size = np.trace(laplacian) / n
    return np.asarray(np.linalg.inv(laplacian + size * middle) - middle / size)


def exact_tests(gaps: Gaps, n_models: int) -> tuple[FloatArray, BoolArray]:
    """Sign tests of the pairs whose scores differ by one size only: statistics, and which pairs these are.

    Of tasks sampled in clusters there are none.
    """
    leads, exact = np.zeros((n_models, n_models)), np.zeros((n_models, n_models), bool)
    if len(numbered(gaps.task)[0]) != len(numbered(gaps.cluster)[0]):
        return leads, exact
    sign = np.where(gaps.first < gaps.second, 1.0, -1.0)
    pair = np.minimum(gaps.first, gaps.second) * n_models + np.maximum(gaps.first, gaps.second)
    of_pair, task_means = _means_by_task(gaps, pair, sign * gaps.gap)
    sizes = np.abs(task_means)
    largest, smallest = np.zeros(n_models**2), np.full(n_models**2, np.inf)
    np.maximum.at(largest, of_pair, sizes)
    is_different = sizes > ROUNDING
    np.minimum.at(smallest, of_pair[is_different], sizes[is_different])
    wins, losses = (
        np.bincount(of_pair[side * task_means > ROUNDING], minlength=n_models**2) for side in (1.0, -1.0)
    )
    n_tasks = np.bincount(of_pair, minlength=n_models**2)
    is_exact = (n_tasks > 0) & (largest - np.where(wins + losses > 0, smallest, 0.0) <= ROUNDING)
    i, j = np.divmod(np.flatnonzero(is_exact), n_models)
    better, worse = (counts.reshape(n_models, n_models)[i, j] for counts in (wins, losses))
    p = np.minimum(1.0, 2 * bdtr(np.minimum(better, worse), better + worse, 0.5))
    exact[i, j] = exact[j, i] = True
    leads[i, j] = np.sign(better - worse) * -ndtri(p / 2)
    return leads - leads.T, exact


def _means_by_task(gaps: Gaps, pair: IntArray, gap: FloatArray) -> tuple[IntArray, FloatArray]:
    """The pair of every task and pair, and the mean of its judges' mean differences."""
    task = numbered(gaps.task)[1]
    keys, of_task = numbered(pair * (int(task.max(initial=0)) + 1) + task)
    _, of_judge = numbered(of_task * (int(gaps.judge.max(initial=0)) + 1) + gaps.judge)
    by_judge = np.bincount(of_judge, gap) / np.bincount(of_judge)
    task_of_judge = np.empty(len(by_judge), np.intp)
    task_of_judge[of_judge] = of_task
    means = np.bincount(task_of_judge, by_judge) / np.bincount(task_of_judge)
    return np.asarray(keys // (int(task.max(initial=0)) + 1)), means
