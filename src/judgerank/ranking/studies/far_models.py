"""Models that shrinkage moves by more than their standard error, and that lie far from all others.

Scores are drawn toward their mean as if models were alike but for the standard deviation tau. A new model far from
the rest, with few comparisons, is drawn by more than its interval allows for. With V the variance of its score s,
the comparisons alone say about s tau^2 / (tau^2 - V), with variance V tau^2 / (tau^2 - V). That is held against
the deviation of the other models.
"""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.listing import listed
from judgerank.inference.wald import two_sided
from judgerank.ranking.study import Component, Finding

RARE = 0.02  # chance of a model so far out, were all drawn alike


def of_component(component: Component) -> Finding:
    """A warning that names them."""
    reported = component.reported
    if not component.has_intervals or "scores" not in reported.spread:
        return Finding()
    models = np.array(reported.comparisons.models, object)
    shrunk_by = reported.dispersion * reported._inverse("expected")  # variances by which the fit shrinks
    error = np.sqrt(np.diag(shrunk_by)[: len(models)])
    far = far_from_the_rest(reported.scores.to_numpy(), error, reported.spread["scores"])
    if not far.any():
        return Finding()
    is_single = far.sum() == 1
    return Finding(
        [
            f"{listed(list(models[far]))} {'lies' if is_single else 'lie'} far from the other models and "
            f"{'has' if is_single else 'have'} few comparisons. Shrinkage moves "
            f"{'this score' if is_single else 'these scores'} "
            "toward the others by more than the interval says. Compare more, or use --solver newton, which does "
            "not shrink."
        ]
    )


def far_from_the_rest(scores: FloatArray, error: FloatArray, tau: float) -> BoolArray:
    """Which shrunk scores are drawn from far out by more than their errors, shape (N,).

    Parameters
    ----------
    scores, error : float array, shape (N,)
        Shrunk scores, with mean zero, and their standard errors.
    tau : float
        Standard deviation that scores are shrunk by, in the same units.
    """
    n, variance = len(scores), error**2
    left = tau**2 - variance
    identified = left > 0
    factor = np.divide(tau**2, left, out=np.ones(n), where=identified)
    alone, of_others = factor * scores, (np.sum(scores**2 + variance) - scores**2 - variance) / max(n - 1, 1)
    z = alone / np.sqrt(of_others + factor * variance)
    shifted = np.abs(alone - scores) > error
    far: BoolArray = identified & shifted & (two_sided(z) <= RARE)
    return far
