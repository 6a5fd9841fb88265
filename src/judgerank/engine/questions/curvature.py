"""Second derivatives of the log marginal likelihood, from those in what its rows are made of.

The predictor of row t is eta_t = gamma_t (d_t + sigma x_t' e) + b_t, e being the deviates of its question's
models. By a rule at nodes z the question's log marginal likelihood is a function of

    base_t = gamma_t d_t + b_t,   slope_t = sigma gamma_t A' x_t,   log nu_t   and   log rho_st

of its rows (x_t' e = x_t' A z, rho_s the propensity to strength s beyond better). Its second derivatives in these
are means over the nodes, given the answers, of those of the rows' own log-likelihoods, and covariances of their
first derivatives (Louis, 1982). By Laplace's approximation it is the height of the mode that is followed here. Of
the logarithm of the determinant, whose curvature is small where there are many rows, only what sigma does is.

T. A. Louis (1982), Finding the observed information matrix when using the EM algorithm, J. R. Stat. Soc. B 44.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.engine.questions.groups import Group, Parts, Point
from judgerank.engine.questions.laplace import Mode
from judgerank.engine.questions.quadrature import Believed, believed, rule
from judgerank.model.block import Role
from judgerank.model.law import Law
from judgerank.model.members import Model, Parameters


class Design:
    """Derivatives of what rows are made of in the W parameters that each has, discriminations being some of them.

    Attributes
    ----------
    size : int
        Parameters of all rows, D: (s, judges' blocks, further blocks, log sigma).
    places : int array, shape (W, T)
        Each row's parameters among them; log sigma is the last one.
    difference, gamma, position, log_nu : float array, shape (W, T)
    log_strong : list of float arrays, shape (W, T)
        One for each strength beyond better.
    weights : float array, shape (W, T)
        Columns of further blocks that discriminations have a factor by.
    """

    def __init__(self, group: Group, model: Model, parameters: Parameters, point: Point):
        n, k, rows = (
            len(parameters.scores),
            parameters.judges.shape[1],
            len(model.blocks[: len(parameters.judges)]),
        )
        self.point, end = point, n + parameters.judges.size
        self.size = end + len(parameters.common) + 1
        columns, value = group.padded
        of_judges = (n + k * np.arange(rows))[:, None] + group.judge
        last = np.full((1, len(group.judge)), self.size - 1)
        self.places = np.vstack([group.first, group.second, of_judges, end + columns, last])
        self.common = slice(2 + rows, 2 + rows + len(value))
        by_role, roles = dict[Role, FloatArray](), np.array([*model.roles, -1])
        strengths = Role.strengths(len(group.by_strength))
        for role in (Role.QUALITY, Role.WEIGHT, Role.OFFSET, Role.TIE, *strengths):
            by_role[role] = np.zeros(self.places.shape)
            by_role[role][self.common] = np.where(roles[columns] == role, value, 0.0)
        self.weights = by_role[Role.WEIGHT].copy()
        by_role[Role.WEIGHT] *= point.gamma
        by_role[Role.QUALITY][0], by_role[Role.QUALITY][1] = 1.0, -1.0
        for row, block in enumerate(model.blocks[:rows]):
            by_role[block.role][2 + row] = point.shape if block.role is Role.WEIGHT else 1.0
        self.difference, self.gamma, self.position, self.log_nu, *self.log_strong = by_role.values()

    def along_sigma(self, first: FloatArray, values: FloatArray) -> FloatArray:
        """Derivatives with such ones in log sigma, shape (W, T)."""
        first[-1] = values
        return first

    def bent(
        self, rows: IntArray | slice, by_base: FloatArray, by_deviate: FloatArray, by_gamma: FloatArray
    ) -> FloatArray:
        """What a gradient adds, since rows are products of parameters, shape (W, W, T), for some of the rows.

        Parameters
        ----------
        rows : int array, shape (T,), or slice
        by_base, by_deviate, by_gamma : float array, shape (T,)
            Derivatives in what is added to a row's predictor; in gamma by the question's effect; in all of gamma.
        """
        gamma = self.gamma[:, rows]
        crossed = (by_base * self.difference[:, rows])[:, None] * gamma
        crossed[-1] += by_deviate * gamma
        total = crossed + crossed.transpose(1, 0, 2)
        total[-1, -1] += self.point.gamma[rows] * by_deviate
        if self.common.stop > self.common.start:  # gamma itself is a product
            weights = (by_gamma * self.weights[:, rows])[:, None] * gamma
            total += weights + weights.transpose(1, 0, 2)
            total[self.common, self.common] -= weights[self.common, self.common]
        return total

    def gathered(self, local: FloatArray, columns: IntArray | None = None) -> FloatArray:
        """Sum of what rows say of their parameters, of shape (W, W, T), in all parameters, shape (D, D)."""
        columns = self.places if columns is None else columns
        key = columns[:, None] * self.size + columns
        total = np.bincount(key.ravel(), local.ravel(), self.size**2)
        return np.asarray(total, float).reshape(self.size, self.size)


def by_rule(
    group: Group, model: Model, parameters: Parameters, point: Point, step: float, parts: Parts
) -> FloatArray:
    """Second derivatives of the sum over a group's questions by a rule, shape (D, D); the first ones are known."""
    design = Design(group, model, parameters, point)
    kinds = [point.difference * design.gamma + point.gamma * design.difference + design.position]
    for contrast in point.sigma * group.contrast:
        kinds.append(design.along_sigma(contrast * design.gamma, point.gamma * contrast))
    kinds += [design.log_nu, *design.log_strong]
    rows, width = np.array(kinds), len(design.places)
    uses = np.argwhere(rows.any(axis=2)).tolist()
    by_deviate, total = parts.by_gamma - point.difference * parts.by_eta, np.zeros((design.size, design.size))
    for part in believed(group, point, step):
        mine, n_rows = rows[:, :, part.rows], len(part.rows)
        local = _local(group, part, rule(step, group.size)[0])
        if group.alike is not None:
            local *= group.alike[part.questions]
        local = local.reshape(len(kinds), n_rows, len(kinds), n_rows, -1)
        half = np.zeros((width, *local.shape[1:]))
        for kind, position in uses:
            half[position] += mine[kind, position][:, None, None] * local[kind]
        blocks = np.zeros((width, n_rows, width, n_rows, len(part.questions)))
        for kind, position in uses:
            blocks[:, :, position] += half[:, :, kind] * mine[kind, position]
        for row_index, row in enumerate(part.rows):
            blocks[:, row_index, :, row_index] += design.bent(
                row, parts.by_eta[row], by_deviate[row], parts.by_gamma[row]
            )
        columns = design.places[:, part.rows].reshape(width * n_rows, -1)
        total += design.gathered(blocks.reshape(width * n_rows, width * n_rows, -1), columns)
    return total


def _local(group: Group, part: Believed, grid: FloatArray) -> FloatArray:
    """Second derivatives of questions in what their rows are made of, shape (C R, C R, Q).

    Kind by kind: all rows' bases, slopes in every coordinate, log nu and log rho of every strength.
    """
    rows, share, law, n = part.rows, part.share, part.law, group.count[part.rows]
    moments = np.vstack([np.ones(grid.shape[1]), grid])
    levels = list(zip((group.tied, *group.by_strength), (law.tie, *law.strong), strict=True))
    first = np.empty((len(share), len(moments) + len(levels), *rows.shape))
    residual = n * (group.outcome[rows] - law.mean)
    np.multiply(moments.T[:, :, None, None], residual[:, None], first[:, : len(moments)])
    for position, (level, chance) in enumerate(levels, len(moments)):
        first[:, position] = n * (level[rows] - chance)
    first = first.reshape(len(share), -1, len(part.questions))
    weighted = first * share[:, None]
    mean, local = weighted.sum(axis=0), np.empty((first.shape[1], *first.shape[1:]))
    for row in range(len(mean)):
        both = np.einsum("zq,zbq->bq", weighted[:, row], first[:, row:]) - mean[row] * mean[row:]
        local[row, row:] = local[row:, row] = both
    _add_own(local, moments, share, law, n)
    return local


def _add_own(local: FloatArray, moments: FloatArray, share: FloatArray, law: Law, n: FloatArray) -> None:
    """Means of the second derivatives of every row's own log-likelihood."""
    dims, diagonal = len(moments), np.arange(len(n))

    def add(values: FloatArray, pairs: list[tuple[int, int]], by: list[FloatArray]) -> None:
        means = n * (np.array(by) @ (share[:, None] * values).reshape(len(share), -1)).reshape(-1, *n.shape)
        for (first, second), mean in zip(pairs, means, strict=True):
            local[first * len(n) + diagonal, second * len(n) + diagonal] -= mean
            if first != second:
                local[second * len(n) + diagonal, first * len(n) + diagonal] -= mean

    pairs = [(first, second) for first in range(dims) for second in range(first, dims)]
    everywhere = [moments[0]]
    add(law.variance, pairs, [moments[first] * moments[second] for first, second in pairs])
    for position, covariance in enumerate(_with_mean(law), dims):
        add(covariance, [(first, position) for first in range(dims)], list(moments))
    for (first, second), covariance in _of_levels(law).items():
        add(covariance, [(dims + first, dims + second)], everywhere)


def _with_mean(law: Law) -> list[FloatArray]:
    """Covariance of the outcome with a tie, and with each strength beyond better."""
    return [law.with_ties, *(law.with_strong if law.strong else ())]


def _of_levels(law: Law) -> dict[tuple[int, int], FloatArray]:
    """Covariance of a tie and the strengths beyond better, by their places."""
    shares = (law.tie, *law.strong)
    pairs = combinations_with_replacement(range(len(shares)), 2)
    return {(a, b): shares[a] * (1 - shares[a]) if a == b else -shares[a] * shares[b] for a, b in pairs}


def of_modes(group: Group, model: Model, parameters: Parameters, point: Point, mode: Mode) -> FloatArray:
    """Second derivatives of the heights of a group's modes, shape (D, D), the modes moving along."""
    design, law, n = Design(group, model, parameters, point), mode.law, group.count
    difference, scale = point.sigma * group.difference(mode.deviates), point.sigma * point.gamma
    base = (point.difference + difference) * design.gamma + point.gamma * design.difference + design.position
    rows = [design.along_sigma(base, point.gamma * difference), design.log_nu, *design.log_strong]
    seconds = {(0, position): derivative for position, derivative in enumerate([law.variance, *_with_mean(law)])}
    seconds |= {
        (1 + level_a, 1 + level_b): derivative for (level_a, level_b), derivative in _of_levels(law).items()
    }
    every = slice(None)
    local = design.bent(
        every, mode.residual, mode.residual * difference, mode.residual * (point.difference + difference)
    )
    by_base = design.along_sigma(mode.residual * point.sigma * design.gamma, mode.residual * scale)
    for (level_a, level_b), values in seconds.items():
        part = (n * values * rows[level_a])[:, None] * rows[level_b]
        local -= part if level_a == level_b else part + part.transpose(1, 0, 2)
        if level_a == 0:
            by_base = by_base - n * values * scale * rows[level_b]
    total = design.gathered(local)
    start, shape = group.question * group.size, len(group) * group.size * design.size
    first, second = (
        np.bincount(((start + position) * design.size + design.places).ravel(), by_base.ravel(), shape)
        for position in (group.first_place, group.second_place)
    )
    across = (first - second).reshape(len(group), group.size, design.size)
    inverse = np.linalg.inv(mode.curvature)
    total += across.reshape(-1, design.size).T @ (inverse @ across).reshape(-1, design.size)
    total[-1, -1] -= 2 * float(np.einsum("qii->", inverse) - np.einsum("qij,qij->", inverse, inverse))
    return total
