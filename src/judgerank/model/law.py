"""The law of one answer: the first model, the second, perhaps a tie, and perhaps how much better.

    P(level c) proportional to exp(c eta + tau_|c|),   |c| = 1/2, 1, 3/2, ... and perhaps 0

Two levels are the model of Bradley and Terry, three that of Davidson (1970) with nu = e^tau_0, and any more are
adjacent categories (Agresti, 1992). tau_1/2 is zero; e^tau_1 is the propensity to say *much better*, and so on by
strength. An even number of levels is an odd one whose ties have no chance. Given |c| an answer is decided by eta
alone, so the law is a mixture over |c| of laws of two levels.

A. Agresti (1992), Analysis of ordinal paired comparison data, Applied Statistics 41.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import comb

import numpy as np
from scipy.special import xlogy

from judgerank.data.arrays import FloatArray, IntArray, exp
from judgerank.data.comparisons import Comparisons
from judgerank.data.stages import Alternatives
from judgerank.model.block import Role


def outcomes(strong: int) -> FloatArray:
    """The outcomes y = c + 1/2 of all levels, from the best for the second model, shape (3 + 2 strong,).

    Parameters
    ----------
    strong : int
        How many strengths there are beyond better.
    """
    return np.arange(-1 - strong, 2 + strong) / 2 + 0.5


def share_preferred(levels: FloatArray) -> FloatArray:
    """Probability that the first model is better, however much, a tie being half, by levels on the last axis."""
    tie = levels.shape[-1] // 2
    better = levels[..., tie + 1]
    for stronger in range(tie + 2, levels.shape[-1]):
        better = better + levels[..., stronger]
    return np.asarray(better + levels[..., tie] / 2)


class ByThreshold:
    """What a law knows of the sizes |c| of its levels, by the role of their thresholds."""

    tie: FloatArray
    strong: tuple[FloatArray, ...]
    with_ties: FloatArray
    with_strong: tuple[FloatArray, ...]
    variance_with_ties: FloatArray
    variance_with_strong: tuple[FloatArray, ...]

    def chance(self, role: Role) -> FloatArray:
        """Probability of a level of that size; its derivative in its own threshold is p (1 - p)."""
        return self.tie if role is Role.TIE else self.strong[role.strength]

    def with_chance(self, role: Role) -> FloatArray:
        """Covariance of the outcome and such a level; also the derivative of the mean in the threshold."""
        return self.with_ties if role is Role.TIE else self.with_strong[role.strength]


class Law(ByThreshold):
    """Law of an outcome y = c + 1/2: 1 and 0 for a win of either, 1/2 for a tie, beyond where it is much better.

    Parameters
    ----------
    eta : float array
        Predictor.
    nu : float array, optional
        Tie propensity; none where ties are no outcome.
    log_strong : float arrays
        Logarithms of the propensities to the strengths beyond better, one array each, the weakest first.

    Attributes
    ----------
    mean : float array
        Of y.
    tie : float array
        Probability of a tie; zero, without a shape, where it is no outcome.
    strong : tuple of float arrays
        Probability of each strength beyond better for either model.
    """

    def __init__(self, eta: FloatArray, nu: FloatArray | None, *log_strong: FloatArray):
        # in units of the likelier win's probability, lest any overflow
        self._eta, self._nu, self._e = eta, nu, exp(-np.abs(eta))
        ties = None if nu is None else nu * np.sqrt(self._e)
        self._others = self._e if ties is None else self._e + ties
        self._q = 1.0 / (1.0 + self._others)
        self.tie = np.zeros(()) if ties is None else ties * self._q
        self.mean: FloatArray = np.where(eta >= 0, self._q, self._e * self._q)
        if ties is not None:
            self.mean += 0.5 * self.tie
        self.strong = ()
        self._log_strong = log_strong
        self._leads: list[FloatArray] = []
        self._signs: list[FloatArray] = []  # mean of c for each strength, in units of its size
        self._powers: list[FloatArray] = []
        self._weak: FloatArray | None = None
        if log_strong:
            self._total = self._log_total  # log of all weaker levels
        for strength, log_propensity in enumerate(log_strong):
            self._mix(1.0 + strength / 2, log_propensity)

    @cached_property
    def _log_total(self) -> FloatArray:
        """Log of the levels without strengths, in units of the likelier win's probability."""
        return np.log1p(self._others)

    def _mix(self, size: float, log_strong: FloatArray) -> None:
        """Make the law of the weaker levels part of the whole one."""
        power = self._e * self._e
        for _ in range(round(2 * size) - 2):
            power = power * self._e
        # log odds of an answer of this strength against any weaker one
        lead = log_strong + (size - 0.5) * np.abs(self._eta) + np.log1p(power) - self._total
        small = exp(-np.abs(lead))
        strong_share = np.where(lead >= 0, 1.0, small) / (1.0 + small)
        weak = np.where(lead >= 0, small, 1.0) / (1.0 + small)
        sign = np.sign(self._eta) * (1.0 - power) / (1.0 + power)
        self.tie = self.tie * weak
        self.strong = (*(share * weak for share in self.strong), strong_share)
        self._weak = weak if self._weak is None else self._weak * weak
        self.mean = weak * self.mean + strong_share * (0.5 + size * sign)
        self._total = self._total + np.logaddexp(0.0, lead)
        self._leads.append(lead)
        self._signs.append(sign)
        self._powers.append(power)

    def log_likelihood(self, y: FloatArray, tied: FloatArray | None, *strong: FloatArray) -> FloatArray:
        """Per comparison, for a mean outcome and the shares of ties and of each strength beyond better."""
        value = y * self._eta
        value -= np.maximum(self._eta, 0.0)
        value -= self._log_total
        for lead, threshold, share in zip(self._leads, self._log_strong, strong, strict=False):
            value -= np.logaddexp(0.0, lead)
            value += np.where(share > 0, share * np.where(share > 0, threshold, 0.0), 0.0)
        return value if self._nu is None else value + xlogy(tied, self._nu)

    @property
    def share(self) -> FloatArray:
        """Probability that the first model is better, however much, a tie being half."""
        return share_preferred(self.levels) if self._log_strong else self.mean

    @property
    def variance(self) -> FloatArray:
        """Of y; also the derivative of its mean in eta."""
        if self._log_strong:
            return self._moment(2)
        decided = self._e * self._q * self._q
        return decided if self._nu is None else decided + 0.25 * self.tie * self._q * (1.0 + self._e)

    @property
    def with_ties(self) -> FloatArray:  # type: ignore[override]
        """Covariance of y and a tie; also the derivative of the mean in log nu."""
        return self.tie * (0.5 - self.mean)

    @property
    def with_strong(self) -> tuple[FloatArray, ...]:  # type: ignore[override]
        """Covariance of y and each strength; also the derivative of the mean in its log propensity."""
        return tuple(p * (0.5 + m * sign - self.mean) for m, p, sign in self._by_strength)

    @property
    def skewness(self) -> FloatArray:
        """Third central moment of y; also the derivative of its variance in eta."""
        if self._log_strong:
            return self._moment(3)
        variance, m = self.variance, self.mean
        if self._nu is not None:  # y^3 = (3 y^2 - y) / 2 for 0, 1/2 and 1
            variance = 1.5 * variance - 0.5 * m * (1.0 - m)
        return variance * (1.0 - 2.0 * m)

    @property
    def variance_with_ties(self) -> FloatArray:  # type: ignore[override]
        """Derivative of the variance of y in log nu."""
        return np.asarray(self.tie * ((0.5 - self.mean) ** 2 - self.variance))

    @property
    def variance_with_strong(self) -> tuple[FloatArray, ...]:  # type: ignore[override]
        """Derivative of the variance of y in the log propensity of each strength."""
        away, variance = self.mean - 0.5, self.variance
        return tuple(p * (m * m - 2.0 * m * away * sign + away**2 - variance) for m, p, sign in self._by_strength)

    @property
    def _by_strength(self) -> list[tuple[float, FloatArray, FloatArray]]:
        """Size |c|, probability and sign of every strength beyond better."""
        pairs = zip(self.strong, self._signs, strict=True)
        return [(1.0 + strength / 2, *share_and_sign) for strength, share_and_sign in enumerate(pairs)]

    @property
    def levels(self) -> FloatArray:
        """Probability of each level from the lowest c to the highest, on the last axis.

        Three of them where strength is no outcome.
        """
        decided = self._q if self._weak is None else self._q * self._weak
        up = self._eta >= 0
        win, loss = np.where(up, 1.0, self._e) * decided, np.where(up, self._e, 1.0) * decided
        probabilities = [loss, np.broadcast_to(self.tie, win.shape), win]
        for share, power in zip(self.strong, self._powers, strict=True):
            likelier, less_likely = share / (1.0 + power), share * power / (1.0 + power)
            probabilities = [
                np.where(up, less_likely, likelier),
                *probabilities,
                np.where(up, likelier, less_likely),
            ]
        return np.stack(probabilities, axis=-1)

    def _moment(self, power: int) -> FloatArray:
        """Central moment of y."""
        away = outcomes(len(self._log_strong)) - self.mean[..., None]
        return np.asarray((self.levels * away**power).sum(axis=-1))


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
        self._nu, self._e, self._log_strong = nu, x * x, ()
        ties = nu * x
        self.total = self._e + ties
        self.total += 1.0
        self._q = 1.0 / self.total
        self.tie = np.multiply(ties, self._q, out=ties)
        self.mean = self._e * self._q
        self.mean += 0.5 * self.tie
        self.strong = ()


