"""The maximum of the marginal likelihood, climbed from the fit without question effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import block_diag, solve_triangular
from scipy.optimize import minimize

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoMaximumError
from judgerank.engine.information import information, zero_sum_basis
from judgerank.engine.penalty import ALPHA, flat, penalty, pulled, scale
from judgerank.engine.questions.groups import Group
from judgerank.engine.questions.marginal import Marginal
from judgerank.engine.solution import Solution, Status
from judgerank.engine.sums import evaluate
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

START = 0.7  # of sigma, where discriminations have geometric mean one
LEAST = 1e-3  # of sigma: about there it counts as zero
NOISELESS = 25.0  # times the logistic noise of a judge, the noise of a question's effect: the former is as none
FLOOR = 0.05  # discrimination that judges at zero are scaled for
ROUGH, SHARP = 8.0, 12.0  # of a rule, while climbing and in the end: minus the logarithm of its error
SHARPER = 1.4  # than a rule was chosen for, from which on it is not trusted
ROUNDS = 5  # of climbs by better rules
CLOSE = 1e-2  # gradient in such units, at which Newton's method takes over
MOVED = 2e-2  # in standard errors, by which curvature changes little
ARRIVED = 1e-5  # distance from the maximum in standard errors
ITERATIONS, STEPS = 500, 50  # of the climb, and of Newton's method
FAINTEST = 1e-3  # of a discrimination that is shrunk, over that at the start
MOST_SPREADS, SAME_SPREAD = (
    30,
    1e-3,
)  # rounds of standard deviations; change of their logarithms that counts as none
LEAST_SPREAD, MOST_SPREAD = 1e-4, 10.0


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

    def free_at(self, at: Parameters) -> BoolArray:
        """What moves where other judges may be at zero, shape (B, K)."""
        free = self.free.copy()
        free[self.model.moving] = at.in_play
        return free & np.isfinite(at.judges)


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
    for _ in range(MOST_SPREADS):
        found = _at_spread(plain, groups, spread, at, sigma)
        done += found.iterations
        if found.covariance is None or not fitted or not np.isfinite(found.covariance).all():
            break
        further = _moved_spread(plain, found, fitted)
        change = max(abs(np.log(further[name] / spread[name])) for name in fitted)
        if change < SAME_SPREAD:
            break
        spread, at, sigma = {**spread, **further}, found.parameters, found.sigma
    return replace(found, iterations=done)


def _moved_spread(plain: Plain, found: Found, names: Sequence[str]) -> dict[str, float]:
    """Standard deviations next to those of a maximum: of the estimates, and of what is not known of them."""
    model, at = plain.model, found.parameters
    n, k = len(at.scores), at.judges.shape[1]
    chosen = np.r_[np.ones(n, bool), plain.free_at(at).ravel(), plain.free_common]
    variance = np.zeros((len(chosen),) * 2)
    assert found.covariance is not None
    variance[np.ix_(chosen, chosen)] = found.covariance[:-1, :-1]
    unit, values, moved = scale(model, at)[0], flat(at), {}
    further = {block.name: block for block in model.further}
    for name in names:
        factor, mean_free, prior = 1.0, False, 1.0
        if name == "scores":
            place, factor = slice(0, n), unit
        elif name in further:
            there, prior = model.place(name), 0.0
            place = slice(n + k * len(at.judges) + there.start, n + k * len(at.judges) + there.stop)
            factor = unit if further[name].role is Role.QUALITY else 1.0
        else:
            row = model.row(name)
            place, mean_free = slice(n + row * k, n + (row + 1) * k), name != ALPHA
        part, own = values[place], variance[place, place]
        if mean_free:
            part, own = part - part.mean(), own - own.mean(axis=0) - own.mean(axis=1)[:, None] + own.mean()
        size = factor**2 * (float(part @ part) + float(np.trace(own)))
        many = len(part) - (name not in further)
        moved[name] = float(np.exp(_root(size, many, prior)))
    return moved


def _root(size: float, many: int, prior: float) -> float:
    """Where size e^{-2 x} - many - prior x is zero, by Newton's method."""
    x = 0.5 * np.log(max(size, np.finfo(float).tiny) / many)
    for _ in range(STEPS):
        value = size * np.exp(-2 * x)
        x += (value - many - prior * x) / (2 * value + prior)
    return float(np.clip(x, np.log(LEAST_SPREAD), np.log(MOST_SPREAD)))


