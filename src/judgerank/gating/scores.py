"""One score a question: the panel's mean preference for the candidate, and what the order of presentation adds.

A judge who saw both orders counts with the mean of both. One who saw a single order adds his position bias to the
score; the estimated bias is taken off. It is not shrunk: what shrinking leaves of it would be taken for quality.
Judges with too few answers in either order for a bias of their own have one together, as if they were one judge.
Sign flips are of all answers, and of those of which each judge gave as many in one order as in the other: without
the latter, position bias and a few more answers in one order give false blocks. The mean score takes all answers,
but of a judge who clearly saw one order more often: the error of that bias would be one that no test knows of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray, IntArray, numbered
from judgerank.data.listing import counted
from judgerank.gating.score_runs import ScoreRuns
from judgerank.order.flips import p_above, p_either

FEWEST = 3  # answers in either order for a position bias of one's own
UNBALANCED = 0.05  # p-value below which a judge's orders are taken not to be drawn evenly


@dataclass(frozen=True, repr=False)
class Scores:
    """What the questions say.

    Attributes
    ----------
    scores : float array, shape (Q,)
        Mean preference for the candidate, from 0 to 1; ties count one half.
    fair : float array, shape (Q,)
        Scores less what position bias adds, from `-reach` to `1 + reach`.
    reach : float
        The most that position bias adds to any score.
    differences : float array, shape (E,)
        Scores less one half, less what position bias adds as if both were equal: for sign flips. Of the questions
        that are left where every judge's answers in one order are as many as in the other.
    of_all : float array, shape (Q,)
        The same of all answers that count.
    position : float array, shape (K,)
        Estimated addition to a judge's preference for the answer shown first; nan where no single order counts.
    first_gains : float
        Mean of it over the answers; nan where there is none.
    order : str
        ``unknown``, ``one`` (no judge saw the candidate in both places), ``uneven`` (answers of a judge are left
        out of the scores, since he clearly saw one order more often) or ``even``; ``scores`` where answers were
        scored one by one.
    shown : tuple of three int
        Answers of a judge to a question, before any is left out: with the candidate first, second, and in both.
    used : int array, shape (Q,)
        Places of these questions among those given: all, but where orders are uneven.
    units : three int arrays, shapes (Q,), (E,) and (Q,), optional
        Number of the unit that was sampled behind each of `scores`, `differences` and `of_all`; None where every
        question is one.
    runs : ScoreRuns, optional
        What is tested where answers were scored one by one: differences of the two variants' scores.
    """

    scores: FloatArray
    fair: FloatArray
    reach: float
    differences: FloatArray
    of_all: FloatArray
    position: FloatArray
    first_gains: float
    order: str
    shown: tuple[int, int, int]
    used: IntArray
    units: tuple[IntArray, IntArray, IntArray] | None = None
    runs: ScoreRuns | None = None

    def __repr__(self) -> str:
        return f"<Scores of {counted(len(self.scores), 'question')}, win rate {self.win_rate:.3f}>"

    @property
    def balanced(self) -> bool:
        """Whether every answer counts in every test: each judge saw one order as often as the other."""
        first, second, _ = self.shown
        return self.order == "even" and first == second and len(self.differences) == len(self.scores)

    def p_flips(self, sign: int) -> float:
        """p-value by sign flips of questions, small if the candidate is better (1) or worse (-1).

        Flips of all answers are exact where each order had the same chance, and flips of as many answers in one
        order as in the other are right where the orders came out unevenly. Both must say so. Where questions were
        sampled together, all of them are turned at once. Where answers were scored, those of `ScoreRuns`.
        """
        if self.runs is not None:
            return self.runs.p_above(0.0) if sign > 0 else self.runs.p_below(0.0)
        _, some, every = self.units or (None, None, None)
        flipped = ((self.differences, some), (self.of_all, every))
        return max(
            p_above(sign * values if unit is None else sign * sums(values, unit)) for values, unit in flipped
        )

    def by_unit(self, values: FloatArray, mean: float) -> FloatArray:
        """Values of units, from 0 to 1, whose mean is the given one exactly if that of the questions' values is.

        Parameters
        ----------
        values : float array, shape (Q,)
            From 0 to 1.
        mean : float

        Returns
        -------
        float array, shape (U,)
            With n the questions of a unit and m the most of any: the mean plus n / m times what the unit is above
            it. The values themselves where every question is a unit.
        """
        if self.units is None:
            return values
        return mean + sums(values - mean, self.units[0]) / np.bincount(self.units[0]).max()

    @property
    def of_units(self) -> Scores:
        """Mean scores and differences of the units that were sampled, as if they were questions."""
        if self.units is None:
            return self
        of_scores, of_some, of_all = self.units
        return replace(
            self,
            scores=means(self.scores, of_scores),
            fair=means(self.fair, of_scores),
            differences=means(self.differences, of_some),
            of_all=means(self.of_all, of_all),
            units=None,
        )

    @property
    def win_rate(self) -> float:
        """The panel's mean preference for the candidate, less position bias."""
        return float(np.clip(self.fair.mean(), 0.0, 1.0))

    @property
    def within(self) -> FloatArray:
        """The fair scores, moved and scaled to lie from 0 to 1, shape (Q,)."""
        return self.place_of(self.fair)

    def place_of(self, rates: FloatArray | float) -> Any:
        """Where win rates lie on the scale of `within`."""
        return (rates + self.reach) / (1 + 2 * self.reach)

    def with_runs(self, runs: ScoreRuns) -> Scores:
        """The same of answers that were scored one by one: nothing was shown first."""
        rates = (1 + runs.by_task) / 2
        return replace(
            self,
            scores=rates,
            fair=rates,
            reach=0.0,
            differences=rates - 0.5,
            of_all=rates - 0.5,
            position=np.full(len(self.position), nan),
            first_gains=nan,
            order="scores",
            runs=runs,
        )

    def rate_at(self, point: float) -> float:
        """The win rate at a place on the scale of `within`; from 0 to 1."""
        return min(max(point * (1 + 2 * self.reach) - self.reach, 0.0), 1.0)


