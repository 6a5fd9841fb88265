"""The marginal likelihood of questions by a fixed rule, and by random draws.

Only differences between the deviates e of a question's m models matter, so they are A z with A an orthonormal
basis of the zero-sum vectors and z standard normal in m - 1 dimensions: one for a pair of models.

The rule is the trapezoidal one, with weights proportional to the normal density at z = 0, -/+ h, -/+ 2 h, ... It
beats Gauss and Hermite's here, whose nodes go far out: its error falls as exp(-2 pi d / h), d being the distance
of the integrand's next pole from the real line (Trefethen and Weideman, 2014, theorem 5.1). A judge's law has its
poles at least pi i from the real line, so that d = pi / (sqrt(2) sigma gamma) of the sharpest judge. With S
strengths beyond better the polynomial in e^{eta/2} is of degree 2 (1 + S), and they are at least pi i / (1 + S)
away.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from judgerank.data.arrays import FloatArray, IntArray, exp
from judgerank.engine.questions.groups import Group, Parts, Point
from judgerank.engine.questions.laplace import Mode
from judgerank.model.law import ByOdds, Law

FAR = 300.0  # log-odds, the exponential of twice which is a number
REACH = 5.5  # of the nodes, in standard deviations
WIDER = 1.3  # in variance, of draws
CHUNK = 1 << 14  # values at a time: the temporaries stay in cache
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
    """Nodes in m models' coordinates z, shape (m - 1, Z), and the logarithms of their weights, shape (Z,)."""
    nodes = step * np.arange(-np.floor(REACH / step), np.floor(REACH / step) + 1)
    grid = np.stack(np.meshgrid(*[nodes] * (size - 1), indexing="ij")).reshape(size - 1, -1)
    squares = (grid**2).sum(axis=0)
    grid, squares = grid[:, squares <= REACH**2], squares[squares <= REACH**2]
    return grid, -squares / 2 - np.log(np.exp(-squares / 2).sum())


class Believed(NamedTuple):
    """Some questions with R rows each at the nodes, and what their answers say of where they are.

    Attributes
    ----------
    questions : int array, shape (Q,)
    rows : int array, shape (R, Q)
    value : float array, shape (Q,)
        Log marginal likelihoods.
    share : float array, shape (Z, Q)
        Probability of each node, given the answers.
    law : Law
        Of every row at every node, shape (Z, R, Q).
    """

    questions: IntArray
    rows: IntArray
    value: FloatArray
    share: FloatArray
    law: Law


