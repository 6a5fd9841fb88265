"""The maximum of the marginal likelihood, climbed from the fit without question effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoMaximumError
from judgerank.engine.ascent import Ascent, ascended, backtracked
from judgerank.engine.information import covariance, zero_sum_basis
from judgerank.engine.penalty import ALPHA, flat, pulled, scale, scores_as_shrunk
from judgerank.engine.questions.groups import Group, merged
from judgerank.engine.questions.marginal import Marginal, Slopes
from judgerank.engine.solution import Solution, Status
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import at_mean

# The fit without question effects, and the rough climb of the marginal likelihood that begins there.
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

    def free_at(self, parameters: Parameters) -> BoolArray:
        """What moves where other judges may be at zero, shape (B, K)."""
        free = self.free.copy()
        free[self.model.moving] = parameters.in_play & ~self.at_mean
        return free & np.isfinite(parameters.judges)


class MarginalPoint(NamedTuple):
    """A point of the climb: the gradient there in its coordinates, and minus the curvature, if that is carried on.

    Besides, the step on from it, the rise that this promises, and whether it is damped.
    """

    parameters: Parameters
    sigma: float
    slopes: Slopes
    gradient: FloatArray
    minus: FloatArray | None = None
    step: FloatArray | None = None
    rise: float = np.inf
    damped: bool = False


class Climb(Ascent[MarginalPoint]):
    """Newton's method close to the maximum, in scores, judges' and further blocks' parameters, and log sigma.

    Discriminations are climbed in themselves, bounded by zero: the logarithm of a weak judge's has no end that
    tells. Their scale is left free, and fixed in the end.
    """

    def __init__(self, marginal: Marginal, plain: Plain, parameters: Parameters, sigma: float):
        model, n = plain.model, len(parameters.scores)
        self.marginal, self.model, self.plain = marginal, model, plain
        self.sharpest = model.of_judges(parameters).gamma.max() * sigma
        is_reference = plain.free & np.isfinite(parameters.judges)
        is_reference[model.weights] = False
        end = n + parameters.judges.size
        gamma = model.of_judges(parameters).gamma if model.weighs_judges else np.empty(0)
        columns = np.concatenate(
            [
                n + np.flatnonzero(is_reference),
                end + np.flatnonzero(plain.free_common),
                n + np.arange(len(gamma)),
                [end + len(parameters.common)],
            ]
        )
        self.to_full = np.zeros((end + len(parameters.common) + 1, n - 1 + len(columns)))
        self.to_full[:n, : n - 1] = zero_sum_basis(n)
        self.to_full[columns, n - 1 + np.arange(len(columns))] = 1.0
        # where discriminations are shrunk none is zero, and their scale is not free, nor where one is held
        shrunk, held = ALPHA in marginal.spread, plain.at_mean[: len(gamma)]
        self.to_full[n + np.flatnonzero(held)] = 0.0
        self.least = np.r_[FAINTEST * gamma if shrunk else np.zeros(len(gamma)), np.log(LEAST)]
        self.least[:-1][held] = gamma[held]
        self.scale_free = model.weighs_judges and not shrunk and not held.any()

    def too_sharp(self, parameters: Parameters, sigma: float) -> bool:
        """Whether the rules were chosen for judges that are not as sharp."""
        return bool(self.model.of_judges(parameters).gamma.max() * sigma > SHARPER * self.sharpest)

    def strays(self, point: MarginalPoint) -> bool:
        sharpest = self.model.of_judges(point.parameters).gamma.max() * point.sigma
        if sharpest < FAINT and point.slopes.log_sigma < 0 and point.slopes.value <= self.plain.height:
            return self.zero_is_best
        return bool(sharpest >= NOISELESS) or self.too_sharp(point.parameters, point.sigma)

    @cached_property
    def zero_is_best(self) -> bool:
        """Whether the likelihood falls as sigma rises from zero, at the fit without question effects."""
        return self.marginal.slopes(self.plain.solution.parameters, LEAST).log_sigma <= 0

    def settled(self, point: MarginalPoint) -> MarginalPoint:
        """The place with the step on from it; one that strays as it is."""
        if self.strays(point):
            return point
        bounded, gradient, minus = self._bounded(point), point.gradient, point.minus
        if minus is None:
            minus = (
                -self.to_full.T
                @ self.marginal.curvature(point.parameters, point.sigma, point.slopes)
                @ self.to_full
            )
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

    def arrived(self, point: MarginalPoint) -> bool:
        return point.rise <= CLOSE**2 and not point.damped

    def next_point(self, point: MarginalPoint) -> MarginalPoint:
        if point.step is None:
            raise LinAlgError("the likelihood curves upward")
        bounded, step = self._bounded(point), point.step[-len(self.least) :]
        most = np.r_[FURTHEST * np.maximum(bounded[:-1], FLOOR), FURTHEST]
        size = 1 / max(1.0, float((step / most).max()), float(-step[-1] / FURTHEST))
        full_step = self.to_full @ point.step

        def evaluate_at(size: float) -> MarginalPoint:
            return self.evaluated(
                *self._line_point(point, size * full_step, np.maximum(bounded + size * step, self.least))
            )

        height, rise = point.slopes.value, float(point.gradient @ point.step)
        size, next_point = backtracked(evaluate_at, lambda point: point.slopes.value, height, rise, size)
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

    def _line_point(self, point: MarginalPoint, step: FloatArray, bounded: FloatArray) -> tuple[Parameters, float]:
        """The point a step away, where discriminations and log sigma are these."""
        parameters = point.parameters
        n, end = len(parameters.scores), len(parameters.scores) + parameters.judges.size
        judges = np.where(np.isfinite(parameters.judges), parameters.judges, 0.0) + step[n:end].reshape(
            parameters.judges.shape
        )
        judges = np.where(np.isfinite(parameters.judges), judges, parameters.judges)
        if len(bounded) > 1:
            with np.errstate(divide="ignore"):
                judges[0] = np.log(bounded[:-1])
        return Parameters(parameters.scores + step[:n], judges, parameters.common + step[end:-1]), float(
            np.exp(bounded[-1])
        )

    def _along_scale(self, point: MarginalPoint) -> FloatArray:
        """Where the likelihood stays as it is: qualities and sigma rise as discriminations fall."""
        parameters, qualities = point.parameters, np.equal(self.model.roles, Role.QUALITY)
        judges = np.zeros(parameters.judges.shape)
        judges[0] = -self.model.of_judges(parameters).gamma
        return (
            self.to_full.T
            @ np.r_[parameters.scores, judges.ravel(), np.where(qualities, parameters.common, 0.0), 1.0]
        )

    def _bounded(self, point: MarginalPoint) -> FloatArray:
        """Discriminations that move, and log sigma."""
        return np.r_[self.model.of_judges(point.parameters).gamma[: len(self.least) - 1], np.log(point.sigma)]

    def evaluated(self, parameters: Parameters, sigma: float) -> MarginalPoint:
        slopes = self.marginal.slopes(parameters, sigma)
        gradient = np.r_[slopes.scores, slopes.judges.ravel(), slopes.common, slopes.log_sigma]
        return MarginalPoint(parameters, sigma, slopes, self.to_full.T @ gradient)

    def top(
        self, parameters: Parameters, sigma: float, minus: FloatArray | None = None
    ) -> tuple[MarginalPoint, int]:
        """A place close to the maximum, and how many steps led there, from a point where `minus` is known."""
        point, _, steps = ascended(self, self.evaluated(parameters, sigma)._replace(minus=minus), ITERATIONS)
        return point, steps


START = 0.7  # of sigma, where discriminations have geometric mean one
SHARP = 12.0  # of a rule: minus the logarithm of its error
RULES = 12  # for ever sharper judges
ROUNDS = 5  # of climbs by better rules
SMALL_STEP = 1e-4  # in standard errors, by which curvature changes little
ARRIVED = 1e-7  # distance from the maximum in standard errors
STEPS = 50  # of Newton's method
MOST_SPREADS, SAME_SPREAD = (
    30,
    1e-3,
)  # rounds of standard deviations; change of their logarithms that counts as none
LEAST_SPREAD, MOST_SPREAD = 1e-4, 10.0


@dataclass(frozen=True)
class MarginalMaximum:
    """Where the climb ended.

    Attributes
    ----------
    parameters : Parameters
    sigma : float
    log_likelihood : float
    relative_gradient : float
        Largest component of the gradient over the size of the log-likelihood.
    status : Status
    iterations : int
    covariance : float array, shape (D + 1, D + 1), optional
        Of the free parameters and log sigma; NaN at a saddle, none where sigma is zero.
    spread : mapping of str to float
        Standard deviations of what is shrunk.
    """

    parameters: Parameters
    sigma: float
    log_likelihood: float
    relative_gradient: float
    status: Status
    iterations: int
    covariance: FloatArray | None = None
    spread: Mapping[str, float] = field(default_factory=dict)


def maximise(plain: Plain, groups: Sequence[Group], fitted: Sequence[str] = ()) -> MarginalMaximum:
    """The maximum over gamma, sigma >= 0 reached from the fit without question effects.

    Parameters
    ----------
    plain : Plain
    groups : sequence of Group
    fitted : sequence of str
        Blocks whose standard deviations are fitted here, too: each is moved to where it maximises the marginal
        likelihood in Laplace's approximation, the curvature being what it is (MacKay, 1992), until none moves.

    Raises
    ------
    NoMaximumError
        If sigma or a discrimination runs off.
    """
    spread, parameters, sigma, done = plain.spread, plain.solution.parameters, START, 0
    groups = [merged(group) if group.exact else group for group in groups]
    for _ in range(MOST_SPREADS):
        maximum = _at_spread(plain, groups, spread, parameters, sigma)
        done += maximum.iterations
        if maximum.covariance is None or not fitted or not np.isfinite(maximum.covariance).all():
            break
        next_spread = _moved_spread(plain, maximum, fitted)
        change = max(abs(np.log(next_spread[name] / spread[name])) for name in fitted)
        if change < SAME_SPREAD:
            break
        spread, parameters, sigma = {**spread, **next_spread}, maximum.parameters, maximum.sigma
    return replace(maximum, iterations=done)


def _moved_spread(plain: Plain, maximum: MarginalMaximum, names: Sequence[str]) -> dict[str, float]:
    """Standard deviations next to those of a maximum: of the estimates, and of what is not known of them."""
    model, parameters = plain.model, maximum.parameters
    n, k = len(parameters.scores), parameters.judges.shape[1]
    chosen = np.r_[np.ones(n, bool), plain.free_at(parameters).ravel(), plain.free_common]
    variance = np.zeros((len(chosen),) * 2)
    assert maximum.covariance is not None
    variance[np.ix_(chosen, chosen)] = maximum.covariance[:-1, :-1]
    unit, values, updated = scale(model, parameters)[0], flat(parameters), {}
    extra, of_scores = {block.name: block for block in model.further}, scores_as_shrunk(model, parameters)
    for name in names:
        factor, mean_free, prior = 1.0, False, 1.0
        if name == "scores":
            columns = slice(0, n)
        elif name in extra:
            block_columns, prior = model.place(name), 0.0
            columns = slice(
                n + k * len(parameters.judges) + block_columns.start,
                n + k * len(parameters.judges) + block_columns.stop,
            )
            factor = unit if extra[name].role is Role.QUALITY else 1.0
        else:
            row = model.row(name)
            columns, mean_free = slice(n + row * k, n + (row + 1) * k), name != ALPHA
        part, block_variance = values[columns], variance[columns, columns]
        if name == "scores":
            part, block_variance = of_scores @ values, of_scores @ variance @ of_scores.T
        if mean_free:
            part, block_variance = (
                part - part.mean(),
                block_variance
                - block_variance.mean(axis=0)
                - block_variance.mean(axis=1)[:, None]
                + block_variance.mean(),
            )
        size = factor**2 * (float(part @ part) + float(np.trace(block_variance)))
        n_free = len(part) - (name not in extra) - (int(plain.at_mean.sum()) if name == ALPHA else 0)
        updated[name] = float(np.exp(_root(size, n_free, prior))) if n_free else maximum.spread[name]
    return updated


def _root(size: float, n_free: int, prior: float) -> float:
    """Where size e^{-2 x} - many - prior x is zero, by Newton's method."""
    x = 0.5 * np.log(max(size, np.finfo(float).tiny) / n_free)
    for _ in range(STEPS):
        value = size * np.exp(-2 * x)
        x += (value - n_free - prior * x) / (2 * value + prior)
    return float(np.clip(x, np.log(LEAST_SPREAD), np.log(MOST_SPREAD)))


