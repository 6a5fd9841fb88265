"""Judges with identical answers, such as two names of one endpoint, which count twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csc_array, triu
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, ndtri

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import FEW_JUDGES, Comparisons
from judgerank.data.errors import DataError, NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import Judgments
from judgerank.engine.ascent import peak, terms
from judgerank.inference.clusters import jackknife, sum_and_without
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import normal_quantile, wilson
from judgerank.model.block import Need
from judgerank.model.law import Law

FEWEST = 30  # items that two judges both decided
EXCESS = 0.8  # share of the agreement still possible, beyond which two judges are taken for one
SURE = 0.5  # of the lower end of its interval; share of different judges' disagreements that one judge stays below
RARE = 1 / 3  # of the disagreements of different judges, below which those of a group that is one must be
JUDGES = ["judge_1", "judge_2"]
LEVEL = 0.95  # of the interval that says whether two ids surely answer as one


class Decided(NamedTuple):
    """Answers that are no ties: question, models and judge by number, and whether the first is preferred."""

    question: IntArray
    first: IntArray
    second: IntArray
    judge: IntArray
    preferred: BoolArray


def decided(fitted: Uncertainty, judgments: Judgments) -> Decided:
    """The answers that are no ties, numbered as the fit numbers models and judges; none under a shared label."""
    c = fitted.comparisons
    frame = judgments.frame[judgments.frame["judge_preferred_model"].isin(["a", "b"])]
    frame = frame[frame["model_a"].isin(c.models) & frame["model_b"].isin(c.models)]
    frame = frame[frame["judge_model"] != FEW_JUDGES]
    models, judges = pd.Index(c.models), pd.Index(c.judges)
    first, second = (models.get_indexer(pd.Index(frame[name])) for name in ("model_a", "model_b"))
    judge = judges.get_indexer(pd.Index(frame["judge_model"]))
    first_preferred = frame["judge_preferred_model"].eq("a").to_numpy()
    question = pd.factorize(frame["question_id"], use_na_sentinel=False)[0]
    return Decided(question, first, second, judge, first_preferred)


def items_of(fitted: Uncertainty, answers: Decided, either: bool = False) -> Items:
    """First answer of every judge to every item: a question with two models, in the order shown or in either."""
    fitted.comparisons.require_pairs("the search for copies of judges")
    c, (question, first, second, judge, first_preferred) = fitted.comparisons, answers
    n = len(c.models)
    question, turned = pd.factorize(question)[0], (first > second) & either
    first, second, first_preferred = (
        np.where(turned, second, first),
        np.where(turned, first, second),
        first_preferred ^ turned,
    )
    item = pd.factorize((question * n + first) * n + second)[0]
    once = ~pd.Series(item * len(c.judges) + judge).duplicated().to_numpy()
    item, first, second, judge = item[once], first[once], second[once], judge[once]
    s, gamma, b = (
        values[list(names)].to_numpy()
        for values, names in (
            (fitted.scores, c.models),
            (fitted.discrimination, c.judges),
            (fitted.position, c.judges),
        )
    )
    shape = (int(item.max(initial=-1)) + 1, len(c.judges))

    def spread(values: FloatArray) -> csc_array:
        return coo_array((values, (item, judge)), shape=shape).tocsc()

    of_item = np.zeros(shape[0], np.int64)
    of_item[item] = question[once]
    order = np.where(turned[once], -1.0, 1.0)
    lead, position = spread(gamma[judge] * (s[first] - s[second])), spread(order * b[judge])
    answered, preferred = spread(np.ones(len(item))), spread(first_preferred[once].astype(float))
    return Items(answered, preferred, lead, position, spread(order), of_item, gamma)


def excess_agreement(fitted: Uncertainty, items: Items) -> pd.DataFrame:
    """How much oftener two judges agree on shared items than a fit expects of judges who err apart.

    Agreement is set against its expectation p p' + (1 - p)(1 - p') under the fit, in units of what is left above
    it, as Cohen's (1960) kappa is: zero for judges who err apart, one for judges who never differ.

    Returns
    -------
    DataFrame
        ``judge_1, judge_2, shared, agreement, expected, excess`` of pairs with at least `FEWEST` shared items.
    """
    is_answered = items.answered
    expected = is_answered.copy()
    expected.data = Law(items.lead.data + items.position.data, None).mean
    shared = triu(is_answered.T @ is_answered, 1).tocoo()
    enough = shared.data >= FEWEST
    first, second, n = shared.row[enough], shared.col[enough], shared.data[enough]

    def agreeing(x: csc_array) -> FloatArray:
        """Sum of x x' + (1 - x)(1 - x') over shared items."""
        both, alone = (x.T @ x).tocsr(), (is_answered.T @ x).tocsr()
        return np.asarray(n - alone[second, first] - alone[first, second] + 2 * both[first, second]).ravel()

    agreement, by_chance = agreeing(items.preferred) / n, agreeing(expected) / n
    names = np.asarray(fitted.comparisons.judges, object)
    columns = {"judge_1": names[first], "judge_2": names[second], "shared": n.astype(int), "agreement": agreement}
    return pd.DataFrame({**columns, "expected": by_chance, "excess": (agreement - by_chance) / (1 - by_chance)})


def same_judges(fitted: Uncertainty, judgments: Judgments, level: float) -> dict[str, str]:
    """For each judge that answers as another does, the first of them in the fit's order.

    Two judges are taken for one if their excess agreement is at least `EXCESS` and surely above `SURE`, and if
    they disagree surely more rarely than two different judges would who share the question's answers, by the
    estimate less than half as often (`different_judges`). Whoever is one with either is one with both. How much
    judges share is learnt from pairs with another judge: of two judges alone nothing is known, nor of a panel in
    which all agree alike. On the paper's data that finds the four names of one endpoint, and no others.
    """
    if "question_id" not in judgments.frame:
        return {}
    return _leaders(fitted, decided(fitted, judgments), level)


def _leaders(fitted: Uncertainty, answers: Decided, level: float) -> dict[str, str]:
    items = items_of(fitted, answers)
    pairs = excess_agreement(fitted, items)
    judges = list(fitted.comparisons.judges)
    same = _same(items, items_of(fitted, answers, either=True), judges, pairs, level)
    group = _components(
        len(judges), *(pd.Index(judges).get_indexer(pd.Index(pairs[name][same])) for name in JUDGES)
    )
    leader = {number: judges[index] for index, number in reversed(list(enumerate(group)))}
    return {judge: leader[g] for judge, g in zip(judges, group, strict=True) if leader[g] != judge}


def _components(n_judges: int, first: IntArray, second: IntArray) -> IntArray:
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(n_judges, n_judges))
    return np.asarray(connected_components(graph, directed=False)[1])


def _same(items: Items, either: Items, judges: list[str], pairs: pd.DataFrame, level: float) -> BoolArray:
    """Which pairs answer as one judge.

    Several names of one endpoint must not speak for each other: judges who agree as closely as a pair does are one
    group with it, and only pairs outside of groups say how much different judges share. Groups are tried from the
    widest to the closest, since judges of a good panel may all be in one.
    """
    low = [wilson(p, n, level)[0] for p, n in zip(pairs["agreement"], pairs["shared"], strict=True)]
    excess, expected = pairs["excess"].to_numpy(), pairs["expected"].to_numpy()
    close = (excess >= EXCESS) & (np.array(low) - expected > SURE * (1 - expected))
    same = np.zeros(len(pairs), bool)
    if not close.any():
        return same
    first, second = (pd.Index(judges).get_indexer(pd.Index(pairs[name])) for name in JUDGES)
    widest = _components(len(judges), first[close], second[close])
    answers = shared_answers(items, either, first, second, widest[first] == widest[second])
    groups = dict[bytes, tuple[BoolArray, BoolArray, float]]()
    for least in np.unique(excess[close]):
        linked = close & (excess >= least)
        group = _components(len(judges), first[linked], second[linked])
        is_across = group[first] != group[second]
        for number in np.unique(group[first[linked]]):
            within = ~is_across & (group[first] == number)
            clump = close & (widest[first] == widest[first[within][0]])
            chosen = 1.0 if within[clump].all() else float(clump.sum())  # the closest are chosen out of so many
            groups.setdefault(within.tobytes(), (within, is_across, chosen * len(np.unique(widest[first[close]]))))
    for within, is_across, tried in groups.values():
        if not same[within].all() and _rarer(answers, within, is_across, 1 - (1 - level) / tried):
            same |= within
    return same


def _rarer(answers: SharedAnswers, within: BoolArray, reference: BoolArray, level: float) -> bool:
    """Whether a group's judges disagree surely more rarely than different judges, and every two less than half so.

    Disagreements of all pairs of the group count together. Their share has Wilson's interval, of as many items as
    have the error that leaving out groups of questions shows; the expected share has one by that error. The
    interval of the difference is by both (Zou and Donner, 2008).
    """
    disagreement, (expected, least) = answers.disagreement[within], answers.expected(within, reference, level)
    if not (disagreement[:, 0] < SURE * expected).all():
        return False
    shared = answers.shared[within]
    share, size = (disagreement * shared).sum(axis=0) / shared.sum(axis=0), shared[:, 0]
    members = len(np.unique([answers.one[within], answers.other[within]]))
    n, variance = size.sum() * 2 / members, float(jackknife(share[1:], -1))  # an answer is in members - 1 pairs
    n = min(n, share[0] * (1 - share[0]) / variance**2) if variance > 0 else n
    high = wilson(float(share[0]), n, level)[1] - share[0]
    mean_expected, low = (float(size @ x / size.sum()) for x in (expected, least))
    reach = np.hypot(high, mean_expected - low)
    return bool(share[0] < RARE * mean_expected and mean_expected - share[0] > reach)


def copies(
    without: Uncertainty,
    comparisons: Comparisons,
    question: IntArray,
    again: Callable[[Comparisons, str], Uncertainty],
) -> dict[str, str]:
    """For each judge that answers as another does, the first of them.

    Agreement is held against what a position-aware fit expects, whatever was fitted: judges who always prefer one
    position agree too. Where that fit does not exist, or nobody was shown an order, it is `without` that says what
    to expect.

    Parameters
    ----------
    again : callable
        Fits a member by its name to comparisons.

    Raises
    ------
    DataError
        If an outcome is a weight between two models.
    """
    if not np.isin(comparisons.outcome, (0.0, 0.5, 1.0)).all():
        raise DataError("this needs whole answers, but some of these records are shares of a win")
    try:
        order_is_modelled = without.model.uses(Need.ORDER) or not comparisons.ordered
        expecting = without if order_is_modelled else again(comparisons, "position_aware")
    except (NoMaximumError, NotIdentifiedError):
        expecting = without
    c = comparisons._rows(comparisons.outcome != 0.5)  # how often an answer was given does not matter
    models, judges = (
        pd.Index(getattr(expecting.comparisons, names)).get_indexer(pd.Index(getattr(c, names)))
        for names in ("models", "judges")
    )
    decided_questions = question[comparisons.outcome != 0.5]
    answers = Decided(decided_questions, models[c.first], models[c.second], judges[c.judge], c.outcome == 1.0)
    return _leaders(expecting, answers, LEVEL)


def with_one_vote(
    comparisons: Comparisons, question: IntArray, leader: Mapping[str, str]
) -> tuple[Comparisons, IntArray]:
    """The comparisons with such judges as one, who has one vote an item: the mean of their answers.

    An item is a question with two models in the order shown.

    Parameters
    ----------
    comparisons : Comparisons
        With ties kept track of.
    question : int array, shape (T,)
    leader : mapping of str to str
        As `copies` gives it.
    """
    c = comparisons
    judges = tuple(name for name in c.judges if name not in leader)
    index = {name: number for number, name in enumerate(judges)}
    judge = np.array([index[leader.get(name, name)] for name in c.judges])[c.judge]
    merged = np.isin(judge, [index[name] for name in set(leader.values())])
    _, number = np.unique(question, return_inverse=True)
    n = len(c.models)
    key = ((number * n + c.first) * n + c.second) * len(judges) + judge
    key = np.where(merged, key, key.max() + 1 + np.arange(len(key)))  # the others keep every answer
    _, first_rows, item = np.unique(key, return_index=True, return_inverse=True)

    def mean(values: FloatArray) -> FloatArray:
        return np.bincount(item, values * c.count) / np.bincount(item, c.count)

    tied = mean(c.known_ties)
    outcome = np.clip(mean(c.outcome), tied / 2, 1 - tied / 2)  # rounding
    count = np.where(merged, 1.0, c.count)[first_rows]
    changed = {"judge": judge[first_rows], "outcome": outcome, "tied": tied, "count": count, "judges": judges}
    if c.strong is not None:
        changed["strong"] = np.stack([mean(side) for side in c.strong.T], axis=1)
    rows = c._rows(first_rows, **changed)
    return rows, question[first_rows]


# How rarely two different judges could disagree, who share what makes an answer better on its question.
#
# Two good judges agree far beyond what scores explain, since both see that an answer is better, or worse, than its
# model usually is. So a pair is held against two different judges of these discriminations. Of an item, judge k
# wins one for the first model if
#
#     gamma_k (s_i - s_j + w) + b_k + noise > 0,    w of the item, noise of the judge alone.
#
# With w and noise normal, the answers of judges k and l are signs of normal variables. Their correlation is
#
#     r_kl = a_k a_l,    a_k^2 = c g_k^2,
#
# with g the slopes that a fit without w has (w flattens a strong judge's slope more). Given r_kl, they disagree on
# a share D_kl(r_kl) of the items (Plackett's distribution, below). Every other pair of judges has its own r, from
# how often it disagrees; these give c, and so the r and the disagreements of two different judges in place of a
# pair.

# How often two judges disagree whose errors are correlated: Plackett's (1954) formula.
#
# On an item each says the sign of a normal variable, with variance one and a mean h or k; the two have a
# correlation of r. They disagree with the probability
#
#     D(r) = D(0) - 2 int_0^r phi2(h, k; t) dt,    D(0) = Phi(h) Phi(-k) + Phi(-h) Phi(k),
#
# phi2 being the density of two such variables at zero. With t = sin(a), phi2(h, k; t) dt is
#
#     exp(-((h^2 + k^2) / 2 - h k sin a) / cos^2 a) / (2 pi) da.
ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 65)
CORRELATIONS = np.sin(ANGLES)  # at which D is computed
NEVER = 1e-9  # disagreements that count as none


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Mean of D(r) over the items that two judges share.

    Attributes
    ----------
    by_chance : float
        D(0).
    less : float array, shape (T,)
        D(0) - D(r) at each of `CORRELATIONS`.
    """

    by_chance: float
    less: FloatArray

    def loss(self, r: float) -> float:
        """D(r); zero from a correlation of one on."""
        return max(self.by_chance - float(np.interp(r, CORRELATIONS, self.less)), 0.0) if r < 1 else 0.0

    def correlation(self, less: FloatArray) -> FloatArray:
        """The r at which D(0) - D(r) is that."""
        return np.asarray(np.interp(less, self.less, CORRELATIONS))

    def information(self, r: float) -> float:
        """Fisher information of one item on r: D'(r)^2 / (D(r) (1 - D(r)))."""
        d = max(self.loss(r), NEVER)
        slope = float(np.interp(r, CORRELATIONS, np.gradient(self.less, CORRELATIONS)))
        return slope**2 / (d * (1 - d))


