"""Exact tests of pairs by their own comparisons: for few of them, and where one model wins nearly all.

There the tests of the fit lose power. The Wald test's error grows faster than the difference (Hauck and Donner,
1977), and judges' weights under an equality that is far from true say nothing of the judges. What is left is how
the two fared. If they are equal, exchanging their names changes nothing (Fisher, 1935):

- In each question (each comparison, where they are independent) the lead of one over the other is the sum of
  residuals from the answers that judges are expected to give about equals; its sign is as likely either way.
- Independent comparisons of both with the same third model by the same judge are one pool: which of them were of
  the first model, and which of the second, is a draw without replacement.

The p-value is that of the sum of both among all exchanges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.special import betainc, betaincinv, logit, ndtr, ndtri

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, numbered
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.engine.likelihood import RowTerms, in_parts
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import two_sided
from judgerank.model.block import Role
from judgerank.order.claims import holm
from judgerank.order.flips import GROUPS, RANGE, p_either

PRICE = 2.0  # times its p-value counts beside the tests of the fit: either of two may reject (Bonferroni)
LOPSIDED = 0.5  # sum of leads, over the sum of their sizes, from which it is used: three wins to a loss
FEW = 10.0  # independent comparisons a parameter, below which errors of a fit are not to be trusted
COMPLETE = 0.9  # share of two models' comparisons that exchanges use, from which nothing else is needed
NEAR_HALF = 0.5 + 1e-6  # share won below which nobody is ahead by more than rounding
MOST_POOLED = 400  # comparisons of a set whose pools are tested


@dataclass(frozen=True)
class OwnTests:
    """Exact tests of pairs by their own comparisons.

    Attributes
    ----------
    leads : float array, shape (N, N)
        Standard normal statistics with the tests' two-sided p-values, positive where the first did better; zero
        of pairs that are not tested.
    alone : bool array, shape (N, N)
        Which of them replace the tests of the fit. The others stand beside those, at their `PRICE`.
    shares : float array, shape (N, N)
        Share that the first won of what the test counts, ties half; one half of pairs that are not tested.
    """

    leads: FloatArray
    alone: BoolArray
    shares: FloatArray

    def of_models(self, chosen: IntArray) -> OwnTests:
        """Those among some models."""
        among = np.ix_(chosen, chosen)
        return OwnTests(self.leads[among], self.alone[among], self.shares[among])

    def least_lead(self, i: IntArray, j: IntArray, level: float) -> FloatArray:
        """How far models are at least ahead of others, in log-odds, by pair; shape (P,).

        The end of the interval by Clopper and Pearson (1934), for the share won of as many comparisons as have the
        test's p-value. It is above zero exactly if that p-value is at most one minus the level. Missing where the
        first is not ahead.
        """
        leads, shares, least = self.leads[i, j], self.shares[i, j], np.full(len(i), np.nan)
        ahead = (leads > 0) & (shares > NEAR_HALF)
        for pair in np.flatnonzero(ahead).tolist():
            counts = _counts(min(float(shares[pair]), 1.0), float(ndtr(-leads[pair])))
            least[pair] = logit(betaincinv(*counts, (1 - level) / 2))
        return least


def own_tests(result: Uncertainty, groups: Sequence[IntArray]) -> OwnTests | None:
    """Exact tests of all pairs that they suit.

    The design decides which pairs they suit alone: two models that are compared with no others, since there is
    nothing else to know; and, where comparisons are independent and few, pairs whose comparisons nearly all have a
    counterpart. Beside the tests of the fit they are used where one wins nearly all.

    Parameters
    ----------
    result : Uncertainty
    groups : sequence of int array
        Places of the models of every component.

    Returns
    -------
    OwnTests, or None where raw comparisons are asked for and not there, and where claims are about other judges,
    of whose tastes a pair says little.
    """
    row_data = result._independent_rows()
    if row_data is None or result.errors.tastes or any(block.shrunk for block in result.model.further):
        return None
    rows, question = row_data
    if question is not None and len(numbered(question)[0]) == len(question):
        question = None
    if question is None and result.model.has(Role.STRONG):
        return None
    units = _Units.of(result, rows, question)
    plain = not result.model.further and rows.stages is None
    pools = _Pools.of(units, rows) if plain and question is None and _are_few(result, rows) else None
    n = len(rows.models)
    leads, alone, shares = np.zeros((n, n)), np.zeros((n, n), bool), np.full((n, n), 0.5)
    for group in groups:
        i, j = (np.sort(group)[index] for index in np.triu_indices(len(group), 1))
        is_requested = np.ones(len(i), bool) if pools is not None or len(group) == 2 else units.are_lopsided(i, j)
        for a, b in zip(i[is_requested].tolist(), j[is_requested].tolist(), strict=True):
            by_itself = plain and (len(group) == 2 or (pools is not None and pools.share(a, b) >= COMPLETE))
            of_both = [] if pools is None else pools.of_pair(a, b)
            leads[a, b], shares[a, b] = _lead(units.of_pair(a, b), of_both, by_itself)
            alone[a, b] = alone[b, a] = by_itself
    return OwnTests(leads - leads.T, alone, 0.5 + shares - shares.T)


def direct_statistics(result: Uncertainty) -> FloatArray | None:
    """Standard normal statistics of all pairs by their own comparisons alone, positive where the first did better.

    Parameters
    ----------
    result : Uncertainty

    Returns
    -------
    float array, shape (N, N), NaN of pairs that were never compared; None where raw comparisons are asked for and
    not there, or are rankings.
    """
    row_data = result._independent_rows()
    if row_data is None or row_data[0].stages is not None:
        return None
    units = _Units.of(result, *row_data)
    n = len(row_data[0].models)
    statistics = np.full((n, n), np.nan)
    for pair in np.flatnonzero(np.diff(units.by_pair.indptr)).tolist():
        i, j = divmod(pair, n)
        statistics[i, j] = _lead(units.of_pair(i, j), [], by_itself=True)[0]
        statistics[j, i] = -statistics[i, j]
    return statistics


def _counts(share: float, tail: float) -> tuple[float, float]:
    """Parameters w, n - w + 1 of the binomial tail by the beta distribution, w the given share of n, at one half.

    P(B >= w) = I_1/2(w, n - w + 1) for a binomial B of n comparisons of equal models.
    """

    def counts(logarithm: float) -> tuple[float, float]:
        n = float(np.exp(logarithm))
        return share * n, (1 - share) * n + 1

    tail = max(tail, np.finfo(float).tiny)
    enough = 1 - np.log(tail) / (2 * (share - 0.5) ** 2)  # comparisons, by Hoeffding's (1963) bound on the tail
    least, most = 0.0, float(np.log(2 * enough))
    if betainc(*counts(least), 0.5) <= tail:
        return counts(least)
    if betainc(*counts(most), 0.5) >= tail:
        return counts(most)
    return counts(brentq(lambda logarithm: float(betainc(*counts(logarithm), 0.5)) - tail, least, most))


def _lead(residuals: FloatArray, pools: Sequence[_Pool], by_itself: bool) -> tuple[float, float]:
    """Normal statistic of a pair by its own leads and by pools, and the share won; 0 and 1/2 if not used."""
    total = residuals.sum() + sum(pool.excess for pool in pools)
    most = np.abs(residuals).sum() + sum(pool.most for pool in pools)
    if not most > 0 or (not by_itself and abs(total) < LOPSIDED * most):
        return 0.0, 0.5
    if len(residuals) > GROUPS:
        p = 2 * float(ndtr(-abs(total) / np.sqrt((residuals**2).sum())))
    else:
        p = _p_of_exchanges(residuals, pools) if pools else p_either(residuals)
    p = p if by_itself else min(PRICE * p, 1.0)
    return float(np.sign(total) * -ndtri(p / 2)), float(0.5 + total / (2 * most))


def _are_few(result: Uncertainty, rows: Comparisons) -> bool:
    """Whether there are fewer than `FEW` comparisons a parameter, all of them counted whole."""
    n_parameters = len(rows.models) - 1 + len(result.model.blocks) * len(rows.judges)
    has_whole_counts = bool((rows.count == np.rint(rows.count)).all())
    return has_whole_counts and rows.n_comparisons < FEW * n_parameters and rows.n_comparisons <= MOST_POOLED


@dataclass(frozen=True)
class _Units:
    """Leads that exchanging two names turns round, by pair of models.

    Attributes
    ----------
    by_pair : sparse float array, shape (U, N N)
        By unit, which is a question or a comparison, the lead of i over j, i < j, at the place i N + j.
    row, lead : int and float array, shape (V,)
        Of single comparisons: the row, and the lead of its first model by name.
    """

    by_pair: csc_array
    row: IntArray
    lead: FloatArray

    @classmethod
    def of(cls, result: Uncertainty, rows: Comparisons, question: IntArray | None) -> _Units:
        n, lead, row = len(rows.models), [], []
        for part, terms in _terms_at_equal_scores(result, rows):
            places = np.arange(part.start, part.stop)  # not a view of all: each part would keep one of them
            sign = np.where(rows.first[part] < rows.second[part], 1.0, -1.0)
            if question is not None:
                lead.append(sign * terms.residual)
                row.append(places)
                continue
            # a tie, or what is left of a mean of ties, is no lead
            mean, outcome, count = terms.law.mean, terms.outcome, terms.rows.count
            for share, residual in ((outcome, 1 - mean), (1 - outcome, -mean)):
                times = np.floor(count * share + 1e-6)
                groups = np.minimum(times, GROUPS).astype(int)
                lead.append(np.repeat(sign * residual * times / np.maximum(groups, 1), groups))
                row.append(np.repeat(places, groups))
        leads, row_index = np.concatenate(lead), np.concatenate(row)
        unit = np.arange(len(leads)) if question is None else numbered(question)[1][row_index]
        shape = int(unit.max(initial=-1)) + 1, n * n
        summed = coo_array((leads, (unit, rows.pair[row_index])), shape).tocsc()
        return cls(summed, row_index, leads)

    def are_lopsided(self, i: IntArray, j: IntArray) -> BoolArray:
        """Whether pairs are, and have so many units that something could follow at their price; shape (P,)."""
        pair = i * round(self.by_pair.shape[1] ** 0.5) + j
        times = np.diff(self.by_pair.indptr)[pair]
        total, size = (np.asarray(of.sum(axis=0)).ravel()[pair] for of in (self.by_pair, abs(self.by_pair)))
        return np.asarray((np.abs(total) >= LOPSIDED * size) & (PRICE * 0.5 ** (times - 1.0) < 1))

    def of_pair(self, i: int, j: int) -> FloatArray:
        """Leads of i over j, i < j, shape (U,)."""
        column = i * round(self.by_pair.shape[1] ** 0.5) + j
        return self.by_pair.data[self.by_pair.indptr[column] : self.by_pair.indptr[column + 1]]


@dataclass(frozen=True)
class _Pool:
    """Independent comparisons of two models with one third model by one judge.

    Attributes
    ----------
    first, second : float array
        How each did, as residuals of the two models.
    """

    first: FloatArray
    second: FloatArray

    @cached_property
    def values(self) -> FloatArray:
        """All of them."""
        return np.r_[self.first, self.second]

    @property
    def excess(self) -> float:
        """By how much the first did better than a draw at random."""
        return float(self.first.sum() - len(self.first) * self.values.mean())

    @property
    def most(self) -> float:
        """The largest excess of any draw."""
        best = np.sort(self.values)[::-1][: len(self.first)]
        return float(best.sum() - len(best) * self.values.mean())


class _Pools:
    """Comparisons by judge and opponent of every model."""

    def __init__(self, values: dict[tuple[int, int, int], list[float]], n_models: int):
        self.values, self.n_models = values, n_models
        self.judges = sorted({judge for *_, judge in values})

    @classmethod
    def of(cls, units: _Units, rows: Comparisons) -> _Pools:
        values: dict[tuple[int, int, int], list[float]] = {}
        low, high = np.minimum(rows.first, rows.second), np.maximum(rows.first, rows.second)
        for row, lead in zip(units.row, units.lead, strict=True):
            i, j, judge = int(low[row]), int(high[row]), int(rows.judge[row])
            values.setdefault((i, j, judge), []).append(float(lead))
            values.setdefault((j, i, judge), []).append(-float(lead))
        return cls(values, len(rows.models))

    def of_pair(self, i: int, j: int) -> list[_Pool]:
        """Those of two models."""
        return [_Pool(*map(np.array, both)) for both in self._both(i, j)]

    def _both(self, i: int, j: int) -> Iterator[tuple[list[float], list[float]]]:
        for judge in self.judges:
            for third in range(self.n_models):
                first, second = (self.values.get((model, third, judge)) for model in (i, j))
                if first and second:
                    yield first, second

    def share(self, i: int, j: int) -> float:
        """Share of the two models' comparisons that are with each other, or have a counterpart."""
        used = sum(len(first) + len(second) for first, second in self._both(i, j))
        direct = sum(len(self.values.get((i, j, judge), [])) for judge in self.judges)
        every = sum(len(results) for (model, *_), results in self.values.items() if model in (i, j)) - direct
        return (used + direct) / every if every else 0.0


