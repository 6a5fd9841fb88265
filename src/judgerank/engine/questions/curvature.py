"""Second derivatives of the log marginal likelihood, from those in what its rows are made of.

The predictor of row t is eta_t = gamma_t (d_t + sigma x_t' e) + b_t, e being the deviates of the question's models. By
a rule at nodes z the question's log marginal likelihood is a function of

    base_t = gamma_t d_t + b_t,   slope_t = sigma gamma_t A' x_t,   log nu_t   and   log rho_t

of its rows (x_t' e = x_t' A z, rho the propensity to say much better). Its second derivatives in these are means over
the nodes, given the answers, of those of the rows' own log-likelihoods, and covariances of their first derivatives
(Louis, 1982). By Laplace's approximation it is the height of the mode that is followed here; of the logarithm of the
determinant, whose curvature is small where there are many rows, only what sigma itself does to it.

T. A. Louis (1982), Finding the observed information matrix when using the EM algorithm, J. R. Stat. Soc. B 44.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import bsr_array, coo_array, csr_array, diags_array, vstack

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.engine.questions.groups import Group
from judgerank.engine.questions.laplace import Mode
from judgerank.engine.questions.point import Parts, Point
from judgerank.engine.questions.quadrature import believed, rule
from judgerank.model.block import Role
from judgerank.model.law import Law
from judgerank.model.members import Model, Parameters


class Design:
    """Derivatives of what rows are made of in (s, judges' blocks, further blocks, log sigma), each of shape (T, D).

    Discriminations are parameters in themselves, not by their logarithms.

    Attributes
    ----------
    gamma, difference, log_nu, log_strong, position : sparse float array, shape (T, D)
    """

    def __init__(self, group: Group, model: Model, at: Parameters, here: Point):
        n, k, self.group, self.here = len(at.scores), at.judges.shape[1], group, here
        self.size, self.columns = n + at.judges.size + len(at.common) + 1, n + at.judges.size
        self.roles, self.common = np.array(model.roles, int), group.columns
        judge = {
            block.role: n + row * k + group.judge for row, block in enumerate(model.blocks[: len(at.judges)])
        }
        ones = np.ones(len(group.judge))
        self.difference = self._rows([group.first, group.second], [ones, -ones], Role.QUALITY, ones)
        self.gamma, self.position, self.log_nu, self.log_strong = (
            self._rows([judge[role]] if role in judge else [], [by_judge * ones], role, by_column)
            for role, by_judge, by_column in (
                (Role.WEIGHT, here.shape, here.gamma),
                (Role.OFFSET, 1.0, ones),
                (Role.TIE, 1.0, ones),
                (Role.STRONG, 1.0, ones),
            )
        )

    def _rows(
        self, places: list[IntArray], values: list[FloatArray], role: Role, by_column: FloatArray
    ) -> csr_array:
        """Rows with such values at such places, and with a role's further columns times a number for each row."""
        many, size = len(self.group.judge), len(places)
        inside = np.array(values[:size]).T.ravel(), np.array(places, np.intp).T.ravel()
        ends = np.arange(many + 1) * size
        found = csr_array((*inside, ends), shape=(many, self.size))
        if self.common is None:
            return found
        own = np.where(self.roles[self.common.indices] == role, self.common.data, 0.0)
        own = own * np.repeat(by_column, np.diff(self.common.indptr))
        shape = many, self.size
        return found + csr_array((own, self.common.indices + self.columns, self.common.indptr), shape=shape)

    def along_sigma(self, values: FloatArray) -> csr_array:
        """Rows with values in the last column."""
        places, ends = np.full(len(values), self.size - 1), np.arange(len(values) + 1)
        return csr_array((values, places, ends), shape=(len(values), self.size))

    def bent(self, by_base: FloatArray, by_deviate: FloatArray, by_gamma: FloatArray) -> FloatArray:
        """What a rising gradient adds, since rows are products of parameters, shape (D, D).

        Parameters
        ----------
        by_base, by_deviate, by_gamma : float array, shape (T,)
            Derivatives in what is added to a row's predictor; in gamma by the question's effect; in all of gamma.
        """
        crossed = (_scaled(self.difference, by_base).T @ self.gamma).toarray()
        total = np.asarray(crossed + crossed.T)
        of_sigma = np.asarray(self.gamma.T @ by_deviate)
        total[-1] += of_sigma
        total[:, -1] += of_sigma
        total[-1, -1] += float(self.here.gamma @ by_deviate)
        if self.common is not None:  # gamma itself is a product
            weights = self._rows([], [], Role.WEIGHT, np.ones(len(by_gamma)))
            own = (_scaled(weights, by_gamma).T @ self.gamma).toarray()
            total += own + own.T
            total[self.columns :, self.columns :] -= own[self.columns :, self.columns :].T  # there it is both
        return total


def _scaled(rows: csr_array, by: FloatArray) -> csr_array:
    return csr_array(diags_array(by) @ rows)


def by_rule(group: Group, model: Model, at: Parameters, here: Point, step: float, parts: Parts) -> FloatArray:
    """Second derivatives of the sum over a group's questions by a rule, shape (D, D), its first ones being known."""
    design, many = Design(group, model, at, here), len(group.judge)
    rows = [_scaled(design.gamma, here.difference) + _scaled(design.difference, here.gamma) + design.position]
    for contrast in here.sigma * group.contrast:
        rows.append(_scaled(design.gamma, contrast) + design.along_sigma(here.gamma * contrast))
    rows += [design.log_nu] + ([] if group.strong is None else [design.log_strong])
    stacked, total = csr_array(vstack(rows)), np.zeros((design.size, design.size))
    places, local = np.arange(len(rows)) * many, _local(group, here, step)
    for (questions, of_rows), blocks in zip(group.by_many, local, strict=True):
        if group.alike is not None:
            blocks *= group.alike[questions]
        mine = stacked[(places[:, None, None] + of_rows).reshape(-1, len(questions)).T.ravel()]
        sizes = np.arange(len(questions)), np.arange(len(questions) + 1)
        whole = bsr_array((np.ascontiguousarray(blocks.transpose(2, 0, 1)), *sizes)).tocsr()
        total += (mine.T @ (whole @ mine)).toarray()
    by_deviate = parts.by_gamma - here.difference * parts.by_eta
    return total + design.bent(parts.by_eta, by_deviate, parts.by_gamma)


def _local(group: Group, here: Point, step: float) -> list[FloatArray]:
    """Second derivatives of questions in what their rows are made of, of shape (C R, C R, Q) where they have R rows.

    Kind by kind: all rows' bases, slopes in every coordinate, log nu and log rho.
    """
    grid, strong = rule(step, group.size)[0], group.strong
    moments = np.vstack([np.ones(grid.shape[1]), grid])
    many = len(moments) + (1 if strong is None else 2)
    found = [np.empty((many * len(rows),) * 2 + (len(questions),)) for questions, rows in group.by_many]
    place, start = 0, 0
    for part in believed(group, here, step):
        rows, share, law, size = part.rows, part.share, part.law, len(part.questions)
        n = group.count[rows]
        first = np.empty((len(share), many, *rows.shape))
        np.multiply(moments.T[:, :, None, None], (n * (group.outcome[rows] - law.mean))[:, None], first[:, :len(moments)])
        first[:, len(moments)] = n * (group.tied[rows] - law.tie)
        if strong is not None:
            first[:, -1] = n * (strong[rows] - law.strong)
        first = first.reshape(len(share), -1, size)
        weighted = first * share[:, None]
        mean = weighted.sum(axis=0)
        local = found[place][:, :, start : start + size]
        for one in range(len(mean)):
            both = np.einsum("zq,zbq->bq", weighted[:, one], first[:, one:]) - mean[one] * mean[one:]
            local[one, one:] = local[one:, one] = both
        _add_own(local, moments, share, law, n)
        start += size
        if start == found[place].shape[-1]:
            place, start = place + 1, 0
    return found


def _add_own(local: FloatArray, moments: FloatArray, share: FloatArray, law: Law, n: FloatArray) -> None:
    """Means of the second derivatives of every row's own log-likelihood."""
    dims, own = len(moments), np.arange(len(n))

    def add(values: FloatArray, pairs: list[tuple[int, int]], by: list[FloatArray]) -> None:
        means = n * (np.array(by) @ (share[:, None] * values).reshape(len(share), -1)).reshape(-1, *n.shape)
        for (one, other), mean in zip(pairs, means, strict=True):
            local[one * len(n) + own, other * len(n) + own] -= mean
            if one != other:
                local[other * len(n) + own, one * len(n) + own] -= mean

    pairs = [(one, other) for one in range(dims) for other in range(one, dims)]
    everywhere = [moments[0]]
    add(law.variance, pairs, [moments[one] * moments[other] for one, other in pairs])
    add(law.with_ties, [(one, dims) for one in range(dims)], list(moments))
    add(law.tie * (1 - law.tie), [(dims, dims)], everywhere)
    if len(local) > (dims + 1) * len(n):
        add(law.with_strong, [(one, dims + 1) for one in range(dims)], list(moments))
        add(-law.tie * law.strong, [(dims, dims + 1)], everywhere)
        add(law.strong * (1 - law.strong), [(dims + 1, dims + 1)], everywhere)


def of_modes(group: Group, model: Model, at: Parameters, here: Point, mode: Mode) -> FloatArray:
    """Second derivatives of the heights of a group's modes, shape (D, D), the modes moving along."""
    design, law, n = Design(group, model, at, here), mode.law, group.count
    apart = here.sigma * group.difference(mode.deviates)
    scale = here.sigma * here.gamma
    base = (
        _scaled(design.gamma, here.difference + apart)
        + _scaled(design.difference, here.gamma)
        + design.position
        + design.along_sigma(here.gamma * apart)
    )
    rows, seconds = [base, design.log_nu], {(0, 0): law.variance, (0, 1): law.with_ties}
    seconds[1, 1] = law.tie * (1 - law.tie)
    if group.strong is not None:
        rows.append(design.log_strong)
        seconds |= {(0, 2): law.with_strong, (1, 2): -law.tie * law.strong, (2, 2): law.strong * (1 - law.strong)}
    total = design.bent(mode.residual, mode.residual * apart, mode.residual * (here.difference + apart))
    by_base = _scaled(design.gamma, mode.residual * here.sigma) + design.along_sigma(mode.residual * scale)
    for (one, other), values in seconds.items():
        part = (_scaled(rows[one], n * values).T @ rows[other]).toarray()
        total -= part if one == other else part + part.T
        if one == 0:
            by_base = by_base - _scaled(rows[other], n * values * scale)
    t = np.arange(len(n))
    row = np.r_[group.question * group.size + group.first_place, group.question * group.size + group.second_place]
    signs = np.r_[np.ones(len(n)), -np.ones(len(n))]
    to_deviates = coo_array((signs, (row, np.r_[t, t])), shape=(len(group) * group.size, len(n))).tocsr()
    across = (to_deviates @ by_base).toarray().reshape(len(group), group.size, -1)
    inverse = np.linalg.inv(mode.curvature)
    total += across.reshape(-1, len(total)).T @ (inverse @ across).reshape(-1, len(total))
    total[-1, -1] -= 2 * float(np.einsum("qii->", inverse) - np.einsum("qij,qij->", inverse, inverse))
    return total
