"""The log-likelihood of the whole family: terms of every row, sums of them, gradients and information."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.sparse import coo_array

from judgerank.data.arrays import FloatArray, exp
from judgerank.data.comparisons import Comparisons
from judgerank.engine.levels import first_shown_share, net_wins
from judgerank.engine.rows import BlockColumns, Listed, Table, laid_out, parts
from judgerank.model.block import Need, Role
from judgerank.model.judge_blocks import JudgeBlock
from judgerank.model.law import Law, StageLaw
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import held
from judgerank.model.tied_law import TiedLaw

# Rows at one point: the law of each, and the parts of its derivatives.
#
#     eta = g q + o,   g = exp(w),   nu = exp(t),   tau_1 = h,   tau_3/2 = h', ...
#
# Every block adds to one of q, w, o, t and h, ..., by its role. So a block's derivative is that of eta or of a
# threshold by role, times its column, and no member of the family is named here.
CHUNK = 1 << 14  # rows evaluated at a time: the temporaries stay in cache
Values = FloatArray | None  # by row; None stands for one


class RowTerms:
    """Some of the rows at a point: their law, and what derivatives are made of.

    Attributes
    ----------
    g, d : float array or None
        Discrimination (None stands for one), and difference of the answers' qualities.
    signal, law
        g d, and the law of the outcome.
    column : list of float array or None
        What multiplies the parameters of every judge block.
    further : BlockColumns or None
    outcome, residual
        The mean outcome, or the response where strength is an outcome; its residual, counted.
    """

    def __init__(self, rows: Listed | Table, model: Model, parameters: Parameters, gamma: Values):
        self.rows, self.model = rows, model
        self.outcome = rows.response if model.has(Role.STRONG) and rows.response is not None else rows.outcome
        self.column = [_multiplier(rows, block) for block in model.blocks]
        self.further = rows.further(model.roles) if model.further and isinstance(rows, Listed) else None
        self.d = self._with(Role.QUALITY, rows.differences(parameters.scores), parameters)
        self.shape = self._shape(parameters)  # of g at unit gamma; None stands for one
        g = None if gamma is None else rows.spread(gamma)
        self.g = g if self.shape is None else times(self.shape, g)
        self.signal = self.d if self.g is None else self.g * self.d
        eta = self.signal
        thresholds: dict[Role, FloatArray] = {}
        for block, values, column in zip(model.blocks, parameters.judges, self.column, strict=True):
            if block.role is Role.OFFSET:
                eta = eta + times(rows.spread(values), column)
            elif block.role.is_threshold:
                thresholds[block.role] = self._with(block.role, times(rows.spread(values), column), parameters)
        self.log_nu = thresholds.get(Role.TIE)
        self.log_strong = tuple(log_propensity for role, log_propensity in thresholds.items() if role.is_strong)
        ties = {role.tied: log_propensity for role, log_propensity in thresholds.items() if role.tied}
        self.log_delta = ties if rows.may_tie_more else {}
        self.nu = None if self.log_nu is None else exp(self.log_nu)
        self.eta = self._with(Role.OFFSET, eta, parameters)

    @cached_property
    def law(self) -> Law | StageLaw | TiedLaw:
        return self.law_at(self.eta)

    def law_at(self, eta: FloatArray) -> Law | StageLaw | TiedLaw:
        """The law with the thresholds of here and other predictors."""
        return self.rows.law(eta, self.nu, *self.log_strong, log_delta=self.log_delta)

    @cached_property
    def level_shares(self) -> tuple[FloatArray | None, *tuple[FloatArray, ...]]:
        """Shares of the levels that have thresholds, as the law takes them."""
        if not self.log_delta:
            return self.rows.tied, *self.rows.strong
        two, *more = (self.rows.given_tie(size) for size in self.log_delta)
        return two, *more

    @property
    def log_likelihood(self) -> FloatArray:
        """Per comparison."""
        return self.law.log_likelihood(self.outcome, *self.level_shares)

    def _with(self, role: Role, values: FloatArray, parameters: Parameters) -> FloatArray:
        """With what the further blocks of a role add."""
        if self.further is None or role not in self.further:
            return values
        return values + self.further.form(role, parameters.common)

    def _shape(self, parameters: Parameters) -> Values:
        exponent: Values = None
        for row in range(len(self.column))[self.model.weights][1:]:
            if self.column[row] is not None or self.model.blocks[row].column is None:
                judge_slope = times(self.rows.spread(parameters.judges[row]), self.column[row])
                exponent = judge_slope if exponent is None else exponent + judge_slope
        if self.further is not None and Role.WEIGHT in self.further:
            judge_slope = self.further.form(Role.WEIGHT, parameters.common)
            exponent = judge_slope if exponent is None else exponent + judge_slope
        return None if exponent is None else exp(exponent)

    def factors(self, role: Role) -> tuple[Values, ...]:
        """Derivative of the predictor, or of a threshold, in a parameter of this role, but for its column."""
        if role is Role.WEIGHT:
            return self.g, self.d
        return (self.g,) if role is Role.QUALITY else ()

    def through_predictor(self, role: Role, values: FloatArray) -> FloatArray:
        """Derivative, by row, in what this role adds to of what the predictor alone decides, given that by it."""
        return np.zeros_like(values) if role.is_threshold else product(values, *self.factors(role))

    def score_factors(self, role: Role) -> tuple[FloatArray, tuple[Values, ...]]:
        """Derivative of the log-likelihood in a parameter of this role, but for its column: these multiplied."""
        return self.residual_of(role), self.factors(role)

    def row_scores(self, role: Role) -> FloatArray:
        """The same multiplied, by row."""
        values, factors = self.score_factors(role)
        return product(values, *factors)

    def residual_of(self, role: Role) -> FloatArray:
        """Counted residual of what a parameter of this role is known by: the outcome, ties or a strength."""
        if not role.is_threshold:
            return self.residual
        index = [*self.log_delta].index(role.tied) if self.log_delta else role - Role.TIE
        share = self.level_shares[index]
        assert share is not None
        return self.rows.choices * (share - self.law.chance(role))

    @property
    def of_scores(self) -> FloatArray:
        """n g^2 v of every row: its information in the difference of its two scores."""
        return product(self.rows.count * self.law.variance, self.g, self.g)

    @cached_property
    def residual(self) -> FloatArray:
        return self.rows.count * (self.outcome - self.law.mean)


class Second:
    """Minus second derivatives of the log-likelihood by row, for any two roles.

    Parameters
    ----------
    here : RowTerms
    observed : bool
        Whether these, in the logarithm of g, or what is expected of them.
    """

    def __init__(self, terms: RowTerms, observed: bool):
        self._terms, self._observed = terms, observed
        self.weight = terms.rows.count * terms.law.variance
        self._shared: dict[Role, FloatArray] = {}

    @cached_property
    def straight(self) -> FloatArray:
        """Weight times signal: the curvature in g itself, in which eta is linear."""
        return self.weight * self._terms.signal

    @cached_property
    def _curved(self) -> FloatArray:
        # the second derivatives of eta repeat its first ones, so the residual part only shifts it
        return self.straight - self._terms.residual if self._observed else self.straight

    def _with_threshold(self, role: Role) -> FloatArray:
        if role not in self._shared:
            self._shared[role] = self._terms.rows.count * self._terms.law.with_chance(role)
        return self._shared[role]

    def _of_thresholds(self, first: Role, second: Role) -> FloatArray:
        count, law = self._terms.rows.choices, self._terms.law
        if first is not second:
            low, high = sorted((first, second))
            return -count * law.chance(low) * law.chance(high)
        share = law.chance(first)
        return count * share * (1.0 - share)

    def of(self, first: Role, second: Role) -> tuple[FloatArray, tuple[Values, ...]]:
        """That of two parameters of these roles, but for their columns: the product of these."""
        factors = self._terms.factors
        if first.is_threshold and second.is_threshold:
            return self._of_thresholds(first, second), ()
        if first.is_threshold or second.is_threshold:
            return self._with_threshold(max(first, second)), factors(min(first, second))
        if {first, second} == {Role.WEIGHT}:
            return self._curved, factors(Role.WEIGHT)
        if {first, second} == {Role.WEIGHT, Role.QUALITY}:
            return self._curved, factors(Role.QUALITY)
        return self.weight, factors(first) + factors(second)


def _multiplier(rows: Listed | Table, block: JudgeBlock) -> Values:
    """What multiplies a judge's parameter in every row; a position, by how many places the answers are apart."""
    if block.needs is Need.ORDER:
        return rows.apart
    return getattr(rows, block.column) if block.column else None


