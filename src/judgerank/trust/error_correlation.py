"""Correlated errors of judges: residual correlations on items that two judges both answered.

An item is a question with two models. The residual of an answer is what it is above its probability, over its
standard deviation, signed so that the same model gains whichever was shown first.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array, csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError
from judgerank.fits.result import Fit
from judgerank.inference.residuals import Residuals

GROUPS = 100  # of whole questions, left out one after the other for the errors


@dataclass(frozen=True, eq=False)
class Together:
    """Sums over shared items.

    Attributes
    ----------
    products, squares, items : float array, shape (G, K, K)
        By group of questions and two judges k, l: sums of e_k e_l and of e_k^2, and how many items both answered.
    """

    products: FloatArray
    squares: FloatArray
    items: FloatArray

    @property
    def shared(self) -> IntArray:
        """Items that two judges both answered, shape (K, K)."""
        return self.items.sum(axis=0).astype(int)

    def without(self, group: int) -> Together:
        """All groups but one, as one group."""

        def rest(values: FloatArray) -> FloatArray:
            return (values.sum(axis=0) - values[group])[None]

        return Together(rest(self.products), rest(self.squares), rest(self.items))

    def correlations(self) -> tuple[FloatArray, float]:
        """Residual correlations of all judges, drawn toward their mean, shape (K, K), and that mean.

        A correlation r on n items has an error of about (1 - r^2) / sqrt(n). What correlations differ by beyond
        that is the spread of the true ones, and each is drawn toward the mean by as much as it is uncertain
        beside that (empirical Bayes). Two judges without shared items are given the mean.

        Raises
        ------
        DataError
            If no two judges share an item, or none departs from the fit there.
        """
        products, squares, n = (values.sum(axis=0) for values in (self.products, self.squares, self.items))
        first, second = np.triu_indices(len(n), 1)
        scale = np.sqrt(squares * squares.T)
        is_estimable = (n[first, second] > 0) & (scale[first, second] > 0)
        if not n[first, second].any():
            raise DataError("no question with the same two models was answered by two judges")
        if not is_estimable.any():
            raise DataError("judges never depart from the scores on questions that two of them answered")
        first, second = first[is_estimable], second[is_estimable]
        mean = min(1.0, float(products[first, second].sum() / scale[first, second].sum()))
        raw, size = products[first, second] / scale[first, second], n[first, second]
        noise = (1 - mean**2) ** 2 / size
        spread = max(0.0, float(np.average((raw - mean) ** 2 - noise, weights=size)))
        correlation = np.full(n.shape, mean)
        reliability = spread / np.maximum(spread + noise, np.finfo(float).tiny)
        correlation[first, second] = correlation[second, first] = mean + (raw - mean) * reliability
        np.fill_diagonal(correlation, 1.0)
        return correlation, mean


def groups_of(question: IntArray) -> IntArray:
    """Group of every row's question, shape (T,)."""
    _, number = np.unique(question, return_inverse=True)
    return np.asarray(number % min(GROUPS, int(number.max()) + 1))


def together(fitted: Fit, comparisons: Comparisons, question: IntArray) -> Together:
    """Residuals of every two judges on the items both answered.

    Parameters
    ----------
    fitted : Fit
    comparisons : Comparisons
        The raw rows behind the fit. Of several answers of a judge to an item, in either order, the mean counts.
    question : int array, shape (T,)

    Raises
    ------
    DataError
        If these are not the comparisons that were fitted, or questions are not as many.
    """
    c = fitted.model.observed(comparisons)
    fitted.require_fitted(c.models, c.judges, c.n_comparisons)
    if len(question) != len(c):
        raise DataError(f"{len(c)} comparisons and {len(question)} questions: one question each is needed")
    rows = Residuals.at(c, fitted.model, fitted.solution.parameters)
    spread = np.sqrt(np.maximum(rows.variance * c.count, np.finfo(float).tiny))
    residual = np.where(c.first < c.second, 1.0, -1.0) * rows.residual / spread
    n, k = len(c.models), len(c.judges)
    of_row = groups_of(question)
    _, question = np.unique(question, return_inverse=True)
    _, first, item = np.unique(question * n**2 + c.pair, return_index=True, return_inverse=True)
    e = _mean_by(item, c.judge, residual, (len(first), k))
    group = of_row[first]
    shared_items = np.flatnonzero(np.diff(e.indptr) > 1)
    shared_items = shared_items[np.argsort(group[shared_items], kind="stable")]
    e, ends = e[shared_items], np.searchsorted(group[shared_items], np.arange(int(group.max()) + 2))
    products, squares, items = np.zeros((3, len(ends) - 1, k, k))
    for number, (start, end) in enumerate(pairwise(ends)):
        part = e[start:end]
        values, answered = part.toarray(), np.zeros((end - start, k))
        answered[np.repeat(np.arange(end - start), np.diff(part.indptr)), part.indices] = 1.0
        products[number], squares[number] = values.T @ values, (values**2).T @ answered
        items[number] = answered.T @ answered
    return Together(products, squares, items)


def _mean_by(item: IntArray, judge: IntArray, values: FloatArray, shape: tuple[int, int]) -> csr_array:
    total = coo_array((values, (item, judge)), shape=shape).tocsr()
    times = coo_array((np.ones(len(values)), (item, judge)), shape=shape).tocsr()
    total.data = total.data / times.data  # the same places in the same order
    return total
