"""The penalised log-likelihood of one set of comparisons, its modes, and its Laplace approximation."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, eigh

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.engine.ascent import Ascent, ascended, backtracked
from judgerank.engine.information import Coordinates, information
from judgerank.engine.likelihood import Curvature, Evaluation, evaluate
from judgerank.engine.newton import positive_solve
from judgerank.engine.penalty import (
    ALPHA,
    Arrow,
    Penalty,
    Spread,
    arrow,
    log_prior_determinant,
    scale,
    shrunk_qualities,
)
from judgerank.engine.solution import ROUNDING, log_odds, unbounded_judges
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import at_mean

FLATTEST = 1e-9  # curvature, relative to the largest, that a step takes for granted
LARGEST_STEP = 3.0  # of any parameter, in one iteration
CLOSE, SLOPE = 1e-9, 0.9  # relative difference of log-likelihoods that may be rounding; slope left, on either side
LOST = 1e-4  # log-odds of a typical pair under one judge below which that judge is lost

Information = np.ndarray | Arrow


class Limits(Protocol):
    """How exact a mode is, and how many steps it may take."""

    @property
    def tolerance(self) -> float: ...
    @property
    def max_iterations(self) -> int: ...


class Problem:
    """The penalised log-likelihood of one set of cells, in zero-sum coordinates.

    Attributes
    ----------
    base : Parameters
        Where what does not move is.
    free : bool array, shape (B, K)
        Parameters of the judges that move.
    free_common : bool array, shape (P,)
        Those of the further blocks.
    alone : float array, shape (D, D), optional
        A fixed precision matrix of what moves that is the penalty in place of that of the standard deviations.
    """

    def __init__(
        self,
        cells: Comparisons,
        model: Model,
        base: Parameters | None = None,
        free: BoolArray | None = None,
        free_common: BoolArray | None = None,
        alone: FloatArray | None = None,
    ):
        self.cells, self.model, self.alone = cells, model, alone
        self.n, self.k = len(cells.models), len(cells.judges)
        self.base = base or Parameters.zeros(model, cells)
        self.free = np.ones(self.base.judges.shape, bool) if free is None else free.copy()
        self.free[: model.free_rows.start] = False
        self.free[:1, at_mean(model, cells)] = False
        self.free_common = np.ones(len(model.roles), bool) if free_common is None else free_common
        self.chosen = np.concatenate([np.ones(self.n, bool), self.free.ravel(), self.free_common])
        self._n_free, self._all_chosen = int(self.free.sum()), bool(self.chosen.all())
        self._pulling: tuple[Spread, Penalty] | None = None
        self.coordinates = Coordinates.of(model, self.n, self.free, self.free_common)
        # where judges run off there are many modes, and which is found must not hang on what has no coordinate
        self.metric = None if alone is None else self.coordinates.metric
        self._last: dict[Curvature | None, tuple[np.ndarray, Evaluation]] = {}
        self._often: tuple[np.ndarray, Evaluation] | None = None
        self._evaluations: dict[Curvature, tuple[Evaluation, FloatArray]] = {}

    @property
    def _n_discriminations(self) -> int:
        """Number of those that the prior is on: of all judges but those at the mean."""
        return self.k - int(at_mean(self.model, self.cells).sum())

    def parameters(self, x: np.ndarray) -> Parameters:
        full, judges, common = self.coordinates.full(x), self.base.judges.copy(), self.base.common.copy()
        of_judges = self.n + self._n_free
        judges[self.free], common[self.free_common] = full[self.n : of_judges], full[of_judges:]
        return Parameters(full[: self.n], judges, common)

    def point_of(self, parameters: Parameters) -> np.ndarray:
        """The inverse of `parameters`."""
        parts = [parameters.scores, parameters.judges[self.free], parameters.common[self.free_common]]
        return np.concatenate(parts)[self.coordinates.free_columns]

    def look(
        self, x: np.ndarray, spread: Spread, curvature: Curvature | None = None
    ) -> tuple[float, np.ndarray, Information]:
        """Penalised log-likelihood, its gradient, and on request minus its Hessian or the expected one."""
        parameters = self.parameters(x)
        evaluation = self.evaluated(x, parameters, curvature)
        top = evaluation.top_gradient
        gradient = np.concatenate([top[: self.n], evaluation.judge_gradient.ravel(), top[self.n :]])
        if not self._all_chosen:
            gradient = gradient[self.chosen]
        if self.alone is not None:
            full = self.coordinates.full(x)
            image = self.alone @ full
            lost = float(full @ image)
        else:
            lost, image = self._penalty(spread).pulled(parameters)
            image = image if self._all_chosen else image[self.chosen]
        gradient = gradient - image
        info = np.empty((0, 0)) if curvature is None else self._second(parameters, spread, evaluation, curvature)
        return evaluation.log_likelihood - 0.5 * lost, self.coordinates.gradient(gradient), info

    def _penalty(self, spread: Spread) -> Penalty:
        """That of some standard deviations, which often are those of the last look."""
        if self._pulling is None or self._pulling[0] != spread:
            self._pulling = dict(spread), Penalty(self.model, self.n, self.k, spread)
        return self._pulling[1]

    def _second(
        self, parameters: Parameters, spread: Spread, evaluation: Evaluation, curvature: Curvature
    ) -> Information:
        """Minus the second derivatives in the coordinates, or the expected ones, shape (D', D')."""
        matrix = self._of_comparisons(evaluation, curvature)
        if self.alone is not None:
            return self.coordinates.reduced(matrix + self.alone)
        precision = self._penalty(spread).matrix(parameters, curvature == "observed")
        precision = precision if self._all_chosen else precision[np.ix_(self.chosen, self.chosen)]
        return self.coordinates.reduced(matrix + precision)

    def _of_comparisons(self, evaluation: Evaluation, curvature: Curvature) -> FloatArray:
        """The comparisons' part, which standard deviations do not change, either."""
        if curvature not in self._evaluations or self._evaluations[curvature][0] is not evaluation:
            logarithmic = self._logarithmic(evaluation) if curvature == "observed" else evaluation
            self._evaluations[curvature] = evaluation, information(logarithmic, self.free, self.free_common)
        return self._evaluations[curvature][1]

    def _logarithmic(self, evaluation: Evaluation) -> Evaluation:
        """The same with minus the second derivatives in the logarithm of gamma, no longer in gamma."""
        if not self.model.weighs_judges:
            return evaluation
        judge_information = evaluation.judge_information.copy()
        judge_information[:, 0, 0] -= evaluation.judge_gradient[0]
        return replace(evaluation, judge_information=judge_information)

    def evaluated(self, x: np.ndarray, parameters: Parameters, curvature: Curvature | None) -> Evaluation:
        """The likelihood's part, which standard deviations do not change; they are often tried at one point."""
        if curvature == "observed" and self._often is not None and np.array_equal(self._often[0], x):
            return self._often[1]
        if curvature not in self._last or not np.array_equal(self._last[curvature][0], x):
            self._last[curvature] = x, evaluate(self.cells, self.model, parameters, curvature, at_zero=False)
        return self._last[curvature][1]

    def remembering(self, x: np.ndarray) -> np.ndarray:
        """A point from which several modes will be sought: what the likelihood is there is kept."""
        self._often = x, self.evaluated(x, self.parameters(x), "observed")
        return x

    def mode(self, x: np.ndarray, spread: Spread, settings: Limits) -> tuple[np.ndarray, float, bool, int]:
        """The mode reached from x: where it is, how high, whether the tolerance was met, and Newton steps.

        A judge without a penalty may run off: the climb ends where its discrimination counts as unbounded.
        """
        climb = _ToMode(self, spread, settings.tolerance)
        point, done, steps = ascended(climb, climb.point_at(x), settings.max_iterations)
        return point.x, point.height, done, steps

    def strays(self, x: np.ndarray) -> bool:
        """Whether a judge without a penalty runs off, or falls to where no step would bring it back."""
        parameters = self.parameters(x)
        lost = (
            self.alone is None
            and self.model.weighs_judges
            and bool((parameters.in_play & faint(parameters, LOST)).any())
        )
        return lost or bool(unbounded_judges(self.model, parameters))

    def ascent(self, x: np.ndarray, spread: Spread, info: Information, gradient: np.ndarray) -> np.ndarray:
        """Newton's step; where the log-likelihood curves upward, by the expected information.

        Where judges are not shrunk, or that is singular, as if it curved downward as much.
        """
        if isinstance(info, Arrow):  # which has what does not move, too, but for whole blocks
            rows = self.free[self.model.free_rows].ravel()
            free_columns = np.flatnonzero(np.r_[np.ones(self.n, bool), rows])[self.coordinates.free_columns]
            correction = np.zeros(len(info.sums))
            correction[free_columns] = gradient
            return info.solve(correction)[free_columns]
        with suppress(LinAlgError):
            return positive_solve(info, gradient)
        if self.alone is None:
            expected = self.look(x, spread, "expected")[2]
            assert not isinstance(expected, Arrow)
            with suppress(LinAlgError):
                return positive_solve(expected, gradient)
        values, vectors = np.linalg.eigh(info) if self.metric is None else eigh(info, self.metric)
        return vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), FLATTEST * values[-1]))

    def near(self, x: np.ndarray, spread: Spread) -> np.ndarray:
        """The mode for standard deviations next to those of the mode x, to first order: one Newton step."""
        _, gradient, info = self.look(x, spread, "observed")
        return x + self.ascent(x, spread, info, gradient)

    def marginal(self, x: np.ndarray, spread: Spread) -> float:
        """Log-likelihood at the mode x with all that is shrunk integrated out, in Laplace's approximation.

        With a block of restricted likelihood all else is integrated out as well, up to a constant.
        """
        height, _, info = self.look(x, spread, "expected")
        parameters = self.parameters(x)
        prior = log_prior_determinant(self.model, parameters, spread, self._n_discriminations)
        n_qualities = shrunk_qualities(self.model, parameters, spread)
        if self._restricted(spread) and self.model.weighs_judges:
            # flat in the scores and in the discriminations whose mean is one, so that a judge near zero,
            # whose logarithm is hardly known, does not decide
            free = int(self.free[0].sum())
            n_qualities = self.n - 1 - max(free - 1, 0)
        to_scaled = n_qualities * np.log(scale(self.model, parameters)[0])
        return height + 0.5 * (prior - self._log_determinant(info, spread)) + to_scaled

    def _restricted(self, spread: Spread) -> bool:
        """Whether the likelihood is a restricted one; where scores are shrunk, all is integrated out anyway."""
        return self.model.restricted and "scores" not in spread

    def _log_determinant(self, info: Information, spread: Spread) -> float:
        assert not isinstance(info, Arrow)
        if ("scores" in spread and not self.model.further) or self._restricted(spread):
            return float(np.linalg.slogdet(info)[1])
        shrunk = np.concatenate([np.full(len(b.labels), b.name in spread) for b in self.model.further])
        shrunk = shrunk[self.free_common]
        part = np.r_[np.full(len(info) - len(shrunk), "scores" in spread), shrunk]
        return float(np.linalg.slogdet(info[np.ix_(part, part)])[1])