def sums(values: FloatArray, unit: IntArray) -> FloatArray:
    """Sums over the questions of every unit."""
    number = numbered(unit)[1]
    return np.asarray(np.bincount(number, values), float)


def means(values: FloatArray, unit: IntArray) -> FloatArray:
    """Means over the questions of every unit."""
    return sums(values, unit) / sums(np.ones(len(values)), unit)


def scored(preference: FloatArray, first: FloatArray, unit: IntArray | None = None) -> Scores:
    """Scores of questions of which every one was judged at least once.

    Parameters
    ----------
    preference : float array, shape (Q, K)
        Of judge k for the candidate in question q, from 0 to 1; nan where there is none.
    first : float array, shape (Q, K)
        1 where the candidate was shown first, -1 where second, 0 where both were, nan where it is not known.
    unit : int array, shape (Q,), optional
        Number of the unit that was sampled behind each question; each question is one by default.
    """
    is_answered = ~np.isnan(preference)
    order_is_stated = not np.isnan(first[is_answered]).any()
    n_first, behind, both = (int((is_answered & (first == side)).sum()) for side in (1, -1, 0))
    used, order, evened = np.arange(len(preference)), "even" if order_is_stated else "unknown", preference
    group = _groups(_parts(preference, first)[1])
    if order_is_stated:
        evened, balanced = _evened(preference, first, group)
        if np.isnan(evened).all():  # whoever judged, saw the candidate in one place alone
            order, evened = "one", preference
        elif (np.isnan(balanced) & is_answered).any():
            order, used = "uneven", np.flatnonzero(~np.isnan(balanced).all(axis=1))
            preference, first, evened = balanced[used], first[used], evened[used]
    lead, side, is_answered = _parts(preference, first)
    judges = is_answered.sum(axis=1)
    added = (side * _slope(lead, side, group)).sum(axis=1) / judges
    scores, reach = 0.5 + lead.sum(axis=1) / judges, float(np.abs(added).max())
    (differences, position), (of_all, _) = (_flipped(values, first, group) for values in (evened, preference))
    lead, side, _ = _parts(evened, first)
    gains = float((lead * side).sum() / np.abs(side).sum()) if side.any() else nan
    order_counts = n_first, behind, both
    units = None
    if unit is not None:
        judged = (~np.isnan(values).all(axis=1) for values in (evened, preference))
        some, every = (numbered(unit[used])[1][is_judged] for is_judged in judged)
        units = numbered(unit[used])[1], some, every
    return Scores(
        scores, scores - added, reach, differences, of_all, position, gains, order, order_counts, used, units
    )


def fair_leads(preference: FloatArray, first: FloatArray) -> FloatArray:
    """Every answer's lead over one half less its judge's position bias, shape (Q, K).

    It is nan where there is no answer, and for judges whose bias nobody can tell: they saw one order alone.
    """
    lead, side, is_answered = _parts(preference, first)
    group = _groups(side)
    n_first, n_second = (_together(side == value, group) for value in (1, -1))
    is_one_order = (np.minimum(n_first, n_second) == 0) & (np.maximum(n_first, n_second) > 0)
    return np.where(is_answered & ~is_one_order, lead - side * _slope(lead, side, group), nan)


