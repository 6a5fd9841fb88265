"""Questions whose answers contradict the ranking, beyond what chance and the usual spread of answers explain.

A question follows the order as far as z = sum r x / sqrt(sum v x^2) is not below zero: r are its residuals, v
their variances, and x the differences of scores times discrimination. Where judges share a question, its answers
are better or worse for all of them. How much is estimated from how judges of the same two answers err together.
The distribution of z is simulated with such effects: answers' qualities drawn anew for every question, expected
answers on average those of the fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.model.draw_levels import levels_at
from judgerank.model.law import Law, outcomes
from judgerank.model.streams import generator
from judgerank.trust.flipped_residuals import FlippedResiduals

DRAWS, AT_ONCE = 199, 4_000_000  # sets simulated; numbers held at a time
TUNING, ROUNDS = 20, 3  # sets by which the spread of answers is tuned, and how often
WIDENING = 16 * np.sqrt(3) / (15 * np.pi)  # of a logit beside a probit, by which effects flatten answers
WIDEST = 5.0  # standard deviation of answers, in log-odds


@dataclass(frozen=True, eq=False)
class Design:
    """Rows of questions, as far as simulating them goes.

    Attributes
    ----------
    question, item, first, second : int array, shape (T,)
        Places of every row's question, of its question and pair, and of its two answers.
    sign : float array, shape (T,)
        Whether the model with the lower number stands first, 1 or -1.
    eta, gamma, lead, variance, count, tied : float array, shape (T,)
        Predictor, discrimination, the part of the predictor that is of the models, variance, number of answers,
        share of ties of the judge.
    nu : float array, shape (T,), optional
    log_strong : tuple of float arrays, shape (T,)
        Thresholds of the levels, where ties and strength are outcomes.
    """

    question: IntArray
    item: IntArray
    first: IntArray
    second: IntArray
    sign: FloatArray
    eta: FloatArray
    gamma: FloatArray
    lead: FloatArray
    variance: FloatArray
    count: FloatArray
    tied: FloatArray
    mean: FloatArray
    nu: FloatArray | None = None
    log_strong: tuple[FloatArray, ...] = ()

    @classmethod
    def of(cls, flips: FlippedResiduals) -> Design:
        rows, terms, q = flips.rows, flips.here, flips.question
        n, low, high = len(rows.models), np.minimum(rows.first, rows.second), np.maximum(rows.first, rows.second)
        item = np.unique((q * n + low).astype(np.int64) * n + high, return_inverse=True)[1]
        answer = np.unique(np.r_[q * n + rows.first, q * n + rows.second], return_inverse=True)[1]
        tied = np.bincount(rows.judge, rows.count * (rows.outcome == 0.5), len(rows.judges))
        share = (tied / np.bincount(rows.judge, rows.count, len(rows.judges)))[rows.judge]
        return cls(
            q,
            item,
            answer[: len(q)],
            answer[len(q) :],
            np.where(rows.first < rows.second, 1.0, -1.0),
            terms.eta,
            np.ones(len(q)) if terms.g is None else terms.g,
            terms.signal,
            flips.variance,
            rows.count,
            share,
            terms.law.mean,
            terms.nu,
            terms.log_strong,
        )

    def slopes(self, residual: FloatArray) -> FloatArray:
        """z of every question, shape (..., Q), for residuals of shape (..., T)."""
        n_questions = int(self.question.max()) + 1
        information = np.bincount(self.question, self.variance * self.lead**2, n_questions)
        flat = residual.reshape(-1, len(self.lead))
        summed = np.array([np.bincount(self.question, row * self.lead, n_questions) for row in flat])
        return (summed / np.sqrt(np.maximum(information, np.finfo(float).tiny))).reshape(
            *residual.shape[:-1], n_questions
        )

    def shared(self, residual: FloatArray) -> float:
        """Covariance of judges' residuals on the same two answers, in log-odds squared; zero where none share."""
        information = np.bincount(self.item, self.variance * self.gamma)
        norm = float((information**2).sum() - ((self.variance * self.gamma) ** 2).sum())
        if norm <= 1e-9:
            return 0.0
        signed = (residual * self.sign).reshape(-1, len(self.sign))
        cross = [(np.bincount(self.item, row) ** 2).sum() - (row**2).sum() for row in signed]
        return float(np.mean(cross)) / norm

    def simulated(self, rng: np.random.Generator, sd: float, n_draws: int) -> Iterator[FloatArray]:
        """Residuals of sets drawn with answers of a standard deviation, some sets at a time, shape (sets, T)."""
        size = max(1, AT_ONCE // len(self.eta))
        wider = self.eta * np.sqrt(1 + 2 * (WIDENING * self.gamma * sd) ** 2)
        answers = max(int(self.first.max()), int(self.second.max())) + 1
        for start in range(0, n_draws, size):
            now = min(size, n_draws - start)
            e = sd * rng.standard_normal((now, answers)) if sd > 0 else None
            drawn = rng.random((now, len(wider)))
            for position, chance in enumerate(drawn):  # one by one, since a processor's cache holds one
                eta = wider
                if e is not None:
                    eta = wider + self.gamma * (e[position].take(self.first) - e[position].take(self.second))
                drawn[position] = self.count * (self._answers(eta, chance) - self.mean)
            yield drawn

    def _answers(self, eta: FloatArray, chance: FloatArray) -> FloatArray:
        """Outcomes at predictors by uniform draws, shape (T,)."""
        if self.nu is None and not self.log_strong:
            p = expit(eta)
            # a tie has the judge's share, so that the expected answer is p all the same
            half = np.minimum(self.tied / 2, np.minimum(p, 1 - p))
            return ((chance < p - half).astype(float) + (chance < p + half)) / 2
        law = Law(eta, self.nu, *self.log_strong)
        return outcomes(len(self.log_strong))[levels_at(law.levels, chance)]


def spread_of_answers(design: Design, residual: FloatArray, rng: np.random.Generator) -> float:
    """Standard deviation of answers with which simulated judges err together as much as these do."""
    wanted = design.shared(residual)
    if wanted <= 0:
        return 0.0
    sd = np.sqrt(wanted / 2)
    for _ in range(ROUNDS):
        shared_variance = (
            sum([design.shared(draws) * len(draws) for draws in design.simulated(rng, sd, TUNING)]) / TUNING
        )
        sd = min(sd * np.sqrt(wanted / max(shared_variance, wanted / 9)), WIDEST)
    return float(sd)


def against_the_order(flips: FlippedResiduals) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Statistics of the questions, their p-values and those adjusted for all of them, and the spread of answers.

    Returns
    -------
    z, p_value, p_adjusted : float array, shape (Q,)
        Low values of z are against the order. Adjusted by the largest of all questions' statistics, each in units
        of its simulated standard deviation (Westfall and Young, 1993).
    sd : float
        Of answers about their models, in log-odds.
    """
    design, residual = Design.of(flips), flips.here.residual
    rng = generator(0, "odd questions", len(residual), int(flips.question.max()))
    sd = spread_of_answers(design, residual, rng)
    drawn = np.concatenate([design.slopes(draws) for draws in design.simulated(rng, sd, DRAWS)])
    z = design.slopes(residual)
    spread = np.maximum(drawn.std(axis=0), 1.0)  # that of independent answers, which few draws may not show
    mean = drawn.mean(axis=0)
    away, usual = (mean - z) / spread, (mean - drawn) / spread
    p = (1 + (usual >= away - 1e-9).sum(axis=0)) / (1 + DRAWS)
    adjusted = (1 + (usual.max(axis=1)[:, None] >= away - 1e-9).sum(axis=0)) / (1 + DRAWS)
    return z, p, adjusted, sd
