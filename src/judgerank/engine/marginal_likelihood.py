"""Standard deviations at which the likelihood is highest with all that is shrunk integrated out.

The climb is in log tau, of which there are a handful, by the quasi-Newton method of Broyden, Fletcher, Goldfarb
and Shanno. Its first curvature is that of each block alone, whose log marginal likelihood is about
-A log tau - B / (2 tau^2), with B / tau^2 the size of its penalty at the mode: with the slope this tells where it
is highest (MacKay, 1992, section 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.engine.ascent import Ascent, ascended, backtracked
from judgerank.engine.boundary import slopes_at_zero
from judgerank.engine.likelihood import Evaluation, evaluate
from judgerank.engine.penalty import ALPHA, Spread, pulled
from judgerank.engine.problem import LOST, Limits, Problem, faint
from judgerank.model.members import Parameters
from judgerank.model.naming import at_mean

# Modes one after another, as standard deviations change; judges at zero where they belong there.
FAINT, MOST_LOST = 1e-3, 2  # log-odds of a typical pair below which a judge may be at zero; times it may be lost
BACK, ROUNDS = 1e-3, 10  # discrimination with which a judge comes back, over the others' mean; and how often


@dataclass(frozen=True)
class Rough:
    """Limits of a mode from which one step leads to all the digits that are asked for."""

    max_iterations: int
    tolerance: float = 1e-7


class Climb:
    """Modes one after another, each sought from the last, which is near; judges at zero where they belong there.

    Attributes
    ----------
    problem : Problem
        Of the judges in play.
    parameters : Parameters
        The last mode.
    """

    def __init__(self, problem: Problem, start: Parameters, settings: Limits):
        self.problem, self.parameters, self.settings = problem, start, settings
        self.steps, self.done = 0, False
        self.held = np.isfinite(start.judges) & ~problem.free
        self.lost = np.zeros(problem.k, int)  # how often each judge was

    def to(self, spread: Spread, rough: bool = False) -> Parameters:
        """The mode for standard deviations; a rough one will do for what `marginal_nearby` looks at."""
        # without a penalty, only an exact mode tells a judge who falls to zero from one who stays
        rough = rough and (ALPHA in spread or not self.problem.model.weighs_judges)
        limits = Rough(self.settings.max_iterations) if rough else self.settings
        # who was lost on the way to the last mode, which is near, and stayed at zero has one chance, not two
        self.lost = np.where(self.parameters.in_play, 0, np.minimum(self.lost, MOST_LOST - 1))
        for _ in range(ROUNDS):
            x, _, self.done, steps = self.problem.mode(self.problem.point_of(self.parameters), spread, limits)
            self.steps, self.parameters = self.steps + steps, self.problem.parameters(x)
            if ALPHA in spread or not self._judges_moved():
                break
        return self.parameters

    def _judges_moved(self) -> bool:
        """Set judges aside that fall to zero, and take back those from which the likelihood rises.

        The sign of the slope at zero decides, as for the members alone (`closure.set_aside`), once all else has
        settled. Who was lost often stays there: there is next to nothing to gain.
        """
        problem, parameters = self.problem, self.parameters
        if not problem.model.weighs_judges or (
            parameters.in_play.all() and not faint(parameters, max(FAINT, LOST)).any()
        ):
            return False
        evaluation = evaluate(problem.cells, problem.model, parameters, "expected")
        slope = slopes_at_zero(problem.cells, parameters, evaluation)
        rises = slope > self.settings.tolerance * max(1.0, abs(evaluation.log_likelihood))
        lost = parameters.in_play & faint(parameters, LOST)
        self.lost = self.lost + lost
        aside = lost | (parameters.in_play & faint(parameters, FAINT) & (slope <= 0))
        returns = rises & ~parameters.in_play & self.done & (self.lost < MOST_LOST)
        if not (aside | returns).any() or not (parameters.in_play & ~aside).any():
            return False
        judges, free = parameters.judges.copy(), problem.free.copy()
        judges[problem.model.weights, aside], judges[0, aside] = 0.0, -np.inf
        judges[0, returns] = np.log(BACK) + parameters.judges[0, parameters.in_play & ~aside].mean()
        updated = Parameters(parameters.scores, judges, parameters.common)
        near_evaluation = evaluate(problem.cells, problem.model, updated, "expected")
        # where the slope at zero and the curvature there put the judge
        curvature = near_evaluation.judge_information[returns, 0, 0] / np.exp(2 * judges[0, returns])
        judges[0, returns] = np.log(slope[returns] / np.maximum(curvature, np.finfo(float).tiny))
        free[problem.model.moving] = np.isfinite(judges[0]) & ~self.held[problem.model.moving]
        self.parameters = updated.normalised(problem.model, at_mean(problem.model, problem.cells))
        self.problem = Problem(problem.cells, problem.model, self.parameters, free, problem.free_common)
        return True

    def gradient_at_mode(self) -> Evaluation:
        """Log-likelihood and gradient at the last mode, where the climb has just looked."""
        return self.problem.evaluated(
            self.problem.point_of(self.parameters), self.parameters, "observed"
        ).first_derivatives

    def marginal(self, spread: Spread) -> float:
        """`Problem.marginal` at the last mode."""
        return self.problem.marginal(self.problem.point_of(self.parameters), spread)

    def marginal_nearby(self, spread: Spread) -> float:
        """The same for standard deviations at or next to those of the last mode, one step from there."""
        return self.problem.marginal(self.problem.near(self.problem.point_of(self.parameters), spread), spread)

    def without(self, name: str) -> Climb:
        """The same with a further block at zero."""
        problem, columns = self.problem, self.problem.model.place(name)
        free, common = problem.free_common.copy(), self.parameters.common.copy()
        free[columns], common[columns] = False, 0.0
        parameters = replace(self.parameters, common=common)
        return Climb(
            Problem(problem.cells, problem.model, parameters, problem.free, free), parameters, self.settings
        )


DIFFERENCE = 3e-5  # of log tau, for slopes
ENOUGH = 1e-7  # gain of the log marginal likelihood from which a step is the last
STILL = 1e-6  # gain that counts as none
LARGEST_STEP, MOST_STEPS = 2.0, 100  # of log tau
LEAST_SIZE, LEAST_SHARE = 1e-3, 1e-8  # of a block's penalty; of a slope in it
CURVED = 1e-3  # share of the curvature expected along a step below which what was seen there is not used


@dataclass(frozen=True)
class _Point:
    """Log standard deviations, shape (m,), with what is known there.

    Attributes
    ----------
    height : float
        Log marginal likelihood, the prior's log density added.
    slope : float array, shape (m,)
    curvature : float array, shape (m, m)
        Minus second derivatives, as far as known.
    """

    log_tau: FloatArray
    height: float
    slope: FloatArray
    curvature: FloatArray


class _ToHighest(Ascent[_Point]):
    """The climb in log standard deviations, along which the modes' climb goes."""

    def __init__(
        self, climb: Climb, fixed_spread: Spread, bounds: Mapping[str, tuple[float, float]], prior: BoolArray
    ):
        self.climb, self.fixed_spread, self.names, self.prior = climb, fixed_spread, list(bounds), prior
        self.ends = np.log(list(bounds.values())).T

    def spread(self, log_tau: FloatArray) -> Spread:
        return {**self.fixed_spread, **dict(zip(self.names, np.exp(log_tau).tolist(), strict=True))}

    def height(self, log_tau: FloatArray) -> float:
        """Log marginal likelihood with the prior's log density; the climb to the mode goes there."""
        self.climb.to(self.spread(log_tau), rough=True)
        return self._height_at(log_tau)

    def point_at(self, log_tau: FloatArray, height: float, last: _Point | None = None) -> _Point:
        """The place whose mode the climb has just reached."""
        heights = [self._height_at(log_tau + step) for step in DIFFERENCE * np.eye(len(log_tau))]
        slope = (np.array(heights) - height) / DIFFERENCE
        curvature = self._of_blocks(log_tau, slope) if last is None else _updated(last, log_tau, slope)
        return _Point(log_tau, height, slope, curvature)

    def step(self, point: _Point) -> FloatArray:
        """Quasi-Newton, and between the bounds."""
        outward = np.where(point.slope > 0, point.log_tau >= self.ends[1], point.log_tau <= self.ends[0])
        free, step = np.flatnonzero(~outward), np.zeros(len(point.slope))
        step[free] = np.linalg.solve(point.curvature[np.ix_(free, free)], point.slope[free])
        step *= LARGEST_STEP / max(np.abs(step).max(), LARGEST_STEP)
        return np.clip(point.log_tau + step, *self.ends) - point.log_tau

    def arrived(self, point: _Point) -> bool:
        return bool(point.slope @ self.step(point) <= ENOUGH)

    def next_point(self, point: _Point) -> _Point:
        step = self.step(point)

        def evaluate_at(size: float) -> tuple[FloatArray, float]:
            log_tau_trial = point.log_tau + size * step
            return log_tau_trial, self.height(log_tau_trial)

        return self.point_at(
            *backtracked(evaluate_at, itemgetter(1), point.height, float(point.slope @ step), 1.0)[1], point
        )

    def _height_at(self, log_tau: FloatArray) -> float:
        return self.climb.marginal_nearby(self.spread(log_tau)) - 0.5 * float(log_tau @ (self.prior * log_tau))

    def _of_blocks(self, log_tau: FloatArray, slope: FloatArray) -> FloatArray:
        """Minus second derivatives of the blocks, as if none had to do with another.

        They are means over the way to where each is highest: a Newton step leads there.
        """
        model, parameters, spread = self.climb.problem.model, self.climb.parameters, self.spread(log_tau)
        size = np.array(
            [max(pulled(model, parameters, {name: spread[name]})[0], LEAST_SIZE) for name in self.names]
        )
        share = np.minimum(slope / size, 1 - np.exp(-2 * LARGEST_STEP))
        share = np.where(np.abs(share) < LEAST_SHARE, LEAST_SHARE, share)
        return np.diag(np.maximum(slope, size * share) / (-0.5 * np.log1p(-share)))


