"""People as one more judge with tastes of their own: scores on the human scale, drawn toward the panel's.

People prefer model i to j with probability sigmoid(t_i - t_j). Their scores are those of the panel, times what a
person's vote tells of them, plus their own tastes:

    t = b s + u,   u_i normal with mean zero and standard deviation omega,   s normal about the panel's scores.

b is integrated out under a flat prior, and omega under a weak one, log omega being standard normal, over a grid.
For each omega the votes have a mode, a covariance and an evidence, in Laplace's approximation, and the posterior
is the mixture (as in `engine.spreads`). So intervals allow for what is not known of b and omega, nor of the
panel's scores. What people said of a model counts the more, the more of it there is; a model that people never saw
gets what the panel lets one expect, with its error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, expit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.errors import DataError
from judgerank.engine.information import zero_sum_basis
from judgerank.fits.result import Fit
from judgerank.people.items import HumanScores, Items

LEAST, MOST, POINTS = 0.02, 4.0, 15  # of omega's grid
FLAT = 10.0  # standard deviation of b's prior
STEPS, DONE = 100, 1e-9  # of Newton's method
ROUNDS = 3  # of b given tastes and tastes given b, which settles the panel's own error


@dataclass(frozen=True, eq=False)
class TowardPanel(HumanScores):
    """Scores of people drawn toward the panel's.

    Attributes
    ----------
    items, scores, covariance
        Those of `HumanScores`.
    slope : float
        b, posterior mean: how much people's log-odds rise where the panel's scores rise by one.
    spread : float
        Omega, posterior mean.
    statistic : float
        Twice the log-likelihood gained over no tastes of people's own, tastes integrated out.
    """

    slope: float
    spread: float
    statistic: float

    @property
    def p_value(self) -> float:
        """Of people having no tastes of their own: half of chi-squared with one degree of freedom."""
        return 0.5 * float(chdtrc(1, self.statistic)) if self.statistic > 0 else 1.0


def drawn_toward_panel(items: Items, panel: Fit) -> TowardPanel:
    """Scores on the human scale, those of the panel being what is expected without votes.

    Errors are clustered by question where people were asked about several items of one.

    Raises
    ------
    DataError
        If people were asked about fewer than two questions.
    NoIntervalError
        If the panel's scores have no errors.
    """
    asked, basis = items.asked, zero_sum_basis(len(items.models))
    if len(np.unique(items.question[asked])) < 2:
        raise DataError("people were asked about fewer than 2 questions, and this takes two or more")
    places = [panel.comparisons.models.index(model) for model in items.models]
    s = basis.T @ panel.scores.to_numpy()[places]
    v = basis.T @ panel.covariance[np.ix_(places, places)] @ basis
    x, y = basis[items.first[asked]] - basis[items.second[asked]], items.human[asked]
    grid, slope = np.geomspace(LEAST, MOST, POINTS), 1.0
    for _ in range(ROUNDS):
        ends = [_posterior(x, y, s, slope**2 * v, omega, items.question[asked]) for omega in grid]
        evidence = np.array([end[0] for end in ends])
        weights = np.exp(evidence - 0.5 * np.log(grid) ** 2 - evidence.max())
        weights /= weights.sum()
        slope = float(weights @ [end[3] for end in ends])
    t = np.asarray(sum(w * end[1] for w, end in zip(weights, ends, strict=True)))
    covariance = sum(w * (end[2] + np.outer(end[1] - t, end[1] - t)) for w, end in zip(weights, ends, strict=True))
    gained = 2 * max(0.0, float(evidence.max() - evidence[0]))
    scores, among = basis @ t, np.asarray(basis @ covariance @ basis.T)
    return TowardPanel(items, scores, among, slope, float(weights @ grid), gained)


def _posterior(
    x: FloatArray, y: FloatArray, s: FloatArray, v: FloatArray, omega: float, question: IntArray
) -> tuple[float, FloatArray, FloatArray, float]:
    """Log evidence, mode and covariance in zero-sum coordinates, and b at the mode, for one omega."""
    about = omega**2 * np.eye(len(s)) + v
    whole = about + FLAT**2 * np.outer(s, s)
    precision, t = np.linalg.inv(whole), np.zeros(len(s))
    for _ in range(STEPS):
        p = expit(x @ t)
        hessian = x.T @ ((p * (1 - p))[:, None] * x) + precision
        step = np.linalg.solve(hessian, x.T @ (y - p) - precision @ t)
        t = t + step * min(1.0, 3.0 / max(float(np.abs(step).max()), np.finfo(float).tiny))
        if np.abs(step).max() <= DONE:
            break
    eta = x @ t
    height = float(y @ eta - np.logaddexp(0.0, eta).sum()) - 0.5 * t @ precision @ t
    evidence = height - 0.5 * (np.linalg.slogdet(whole)[1] + np.linalg.slogdet(hessian)[1])
    covariance = np.linalg.inv(hessian)
    _, number, many = np.unique(question, return_inverse=True, return_counts=True)
    if many.max() > 1:
        of_question = np.zeros((len(many), len(s)))
        np.add.at(of_question, number, x * (y - expit(eta))[:, None])
        meat = of_question.T @ of_question * len(many) / (len(many) - 1)
        covariance = covariance @ (meat + precision) @ covariance
    toward = np.linalg.solve(about, s)
    slope = float(toward @ t / (toward @ s)) if s @ s > 0 else 1.0
    return float(evidence), t, covariance, slope