def _at_spread(
    plain: Plain, groups: Sequence[Group], spread: Mapping[str, float], parameters: Parameters, sigma: float
) -> MarginalMaximum:
    """The maximum for given standard deviations of what is shrunk."""
    model, done, minus = plain.model, 0, None
    for _ in range(RULES):  # a rule is chosen for what is climbed from, and the climb may leave that
        gamma = model.of_judges(parameters).gamma
        climb = Climb(Marginal.fine(groups, model, gamma, sigma, SHARP, spread), plain, parameters, sigma)
        point, steps = climb.top(parameters, sigma, minus)
        parameters, sigma, minus, done = point.parameters, point.sigma, point.minus, done + steps
        _require_bounded(plain, parameters, sigma)
        if not climb.too_sharp(parameters, sigma):
            break
    if sigma <= 2 * LEAST or point.slopes.value <= plain.height:
        return _at_zero(plain, groups, spread, done)
    parameters, sigma = normalised(plain, parameters, sigma)
    free = plain.free_at(parameters)
    marginal = Marginal.fine(groups, model, model.of_judges(parameters).gamma, sigma, SHARP, spread)
    for _ in range(ROUNDS):  # until the curvature is that of where it ends
        hessian = marginal.hessian(parameters, sigma, free, plain.free_common)
        covariance = inverse_of(hessian, model, free, len(parameters.scores))
        parameters, sigma, arrived, steps, last_step = _settled(
            marginal, parameters, sigma, (free, plain.free_common), covariance
        )
        done += steps
        if not last_step > SMALL_STEP:
            break
    value = marginal.slopes(parameters, sigma).value
    slopes = marginal.gradient(parameters, sigma, free, plain.free_common)
    status = Status.INTERIOR if parameters.in_play.all() else Status.BOUNDARY
    status = status if arrived else Status.ITERATION_LIMIT
    bare = value + 0.5 * pulled(model, parameters, spread)[0] if spread else value
    return MarginalMaximum(parameters, sigma, bare, _relative(slopes, value), status, done, covariance, spread)


