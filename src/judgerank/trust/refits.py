"""A fit of some judgments with others left out."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, NoMaximumError
from judgerank.data.rankings import number_of_ranking
from judgerank.engine.likelihood import row_by_row, row_derivatives
from judgerank.engine.newton import Newton, climb
from judgerank.engine.penalised import Penalised
from judgerank.fits.errors_by_question import by_question
from judgerank.fits.fit import fit
from judgerank.fits.fitted import beginning
from judgerank.fits.result import Fit
from judgerank.inference.wald import normal_quantile
from judgerank.order.pairs import Order, orders, separated

# What can be left out of a fit: judgments, questions or judges.


def places(c: Comparisons) -> IntArray:
    """By which cells are ordered."""
    return (c.first.astype(np.int64) * len(c.models) + c.second) * len(c.judges) + c.judge


@dataclass(frozen=True, eq=False)
class Units:
    """What is left out as one: a judgment, or all judgments of a question or of a judge.

    Attributes
    ----------
    name : str
        In the plural, as they are counted.
    of_row : int array, shape (T,), or None
        Number of every row's unit; None for single judgments.
    total : int
    kind : int array, shape (T,)
        Of every row's unit: those of one kind, such as like judgments, are left out to the same effect.
    """

    name: str
    of_row: IntArray | None
    total: int
    kind: IntArray

    def needed(self, left: FloatArray, effect: FloatArray, gap: float) -> float:
        """How many units have effects that add up to a gap, the largest first; infinite if all do not."""
        effects, size = self._each(left, effect)
        order = np.argsort(-effects, kind="stable")
        effects, size = np.maximum(effects[order], 0.0), size[order]
        reached = np.cumsum(effects * size)
        count = int(np.searchsorted(reached, gap))
        if count == len(reached):
            return np.inf
        before = reached[count] - effects[count] * size[count]
        return float(size[:count].sum() + max(1.0, np.ceil((gap - before) / effects[count])))

    def left_after(self, left: FloatArray, effect: FloatArray, n_removed: int) -> FloatArray:
        """Judgments left of every row without the units of the largest effects."""
        effects, size = self._each(left, effect)
        order = np.argsort(-effects, kind="stable")
        if self.of_row is not None:
            return np.where(np.isin(self.of_row, order[:n_removed]), 0.0, left)
        before = np.cumsum(size[order]) - size[order]
        after = left.copy()
        after[order] -= np.clip(n_removed - before, 0.0, left[order])
        return after

    def by_kind(self, left: FloatArray, effect: FloatArray) -> FloatArray:
        """Effect of one unit of every kind, shape (kinds,); minus infinity if none is left."""
        if self.of_row is not None:
            is_left = np.bincount(self.of_row, left, self.total) > 0
            return np.where(is_left, np.bincount(self.of_row, effect, self.total), -np.inf)
        largest, is_left = np.full(int(self.kind.max()) + 1, -np.inf), left > 0
        largest[self.kind[is_left]] = effect[is_left] / left[is_left]
        return largest

    def left_without(self, left: FloatArray, kind: int) -> FloatArray:
        """Judgments left of every row without one unit of a kind."""
        rows, after = np.flatnonzero((self.kind == kind) & (left > 0)), left.copy()
        if self.of_row is None:
            after[rows[0]] -= 1.0
        else:
            after[rows] = 0.0
        return after

    def _each(self, left: FloatArray, effect: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Effect of a unit, and how many of the kind there are: like judgments of one row, or one unit."""
        if self.of_row is None:
            is_left = left > 0
            return np.where(is_left, effect / np.where(is_left, left, 1.0), -np.inf), left
        return np.asarray(np.bincount(self.of_row, effect, self.total), np.float64), np.ones(self.total)


def judgments_as_units(comparisons: Comparisons, question: IntArray | None = None) -> Units:
    """Single judgments; of rankings of several answers, whole rankings."""
    c = comparisons
    if c.stages is not None:
        of_row = number_of_ranking(c, question)
        return Units("rankings", of_row, int(of_row.max()) + 1, of_row)
    key = places(c)
    for values in (c.response, c.covariate):
        if values is not None:
            labels, code = np.unique(values, return_inverse=True)
            key = key * len(labels) + code
    return Units("judgments", None, round(c.n_comparisons), _numbered(key)[1])


