"""Judges with few answers: they share a position bias only where each order had the same chance for each of them.

In two crowds with opposite biases and orders the bias looks like quality, and no balance shows it. As many answers
of every judge in one order as in the other are free of it, whatever the crowds. Where orders were drawn at random,
all answers count, unless the bias varies with how often each judge saw the candidate first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.gating.decision import bounds, p_values
from judgerank.gating.rule import Rule
from judgerank.gating.scores import Scores, evened_by_judge, scored, sharing

SIGNIFICANT = 0.05  # one-sided, in the direction that favours, or hurts, the candidate
FEWEST_JUDGES = 8  # with a bias together, below which nothing is tested


@dataclass(frozen=True)
class WithinJudges:
    """Judges with few answers, compared with themselves alone.

    Attributes
    ----------
    n_judges : int
        Judges who would have one position bias together.
    scores : Scores, optional
        Of the answers of which each of these gave as many in one order as in the other, and of all others; None
        where nothing is left.
    """

    n_judges: int
    scores: Scores | None

    def p_values(self, rule: Rule) -> tuple[float, float]:
        """p-values of "the candidate must not ship" and of "nothing speaks against the candidate"."""
        return (1.0, 1.0) if self.scores is None else p_values(self.scores, rule)

    def bounds(self, rule: Rule) -> tuple[float, float]:
        """One-sided confidence bounds of the win rate, each at the level of the look."""
        return (0.0, 1.0) if self.scores is None else bounds(self.scores, rule)


def within_judges(preference: FloatArray, first: FloatArray, unit: IntArray | None = None) -> WithinJudges | None:
    """Compare judges with few answers with themselves; None where there is no crowd of them.

    Parameters
    ----------
    preference, first, unit
        As of `judgerank.gating.scores.scored`.
    """
    judges = sharing(preference, first)
    if len(judges) < FEWEST_JUDGES:
        return None
    evened = evened_by_judge(preference, first, judges)
    is_judged = ~np.isnan(evened).all(axis=1)
    if not is_judged.any():
        return WithinJudges(len(judges), None)
    of_unit = None if unit is None else unit[is_judged]
    return WithinJudges(len(judges), scored(evened[is_judged], first[is_judged], of_unit))


def favours_by_order(preference: FloatArray, first: FloatArray) -> float:
    """t statistic's chance that a shared bias favours the candidate: small where it does, near 1 where it hurts.

    The lead is regressed on the side, and on the side times the judge's mean side, with judges as the unit: if the
    judges who mostly saw the candidate first favour the first answer more, the bias taken off is too small.

    Parameters
    ----------
    preference, first : float array, shape (Q, K)
        As of `judgerank.gating.scores.scored`.
    """
    judges = sharing(preference, first)
    if len(judges) < FEWEST_JUDGES:
        return 0.5
    row, column = np.nonzero(~np.isnan(preference[:, judges]) & (np.abs(first[:, judges]) == 1))
    side, lead = first[:, judges][row, column], preference[:, judges][row, column] - 0.5
    n_answers = np.bincount(column, minlength=len(judges))
    mean_side = np.bincount(column, side, len(judges)) / np.maximum(n_answers, 1)
    design = np.column_stack([np.ones(len(side)), side, side * mean_side[column]])
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ design.T @ lead
    parts = np.zeros((len(judges), 3))
    np.add.at(parts, column, design * (lead - design @ coefficients)[:, None])
    variance = float((inverse @ (parts.T @ parts) @ inverse)[2, 2])
    if variance <= 0 or np.linalg.matrix_rank(design) < 3:
        return 0.5
    return float(stdtr(len(judges) - 3, -coefficients[2] / np.sqrt(variance)))
