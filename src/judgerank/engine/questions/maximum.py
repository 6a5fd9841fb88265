"""The maximum of the marginal likelihood, climbed from the fit without question effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.errors import NoMaximumError
from judgerank.engine.ascent import Ascent, ascended
from judgerank.engine.information import covariance
from judgerank.engine.penalty import ALPHA, flat, pulled, scale, scores_as_shrunk
from judgerank.engine.questions.climb import LEAST, NOISELESS, Climb, Plain
from judgerank.engine.questions.groups import Group, merged
from judgerank.engine.questions.marginal import Marginal
from judgerank.engine.solution import Status
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

START = 0.7  # of sigma, where discriminations have geometric mean one
SHARP = 12.0  # of a rule: minus the logarithm of its error
RULES = 12  # for ever sharper judges
ROUNDS = 5  # of climbs by better rules
MOVED = 1e-4  # in standard errors, by which curvature changes little
ARRIVED = 1e-7  # distance from the maximum in standard errors
STEPS = 50  # of Newton's method
MOST_SPREADS, SAME_SPREAD = (
    30,
    1e-3,
)  # rounds of standard deviations; change of their logarithms that counts as none
LEAST_SPREAD, MOST_SPREAD = 1e-4, 10.0


@dataclass(frozen=True)
class Found:
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


def maximise(plain: Plain, groups: Sequence[Group], fitted: Sequence[str] = ()) -> Found:
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
    spread, at, sigma, done = plain.spread, plain.solution.parameters, START, 0
    groups = [merged(group) if group.exact else group for group in groups]
    for _ in range(MOST_SPREADS):
        maximum = _at_spread(plain, groups, spread, at, sigma)
        done += maximum.iterations
        if maximum.covariance is None or not fitted or not np.isfinite(maximum.covariance).all():
            break
        next_spread = _moved_spread(plain, maximum, fitted)
        change = max(abs(np.log(next_spread[name] / spread[name])) for name in fitted)
        if change < SAME_SPREAD:
            break
        spread, at, sigma = {**spread, **next_spread}, maximum.parameters, maximum.sigma
    return replace(maximum, iterations=done)


def _moved_spread(plain: Plain, maximum: Found, names: Sequence[str]) -> dict[str, float]:
    """Standard deviations next to those of a maximum: of the estimates, and of what is not known of them."""
    model, at = plain.model, maximum.parameters
    n, k = len(at.scores), at.judges.shape[1]
    chosen = np.r_[np.ones(n, bool), plain.free_at(at).ravel(), plain.free_common]
    variance = np.zeros((len(chosen),) * 2)
    assert maximum.covariance is not None
    variance[np.ix_(chosen, chosen)] = maximum.covariance[:-1, :-1]
    unit, values, updated = scale(model, at)[0], flat(at), {}
    extra, of_scores = {block.name: block for block in model.further}, scores_as_shrunk(model, at)
    for name in names:
        factor, mean_free, prior = 1.0, False, 1.0
        if name == "scores":
            columns = slice(0, n)
        elif name in extra:
            block_columns, prior = model.place(name), 0.0
            columns = slice(
                n + k * len(at.judges) + block_columns.start, n + k * len(at.judges) + block_columns.stop
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
    plain: Plain, groups: Sequence[Group], spread: Mapping[str, float], at: Parameters, sigma: float
) -> Found:
    """The maximum for given standard deviations of what is shrunk."""
    model, done, minus = plain.model, 0, None
    for _ in range(RULES):  # a rule is chosen for what is climbed from, and the climb may leave that
        gamma = model.of_judges(at).gamma
        climb = Climb(Marginal.fine(groups, model, gamma, sigma, SHARP, spread), plain, at, sigma)
        point, steps = climb.top(at, sigma, minus)
        at, sigma, minus, done = point.at, point.sigma, point.minus, done + steps
        _require_bounded(plain, at, sigma)
        if not climb.too_sharp(at, sigma):
            break
    if sigma <= 2 * LEAST or point.slopes.value <= plain.height:
        return _at_zero(plain, groups, spread, done)
    at, sigma = normalised(plain, at, sigma)
    free = plain.free_at(at)
    marginal = Marginal.fine(groups, model, model.of_judges(at).gamma, sigma, SHARP, spread)
    for _ in range(ROUNDS):  # until the curvature is that of where it ends
        hessian = marginal.hessian(at, sigma, free, plain.free_common)
        covariance = inverse_of(hessian, model, free, len(at.scores))
        at, sigma, arrived, steps, last_step = _settled(marginal, at, sigma, (free, plain.free_common), covariance)
        done += steps
        if not last_step > MOVED:
            break
    value = marginal.at(at, sigma).value
    slopes = marginal.gradient(at, sigma, free, plain.free_common)
    status = Status.INTERIOR if at.in_play.all() else Status.BOUNDARY
    status = status if arrived else Status.ITERATION_LIMIT
    bare = value + 0.5 * pulled(model, at, spread)[0] if spread else value
    return Found(at, sigma, bare, _relative(slopes, value), status, done, covariance, spread)


def _require_bounded(plain: Plain, at: Parameters, sigma: float) -> None:
    """Refuse where a judge's own noise is nothing beside the question's: the likelihood rises to none at all."""
    sharp = np.flatnonzero(plain.model.of_judges(at).gamma * sigma >= NOISELESS)
    if len(sharp):
        names = ", ".join(plain.cells.judges[k] for k in sharp)
        raise NoMaximumError(
            f"the likelihood with question effects has no maximum: it rises as the own noise of {names} vanishes "
            "beside that of the questions (ask several judges about the same questions, or fit 'btl_ties')",
            (),
        )


def normalised(plain: Plain, at: Parameters, sigma: float) -> tuple[Parameters, float]:
    """The same likelihood with discriminations of geometric mean one, but for those that are held there."""
    scaled, size = at.normalised(plain.model, plain.at_mean), np.abs(at.scores).max()
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

    at: Parameters
    sigma: float
    step: FloatArray
    far: float
    before: float
    whole: FloatArray


@dataclass(frozen=True)
class _ByOneInverse(Ascent[_Point]):
    """Newton steps by one inverse, which is that of a point nearby."""

    marginal: Marginal
    free: tuple[BoolArray, BoolArray]
    covariance: FloatArray

    def place(self, at: Parameters, sigma: float, before: float, x: FloatArray) -> _Point:
        step = self.covariance @ self.marginal.gradient(at, sigma, *self.free)
        return _Point(at, sigma, step, self.distance(step), before, x)

    def distance(self, step: FloatArray) -> float:
        """In standard errors; NaN where there is no inverse."""
        errors = np.sqrt(np.diag(self.covariance))  # zero where one discrimination alone is free: it is one
        return float(np.abs(np.divide(step, errors, out=np.zeros_like(step), where=errors != 0)).max())

    def strays(self, point: _Point) -> bool:
        return not point.far <= ARRIVED and not point.far < point.before  # among them where there is no inverse

    def arrived(self, point: _Point) -> bool:
        return point.far <= ARRIVED

    def next_point(self, point: _Point) -> _Point:
        at, step, (free, free_common) = point.at, point.step, self.free
        n, of_judges = len(at.scores), int(free.sum())
        judges, common = at.judges.copy(), at.common.copy()
        judges[free] += step[n : n + of_judges]
        common[free_common] += step[n + of_judges : -1]
        parameters = Parameters(at.scores + step[:n], judges, common)
        return self.place(parameters, point.sigma * float(np.exp(step[-1])), point.far, point.whole + step)


def _settled(
    marginal: Marginal, at: Parameters, sigma: float, free: tuple[BoolArray, BoolArray], covariance: FloatArray
) -> tuple[Parameters, float, bool, int, float]:
    """The maximum by Newton steps of one inverse, whether it was reached, how many, and how far they led."""
    climb = _ByOneInverse(marginal, free, covariance)
    start = climb.place(at, sigma, np.inf, np.zeros(len(covariance)))
    point, arrived, steps = ascended(climb, start, STEPS)
    return point.at, point.sigma, arrived, steps, climb.distance(point.whole)


def _relative(slope: FloatArray, value: float) -> float:
    return float(np.abs(slope).max() / max(1.0, abs(value)))


def _at_zero(plain: Plain, groups: Sequence[Group], spread: Mapping[str, float], done: int) -> Found:
    """The fit without question effects as the maximum over sigma >= 0, if the likelihood does not rise from it."""
    at, solution = plain.solution.parameters, plain.solution
    marginal = Marginal.fine(groups, plain.model, plain.model.of_judges(at).gamma, LEAST, SHARP, spread)
    slopes, height = marginal.at(at, LEAST), solution.evaluation.log_likelihood
    rises = slopes.log_sigma > 0 and slopes.value > plain.height + 1e-9 * abs(slopes.value)
    status = Status.ITERATION_LIMIT if rises else Status.BOUNDARY
    relative = solution.evaluation.relative_gradient
    return Found(at, 0.0, height, relative, status, done, None, spread)
