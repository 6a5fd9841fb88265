"""People as one more judge with tastes of their own: scores on the human scale, drawn toward the panel's.

People prefer model i to j with probability sigmoid(t_i - t_j). Their scores are those of the panel, times what a
person's vote tells of them, plus their own tastes:

    t = b s + u,   u_i normal with mean zero and standard deviation omega,   s normal about the panel's scores.

b is integrated out under a flat prior, and omega under a weak one, log omega being standard normal, over a grid.
For each omega the votes have a mode, a covariance and an evidence, in Laplace's approximation, and the posterior
is the mixture (as in `engine.hyperparameter_uncertainty`). So intervals allow for what is not known of b
and omega, nor of the panel's scores. What people said of a model counts the more, the more of it there is; a model
that people never saw gets what the panel lets one expect, with its error.

Votes and verdicts on one question are of the same answers, so their errors go together. The variance of the mode
squares what both do to it, question by question (`people.panel_steps`). Where the panel's part is not known, as of
a fit that was saved without its judgments, both errors count as independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import chdtrc, expit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.errors import DataError
from judgerank.engine.ascent import peak
from judgerank.engine.information import zero_sum_basis
from judgerank.fits.result import Fit
from judgerank.inference.clusters import effective_number
from judgerank.people.items import HumanScores, Items, PairedRows, SingleVotes

LEAST, MOST, POINTS = 0.02, 4.0, 15  # of omega's grid
FLAT = 10.0  # standard deviation of b's prior
ROUNDS = 3  # of b given tastes and tastes given b, which settles the panel's own error


@dataclass(frozen=True, eq=False, repr=False)
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

    @property
    def degrees_of_freedom(self) -> float:
        """One less than the effective number of questions asked, or of other units; at least one."""
        if (votes := self.items.counted_votes) is not None:
            return max(votes.effective - 1.0, 1.0)
        question = self.items.question[self.items.asked]
        return max(effective_number(question, np.ones(len(question))) - 1.0, 1.0)

    @property
    def drawn(self) -> Drawn:
        """The same without the items."""
        freedom = self.degrees_of_freedom
        return Drawn(self.scores, self.covariance, self.slope, self.spread, self.statistic, freedom)


def drawn_toward_panel(items: Items, panel: Fit) -> TowardPanel:
    """Scores on the human scale, those of the panel being what is expected without votes.

    Errors are clustered by question where people were asked about several items of one.

    Raises
    ------
    DataError
        If people were asked about fewer than two questions that the panel judged.
    NoIntervalError
        If the panel's scores have no errors.
    NoMaximumError
        If the climb to people's scores does not settle.
    """
    has_votes = items.asked
    if len(np.unique(items.question[has_votes])) < 2:
        raise DataError(
            "people and the panel have fewer than two questions in common, and this requires two or more"
        )
    rows = PairedRows(len(items.models), items.first[has_votes], items.second[has_votes])
    question = items.question[has_votes]
    steps = (
        None if items.steps is None else items.steps.of(np.unique(question)) @ zero_sum_basis(len(items.models))
    )
    evidence = Votes(rows, items.human[has_votes], question, steps, items.counted_votes, np.cumsum(has_votes) - 1)
    posterior = drawn(evidence, panel, items.models)
    return TowardPanel(
        items, posterior.scores, posterior.covariance, posterior.slope, posterior.spread, posterior.statistic
    )


class Drawn(NamedTuple):
    """Scores of people drawn toward a panel's: those of `TowardPanel`, without the items."""

    scores: FloatArray
    covariance: FloatArray
    slope: float
    spread: float
    statistic: float
    degrees_of_freedom: float = float(np.inf)


