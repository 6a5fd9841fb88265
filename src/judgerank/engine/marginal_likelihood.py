"""Standard deviations at which the likelihood is highest with all that is shrunk integrated out.

The climb is in log tau, of which there are a handful, by the quasi-Newton method of Broyden, Fletcher, Goldfarb
and Shanno. Its first curvature is that of each block alone, whose log marginal likelihood is about
-A log tau - B / (2 tau^2), with B / tau^2 the size of its penalty at the mode: with the slope this tells where it
is highest (MacKay, 1992, section 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.engine.ascent import Ascent, ascended, backtracked
from judgerank.engine.modes import Climb
from judgerank.engine.penalty import Spread, pulled

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
        self.climb, self.known, self.names, self.prior = climb, fixed_spread, list(bounds), prior
        self.ends = np.log(list(bounds.values())).T

    def spread(self, log_tau: FloatArray) -> Spread:
        return {**self.known, **dict(zip(self.names, np.exp(log_tau).tolist(), strict=True))}

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
        return self.climb.beside(self.spread(log_tau)) - 0.5 * float(log_tau @ (self.prior * log_tau))

    def _of_blocks(self, log_tau: FloatArray, slope: FloatArray) -> FloatArray:
        """Minus second derivatives of the blocks, as if none had to do with another.

        They are means over the way to where each is highest: a Newton step leads there.
        """
        model, at, spread = self.climb.problem.model, self.climb.at, self.spread(log_tau)
        size = np.array([max(pulled(model, at, {name: spread[name]})[0], LEAST_SIZE) for name in self.names])
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
    known : mapping of str to float
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
