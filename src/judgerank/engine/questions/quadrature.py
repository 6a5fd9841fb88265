"""The marginal likelihood of questions by a fixed rule, and by random draws.

Only differences between the deviates e of a question's m models matter, so they are A z with A an orthonormal
basis of the zero-sum vectors and z standard normal in m - 1 dimensions: one for a pair of models.

The rule is the trapezoidal one, with weights proportional to the normal density at z = 0, -/+ h, -/+ 2 h, ... It
beats Gauss and Hermite's here, whose nodes go far out: its error falls as exp(-2 pi d / h), d being the distance
of the integrand's next pole from the real line (Trefethen and Weideman, 2014, theorem 5.1). A judge's law has its
poles at least pi i from the real line, so that d = pi / (sqrt(2) sigma gamma) of the sharpest judge. With five
levels the polynomial in e^{eta/2} is of degree four, and they are at least pi i / 2 away.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.engine.information import zero_sum_basis
from judgerank.engine.questions.groups import Group
from judgerank.engine.questions.laplace import Mode
from judgerank.engine.questions.point import Parts, Point
from judgerank.model.law import Law

REACH = 5.5  # of the nodes, in standard deviations
WIDER = 1.3  # in variance, of draws
CHUNK = 1 << 15  # values at a time: the temporaries stay in cache
STEPS = (0.75, 0.5, 0.35, 0.25, 0.18, 0.13, 0.09)  # between nodes
LEAST_STEP = 0.25  # in two dimensions


def wanted(group: Group, gamma: FloatArray, sigma: float, digits: float) -> FloatArray:
    """Step between nodes that holds the error of each question near exp(-digits), shape (Q,), out of `STEPS`.

    Parameters
    ----------
    group : Group
    gamma : float array, shape (K,)
    sigma, digits : float
    """
    sharpest = np.maximum.reduceat(gamma[group.judge], group.starts) * (1.0 + len(group.by_strength))
    pole = np.pi / np.maximum(np.sqrt(2) * sigma * sharpest, np.finfo(float).tiny)
    pole = np.minimum(pole, np.pi)  # beyond it the normal density is what limits
    bound = 2 * np.pi * pole / (digits + pole**2 / 2)
    least = STEPS[-1] if group.size == 2 else LEAST_STEP
    steps = np.array([step for step in STEPS if step >= least])
    fitting = (steps[:, None] <= bound).argmax(axis=0)
    return np.asarray(steps[np.where(bound >= steps[-1], fitting, len(steps) - 1)])


@lru_cache(maxsize=32)
def rule(step: float, size: int) -> tuple[FloatArray, FloatArray]:
    """Deviates e of m models at the nodes, shape (m, Z), and the logarithms of their weights, shape (Z,)."""
    nodes = step * np.arange(-np.floor(REACH / step), np.floor(REACH / step) + 1)
    grid = np.stack(np.meshgrid(*[nodes] * (size - 1), indexing="ij")).reshape(size - 1, -1)
    squares = (grid**2).sum(axis=0)
    grid, squares = grid[:, squares <= REACH**2], squares[squares <= REACH**2]
    return zero_sum_basis(size) @ grid, -squares / 2 - np.log(np.exp(-squares / 2).sum())


def look(group: Group, at: Point, step: float) -> Parts:
    """A group's marginal log-likelihoods with their derivatives, which are those of the rule itself."""
    deviates, weights = rule(step, group.size)
    value = np.empty(len(group))
    by_row = np.empty((3 + len(group.by_strength), len(group.judge)))
    by_log_sigma = 0.0
    ends = np.r_[group.starts, len(group.judge)]
    many = max(1, CHUNK // len(weights))
    edges = np.unique(np.searchsorted(ends, np.arange(0, ends[-1] + many, many)).clip(0, len(group)))
    for one, other in pairwise(edges.tolist()):
        rows = slice(ends[one], ends[other])
        starts = ends[one:other] - ends[one]
        apart = at.sigma * (deviates[group.first_place[rows]] - deviates[group.second_place[rows]])
        eta = at.gamma[rows, None] * (at.difference[rows, None] + apart) + at.position[rows, None]
        law = Law(eta, at.nu[rows, None], *(own[rows, None] for own in at.log_strong))
        n, y, tied = group.count[rows, None], group.outcome[rows, None], group.tied[rows, None]
        much = [share[rows, None] for share in group.by_strength]
        logs = np.add.reduceat(n * law.log_likelihood(y, tied, *much), starts, axis=0) + weights
        highest = logs.max(axis=1, keepdims=True)
        share = np.exp(logs - highest)
        total = share.sum(axis=1, keepdims=True)
        value[one:other] = (np.log(total) + highest)[:, 0]
        behind = n * (share / total)[group.question[rows] - one]
        residual = behind * (y - law.mean)
        by_row[0, rows] = residual.sum(axis=1)
        by_deviate = np.einsum("tz,tz->t", residual, apart)
        by_row[1, rows] = at.difference[rows] * by_row[0, rows] + by_deviate
        by_row[2, rows] = (n * tied)[:, 0] - np.einsum("tz,tz->t", behind, law.tie)  # what is behind adds up to n
        for number, (given, chance) in enumerate(zip(much, law.strong, strict=bool(much)), 3):
            by_row[number, rows] = (n * given)[:, 0] - np.einsum("tz,tz->t", behind, chance)
        by_log_sigma += float(at.gamma[rows] @ by_deviate)
    return Parts(value, by_row[0], by_row[1], by_row[2], by_log_sigma, tuple(by_row[3:]))


def sampled(group: Group, at: Point, rng: np.random.Generator, draws: int) -> tuple[FloatArray, FloatArray]:
    """A group's marginal log-likelihoods by importance sampling, and their standard errors, each of shape (Q,).

    Draws are normal about the mode with the curvature there, somewhat wider, and their mirror images
    are taken too (Evans and Swartz, 1995). This shares no formula with `look`, and has no error but chance.

    Parameters
    ----------
    group : Group
    at : Point
    rng : numpy Generator
    draws : int
        Pairs of draws for each question.
    """
    mode = Mode(group, at)
    half = np.linalg.cholesky(np.linalg.inv(mode.curvature) * WIDER)
    size = group.size
    log_scale = np.log(np.diagonal(half, axis1=1, axis2=2)).sum(axis=1)
    weights = np.empty((draws, len(group)))
    for number in range(draws):
        z = rng.standard_normal((len(group), size))
        step = np.einsum("qij,qj->qi", half, z)
        away = log_scale + 0.5 * (z**2).sum(axis=1) - mode.height
        pair = [np.exp(mode.heights(mode.deviates + sign * step) + away) for sign in (1, -1)]
        weights[number] = (pair[0] + pair[1]) / 2
    mean = weights.mean(axis=0)
    error = weights.std(axis=0, ddof=1) / np.sqrt(draws) / mean
    return mode.height + np.log(mean) + error**2 / 2, error  # a mean's logarithm is too low by that much
