"""A fit of some judgments with others left out."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DataError, NoMaximumError
from judgerank.engine.newton import Newton, climb
from judgerank.engine.penalised import Penalised
from judgerank.fits.errors_by_question import by_question
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.fits.warm_start import beginning
from judgerank.inference.wald import normal_quantile
from judgerank.order.pairs import Order, orders, separated
from judgerank.trust.influence import Influence
from judgerank.trust.removable import places

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
        if not isinstance(self.fitted.settings, Newton) or not model.judge_blocks or not same:
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
    fitted.require_fitted(comparisons.models, comparisons.judges, comparisons.n_comparisons)
    if not np.isin(comparisons.outcome[comparisons.count > 1], (0.0, 0.5, 1.0)).all():
        raise DataError("this takes the judgments themselves, and some of these rows are means of several")
    return Part(Whole(comparisons, question, level), np.array(comparisons.count, float), fitted)


def _left_of(data: Whole, left: FloatArray) -> Comparisons:
    rows = np.flatnonzero(left > 0)
    if not len(rows):
        raise DataError("nothing is left")
    return replace(data.comparisons.take(rows), count=left[rows])
