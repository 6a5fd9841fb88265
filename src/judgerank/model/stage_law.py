"""The law of a choice among several answers, by rows of two of them (`judgerank.data.stages`).

An answer is chosen with probability p proportional to e^u; the predictor of a row is the difference of its two u.
So a ranking's stages have the law of Plackett (1975) and Luce (1959), and a stage of two answers has that of BTL.
"""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.portable_math import exp
from judgerank.data.stages import Alternatives
from judgerank.model.law import ByThreshold

ZERO: FloatArray = np.zeros(())


class StageLaw(ByThreshold):
    """Law of the rows of stages, given their predictors; with what `judgerank.model.law.Law` has.

    The mean of a row's outcome is 1/2 + (p_a - p_b) / 2. Times its count 2 / m, residuals add up to the gradient
    of the stage, and variances to its information, p_a p_b for every two answers.

    Attributes
    ----------
    mean : float array, shape (T,)
    tie : float array
        Zero, as is all that goes with it: ties are no outcomes, nor is *much better*.
    """

    tie = with_ties = variance_with_ties = ZERO
    strong = with_strong = variance_with_strong = ()

    def __init__(self, eta: FloatArray, answers: Alternatives):
        self._eta, self._answers = eta, answers
        u = np.where(answers.reference, 0.0, -eta[answers.row])
        top = answers.largest(u)
        e = exp(u - answers.of_stage(top))
        total = answers.sums(e)
        self._p = e / answers.of_stage(total)
        # log of the sum of exponentials, less the mean of the exponents
        self._log_sum = np.log(total) + top - answers.sums(u) / answers.size
        self.mean: FloatArray = 0.5 + 0.5 * (self._p[answers.first] - self._p[answers.second])

    def log_likelihood(self, y: FloatArray, tied: FloatArray | None, *strong: FloatArray) -> FloatArray:
        """Per comparison; times counts, it adds up to the stage's log-likelihood."""
        per_row = self._log_sum / (self._answers.size - 1)
        return np.asarray((y - 0.5) * self._eta - per_row[self._answers.stage], float)

    @property
    def variance(self) -> FloatArray:
        """p_a p_b m / 2: what each two answers add to the information of a stage, over the count of one choice."""
        return np.asarray(self._p[self._answers.first] * self._p[self._answers.second] * self._answers.half_size)

    def slopes_of_variance(self, weight: FloatArray) -> FloatArray:
        """Derivative of the sum of weights times variances in the predictors, shared out over the rows."""
        a, weighted = self._answers, weight * self.variance
        ends = (np.bincount(end, weighted, len(self._p)) for end in (a.first, a.second))
        by_answer = np.asarray(sum(ends), float)
        by_answer = by_answer - self._p * a.of_stage(a.sums(by_answer))  # which sum to twice the stage's
        return np.asarray((by_answer[a.first] - by_answer[a.second]) / a.size[a.stage])