def times(values: FloatArray, factor: Values) -> FloatArray:
    return values if factor is None else values * factor


def product(values: FloatArray, *factors: Values) -> FloatArray:
    for factor in factors:
        values = times(values, factor)
    return values


def row_by_row(cells: Comparisons, model: Model, parameters: Parameters, rows: slice = slice(None)) -> RowTerms:
    """Some rows at a point, with values by row."""
    return RowTerms(Listed(cells, rows), model, parameters, model.gamma(parameters))


def in_parts(cells: Comparisons, model: Model, parameters: Parameters) -> Iterator[tuple[slice, RowTerms]]:
    """All rows at a point, part by part."""
    for rows in parts(cells, CHUNK):
        yield rows, row_by_row(cells, model, parameters, rows)


def by_judge(cells: Comparisons, model: Model, parameters: Parameters) -> FloatArray:
    """Log-likelihood of every judge's comparisons, shape (K,)."""
    rows = cells.count * row_by_row(cells, model, parameters).log_likelihood
    return np.asarray(np.bincount(cells.judge, rows, len(cells.judges)), float)


# Derivatives of a quantity that every row has, in all parameters.


def row_derivatives(terms: RowTerms, by_role: Callable[[Role], FloatArray]) -> coo_array:
    """Derivatives of a quantity of every row in all parameters, shape (C, N + B K + P).

    Parameters
    ----------
    here : RowTerms
        The rows, which stand in a list.
    by_role : callable
        Derivative of the quantity in what the parameters of a role add to, shape (C,): in the difference of
        qualities, in log g, in the predictor, or in a threshold.
    """
    assert isinstance(terms.rows, Listed)
    first, second, judge = terms.rows.who
    n, k = terms.rows.size
    by_quality = by_role(Role.QUALITY)
    values, columns = [by_quality, -by_quality], [first, second]
    for number, (block, column) in enumerate(zip(terms.model.blocks, terms.column, strict=True)):
        values.append(times(by_role(block.role), column))
        columns.append(n + number * k + judge)
    rows, start = [np.tile(np.arange(len(judge)), len(columns))], n + len(terms.model.blocks) * k
    if terms.further is not None:
        for role, extra_column in terms.further.places.items():
            part = terms.further.derivatives(role, by_role(role)).tocoo()
            rows.append(part.row)
            values.append(part.data)
            columns.append(start + extra_column[part.col])
    parameters = np.concatenate(rows), np.concatenate(columns)
    return coo_array((np.concatenate(values), parameters), shape=(len(judge), start + len(terms.model.roles)))