def _require_bounded(plain: Plain, parameters: Parameters, sigma: float) -> None:
    """Refuse where a judge's own noise is nothing beside the question's: the likelihood rises to none at all."""
    sharp = np.flatnonzero(plain.model.of_judges(parameters).gamma * sigma >= NOISELESS)
    if len(sharp):
        names = ", ".join(plain.cells.judges[k] for k in sharp)
        raise NoMaximumError(
            f"the likelihood with question effects has no maximum: it rises as the own noise of {names} vanishes "
            "beside that of the questions (ask several judges about the same questions, or fit 'btl_ties')",
            (),
        )


def normalised(plain: Plain, parameters: Parameters, sigma: float) -> tuple[Parameters, float]:
    """The same likelihood with discriminations of geometric mean one, but for those that are held there."""
    scaled, size = parameters.normalised(plain.model, plain.at_mean), np.abs(parameters.scores).max()
    return scaled, sigma * float(np.abs(scaled.scores).max() / size) if size > 0 else sigma


def inverse_of(hessian: FloatArray, model: Model, free: BoolArray, n_models: int) -> FloatArray:
    """Inverse of minus the second derivatives in the zero-sum coordinates, shape (D + 1, D + 1).

    Where the likelihood does not curve downward in every direction it is all NaN.
    """
    try:
        return covariance(-hessian, n_models, int(free[:1].sum()) if model.weighs_judges else 0)
    except np.linalg.LinAlgError:  # a saddle
        return np.full(hessian.shape, np.nan)


