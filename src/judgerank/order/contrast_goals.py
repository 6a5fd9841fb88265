"""Goals of further comparisons: differences of scores, whatever their scale.

Which of two models is better does not hang on the scale. So the aim is the scores on whatever scale they are known
best: of all weights w with sum one, under which ds becomes ds + s w' dalpha, those whose scale s' ds / s's varies
least. They are the regression of the scale on the log-discriminations. On the reported scale, answers by a judge
who is known badly would seem to tell much, since they pin down its weight.
"""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.engine.information import zero_sum_basis
from judgerank.inference.uncertainty import Uncertainty
from judgerank.order.scale import scale_of

# variances of log-discriminations that count as none: beside the largest, and by themselves
RELATIVE, EXACT = 1e-13, 1e-20


def best_known(scores: FloatArray, covariance: FloatArray, n_judges: int) -> FloatArray:
    """Derivatives of the scores in the free parameters, the best-known scale held, shape (N, D).

    Parameters
    ----------
    scores : float array, shape (N,)
    covariance : float array, shape (D, D)
        Of (s, alpha, ...), scores and log-discriminations summing to zero.
    n_judges : int
        Size of the second block.
    """
    n = len(scores)
    directions = np.eye(n, len(covariance))
    if n_judges < 2 or not scores.any():
        return directions
    basis, judges = zero_sum_basis(n_judges), slice(n, n + n_judges)
    alpha = basis.T @ covariance[judges, judges] @ basis
    # singular with fewer clusters than judges, or where judges answer as one: what is left there is rounding
    most = max(float(np.abs(alpha).max()), np.finfo(float).tiny)
    inverse = np.linalg.pinv(alpha, rcond=max(RELATIVE, EXACT / most), hermitian=True)
    weights = -inverse @ (basis.T @ covariance[judges, :n] @ scores) / (scores @ scores)
    directions[:, judges] = np.outer(scores, basis @ weights)
    return directions


def best_known_scores(fitted: Uncertainty) -> FloatArray:
    """`best_known` of a fit, in reported units.

    Raises
    ------
    NoIntervalError
        If the fit has no covariance.
    """
    directions = best_known(fitted.scores.to_numpy(), fitted.covariance, fitted.n_free_discriminations)
    return scale_of(fitted).factor * directions