class Evidence(Protocol):
    """What is known of people's scores t, in zero-sum coordinates."""

    def at(self, t: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Log-likelihood, its gradient, and its information."""

    def meat(self, t: FloatArray) -> FloatArray | None:
        """Variance of the gradient by clusters; None where each observation is a cluster of its own."""

    def with_panel(self, t: FloatArray) -> FloatArray | None:
        """Covariance of the gradient with the panel's scores; None where it is not known."""


@dataclass(frozen=True)
class Votes:
    """Human votes: their models, the share for the first, and the question.

    ``steps`` are those of the panel's scores by question, in rising order and zero-sum coordinates, shape (Q, D).
    ``single`` are the votes one by one where other units than questions were sampled, and ``place`` the row of
    every item that they are on.
    """

    rows: PairedRows
    y: FloatArray
    question: IntArray
    steps: FloatArray | None = None
    single: SingleVotes | None = None
    place: IntArray | None = None

    def at(self, t: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """As `Evidence.at`."""
        return self.rows.logistic(self.y, np.ones(len(self.y)), t)

    def by_question(self, t: FloatArray) -> FloatArray:
        """Gradient of every question, shape (Q, D), times the root of Q / (Q - 1)."""
        questions, number = np.unique(self.question, return_inverse=True)
        n_questions = len(questions)
        gradients = self.rows.sums_by(number, n_questions, self.y - expit(self.rows.predictors(t)))
        return np.asarray(gradients * np.sqrt(n_questions / (n_questions - 1)))

    def meat(self, t: FloatArray) -> FloatArray | None:
        """As `Evidence.meat`: over questions, or the units that were sampled."""
        if self.single is not None and self.place is not None:
            votes, row = self.single, self.place[self.single.item]
            voted = PairedRows(self.rows.n, self.rows.first[row], self.rows.second[row])
            off = votes.weight * (votes.outcome - expit(voted.predictors(t)))
            scale = np.diag(self.at(t)[2])
            return votes.variance(lambda _, label, n_labels: voted.sums_by(label, n_labels, off), scale)
        gradients = self.by_question(t)
        return None if len(gradients) == len(self.y) else np.asarray(gradients.T @ gradients)

    def with_panel(self, t: FloatArray) -> FloatArray | None:
        """As `Evidence.with_panel`: over questions."""
        return None if self.steps is None else np.asarray(self.by_question(t).T @ self.steps)


@dataclass(frozen=True)
class Published:
    """Scores of a human board with normal errors: their precision, shape (D, D), and precision times scores."""

    precision: FloatArray
    weighted: FloatArray

    def at(self, t: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """As `Evidence.at`."""
        return (
            float(self.weighted @ t - 0.5 * t @ self.precision @ t),
            self.weighted - self.precision @ t,
            self.precision,
        )

    def meat(self, t: FloatArray) -> FloatArray | None:
        """As `Evidence.meat`: there are no clusters."""
        return None

    def with_panel(self, t: FloatArray) -> FloatArray | None:
        """As `Evidence.with_panel`: votes behind a board are not at hand."""
        return None


def drawn(evidence: Evidence, panel: Fit, models: tuple[str, ...]) -> Drawn:
    """Scores of people on some models, given what is known of them and the panel's scores.

    Raises
    ------
    NoIntervalError
        If the panel's scores have no errors.
    NoMaximumError
        If the climb to people's scores does not settle.
    """
    basis = zero_sum_basis(len(models))
    index = [panel.comparisons.models.index(model) for model in models]
    s = basis.T @ panel.scores.to_numpy()[index]
    v = basis.T @ panel.covariance[np.ix_(index, index)] @ basis
    grid, slope, t = np.geomspace(LEAST, MOST, POINTS), 1.0, np.zeros(len(s))
    for _ in range(ROUNDS):
        ends = []
        for omega in grid:
            ends.append(_posterior(evidence, s, v, slope, omega, t))
            t = ends[-1][1]  # where the next climb begins
        heights = np.array([end[0] for end in ends])
        weights = np.exp(heights - 0.5 * np.log(grid) ** 2 - heights.max())
        weights /= weights.sum()
        slope = float(weights @ [end[3] for end in ends])
    t = np.asarray(sum(w * end[1] for w, end in zip(weights, ends, strict=True)))
    covariance = sum(w * (end[2] + np.outer(end[1] - t, end[1] - t)) for w, end in zip(weights, ends, strict=True))
    gained = 2 * max(0.0, float(heights.max() - heights[0]))
    return Drawn(basis @ t, np.asarray(basis @ covariance @ basis.T), slope, float(weights @ grid), gained)


def _posterior(
    evidence: Evidence, s: FloatArray, v: FloatArray, slope: float, omega: float, start: FloatArray
) -> tuple[float, FloatArray, FloatArray, float]:
    """Log evidence, mode and covariance in zero-sum coordinates, and b at the mode, for one omega.

    ``v`` is the covariance of the panel's scores, and ``slope`` the b by which they count for people's.

    Raises
    ------
    NoMaximumError
        If the climb to the mode does not settle.
    """
    tastes, of_slope = omega**2 * np.eye(len(s)), FLAT**2 * np.outer(s, s)
    about = tastes + slope**2 * v
    total_covariance = about + of_slope
    precision = np.asarray(np.linalg.inv(total_covariance), float)

    def with_prior(t: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        height, gradient, information = evidence.at(t)
        return height - 0.5 * float(t @ precision @ t), gradient - precision @ t, information + precision

    t, height, hessian = peak(with_prior, start, "people's scores toward the panel's did not settle")
    marginal = height - 0.5 * (np.linalg.slogdet(total_covariance)[1] + np.linalg.slogdet(hessian)[1])
    follows = gradient_by_panel(s, precision, t)
    by_question = _variance_by_question(evidence, t, follows, v)
    if by_question is not None:
        covariance = by_question + precision @ (tastes + of_slope) @ precision
    else:
        meat = evidence.meat(t)
        covariance = hessian if meat is None else meat + precision
    inverse = np.asarray(np.linalg.inv(hessian), float)
    toward = np.linalg.solve(about, s)
    slope = float(toward @ t / (toward @ s)) if s @ s > 0 else 1.0
    return float(marginal), t, np.asarray(inverse @ covariance @ inverse), slope


def gradient_by_panel(s: FloatArray, precision: FloatArray, t: FloatArray) -> FloatArray:
    """Derivative of the prior's gradient in t, which is -P t, in the panel's scores s, shape (D, D).

    With P the inverse of A + f^2 s s': P (b + f^2 s t'P), where b = f^2 s'P t is the mean of b at t.
    """
    off = precision @ t
    return np.asarray(FLAT**2 * precision @ (float(s @ off) * np.eye(len(s)) + np.outer(s, off)))


def _variance_by_question(
    evidence: Evidence, t: FloatArray, follows: FloatArray, v: FloatArray
) -> FloatArray | None:
    """Variance of the gradient by the votes and the panel's scores together; None where steps are not known.

    The sum of (g + F d)(g + F d)', with g the gradient of the votes on a question, d its step of the panel's
    scores and F from `gradient_by_panel`. The squares of F d are those of all questions of the panel, and the
    variance of votes on a question each is their information. What would then be negative is zero.
    """
    across, meat = evidence.with_panel(t), evidence.meat(t)
    if across is None:
        return None
    mixed = across @ follows.T
    information = evidence.at(t)[2] if meat is None else meat
    values, vectors = np.linalg.eigh(information + mixed + mixed.T + follows @ v @ follows.T)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
