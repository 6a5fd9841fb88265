"""The maximum over blocks and over the standard deviations of the shrunk ones, certified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from judgerank.blocks.certificate import require_maximum, require_told_apart
from judgerank.blocks.climbing import Problem, Summit
from judgerank.data.arrays import FloatArray
from judgerank.data.errors import NoMaximumError
from judgerank.engine.solution import Status
from judgerank.model.block import Block, Role

REACH = (1e-3, 10.0)  # standard deviations looked at, in units of the scores' or of log-odds
ACCURACY = 1e-4  # of their logarithm
SWEEPS = 8  # over several of them, one at a time
STILL = 1e-6  # gain in log-likelihood of a sweep that counts as none


@dataclass(frozen=True)
class Found:
    """A maximum.

    Attributes
    ----------
    problem : Problem
    summit : Summit
    known : mapping of str to float
        Standard deviation of every shrunk block in the climb's units; zero where the likelihood is highest
        without it.
    log_likelihood : float
        With shrunk blocks integrated out by Laplace's approximation at the maximum.
    status : Status
    """

    problem: Problem
    summit: Summit
    known: Mapping[str, float] = field(default_factory=dict)
    log_likelihood: float = 0.0
    status: Status = Status.INTERIOR

    @cached_property
    def _reported(self) -> tuple[FloatArray, float, FloatArray]:
        return self.problem.reported(self.summit.theta, self.summit.free)

    @property
    def theta(self) -> FloatArray:
        """The estimates, shape (D,), log discriminations with mean zero over the judges in play."""
        return self._reported[0]

    @property
    def spread(self) -> dict[str, float]:
        """Standard deviation of every shrunk block, in the estimates' units."""
        roles = {block.name: block.role for block in self.problem.stacked.blocks}
        factor = self._reported[1]
        return {
            name: value * (factor if roles[name] is Role.QUALITY else 1.0) for name, value in self.known.items()
        }

    def covariance(self, of_climb: FloatArray) -> FloatArray:
        """In the estimates' units, from one in the climb's, both of shape (D', D')."""
        change = self._reported[2]
        return change @ of_climb @ change.T

    @property
    def precision(self) -> FloatArray:
        """Of the prior, shape (D,); zero where there is none, or a block is left out."""
        return self.problem.precision({name: value or np.inf for name, value in self.known.items()})


def maximise(problem: Problem, start: FloatArray, spread: Mapping[str, float] | None = None) -> Found:
    """The maximum that the start leads to.

    Standard deviations of shrunk blocks are those at which the likelihood is highest when these are integrated
    out, by Laplace's approximation at the maximum in all parameters.

    Parameters
    ----------
    problem : Problem
    start : float array, shape (D,)
        The highest maximum without blocks, zero for these.
    spread : mapping of str to float, optional
        Standard deviations that are known.

    Raises
    ------
    NoMaximumError
        If something runs off to infinity.
    NotIdentifiedError
        If blocks cannot be told apart.
    """
    shrunk = [block for block in problem.stacked.blocks if block.shrunk]
    search = _Search(problem, start)
    if spread is None:
        spread = search.best(shrunk)
    summit, value = search.at(spread)
    found = Found(problem, summit, dict(spread), value, _status(problem, summit))
    require_maximum(problem, summit, found.precision)
    runaway = problem.unbounded(summit.theta, summit.here)
    if runaway:
        names = ", ".join(runaway)
        raise NoMaximumError(
            f"the likelihood has no maximum: the discrimination of {names} runs off to infinity", ()
        )
    require_told_apart(problem, summit, found.precision)
    return found


def _status(problem: Problem, summit: Summit) -> Status:
    if not summit.converged:
        return Status.ITERATION_LIMIT
    away = problem.vanishing & np.isneginf(summit.theta)
    return Status.BOUNDARY if away.any() else Status.INTERIOR


class _Search:
    """Standard deviations at which the likelihood is highest."""

    def __init__(self, problem: Problem, start: FloatArray):
        self.problem, self.warm = problem, problem.started(start)
        scores = self.warm[problem.stacked.places[0]]
        self.unit = {Role.QUALITY: max(float(np.std(scores)), 0.1)}

    def at(self, spread: Mapping[str, float]) -> tuple[Summit, float]:
        """The maximum, and the log-likelihood with shrunk blocks integrated out."""
        problem = self._without([name for name, value in spread.items() if value == 0])
        precision = problem.precision({name: value or np.inf for name, value in spread.items()})
        summit = problem.climb(np.where(problem.held & ~self.problem.held, 0.0, self.warm), precision)
        self.warm = summit.theta
        chosen = summit.free & (precision > 0)
        value = summit.here.log_likelihood
        if chosen.any():
            info = summit.here.expected_information[np.ix_(chosen, chosen)]
            held, u = precision[chosen], summit.theta[chosen]
            try:  # of the information over that of the prior: one where nothing is known of a parameter
                root = np.sqrt(held)
                half = cholesky(info / np.outer(root, root) + np.eye(len(held)), lower=True)
            except LinAlgError:
                return summit, -np.inf
            value += -0.5 * float(held @ u**2) - float(np.log(np.diag(half)).sum())
        return summit, value

    def _without(self, names: list[str]) -> Problem:
        """The problem with some shrunk blocks held at zero."""
        held = self.problem.held.copy()
        for name in names:
            held[self.problem.stacked.place(name)] = True
        return replace(self.problem, held=held)

    def best(self, shrunk: list[Block]) -> dict[str, float]:
        """One at a time, in turn, until none gains."""
        spread = dict.fromkeys((block.name for block in shrunk), 0.0)
        reached = self.at(spread)[1] if shrunk else 0.0
        for sweep in range(SWEEPS):
            before = reached
            for block in shrunk:
                reached = self._one(block, spread, reached)
            if reached - before < STILL or (len(shrunk) == 1 and sweep == 0):
                break
        return spread

    def _one(self, block: Block, spread: dict[str, float], reached: float) -> float:
        from scipy.optimize import minimize_scalar  # loads slowly, and only shrunk blocks need it

        unit = self.unit.get(block.role, 1.0)
        ends = np.log([REACH[0] * unit, REACH[1] * unit])

        def lost(log_spread: float) -> float:
            return -self.at(spread | {block.name: float(np.exp(log_spread))})[1]

        best = minimize_scalar(lost, bounds=ends, method="bounded", options={"xatol": ACCURACY})
        without = self.at(spread | {block.name: 0.0})[1]
        gained = -float(best.fun)
        if gained > without + STILL:
            spread[block.name] = float(np.exp(best.x))
            return gained
        spread[block.name] = 0.0
        return without
