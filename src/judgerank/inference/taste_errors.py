"""Whose opinion a score is: this panel's, or that of judges like these, whose tastes are in its error."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.likelihood import expected_answers, row_by_row
from judgerank.model.members import Model, Parameters

# With a block ``taste`` a judge prefers i to j with log-odds q_ki - q_kj, where q_k = gamma_k s + t_k. The score
# s_i is that of judges like these: the tastes of the judges who happen to be here are part of its error, and what
# is left of it with ever more comparisons is about tau / sqrt(sum gamma_k^2). This panel's own discriminations and
# scores are those that describe best what its judges think, tastes and all: the first singular pair of the matrix
# Q of all q_ki,
#
#     sigma u v' of least |Q - sigma u v'|^2,   gamma' and s' along u and v.
#
# At the maximum tastes have no part along either (`model.kinds.taste`), so the two have one estimate and two
# errors. With R = Q - sigma u v', the matrix of the tastes, a change dQ moves the pair by
#
#     (sigma^2 - R R') du = sigma (1 - u u') dQ v + R dQ' u,   d sigma = u' dQ v,
#     (sigma^2 - R'R) dv = sigma (1 - v v') dQ' u + R' dQ v.
TASTE = "taste"  # the block of `model.kinds.taste`
MOST = 0.9  # of the tastes' largest singular value, over that of scores times discriminations


def has_tastes(model: Model, chosen: BoolArray) -> bool:
    """Whether there is a block of tastes whose standard deviation is not zero.

    Parameters
    ----------
    model : Model
    chosen : bool array, shape (N + B K + P,)
        Free parameters.
    """
    return any(block.name == TASTE for block in model.further) and bool(
        chosen[_taste_columns(model, chosen)].any()
    )


def panel_means(model: Model, parameters: Parameters, chosen: BoolArray) -> FloatArray:
    """Derivatives of this panel's scores and of all other free parameters in the free parameters, shape (D, D)."""
    n, k = len(parameters.scores), parameters.judges.shape[1]
    derivatives = np.eye(len(chosen))
    if has_tastes(model, chosen):
        taste_columns, centre = _taste_columns(model, chosen), np.eye(n) - 1 / n
        gamma = model.of_judges(parameters).gamma * parameters.in_play
        tastes = parameters.common[model.place(TASTE)].reshape(k, n) @ centre
        size = float(np.linalg.norm(gamma) * np.linalg.norm(parameters.scores))
        if model.weighs_judges and np.linalg.norm(tastes, 2) < MOST * size:
            derivatives[: n + k] = _singular_pair(parameters.scores, gamma, tastes, chosen, taste_columns)
        else:  # discriminations are given, or tastes are so large that they cannot say which are the panel's
            weight = gamma / (gamma @ gamma)
            derivatives[:n, taste_columns] = np.multiply.outer(weight, centre).transpose(1, 0, 2).reshape(n, k * n)
    selected: FloatArray = derivatives[np.ix_(chosen, chosen)]
    return selected


def _singular_pair(
    s: FloatArray, gamma: FloatArray, r: FloatArray, chosen: BoolArray, taste_columns: slice
) -> FloatArray:
    """Derivatives of s' and log gamma', of geometric mean one, in all parameters, shape (N + K, N + B K + P)."""
    n, k = len(s), len(gamma)
    long, wide = float(np.linalg.norm(gamma)), float(np.linalg.norm(s))
    u, v, sigma = gamma / long, s / wide, long * wide
    on_v, on_u = np.zeros((k, len(chosen))), np.zeros((n, len(chosen)))  # dQ v and dQ' u
    judges, tastes = np.arange(k), np.arange(taste_columns.start, taste_columns.stop).reshape(k, n)
    on_v[:, :n], on_u[:, :n] = np.outer(gamma, v), long * np.eye(n)
    on_v[judges, n + judges], on_u[:, n : n + k] = gamma * wide, np.outer(s, u * gamma)
    on_v[judges[:, None], tastes] = v
    on_u[:, taste_columns] = np.multiply.outer(u, np.eye(n) - 1 / n).transpose(1, 0, 2).reshape(n, k * n)
    of_size = u @ on_v
    du = np.linalg.solve(sigma**2 * np.eye(k) - r @ r.T, sigma * (on_v - np.outer(u, of_size)) + r @ on_u)
    dv = np.linalg.solve(sigma**2 * np.eye(n) - r.T @ r, sigma * (on_u - np.outer(v, v @ on_u)) + r.T @ on_v)
    free = chosen[n : n + k] & (u > 0)
    of_log = du / np.where(free, u, 1.0)[:, None]
    mean = of_log[free].mean(axis=0) if free.any() else np.zeros(len(chosen))
    return np.vstack([np.outer(s, of_size / sigma + mean) + wide * dv, of_log - mean])


def degrees_of_tastes(model: Model, free: BoolArray, n: int) -> float:
    """Degrees of freedom behind the standard deviation of judges' tastes for n models.

    K judges see N - 1 differences each; scores and discriminations take (N - 1) + (K - 1) of these K (N - 1).
    """
    judges = free.shape[1]
    n_spent = n - 1 + max(int(free[0].sum()) - 1 if model.weighs_judges else 0, 0)
    return float(max(judges * (n - 1) - n_spent, 1))


def variances_of_pairs(covariance: FloatArray) -> FloatArray:
    """Variances of differences, and on the diagonal of single values, shape (N, N)."""
    single = np.diag(covariance)
    pairs = single[:, None] + single[None, :] - 2 * covariance
    np.fill_diagonal(pairs, single)
    return np.asarray(pairs, float)


def _taste_columns(model: Model, chosen: BoolArray) -> slice:
    """Where tastes stand among all parameters."""
    start = len(chosen) - len(model.roles)
    columns = model.place(TASTE)
    return slice(start + columns.start, start + columns.stop)


def shared_with_tastes(cells: Comparisons, model: Model, parameters: Parameters) -> FloatArray:
    """Information that all parameters share with every judge's taste for every model, shape (N + B K + P, K N)."""
    n, index = len(cells.models), np.arange(len(cells))
    judge = cells.judge.astype(np.int64) * n
    ends = np.r_[index, index], np.r_[judge + cells.first, judge + cells.second]
    signs = np.repeat([1.0, -1.0], len(index))
    by_taste = coo_array((signs, ends), (len(index), n * len(cells.judges))).tocsr()
    shared: FloatArray = (expected_answers(row_by_row(cells, model, parameters)).tocsr().T @ by_taste).toarray()
    return shared