def disagree_by_chance(p: FloatArray, q: FloatArray) -> FloatArray:
    """D(0) of items to which judges say yes with these probabilities."""
    return p * (1 - q) + q * (1 - p)


def disagreement(p: FloatArray, q: FloatArray) -> Disagreement:
    """D of judges who say yes to items with probabilities p = Phi(h) and q = Phi(k), each of shape (I,)."""
    h, k = ndtri(p), ndtri(q)
    mean_square, product = (h**2 + k**2) / 2, h * k
    cos2 = np.maximum(np.cos(ANGLES) ** 2, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        slope = np.array(
            [
                np.exp(-(mean_square - product * sin) / square).mean() / np.pi
                for sin, square in zip(CORRELATIONS, cos2, strict=True)
            ]
        )
    steps = np.diff(ANGLES) * (slope[1:] + slope[:-1]) / 2
    integral = np.r_[0.0, np.cumsum(steps)]
    less = np.asarray(integral - np.interp(0.0, ANGLES, integral))
    return Disagreement(float(disagree_by_chance(p, q).mean()), less)


FEWEST_GROUPS, GROUPS = 10, 50  # of whole questions, for the errors
SURELY = 1e-9  # probabilities that count as certain, and the least size of what is divided by
MIDDLE = 0.5  # correlation at which pairs are weighed
LARGEST = 2.0  # of a_k, which is one at most: estimates may be larger
WIDE = 3.0  # standard deviation of the prior of a position bias beyond the fit's, in log-odds
STEPS = 20  # of the loadings


class Answers(NamedTuple):
    """Answers of one judge, arrays of shape (A,): the item, its group of questions, and what `Items` describes."""

    item: IntArray
    group: IntArray
    preferred: FloatArray
    lead: FloatArray
    position: FloatArray
    order: FloatArray

    def some(self, index: IntArray) -> Answers:
        """Those at these places."""
        return Answers._make(values[index] for values in self)


@dataclass(frozen=True, eq=False)
class Items:
    """Answers by item and judge, each an item-by-judge array with entries where `answered` has them.

    Attributes
    ----------
    answered, preferred, lead, position, order : sparse float array, shape (I, K)
        Ones; whether one of the models is preferred; its log-odds to be under a fit, gamma_k (s_i - s_j) and b_k;
        one if it was shown first, and minus one otherwise.
    question : int array, shape (I,)
    discrimination : float array, shape (K,)
        gamma_k of that fit.
    """

    answered: csc_array
    preferred: csc_array
    lead: csc_array
    position: csc_array
    order: csc_array
    question: IntArray
    discrimination: FloatArray

    @cached_property
    def n_groups(self) -> int:
        """G, the groups of whole questions that are left out one after the other."""
        return min(GROUPS, int(self.question.max()) + 1)

    def of(self, judge: int) -> Answers:
        """What a judge answered."""
        start, end = self.answered.indptr[judge : judge + 2]
        item = self.answered.indices[start:end]
        values = (matrix.data[start:end] for matrix in (self.preferred, self.lead, self.position, self.order))
        return Answers(item, self.question[item] % self.n_groups, *values)


class Judge(NamedTuple):
    """A judge's own slope in units of the fit's, shape (1 + G,), and its position bias beyond the fit's."""

    slope: FloatArray
    shift: float

    def log_odds(self, answers: Answers) -> FloatArray:
        """Return the log-odds of each yes, estimated from all answers."""
        return self.slope[0] * answers.lead + answers.position + self.shift * answers.order


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
    by_correlation : list of Disagreement, of length P
        D.
    slopes : float array, shape (K, 1 + G)
        g of every judge.
    """

    one: IntArray
    other: IntArray
    shared: FloatArray
    disagreement: FloatArray
    correlation: FloatArray
    by_correlation: list[Disagreement]
    slopes: FloatArray

    def expected(self, pairs: BoolArray, reference: BoolArray, level: float) -> tuple[FloatArray, FloatArray]:
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
        n_pairs, groups = int(pairs.sum()), self.slopes.shape[1] - 1
        if not reference.any() or groups < FEWEST_GROUPS:
            return np.zeros(n_pairs), np.zeros(n_pairs)
        first, second = self.one[pairs], self.other[pairs]
        a, unbounded = self._loadings(reference, 1.0), self._loadings(reference, LARGEST)
        r, part = a[first, 0] * a[second, 0], self.shared[pairs, 0] / self.shared[pairs, 0].sum()
        mean_r = part @ (unbounded[first, 1:] * unbounded[second, 1:])
        reach = normal_quantile(level, groups - 1.0) * float(jackknife(mean_r, -1))
        return self._losses(pairs, r), self._losses(pairs, r + reach)

    def _losses(self, pairs: BoolArray, r: FloatArray) -> FloatArray:
        """D(r) of pairs, shape (number of pairs,)."""
        index = np.flatnonzero(pairs)
        return np.array([self.by_correlation[pair].loss(x) for pair, x in zip(index, r, strict=True)])

    @cached_property
    def _information(self) -> FloatArray:
        """Of an item on each pair's r, at a middling one, shape (P,)."""
        return np.array([d.information(MIDDLE) for d in self.by_correlation])

    def _loadings(self, reference: BoolArray, largest: float) -> FloatArray:
        """a_k of r_kl = a_k a_l, shape (K, 1 + G), from the other pairs' correlations and the judges' slopes.

        Least squares: first c of r_kl = c g_k g_l, then a with the sum over pairs of v_kl (r_kl - a_k a_l)^2 and
        over judges of u_k (a_k - sqrt(c) g_k)^2, v being the information on r_kl, and u that on sqrt(c) g_k.
        """
        first, second, r = self.one[reference], self.other[reference], self.correlation[reference]
        v, g = self.shared[reference] * self._information[reference, None], self.slopes
        product = g[first] * g[second]
        size = np.maximum((v * product**2).sum(axis=0), np.finfo(float).tiny)
        prior = np.sqrt(np.maximum((v * product * r).sum(axis=0) / size, 0.0)) * g
        error = jackknife(np.log(np.maximum(g[:, 1:], SURELY)), -1)
        u = (1 / np.maximum(error, SURELY) ** 2)[:, None] / np.maximum(prior**2, SURELY)
        a = prior
        for _ in range(STEPS):
            above, below = u * prior, u.copy()
            for k, partner in ((first, second), (second, first)):
                np.add.at(above, k, v * r * a[partner])
                np.add.at(below, k, v * a[partner] ** 2)
            a = (a + np.clip(above / below, 0.0, largest)) / 2
        return a


def shared_answers(
    items: Items, either: Items, first: IntArray, second: IntArray, is_close: BoolArray
) -> SharedAnswers:
    """How pairs of judges agree who share items.

    Items `shown` in one order are those of near pairs: copies may favour a position, and need not agree if they
    were shown both. Of other pairs items in `either` order count, which are more.
    """
    judges = [_judge(either, k) for k in range(either.answered.shape[1])]
    parts = [
        _shared(items if close else either, (k, second_judge), (judges[k], judges[second_judge]))
        for k, second_judge, close in zip(first, second, is_close, strict=True)
    ]
    shared, share, correlation, by_correlation = zip(*parts, strict=True)
    slopes = either.discrimination[:, None] * np.array([judge.slope for judge in judges])
    arrays = np.array(shared), np.array(share), np.array(correlation)
    return SharedAnswers(first, second, *arrays, list(by_correlation), slopes)


def _judge(items: Items, number: int) -> Judge:
    """A judge's slope and position bias from its own answers: maxima of a logistic regression with priors.

    The fit may have one slope for all judges, or shrunk ones, and no position bias. Priors hold a judge who never
    errs: the logarithm of the slope is normal with a standard deviation of one. Without a group of questions the
    slope is one Newton step from the whole.
    """
    answers, n_groups = items.of(number), items.n_groups
    if not np.abs(answers.lead).max(initial=0.0) > 0:
        return Judge(np.zeros(1 + n_groups), 0.0)
    precision = np.array([1.0, 1 / WIDE**2])

    def evaluate(x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        by_row = np.column_stack([np.exp(x[0]) * answers.lead, answers.order])  # derivatives of the predictor
        eta = by_row[:, 0] + answers.position + x[1] * answers.order
        height, residual, weight = terms(eta, answers.preferred, np.ones(len(eta)))
        information = by_row.T @ (weight[:, None] * by_row) + np.diag(precision)
        return height - float(precision @ x**2) / 2, by_row.T @ residual - precision * x, information

    log_slope, shift = peak(evaluate, np.zeros(2), "a judge's slope did not settle")[0].tolist()
    signal = np.exp(log_slope) * answers.lead
    p = expit(signal + answers.position + shift * answers.order)
    gradient = sum_and_without(signal * (answers.preferred - p), answers.group, n_groups) - log_slope
    curvature = sum_and_without(signal**2 * p * (1 - p), answers.group, n_groups) + 1
    return Judge(np.exp(log_slope + gradient / curvature), shift)


def _shared(
    items: Items, pair: tuple[int, int], judges: tuple[Judge, Judge]
) -> tuple[FloatArray, FloatArray, FloatArray, Disagreement]:
    """What `SharedAnswers` has of a pair: items shared, disagreement and correlation, shape (1 + G,), and D."""
    answers_first, answers_second = map(items.of, pair)
    _, index_first, index_second = np.intersect1d(
        answers_first.item, answers_second.item, assume_unique=True, return_indices=True
    )
    answers_first, answers_second = answers_first.some(index_first), answers_second.some(index_second)
    p, q = (
        np.clip(expit(judge.log_odds(answers)), SURELY, 1 - SURELY)
        for judge, answers in zip(judges, (answers_first, answers_second), strict=True)
    )
    differ = (answers_first.preferred != answers_second.preferred).astype(float)
    d = disagreement(p, q)
    n, n_differing, less = (
        sum_and_without(values, answers_first.group, items.n_groups)
        for values in (np.ones(len(p)), differ, disagree_by_chance(p, q) - differ)
    )
    share, less = n_differing / np.maximum(n, 1), less / np.maximum(n, 1)
    return n, share, d.correlation(less), d
