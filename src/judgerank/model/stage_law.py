"""The law of a choice among several answers, and how often one of two answers is placed above the other."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

import numpy as np

from judgerank.data.arrays import FloatArray, exp
from judgerank.data.comparisons import Comparisons
from judgerank.data.stages import Alternatives
from judgerank.model.law import ByThreshold

# The law of a choice among several answers, by rows of two of them (`judgerank.data.stages`).
#
# An answer is chosen with probability p proportional to e^u; the predictor of a row is the difference of its two
# u. So a ranking's stages have the law of Plackett (1975) and Luce (1959), and a stage of two answers has that of
# BTL.
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


# How often one of two answers is placed above the other in a ranking with ties, the others being average.
#
# The choices of such a ranking have the Davidson-Luce model (`judgerank.model.tied_law`). Answers beside the two
# are alike here, so that only their number matters: with r of them left, the probability W_r that the first is
# placed above the second, a tie of both counting half, is
#
#     W_r = P(a set with the first alone) + P(a set with both) / 2 + sum over t of P(a tie of t others) W_{r - t}.
FARTHEST = 300.0  # log propensity of ties beyond which all or none of the answers are ties


def usual_size(comparisons: Comparisons) -> int:
    """Most frequent number of answers in a choice, the larger of equals; two where no answers are in rankings."""
    if comparisons.stages is None:
        return 2
    rows = comparisons.stages.first_rows
    times = np.bincount(comparisons.stages.size[rows], comparisons.choices[rows])
    return int(np.flatnonzero(times >= times.max() * (1 - 1e-9))[-1])


def placed_above(
    first: FloatArray, second: FloatArray, rest: FloatArray, n_rest: int, log_delta: Mapping[int, FloatArray]
) -> FloatArray:
    """P(first above second), a tie of both counting half, float array of the shape that all broadcast to.

    Parameters
    ----------
    first, second, other : float arrays
        Exponents u of the two answers and of every other one.
    others : int
        How many others there are.
    log_delta : mapping of int to float array
        Log propensity of ties by their size.
    """
    delta = {
        1: np.zeros(()),
        **{size: np.clip(log_propensity, -FARTHEST, FARTHEST) for size, log_propensity in log_delta.items()},
    }
    probabilities: list[FloatArray] = []
    for left in range(n_rest + 1):
        top = np.maximum(first, second)
        top = np.maximum(top, rest) if left else top
        u, v, o = first - top, second - top, rest - top
        above = total = np.zeros(())
        for size, log_propensity in delta.items():
            tied_with = o * (size - 1)
            alone = comb(left, size - 1)
            if alone:
                above = above + alone * exp(log_propensity + (u + tied_with) / size)
                total = total + alone * (
                    exp(log_propensity + (u + tied_with) / size) + exp(log_propensity + (v + tied_with) / size)
                )
            if size > 1 and comb(left, size - 2):
                both = comb(left, size - 2) * exp(log_propensity + (u + v + o * (size - 2)) / size)
                above, total = above + both / 2, total + both
            if comb(left, size):
                neither = comb(left, size) * exp(log_propensity + o)
                above, total = above + neither * probabilities[left - size], total + neither
        probabilities.append(np.asarray(above / total, float))
    return probabilities[-1]
