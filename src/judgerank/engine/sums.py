"""Likelihood, gradient and information of a member of the family, in one pass over the comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np
from scipy.special import xlogy

from judgerank.data.arrays import FloatArray
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.engine.rows import KEPT, Listed, Table, laid_out
from judgerank.model.members import Model, Parameters

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
    slope_at_zero : float array, shape (K,), or None
        Derivative of the log-likelihood in gamma_k at gamma_k = 0, the scores (and beta) as they are and b_k, if
        it is free, at its best there.
    score_information : float array, shape (N, N)
    judge_information : float array, shape (K, B, B)
    cross_information : float array, shape (B, K, N)
        Empty, as are the slopes at zero, unless they were asked for.
    """

    log_likelihood: float
    score_gradient: FloatArray
    judge_gradient: FloatArray
    slope_at_zero: FloatArray = field(default_factory=lambda: np.empty(0))
    score_information: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    judge_information: FloatArray = field(default_factory=lambda: np.empty((0, 0, 0)))
    cross_information: FloatArray = field(default_factory=lambda: np.empty((0, 0, 0)))

    @property
    def relative_gradient(self) -> float:
        """Largest gradient component over the size of the log-likelihood."""
        largest = max(np.abs(self.score_gradient).max(), np.abs(self.judge_gradient).max(initial=0.0))
        return float(largest / max(1.0, abs(self.log_likelihood)))

    def times(self, factor: float) -> Evaluation:
        """That of so many times as many comparisons."""
        return Evaluation(*(factor * getattr(self, each.name) for each in fields(self)))


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
        self.offsets = range(model.n_scale, len(model.judge_blocks))
        self.log_likelihood = 0.0
        self.score_gradient = np.zeros(self.n_models)
        self.judge_gradient = np.zeros((len(self.blocks), self.n_judges))
        if not curvature:
            return
        self.slope_at_zero = np.zeros(self.n_judges)
        if model.has_slope:
            self.share_at_zero = first_shown_share(cells) if model.has_position else np.full(self.n_judges, 0.5)
        elif self.blocks:
            self.slope_at_zero += net_wins(cells, model.has_position) @ at.scores
        self.pairs = np.zeros((self.n_models, self.n_models))
        self.own = np.zeros((len(self.blocks), len(self.blocks), self.n_judges))
        self.cross = np.zeros((len(self.blocks), self.n_judges, self.n_models))

    def add(self, rows: Listed | Table) -> None:
        """Add some of the comparisons."""
        d, n = rows.differences(self.at.scores), rows.count
        g, h = self._discrimination(rows)
        signal = d if g is None else g * d
        eta = signal if self.position is None else signal + rows.spread(self.position)
        law = Law(eta, None if self.tie is None else rows.spread(self.tie))
        self.log_likelihood += float(np.vdot(n, law.log_likelihood(rows.outcome, rows.tied)))
        r = n * (rows.outcome - law.mean)
        self.score_gradient += rows.by_model(r, g)
        # d eta / d theta_b = c_b signal with c = 1 for alpha and z for beta, and 1 for the position
        c = (None, rows.covariate)
        for b in self.moving:
            self.judge_gradient[b] += rows.by_judge(r, g, d, c[b])
        if self.position is not None:
            self.judge_gradient[self.offsets[0]] += rows.by_judge(r)
        if rows.tied is not None and self.tie is not None:
            self.judge_gradient[-1] += rows.by_judge(n * (rows.tied - law.tie))
        if self.curvature:
            if h is not None:
                self.slope_at_zero += rows.by_judge(n * (rows.outcome - rows.spread(self.share_at_zero)), d, h)
            self._add_curvature(rows, g, d, signal, law, r, c)

    def _discrimination(self, rows: Listed | Table) -> tuple[FloatArray | None, FloatArray | None]:
        """g, and its shape h = exp(beta_k z) at unit gamma; None stands for one."""
        if self.gamma is None:
            return None, None
        g = rows.spread(self.gamma)
        if rows.covariate is None or not self.has_slope:
            return g, None
        h = np.exp(rows.spread(self.at.judges[1]) * rows.covariate)
        return g * h, h

    def _add_curvature(
        self,
        rows: Listed | Table,
        g: FloatArray | None,
        d: FloatArray,
        signal: FloatArray,
        law: Law,
        r: FloatArray,
        c: tuple[FloatArray | None, ...],
    ) -> None:
        n = rows.count
        w = n * law.variance
        rows.by_pair(w, None if g is None else g * g, self.pairs)
        if g is None:
            return
        # the second derivatives of eta repeat its first ones, so the residual part only shifts w signal;
        # eta is linear in gamma, so there is none between gamma and itself
        straight = w * signal
        curved = straight - r if self.curvature == "observed" else straight
        for b in self.moving:
            for b2 in self.moving:
                self.own[b, b2] += rows.by_judge(straight if b == b2 == 0 else curved, g, d, c[b], c[b2])
            rows.by_both(curved, _times(g, c[b]), self.cross[b])
        # what an offset block shares with the predictor, by row
        shares = ([] if self.position is None else [w]) + ([] if self.tie is None else [n * law.with_ties])
        for offset, share in zip(self.offsets, shares, strict=True):
            for b in self.moving:
                self._add_own(b, offset, rows.by_judge(share, g, d, c[b]))
            rows.by_both(share, g, self.cross[offset])
        if self.position is not None:
            self._add_own(self.offsets[0], self.offsets[0], rows.by_judge(w))
        if self.tie is not None:
            self._add_own(-1, -1, rows.by_judge(n * law.tie * (1.0 - law.tie)))
        if len(shares) == 2:
            self._add_own(self.offsets[0], -1, rows.by_judge(shares[1]))

    def _add_own(self, b: int, b2: int, total: FloatArray) -> None:
        self.own[b, b2] += total
        if b != b2:
            self.own[b2, b] += total

    def evaluation(self) -> Evaluation:
        first = (self.log_likelihood, self.score_gradient, self.judge_gradient)
        if not self.curvature:
            return Evaluation(*first)
        laplacian = -(self.pairs + self.pairs.T)
        np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
        return Evaluation(*first, self.slope_at_zero, laplacian, self.own.transpose(2, 0, 1), self.cross)


