"""The order of the models in a fit: every pair tested.

Scores and their differences are on the reported scale (`judgerank.order.scale`).

Two models differ if two tests say so, the same way round. The Wald test of the fit takes its weights of the judges
for known; where models are all but equal these suit the noise, and it rejects far too often. The other test weighs
judges by what they say if the two models are equal (`judgerank.order.equality`), which keeps its level there. The
larger p-value counts. Where all judges weigh the same the two are one test.

Where there are too few questions for errors by question, pairs are tested by sign flips of whole questions instead
(`judgerank.order.flips`). Few comparisons, and models of which one wins nearly all, have an exact test by
their own comparisons (`judgerank.order.head_to_head`). What follows from all tests together is in
`judgerank.order.claims`; the tables here are views of it.

Models that no chain of comparisons connects are never ranked against each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import ndtr

from judgerank.data.arrays import BoolArray, FloatArray, ObjectArray
from judgerank.data.cache import remembered
from judgerank.data.connectivity import components
from judgerank.data.errors import ConfigError, NoIntervalError
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import at_degrees, quantile, require_level, two_sided, wald
from judgerank.order.claims import Claims, closed, holm
from judgerank.order.equality import tests_of_equality
from judgerank.order.flips import tests_by_flips
from judgerank.order.head_to_head import OwnTests, own_tests
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
        Whether the second test is by sign flips; its errors are those that its p-values imply. It counts alone,
        unless the fit's errors allow for judges' tastes, of which questions say nothing.
    head_to_head : OwnTests, optional
        Exact tests by the pairs' own comparisons (`judgerank.order.head_to_head`).
    degrees_of_pairs : float array, shape (n, n), optional
        Of the errors, where some pairs have fewer than all together.
    like_these : bool
        Whether the fit's errors allow for the tastes of judges.
    tests : tuple of str
        Names of the test of the fit, and of the exact one.
    """

    models: ObjectArray
    difference: FloatArray
    error: FloatArray
    covariance: FloatArray
    degrees_of_freedom: float
    flipped: bool = False
    head_to_head: OwnTests | None = None
    degrees_of_pairs: FloatArray | None = None
    like_these: bool = False
    tests: tuple[str, str] = ("wald", "head_to_head")

    @property
    def by_pair(self) -> FloatArray:
        """Degrees of freedom of every pair, shape (n, n)."""
        pair_degrees = self.degrees_of_pairs
        return np.full_like(self.covariance, self.degrees_of_freedom) if pair_degrees is None else pair_degrees

    @property
    def statistic(self) -> FloatArray:
        """Difference over its error, by the test that counts; zero where tests contradict each other.

        That is the exact test where it counts alone, and else the surer one of it and the tests of the fit. Where
        a pair has fewer degrees of freedom, what has its p-value at those of all together.
        """
        return np.where(self.by_own, self._of_own, self._of_fit)

    @cached_property
    def _of_fit(self) -> FloatArray:
        fit, equal = self.ratios
        size = np.abs(equal) if self._by_flips_alone else np.minimum(np.abs(fit), np.abs(equal))
        smaller = np.where(fit * equal > 0, np.sign(fit) * size, 0.0)
        if self._by_flips_alone:
            return smaller
        return at_degrees(smaller, self.by_pair, self.degrees_of_freedom)

    @property
    def _by_flips_alone(self) -> bool:
        return self.flipped and not self.like_these

    @cached_property
    def _of_own(self) -> FloatArray:
        """The exact tests' statistics, with their p-values at these degrees of freedom; zero against the fit."""
        if self.head_to_head is None:
            return np.zeros_like(self.covariance)
        fit, sure, dof = self.ratios[0], np.abs(self.head_to_head.leads), self.degrees_of_freedom
        sure = sure if np.isinf(dof) else -quantile(ndtr(-sure), dof)
        return np.where(fit * self.head_to_head.leads > 0, np.copysign(sure, fit), 0.0)

    @property
    def by_own(self) -> BoolArray:
        """Which pairs are judged by their own comparisons, shape (n, n)."""
        if self.head_to_head is None:
            return np.zeros(self.covariance.shape, bool)
        return np.asarray(self.head_to_head.alone | (np.abs(self._of_own) > np.abs(self._of_fit)))

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

    @cached_property
    def p_value(self) -> FloatArray:
        """Of equal scores, shape (n, n)."""
        return two_sided(self.statistic, self.degrees_of_freedom)


