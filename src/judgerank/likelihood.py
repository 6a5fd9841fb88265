"""Likelihood, gradient and information of a member of the family, in one pass over the comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import xlogy

from judgerank.arrays import FloatArray, IntArray
from judgerank.comparisons import Comparisons
from judgerank.model import Model, Parameters

CHUNK = 1 << 14  # rows evaluated at a time: the temporaries stay in cache
Curvature = Literal["expected", "observed"]


@dataclass(frozen=True)
class Evaluation:
    """What one pass over the cells yields.

    Attributes
    ----------
    log_likelihood : float
        Sum over raw comparisons, equation (5).
    score_gradient : float array, shape (N,)
    judge_gradient : float array, shape (B, K)
    slope_at_zero : float array, shape (K,)
        Derivative of the log-likelihood in gamma_k at gamma_k = 0, the scores (and beta) as they are and b_k, if
        it is free, at its best there.
    score_information : float array, shape (N, N)
    judge_information : float array, shape (K, B, B)
    cross_information : float array, shape (B, K, N)
        Empty, all three, unless they were asked for.
    """

    log_likelihood: float
    score_gradient: FloatArray
    judge_gradient: FloatArray
    slope_at_zero: FloatArray
    score_information: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    judge_information: FloatArray = field(default_factory=lambda: np.empty((0, 0, 0)))
    cross_information: FloatArray = field(default_factory=lambda: np.empty((0, 0, 0)))

    @property
    def relative_gradient(self) -> float:
        """Largest gradient component over the size of the log-likelihood."""
        largest = max(np.abs(self.score_gradient).max(), np.abs(self.judge_gradient).max(initial=0.0))
        return float(largest / max(1.0, abs(self.log_likelihood)))


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
        self._eta, self._nu, self._e = eta, nu, np.exp(-np.abs(eta))
        ties = None if nu is None else nu * np.sqrt(self._e)
        self._others = self._e if ties is None else self._e + ties
        self._q = 1.0 / (1.0 + self._others)
        self.tie: FloatArray = np.zeros(()) if ties is None else ties * self._q
        self.mean: FloatArray = np.where(eta >= 0, self._q, self._e * self._q)
        if ties is not None:
            self.mean += 0.5 * self.tie

    def log_likelihood(self, y: FloatArray, tied: FloatArray | None) -> FloatArray:
        """Per comparison, for a mean outcome and a share tied."""
        value = y * self._eta - np.maximum(self._eta, 0.0) - np.log1p(self._others)
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


class _Sums:
    """Running sums of one pass; every array is the total over the rows added so far."""

    def __init__(self, cells: Comparisons, model: Model, at: Parameters, curvature: Curvature | None):
        self.n_models, self.n_judges = len(cells.models), len(cells.judges)
        self.blocks, self.at, self.curvature = range(len(model.judge_blocks)), at, curvature
        self.moving = range(
            0 if model.fixed_scale else model.n_scale
        )  # blocks that scale differences and are free
        self.gamma = np.exp(at.judges[0]) if self.blocks else None
        self.has_slope = model.has_slope
        self.position = at.judges[model.row("position")] if model.has_position else None
        self.tie = np.exp(at.judges[model.row("log_tie")]) if model.has_ties else None
        self.levels = range(model.n_scale, len(model.judge_blocks))
        self.level = first_shown_share(cells) if model.has_position else None
        self.log_likelihood = 0.0
        self.score_gradient = np.zeros(self.n_models)
        self.judge_gradient = np.zeros((len(self.blocks), self.n_judges))
        self.slope_at_zero = np.zeros(self.n_judges)
        if curvature:
            self.pairs = np.zeros(self.n_models * self.n_models)
            self.own = np.zeros((len(self.blocks), len(self.blocks), self.n_judges))
            self.cross = np.zeros((len(self.blocks), self.n_judges * self.n_models))

    def add(
        self,
        i: IntArray,
        j: IntArray,
        k: IntArray,
        y: FloatArray,
        n: FloatArray,
        z: FloatArray | None,
        tied: FloatArray | None,
    ) -> None:
        """Add rows: models shown first and second, judge, mean outcome, count; or None: covariate, share tied."""
        d = self.at.scores.take(i) - self.at.scores.take(j)
        g, h = self._discrimination(k, z)
        signal = d if g is None else g * d
        eta = signal if self.position is None else signal + self.position.take(k)
        law = Law(eta, None if self.tie is None else self.tie.take(k))
        self.log_likelihood += np.dot(n, law.log_likelihood(y, tied))
        r = n * (y - law.mean)
        gr = r if g is None else g * r
        self.score_gradient += np.bincount(i, gr, self.n_models)
        self.score_gradient -= np.bincount(j, gr, self.n_models)
        # d eta / d theta_b = c_b signal with c = 1 for alpha and z for beta, and 1 for the position
        c = (None, z)
        for b in self.moving:
            self.judge_gradient[b] += np.bincount(k, _times(r * signal, c[b]), self.n_judges)
        if self.position is not None:
            self.judge_gradient[self.levels[0]] += np.bincount(k, r, self.n_judges)
        if tied is not None:
            self.judge_gradient[-1] += np.bincount(k, n * (tied - law.tie), self.n_judges)
        if self.blocks:
            at_zero = 0.5 if self.level is None else self.level.take(k)
            self.slope_at_zero += np.bincount(k, _times(n * (y - at_zero) * d, h), self.n_judges)
        if self.curvature:
            self._add_curvature(i, j, k, g, signal, n, law, r, c)

    def _discrimination(self, k: IntArray, z: FloatArray | None) -> tuple[FloatArray | None, FloatArray | None]:
        """g, and its shape h = exp(beta_k z) at unit gamma; None stands for one."""
        if self.gamma is None:
            return None, None
        g = self.gamma.take(k)
        if z is None:
            return g, None
        h = np.exp(self.at.judges[1].take(k) * z)
        return g * h, h

    def _add_curvature(
        self,
        i: IntArray,
        j: IntArray,
        k: IntArray,
        g: FloatArray | None,
        signal: FloatArray,
        n: FloatArray,
        law: Law,
        r: FloatArray,
        c: tuple[FloatArray | None, ...],
    ) -> None:
        w = n * law.variance
        np.add.at(self.pairs, i * self.n_models + j, w if g is None else w * g * g)
        if g is None:
            return
        # the second derivatives of eta repeat its first ones, so the residual part only shifts w signal;
        # eta is linear in gamma, so there is none between gamma and itself
        straight = w * signal
        curved = straight - r if self.curvature == "observed" else straight
        flat = k * self.n_models
        for b in self.moving:
            for b2 in self.moving:
                both = _times(_times(straight if b == b2 == 0 else curved, c[b]), c[b2])
                self.own[b, b2] += np.bincount(k, both * signal, self.n_judges)
            value = _times(curved * g, c[b])
            np.add.at(self.cross[b], flat + i, value)
            np.subtract.at(self.cross[b], flat + j, value)
        # what a level block shares with the predictor, by row
        shares = ([] if self.position is None else [w]) + ([] if self.tie is None else [n * law.with_ties])
        for level, share in zip(self.levels, shares, strict=True):
            for b in self.moving:
                self._add_own(b, level, k, _times(share * signal, c[b]))
            np.add.at(self.cross[level], flat + i, share * g)
            np.subtract.at(self.cross[level], flat + j, share * g)
        if self.position is not None:
            self._add_own(self.levels[0], self.levels[0], k, w)
        if self.tie is not None:
            self._add_own(-1, -1, k, n * law.tie * (1.0 - law.tie))
        if len(shares) == 2:
            self._add_own(self.levels[0], -1, k, shares[1])

    def _add_own(self, b: int, b2: int, k: IntArray, value: FloatArray) -> None:
        total = np.bincount(k, value, self.n_judges)
        self.own[b, b2] += total
        if b != b2:
            self.own[b2, b] += total

    def evaluation(self) -> Evaluation:
        result = (self.log_likelihood, self.score_gradient, self.judge_gradient, self.slope_at_zero)
        if not self.curvature:
            return Evaluation(*result)
        pairs = self.pairs.reshape(self.n_models, self.n_models)
        laplacian = -(pairs + pairs.T)
        np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
        cross = self.cross.reshape(len(self.blocks), self.n_judges, self.n_models)
        return Evaluation(*result, laplacian, self.own.transpose(2, 0, 1), cross)


def first_shown_share(cells: Comparisons) -> FloatArray:
    """Share of each judge's comparisons won by the model shown first, shape (K,)."""
    size = len(cells.judges)
    counts = np.bincount(cells.judge, cells.count, size)
    return np.bincount(cells.judge, cells.count * cells.outcome, size) / np.maximum(counts, np.finfo(float).tiny)


