"""Judges' own tastes in the covariance by which comparisons are chosen.

A judge's taste for a model, t_ki normal with mean zero and variance tau^2, adds gamma_k (t_ki - t_kj) to the
log-odds of i over j. It is the same in all answers of this judge, so no number of them averages it out: what one
judge tells of a claim has an end, and a choice that knows of tastes goes on to the next judge. Tastes are in units
of scores here, not in log-odds as in the block `taste` (`model.kinds.taste`): a sharp judge is as likely to favour
a model as any other, and would else be trusted alone.

With V the covariance of a fit without tastes, J and Z the derivatives of every log-odds in its parameters and in
all t, W the information of every answer, and r the residuals, one step from that fit leads to

    S = Z'W Z - Z'W J V J'W Z,    cov t = (S + 1 / tau^2)^-1,    E t = cov t  Z'r,
    cov (theta, t) = -V J'W Z cov t,    cov theta = V + V J'W Z cov t  Z'W J V.

Z'r is normal with covariance S + tau^2 S S. That gives the likelihood of tau, restricted to what scores and
judges' parameters leave over (Patterson and Thompson, 1971).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.cache import remembered
from judgerank.engine.likelihood import row_by_row, row_derivatives
from judgerank.fits.result import Fit
from judgerank.order.scale import best_known_scores, scale_of
from judgerank.ranking.candidates import Candidates, Outcomes

LARGEST, STEPS = 2.0, 81  # standard deviations of a score: the grid of tau
NO_TASTES, SPREAD = 0.5, 0.5  # prior of tau: zero with that chance, else half-normal; public sets: 0, 0, .02, .24
MOST_TASTES = 1_500  # held at a time, those of the judges asked most: the covariance is dense
LITTLE = 1e-9  # information, over the largest, of what scores and judges' parameters take whole


@dataclass(frozen=True, eq=False)
class JointCovariance:
    """Covariance of a fit's free parameters and of its judges' tastes.

    Attributes
    ----------
    v : float array, shape (D + T, D + T)
    column : int array, shape (K,)
        Where each judge's tastes begin; -1 where they are taken as zero.
    shift : float array, shape (D,)
        Step from the fit's free parameters to those that allow for tastes.
    variance : float
        tau^2, its mean given the data.
    plain, of_tastes : float array, shape (D, D)
        The fit's covariance without tastes, and what tastes add to it: the fit does not know of them.
    """

    v: FloatArray
    column: IntArray
    shift: FloatArray
    variance: float
    plain: FloatArray
    of_tastes: FloatArray

    def share(self, aim: FloatArray | None) -> float:
        """Share of the variance of contrasts, as the fit without tastes estimates them, that is due to tastes."""
        if aim is None or not self.variance:
            return 0.0
        rows = aim[: len(self.shift)]
        alone, of_tastes = (np.trace(rows.T @ v @ rows) for v in (self.plain, self.of_tastes))
        return float(of_tastes / (alone + of_tastes))

    def statistics(self, result: Fit, pairs: IntArray) -> FloatArray:
        """Differences of reported scores over their errors, tastes allowed for in both; pairs of shape (2, P)."""
        to_scores, d = best_known_scores(result), len(self.shift)
        scores = scale_of(result).scores + to_scores @ self.shift
        i, j = pairs
        c = to_scores[i] - to_scores[j]
        return (scores[i] - scores[j]) / np.sqrt(np.einsum("pa,ab,pb->p", c, self.v[:d, :d], c))

    def outcomes(self, result: Fit, candidates: IntArray) -> Outcomes:
        """Parameters, tastes among them, and information of the outcomes of some candidates, shape (3, C)."""
        plain = Candidates(result, 0).outcomes(candidates)
        first, second, judge = candidates
        column = self.column[judge]
        if (column < 0).all():
            return plain
        of_tastes = np.where((column < 0)[:, None, None], 0.0, plain.root[:, :2])
        index = np.column_stack([plain.index, np.maximum(column, 0) + first, np.maximum(column, 0) + second])
        return Outcomes(index, np.concatenate([plain.root, of_tastes], axis=1), plain.caution)


def without_tastes(result: Fit) -> JointCovariance:
    """That of the fit alone."""
    v, judges = result.covariance, len(result.comparisons.judges)
    return JointCovariance(v, np.full(judges, -1), np.zeros(len(v)), 0.0, v, np.zeros_like(v))


@remembered
def with_tastes(result: Fit) -> JointCovariance:
    """The covariance with tastes of a fit without; theirs is what remains to be known of them."""
    alone, n = without_tastes(result), len(result.comparisons.models)
    plain, column = alone.v, alone.column
    if n < 3 or len(column) < 2 or not result.model.judge_blocks:
        return alone
    within, through, score, judges = _information(result)
    v = result._inverse("expected")
    carried = v @ through
    values, vectors = np.linalg.eigh(within - through.T @ carried)
    kept = values > LITTLE * max(values[-1], 1.0)
    unit = float(result.scores.std(ddof=0))
    variance = unit**2 * _mean_variance(unit**2 * values[kept], unit * (vectors.T @ score)[kept])
    of_tastes = (vectors / (np.maximum(values, 0.0) + 1 / variance)) @ vectors.T
    across = -carried @ of_tastes
    column[judges] = len(plain) + n * np.arange(len(judges))
    joint = np.block([[plain - across @ carried.T, across], [across.T, of_tastes]])
    return JointCovariance(joint, column, across @ score, variance, plain, variance * carried @ carried.T)


def _information(result: Fit) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Z'W Z, J'W Z and Z'r of the tastes that are held, and whose they are."""
    cells, n = result.comparisons, len(result.comparisons.models)
    asked = np.bincount(cells.judge, cells.count, len(cells.judges))
    judges = np.sort(np.argsort(-asked, kind="stable")[: max(MOST_TASTES // n, 1)])
    place = np.full(len(asked), -1)
    place[judges] = np.arange(len(judges))
    rows = np.flatnonzero(place[cells.judge] >= 0)
    terms = row_by_row(cells, result.model, result.solution.parameters)
    start = place[cells.judge[rows]] * n
    g = result.discrimination.to_numpy()[cells.judge[rows]]
    at = np.r_[rows, rows], np.r_[start + cells.first[rows], start + cells.second[rows]]
    z = csr_array((np.r_[g, -g], at), shape=(len(cells), n * len(judges)))
    ones = np.ones(len(cells))
    j = row_derivatives(terms, lambda role: terms.through_predictor(role, ones)).tocsr()[:, result._chosen]
    phi = result.dispersion
    weighed = z.multiply((cells.count * terms.law.variance / phi)[:, None]).tocsr()
    return (z.T @ weighed).toarray(), (j.T @ weighed).toarray(), z.T @ terms.residual / phi, judges


def _mean_variance(information: FloatArray, score: FloatArray) -> float:
    """Mean of tau^2 given scores of so much information, by the prior of tau."""
    tau = np.linspace(0.0, LARGEST, STEPS)
    spread = information + np.multiply.outer(tau**2, information**2)
    height = -0.5 * (np.log(spread) + score**2 / spread).sum(axis=1)
    prior = np.exp(-0.5 * (tau / SPREAD) ** 2)
    prior *= (1 - NO_TASTES) / prior.sum()
    prior[0] += NO_TASTES
    weight = prior * np.exp(height - height.max())
    return float(weight @ tau**2 / weight.sum())