def _updated(last: _Point, log_tau: FloatArray, slope: FloatArray) -> FloatArray:
    """Minus second derivatives, of which the last step has told one direction."""
    step, fell = log_tau - last.log_tau, last.slope - slope
    image = last.curvature @ step
    if step @ fell <= CURVED * (step @ image):
        return last.curvature
    return last.curvature - np.outer(image, image) / (step @ image) + np.outer(fell, fell) / (step @ fell)


def fitted_spread(
    climb: Climb, fixed_spread: Spread, bounds: Mapping[str, tuple[float, float]]
) -> tuple[Climb, Spread]:
    """Standard deviations at which the likelihood is highest with all that is shrunk integrated out.

    Parameters
    ----------
    fixed_spread : mapping of str to float
        Those that are given.
    bounds : mapping of str to pair of floats
        Of the others. Those of the members' blocks have a weak prior, log tau being standard normal, and a further
        block that gains nothing is left out: its standard deviation is zero.

    Returns
    -------
    climb : Climb
        At the mode.
    spread : mapping of str to float
    """
    extra_names = {block.name for block in climb.problem.model.further}
    if bounds:
        prior = np.array([name not in extra_names for name in bounds])
        outer = _ToHighest(climb, fixed_spread, bounds, prior)
        start = np.where(prior, 0.0, outer.ends.mean(axis=0))
        point, done, _ = ascended(outer, outer.point_at(start, outer.height(start)), MOST_STEPS)
        fixed_spread = outer.spread(point.log_tau + outer.step(point) if done else point.log_tau)
    climb.to(fixed_spread)
    for name in extra_names & {*bounds}:
        smaller = climb.without(name)
        rest = {name_of_block: tau for name_of_block, tau in fixed_spread.items() if name_of_block != name}
        smaller.to(rest)
        if climb.marginal(fixed_spread) <= smaller.marginal(rest) + STILL:
            climb, fixed_spread = smaller, rest
    return climb, fixed_spread
