"""Likelihood, gradient and information of whatever a model describes, in one pass over the comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.levels import first_shown_share, net_wins
from judgerank.engine.likelihood_rows import CHUNK, At, Second, product, times, times_both
from judgerank.engine.rows import BlockColumns, Listed, Table, laid_out
from judgerank.model.block import Role
from judgerank.model.limits import held
from judgerank.model.members import Model, Parameters

Curvature = Literal["expected", "observed"]


@dataclass(frozen=True)
class Evaluation:
    """What one pass over the cells yields.

    Attributes
    ----------
    log_likelihood : float
        Equation (5): over cells, each as often as it was compared.
    top_gradient : float array, shape (N + P,)
        In the scores, then the further blocks.
    judge_gradient : float array, shape (B, K)
    slope_at_zero : float array, shape (K,)
        Derivative of the log-likelihood in gamma_k at gamma_k = 0, the scores (and beta) as they are and b_k, if
        it is free, at its best there; with further blocks, as it is.
    top_information : float array, shape (N + P, N + P)
    judge_information : float array, shape (K, B, B)
    cross_information : float array, shape (B, K, N + P)
        Empty, as are the slopes at zero, unless they were asked for.
    """

    log_likelihood: float
    top_gradient: FloatArray = field(repr=False)
    judge_gradient: FloatArray = field(repr=False)
    slope_at_zero: FloatArray = field(repr=False, default_factory=lambda: np.empty(0))
    top_information: FloatArray = field(repr=False, default_factory=lambda: np.empty((0, 0)))
    judge_information: FloatArray = field(repr=False, default_factory=lambda: np.empty((0, 0, 0)))
    cross_information: FloatArray = field(repr=False, default_factory=lambda: np.empty((0, 0, 0)))

    @property
    def first_derivatives(self) -> Evaluation:
        """The same without slopes at zero and information."""
        return Evaluation(self.log_likelihood, self.top_gradient, self.judge_gradient)

    @property
    def relative_gradient(self) -> float:
        """Largest gradient component over the size of the log-likelihood."""
        largest = max(np.abs(self.top_gradient).max(), np.abs(self.judge_gradient).max(initial=0.0))
        return float(largest / max(1.0, abs(self.log_likelihood)))

    def times(self, factor: float) -> Evaluation:
        """That of so many times as many comparisons."""
        return Evaluation(*(factor * getattr(self, field.name) for field in fields(self)))


class _Sums:
    """Running sums of one pass; every array is the total over the rows added so far."""

    def __init__(
        self, cells: Comparisons, model: Model, at: Parameters, curvature: Curvature | None, at_zero: bool
    ):
        self.model, self.at, self.curvature = model, at, curvature
        self.n, self.p, n_judges = len(cells.models), len(model.roles), len(cells.judges)
        blocks, top = len(model.blocks), self.n + self.p
        self.gamma = model.gamma(at)
        self.free = list(range(blocks)[model.free_rows])
        self.log_likelihood = 0.0
        self.top_gradient, self.judge_gradient = np.zeros(top), np.zeros((blocks, n_judges))
        self.asks_at_zero = at_zero
        if not curvature:
            return
        self.slope_at_zero = np.zeros(n_judges)
        positions = model.has(Role.OFFSET)
        if model.weights_vary and not self.p:
            self.share_at_zero = first_shown_share(cells) if positions else np.full(n_judges, 0.5)
        elif blocks and not self.p:
            self.slope_at_zero += net_wins(cells, positions) @ at.scores
        self.pairs = np.zeros((self.n, self.n))
        self.further = np.zeros((top, top))  # but for what scores share among themselves
        self.own = np.zeros((blocks, blocks, n_judges))
        self.cross = np.zeros((blocks, n_judges, self.n))
        self.cross_further = np.zeros((blocks, n_judges, self.p))

    def add(self, rows: Listed | Table) -> None:
        """Add some of the comparisons."""
        terms = At(rows, self.model, self.at, self.gamma)
        self.log_likelihood += float(np.vdot(rows.count, terms.log_likelihood))
        self.add_gradient(terms)
        if self.curvature:
            self._add_slope_at_zero(terms)
            self._add_curvature(terms)

    def add_gradient(self, terms: At) -> None:
        """Add the first derivatives of some of the comparisons."""
        rows = terms.rows
        self.top_gradient[: self.n] += rows.by_model(terms.residual, terms.g)
        for row in self.free:
            values, factors = terms.first(self.model.blocks[row].role)
            self.judge_gradient[row] += rows.by_judge(values, *factors, terms.column[row])
        if terms.further is not None:
            for role, column in terms.further.places.items():
                values, factors = terms.first(role)
                self.top_gradient[self.n + column] += terms.further.by_column(role, product(values, *factors))

    def _add_slope_at_zero(self, terms: At) -> None:
        rows = terms.rows
        if not self.asks_at_zero:
            return
        if self.p and self.model.has(Role.WEIGHT):
            at_zero = terms.law_at(terms.eta - terms.signal).mean
            self.slope_at_zero += rows.by_judge(rows.count * (terms.outcome - at_zero), terms.d, terms.shape)
        elif terms.shape is not None and not self.p:
            share = rows.spread(self.share_at_zero)
            self.slope_at_zero += rows.by_judge(rows.count * (terms.outcome - share), terms.d, terms.shape)

    def _add_curvature(self, terms: At) -> None:
        rows, blocks = terms.rows, self.model.blocks
        second = Second(terms, self.curvature == "observed")
        rows.by_pair(second.weight, None if terms.g is None else terms.g * terms.g, self.pairs)
        for row in self.free:
            role, column = blocks[row].role, terms.column[row]
            rows.by_both(second.of(Role.QUALITY, role)[0], times_both(terms.g, column), self.cross[row])
            for other_row in self.free[: self.free.index(row) + 1]:
                values, factors = second.of(role, blocks[other_row].role)
                if row == other_row == 0 and role is Role.WEIGHT:  # in g itself
                    values = second.straight
                total = rows.by_judge(values, *factors, column, terms.column[other_row])
                self.own[row, other_row] += total
                if row != other_row:
                    self.own[other_row, row] += total
        if terms.further is not None:
            self._add_further(terms, terms.further, second)

    def _add_further(self, terms: At, extra: BlockColumns, second: Second) -> None:
        """What the further blocks share with scores, with judges and among themselves."""

        def by_row(first: Role, second_factor: Role) -> FloatArray:
            values, factors = second.of(first, second_factor)
            return product(values, *factors)

        n = self.n
        for role, column in extra.places.items():
            self.further[:n, n + column] += extra.by_model(role, by_row(Role.QUALITY, role))
            for row in self.free:
                values = times(by_row(self.model.blocks[row].role, role), terms.column[row])
                self.cross_further[row][:, column] += extra.by_judge(role, values)
            for second_role, second_column in extra.places.items():
                self.further[np.ix_(n + column, n + second_column)] += extra.by_two(
                    role, second_role, by_row(role, second_role)
                )

    def evaluation(self) -> Evaluation:
        first = (self.log_likelihood, self.top_gradient, self.judge_gradient)
        for row, k in np.argwhere(held(self.model, self.at)) if self.model.n_strengths else ():
            self.judge_gradient[row, k] = 0.0  # a parameter that does not move tells nothing
            if self.curvature:
                self.own[row, :, k] = self.own[:, row, k] = 0.0
                self.cross[row, k] = self.cross_further[row, k] = 0.0
        if not self.curvature:
            return Evaluation(*first)
        laplacian = -(self.pairs + self.pairs.T)
        np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
        top, cross = laplacian, self.cross
        if self.p:
            top, cross = self.further, np.concatenate([self.cross, self.cross_further], axis=2)
            top[self.n :, : self.n] = top[: self.n, self.n :].T
            top[: self.n, : self.n] = laplacian
        return Evaluation(*first, self.slope_at_zero, top, self.own.transpose(2, 0, 1), cross)


def evaluate(
    cells: Comparisons,
    model: Model,
    at: Parameters,
    curvature: Curvature | None = None,
    at_zero: bool = True,
) -> Evaluation:
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
    at_zero : bool
        Whether slopes at zero are wanted, too; with further blocks they take a second law of every row.
    """
    sums = _Sums(cells, model, at, curvature, at_zero)
    for rows in laid_out(cells, CHUNK):
        sums.add(rows)
    return sums.evaluation()


def gradient(cells: Comparisons, model: Model, at: Parameters) -> Evaluation:
    """First derivatives as `evaluate` has them; the log-likelihood is not computed, and nan."""
    sums = _Sums(cells, model, at, None, False)
    sums.log_likelihood = np.nan
    for rows in laid_out(cells, CHUNK):
        sums.add_gradient(At(rows, model, at, sums.gamma))
    return sums.evaluation()