@dataclass
class _Point:
    """A point of the climb to a mode, and the look from there."""

    problem: Problem
    spread: Spread
    x: FloatArray
    height: float
    gradient: FloatArray
    info: Information

    @cached_property
    def step(self) -> FloatArray:
        return self.problem.ascent(self.x, self.spread, self.info, self.gradient)

    @property
    def rise(self) -> float:
        """Along the step."""
        return float(self.gradient @ self.step)


class _ToMode(Ascent[_Point]):
    """Newton's method to a mode for given standard deviations."""

    def __init__(self, problem: Problem, spread: Spread, tolerance: float):
        self.problem, self.spread, self.tolerance = problem, spread, tolerance

    def point_at(self, x: FloatArray) -> _Point:
        return _Point(self.problem, self.spread, x, *self.problem.look(x, self.spread, "observed"))

    def arrived(self, point: _Point) -> bool:
        size = max(1.0, abs(point.height))
        return bool(np.abs(point.gradient).max() <= self.tolerance * size) or point.rise <= ROUNDING * size

    def strays(self, point: _Point) -> bool:
        return ALPHA not in self.spread and not self.arrived(point) and self.problem.strays(point.x)

    def next_point(self, point: _Point) -> _Point:
        step, rise, problem = point.step, point.rise, self.problem
        full_step = step if problem.metric is None else problem.coordinates.full(step)
        close = point.height - CLOSE * max(1.0, abs(point.height))
        return backtracked(
            lambda size: self.point_at(point.x + size * step),
            lambda trial: trial.height,
            point.height,
            rise,
            min(1.0, LARGEST_STEP / np.abs(full_step).max()),
            # where rounding hides which is higher, the slope tells (Hager and Zhang, 2005)
            lambda trial: bool(trial.height >= close and trial.gradient @ step >= -SLOPE * rise),
        )[1]