def _p_of_exchanges(residuals: FloatArray, pools: Sequence[_Pool]) -> float:
    """Two-sided p-value of leads whose signs may turn, shape (U,), and of draws from pools, all independent.

    Sums are of whole numbers, to which values are rounded; rounding is odd, so the test stays exact.
    """
    total = float(np.abs(residuals).sum() + sum(np.abs(pool.values).sum() for pool in pools))
    if not total > 0:
        return 1.0
    scale = RANGE / total
    chances, observed = np.ones(1), 0
    for lead in np.rint(residuals * scale).astype(int):
        flipped = np.zeros(2 * abs(int(lead)) + 1)
        flipped[[0, -1]] += 0.5
        chances, observed = np.convolve(chances, flipped), observed + abs(int(lead)) + int(lead)
    for pool in pools:
        first, second = (np.rint(values * scale).astype(int) for values in (pool.first, pool.second))
        least = int(min(first.min(), second.min()))
        drawn = _draws(np.r_[first, second] - least, len(first))
        # a draw moves from one model to the other, so that its sum counts twice, as a turned sign does
        spread = np.zeros(2 * len(drawn) - 1)
        spread[::2] = drawn
        chances, observed = np.convolve(chances, spread), observed + 2 * int((first - least).sum())
    at_least, at_most = chances[observed:].sum(), chances[: observed + 1].sum()
    return float(min(1.0, 2 * min(at_least, at_most)))


