"""Rows at one point: the law of each, and the parts of its derivatives.

    eta = g q + o,   g = exp(w),   nu = exp(t),   tau_1 = h,   tau_3/2 = h', ...

Every block adds to one of q, w, o, t and h, ..., by its role. So a block's derivative is that of eta or of a
threshold by role, times its column, and no member of the family is named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.portable_math import exp
from judgerank.engine.rows import Listed, Table, parts
from judgerank.model.block import Role
from judgerank.model.judge_blocks import JudgeBlock
from judgerank.model.law import Law
from judgerank.model.members import Model, Parameters
from judgerank.model.needs import Need
from judgerank.model.stage_law import StageLaw
from judgerank.model.tied_law import TiedLaw

CHUNK = 1 << 14  # rows evaluated at a time: the temporaries stay in cache
Values = FloatArray | None  # by row; None stands for one


class At:
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

    def __init__(self, rows: Listed | Table, model: Model, at: Parameters, gamma: Values):
        self.rows, self.model = rows, model
        self.outcome = rows.response if model.has(Role.STRONG) and rows.response is not None else rows.outcome
        self.column = [_multiplier(rows, block) for block in model.blocks]
        self.further = rows.further(model.roles) if model.further and isinstance(rows, Listed) else None
        self.d = self._with(Role.QUALITY, rows.differences(at.scores), at)
        self.shape = self._shape(at)  # of g at unit gamma; None stands for one
        g = None if gamma is None else rows.spread(gamma)
        self.g = g if self.shape is None else times(self.shape, g)
        self.signal = self.d if self.g is None else self.g * self.d
        eta = self.signal
        thresholds: dict[Role, FloatArray] = {}
        for block, values, column in zip(model.blocks, at.judges, self.column, strict=True):
            if block.role is Role.OFFSET:
                eta = eta + times(rows.spread(values), column)
            elif block.role.is_threshold:
                thresholds[block.role] = self._with(block.role, times(rows.spread(values), column), at)
        self.log_nu = thresholds.get(Role.TIE)
        self.log_strong = tuple(log_propensity for role, log_propensity in thresholds.items() if role.is_strong)
        ties = {role.tied: log_propensity for role, log_propensity in thresholds.items() if role.tied}
        self.log_delta = ties if rows.may_tie_more else {}
        self.nu = None if self.log_nu is None else exp(self.log_nu)
        self.eta = self._with(Role.OFFSET, eta, at)

    @cached_property
    def law(self) -> Law | StageLaw | TiedLaw:
        return self.law_at(self.eta)

    def law_at(self, eta: FloatArray) -> Law | StageLaw | TiedLaw:
        """The law with the thresholds of here and other predictors."""
        return self.rows.law(eta, self.nu, *self.log_strong, log_delta=self.log_delta)

    @cached_property
    def given(self) -> tuple[FloatArray | None, *tuple[FloatArray, ...]]:
        """Shares of the levels that have thresholds, as the law takes them."""
        if not self.log_delta:
            return self.rows.tied, *self.rows.strong
        two, *more = (self.rows.given_tie(size) for size in self.log_delta)
        return two, *more

    @property
    def log_likelihood(self) -> FloatArray:
        """Per comparison."""
        return self.law.log_likelihood(self.outcome, *self.given)

    def _with(self, role: Role, values: FloatArray, at: Parameters) -> FloatArray:
        """With what the further blocks of a role add."""
        if self.further is None or role not in self.further:
            return values
        return values + self.further.form(role, at.common)

    def _shape(self, at: Parameters) -> Values:
        exponent: Values = None
        for row in range(len(self.column))[self.model.weights][1:]:
            if self.column[row] is not None or self.model.blocks[row].column is None:
                judge_slope = times(self.rows.spread(at.judges[row]), self.column[row])
                exponent = judge_slope if exponent is None else exponent + judge_slope
        if self.further is not None and Role.WEIGHT in self.further:
            judge_slope = self.further.form(Role.WEIGHT, at.common)
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

    def first(self, role: Role) -> tuple[FloatArray, tuple[Values, ...]]:
        """Derivative of the log-likelihood in a parameter of this role, but for its column: these multiplied."""
        return self.residual_of(role), self.factors(role)

    def told(self, role: Role) -> FloatArray:
        """The same multiplied, by row."""
        values, factors = self.first(role)
        return product(values, *factors)

    def residual_of(self, role: Role) -> FloatArray:
        """Counted residual of what a parameter of this role is known by: the outcome, ties or a strength."""
        if not role.is_threshold:
            return self.residual
        index = [*self.log_delta].index(role.tied) if self.log_delta else role - Role.TIE
        share = self.given[index]
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
    here : At
    observed : bool
        Whether these, in the logarithm of g, or what is expected of them.
    """

    def __init__(self, terms: At, observed: bool):
        self._here, self._observed = terms, observed
        self.weight = terms.rows.count * terms.law.variance
        self._shared: dict[Role, FloatArray] = {}

    @cached_property
    def straight(self) -> FloatArray:
        """That of g itself, in which eta is linear."""
        return self.weight * self._here.signal

    @cached_property
    def _curved(self) -> FloatArray:
        # the second derivatives of eta repeat its first ones, so the residual part only shifts it
        return self.straight - self._here.residual if self._observed else self.straight

    def _with_threshold(self, role: Role) -> FloatArray:
        if role not in self._shared:
            self._shared[role] = self._here.rows.count * self._here.law.with_chance(role)
        return self._shared[role]

    def _of_thresholds(self, first: Role, second: Role) -> FloatArray:
        count, law = self._here.rows.choices, self._here.law
        if first is not second:
            low, high = sorted((first, second))
            return -count * law.chance(low) * law.chance(high)
        share = law.chance(first)
        return count * share * (1.0 - share)

    def of(self, first: Role, second: Role) -> tuple[FloatArray, tuple[Values, ...]]:
        """That of two parameters of these roles, but for their columns: the product of these."""
        factors = self._here.factors
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


def times_both(left: Values, right: Values) -> Values:
    return right if left is None else times(left, right)


def product(values: FloatArray, *factors: Values) -> FloatArray:
    for factor in factors:
        values = times(values, factor)
    return values


def row_by_row(cells: Comparisons, model: Model, at: Parameters, rows: slice = slice(None)) -> At:
    """Some rows at a point, with values by row."""
    return At(Listed(cells, rows), model, at, model.gamma(at))


def in_parts(cells: Comparisons, model: Model, at: Parameters) -> Iterator[tuple[slice, At]]:
    """All rows at a point, part by part."""
    for rows in parts(cells, CHUNK):
        yield rows, row_by_row(cells, model, at, rows)


def by_judge(cells: Comparisons, model: Model, at: Parameters) -> FloatArray:
    """Log-likelihood of every judge's comparisons, shape (K,)."""
    rows = cells.count * row_by_row(cells, model, at).log_likelihood
    return np.asarray(np.bincount(cells.judge, rows, len(cells.judges)), float)


# Derivatives of a quantity that every row has, in all parameters.


def row_derivatives(terms: At, by_role: Callable[[Role], FloatArray]) -> coo_array:
    """Derivatives of a quantity of every row in all parameters, shape (C, N + B K + P).

    Parameters
    ----------
    here : At
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
    at = np.concatenate(rows), np.concatenate(columns)
    return coo_array((np.concatenate(values), at), shape=(len(judge), start + len(terms.model.roles)))
