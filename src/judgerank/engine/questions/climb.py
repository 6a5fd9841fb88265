"""The fit without question effects, and the rough climb of the marginal likelihood that begins there."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.ascent import Ascent, ascended, backtracked
from judgerank.engine.information import zero_sum_basis
from judgerank.engine.penalty import ALPHA, pulled
from judgerank.engine.questions.marginal import Marginal, Slopes
from judgerank.engine.solution import Solution
from judgerank.model.block import Role
from judgerank.model.limits import at_mean
from judgerank.model.members import Model, Parameters

LEAST = 1e-3  # of sigma: about there it counts as zero
# times the logistic noise of a judge, the noise of a question's effect: the former is as none, and beyond it the
# finest rules here do not hold what they promise
NOISELESS = 13.0
FAINT = 0.1  # times that noise, below which the likelihood is all but linear in the effects' variance
FLOOR = 0.05  # discrimination that judges at zero are scaled for
SHARPER = 1.4  # than a rule was chosen for, from which on it is not trusted
CLOSE = 1e-4  # distance from the maximum in standard errors
NEAR = 3.0  # rise of the log-likelihood that a step promises, from which on curvature is carried along
ITERATIONS = 100
TINY = 1e-10  # curvature
FURTHEST = 0.7  # of a step: in log sigma, and in a discrimination over its size
# of a step, in the curvature's own units, where it is upward
DAMPINGS = (0.0, 1e-3, 1e-2, 0.1, 1.0, 2.0, 10.0, 100.0)
FAINTEST = 1e-3  # of a discrimination that is shrunk, over that at the start


@dataclass(frozen=True)
class Plain:
    """The fit without question effects, from which the climb begins.

    Attributes
    ----------
    cells : Comparisons
    model : Model
    solution : Solution
    free : bool array, shape (B, K)
        Parameters of the judges that move.
    free_common : bool array, shape (P,)
        Those of further blocks.
    """

    cells: Comparisons
    model: Model
    solution: Solution
    free: BoolArray
    free_common: BoolArray

    @property
    def spread(self) -> dict[str, float]:
        """Standard deviations of what is shrunk."""
        return dict(self.solution.spread or {})

    @property
    def height(self) -> float:
        """Log-likelihood less the penalty."""
        lost = pulled(self.model, self.solution.parameters, self.spread)[0] if self.spread else 0.0
        return self.solution.evaluation.log_likelihood - 0.5 * lost

    @property
    def at_mean(self) -> BoolArray:
        """Judges whose discrimination is that of the others (`Comparisons.at_mean`), shape (K,)."""
        return at_mean(self.model, self.cells)

    def free_at(self, at: Parameters) -> BoolArray:
        """What moves where other judges may be at zero, shape (B, K)."""
        free = self.free.copy()
        free[self.model.moving] = at.in_play & ~self.at_mean
        return free & np.isfinite(at.judges)


class Place(NamedTuple):
    """A point of the climb: the gradient there in its coordinates, and minus the curvature, if that is carried on.

    Besides, the step on from it, the rise that this promises, and whether it is damped.
    """

    at: Parameters
    sigma: float
    slopes: Slopes
    gradient: FloatArray
    minus: FloatArray | None = None
    step: FloatArray | None = None
    rise: float = np.inf
    damped: bool = False


class Climb(Ascent[Place]):
    """Newton's method close to the maximum, in scores, judges' and further blocks' parameters, and log sigma.

    Discriminations are climbed in themselves, bounded by zero: the logarithm of a weak judge's has no end that
    tells. Their scale is left free, and fixed in the end.
    """

    def __init__(self, marginal: Marginal, plain: Plain, at: Parameters, sigma: float):
        model, n = plain.model, len(at.scores)
        self.marginal, self.model, self.plain = marginal, model, plain
        self.sharpest = model.of_judges(at).gamma.max() * sigma
        is_reference = plain.free & np.isfinite(at.judges)
        is_reference[model.weights] = False
        end = n + at.judges.size
        gamma = model.of_judges(at).gamma if model.weighs_judges else np.empty(0)
        columns = np.concatenate(
            [
                n + np.flatnonzero(is_reference),
                end + np.flatnonzero(plain.free_common),
                n + np.arange(len(gamma)),
                [end + len(at.common)],
            ]
        )
        self.to_full = np.zeros((end + len(at.common) + 1, n - 1 + len(columns)))
        self.to_full[:n, : n - 1] = zero_sum_basis(n)
        self.to_full[columns, n - 1 + np.arange(len(columns))] = 1.0
        # where discriminations are shrunk none is zero, and their scale is not free, nor where one is held
        shrunk, held = ALPHA in marginal.spread, plain.at_mean[: len(gamma)]
        self.to_full[n + np.flatnonzero(held)] = 0.0
        self.least = np.r_[FAINTEST * gamma if shrunk else np.zeros(len(gamma)), np.log(LEAST)]
        self.least[:-1][held] = gamma[held]
        self.scale_free = model.weighs_judges and not shrunk and not held.any()

    def too_sharp(self, at: Parameters, sigma: float) -> bool:
        """Whether the rules were chosen for judges that are not as sharp."""
        return bool(self.model.of_judges(at).gamma.max() * sigma > SHARPER * self.sharpest)

    def strays(self, point: Place) -> bool:
        sharpest = self.model.of_judges(point.at).gamma.max() * point.sigma
        if sharpest < FAINT and point.slopes.log_sigma < 0 and point.slopes.value <= self.plain.height:
            return self.zero_is_best
        return bool(sharpest >= NOISELESS) or self.too_sharp(point.at, point.sigma)

    @cached_property
    def zero_is_best(self) -> bool:
        """Whether the likelihood falls as sigma rises from zero, at the fit without question effects."""
        return self.marginal.at(self.plain.solution.parameters, LEAST).log_sigma <= 0

    def settled(self, point: Place) -> Place:
        """The place with the step on from it; one that strays as it is."""
        if self.strays(point):
            return point
        bounded, gradient, minus = self._bounded(point), point.gradient, point.minus
        if minus is None:
            minus = -self.to_full.T @ self.marginal.curvature(point.at, point.sigma, point.slopes) @ self.to_full
        moves = np.ones(len(gradient), bool)
        moves[-len(bounded) :] = (bounded > self.least) | (gradient[-len(bounded) :] > 0)
        lifted, step = minus, np.zeros(len(gradient))
        if self.scale_free:
            along = self._along_scale(point)
            lifted = minus + np.abs(np.diag(minus)).mean() / (along @ along) * np.outer(along, along)
        lifted, unit = lifted[np.ix_(moves, moves)], np.abs(np.diag(minus)) + TINY
        for damping in DAMPINGS:
            with suppress(LinAlgError):
                step[moves] = cho_solve(cho_factor(lifted + damping * np.diag(unit[moves])), gradient[moves])
                minus = minus + damping * np.diag(unit)
                return point._replace(minus=minus, step=step, rise=float(gradient @ step), damped=damping > 0)
        return point

    def arrived(self, point: Place) -> bool:
        return point.rise <= CLOSE**2 and not point.damped

    def next_point(self, point: Place) -> Place:
        if point.step is None:
            raise LinAlgError("the likelihood curves upward")
        bounded, step = self._bounded(point), point.step[-len(self.least) :]
        most = np.r_[FURTHEST * np.maximum(bounded[:-1], FLOOR), FURTHEST]
        size = 1 / max(1.0, float((step / most).max()), float(-step[-1] / FURTHEST))
        full_step = self.to_full @ point.step

        def evaluate_at(size: float) -> Place:
            return self.place(*self._moved(point, size * full_step, np.maximum(bounded + size * step, self.least)))

        height, rise = point.slopes.value, float(point.gradient @ point.step)
        size, next_point = backtracked(evaluate_at, lambda place: place.slopes.value, height, rise, size)
        if point.rise > NEAR or point.minus is None:
            return next_point
        # Broyden, Fletcher, Goldfarb and Shanno's update, by what the gradient did along the step
        went, fell = size * point.step, point.gradient - next_point.gradient
        went[-len(bounded) :] = self._bounded(next_point) - bounded
        across = point.minus @ went
        if fell @ went <= 0 or went @ across <= 0:
            return next_point
        minus = point.minus - np.outer(across, across) / (went @ across) + np.outer(fell, fell) / (fell @ went)
        return next_point._replace(minus=minus)

    def _moved(self, point: Place, step: FloatArray, bounded: FloatArray) -> tuple[Parameters, float]:
        """The point a step away, where discriminations and log sigma are these."""
        at = point.at
        n, end = len(at.scores), len(at.scores) + at.judges.size
        judges = np.where(np.isfinite(at.judges), at.judges, 0.0) + step[n:end].reshape(at.judges.shape)
        judges = np.where(np.isfinite(at.judges), judges, at.judges)
        if len(bounded) > 1:
            with np.errstate(divide="ignore"):
                judges[0] = np.log(bounded[:-1])
        return Parameters(at.scores + step[:n], judges, at.common + step[end:-1]), float(np.exp(bounded[-1]))

    def _along_scale(self, point: Place) -> FloatArray:
        """Where the likelihood stays as it is: qualities and sigma rise as discriminations fall."""
        at, qualities = point.at, np.equal(self.model.roles, Role.QUALITY)
        judges = np.zeros(at.judges.shape)
        judges[0] = -self.model.of_judges(at).gamma
        return self.to_full.T @ np.r_[at.scores, judges.ravel(), np.where(qualities, at.common, 0.0), 1.0]

    def _bounded(self, point: Place) -> FloatArray:
        """Discriminations that move, and log sigma."""
        return np.r_[self.model.of_judges(point.at).gamma[: len(self.least) - 1], np.log(point.sigma)]

    def place(self, at: Parameters, sigma: float) -> Place:
        slopes = self.marginal.at(at, sigma)
        gradient = np.r_[slopes.scores, slopes.judges.ravel(), slopes.common, slopes.log_sigma]
        return Place(at, sigma, slopes, self.to_full.T @ gradient)

    def top(self, at: Parameters, sigma: float, minus: FloatArray | None = None) -> tuple[Place, int]:
        """A place close to the maximum, and how many steps led there, from a point where `minus` is known."""
        point, _, steps = ascended(self, self.place(at, sigma)._replace(minus=minus), ITERATIONS)
        return point, steps
