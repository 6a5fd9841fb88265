"""How rarely two different judges could disagree, who share what makes an answer better on its question.

Two good judges agree far beyond what scores explain, since both see that an answer is better, or worse, than its
model usually is. So a pair is held against two different judges of these discriminations. Of an item, judge k wins
one for the first model if

    gamma_k (s_i - s_j + w) + b_k + noise > 0,    w of the item, noise of the judge alone.

With w and noise normal, the answers of judges k and l are signs of normal variables. Their correlation is
r_kl = c g_k g_l, with g the slopes that a fit without w has (w flattens a strong judge's slope more). Given r_kl,
the answers agree as often as Plackett's (1954) formula says. Every other pair of judges has its own r, from how
often it agrees; these give c, and so the r and the disagreements of two different judges in place of a pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array
from scipy.special import expit, ndtri

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.engine.concave import peak, terms
from judgerank.inference.wald import normal_quantile

FEWEST_GROUPS, GROUPS = 10, 50  # of whole questions, left out one after the other for the errors
ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 65)  # whose sines are the correlations tried
SURELY = 1e-9  # disagreements that count as none, and probabilities that count as certain
MIDDLE = 0.5  # correlation at which pairs are weighed
LARGEST = 2.0  # of a_k, which is one at most: estimates may be larger
WIDE = 3.0  # standard deviation of the prior of a position bias beyond the fit's, in log-odds
STEPS = 20  # of the loadings


@dataclass(frozen=True, eq=False)
class Items:
    """Answers by item and judge, each an item-by-judge array with entries where `answered` has them.

    Attributes
    ----------
    answered, said, lead, position, order : sparse float array, shape (I, K)
        Ones; whether one of the models is preferred; its log-odds to be under a fit, gamma_k (s_i - s_j) and b_k;
        one if it was shown first, and minus one otherwise.
    question : int array, shape (I,)
    discrimination : float array, shape (K,)
        gamma_k of that fit.
    """

    answered: csc_array
    said: csc_array
    lead: csc_array
    position: csc_array
    order: csc_array
    question: IntArray
    discrimination: FloatArray

    def of(self, judge: int) -> tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Items that a judge answered, with what was said, lead, position, and 1 or -1: the order it was shown."""
        start, end = self.answered.indptr[judge : judge + 2]
        return (
            self.answered.indices[start:end],
            self.said.data[start:end],
            self.lead.data[start:end],
            self.position.data[start:end],
            self.order.data[start:end],
        )


@dataclass(frozen=True, eq=False)
class SharedAnswers:
    """Agreement of pairs of judges, whole and with each group of questions left out (G of them, the whole first).

    Attributes
    ----------
    one, other : int array, shape (P,)
        The judges.
    shared, disagreement : float array, shape (P, 1 + G)
        Items that both answered, and the share on which they disagree.
    correlation : float array, shape (P, 1 + G)
        The r with which two judges would agree as often.
    slopes : float array, shape (K, 1 + G)
        g of every judge.
    apart, curve : float array, shapes (P,) and (P, T)
        Share of disagreements at r = 0, and how much less it is at each of the correlations tried.
    """

    one: IntArray
    other: IntArray
    shared: FloatArray
    disagreement: FloatArray
    correlation: FloatArray
    slopes: FloatArray
    apart: FloatArray
    curve: FloatArray

    def expected(self, pairs: BoolArray, others: BoolArray, level: float) -> tuple[FloatArray, FloatArray]:
        """Share of disagreements of two different judges in place of each pair, and the lower end for their mean.

        Parameters
        ----------
        pairs, others : bool array, shape (P,)
            The others say how much judges share.
        level : float
            Of the interval of the mean r, one for all these pairs.

        Returns
        -------
        float arrays, shape (number of pairs,)
            Zero where judges may share so much that two of them never disagree, or nothing is known of it.
        """
        many, groups = int(pairs.sum()), self.slopes.shape[1] - 1
        if not others.any() or groups < FEWEST_GROUPS:
            return np.zeros(many), np.zeros(many)
        one, other = self.one[pairs], self.other[pairs]
        load, free = self._loadings(others, 1.0), self._loadings(others, LARGEST)
        r, part = load[one, 0] * load[other, 0], self.shared[pairs, 0] / self.shared[pairs, 0].sum()
        reach = normal_quantile(level, groups - 1.0) * float(jackknife(part @ (free[one, 1:] * free[other, 1:])))
        return self._at(pairs, r), self._at(pairs, r + reach)

    def _at(self, pairs: BoolArray, r: FloatArray) -> FloatArray:
        """Shares of disagreements at correlations, shape (number of pairs,); zero from one on."""
        at, rows = np.sin(ANGLES), zip(r, self.apart[pairs], self.curve[pairs], strict=True)
        return np.array([max(apart - np.interp(x, at, curve), 0.0) if x < 1 else 0.0 for x, apart, curve in rows])

    @cached_property
    def _sharpness(self) -> FloatArray:
        """Information of an item on each pair's r, at a middling one, shape (P,)."""
        at, found = np.sin(ANGLES), []
        for apart, curve in zip(self.apart, self.curve, strict=True):
            share = max(apart - float(np.interp(MIDDLE, at, curve)), SURELY)
            found.append(float(np.interp(MIDDLE, at, np.gradient(curve, at))) ** 2 / (share * (1 - share)))
        return np.array(found)

    def _loadings(self, others: BoolArray, largest: float) -> FloatArray:
        """a_k of r_kl = a_k a_l, shape (K, 1 + G), from the other pairs' correlations and the judges' slopes.

        Least squares: first with a_k in the ratio of the slopes, then each a_k for itself, held to that ratio by
        as much as its slope is known.
        """
        one, other, r = self.one[others], self.other[others], self.correlation[others]
        weight, both = self.shared[others] * self._sharpness[others, None], self.slopes[one] * self.slopes[other]
        size = np.maximum((weight * both**2).sum(axis=0), np.finfo(float).tiny)
        prior = np.sqrt(np.maximum((weight * both * r).sum(axis=0) / size, 0.0)) * self.slopes
        known = 1 / np.maximum(jackknife(np.log(np.maximum(self.slopes[:, 1:], SURELY))), SURELY) ** 2
        held = known[:, None] / np.maximum(prior**2, SURELY)
        load = prior.copy()
        for _ in range(STEPS):
            above, below = held * prior, held.copy()
            for k, beside in ((one, other), (other, one)):
                np.add.at(above, k, weight * r * load[beside])
                np.add.at(below, k, weight * load[beside] ** 2)
            load = (load + np.clip(above / below, 0.0, largest)) / 2
        return load