class _Point(NamedTuple):
    """A point, the step from it and its size in standard errors, that of the last one, and all steps so far."""

    parameters: Parameters
    sigma: float
    step: FloatArray
    far: float
    before: float
    total_step: FloatArray


@dataclass(frozen=True)
class _ByOneInverse(Ascent[_Point]):
    """Newton steps by one inverse, which is that of a point nearby."""

    marginal: Marginal
    free: tuple[BoolArray, BoolArray]
    covariance: FloatArray

    def evaluated(self, parameters: Parameters, sigma: float, before: float, x: FloatArray) -> _Point:
        step = self.covariance @ self.marginal.gradient(parameters, sigma, *self.free)
        return _Point(parameters, sigma, step, self.distance(step), before, x)

    def distance(self, step: FloatArray) -> float:
        """In standard errors; NaN where there is no inverse."""
        errors = np.sqrt(np.diag(self.covariance))  # zero where one discrimination alone is free: it is one
        return float(np.abs(np.divide(step, errors, out=np.zeros_like(step), where=errors != 0)).max())

    def strays(self, point: _Point) -> bool:
        return not point.far <= ARRIVED and not point.far < point.before  # among them where there is no inverse

    def arrived(self, point: _Point) -> bool:
        return point.far <= ARRIVED

    def next_point(self, point: _Point) -> _Point:
        parameters, step, (free, free_common) = point.parameters, point.step, self.free
        n, of_judges = len(parameters.scores), int(free.sum())
        judges, common = parameters.judges.copy(), parameters.common.copy()
        judges[free] += step[n : n + of_judges]
        common[free_common] += step[n + of_judges : -1]
        updated = Parameters(parameters.scores + step[:n], judges, common)
        return self.evaluated(updated, point.sigma * float(np.exp(step[-1])), point.far, point.total_step + step)


