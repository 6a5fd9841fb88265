"""The maximum of the marginal likelihood, climbed from the fit without question effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag, solve_triangular
from scipy.optimize import minimize

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.errors import NoMaximumError
from judgerank.engine.information import information, zero_sum_basis
from judgerank.engine.solution import Status
from judgerank.engine.sums import evaluate
from judgerank.fits.result import FitResult
from judgerank.model.members import Parameters
from judgerank.questions.groups import Group
from judgerank.questions.marginal import Marginal, judges_of

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
    marginal : Marginal
        What was maximised.
    """

    parameters: Parameters
    sigma: float
    log_likelihood: float
    relative_gradient: float
    status: Status
    iterations: int
    marginal: Marginal
    free: BoolArray
    spread: FloatArray | None = None


def maximise(without: FitResult, groups: Sequence[Group]) -> Found:
    """The maximum over gamma, sigma >= 0 reached from the fit without question effects.

    Raises
    ------
    NoMaximumError
        If sigma or a discrimination runs off.
    """
    model, at, sigma, done = without.model, without.solution.parameters, START, 0
    for _ in range(ROUNDS):  # a rule is chosen for what is climbed from, and the climb may leave that
        climb = _Climb(Marginal.fine(groups, model, judges_of(model, at)[0], sigma, ROUGH), without, at, sigma)
        at, sigma, steps = climb.top()
        done += steps
        _require_bounded(without, at, sigma)
        if not climb.too_sharp(at, sigma):
            break
    if sigma <= 2 * LEAST or climb.marginal.at(at, sigma).value <= without.log_likelihood:
        return _at_zero(without, groups, done)
    at, sigma = normalised(at, sigma)
    free = replace(without, solution=replace(without.solution, parameters=at)).free
    marginal = Marginal.fine(groups, model, judges_of(model, at)[0], sigma, SHARP)
    for _ in range(ROUNDS):  # until the curvature is that of where it ends
        spread = inverse_of(marginal.hessian(at, sigma, free), free, len(at.scores))
        at, sigma, arrived, steps, moved = _settled(marginal, at, sigma, free, spread)
        done += steps
        if not moved > MOVED:
            break
    value = marginal.at(at, sigma).value
    slopes = marginal.gradient(at, sigma, free)
    status = Status.INTERIOR if at.in_play.all() else Status.BOUNDARY
    status = status if arrived else Status.ITERATION_LIMIT
    return Found(at, sigma, value, _relative(slopes, value), status, done, marginal, free, spread)


def _require_bounded(without: FitResult, at: Parameters, sigma: float) -> None:
    """Refuse where a judge's own noise is nothing beside the question's: the likelihood rises to none at all."""
    sharp = np.flatnonzero(judges_of(without.model, at)[0] * sigma >= NOISELESS)
    if len(sharp):
        names = ", ".join(without.comparisons.judges[k] for k in sharp)
        raise NoMaximumError(
            f"the likelihood with question effects has no maximum: it rises as the own noise of {names} vanishes "
            "beside that of the questions (ask several judges about the same questions, or fit 'btl_ties')",
            (),
        )


def normalised(at: Parameters, sigma: float) -> tuple[Parameters, float]:
    """The same likelihood with discriminations of geometric mean one."""
    scaled, size = at.normalised(), np.abs(at.scores).max()
    return scaled, sigma * float(np.abs(scaled.scores).max() / size) if size > 0 else sigma


def inverse_of(hessian: FloatArray, free: BoolArray, n_models: int) -> FloatArray:
    """Inverse of minus the second derivatives in the zero-sum coordinates, shape (D + 1, D + 1).

    Where the likelihood does not curve downward in every direction it is all NaN.
    """
    moving = int(free[:1].sum())
    rest = np.eye(int(free.sum()) - moving + 1)
    to_full = block_diag(zero_sum_basis(n_models), *([zero_sum_basis(moving)] if moving else []), rest)
    try:
        half = solve_triangular(np.linalg.cholesky(-to_full.T @ hessian @ to_full), to_full.T, lower=True)
    except np.linalg.LinAlgError:  # a saddle
        return np.full(hessian.shape, np.nan)
    return half.T @ half


def _settled(
    marginal: Marginal, at: Parameters, sigma: float, free: BoolArray, spread: FloatArray
) -> tuple[Parameters, float, bool, int, float]:
    """Newton steps by one inverse: the maximum, whether it was reached, how many, and how far they led."""
    n, errors, far, whole = len(at.scores), np.sqrt(np.diag(spread)), np.inf, np.zeros(len(spread))
    for steps in range(STEPS):
        step = spread @ marginal.gradient(at, sigma, free)
        before, far = far, float(np.abs(step / errors).max())
        if far <= ARRIVED:
            return at, sigma, True, steps, float(np.abs(whole / errors).max())
        if not far < before:  # among them where there is no inverse
            return at, sigma, False, steps, float(np.abs(whole / errors).max())
        whole = whole + step
        judges = at.judges.copy()
        judges[free] += step[n:-1]
        at, sigma = Parameters(at.scores + step[:n], judges), sigma * float(np.exp(step[-1]))
    return at, sigma, False, STEPS, float(np.abs(whole / errors).max())


