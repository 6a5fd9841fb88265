"""Judges' parameters of a shrunk fit, averaged over their uncertainty.

A shrunk fit is the highest point of the scores and all judges' parameters together. Where judges have few votes,
two things that hang on it are off. Scores come out too far apart, since every log-discrimination is at the top of
a skewed likelihood and not at its mean. And the reported scale weighs judges by discriminations that vary less
than the true ones. Both stay as votes come in with new judges, while errors fall.

Here every log-discrimination a_k = t + alpha_k is integrated out, given scores and the judge's further parameters,

    p_k(alpha; t) proportional to L_k(t + alpha) exp(-alpha^2 / (2 tau^2) - r_k alpha),

L_k the likelihood of the judge's answers, r_k what makes alpha_k of the fit the mode at t = 0 (its part of the
constraint, and of the shrinkage of scores). The level t, by which scores grow, is where the likelihood of all with
the alphas integrated out is highest,

    sum_k (E alpha_k - alpha_k) / tau^2 = Q (exp(2 t) - 1) + R (exp(t) - 1),

Q = sum_i s_i^2 (mean gamma)^2 / tau_s^2, and R the like product of scores and what further blocks share with them
(`engine.penalty`), zero without such blocks.

The integrals are by Gauss and Hermite about the mode.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.portable_math import exp
from judgerank.engine.likelihood_rows import in_parts, product
from judgerank.engine.penalty import ALPHA, Spread, pulled, scale
from judgerank.model.members import Model, Parameters

NODES, STEPS = 9, 4  # of the integrals, and of the search for the level
SETTLED = 1e-4  # of the level, in log-odds


class Averages(NamedTuple):
    """By judge: the information in the scores, and the log-discrimination, averaged with that for a weight."""

    information: FloatArray
    alpha: FloatArray


class _Nodes:
    """The log-discriminations at which the integrals are taken, and the likelihood's part there."""

    def __init__(self, cells: Comparisons, model: Model, at: Parameters, deviation: float):
        self.cells, self.model, self.at, self.deviation = cells, model, at, deviation
        k = len(cells.judges)
        slope, information = np.zeros(k), np.zeros(k)
        for rows, terms in in_parts(cells, model, at):
            slope += np.bincount(cells.judge[rows], terms.residual * terms.signal, k)
            counted = terms.rows.count * terms.law.variance
            information += np.bincount(cells.judge[rows], counted * terms.signal**2, k)
        self.mode = np.where(np.isfinite(at.judges[0]), at.judges[0], 0.0)
        self.tilt = slope - self.mode / deviation**2
        x, weight = np.polynomial.hermite.hermgauss(NODES)
        width = np.sqrt(2 / (information + deviation**-2))
        self.alpha = self.mode + x[:, None] * width
        self.prior = np.log(weight)[:, None] + x[:, None] ** 2 - self.alpha**2 / (2 * deviation**2)
        self.prior = self.prior - self.tilt * (self.alpha - self.mode)

    def at_level(self, t: float) -> tuple[FloatArray, FloatArray]:
        """Probabilities of the nodes and the information of the judges there, shape (NODES, K)."""
        k = len(self.cells.judges)
        longer = exp(np.where(np.isfinite(self.at.judges[0]), self.alpha + t - self.mode, 0.0))
        heights, information = np.zeros((2, NODES, k))
        for rows, terms in in_parts(self.cells, self.model, self.at):
            judge, count = self.cells.judge[rows], terms.rows.count
            for node, times_longer in enumerate(longer):  # which only stretch what scores do
                more = times_longer[judge]
                law = terms.law_at(terms.eta + terms.signal * (more - 1))
                height = count * law.log_likelihood(terms.outcome, *terms.given)
                heights[node] += np.bincount(judge, height, k)
                information[node] += np.bincount(
                    judge, product(count * law.variance, terms.g, terms.g, more, more), k
                )
        log_weight = self.prior + heights
        weight = np.exp(log_weight - log_weight.max(axis=0))
        return weight / weight.sum(axis=0), information


def averages(cells: Comparisons, model: Model, at: Parameters, spread: Spread) -> Averages:
    """Averages of what the judges' discriminations decide, in a shrunk fit.

    Parameters
    ----------
    cells : Comparisons
    model : Model
    at : Parameters
        The mode.
    spread : mapping of str to float
        Standard deviations of what is shrunk, the log-discriminations among it.
    """
    deviation = spread[ALPHA]
    nodes = _Nodes(cells, model, at, deviation)
    held = float(np.sum(at.scores**2)) * (scale(model, at)[0] / spread["scores"]) ** 2
    pull = pulled(model, at, {"scores": spread["scores"]})[1][: len(at.scores)]
    extra_pull = float(at.scores @ pull) - held
    t = 0.0
    for _ in range(STEPS):
        weight, information = nodes.at_level(t)
        mean = (weight * nodes.alpha).sum(axis=0)
        variance = (weight * (nodes.alpha - mean) ** 2).sum(axis=0)
        pulled_back = held * np.expm1(2 * t) + extra_pull * np.expm1(t)
        slope = float((mean - nodes.mode).sum()) - deviation**2 * pulled_back
        stiffness = 2 * held * np.exp(2 * t) + extra_pull * np.exp(t)
        fall = float(np.maximum(1 - variance / deviation**2, 0.0).sum()) + deviation**2 * stiffness
        fall = max(fall, np.finfo(float).tiny)
        step = float(np.clip(slope, -fall, fall) / fall)
        if abs(step) <= SETTLED:
            break
        t += step
    weighed = (weight * information).sum(axis=0)
    weighted_alpha = (weight * information * (nodes.alpha + t)).sum(axis=0)
    return Averages(
        weighed, np.where(weighed > 0, weighted_alpha / np.where(weighed > 0, weighed, 1.0), nodes.mode + t)
    )