@runtime_checkable
class Ranked(Protocol):
    """What has a fit for each component, as `judgerank.rank` returns it."""

    @property
    def fits(self) -> Sequence[Uncertainty]: ...


Fitted = Uncertainty | Ranked | Sequence[Uncertainty] | Sequence[Order]


def orders(result: Fitted) -> Iterator[Order]:
    """One order for every component of the comparisons, the largest first.

    Parameters
    ----------
    result : Uncertainty, Ranking, or sequence of Uncertainty or Order
        A fit, a ranking, fits of single components, or what this returned before.

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
    if isinstance(result, Ranked):
        result = result.fits
    if not isinstance(result, list | tuple):
        raise ConfigError(f"this requires a fit, not a {type(result).__name__}: fit the judgments first (fit)")
    for part in result:
        yield from [part] if isinstance(part, Order) else orders(part)


@remembered
def _own_orders(result: Uncertainty) -> list[Order]:
    return orders_by_errors(result)[0] if result.errors.sizes is None else [_order_by_sizes(result)]


def _order_by_sizes(result: Uncertainty) -> Order:
    """The order by differences of scores: t-tests of paired tasks, and exact tests where scores have two values.

    Of a difference that is the same in every task the error is what the sign test of the tasks implies.
    """
    sizes, scores = result.errors.sizes, scale_of(result).scores
    assert sizes is not None
    chosen = np.argsort(-scores, kind="stable")
    among = np.ix_(chosen, chosen)
    difference = np.subtract.outer(scores[chosen], scores[chosen])
    error, degrees = sizes.unit * sizes.errors[among], sizes.degrees[among]
    np.fill_diagonal(error, np.inf)
    size, always = np.abs(difference), -quantile(0.5**sizes.n_clusters, degrees)
    is_constant = (error <= ROUNDING * size) & (size > 0)
    error = np.where(is_constant, size / np.where(is_constant, always, 1.0), error)
    exact = OwnTests(sizes.leads, sizes.exact, np.full_like(sizes.leads, 0.5)).of_models(chosen)
    return Order(
        np.asarray(result.comparisons.models, object)[chosen],
        np.stack([difference] * 2),
        np.stack([error] * 2),
        reported_covariance(result)[among],
        sizes.n_clusters - 1.0,
        head_to_head=exact,
        degrees_of_pairs=degrees,
        tests=("paired_t", "mcnemar"),
    )


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
        result_by_error._is_robust and result_by_error.errors.by_cluster is None for result_by_error in results
    ):
        raise NoIntervalError("pairs and ranks take every cluster's residuals, and these were not kept")
    results = tuple(result_by_error._of_tests for result_by_error in results)
    result = results[0]
    orders_by_kind: list[list[Order]] = [[] for _ in results]
    scale = scale_of(result)
    groups = sorted(components(result.comparisons), key=len, reverse=True)
    names, s = np.asarray(result.comparisons.models, object), scale.scores
    covariances = [reported_covariance(result_by_error) for result_by_error in results]
    cells, parameters = result.comparisons, result.solution.parameters
    kinds = [kind for result_by_error in results for kind in _residuals(result_by_error)]
    longer = scale.factor
    if result.effects is not None:
        parameters = result.effects.without
        longer = float(s.std() / parameters.scores.std()) if np.ptp(parameters.scores) > 0 else 1.0
    pooled = cells if result.model.judge_blocks or result.model.further else cells.pool_judges()
    few, places = result.errors.flips is not None, [np.flatnonzero(np.isin(names, group)) for group in groups]
    exact = [None if few else own_tests(result_by_error, places) for result_by_error in results]
    test = (
        tests_by_flips(result.errors.flips, s / longer, result.errors.flips_across)
        if few
        else tests_of_equality(pooled, result.model, parameters, kinds, result.errors.tastes)
    )
    for columns in places:
        chosen = columns[np.argsort(-s[columns], kind="stable")]
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
        if not few:
            equal_errors = _by_result(results, equal_errors)
        difference = np.array([np.subtract.outer(s[chosen], s[chosen]), longer * equal])
        for number, result_by_error in enumerate(results):
            equal_error = longer * equal_errors[0 if few else number]
            if result_by_error.errors.by_cluster is None and not few:  # that of the likelihood
                equal_error = np.sqrt(result_by_error.dispersion) * equal_error
            error = np.array([errors[number], equal_error])
            dof = result_by_error.degrees_of_freedom
            head_to_head = exact[number]
            head_to_head = None if head_to_head is None else head_to_head.of_models(chosen)
            of_pairs = result_by_error.degrees_of_pairs[np.ix_(chosen, chosen)]
            orders_by_kind[number].append(
                Order(
                    names[chosen],
                    difference,
                    error,
                    among[number],
                    dof,
                    few,
                    head_to_head,
                    of_pairs,
                    result_by_error._speaks_of_judges_like_these,
                )
            )
    return orders_by_kind


def _residuals(result: Uncertainty) -> list[csr_array | None]:
    """Residuals of every clustering that the errors are of: one, or where clusters are crossed three."""
    return [result.errors.by_cluster, *(result.errors.across or ())]


def _by_result(results: Sequence[Uncertainty], errors: FloatArray) -> FloatArray:
    """Errors by result, shape (F, n, n), from those of every clustering of each.

    Of crossed clusters variances are added up as in `inference.clusters.two_way`. None is smaller than that by
    either clustering alone, as few clusters can make it.
    """
    by_result, start = [], 0
    for result in results:
        end = start + len(_residuals(result))
        by_result.append(errors[start] if end == start + 1 else _of_crossed(errors[start:end] ** 2))
        start = end
    return np.array(by_result)


def _of_crossed(variances: FloatArray) -> FloatArray:
    """Errors, shape (n, n), from variances by the first clusters, the second and pairs of them; (3, n, n)."""
    known = np.isfinite(variances).all(axis=0)
    first, second, both = np.where(known, variances, 0.0)
    return np.where(known, np.sqrt(np.maximum(first + second - both, np.maximum(first, second))), np.inf)


def pairwise(result: Fitted, level: float = 0.95) -> pd.DataFrame:
    """Every pair of models compared, the higher score first.

    Returns
    -------
    DataFrame
        ``first, second, comparable, difference, standard_error, low, high, p_value, p_holm, separated, test``.
        ``difference`` and ``standard_error`` are of the fit's reported scores. The interval, by itself, holds zero
        exactly if the pair's test leaves equality open; it is missing where flips say nothing of the pair.
        ``p_value`` is that of the test that counts, which ``test`` names: ``wald``, ``equality``, ``flips``,
        ``head_to_head`` (its own comparisons, exactly), or ``implied`` where it follows from other pairs. Where
        scores were compared it is ``paired_t``, or ``mcnemar`` where scores have two values.
        ``p_holm`` has Holm's (1979) adjustment for all comparable pairs, closed under transitivity
        (`judgerank.order.claims`); a pair is separated if that is at most one minus the level.
        Pairs that no chain of comparisons connects are not comparable, and nothing is said of them.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.

    Examples
    --------
    >>> import judgerank
    >>> result = judgerank.fit(judgerank.example())
    >>> pairs = judgerank.pairwise(result)
    >>> len(pairs), list(pairs)[:2]
    (15, ['first', 'second'])
    >>> bool(pairs.set_index(["first", "second"])["separated"]["oak", "thorn"])
    True
    """
    component_orders = list(orders(result))
    adjusted = _adjusted(component_orders)
    parts = [_pairs(order, p, level) for order, p in zip(component_orders, adjusted, strict=True)]
    frame = pd.concat(parts, ignore_index=True)
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


def rank_intervals(result: Fitted, level: float = 0.95) -> pd.DataFrame:
    """Intervals that hold all ranks at once with the given confidence: ``model, rank, low, high``.

    Views of the claims (`judgerank.order.claims`): a model's rank is at least one plus the number of models that
    are significantly better, and at most their number less that of those significantly worse. Ranks are among the
    models of a component, one component after the other.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.

    Examples
    --------
    >>> import judgerank
    >>> result = judgerank.fit(judgerank.example())
    >>> judgerank.rank_intervals(result)[["model", "rank"]].head(2).to_dict("records")
    [{'model': 'oak', 'rank': 1}, {'model': 'maple', 'rank': 2}]
    """
    parts = [
        pd.DataFrame(
            {
                "model": claims.models,
                "rank": np.arange(1, len(claims.models) + 1),
                "low": claims.best_rank,
                "high": claims.worst_rank,
            }
        )
        for claims in claims_of(result, level)
    ]
    return pd.concat(parts, ignore_index=True)


def claims_of(result: Fitted, level: float = 0.95) -> list[Claims]:
    """The claims of every component, the largest first; all pairs are tested together.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.
    """
    require_level(level)
    component_orders = list(orders(result))
    return [
        Claims(tuple(order.models), p <= 1 - level)
        for order, p in zip(component_orders, _adjusted(component_orders), strict=True)
    ]


def separated(component_orders: Sequence[Order], level: float) -> BoolArray:
    """Whether the pairs i < j of every order, one after the other, are separated, as in `pairwise`."""
    claims = claims_of(component_orders, level)
    return np.concatenate([part.better[np.triu_indices(len(part.models), 1)] for part in claims])


def _adjusted(component_orders: Sequence[Order]) -> list[FloatArray]:
    """Adjusted p-values of every component, closed under transitivity, shape (n, n) each."""
    places = [np.triu_indices(len(order.models), 1) for order in component_orders]
    p = holm(
        np.concatenate([order.p_value[columns] for order, columns in zip(component_orders, places, strict=True)])
    )
    adjusted = []
    for order, columns in zip(component_orders, places, strict=True):
        matrix = np.ones_like(order.covariance)
        matrix[columns], p = p[: len(columns[0])], p[len(columns[0]) :]
        adjusted.append(closed(np.where(order.statistic > 0, matrix, 1.0)))
    return adjusted


def _pairs(order: Order, adjusted: FloatArray, level: float) -> pd.DataFrame:
    i, j = np.triu_indices(len(order.models), 1)
    difference, error, (fit, equal) = order.difference[:, i, j], order.error[:, i, j], order.ratios[:, i, j]
    p_holm, by_own = adjusted[i, j], order.by_own[i, j]
    p = np.minimum(order.p_value[i, j], p_holm)  # above it only where the claim follows from others
    low, high = _intervals(order, p <= 1 - level, level)
    second = "flips" if order.flipped else "equality"
    of_fit, exact = order.tests
    test = np.where(by_own, exact, np.where((fit <= equal) & (not order._by_flips_alone), of_fit, second))
    columns = {
        "first": order.models[i],
        "second": order.models[j],
        "comparable": np.ones(len(i), bool),
        "difference": difference[0],
        "standard_error": error[0],
        "low": low,
        "high": high,
        "p_value": p,
        "p_holm": p_holm,
        "separated": p_holm <= 1 - level,
        "test": np.where(p < order.p_value[i, j], "implied", test),
    }
    return pd.DataFrame(columns)


def difference_intervals(order: Order, level: float) -> FloatArray:
    """Ends of the intervals of the differences s_i - s_j of `pairwise`, one pair by itself; shape (2, n, n)."""
    n, (adjusted,) = len(order.models), _adjusted([order])
    i, j = np.triu_indices(n, 1)
    low, high = _intervals(order, np.minimum(order.p_value, adjusted)[i, j] <= 1 - level, level)
    ends = np.zeros((2, n, n))
    ends[:, i, j], ends[:, j, i] = (low, high), (-high, -low)
    return ends


def _intervals(order: Order, is_sure: BoolArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Ends of the intervals of the differences of all pairs i < j, shape (P,) each.

    Wald's, and where the judges' weights under equality say otherwise, reaching over the interval by these, by no
    more than a width. Where an exact test counts and these hold zero, the lower end is that of its interval. They
    hold zero exactly where the pair is not sure.
    """
    i, j = np.triu_indices(len(order.models), 1)
    difference, error = order.difference[:, i, j], order.error[:, i, j]
    low, high = wald(difference, np.where(np.isinf(error), np.nan, error), level, order.by_pair[i, j])
    (fit_low, fit_high), missing = (low[0], high[0]), np.isnan(low[1]) & order.flipped
    if not order.flipped:
        width, by_fit = fit_high - fit_low, order.by_own[i, j] | np.isnan(low[1])
        low = np.where(by_fit, fit_low, np.clip(low[1], fit_low - width, fit_low))
        high = np.where(by_fit, fit_high, np.clip(high[1], fit_high, fit_high + width))
        if order.head_to_head is not None:
            exact = np.flatnonzero(order.by_own[i, j] & ~(low > 0))
            least = order.head_to_head.least_lead(i[exact], j[exact], level)
            low[exact] = np.fmax(low[exact], np.minimum(least, difference[0, exact]))
    else:
        low, high = fit_low, fit_high
    low = np.where(is_sure, np.maximum(low, ROUNDING * difference[0]), np.minimum(low, 0.0))
    return np.where(missing, np.nan, low), np.where(missing, np.nan, high)