def tied_share(cells: Comparisons) -> FloatArray:
    """Share of each judge's comparisons that are ties, shape (K,)."""
    size = len(cells.judges)
    counts = np.bincount(cells.judge, cells.count, size)
    ties = np.bincount(cells.judge, cells.count * cells.known_ties, size)
    return ties / np.maximum(counts, np.finfo(float).tiny)


def _times(values: FloatArray, factor: FloatArray | None) -> FloatArray:
    return values if factor is None else values * factor


def evaluate(cells: Comparisons, model: Model, at: Parameters, curvature: Curvature | None = None) -> Evaluation:
    """Log-likelihood, gradient and, on request, information in one pass over the cells.

    Parameters
    ----------
    cells : Comparisons
        Aggregated or raw; the result is the same up to rounding.
    at : Parameters
    curvature : {"expected", "observed"}, optional
        Which information to accumulate: J' diag(n p (1 - p)) J in (s, alpha, beta), or minus the Hessian in
        (s, gamma, beta) with the rows and columns of gamma_k multiplied by gamma_k. The Hessian is taken in
        gamma because eta is linear there, which keeps Newton's method quick for weak judges; at a stationary
        point the choice makes no difference.
    """
    sums = _Sums(cells, model, at, curvature)
    for start in range(0, len(cells), CHUNK):
        rows = slice(start, start + CHUNK)
        z = cells.known_covariate[rows] if model.has_slope else None
        tied = cells.known_ties[rows] if model.has_ties else None
        i, j, k = (column[rows].astype(np.intp) for column in (cells.first, cells.second, cells.judge))
        sums.add(i, j, k, cells.outcome[rows], cells.count[rows], z, tied)
    return sums.evaluation()


def predictor(cells: Comparisons, model: Model, at: Parameters, rows: slice = slice(None)) -> FloatArray:
    """eta of some rows, float array."""
    judge = cells.judge[rows]
    d = at.scores.take(cells.first[rows]) - at.scores.take(cells.second[rows])
    if not model.judge_blocks:
        return d
    exponent = at.judges[0].take(judge)
    if model.has_slope:
        exponent = exponent + at.judges[1].take(judge) * cells.known_covariate[rows]
    eta = np.exp(exponent) * d
    return eta + at.judges[model.row("position")].take(judge) if model.has_position else eta
