"""Modes one after another, as standard deviations change; judges at zero where they belong there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from judgerank.engine.boundary import slopes_at_zero
from judgerank.engine.penalty import ALPHA, Spread
from judgerank.engine.problem import LOST, Limits, Problem, faint
from judgerank.engine.sums import Evaluation, evaluate
from judgerank.model.members import Parameters

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
    at : Parameters
        The last mode.
    """

    def __init__(self, problem: Problem, start: Parameters, settings: Limits):
        self.problem, self.at, self.settings = problem, start, settings
        self.steps, self.done = 0, False
        self.held = np.isfinite(start.judges) & ~problem.free
        self.lost = np.zeros(problem.k, int)  # how often each judge was

    def to(self, spread: Spread, rough: bool = False) -> Parameters:
        """The mode for standard deviations; a rough one will do for what `beside` looks at."""
        # without a penalty, only an exact mode tells a judge who falls to zero from one who stays
        rough = rough and (ALPHA in spread or not self.problem.model.weighs_judges)
        limits = Rough(self.settings.max_iterations) if rough else self.settings
        # who was lost on the way to the last mode, which is near, and stayed at zero has one chance, not two
        self.lost = np.where(self.at.in_play, 0, np.minimum(self.lost, MOST_LOST - 1))
        for _ in range(ROUNDS):
            x, _, self.done, steps = self.problem.mode(self.problem.at(self.at), spread, limits)
            self.steps, self.at = self.steps + steps, self.problem.parameters(x)
            if ALPHA in spread or not self._judges_moved():
                break
        return self.at

    def _judges_moved(self) -> bool:
        """Set judges aside that fall to zero, and take back those from which the likelihood rises.

        The sign of the slope at zero decides, as for the members alone (`closure.set_aside`), once all else has
        settled. Who was lost often stays there: there is next to nothing to gain.
        """
        problem, at = self.problem, self.at
        if not problem.model.weighs_judges or (at.in_play.all() and not faint(at, max(FAINT, LOST)).any()):
            return False
        evaluation = evaluate(problem.cells, problem.model, at, "expected")
        slope = slopes_at_zero(problem.cells, at, evaluation)
        rises = slope > self.settings.tolerance * max(1.0, abs(evaluation.log_likelihood))
        lost = at.in_play & faint(at, LOST)
        self.lost = self.lost + lost
        aside = lost | (at.in_play & faint(at, FAINT) & (slope <= 0))
        returns = rises & ~at.in_play & self.done & (self.lost < MOST_LOST)
        if not (aside | returns).any() or not (at.in_play & ~aside).any():
            return False
        judges, free = at.judges.copy(), problem.free.copy()
        judges[problem.model.weights, aside], judges[0, aside] = 0.0, -np.inf
        judges[0, returns] = np.log(BACK) + at.judges[0, at.in_play & ~aside].mean()
        parameters = Parameters(at.scores, judges, at.common)
        near_evaluation = evaluate(problem.cells, problem.model, parameters, "expected")
        # where the slope at zero and the curvature there put the judge
        curvature = near_evaluation.judge_information[returns, 0, 0] / np.exp(2 * judges[0, returns])
        judges[0, returns] = np.log(slope[returns] / np.maximum(curvature, np.finfo(float).tiny))
        free[problem.model.moving] = np.isfinite(judges[0]) & ~self.held[problem.model.moving]
        self.at = parameters.normalised(problem.model)
        self.problem = Problem(problem.cells, problem.model, self.at, free, problem.free_common)
        return True

    def here(self) -> Evaluation:
        """Log-likelihood and gradient at the last mode, where the climb has just looked."""
        return self.problem.evaluated(self.problem.at(self.at), self.at, "observed").first_derivatives

    def marginal(self, spread: Spread) -> float:
        """`Problem.marginal` at the last mode."""
        return self.problem.marginal(self.problem.at(self.at), spread)

    def beside(self, spread: Spread) -> float:
        """The same for standard deviations at or next to those of the last mode, one step from there."""
        return self.problem.marginal(self.problem.near(self.problem.at(self.at), spread), spread)

    def without(self, name: str) -> Climb:
        """The same with a further block at zero."""
        problem, columns = self.problem, self.problem.model.place(name)
        free, common = problem.free_common.copy(), self.at.common.copy()
        free[columns], common[columns] = False, 0.0
        at = replace(self.at, common=common)
        return Climb(Problem(problem.cells, problem.model, at, problem.free, free), at, self.settings)