def _at_spread(
    plain: Plain, groups: Sequence[Group], spread: Mapping[str, float], at: Parameters, sigma: float
) -> Found:
    """The maximum for given standard deviations of what is shrunk."""
    model, done = plain.model, 0
    for _ in range(ROUNDS):  # a rule is chosen for what is climbed from, and the climb may leave that
        gamma = model.of_judges(at).gamma
        climb = _Climb(Marginal.fine(groups, model, gamma, sigma, ROUGH, spread), plain, at, sigma)
        at, sigma, steps = climb.top()
        done += steps
        _require_bounded(plain, at, sigma)
        if not climb.too_sharp(at, sigma):
            break
    if sigma <= 2 * LEAST or climb.marginal.at(at, sigma).value <= plain.height:
        return _at_zero(plain, groups, spread, done)
    at, sigma = normalised(model, at, sigma)
    free = plain.free_at(at)
    marginal = Marginal.fine(groups, model, model.of_judges(at).gamma, sigma, SHARP, spread)
    for _ in range(ROUNDS):  # until the curvature is that of where it ends
        hessian = marginal.hessian(at, sigma, free, plain.free_common)
        covariance = inverse_of(hessian, model, free, len(at.scores))
        at, sigma, arrived, steps, moved = _settled(marginal, at, sigma, (free, plain.free_common), covariance)
        done += steps
        if not moved > MOVED:
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


def normalised(model: Model, at: Parameters, sigma: float) -> tuple[Parameters, float]:
    """The same likelihood with discriminations of geometric mean one."""
    scaled, size = at.normalised(model), np.abs(at.scores).max()
    return scaled, sigma * float(np.abs(scaled.scores).max() / size) if size > 0 else sigma


def inverse_of(hessian: FloatArray, model: Model, free: BoolArray, n_models: int) -> FloatArray:
    """Inverse of minus the second derivatives in the zero-sum coordinates, shape (D + 1, D + 1).

    Where the likelihood does not curve downward in every direction it is all NaN.
    """
    moving = int(free[:1].sum()) if model.weighs_judges else 0
    rest = np.eye(len(hessian) - n_models - moving)
    to_full = block_diag(zero_sum_basis(n_models), *([zero_sum_basis(moving)] if moving else []), rest)
    try:
        half = solve_triangular(np.linalg.cholesky(-to_full.T @ hessian @ to_full), to_full.T, lower=True)
    except np.linalg.LinAlgError:  # a saddle
        return np.full(hessian.shape, np.nan)
    return half.T @ half


def _settled(
    marginal: Marginal, at: Parameters, sigma: float, free: tuple[BoolArray, BoolArray], covariance: FloatArray
) -> tuple[Parameters, float, bool, int, float]:
    """Newton steps by one inverse: the maximum, whether it was reached, how many, and how far they led."""
    n, of_judges, far, whole = len(at.scores), int(free[0].sum()), np.inf, np.zeros(len(covariance))
    errors = np.sqrt(np.diag(covariance))
    for steps in range(STEPS):
        step = covariance @ marginal.gradient(at, sigma, *free)
        before, far = far, float(np.abs(step / errors).max())
        if far <= ARRIVED:
            return at, sigma, True, steps, float(np.abs(whole / errors).max())
        if not far < before:  # among them where there is no inverse
            return at, sigma, False, steps, float(np.abs(whole / errors).max())
        whole = whole + step
        judges, common = at.judges.copy(), at.common.copy()
        judges[free[0]] += step[n : n + of_judges]
        common[free[1]] += step[n + of_judges : -1]
        at, sigma = Parameters(at.scores + step[:n], judges, common), sigma * float(np.exp(step[-1]))
    return at, sigma, False, STEPS, float(np.abs(whole / errors).max())


def _relative(slope: FloatArray, value: float) -> float:
    return float(np.abs(slope).max() / max(1.0, abs(value)))