def _parts(preference: FloatArray, first: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Lead over one half, side of the candidate, and whether there is an answer, shape (Q, K) each."""
    is_answered = ~np.isnan(preference)
    return (
        np.where(is_answered, preference - 0.5, 0.0),
        np.where(is_answered & ~np.isnan(first), first, 0.0),
        is_answered,
    )


def _groups(side: FloatArray) -> IntArray:
    """The judge whose position bias each judge has, shape (K,): itself, or the first of those with one together.

    These saw an order too seldom, and neither clearly more often.
    """
    group, seldom = np.arange(side.shape[1]), np.minimum((side > 0).sum(axis=0), (side < 0).sum(axis=0)) < FEWEST
    few = [judge for judge in np.flatnonzero(seldom & side.any(axis=0)) if p_either(side[:, judge]) > UNBALANCED]
    group[few] = min(few, default=0)
    return group


def sharing(preference: FloatArray, first: FloatArray) -> IntArray:
    """Judges who have one position bias together, by their places; none where nobody shares."""
    side = _parts(preference, first)[1]
    group = _groups(side)
    size = np.bincount(group, minlength=len(group))
    return np.flatnonzero((size[group] > 1) & side.any(axis=0))


def evened_by_judge(preference: FloatArray, first: FloatArray, judges: IntArray) -> FloatArray:
    """The preferences, with as many of each of these judges' answers in either order; the rest of theirs nan."""
    evened = preference.copy()
    evened[:, judges] = _evened(preference[:, judges], first[:, judges], np.arange(len(judges)))[0]
    return evened


def _evened(preference: FloatArray, first: FloatArray, group: IntArray) -> tuple[FloatArray, FloatArray]:
    """The preferences, with as many of a group's answers in one order as in the other; the rest nan.

    Those of all groups, and those of the groups who clearly saw one order more often. Which answers count is
    drawn once and for all. Where all judges of a question saw the same order, it stays or goes as a whole; else by
    group, lest one order be kept in questions that more judges answered.
    """
    evened, balanced, rng = preference.copy(), preference.copy(), np.random.default_rng(0)
    drawn = rng.permutation(len(preference))
    _, side, is_answered = _parts(preference, first)
    is_shared = bool((np.abs(side.sum(axis=1)) == np.abs(side).sum(axis=1)).all())
    for label in np.unique(group):
        drawn = drawn if is_shared else rng.permutation(len(preference))
        judges = np.flatnonzero(group == label)
        row, column = np.nonzero(is_answered[np.ix_(drawn, judges)])
        row, column = drawn[row], judges[column]
        sides = [np.flatnonzero(first[row, column] == side_value) for side_value in (1, -1)]
        fewer = min(map(len, sides))
        is_clear = len(sides[0]) != len(sides[1]) and p_either(side[:, judges].sum(axis=1)) <= UNBALANCED
        for side_cells in sides:
            evened[row[side_cells[fewer:]], column[side_cells[fewer:]]] = np.nan
            if is_clear:
                balanced[row[side_cells[fewer:]], column[side_cells[fewer:]]] = np.nan
    return evened, balanced


def _flipped(preference: FloatArray, first: FloatArray, group: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return each question's sign-flip statistic, shape (E,), and each judge's mean lead of the first place, (K,).

    The statistic is net of that mean lead, which is as if both variants were equal. Exchanging the names in a
    question turns lead and side, and leaves it as it is.
    """
    is_judged = ~np.isnan(preference).all(axis=1)
    lead, side, is_answered = _parts(preference[is_judged], first[is_judged])
    seen, gained = (_together(values, group) for values in (np.abs(side), lead * side))
    position = gained / np.where(seen > 0, seen, np.nan)
    return (lead - side * np.where(seen > 0, position, 0.0)).sum(axis=1) / is_answered.sum(axis=1), position


def _slope(lead: FloatArray, side: FloatArray, group: IntArray) -> FloatArray:
    """Half the rise of the lead from second place to first by judge, shape (K,); zero where one was not shown."""
    sums, counts = (
        [_together(values * (side == side_value), group) for side_value in (1, -1)]
        for values in (lead, np.abs(side))
    )
    first, second = (total / np.maximum(answers, 1) for total, answers in zip(sums, counts, strict=True))
    return np.where(np.minimum(*counts) > 0, (first - second) / 2, 0.0)


def _together(values: FloatArray, group: IntArray) -> FloatArray:
    """Sums over the answers of every judge's group, shape (K,)."""
    return np.asarray(np.bincount(group, values.sum(axis=0), len(group))[group], float)
