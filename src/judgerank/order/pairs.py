"""The order of the models in a fit: every pair tested.

Scores and their differences are on the reported scale (`judgerank.order.scale`).

Two models differ if two tests say so, the same way round. The Wald test of the fit takes its weights of the judges
for known; where models are all but equal these suit the noise, and it rejects far too often. The other test weighs
judges by what they say if the two models are equal (`judgerank.order.equality`), which keeps its level there. The
larger p-value counts. Where all judges weigh the same the two are one test.

Where there are too few questions for errors by question, the second test is by sign flips of whole questions
(`judgerank.order.flips`). Ranks then follow from the pairs that Holm's procedure rejects.

Where one model wins nearly all, both tests lose power, and comparisons of the two by themselves may stand in for
them (`judgerank.order.head_to_head`).

Models that no chain of comparisons connects are never ranked against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import ndtr

from judgerank.data.arrays import BoolArray, FloatArray, ObjectArray
from judgerank.data.cache import remembered
from judgerank.data.connectivity import components
from judgerank.data.errors import ConfigError, NoIntervalError
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import at_degrees, quantile, two_sided, wald
from judgerank.order.equality import tests_of_equality
from judgerank.order.flips import tests_by_flips
from judgerank.order.head_to_head import lopsided_leads
from judgerank.order.scale import reported_covariance, scale_of

ROUNDING = 1e-9  # of differences and errors, over the largest error


@dataclass(frozen=True)
class Order:
    """The models of one component by falling score, and both tests of every pair.

    Attributes
    ----------
    models : object array, shape (n,)
    difference, error : float array, shape (2, n, n)
        Of s_i - s_j with the weights of the fit, and with those under equality; infinite errors on the diagonal.
    covariance : float array, shape (n, n)
        Of the scores, with the weights of the fit.
    degrees_of_freedom : float
        Of the errors, all together.
    flipped : bool
        Whether the second test is by sign flips; its errors are those that its p-values imply.
    leads : float array, shape (n, n), optional
        By comparisons of a pair alone, over their errors, where one wins nearly all
        (`judgerank.order.head_to_head`).
    degrees_of_pairs : float array, shape (n, n), optional
        Of the errors, where some pairs have fewer than all together.
    """

    models: ObjectArray
    difference: FloatArray
    error: FloatArray
    covariance: FloatArray
    degrees_of_freedom: float
    flipped: bool = False
    leads: FloatArray | None = None
    degrees_of_pairs: FloatArray | None = None

    @property
    def by_pair(self) -> FloatArray:
        """Degrees of freedom of every pair, shape (n, n)."""
        pair_degrees = self.degrees_of_pairs
        return np.full_like(self.covariance, self.degrees_of_freedom) if pair_degrees is None else pair_degrees

    @property
    def statistic(self) -> FloatArray:
        """Difference over its error, of the test that is less sure; zero where the two contradict each other.

        Where a pair has fewer degrees of freedom, what has its p-value at those of all together.
        """
        return np.where(self.by_leads, self._of_leads, self._of_both)

    @cached_property
    def _of_both(self) -> FloatArray:
        fit, equal = self.ratios
        smaller = np.where(fit * equal > 0, np.sign(fit) * np.minimum(np.abs(fit), np.abs(equal)), 0.0)
        return at_degrees(smaller, self.by_pair, self.degrees_of_freedom)

    @cached_property
    def _of_leads(self) -> FloatArray:
        """The leads, with p-values of normal ones at these degrees of freedom; zero where the fit contradicts."""
        if self.leads is None:
            return np.zeros_like(self.covariance)
        fit, sure, dof = self.ratios[0], np.abs(self.leads), self.degrees_of_freedom
        sure = sure if np.isinf(dof) else -quantile(ndtr(-sure), dof)
        return np.where(fit * self.leads > 0, np.copysign(sure, fit), 0.0)

    @property
    def by_leads(self) -> BoolArray:
        """Which pairs are known best by their own comparisons, shape (n, n)."""
        return np.asarray(np.abs(self._of_leads) > np.abs(self._of_both))

    @property
    def never_differ(self) -> BoolArray:
        """By test, which pairs get the same answers throughout: no difference and no error, shape (2, n, n)."""
        small = ROUNDING * np.nanmax(self.error, initial=0.0, where=np.isfinite(self.error))
        return np.asarray((np.abs(self.difference) <= small) & (self.error <= small))

    @property
    def ratios(self) -> FloatArray:
        """Differences over their errors, shape (2, n, n); zero of pairs that never differ."""
        never, z_scores = self.never_differ, np.zeros_like(self.difference)
        with np.errstate(divide="ignore"):  # a difference without error is as sure as can be
            return np.divide(self.difference, self.error, out=z_scores, where=~never)

    @property
    def p_value(self) -> FloatArray:
        """Of equal scores, shape (n, n)."""
        return two_sided(self.statistic, self.degrees_of_freedom)


Fitted = Uncertainty | Sequence[Uncertainty] | Sequence[Order]


def orders(result: Fitted) -> Iterator[Order]:
    """One order for every component of the comparisons, the largest first.

    Parameters
    ----------
    result : Uncertainty, or sequence of Uncertainty or Order
        A fit, fits of single components, or what this returned before.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.
    ConfigError
        If it is no fit.
    """
    if isinstance(result, Uncertainty):
        yield from _own_orders(result)
        return
    if not isinstance(result, list | tuple):
        raise ConfigError(f"this takes a fit, and {type(result).__name__} is none: fit the judgments first (fit)")
    for part in result:
        yield from [part] if isinstance(part, Order) else orders(part)


@remembered
def _own_orders(result: Uncertainty) -> list[Order]:
    return orders_by_errors(result)[0]


def orders_by_errors(*results: Uncertainty) -> list[list[Order]]:
    """The orders of one fit by each of several kinds of error, such as its own and those by `clustered`.

    What does not depend on the errors is computed once. Judges' weights under equality are found pair by pair, or,
    where there are too many models and judges for that, as `order.equality_large` has it. Where question effects
    were integrated out, they are found near the fit without them, whose residuals keep the level if errors are by
    question, and its differences are brought to this fit's scale.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.
    """
    if any(
        result_by_error.robust is not None and result_by_error.by_cluster is None for result_by_error in results
    ):
        raise NoIntervalError("pairs and ranks take every cluster's residuals, and these were not kept")
    results = tuple(result_by_error.of_tests for result_by_error in results)
    result = results[0]
    orders_by_kind: list[list[Order]] = [[] for _ in results]
    scale = scale_of(result)
    names, s = np.asarray(result.comparisons.models, object), scale.scores
    covariances = [reported_covariance(result_by_error) for result_by_error in results]
    cells, at = result.comparisons, result.solution.parameters
    kinds = [result_by_error.by_cluster for result_by_error in results]
    longer = scale.factor
    if result.effects is not None:
        at = result.effects.without
        longer = float(s.std() / at.scores.std()) if np.ptp(at.scores) > 0 else 1.0
    pooled = cells if result.model.judge_blocks or result.model.further else cells.pool_judges()
    few, leads = result.flips is not None, [lopsided_leads(result_by_error) for result_by_error in results]
    test = tests_by_flips(result.flips, s / longer) if few else tests_of_equality(pooled, result.model, at, kinds)
    for group in sorted(components(cells), key=len, reverse=True):
        chosen = np.flatnonzero(np.isin(names, group))
        chosen = chosen[np.argsort(-s[chosen], kind="stable")]
        among = np.array([v[np.ix_(chosen, chosen)] for v in covariances])
        variances = np.diagonal(among, axis1=1, axis2=2)
        errors = np.sqrt(np.maximum(variances[:, :, None] + variances[:, None, :] - 2 * among, 0.0))
        errors[:, range(len(chosen)), range(len(chosen))] = np.inf
        if not (errors > 0).all():
            raise NoIntervalError("there are no intervals: some differences have no standard error")
        try:
            equal, equal_errors = test(chosen)
        except np.linalg.LinAlgError:
            raise NoIntervalError("there are no intervals: some differences are not determined") from None
        difference = np.array([np.subtract.outer(s[chosen], s[chosen]), longer * equal])
        for number, result_by_error in enumerate(results):
            error = np.array([errors[number], longer * equal_errors[0 if few else number]])
            dof = result_by_error.degrees_of_freedom
            by_pair = leads[number]
            component_leads = None if by_pair is None else by_pair[np.ix_(chosen, chosen)]
            of_pairs = result_by_error.degrees_of_pairs[np.ix_(chosen, chosen)]
            orders_by_kind[number].append(
                Order(names[chosen], difference, error, among[number], dof, few, component_leads, of_pairs)
            )
    return orders_by_kind


def pairwise(result: Fitted, level: float = 0.95) -> pd.DataFrame:
    """Every pair of models compared, the higher score first.

    Returns
    -------
    DataFrame
        ``first, second, comparable, difference, standard_error, low, high, p_value, p_holm, separated, test``.
        ``difference`` and ``standard_error`` are of the fit's reported scores. The interval, by itself, holds zero
        exactly if either test leaves equality open: it reaches over the intervals of both, and is missing where
        flips say nothing of the pair. ``p_value`` is the larger of both tests', or that of the pair's own
        comparisons where these stand in; ``test`` says whose it is (``wald``, ``equality``, ``flips`` or
        ``head_to_head``), ``p_holm`` has Holm's (1979) adjustment for all comparable pairs; a pair is separated if
        that is at most one minus the level.
        Pairs that no chain of comparisons connects are not comparable, and nothing is said of them.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.
    """
    component_orders = list(orders(result))
    frame = pd.concat([_pairs(order, level) for order in component_orders], ignore_index=True)
    frame["p_holm"] = holm(frame["p_value"].to_numpy())
    frame["separated"] = frame["p_holm"] <= 1 - level  # as `separated` has it
    across = [
        (first, second)
        for number, order in enumerate(component_orders)
        for later in component_orders[number + 1 :]
        for first in order.models
        for second in later.models
    ]
    incomparable = pd.DataFrame(across, columns=["first", "second"]).assign(comparable=False, separated=False)
    columns = ["first", "second", "comparable", "difference", "standard_error", "low", "high", "p_value", "p_holm"]
    both = frame if incomparable.empty else pd.concat([frame, incomparable], ignore_index=True)
    return both[[*columns, "separated", "test"]]


def separated(component_orders: Sequence[Order], level: float) -> BoolArray:
    """Whether the pairs i < j of every order, one after the other, are separated, as in `pairwise`."""
    p = np.concatenate([order.p_value[np.triu_indices(len(order.models), 1)] for order in component_orders])
    rejected: BoolArray = holm(p) <= 1 - level
    return rejected


def _pairs(order: Order, level: float) -> pd.DataFrame:
    i, j = np.triu_indices(len(order.models), 1)
    difference, error, (fit, equal) = order.difference[:, i, j], order.error[:, i, j], order.ratios[:, i, j]
    low, high = wald(difference, np.where(np.isinf(error), np.nan, error), level, order.by_pair[i, j])
    (fit_low, fit_high), by_leads, p = (low[0], high[0]), order.by_leads[i, j], order.p_value[i, j]
    sure = by_leads & (p <= 1 - level)  # equality is out, and how far they differ is known as before
    low = np.where(sure, np.maximum(fit_low, ROUNDING * difference[0]), low.min(axis=0))
    high = np.where(sure, fit_high, high.max(axis=0))
    second = "flips" if order.flipped else "equality"
    columns = {
        "first": order.models[i],
        "second": order.models[j],
        "comparable": np.ones(len(i), bool),
        "difference": difference[0],
        "standard_error": error[0],
        "low": low,
        "high": high,
        "p_value": p,
        "test": np.where(by_leads, "head_to_head", np.where(fit <= equal, "wald", second)),
    }
    return pd.DataFrame(columns)


def holm(p: FloatArray) -> FloatArray:
    """p-values adjusted so that none is rejected falsely with the probability they are held to (Holm, 1979)."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    steps = np.arange(len(p), 0, -1) * p[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def significant(tests: pd.DataFrame, level: float) -> pd.DataFrame:
    """The rows whose ``p_holm`` is at most 1 - level."""
    return tests[tests["p_holm"] <= 1 - level]