def shared_answers(shown: Items, either: Items, one: IntArray, other: IntArray, near: BoolArray) -> SharedAnswers:
    """How pairs of judges agree who share items.

    Items `shown` in one order are those of near pairs: copies may favour a position, and need not agree if they
    were shown both. Of other pairs items in `either` order count, which are more.
    """
    many = min(GROUPS, int(either.question.max()) + 1)
    own = [_slopes(either, k, many) for k in range(either.answered.shape[1])]
    slopes, shifts = np.stack([slope for slope, _ in own]), np.array([shift for _, shift in own])
    rows = [
        _of_pair(shown if beside else either, k, k_, slopes[:, 0], shifts, many)
        for k, k_, beside in zip(one, other, near, strict=True)
    ]
    shared, disagreement, correlation, apart, curve = map(np.array, zip(*rows, strict=True))
    g = either.discrimination[:, None] * slopes
    return SharedAnswers(one, other, shared, disagreement, correlation, g, apart, curve)


def jackknife(without: FloatArray) -> FloatArray:
    """Standard errors of numbers, from their values with each group left out along the last axis."""
    many = without.shape[-1]
    middle = without.mean(axis=-1, keepdims=True)
    return np.asarray(np.sqrt((many - 1) / many * ((without - middle) ** 2).sum(axis=-1)))


def _without(values: FloatArray, group: IntArray, many: int) -> FloatArray:
    """Sum of values, and the sums without each group, shape (1 + G,)."""
    return np.asarray(values.sum() - np.r_[0.0, np.bincount(group, values, many)])


def _slopes(items: Items, judge: int, many: int) -> tuple[FloatArray, float]:
    """A judge's own slope in units of the fit's, shape (1 + G,), and its position bias beyond the fit's.

    The fit may have one slope for all judges, or shrunk ones, and no position bias. Priors hold a judge who never
    errs: the logarithm of the slope is normal with a standard deviation of one.
    """
    where, said, lead, position, turned = items.of(judge)
    group = items.question[where] % many
    if not np.abs(lead).max(initial=0.0) > 0:
        return np.zeros(1 + many), 0.0
    held = np.array([1.0, 1 / WIDE**2])

    def look(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        by_row = np.column_stack([np.exp(x[0]) * lead, turned])  # derivatives of the predictor
        height, left, weight = terms(by_row[:, 0] + position + x[1] * turned, said, np.ones(len(said)))
        information = by_row.T @ (weight[:, None] * by_row) + np.diag(held)
        return height - float(held @ x**2) / 2, by_row.T @ left - held * x, information

    log, shift = peak(look, np.zeros(2), "a judge's slope did not settle")[0].tolist()
    eta = np.exp(log) * lead
    p = expit(eta + position + shift * turned)
    gradient = _without(eta * (said - p), group, many) - log
    curvature = _without(eta**2 * p * (1 - p), group, many) + 1
    return np.exp(log + gradient / curvature), shift


def _of_pair(
    items: Items, one: int, other: int, slopes: FloatArray, shifts: FloatArray, many: int
) -> tuple[FloatArray, FloatArray, FloatArray, float, FloatArray]:
    first, second = items.of(one), items.of(other)
    both, at, beside = np.intersect1d(first[0], second[0], assume_unique=True, return_indices=True)
    group, p = items.question[both] % many, []
    for k, (_, _, lead, position, turned), take in ((one, first, at), (other, second, beside)):
        eta = slopes[k] * lead[take] + position[take] + shifts[k] * turned[take]
        p.append(np.clip(expit(eta), SURELY, 1 - SURELY))
    apart = p[0] * (1 - p[1]) + p[1] * (1 - p[0])
    differ = (first[1][at] != second[1][beside]).astype(float)
    n = _without(np.ones(len(both)), group, many)
    share, rarer = (_without(x, group, many) / np.maximum(n, 1) for x in (differ, apart - differ))
    curve = _curve(ndtri(p[0]), ndtri(p[1]))
    return n, share, np.interp(rarer, curve, np.sin(ANGLES)), float(apart.mean()), curve


def _curve(h: FloatArray, k: FloatArray) -> FloatArray:
    """By how much oftener signs of normal variables with means h and k agree, for each correlation, shape (T,).

    The derivative in the correlation of the chance that both are positive is their density at zero (Plackett).
    """
    mean_square, product = (h**2 + k**2) / 2, h * k
    squared = np.maximum(np.cos(ANGLES) ** 2, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        slope = np.stack(
            [
                np.exp(-(mean_square - product * r) / square).mean() / np.pi
                for r, square in zip(np.sin(ANGLES), squared, strict=True)
            ]
        )
    steps = np.diff(ANGLES) * (slope[1:] + slope[:-1]) / 2
    total = np.r_[0.0, np.cumsum(steps)]
    return np.asarray(total - np.interp(0.0, ANGLES, total))
