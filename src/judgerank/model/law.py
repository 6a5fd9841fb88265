"""The law of one answer: the first model, the second, or, where it is an outcome, a tie."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from judgerank.data.arrays import FloatArray
from judgerank.data.elementary import exp


class Law:
    """Law of an outcome y in {1, 1/2, 0}, given the predictor and, where ties are an outcome, their propensity.

    Attributes
    ----------
    mean : float array
        Of y.
    tie : float array
        Probability of a tie; zero, without a shape, where ties are no outcome.
    """

    def __init__(self, eta: FloatArray, nu: FloatArray | None):
        # in units of the likelier win's probability, lest any overflow
        self._eta, self._nu, self._e = eta, nu, exp(-np.abs(eta))
        ties = None if nu is None else nu * np.sqrt(self._e)
        self._others = self._e if ties is None else self._e + ties
        self._q = 1.0 / (1.0 + self._others)
        self.tie: FloatArray = np.zeros(()) if ties is None else ties * self._q
        self.mean: FloatArray = np.where(eta >= 0, self._q, self._e * self._q)
        if ties is not None:
            self.mean += 0.5 * self.tie

    def log_likelihood(self, y: FloatArray, tied: FloatArray | None) -> FloatArray:
        """Per comparison, for a mean outcome and a share tied."""
        value = y * self._eta
        value -= np.maximum(self._eta, 0.0)
        value -= np.log1p(self._others)
        return value if self._nu is None else value + xlogy(tied, self._nu)

    @property
    def variance(self) -> FloatArray:
        """Of y; also the derivative of its mean in eta."""
        decided = self._e * self._q * self._q
        return decided if self._nu is None else decided + 0.25 * self.tie * self._q * (1.0 + self._e)

    @property
    def with_ties(self) -> FloatArray:
        """Covariance of y and a tie; also the derivative of the mean in log nu."""
        return self.tie * (0.5 - self.mean)

    @property
    def skewness(self) -> FloatArray:
        """Third central moment of y; also the derivative of its variance in eta."""
        win, loss, m = self.mean - self.tie / 2, 1 - self.mean - self.tie / 2, self.mean
        return np.asarray(win * (1 - m) ** 3 + self.tie * (0.5 - m) ** 3 - loss * m**3)

    def slopes_of_variance(self, weight: FloatArray) -> FloatArray:
        """Derivative of the sum of weights times variances in each eta."""
        return weight * self.skewness

    @property
    def variance_with_ties(self) -> FloatArray:
        """Derivative of the variance of y in log nu."""
        return np.asarray(self.tie * ((0.5 - self.mean) ** 2 - self.variance))