def expected_answers(terms: RowTerms) -> coo_array:
    """Derivatives of every row's expected answer, counted, in all parameters, shape (C, N + B K + P)."""

    def by_role(role: Role) -> FloatArray:
        if role.is_threshold:
            return terms.rows.count * terms.law.with_chance(role)
        return product(terms.rows.count * terms.law.variance, *terms.factors(role))

    return row_derivatives(terms, by_role)


# Likelihood, gradient and information of whatever a model describes, in one pass over the comparisons.
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
        self, cells: Comparisons, model: Model, parameters: Parameters, curvature: Curvature | None, at_zero: bool
    ):
        self.model, self.parameters, self.curvature = model, parameters, curvature
        self.n, self.p, n_judges = len(cells.models), len(model.roles), len(cells.judges)
        blocks, top = len(model.blocks), self.n + self.p
        self.gamma = model.gamma(parameters)
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
            self.slope_at_zero += net_wins(cells, positions) @ parameters.scores
        self.pairs = np.zeros((self.n, self.n))
        self.further = np.zeros((top, top))  # but for what scores share among themselves
        self.judge_information = np.zeros((blocks, blocks, n_judges))
        self.cross = np.zeros((blocks, n_judges, self.n))
        self.cross_further = np.zeros((blocks, n_judges, self.p))

    def add(self, rows: Listed | Table) -> None:
        """Add some of the comparisons."""
        terms = RowTerms(rows, self.model, self.parameters, self.gamma)
        self.log_likelihood += float(np.vdot(rows.count, terms.log_likelihood))
        self.add_gradient(terms)
        if self.curvature:
            self._add_slope_at_zero(terms)
            self._add_curvature(terms)

    def add_gradient(self, terms: RowTerms) -> None:
        """Add the first derivatives of some of the comparisons."""
        rows = terms.rows
        self.top_gradient[: self.n] += rows.by_model(terms.residual, terms.g)
        for row in self.free:
            values, factors = terms.score_factors(self.model.blocks[row].role)
            self.judge_gradient[row] += rows.by_judge(values, *factors, terms.column[row])
        if terms.further is not None:
            for role, column in terms.further.places.items():
                values, factors = terms.score_factors(role)
                self.top_gradient[self.n + column] += terms.further.by_column(role, product(values, *factors))

    def _add_slope_at_zero(self, terms: RowTerms) -> None:
        rows = terms.rows
        if not self.asks_at_zero:
            return
        if self.p and self.model.has(Role.WEIGHT):
            at_zero = terms.law_at(terms.eta - terms.signal).mean
            self.slope_at_zero += rows.by_judge(rows.count * (terms.outcome - at_zero), terms.d, terms.shape)
        elif terms.shape is not None and not self.p:
            share = rows.spread(self.share_at_zero)
            self.slope_at_zero += rows.by_judge(rows.count * (terms.outcome - share), terms.d, terms.shape)

    def _add_curvature(self, terms: RowTerms) -> None:
        rows, blocks = terms.rows, self.model.blocks
        second = Second(terms, self.curvature == "observed")
        rows.by_pair(second.weight, None if terms.g is None else terms.g * terms.g, self.pairs)
        for row in self.free:
            role, column = blocks[row].role, terms.column[row]
            factor = column if terms.g is None else times(terms.g, column)
            rows.by_both(second.of(Role.QUALITY, role)[0], factor, self.cross[row])
            for other_row in self.free[: self.free.index(row) + 1]:
                values, factors = second.of(role, blocks[other_row].role)
                if row == other_row == 0 and role is Role.WEIGHT:  # in g itself
                    values = second.straight
                total = rows.by_judge(values, *factors, column, terms.column[other_row])
                self.judge_information[row, other_row] += total
                if row != other_row:
                    self.judge_information[other_row, row] += total
        if terms.further is not None:
            self._add_further(terms, terms.further, second)

    def _add_further(self, terms: RowTerms, extra: BlockColumns, second: Second) -> None:
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
        for row, k in np.argwhere(held(self.model, self.parameters)) if self.model.n_strengths else ():
            self.judge_gradient[row, k] = 0.0  # a parameter that does not move tells nothing
            if self.curvature:
                self.judge_information[row, :, k] = self.judge_information[:, row, k] = 0.0
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
        return Evaluation(*first, self.slope_at_zero, top, self.judge_information.transpose(2, 0, 1), cross)


