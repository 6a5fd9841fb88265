"""How well a fit predicts comparisons that it has not seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import xlog1py, xlogy

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.fits.result import Fit
from judgerank.model.block import Role


def losses(y: FloatArray, p: FloatArray) -> dict[str, float]:
    """Log-loss per comparison, and the share of decided ones whose winner had the larger probability.

    A probability of one half, as for a judge at zero, is half a hit.

    Parameters
    ----------
    y : float array, shape (T,)
        Outcomes, a tie being half a win; or their means, of which there is no accuracy.
    p : float array, shape (T,)
        Predicted means. They are held one rounding error away from zero and one, so that a loss is at most 36.
    """
    p = np.clip(p, np.finfo(float).eps, 1 - np.finfo(float).eps)
    decided = (y == 0) | (y == 1)
    lead = np.round(p[decided] - 0.5, 12)  # rounding error is no preference
    hits = float(np.mean((1 + np.sign(lead) * np.sign(y[decided] - 0.5)) / 2)) if decided.any() else np.nan
    return {"comparisons": len(y), "log_loss": -float(np.mean(xlogy(y, p) + xlog1py(1 - y, -p))), "accuracy": hits}


def three_outcomes(fitted: Fit, train: Comparisons, test: Comparisons) -> FloatArray:
    """Probabilities that the second model wins, of a tie, and that the first wins, shape (T, 3).

    Where a member takes ties for half a win, a judge ties as often as in training whoever is compared. Half a tie
    is added to every judge's, so that none is held to be impossible.
    """
    judge = pd.Index(train.judges).get_indexer(pd.Index(test.judges))[test.judge]
    n_answers = np.bincount(train.judge, train.count, len(train.judges))
    ties = np.bincount(train.judge, train.count * train.with_ties().known_ties, len(train.judges))
    p = fitted.probability(test)
    if fitted.model.has(Role.TIE):
        tie = fitted.tie_probability(test)
        # a judge who always tied in training may have no other answer left to be split
        decided = np.divide(p - tie / 2, 1 - tie, out=np.full(len(p), 0.5), where=tie < 1)
        tie = np.maximum(tie, 0.5 / (n_answers + 1)[judge])
    else:
        tie, decided = ((ties + 0.5) / (n_answers + 1))[judge], p
    return np.stack([(1 - tie) * (1 - decided), tie, (1 - tie) * decided], axis=1)


def losses_with_ties(fitted: Fit, train: Comparisons, test: Comparisons) -> FloatArray:
    """Log-loss of every row with a tie an outcome of its own (`three_outcomes`), shape (T,)."""
    p = np.maximum(three_outcomes(fitted, train, test), np.finfo(float).eps)
    tied = test.with_ties().known_ties
    share = np.stack([1 - test.outcome - tied / 2, tied, test.outcome - tied / 2], axis=1)
    return np.asarray(-(share * np.log(p)).sum(axis=1))
