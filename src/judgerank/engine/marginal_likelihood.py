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
class _Place:
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


class _ToHighest(Ascent[_Place]):
    """The climb in log standard deviations, along which the modes' climb goes."""

    def __init__(self, climb: Climb, known: Spread, bounds: Mapping[str, tuple[float, float]], prior: BoolArray):
        self.climb, self.known, self.names, self.prior = climb, known, list(bounds), prior
        self.ends = np.log(list(bounds.values())).T

    def spread(self, log_tau: FloatArray) -> Spread:
        return {**self.known, **dict(zip(self.names, np.exp(log_tau).tolist(), strict=True))}

    def height(self, log_tau: FloatArray) -> float:
        """Log marginal likelihood with the prior's log density; the climb to the mode goes there."""
        self.climb.to(self.spread(log_tau), rough=True)
        return self._beside(log_tau)

    def place(self, log_tau: FloatArray, height: float, last: _Place | None = None) -> _Place:
        """The place whose mode the climb has just reached."""
        beside = [self._beside(log_tau + step) for step in DIFFERENCE * np.eye(len(log_tau))]
        slope = (np.array(beside) - height) / DIFFERENCE
        curvature = self._of_blocks(log_tau, slope) if last is None else _updated(last, log_tau, slope)
        return _Place(log_tau, height, slope, curvature)

    def step(self, here: _Place) -> FloatArray:
        """Quasi-Newton, and between the bounds."""
        outward = np.where(here.slope > 0, here.log_tau >= self.ends[1], here.log_tau <= self.ends[0])
        free, step = np.flatnonzero(~outward), np.zeros(len(here.slope))
        step[free] = np.linalg.solve(here.curvature[np.ix_(free, free)], here.slope[free])
        step *= LARGEST_STEP / max(np.abs(step).max(), LARGEST_STEP)
        return np.clip(here.log_tau + step, *self.ends) - here.log_tau

    def arrived(self, here: _Place) -> bool:
        return bool(here.slope @ self.step(here) <= ENOUGH)

    def ahead(self, here: _Place) -> _Place:
        step = self.step(here)

        def look(size: float) -> tuple[FloatArray, float]:
            there = here.log_tau + size * step
            return there, self.height(there)

        return self.place(*backtracked(look, itemgetter(1), here.height, float(here.slope @ step), 1.0)[1], here)

    def _beside(self, log_tau: FloatArray) -> float:
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


def _updated(last: _Place, log_tau: FloatArray, slope: FloatArray) -> FloatArray:
    """Minus second derivatives, of which the last step has told one direction."""
    moved, fell = log_tau - last.log_tau, last.slope - slope
    image = last.curvature @ moved
    if moved @ fell <= CURVED * (moved @ image):
        return last.curvature
    return last.curvature - np.outer(image, image) / (moved @ image) + np.outer(fell, fell) / (moved @ fell)


def fitted_spread(climb: Climb, known: Spread, bounds: Mapping[str, tuple[float, float]]) -> tuple[Climb, Spread]:
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
    further = {block.name for block in climb.problem.model.further}
    if bounds:
        prior = np.array([name not in further for name in bounds])
        outer = _ToHighest(climb, known, bounds, prior)
        start = np.where(prior, 0.0, outer.ends.mean(axis=0))
        here, done, _ = ascended(outer, outer.place(start, outer.height(start)), MOST_STEPS)
        known = outer.spread(here.log_tau + outer.step(here) if done else here.log_tau)
    climb.to(known)
    for name in further & {*bounds}:
        smaller = climb.without(name)
        rest = {other: tau for other, tau in known.items() if other != name}
        smaller.to(rest)
        if climb.marginal(known) <= smaller.marginal(rest) + STILL:
            climb, known = smaller, rest
    return climb, known