def _settled(
    marginal: Marginal,
    parameters: Parameters,
    sigma: float,
    free: tuple[BoolArray, BoolArray],
    covariance: FloatArray,
) -> tuple[Parameters, float, bool, int, float]:
    """The maximum by Newton steps of one inverse, whether it was reached, how many, and how far they led."""
    climb = _ByOneInverse(marginal, free, covariance)
    start = climb.evaluated(parameters, sigma, np.inf, np.zeros(len(covariance)))
    point, arrived, steps = ascended(climb, start, STEPS)
    return point.parameters, point.sigma, arrived, steps, climb.distance(point.total_step)


def _relative(slope: FloatArray, value: float) -> float:
    return float(np.abs(slope).max() / max(1.0, abs(value)))


def _at_zero(plain: Plain, groups: Sequence[Group], spread: Mapping[str, float], done: int) -> MarginalMaximum:
    """The fit without question effects as the maximum over sigma >= 0, if the likelihood does not rise from it."""
    parameters, solution = plain.solution.parameters, plain.solution
    marginal = Marginal.fine(groups, plain.model, plain.model.of_judges(parameters).gamma, LEAST, SHARP, spread)
    slopes, height = marginal.slopes(parameters, LEAST), solution.evaluation.log_likelihood
    rises = slopes.log_sigma > 0 and slopes.value > plain.height + 1e-9 * abs(slopes.value)
    status = Status.ITERATION_LIMIT if rises else Status.BOUNDARY
    relative = solution.evaluation.relative_gradient
    return MarginalMaximum(parameters, 0.0, height, relative, status, done, None, spread)