class _Climb:
    """L-BFGS from a point, in units in which the likelihood without question effects is all but round.

    Discriminations are climbed in themselves, bounded by zero: the logarithm of a weak judge's has no end that
    tells. Their scale is left free, and fixed in the end.
    """

    def __init__(self, marginal: Marginal, plain: Plain, at: Parameters, sigma: float):
        model, n, k = plain.model, len(at.scores), at.judges.shape[1]
        self.sharpest = model.of_judges(at).gamma.max() * sigma
        self.marginal, self.base, self.model = marginal, at, model
        self.moving = model.weighs_judges
        self.others, self.to_scores = plain.free & np.isfinite(at.judges), zero_sum_basis(n)
        self.others[: model.n_scale] = False
        self.common = plain.free_common
        info = self._information(plain, at)
        kept = np.r_[np.arange(n), n + np.flatnonzero(np.r_[self.others.ravel(), self.common])]
        self.n_others = int(self.others.sum())
        to_full = block_diag(self.to_scores, np.eye(self.n_others + int(self.common.sum())))
        reduced = to_full.T @ info[np.ix_(kept, kept)] @ to_full
        self.half = np.linalg.cholesky(reduced + np.diag(1e-6 * np.diag(reduced) + 1e-3))
        self.start = np.r_[self.to_scores.T @ at.scores, at.judges[self.others], at.common[self.common]]
        gamma = model.of_judges(at).gamma if self.moving else np.empty(0)
        floor = np.maximum(gamma, FLOOR)
        own = np.diag(info)[n : n + k] / floor**2 if self.moving else np.empty(0)
        self.unit = np.r_[1 / np.sqrt(own + 1.0), 1 / np.sqrt(2.0 * sum(map(len, marginal.groups)) * 0.01 + 1.0)]
        self.bounded = np.r_[gamma, np.log(sigma)]
        # where discriminations are shrunk none is zero
        self.least = np.r_[FAINTEST * gamma if ALPHA in marginal.spread else np.zeros(len(gamma)), np.log(LEAST)]

    def _information(self, plain: Plain, at: Parameters) -> FloatArray:
        """Without question effects, shape (D, D), judges at zero being taken for weak ones; the penalty's, too."""
        judges = at.judges
        if self.model.n_scale:
            judges = np.where(np.isfinite(judges), judges, np.maximum(judges, np.log(FLOOR)))
        here = evaluate(plain.cells, self.model, Parameters(at.scores, judges, at.common), "expected")
        info = information(here, np.ones(judges.shape, bool), np.ones(len(at.common), bool))
        return info + penalty(self.model, at, self.marginal.spread) if self.marginal.spread else info

    def too_sharp(self, at: Parameters, sigma: float) -> bool:
        """Whether the rules were chosen for judges that are not as sharp."""
        return bool(self.model.of_judges(at).gamma.max() * sigma > SHARPER * self.sharpest)

    def point(self, y: FloatArray) -> tuple[Parameters, float]:
        p, n = len(self.start), self.to_scores.shape[1]
        free = self.start + solve_triangular(self.half.T, y[:p])
        bounded = self.bounded + self.unit * y[p:]
        judges, common = self.base.judges.copy(), self.base.common.copy()
        judges[self.others], common[self.common] = free[n : n + self.n_others], free[n + self.n_others :]
        if self.moving:
            with np.errstate(divide="ignore"):
                judges[0] = np.log(np.maximum(bounded[:-1], 0.0))
        return Parameters(self.to_scores @ free[:n], judges, common), float(np.exp(bounded[-1]))

    def falls(self, y: FloatArray) -> tuple[float, FloatArray]:
        """Minus the value, and its slopes."""
        here = self.marginal.at(*self.point(y))
        free = np.r_[self.to_scores.T @ here.scores, here.judges[self.others], here.common[self.common]]
        gamma = here.judges[0] if self.moving else np.empty(0)
        slopes = np.r_[solve_triangular(self.half, free, lower=True), self.unit * np.r_[gamma, here.log_sigma]]
        return -here.value, -slopes

    def top(self) -> tuple[Parameters, float, int]:
        """Parameters and sigma close to the maximum, and iterations."""
        p = len(self.start)
        ends = (self.least - self.bounded) / self.unit
        bounds = [(None, None)] * p + [(end, None) for end in ends]
        options = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS, "ftol": 1e-14, "gtol": CLOSE, "maxcor": 30}
        y = np.zeros(p + len(ends))

        def callback(y: FloatArray) -> None:
            at, sigma = self.point(y)
            if self.model.of_judges(at).gamma.max() * sigma >= NOISELESS:
                raise StopIteration

        found = minimize(
            self.falls, y, jac=True, bounds=bounds, method="L-BFGS-B", options=options, callback=callback
        )
        return *self.point(found.x), int(found.nit)


def _at_zero(plain: Plain, groups: Sequence[Group], spread: Mapping[str, float], done: int) -> Found:
    """The fit without question effects as the maximum over sigma >= 0, if the likelihood does not rise from it."""
    at, solution = plain.solution.parameters, plain.solution
    marginal = Marginal.fine(groups, plain.model, plain.model.of_judges(at).gamma, LEAST, SHARP, spread)
    here, height = marginal.at(at, LEAST), solution.evaluation.log_likelihood
    rises = here.log_sigma > 0 and here.value > plain.height + 1e-9 * abs(here.value)
    status = Status.ITERATION_LIMIT if rises else Status.BOUNDARY
    relative = solution.evaluation.relative_gradient
    return Found(at, 0.0, height, relative, status, done, None, spread)