def questions_as_units(question: IntArray) -> Units:
    names, of_row = _numbered(question)
    return Units("questions", of_row, len(names), of_row)


def judges_as_units(comparisons: Comparisons) -> Units:
    of_row = np.asarray(comparisons.judge, np.intp)
    return Units("judges", of_row, len(comparisons.judges), of_row)


def _numbered(values: IntArray) -> tuple[IntArray, IntArray]:
    names, number = np.unique(values, return_inverse=True)
    return names, number


# Influence of each judgment on a difference of scores: one Newton step without it.
#
# With B the inverse of the observed information and u_t the gradient of judgment t, the estimates without t are
# about theta - B u_t, so that a difference c'theta falls by the effect c'B u_t of t (Cook, 1977; Broderick,
# Giordano and Meager, arXiv 2011.14999, for sets of many).


class Influence:
    """Effects of rows of comparisons on differences of scores, near a fit of these rows.

    Parameters
    ----------
    fitted : Fit
    comparisons : Comparisons
        The raw rows behind the fit, with the fit's models and judges; ties known where they are an outcome.

    Raises
    ------
    NoIntervalError
        If the fit has no information matrix that can be inverted.
    """

    def __init__(self, fitted: Fit, comparisons: Comparisons) -> None:
        self._cells = comparisons
        self._chosen, self._inverse = fitted._chosen, fitted._inverse("observed")
        self._here = row_by_row(comparisons, fitted.model, fitted.solution.parameters)

    @cached_property
    def _by_row(self) -> tuple[csr_array, csr_array]:
        """Derivatives of the predictor and of the log-likelihood of every row in all parameters."""
        terms, ones = self._here, np.ones(len(self._cells))
        of_predictor = row_derivatives(terms, lambda role: terms.through_predictor(role, ones))
        return of_predictor.tocsr(), row_derivatives(terms, terms.row_scores).tocsr()

    def on_difference(self, i: int, j: int) -> tuple[FloatArray, FloatArray, float]:
        """On s_i - s_j.

        Returns
        -------
        effect : float array, shape (T,)
            By how much the difference falls when all judgments of a row are left out.
        known : float array, shape (T,)
            The row's share in the variance's rise, c'B I_t B c.
        variance : float
            c'B c.
        """
        c = np.zeros(len(self._inverse))
        c[i], c[j] = 1.0, -1.0
        v = np.zeros(len(self._chosen))
        v[self._chosen] = self._inverse @ c
        slope, effect = (derivatives @ v for derivatives in self._by_row)
        return effect, self._cells.count * self._here.law.variance * slope**2, float(c @ self._inverse @ c)


ONE_STEP = Newton(max_iterations=1)
NEAR = 1e-5  # relative gradient at which a step has come near enough for a search


@dataclass(frozen=True, eq=False)
class Whole:
    """All judgments, with what does not change as some are left out.

    Attributes
    ----------
    comparisons : Comparisons
        Raw rows; a row may stand for several like judgments.
    question : int array, shape (T,), or None
        Of each row. Where it is given, errors allow for dependence within questions.
    level : float
    """

    comparisons: Comparisons
    question: IntArray | None
    level: float

    @cached_property
    def _cells(self) -> tuple[Comparisons, IntArray]:
        """The cells of all rows, and the number of every row's cell, shape (T,)."""
        rows, cells = self.comparisons, self.comparisons.aggregate()
        if len(cells) == len(rows):
            return cells, np.asarray(np.argsort(np.argsort(places(rows))))
        return cells, np.searchsorted(places(cells), places(rows))

    def cells_of(self, left: FloatArray) -> Comparisons:
        """Aggregated cells of so many judgments of every row."""
        if self.comparisons.covariate is not None or self.comparisons.stages is not None:
            return _left_of(self, left).aggregate()
        (cells, cell), rows = self._cells, self.comparisons
        n_cells = len(cells)
        count, wins = (np.asarray(np.bincount(cell, x, n_cells), float) for x in (left, left * rows.outcome))
        occupied = np.flatnonzero(count > 0)
        tied = (
            None
            if cells.tied is None
            else np.bincount(cell, left * rows.known_ties, n_cells)[occupied] / count[occupied]
        )
        strong = None
        if cells.strong is not None:
            sides = [np.bincount(cell, left * side, n_cells)[occupied] for side in rows.known_strength.T]
            strong = np.stack(sides, axis=1) / count[occupied][:, None]
        changed = {
            "count": count[occupied],
            "outcome": wins[occupied] / count[occupied],
            "tied": tied,
            "strong": strong,
        }
        return replace(cells.take(occupied), **changed)