def faint(parameters: Parameters, least: float) -> BoolArray:
    """Judges under whom a typical pair's log-odds are below a size, shape (K,)."""
    if not len(parameters.judges):
        return np.zeros(parameters.judges.shape[1], bool)
    weak: BoolArray = log_odds(parameters) < least
    return weak


def moving(model: Model, spread: Spread | None) -> BoolArray:
    """Which parameters of further blocks are not held at zero for having no standard deviation, shape (P,)."""
    fixed_spread = {} if spread is None else spread
    parts = [np.full(len(block.labels), not block.shrunk or block.name in fixed_spread) for block in model.further]
    return np.concatenate([np.zeros(0, bool), *parts])


# The penalised log-likelihood of very many judges: no matrix of all their parameters is formed.
LARGE = 1_000  # parameters up to which one matrix is quicker than blocks


class BlockProblem(Problem):
    """A `Problem` for so many judges that their information must not become one matrix (`engine.arrow`).

    All is shrunk but for further blocks that are not.
    """

    def _second(
        self, parameters: Parameters, spread: Spread, evaluation: Evaluation, curvature: Curvature
    ) -> Information:
        """The expected ones where the log-likelihood curves upward."""
        if curvature == "observed":
            held = at_mean(self.model, self.cells)
            information = arrow(self.model, parameters, self._logarithmic(evaluation), spread, True, held)
            if information.is_positive:
                return information
            evaluation = evaluate(self.cells, self.model, parameters, "expected")
        return arrow(self.model, parameters, evaluation, spread, False, at_mean(self.model, self.cells))

    def _log_determinant(self, info: Information, spread: Spread) -> float:
        assert isinstance(info, Arrow)
        blocks = [self.n] + [self._n_discriminations] * (
            len(info.sums.T) - 1
        )  # from orthonormal coordinates to these
        return info.log_determinant() + float(np.log(blocks).sum())