# Graded answers drawn from the law: a winner or a tie, and how strong it is.


def draw_levels(rng: np.random.Generator, probability: FloatArray) -> IntArray:
    """A level for every row of probabilities, shape (T, L): its place among the L, shape (T,)."""
    return levels_at(probability, rng.random(len(probability)))


def levels_at(probability: FloatArray, chance: FloatArray) -> IntArray:
    """Places of the levels that uniform draws, shape (...), pick by probabilities, shape (..., L)."""
    edges = np.cumsum(probability, axis=-1)
    return np.asarray((chance[..., None] * edges[..., -1:] > edges).sum(axis=-1), np.intp)


def graded_comparisons(
    models: tuple[str, ...], judges: tuple[str, ...], who: IntArray, level: IntArray, levels: int = 5
) -> Comparisons:
    """Raw comparisons of graded answers, of five levels by default.

    Parameters
    ----------
    models, judges : tuple of str
    who : int array, shape (3, T)
        Model shown first, model shown second and judge.
    level : int array, shape (T,)
        0 much better for the second, 1 better, 2 a tie, 3 better for the first, 4 much better.
    levels : int
        How many there are, ties among them: 5, 7, ..., the tie in the middle.
    """
    tie = levels // 2
    outcome = (1.0 + np.sign(level - tie)) / 2
    sides = [level == tie + sign * size for size in range(2, tie + 1) for sign in (1, -1)]
    strong = np.stack(sides, axis=1).astype(float)
    tied = (level == tie).astype(float)
    first, second, judge = who
    return Comparisons(models, judges, first, second, judge, outcome, tied=tied, strong=strong)


# The law of a choice among several answers, and how often one of two answers is placed above the other.

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
