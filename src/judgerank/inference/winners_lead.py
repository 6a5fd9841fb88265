"""The winner's curse: the lead of the first model, allowing for its having been picked by its score.

The first was chosen for its estimate, so its observed lead is too large on average. Scores that are shrunk toward
their mean by as much as their errors ask for are free of this, if true scores vary as a normal variable: what was
picked does not matter to a posterior mean (B. Efron, 2011, Tweedie's formula and selection bias, Journal of the
American Statistical Association 106, 1602-1614). The factor is James and Stein's, its positive part (B. Efron and
C. Morris, 1973, Stein's estimation rule and its competitors, Journal of the American Statistical Association 68,
117-130).
"""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray

LEAST_MODELS = 4  # from which there are degrees of freedom to estimate how much true scores vary


def shrinkage(scores: FloatArray, covariance: FloatArray) -> float | None:
    """Factor from 0 to 1 that takes estimated scores to their posterior means; None for fewer than four models.

    Parameters
    ----------
    scores : float array, shape (N,)
        Sum zero.
    covariance : float array, shape (N, N)
    """
    n = len(scores)
    if n < LEAST_MODELS:
        return None
    noise, total = float(np.trace(covariance)) / (n - 1), float(scores @ scores)
    return max(0.0, 1 - (n - 3) * noise / total) if total > 0 else 0.0


def corrected_lead(scores: FloatArray, covariance: FloatArray) -> float | None:
    """The lead of the first model over the second by scores that are shrunk toward their mean (`shrinkage`)."""
    factor = shrinkage(scores, covariance)
    if factor is None:
        return None
    second, first = np.sort(scores)[-2:]
    return float(factor * (first - second))
