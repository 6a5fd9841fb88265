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

import numpy as np
from scipy.sparse import csc_array
from scipy.special import expit, ndtri

from judgerank.data.arrays import BoolArray, FloatArray, IntArray

GROUPS = 50  # of whole questions, left out one after the other for the errors
ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 65)  # whose sines are the correlations tried
SURELY = 1e-9  # disagreements that count as none, and probabilities that count as certain
STEPS = 20  # of Newton's method


@dataclass(frozen=True, eq=False)
class Items:
    """Answers by item and judge, each an item-by-judge array with entries where `answered` has them.

    Attributes
    ----------
    answered, said, lead, position : sparse float array, shape (I, K)
        Ones; whether the first model is preferred; its log-odds to be under a fit: gamma_k (s_i - s_j), and b_k.
    question : int array, shape (I,)
    discrimination : float array, shape (K,)
        gamma_k of that fit.
    """

    answered: csc_array
    said: csc_array
    lead: csc_array
    position: csc_array
    question: IntArray
    discrimination: FloatArray

    def of(self, judge: int) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Items that a judge answered, in order, with what was said, lead and position."""
        start, end = self.answered.indptr[judge : judge + 2]
        return (
            self.answered.indices[start:end],
            self.said.data[start:end],
            self.lead.data[start:end],
            self.position.data[start:end],
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

    def expected(self, pairs: BoolArray, others: BoolArray) -> FloatArray:
        """Share of disagreements of two different judges in place of each pair, shape (number of pairs, 1 + G).

        Parameters
        ----------
        pairs, others : bool array, shape (P,)
            The others say how much judges share.

        Returns
        -------
        float array
            Zero where judges share so much that two of them need never disagree, or nothing is known of it.
        """
        both = self.slopes[self.one] * self.slopes[self.other]
        weight = np.where(others[:, None], self.shared, 0.0)
        size = (weight * both**2).sum(axis=0)
        c = (weight * both * self.correlation).sum(axis=0) / np.maximum(size, np.finfo(float).tiny)
        found = np.zeros_like(both[pairs])
        for row, pair in zip(found, np.flatnonzero(pairs), strict=True):
            r = c * both[pair]
            rarer = np.interp(r, np.sin(ANGLES), self.curve[pair])
            row[:] = np.where(
                (r < 1) & (size > 0), np.maximum(self.apart[pair] - np.maximum(rarer, 0.0), 0.0), 0.0
            )
        return found


def shared_answers(items: Items, one: IntArray, other: IntArray) -> SharedAnswers:
    """How pairs of judges agree who share items."""
    group = np.unique(items.question, return_inverse=True)[1]
    many = min(GROUPS, int(group.max()) + 1)
    group = group % many
    slopes = np.stack([_slopes(items, k, group, many) for k in range(items.answered.shape[1])])
    rows = [_of_pair(items, *pair, slopes, group, many) for pair in zip(one, other, strict=True)]
    shared, disagreement, correlation, apart, curve = map(np.array, zip(*rows, strict=True))
    g = items.discrimination[:, None] * slopes
    return SharedAnswers(one, other, shared, disagreement, correlation, g, apart, curve)


def _without(values: FloatArray, group: IntArray, many: int) -> FloatArray:
    """Sum of values, and the sums without each group, shape (1 + G,)."""
    return np.asarray(values.sum() - np.r_[0.0, np.bincount(group, values, many)])


def _slopes(items: Items, judge: int, group: IntArray, many: int) -> FloatArray:
    """A judge's own slope in units of the fit's, shape (1 + G,); one Newton step for each group left out.

    The fit may have one slope for all judges, or shrunk ones. A prior holds a judge who never errs: the logarithm is
    normal with a standard deviation of one.
    """
    where, said, lead, position = items.of(judge)
    log = 0.0
    if not np.abs(lead).max(initial=0.0) > 0:
        return np.zeros(1 + many)
    for _ in range(STEPS):
        eta = np.exp(log) * lead
        p = expit(eta + position)
        gradient, curvature = float(eta @ (said - p)) - log, float(eta**2 @ (p * (1 - p))) + 1
        log += float(np.clip(gradient / curvature, -0.5, 0.5))
    eta = np.exp(log) * lead
    p = expit(eta + position)
    gradient = _without(eta * (said - p), group[where], many) - log
    curvature = _without(eta**2 * p * (1 - p), group[where], many) + 1
    return np.asarray(np.exp(log + gradient / curvature))


def _of_pair(
    items: Items, one: int, other: int, slopes: FloatArray, group: IntArray, many: int
) -> tuple[FloatArray, FloatArray, FloatArray, float, FloatArray]:
    first, second = items.of(one), items.of(other)
    both, at, beside = np.intersect1d(first[0], second[0], assume_unique=True, return_indices=True)
    p, q = (
        np.clip(expit(slopes[k, 0] * lead[take] + position[take]), SURELY, 1 - SURELY)
        for k, (_, _, lead, position), take in ((one, first, at), (other, second, beside))
    )
    apart = p * (1 - q) + q * (1 - p)
    differ = (first[1][at] != second[1][beside]).astype(float)
    n = _without(np.ones(len(both)), group[both], many)
    share, rarer = (_without(x, group[both], many) / np.maximum(n, 1) for x in (differ, apart - differ))
    curve = _curve(ndtri(p), ndtri(q))
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
