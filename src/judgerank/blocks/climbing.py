"""The maximum of the likelihood of blocks, shrunk ones held by a normal prior, from a start: Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, block_diag, cho_factor, cho_solve

from judgerank.blocks.sums import Here, Rows
from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.engine.solution import LARGEST_LOG_ODDS
from judgerank.model.block import Role, Stacked

TOLERANCE = 1e-10  # largest slope over the size of the log-likelihood at which a climb is done
MAX_STEPS, MAX_ROUNDS = 200, 10
LARGEST_CHANGE = 2.0  # of a log weight or log propensity in one step
LOWEST = 1e-7  # log-odds of a typical pair under one judge below which the judge is set aside
BACK = 1e-3  # of the other judges' typical discrimination, with which one set aside comes back
SUFFICIENT, SMALLEST_STEP = 1e-4, 2.0**-40
RIDGE = 1e-10


@dataclass(frozen=True)
class Summit:
    """Where a climb ended.

    Attributes
    ----------
    theta : float array, shape (D,)
        Minus infinity for a weight or a propensity that is zero.
    free : bool array, shape (D,)
    here : Here
    iterations : int
    converged : bool
    """

    theta: FloatArray
    free: BoolArray
    here: Here
    iterations: int
    converged: bool


@dataclass(frozen=True)
class Problem:
    """Blocks over some comparisons.

    Attributes
    ----------
    stacked : Stacked
    rows : Rows
    held : bool array, shape (D,)
        Parameters that stay where the start has them.
    shares : float array, shape (D,)
        What of every log discrimination goes into their mean, which is zero during a climb. A mean in which all
        judges count alike hangs on the weakest, and what is shrunk in the scores' units would with it.
    """

    stacked: Stacked
    rows: Rows
    held: BoolArray
    shares: FloatArray

    @cached_property
    def _may_vanish(self) -> BoolArray:
        return np.concatenate([np.full(len(design.labels), design.may_vanish) for design in self.stacked.designs])

    @cached_property
    def vanishing(self) -> BoolArray:
        """Log discriminations, shape (D,)."""
        return (self.rows.role == Role.WEIGHT) & self._may_vanish

    @cached_property
    def never(self) -> BoolArray:
        """Propensities to tie of judges who never do, which are minus infinity, shape (D,)."""
        ties = self.rows.columns.T @ (self.rows.count * self.rows.tied)
        return (self.rows.role == Role.TIE) & self._may_vanish & (ties == 0)

    def basis(self, free: BoolArray) -> FloatArray:
        """Columns that span the free parameters, those known up to a constant having mean zero, shape (D', R)."""
        spans = []
        for place, design in zip(self.stacked.places, self.stacked.designs, strict=True):
            some = free[place]
            span = np.eye(int(some.sum()))
            if design.centred and len(span):
                share = self.shares[place][some] if design.may_vanish else np.ones(len(span))
                last = int(np.argmax(share))
                span[last] = -share / share[last]
                span = np.delete(span, last, axis=1)
            spans.append(span)
        return block_diag(*spans)

    def rescaled(self, theta: FloatArray, mean: float) -> FloatArray:
        """The same law with log discriminations lower by a number, and scores larger by as much, shape (D,)."""
        judges, quality = self.vanishing & np.isfinite(theta), self.rows.role == Role.QUALITY
        return np.where(judges, theta - mean, np.where(quality, theta * np.exp(mean), theta))

    def started(self, theta: FloatArray) -> FloatArray:
        """A point with the mean log discrimination of a climb, shape (D,)."""
        judges = self.vanishing & np.isfinite(theta)
        return self.rescaled(theta, float(self.shares[judges] @ theta[judges]) if judges.any() else 0.0)

    def reported(self, theta: FloatArray, free: BoolArray) -> tuple[FloatArray, float, FloatArray]:
        """A point where all judges in play count alike in the mean that is zero, as the library reports them.

        Returns
        -------
        theta : float array, shape (D,)
        factor : float
            By which scores, and all else in their units, are larger.
        derivative : float array, shape (D', D')
            Of the free parameters there in those here.
        """
        judges = self.vanishing & np.isfinite(theta)
        mean = float(theta[judges].mean()) if judges.any() else 0.0
        there, factor = self.rescaled(theta, mean), float(np.exp(mean))
        quality = self.rows.role == Role.QUALITY
        to_mean = (judges / max(1, judges.sum()))[free]
        change = np.diag(np.where(quality, factor, 1.0)[free])
        change += np.outer(np.where(quality, there, -1.0 * judges)[free], to_mean)
        return there, factor, change

    def free_at(self, theta: FloatArray) -> BoolArray:
        """Parameters that move: not held, not at minus infinity, and no weight of rows without a weight."""
        free = ~self.held & np.isfinite(theta)
        weights = self.rows.role == Role.WEIGHT
        in_play = abs(self.rows.columns).T @ (self.rows.at(theta).g > 0)
        return free & ~(weights & (in_play == 0))

    def precision(self, spread: dict[str, float]) -> FloatArray:
        """One over the prior's variance of every parameter, zero where it has none, shape (D,)."""
        value = np.zeros(self.stacked.size)
        for block, place in zip(self.stacked.blocks, self.stacked.places, strict=True):
            if block.shrunk:
                value[place] = spread[block.name] ** -2
        return value

    def climb(self, theta: FloatArray, precision: FloatArray) -> Summit:
        """The maximum of log-likelihood minus sum precision theta^2 / 2 that Newton's method leads to.

        Judges whose weight falls to nothing are set aside, and taken back where the likelihood rises in it.
        """
        steps = 0
        for _ in range(MAX_ROUNDS):
            summit = self._climb_in_play(theta, precision, MAX_STEPS - steps)
            steps += summit.iterations
            theta, back = summit.theta, self._rising(summit)
            if not back.any():
                break
            theta = theta.copy()
            theta[back] = np.log(BACK) + np.mean(theta[self.vanishing & np.isfinite(theta)])
        return Summit(theta, summit.free, summit.here, steps, summit.converged and not back.any())

    def _rising(self, summit: Summit) -> BoolArray:
        """Judges set aside for whom the log-likelihood rises in gamma, shape (D,)."""
        away = self.vanishing & np.isneginf(summit.theta) & ~self.held
        here = summit.here
        slope = self.rows.columns.T @ (self.rows.count * here.residual * here.quality)
        size = self.rows.columns.T @ (self.rows.count * np.abs(here.quality))
        return away & (slope > 1e-9 * size)

    def _climb_in_play(self, theta: FloatArray, precision: FloatArray, most: int) -> Summit:
        theta = np.where(self.never, -np.inf, theta)
        free = self.free_at(theta)
        basis, held = self.basis(free), precision[free]
        here = self.rows.at(theta)
        logarithmic = np.isin(self.rows.role, (Role.WEIGHT, Role.TIE))[free]

        def height(at: Here) -> float:
            return at.log_likelihood - 0.5 * float(held @ at.theta[free] ** 2)

        value = height(here)
        for step in range(most):
            slope = basis.T @ (here.gradient[free] - held * theta[free])
            if np.abs(slope).max(initial=0.0) <= TOLERANCE * max(1.0, abs(value)):
                return Summit(theta, free, here, step, True)
            direction = self._direction(here, free, held, basis, slope)
            move = basis @ direction
            size = min(1.0, LARGEST_CHANGE / max(np.abs(move[logarithmic]).max(initial=0.0), 1e-300))
            gain = float(slope @ direction)
            while True:
                there = theta.copy()
                there[free] += size * move
                after = self.rows.at(there)
                reached = height(after)
                if reached >= value + SUFFICIENT * size * gain - 1e-13 * abs(value):
                    break
                size /= 2
                if size < SMALLEST_STEP:
                    return Summit(theta, free, here, step, False)
            theta, here, value = there, after, reached
            lost = self._lost(theta, here) & free
            if lost.any() and (self.vanishing & np.isfinite(theta) & ~lost).any():
                theta = np.where(lost, -np.inf, theta)
                rest = self._climb_in_play(theta, precision, most - step - 1)
                return Summit(rest.theta, rest.free, rest.here, rest.iterations + step + 1, rest.converged)
        return Summit(theta, free, here, most, False)

    def _lost(self, theta: FloatArray, here: Here) -> BoolArray:
        typical = np.sqrt(np.mean(here.quality**2))
        return self.vanishing & np.isfinite(theta) & (np.exp(np.minimum(theta, 50.0)) * typical < LOWEST)

    def _direction(
        self,
        here: Here,
        free: BoolArray,
        held: FloatArray,
        basis: FloatArray,
        slope: FloatArray,
    ) -> FloatArray:
        """Newton's step in the basis; with the expected information where the observed one is no use."""
        for info in (here.observed_information, here.expected_information):
            reduced = basis.T @ (info[np.ix_(free, free)] + np.diag(held)) @ basis
            if info is here.expected_information:
                reduced[np.diag_indices_from(reduced)] *= 1 + RIDGE
            try:
                step: FloatArray = cho_solve(cho_factor(reduced), slope)
            except LinAlgError:
                continue
            if np.isfinite(step).all():
                return step
        scale = np.maximum(np.diag(reduced), 1.0)
        return slope / scale

    def unbounded(self, theta: FloatArray, here: Here) -> list[str]:
        """Judges whose discrimination has outgrown every sensible size."""
        names = [label for design in self.stacked.designs for label in design.labels]
        typical = np.sqrt(np.mean(here.quality**2))
        far = self.vanishing & (theta > np.log(LARGEST_LOG_ODDS / max(typical, np.finfo(float).tiny)))
        return [names[place] for place in np.flatnonzero(far)]