@dataclass(frozen=True, eq=False)
class Part:
    """What is left, and its fit.

    Attributes
    ----------
    whole : Whole
    left : float array, shape (T,)
        Judgments left of every row.
    fitted : Fit
    near : bool
        Whether this is a step that has come near the fit, and not the fit.
    """

    whole: Whole
    left: FloatArray
    fitted: Fit
    near: bool = False

    @cached_property
    def known(self) -> dict[Hashable, Part]:
        """What is left without something more, where other goals may ask for it, too."""
        return {}

    @cached_property
    def rows(self) -> IntArray:
        """Those with a judgment left."""
        return np.flatnonzero(self.left > 0)

    @cached_property
    def comparisons(self) -> Comparisons:
        return _left_of(self.whole, self.left)

    def without(self, left: FloatArray, cold: bool = False) -> Part:
        """The fit of what is left then, from this one or from the beginning.

        Raises
        ------
        JudgerankError
            If there is no such fit.
        """
        part, settings, spread = _left_of(self.whole, left), self.fitted.settings, self.fitted.solution.spread
        if not cold and isinstance(settings, Penalised) and spread is not None:
            # by the strength of shrinkage of the whole, which few judgments hardly change
            start = beginning(self.fitted, part, self.fitted.model)
            held = fit(part, self.fitted.model, settings.held_at(spread), start)
            return Part(self.whole, left, replace(held, settings=settings))
        if not cold:
            start = beginning(self.fitted, part, self.fitted.model)
            with suppress(NoMaximumError):  # a climb does not turn an order round that a single judge gives
                return Part(self.whole, left, fit(part, self.fitted.model, settings, start))
        return Part(self.whole, left, fit(part, self.fitted.model, settings))

    def nearby(self, left: FloatArray) -> Part:
        """About the fit of what is left then, where that is little less: one Newton step from this one.

        Raises
        ------
        JudgerankError
            If there is no such fit.
        """
        cells, model = self.whole.cells_of(left), self.fitted.model
        before = self.fitted.comparisons
        same = cells.models == before.models and cells.judges == before.judges
        by_one_climb = isinstance(self.fitted.settings, Newton) and not self.fitted._at_mean.any()
        if not by_one_climb or not model.judge_blocks or not same:
            return self.without(left)
        solution = climb(cells, model, ONE_STEP, self.fitted.solution.parameters)
        in_play = self.fitted.solution.parameters.in_play
        if solution.evaluation.relative_gradient > NEAR or (solution.parameters.in_play != in_play).any():
            return self.without(left)
        solution = replace(solution, status=self.fitted.status)
        return Part(self.whole, left, Fit(cells, model, self.fitted.settings, solution), near=True)

    @cached_property
    def influence(self) -> Influence:
        return Influence(self.fitted, self.comparisons)

    def effects(self, i: int, j: int) -> tuple[FloatArray, FloatArray, float]:
        """Those of `Influence.on_difference`, by row of the whole."""
        effect, information, variance = self.influence.on_difference(i, j)
        return self._spread(effect), self._spread(information), variance

    def _spread(self, values: FloatArray) -> FloatArray:
        spread = np.zeros(len(self.left))
        spread[self.rows] = values
        return spread

    def lead(self, i: int, j: int) -> float:
        """s_i - s_j."""
        s = self.fitted.solution.parameters.scores
        return float(s[i] - s[j])

    @cached_property
    def orders(self) -> list[Order]:
        """By the tests of the leaderboard, which allow for questions where they are known."""
        fitted = self.fitted
        if self.whole.question is not None:
            fitted = by_question(fitted, self.comparisons, self.whole.question[self.rows])
        return list(orders(fitted))

    def excess(self, first: str, second: str) -> float:
        """Share of a pair's test statistic that it could lose and still be separated; below zero if it is not.

        The pair is taken as the last of those separated in Holm's procedure.
        """
        is_separated = separated(self.orders, self.whole.level)
        start = 0
        for order in self.orders:
            n, names = len(order.models), list(order.models)
            if first in names and second in names:
                i, j = sorted((names.index(first), names.index(second)))
                pair_index = start + i * n - i * (i + 1) // 2 + j - i - 1
                if not is_separated[pair_index]:
                    return -1.0
                steps = int((~is_separated).sum()) + 1
                needed = normal_quantile(1 - (1 - self.whole.level) / steps, order.degrees_of_freedom)
                return max(1 - needed / abs(float(order.statistic[i, j])), np.finfo(float).tiny)
            start += n * (n - 1) // 2
        return -1.0