def evaluate(
    cells: Comparisons,
    model: Model,
    parameters: Parameters,
    curvature: Curvature | None = None,
    at_zero: bool = True,
) -> Evaluation:
    """Log-likelihood, gradient and, on request, information in one pass over the cells.

    Parameters
    ----------
    cells : Comparisons
        Aggregated or raw; the result is the same up to rounding.
    parameters : Parameters
    curvature : {"expected", "observed"}, optional
        Which information to accumulate: J' diag(n p (1 - p)) J in (s, alpha, beta), or minus the Hessian in
        (s, gamma, beta) with the rows and columns of gamma_k multiplied by gamma_k. The Hessian is taken in
        gamma because eta is linear there, which keeps Newton's method quick for weak judges; at a stationary
        point the choice makes no difference.
    at_zero : bool
        Whether slopes at zero are wanted, too; with further blocks they take a second law of every row.
    """
    sums = _Sums(cells, model, parameters, curvature, at_zero)
    for rows in laid_out(cells, CHUNK):
        sums.add(rows)
    return sums.evaluation()


def gradient(cells: Comparisons, model: Model, parameters: Parameters) -> Evaluation:
    """First derivatives as `evaluate` has them; the log-likelihood is not computed, and nan."""
    sums = _Sums(cells, model, parameters, None, False)
    sums.log_likelihood = np.nan
    for rows in laid_out(cells, CHUNK):
        sums.add_gradient(RowTerms(rows, model, parameters, sums.gamma))
    return sums.evaluation()