def problem_of(cells: Comparisons, model: Model, spread: Spread | None = None) -> Problem:
    """The problem in which all is shrunk, by blocks where one matrix would be large.

    With a `spread`, shrunk further blocks that it does not name are held at zero.
    """
    size = len(cells.models) + len(model.free_blocks) * len(cells.judges)
    if size > LARGE and not model.further:
        return BlockProblem(cells, model)
    return Problem(cells, model, free_common=None if spread is None else moving(model, spread))


# Counts rescaled for solvers, so that results do not depend on how often all comparisons were counted.
#
# A likelihood of the same shares has the same maxima, or none, however large the counts. Solvers compare heights,
# gradients and weights with constants, so each is given the same numbers at every scale. A count over the total is
# rounded once, so whole counts have equal shares to the last bit whatever they were all multiplied with.
USUAL = 10.0  # comparisons by judge and model: those of the small sets that the constants of the search suit


@remembered
def in_units(cells: Comparisons) -> tuple[Comparisons, float]:
    """The same comparisons counted in units, of which there are `USUAL` for every judge and model.

    Parameters
    ----------
    cells : Comparisons
        Aggregated.

    Returns
    -------
    cells : Comparisons
        With the same shares of outcomes.
    unit : float
        Comparisons in one unit: log-likelihoods, gradients and information are larger by this factor.
    """
    total, units = cells.n_comparisons, USUAL * len(cells.models) * len(cells.judges)
    count = np.maximum(cells.count / total * units, np.finfo(float).tiny)
    return replace(cells, count=count), total / units
