"""Tastes of a board's judges, and what they add to a newcomer's error where not all judges answered.

Judge k prefers model i to j with log-odds gamma_k (s_i - s_j) + t_ki - t_kj, the tastes t having mean zero and one
variance. A board's scores hold the tastes of its panel on average, by the weights b_k that the panel's information
gives its judges: with m_i = sum_k b_k t_ki, s_i + m_i is the score on the board, and t_ki - gamma_k m_i is left. A
newcomer is meant to stand where the whole panel would put it. What is left moves its score unless all judges
answered as on the board.

The variance of tastes is by moments, so that no fit is needed. Let r hold the sums of residuals by judge and
model, T their variance where nobody has tastes, the judges' offsets regressed out, and Q what is left of T once
scores and discriminations are fitted. Then E r'r = tr Q + var(t) tr Q^2. Tastes also flatten the slopes of the
answers, by which the variance comes out too small: by 1 + 2 c var(t), c that of a logit beside a probit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.result import Fit
from judgerank.inference.clusters import Residuals, residuals_by_cluster
from judgerank.model.members import Parameters
from judgerank.trust.fitness import WIDENING

LEAST = 0.25  # of what the variance is divided by for flattened slopes
MOST = 20_000_000  # judges times models times models, beyond which tastes are not looked for


@dataclass(frozen=True, eq=False)
class PanelTastes:
    """Tastes of the judges of a board.

    Attributes
    ----------
    variance : float
        Of a judge's taste for a model, in log-odds squared; zero where none shows.
    weights : float array, shape (K,)
        b: those of the judges' tastes in the board's scores.
    degrees_of_freedom : float
        Of the variance.
    """

    variance: float
    weights: FloatArray
    degrees_of_freedom: float

    def added(self, board: Fit, rows: Comparisons, at: Parameters, inverse: FloatArray) -> FloatArray:
        """Covariance of M newcomers' scores by the judges' tastes, those of the whole panel apart; shape (M, M).

        Parameters
        ----------
        board : Fit
        rows : Comparisons
            Those with a newcomer, models of the board first.
        at : Parameters
        inverse : float array, shape (M, M)
            Of the newcomers' information.
        """
        new = np.arange(len(board.scores), len(at.scores))
        if self.variance == 0.0:
            return np.zeros((len(new), len(new)))
        gamma = board.model.of_judges(at)[0]
        net = gamma[:, None, None] * _laplacians(rows, Residuals.of(rows, board.model, at))[:, new]
        left = np.eye(len(gamma)) - np.outer(self.weights, gamma)
        # by judge, newcomer and the model whose taste it is: what a taste beyond the panel's mean moves
        moved = np.einsum("ab,kbl,jk->jal", inverse, net, left)
        return np.asarray(self.variance * np.einsum("kal,kbl->ab", moved, moved))


def panel_tastes(board: Fit) -> PanelTastes:
    """The tastes of a board's judges, from the comparisons behind it.

    None where judges are not in the model, of rankings of several answers, and where too many judges compared too
    many models (`MOST`).
    """
    cells, at = board.comparisons, board.solution.parameters
    n, k = len(cells.models), len(cells.judges)
    if not board.model.judge_blocks or k < 2 or n < 3 or cells.stages is not None or k * n * n > MOST:
        return PanelTastes(0.0, np.ones(k) / k, np.inf)
    gamma, rows = board.model.of_judges(at)[0], Residuals.of(cells, board.model, at)
    plain = _laplacians(cells, rows)
    _, cross, slopes = rows.net_results(k)
    t = plain - np.einsum("kbi,kbj->kij", cross, slopes)
    by_judge = np.trace(plain, axis1=1, axis2=2)
    weights = gamma * by_judge / max(float(gamma**2 @ by_judge), np.finfo(float).tiny)
    squared = t @ t
    fitted = n + k * board.model.weighs_judges
    one, two, three = (_projected(x, gamma, at.scores)[:fitted, :fitted] for x in (t, squared, squared @ t))
    spent = np.linalg.pinv(one + np.diag(_precisions(board)), hermitian=True)
    trace = float(np.trace(t, axis1=1, axis2=2).sum() - np.sum(spent * two))
    hollow = spent @ two
    of_square = float(np.sum(t * t) - 2 * np.sum(spent * three) + np.sum(hollow * hollow.T))
    if not (trace > 0 and of_square > 0):
        return PanelTastes(0.0, weights, np.inf)
    sums = residuals_by_cluster(cells, board.model, at, np.zeros(len(cells), int)).toarray()[0, : n * k]
    noise = trace * _dispersion(board, float(by_judge.sum()), n * k)
    raw = max((float(sums @ sums) - noise) / of_square, 0.0)
    return PanelTastes(raw / max(1 - 2 * WIDENING**2 * raw, LEAST), weights, float(max((k - 1) * (n - 2), 1)))


def _laplacians(rows: Comparisons, residuals: Residuals) -> FloatArray:
    """Variance of the sums of residuals by model of every judge, shape (K, N, N)."""
    n, k = len(rows.models), len(rows.judges)
    matrix, judge = np.zeros((k, n, n)), residuals.judge
    i, j = rows.first.astype(np.intp), rows.second.astype(np.intp)
    for first, second, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
        np.add.at(matrix, (judge, first, second), sign * residuals.variance)
    return matrix


def _projected(t: FloatArray, gamma: FloatArray, scores: FloatArray) -> FloatArray:
    """B'T B of matrices T by judge, B being derivatives of log-odds in scores and log-discriminations."""
    n, k = len(scores), len(gamma)
    matrix, weighted = np.zeros((n + k, n + k)), gamma[:, None, None] ** 2 * t
    matrix[:n, :n] = weighted.sum(axis=0)
    matrix[n:, :n] = weighted @ scores
    matrix[:n, n:] = matrix[n:, :n].T
    matrix[range(n, n + k), range(n, n + k)] = matrix[n:, :n] @ scores
    return matrix


def _precisions(board: Fit) -> FloatArray:
    """What shrinkage adds to the information of scores and log-discriminations, shape (N + K,)."""
    n, k, spread = len(board.scores), len(board.comparisons.judges), board.spread
    of_scores = spread["scores"] ** -2 if board.solution.shrinks_scores else 0.0
    tau = spread.get(board.model.judge_blocks[0]) if board.model.weighs_judges else None
    return np.r_[np.full(n, of_scores), np.full(k * board.model.weighs_judges, 0.0 if tau is None else tau**-2)]


def _dispersion(board: Fit, expected: float, n_sums: int) -> float:
    """How much more residuals of whole questions vary than independent ones would; that of half wins at least."""
    if board.errors.by_cluster is None or not expected > 0:
        return board.dispersion
    by_question = board.errors.by_cluster.tocsc()[:, :n_sums]
    return max(float((by_question.data**2).sum()) / expected, board.dispersion)
