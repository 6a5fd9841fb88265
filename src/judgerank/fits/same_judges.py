"""Judges with identical answers, such as two names of one endpoint, which count twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csc_array, triu
from scipy.sparse.csgraph import connected_components

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import FEW_JUDGES, Comparisons
from judgerank.data.errors import DataError, NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import Judgments
from judgerank.fits.different_judges import Items, SharedAnswers, shared_answers
from judgerank.inference.clusters import jackknife
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import wilson
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