def _relative(slope: FloatArray, value: float) -> float:
    return float(np.abs(slope).max() / max(1.0, abs(value)))


class _Climb:
    """L-BFGS from a point, in units in which the likelihood without question effects is all but round.

    Discriminations are climbed in themselves, bounded by zero: the logarithm of a weak judge's has no end that
    tells. Their scale is left free, and fixed in the end.
    """

    def __init__(self, marginal: Marginal, without: FitResult, at: Parameters, sigma: float):
        self.sharpest = judges_of(without.model, at)[0].max() * sigma
        self.marginal, self.base = marginal, at
        model, n, k = without.model, len(at.scores), at.judges.shape[1]
        self.moving = bool(model.judge_blocks) and not model.fixed_scale
        self.offset = 1 if model.judge_blocks else 0
        others = np.isfinite(at.judges)
        others[: self.offset] = False
        self.others, self.to_scores = others, zero_sum_basis(n)
        info = self._information(without, at)
        kept = np.r_[np.arange(n), n + np.flatnonzero(others.ravel())]
        to_full = block_diag(self.to_scores, np.eye(int(others.sum())))
        reduced = to_full.T @ info[np.ix_(kept, kept)] @ to_full
        self.half = np.linalg.cholesky(reduced + np.diag(1e-6 * np.diag(reduced) + 1e-3))
        self.start = np.r_[self.to_scores.T @ at.scores, at.judges[others]]
        gamma = judges_of(model, at)[0] if self.moving else np.empty(0)
        floor = np.maximum(gamma, FLOOR)
        own = np.diag(info)[n : n + k] / floor**2 if self.moving else np.empty(0)
        self.unit = np.r_[1 / np.sqrt(own + 1.0), 1 / np.sqrt(2.0 * sum(map(len, marginal.groups)) * 0.01 + 1.0)]
        self.bounded = np.r_[gamma, np.log(sigma)]
        self.least = np.r_[np.zeros(len(gamma)), np.log(LEAST)]

    def _information(self, without: FitResult, at: Parameters) -> FloatArray:
        """Without question effects, shape (N + B K, N + B K), judges at zero being taken for weak ones."""
        judges = np.maximum(at.judges, np.log(FLOOR)) if self.offset else at.judges
        judges = np.where(np.isfinite(at.judges), at.judges, judges)
        here = evaluate(without.comparisons, without.model, Parameters(at.scores, judges), "expected")
        return information(here, np.ones(at.judges.shape, bool))

    def too_sharp(self, at: Parameters, sigma: float) -> bool:
        """Whether the rules were chosen for judges that are not as sharp."""
        return bool(judges_of(self.marginal.model, at)[0].max() * sigma > SHARPER * self.sharpest)

    def point(self, y: FloatArray) -> tuple[Parameters, float]:
        p = len(self.start)
        free = self.start + solve_triangular(self.half.T, y[:p])
        bounded = self.bounded + self.unit * y[p:]
        judges = self.base.judges.copy()
        judges[self.others] = free[len(self.to_scores.T) :]
        if self.moving:
            with np.errstate(divide="ignore"):
                judges[0] = np.log(np.maximum(bounded[:-1], 0.0))
        return Parameters(self.to_scores @ free[: len(self.to_scores.T)], judges), float(np.exp(bounded[-1]))

    def falls(self, y: FloatArray) -> tuple[float, FloatArray]:
        """Minus the value, and its slopes."""
        here = self.marginal.at(*self.point(y))
        of = {"position": here.position, "log_tie": here.log_tie, "log_discrimination": here.gamma}
        judges = np.array([of[block] for block in self.marginal.model.judge_blocks]).reshape(self.others.shape)
        free = np.r_[self.to_scores.T @ here.scores, judges[self.others]]
        gamma = here.gamma if self.moving else np.empty(0)
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
            if judges_of(self.marginal.model, at)[0].max() * sigma >= NOISELESS:
                raise StopIteration

        found = minimize(
            self.falls, y, jac=True, bounds=bounds, method="L-BFGS-B", options=options, callback=callback
        )
        return *self.point(found.x), int(found.nit)


def _at_zero(without: FitResult, groups: Sequence[Group], done: int) -> Found:
    """The fit without question effects as the maximum over sigma >= 0, if the likelihood does not rise from it."""
    at = without.solution.parameters
    marginal = Marginal.fine(groups, without.model, judges_of(without.model, at)[0], LEAST, SHARP)
    here = marginal.at(at, LEAST)
    rises = here.log_sigma > 0 and here.value > without.log_likelihood + 1e-9 * abs(here.value)
    status = Status.ITERATION_LIMIT if rises else Status.BOUNDARY
    relative = without.solution.evaluation.relative_gradient
    return Found(at, 0.0, without.log_likelihood, relative, status, done, marginal, without.free)