@remembered
def net_wins(cells: Comparisons, of_position: bool = False) -> np.ndarray:
    """Wins of every model by judge over those at zero discrimination, shape (K, N).

    Those are a half of its comparisons, or, with `of_position`, as many as the judge gives to that position.
    """
    n, k = len(cells.models), len(cells.judges)
    at_zero = first_shown_share(cells) if of_position else np.full(k, 0.5)
    wins = np.zeros(k * n)
    for start in range(0, len(cells), KEPT):  # a sum over all cells at once takes as much as they do
        part = slice(start, start + KEPT)
        judge = cells.judge[part].astype(np.intp)
        net = cells.count[part] * (cells.outcome[part] - at_zero[judge])
        wins += np.bincount(judge * n + cells.first[part], net, k * n)
        wins -= np.bincount(judge * n + cells.second[part], net, k * n)
    return wins.reshape(k, n)


@remembered
def judged(cells: Comparisons) -> FloatArray:
    """Number of comparisons of every judge, shape (K,)."""
    return np.asarray(np.bincount(cells.judge, cells.count, len(cells.judges)), float)


def first_shown_share(cells: Comparisons) -> FloatArray:
    """Share of each judge's comparisons won by the model shown first, shape (K,)."""
    first = np.bincount(cells.judge, cells.count * cells.outcome, len(cells.judges))
    return first / np.maximum(judged(cells), np.finfo(float).tiny)


def tied_share(cells: Comparisons) -> FloatArray:
    """Share of each judge's comparisons that are ties, shape (K,)."""
    ties = np.bincount(cells.judge, cells.count * cells.known_ties, len(cells.judges))
    return ties / np.maximum(judged(cells), np.finfo(float).tiny)


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
    for rows in laid_out(cells, CHUNK):
        sums.add(rows)
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
