"""Influence of each judgment on a difference of scores: one Newton step without it.

With B the inverse of the observed information and u_t the gradient of judgment t, the estimates without t are
about theta - B u_t, so that a difference c'theta falls by the effect c'B u_t of t (Cook, 1977; Broderick, Giordano
and Meager, arXiv 2011.14999, for sets of many).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.likelihood_rows import row_by_row
from judgerank.engine.row_derivatives import row_derivatives
from judgerank.fits.result import Fit


class Influence:
    """Effects of rows of comparisons on differences of scores, near a fit of these rows.

    Parameters
    ----------
    fitted : Fit
    comparisons : Comparisons
        The raw rows behind the fit, with the fit's models and judges; ties known where they are an outcome.

    Raises
    ------
    NoIntervalError
        If the fit has no information matrix that can be inverted.
    """

    def __init__(self, fitted: Fit, comparisons: Comparisons) -> None:
        self._cells = comparisons
        self._chosen, self._inverse = fitted.chosen, fitted._inverse("observed")
        self._here = row_by_row(comparisons, fitted.model, fitted.solution.parameters)

    @cached_property
    def _by_row(self) -> tuple[csr_array, csr_array]:
        """Derivatives of the predictor and of the log-likelihood of every row in all parameters."""
        terms, ones = self._here, np.ones(len(self._cells))
        of_predictor = row_derivatives(terms, lambda role: terms.through_predictor(role, ones))
        return of_predictor.tocsr(), row_derivatives(terms, terms.told).tocsr()

    def on_difference(self, i: int, j: int) -> tuple[FloatArray, FloatArray, float]:
        """On s_i - s_j.

        Returns
        -------
        effect : float array, shape (T,)
            By how much the difference falls when all judgments of a row are left out.
        known : float array, shape (T,)
            The row's share in the variance's rise, c'B I_t B c.
        variance : float
            c'B c.
        """
        c = np.zeros(len(self._inverse))
        c[i], c[j] = 1.0, -1.0
        v = np.zeros(len(self._chosen))
        v[self._chosen] = self._inverse @ c
        slope, effect = (derivatives @ v for derivatives in self._by_row)
        return effect, self._cells.count * self._here.law.variance * slope**2, float(c @ self._inverse @ c)