def whole_part(
    fitted: Fit, comparisons: Comparisons, question: IntArray | None = None, level: float = 0.95
) -> Part:
    """Everything, with nothing left out.

    Parameters
    ----------
    fitted : Fit
    comparisons : Comparisons
        The raw judgments behind it.
    question : int array, shape (T,), optional
        The question behind each, where errors are to allow for them.
    level : float

    Raises
    ------
    DataError
        If these are not the comparisons that were fitted, or rows hold both wins and losses.
    """
    comparisons = fitted.model.observed(comparisons)
    fitted._require_fitted(comparisons.models, comparisons.judges, comparisons.n_comparisons)
    if not np.isin(comparisons.outcome[comparisons.count > 1], (0.0, 0.5, 1.0)).all():
        raise DataError("this requires the judgments themselves, and some of these rows are means of several")
    return Part(Whole(comparisons, question, level), np.array(comparisons.count, float), fitted)


def _left_of(data: Whole, left: FloatArray) -> Comparisons:
    rows = np.flatnonzero(left > 0)
    if not len(rows):
        raise DataError("nothing is left")
    return replace(data.comparisons.take(rows), count=left[rows])


# Changes of a ranking to look for: the order of two models, or whether they differ significantly.
APART = 1e-8  # scores nearer than this are equal: fits are exact to about 1e-10
GROWTH = 3.0  # times its forecast that a unit is taken to count for at most, whatever else is left out


@dataclass(frozen=True)
class Goal:
    """What is to be changed.

    Attributes
    ----------
    gap : callable
        Of a part: how far the change is away, at most zero once it is there.
    effect : callable
        Of a part: by how much leaving out every row brings it nearer, shape (T,).
    """

    gap: Callable[[Part], float]
    effect: Callable[[Part], FloatArray]


def swapped(i: int, j: int) -> Goal:
    """Model j above model i."""
    return Goal(lambda part: part.lead(i, j) + APART, lambda part: part.effects(i, j)[0])


def open_pair(i: int, j: int) -> Goal:
    """Models i above j no longer separated, by the tests of the leaderboard."""

    def effect(part: Part) -> FloatArray:
        fall, information, variance = part.effects(i, j)
        return fall / part.lead(i, j) + 0.5 * information / variance  # of the statistic, relative to itself

    def gap(part: Part) -> float:
        models = part.whole.comparisons.models
        return part.excess(models[i], models[j]) if part.lead(i, j) > 0 else -1.0

    return Goal(gap, effect)


def forecast(start: Part, units: Units, goal: Goal) -> float:
    """Units that one linear step asks for."""
    return units.needed(start.left, goal.effect(start), goal.gap(start))


def least(start: Part, units: Units, goal: Goal) -> float:
    """Units that it takes at least if none counts for more than `GROWTH` times its forecast; maybe infinite."""
    return units.needed(start.left, goal.effect(start), goal.gap(start) / GROWTH)
