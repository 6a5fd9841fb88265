"""The model from its equation to its maximum, as plainly as it can be written; the engine is tested against it.

P(i beats j | judge k, z) = sigmoid(eta),   eta = exp(alpha_k + beta_k z) (s_i - s_j) + b_k   (paper: equation 1).
N models, K judges, T cells. A judge's parameters are one row of `judges`, shape (K, D): alpha, beta, then b.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, log_expit, logit

from judgerank.data.arrays import FloatArray, IntArray


class Cells(NamedTuple):
    """Comparisons that are alike, counted; the columns of `weight` and `offset` choose the member."""

    first: IntArray  # (T,), models and judges by number
    second: IntArray
    judge: IntArray
    wins: FloatArray  # (T,), of the first model; a tie is half a win
    total: FloatArray  # comparisons
    weight: FloatArray  # (T, P), columns of the log-discrimination: none, 1, or 1 and z
    offset: FloatArray  # (T, D - P), columns of what is added whatever the models: none, or 1


def predictor(scores: FloatArray, judges: FloatArray, cells: Cells) -> tuple[FloatArray, ...]:
    """eta, shape (T,), and its gradient in the scores, (T, N), and in the judge's parameters, (T, D)."""
    rows, n_weights, identity = judges[cells.judge], cells.weight.shape[1], np.eye(len(scores))
    gamma = np.exp(np.sum(cells.weight * rows[:, :n_weights], axis=1))
    by_score = gamma[:, None] * (identity[cells.first] - identity[cells.second])
    eta = by_score @ scores + np.sum(cells.offset * rows[:, n_weights:], axis=1)
    return eta, by_score, np.hstack([(by_score @ scores)[:, None] * cells.weight, cells.offset])


def log_likelihood(scores: FloatArray, judges: FloatArray, cells: Cells) -> float:
    """Equation (5)."""
    eta = predictor(scores, judges, cells)[0]
    return float(cells.wins @ log_expit(eta) + (cells.total - cells.wins) @ log_expit(-eta))


def gradient(scores: FloatArray, judges: FloatArray, cells: Cells) -> tuple[FloatArray, FloatArray]:
    """Equation (6) and appendix B.1: the sum of (y - p) grad eta; shapes (N,) and (K, D)."""
    eta, by_score, by_judge = predictor(scores, judges, cells)
    residual = cells.wins - cells.total * expit(eta)
    return residual @ by_score, np.eye(len(judges))[:, cells.judge] @ (residual[:, None] * by_judge)


def hessian(scores: FloatArray, judges: FloatArray, cells: Cells, observed: bool) -> tuple[FloatArray, ...]:
    """Minus the Hessian, equation (7), or its expectation: an arrow of shapes (N, N), (K, D, N), (K, D, D)."""
    eta, by_score, by_judge = predictor(scores, judges, cells)
    p, in_gamma = expit(eta), np.hstack([cells.weight, 0 * cells.offset])  # eta is linear in b_k
    variance, bend = cells.total * p * (1 - p), observed * (cells.wins - cells.total * p) * in_gamma.T
    cross = (variance * by_judge.T - bend)[:, :, None] * by_score
    judge = (variance * by_judge.T)[:, :, None] * by_judge - (bend * (by_score @ scores))[:, :, None] * in_gamma
    sums = (np.tensordot(np.eye(len(judges))[:, cells.judge], part, (1, 1)) for part in (cross, judge))
    return by_score.T @ (variance[:, None] * by_score), *sums


def newton_step(scores: FloatArray, judges: FloatArray, cells: Cells, observed: bool) -> tuple[FloatArray, ...]:
    """Solve the arrow by its Schur complement in the scores; LinAlgError unless it is positive definite."""
    (rise, rises), (top, cross, judge) = gradient(scores, judges, cells), hessian(scores, judges, cells, observed)
    judge += (judge == 0) * np.eye(judge.shape[1])  # what has no effect at gamma_k = 0 stays as it is
    solved = np.linalg.solve(judge, np.concatenate([cross, rises[:, :, None]], axis=2))
    flat = np.column_stack([np.ones(len(scores)), scores])[:, : 1 + (cells.weight.size > 0)]  # theorem 3.2
    schur = top - np.einsum("kdn,kdm->nm", cross, solved[:, :, :-1])
    schur += np.trace(top) * (np.linalg.qr(flat)[0] @ np.linalg.qr(flat)[0].T) / len(top)
    np.linalg.cholesky(judge)
    step = cho_solve(cho_factor(schur), rise - np.einsum("kdn,kd->n", cross, solved[:, :, -1]))
    return step, solved[:, :, -1] - solved[:, :, :-1] @ step


def slope_at_zero(scores: FloatArray, cells: Cells, n_judges: int) -> tuple[FloatArray, FloatArray]:
    """Derivative in gamma_k at gamma_k = 0, b_k being at its best there, and that b_k; shape (K,) each."""
    judge, lead = np.eye(n_judges)[:, cells.judge], scores[cells.first] - scores[cells.second]
    share = (judge @ cells.wins) / (judge @ cells.total) if cells.offset.size else np.full(n_judges, 0.5)
    return judge @ ((cells.wins - cells.total * share[cells.judge]) * lead), logit(share)


def maximise(scores: FloatArray, judges: FloatArray, cells: Cells) -> tuple[FloatArray, FloatArray]:
    """The maximum over gamma_k >= 0 that a climb from this start reaches, normalised by equation (3)."""
    n_weights, judges = cells.weight.shape[1], judges.copy()
    for iteration in range(200):  # ten steps of Fisher scoring, which ascends from anywhere, then Newton's
        if n_weights == 1:  # with a slope, the condition at zero would be one for every beta_k
            slope, position = slope_at_zero(scores, cells, len(judges))
            judges = np.where(np.isneginf(judges), -5.0, judges)  # those at zero may come back
            judges[slope <= 0, 0] = -np.inf
            judges[slope <= 0, 1:] = position[slope <= 0, None]
        if n_weights:
            mean = np.mean(judges[np.isfinite(judges[:, 0]), 0])
            scores, judges[:, 0] = scores * np.exp(mean), judges[:, 0] - mean
        step, judges_step = newton_step(scores, judges, cells, observed=iteration >= 10)
        size, height = 1 / np.abs(judges_step).max(initial=1.0), log_likelihood(scores, judges, cells)
        while log_likelihood(scores + size * step, judges + size * judges_step, cells) < height * (1 + 1e-12):
            size /= 2
        scores, judges = scores + size * step, judges + size * judges_step
        if iteration > 10 and np.abs(step).max() < 1e-13:
            break
    return scores - scores.mean(), judges
