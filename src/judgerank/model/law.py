"""The law of one answer: the first model, the second, perhaps a tie, and perhaps how much better.

    P(level c) proportional to exp(c eta + tau_|c|),   c = -1/2, 1/2;  -1/2, 0, 1/2;  -1, -1/2, 0, 1/2, 1

Two levels are the model of Bradley and Terry, three that of Davidson (1970) with nu = e^tau_0, and five adjacent
categories (Agresti, 1992). tau_1/2 is zero; e^tau_1 is the propensity to say *much better*. Given |c| an answer is
decided by eta alone, so the law is a mixture over |c| of laws of two levels.

A. Agresti (1992), Analysis of ordinal paired comparison data, Applied Statistics 41.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from judgerank.data.arrays import FloatArray
from judgerank.data.elementary import exp

OUTCOMES = np.array([-0.5, 0.0, 0.5, 1.0, 1.5])  # of the five levels


def share_preferred(levels: FloatArray) -> FloatArray:
    """Probability that the first model is better, or much better, a tie being half, by levels on the last axis."""
    return np.asarray(levels[..., 3] + levels[..., 4] + levels[..., 2] / 2)


class Law:
    """Law of an outcome y = c + 1/2: 1 and 0 for a win of either, 1/2 for a tie, 3/2 and -1/2 if much better.

    Parameters
    ----------
    eta : float array
        Predictor.
    nu : float array, optional
        Tie propensity; none where ties are no outcome.
    log_strong : float array, optional
        Logarithm of the propensity to say much better; none where that is no outcome.

    Attributes
    ----------
    mean : float array
        Of y.
    tie, strong : float array
        Probability of a tie, and of *much better* for either; zero, without a shape, where they are no outcome.
    """

    def __init__(self, eta: FloatArray, nu: FloatArray | None, log_strong: FloatArray | None = None):
        # in units of the likelier win's probability, lest any overflow
        self._eta, self._nu, self._e = eta, nu, exp(-np.abs(eta))
        ties = None if nu is None else nu * np.sqrt(self._e)
        self._others = self._e if ties is None else self._e + ties
        self._q = 1.0 / (1.0 + self._others)
        self.tie: FloatArray = np.zeros(()) if ties is None else ties * self._q
        self.mean: FloatArray = np.where(eta >= 0, self._q, self._e * self._q)
        if ties is not None:
            self.mean += 0.5 * self.tie
        self.strong: FloatArray = np.zeros(())
        self._log_strong = log_strong
        if log_strong is not None:
            self._mix(log_strong)

    def _mix(self, log_strong: FloatArray) -> None:
        """Make the law of the weaker levels part of the whole one."""
        square = self._e * self._e
        # log odds of a strong answer against any weaker one
        self._lead = log_strong + 0.5 * np.abs(self._eta) + np.log1p(square) - np.log1p(self._others)
        small = exp(-np.abs(self._lead))
        self.strong = np.where(self._lead >= 0, 1.0, small) / (1.0 + small)
        self._weak = np.where(self._lead >= 0, small, 1.0) / (1.0 + small)
        self.tie = self.tie * self._weak
        self._sign = np.sign(self._eta) * (1.0 - square) / (1.0 + square)  # mean of c where |c| is one
        self.mean = self._weak * self.mean + self.strong * (0.5 + self._sign)

    def log_likelihood(
        self, y: FloatArray, tied: FloatArray | None, strong: FloatArray | None = None
    ) -> FloatArray:
        """Per comparison, for a mean outcome and the shares of ties and of strong answers."""
        value = y * self._eta
        value -= np.maximum(self._eta, 0.0)
        value -= np.log1p(self._others)
        if self._log_strong is not None and strong is not None:
            value -= np.logaddexp(0.0, self._lead)
            value += np.where(strong > 0, strong * np.where(strong > 0, self._log_strong, 0.0), 0.0)
        return value if self._nu is None else value + xlogy(tied, self._nu)

    @property
    def share(self) -> FloatArray:
        """Probability that the first model is better, or much better, a tie being half."""
        if self._log_strong is None:
            return self.mean
        return share_preferred(self.levels)

    @property
    def variance(self) -> FloatArray:
        """Of y; also the derivative of its mean in eta."""
        if self._log_strong is not None:
            return self._moment(2)
        decided = self._e * self._q * self._q
        return decided if self._nu is None else decided + 0.25 * self.tie * self._q * (1.0 + self._e)

    @property
    def with_ties(self) -> FloatArray:
        """Covariance of y and a tie; also the derivative of the mean in log nu."""
        return self.tie * (0.5 - self.mean)

    @property
    def with_strong(self) -> FloatArray:
        """Covariance of y and a strong answer; also the derivative of the mean in its log propensity."""
        return self.strong * (0.5 + self._sign - self.mean)

    @property
    def skewness(self) -> FloatArray:
        """Third central moment of y; also the derivative of its variance in eta."""
        if self._log_strong is not None:
            return self._moment(3)
        win, loss, m = self.mean - self.tie / 2, 1 - self.mean - self.tie / 2, self.mean
        return np.asarray(win * (1 - m) ** 3 + self.tie * (0.5 - m) ** 3 - loss * m**3)

    def slopes_of_variance(self, weight: FloatArray) -> FloatArray:
        """Derivative of the sum of weights times variances in each eta."""
        return weight * self.skewness

    @property
    def variance_with_ties(self) -> FloatArray:
        """Derivative of the variance of y in log nu."""
        return np.asarray(self.tie * ((0.5 - self.mean) ** 2 - self.variance))

    @property
    def variance_with_strong(self) -> FloatArray:
        """Derivative of the variance of y in the log propensity of strong answers."""
        away = self.mean - 0.5
        return np.asarray(self.strong * (1.0 - 2.0 * away * self._sign + away**2 - self.variance))

    @property
    def levels(self) -> FloatArray:
        """Probability of each level from c = -1 to 1, on the last axis.

        Three of them where strength is no outcome.
        """
        decided = self._q * (1.0 if self._log_strong is None else self._weak)
        win, loss = (
            np.where(self._eta >= 0, 1.0, self._e) * decided,
            np.where(self._eta >= 0, self._e, 1.0) * decided,
        )
        weaker = [loss, np.broadcast_to(self.tie, win.shape), win]
        if self._log_strong is None:
            return np.stack(weaker, axis=-1)
        square = self._e * self._e
        likelier, other = self.strong / (1.0 + square), self.strong * square / (1.0 + square)
        up = self._eta >= 0
        return np.stack([np.where(up, other, likelier), *weaker, np.where(up, likelier, other)], axis=-1)

    def _moment(self, power: int) -> FloatArray:
        """Central moment of y."""
        return np.asarray((self.levels * (OUTCOMES - self.mean[..., None]) ** power).sum(axis=-1))


class ByOdds(Law):
    """The law of three levels from x = e^{eta / 2}, in units of the second's win: quicker, where x^2 is finite.

    Parameters
    ----------
    x : float array
    nu : float array
        Tie propensity.

    Attributes
    ----------
    total : float array
        Odds of all levels together, of which the second's win is one.
    """

    def __init__(self, x: FloatArray, nu: FloatArray):
        self._nu, self._e, self._log_strong = nu, x * x, None
        ties = nu * x
        self.total = self._e + ties
        self.total += 1.0
        self._q = 1.0 / self.total
        self.tie = np.multiply(ties, self._q, out=ties)
        self.mean = self._e * self._q
        self.mean += 0.5 * self.tie
        self.strong = np.zeros(())