def _draws(values: IntArray, size: int) -> FloatArray:
    """Distribution of the sum of so many values drawn without replacement; the values are not negative."""
    counts = np.zeros((size + 1, int(np.sort(values)[-size:].sum()) + 1))
    counts[0, 0] = 1.0
    for value in values.tolist():
        shifted = counts[:-1, : counts.shape[1] - value].copy()
        counts[1:, value:] += shifted
    return np.asarray(counts[size] / counts[size].sum(), float)


def _terms_at_equal_scores(result: Uncertainty, rows: Comparisons) -> Iterator[tuple[slice, RowTerms]]:
    """All rows where models are equal, part by part."""
    return in_parts(rows, result.model, replace(result.solution.parameters, scores=np.zeros(len(rows.models))))


# Models that beat each other in a circle, which no ranking can order.
#
# Every pair is tested by its own comparisons alone, all pairs together by Holm's procedure. So all wins of the
# cycle hold jointly at the level.

MOST_MODELS = 200  # all pairs of more are not tested one by one


@remembered
def shortest_cycle(result: Uncertainty, level: float) -> tuple[str, ...]:
    """The models of a shortest cycle, each significantly better than the next and the last than the first.

    Empty if there is none, and where comparisons are not held or are of more than `MOST_MODELS` models. Means of
    scores make none.
    """
    models = result.comparisons.models
    is_tested = len(models) <= MOST_MODELS and result.errors.sizes is None
    statistics = direct_statistics(result) if is_tested else None
    if statistics is None:
        return ()
    i, j = np.nonzero(np.triu(~np.isnan(statistics), 1))
    if not len(i):
        return ()
    p_values = holm(np.array([float(two_sided(z)) for z in statistics[i, j]]))
    wins = np.zeros(statistics.shape, bool)
    significant = p_values <= 1 - level
    i, j = i[significant], j[significant]
    is_first = statistics[i, j] > 0
    wins[np.where(is_first, i, j), np.where(is_first, j, i)] = True
    return tuple(models[place] for place in _shortest(wins))


def _shortest(wins: BoolArray) -> list[int]:
    """Places of a shortest cycle of a directed graph, shape (N, N); empty if it has none."""
    graph = csr_array(wins.astype(float))
    _, part = connected_components(graph, directed=True, connection="strong")
    if len(np.unique(part)) == len(part):
        return []
    distances: FloatArray
    previous: IntArray
    distances, previous = shortest_path(graph, unweighted=True, return_predecessors=True)
    lengths = np.where(wins, distances.T, np.inf)  # from the loser of an edge back to its winner
    winner, loser = np.unravel_index(int(np.argmin(lengths)), lengths.shape)
    path = [int(winner)]
    while path[-1] != loser:
        path.append(int(previous[loser, path[-1]]))
    return [path[0], *path[:0:-1]]