def believed(group: Group, parameters: Point, step: float) -> Iterator[Believed]:
    """All questions of a group, some at a time."""
    nodes = rule(step, group.size)[1].size
    base, slopes = (
        parameters.gamma * parameters.difference + parameters.position,
        parameters.sigma * parameters.gamma * group.contrast,
    )
    furthest = group.by_question(group.count * (np.abs(base) + REACH * np.abs(slopes).sum(axis=0))).max()
    is_near = group.strong is None and bool(furthest < FAR)
    for questions, of_questions in group.by_many:
        n_at_once = max(1, CHUNK // (nodes * len(of_questions)))
        for start in range(0, len(questions), n_at_once):
            rows, chosen = of_questions[:, start : start + n_at_once], questions[start : start + n_at_once]
            yield (_by_powers if is_near else _by_law)(
                group, parameters, step, chosen, rows, base[rows], slopes[:, rows]
            )


def _by_law(
    group: Group,
    parameters: Point,
    step: float,
    questions: IntArray,
    rows: IntArray,
    base: FloatArray,
    slopes: FloatArray,
) -> Believed:
    """What answers say of the nodes, from logarithms: wherever predictors are."""
    grid, weights = rule(step, group.size)
    eta = base + np.tensordot(grid.T, slopes, axes=1)
    law = Law(eta, parameters.nu[rows], *(log_propensity[rows] for log_propensity in parameters.log_strong))
    much = (share[rows] for share in group.by_strength)
    values = law.log_likelihood(group.outcome[rows], group.tied[rows], *much)
    logs = np.einsum("rq,zrq->zq", group.count[rows], values) + weights[:, None]
    highest = logs.max(axis=0)
    share = exp(logs - highest)
    total = share.sum(axis=0)
    return Believed(questions, rows, np.log(total) + highest, share / total, law)


def _by_powers(
    group: Group,
    parameters: Point,
    step: float,
    questions: IntArray,
    rows: IntArray,
    base: FloatArray,
    slopes: FloatArray,
) -> Believed:
    """The same from products: what a step between nodes adds to a predictor multiplies the odds."""
    weights, n, y, nu = rule(step, group.size)[1], group.count[rows], group.outcome[rows], parameters.nu[rows]
    law = ByOdds(_along(step, group.size, 0.5 * base, 0.5 * slopes), nu)
    share = _along(step, group.size, (n * y * base).sum(axis=0), (n * y * slopes).sum(axis=1))
    for row, count in zip(law.total.transpose(1, 0, 2), n, strict=True):
        share /= row if (count == 1).all() else row**count
    share *= exp(weights)[:, None]
    total = share.sum(axis=0)
    share /= total
    value = np.log(total) + (n * xlogy(group.tied[rows], nu)).sum(axis=0)
    return Believed(questions, rows, value, share, law)


def _along(step: float, size: int, base: FloatArray, slopes: FloatArray) -> FloatArray:
    """e^(base + slopes' z) at the nodes z of m models, for base of any shape and slopes of (m - 1, that shape)."""
    index = np.rint(rule(step, size)[0] / step).astype(np.intp)
    furthest = int(index.max())
    tables = [
        _powers(exp((base if d == 0 else 0.0) - furthest * step * slope), exp(step * slope), 2 * furthest + 1)
        for d, slope in enumerate(slopes)
    ]
    values = tables[0] if size == 2 else tables[0][index[0] + furthest]
    for nodes, table in zip(index[1:], tables[1:], strict=True):
        values *= table[nodes + furthest]
    return values


def _powers(start: FloatArray, ratio: FloatArray, n_powers: int) -> FloatArray:
    """start, start ratio, start ratio^2, ..., so many, along the first axis."""
    powers, done = np.empty((n_powers, *start.shape)), 1
    powers[0] = start
    while done < n_powers:
        more = min(done, n_powers - done)
        np.multiply(powers[:more], ratio, out=powers[done : done + more])
        done += more
        if done < n_powers:
            ratio = ratio * ratio
    return powers


def look(group: Group, parameters: Point, step: float) -> Parts:
    """A group's marginal log-likelihoods with their derivatives, which are those of the rule itself.

    Derivatives are of the sum over all questions that the group's represent, values of each one.
    """
    grid = rule(step, group.size)[0]
    moments = np.vstack([np.ones(grid.shape[1]), grid])
    value, tie = np.empty(len(group)), len(moments)
    by_row = np.empty((tie + 1 + len(group.by_strength), len(group.judge)))
    for part in believed(group, parameters, step):
        rows, share, law = part.rows, part.share, part.law
        value[part.questions] = part.value
        n = group.count[rows] if group.alike is None else group.count[rows] * group.alike[part.questions]
        mean = moments @ (share[:, None] * law.mean).reshape(len(share), -1)
        expected = (moments @ share)[:, None] * group.outcome[rows]
        by_row[:tie, rows] = n * (expected - mean.reshape(-1, *rows.shape))
        levels = zip((group.tied, *group.by_strength), (law.tie, *law.strong), strict=True)
        for position, (level, chance) in enumerate(levels, tie):
            by_row[position, rows] = n * (level[rows] - np.einsum("zq,zrq->rq", share, chance))
    by_deviate = parameters.sigma * (group.contrast * by_row[1:tie]).sum(axis=0)
    by_gamma, by_log_sigma = parameters.difference * by_row[0] + by_deviate, float(parameters.gamma @ by_deviate)
    return Parts(value, by_row[0], by_gamma, by_row[tie], by_log_sigma, tuple(by_row[tie + 1 :]))


def sampled(
    group: Group, parameters: Point, rng: np.random.Generator, draws: int
) -> tuple[FloatArray, FloatArray]:
    """A group's marginal log-likelihoods by importance sampling, and their standard errors, each of shape (Q,).

    Draws are normal about the mode with the curvature there, somewhat wider, and their mirror images
    are taken too (Evans and Swartz, 1995). This shares no formula with `look`, and has no error but chance.

    Parameters
    ----------
    group : Group
    parameters : Point
    rng : numpy Generator
    draws : int
        Pairs of draws for each question.
    """
    mode = Mode(group, parameters)
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
