"""Judges who share a position bias: whether it varies with how often each of them saw the candidate first.

Judges with few answers share a bias, which is right where each order had the same chance for each of them. In two
crowds with opposite biases and orders it is not: the bias then looks like quality, and no balance shows it.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr

from judgerank.data.arrays import FloatArray
from judgerank.gating.scores import sharing

SIGNIFICANT = 0.05  # one-sided, in the direction that favours, or hurts, the candidate
FEWEST_JUDGES = 8  # with a bias together, below which nothing is tested


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
