"""Whether judges differ, and the tests for judges like these where they do.

Sign flips and bounds over questions are about the panel as it is. Where judges differ significantly, another panel
drawn as this one was may think otherwise. Then the error of the win rate holds the variance between judges, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.gating.rule import EQUIVALENCE, TWO_SIDED, Rule
from judgerank.gating.scores import sums

SIGNIFICANT = 0.05  # level of the test that judges differ
FEWEST_ANSWERS = 10  # of a judge whose own mean is tested
NEGLIGIBLE = 1e-9  # share of the largest variance below which a contrast of clones is nothing


@dataclass(frozen=True)
class JudgeDifferences:
    """Judges compared with each other, and the win rate by judges like these.

    Attributes
    ----------
    n_judges : int
        Judges with enough answers; of fewer than two nothing else is known.
    p_value : float
        Of "these judges agree", clustered by question.
    win_rate, error, degrees : float
        Mean of the judges' win rates; its standard error, clustered by question, with the variance between judges;
        and the degrees of freedom of that.
    """

    n_judges: int = 0
    p_value: float = 1.0
    win_rate: float = 0.5
    error: float = 0.0
    degrees: float = 1.0

    @property
    def differ(self) -> bool:
        """Whether judges differ significantly, so that verdicts are for judges like these."""
        return self.p_value <= SIGNIFICANT

    def p_above(self, threshold: float) -> float:
        """p-value of "judges like these prefer the candidate at most so often"."""
        if self.error == 0:
            return float(self.win_rate <= threshold)
        return float(stdtr(self.degrees, (threshold - self.win_rate) / self.error))

    def bounds(self, level: float) -> tuple[float, float]:
        """One-sided bounds of the win rate by judges like these, each at 1 - level."""
        reach = -float(stdtrit(self.degrees, level)) * self.error
        return max(self.win_rate - reach, 0.0), min(self.win_rate + reach, 1.0)

    def p_ship(self, rule: Rule) -> float:
        """p-value of "the candidate must not ship, by judges like these"."""
        if rule.mode == TWO_SIDED:
            return self.p_above(0.5)
        p_value = self.p_above(rule.lowest)
        return max(p_value, 1 - self.p_above(rule.highest)) if rule.mode == EQUIVALENCE else p_value

    def p_block(self, rule: Rule) -> float:
        """p-value of "nothing speaks against the candidate, by judges like these"."""
        better = self.p_above(0.5)
        return 2 * min(better, 1 - better) if rule.mode == EQUIVALENCE else 1 - better


def judge_differences(leads: FloatArray, unit: IntArray | None = None) -> JudgeDifferences:
    """Test whether judges differ, and estimate the win rate by judges like these.

    Parameters
    ----------
    leads : float array, shape (Q, K)
        Preference for the candidate less one half and less position bias; nan where there is none.
    unit : int array, shape (Q,), optional
        Number of the unit that was sampled behind each question; each question is one by default.

    Returns
    -------
    JudgeDifferences
        Of judges with at least `FEWEST_ANSWERS` answers. Where these gave less than half of all answers, as in a
        crowd, nothing is tested: there questions differ by their judges, and the tests over questions hold that.
    """
    is_answered = ~np.isnan(leads)
    enough = is_answered.sum(axis=0) >= FEWEST_ANSWERS
    if enough.sum() < 2 or 2 * is_answered[:, enough].sum() < is_answered.sum():
        return JudgeDifferences()
    counted = is_answered[:, enough].any(axis=1)
    leads = leads[:, enough][counted]
    means, n_questions = np.nanmean(leads, axis=0), len(leads)
    parts = np.nan_to_num(leads - means) / (~np.isnan(leads)).sum(axis=0)
    if unit is not None:
        parts = np.array([sums(column, unit[counted]) for column in parts.T]).T
        n_questions = len(parts)
        if n_questions < 2:
            return JudgeDifferences()
    covariance = parts.T @ parts * n_questions / (n_questions - 1)
    return JudgeDifferences(
        len(means), _p_equal(means, covariance, n_questions), *_population(means, covariance, n_questions)
    )


def _population(means: FloatArray, covariance: FloatArray, n_questions: int) -> tuple[float, float, float]:
    """Win rate by judges like these, its standard error and degrees of freedom (Satterthwaite)."""
    n_judges = len(means)
    by_question = float(covariance.mean())
    among = float(means.var(ddof=1))
    by_chance = (float(np.trace(covariance)) / n_judges - by_question) * n_judges / (n_judges - 1)
    between = max(0.0, among - by_chance)
    variance = by_question + between / n_judges
    if between == 0 or variance == 0:
        return 0.5 + float(means.mean()), float(np.sqrt(variance)), float(n_questions - 1)
    spread = by_question**2 / (n_questions - 1) + (among / n_judges) ** 2 / (n_judges - 1)
    return 0.5 + float(means.mean()), float(np.sqrt(variance)), variance**2 / spread


def _p_equal(means: FloatArray, covariance: FloatArray, n_questions: int) -> float:
    """p-value of "all judges' means are equal", Hotelling's test with questions as the unit."""
    identity = np.eye(len(means))
    contrasts = identity[:, 1:] - identity[:, :1]
    variances, directions = np.linalg.eigh(contrasts.T @ covariance @ contrasts)
    kept = variances > NEGLIGIBLE * max(variances[-1], NEGLIGIBLE)
    distances = (means @ contrasts) @ directions
    if (np.abs(distances[~kept]) > NEGLIGIBLE).any():  # judges whose answers never vary, and differ
        return 0.0
    rank = int(kept.sum())
    remaining = n_questions - rank
    if rank == 0 or remaining < 1:
        return 1.0
    square = float((distances[kept] ** 2 / variances[kept]).sum())
    return float(fdtrc(rank, remaining, square * remaining / ((n_questions - 1) * rank)))
