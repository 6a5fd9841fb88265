"""Cross-validation of members of the family; folds consist of whole questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from judgerank.data.arrays import IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.judgments import Judgments
from judgerank.fits.heldout import losses, three_outcomes
from judgerank.fits.result import Fit

Fitter = Callable[[Comparisons], Fit]


def folds_of(judgments: Judgments, n_folds: int, seed: int) -> IntArray:
    """Fold of every comparison, shape (T,): questions are dealt to folds at random.

    Raises
    ------
    ConfigError
        If there are fewer questions than folds, or fewer than two folds.
    """
    n_questions = judgments.question.max() + 1
    if not 2 <= n_folds <= n_questions:
        raise ConfigError(f"{n_folds} folds cannot be made of {n_questions} questions")
    dealt = generator(seed, "folds", judgments.name).permutation(n_questions) % n_folds
    return dealt[judgments.question]


def cross_validated(comparisons: Comparisons, members: Mapping[str, Fitter], fold: IntArray) -> pd.DataFrame:
    """Fit each member to all folds but one and predict that one.

    Parameters
    ----------
    comparisons : Comparisons
        Raw rows.
    members : mapping of str to callable
        From comparisons to a fit, by name.
    fold : int array, shape (T,)

    Returns
    -------
    DataFrame
        ``member, fold, comparisons, log_loss, accuracy, log_loss_three``: log-loss per comparison, a tie being
        half a win; the share of decided comparisons whose winner had the larger probability; and log-loss with a
        tie being an outcome of its own (see `three_outcomes`).
    """
    rows = []
    for number in range(fold.max() + 1):
        train, test = (comparisons.take(np.flatnonzero(keep)) for keep in (fold != number, fold == number))
        y = test.outcome
        for member, fit_member in members.items():
            fitted = fit_member(train)
            p = fitted.probability(test)
            loss = losses(y, p)
            probability = np.take_along_axis(
                three_outcomes(fitted, train, test), (2 * y).astype(int)[:, None], axis=1
            )
            rows.append(
                {"member": member, "fold": number, **loss, "log_loss_three": -float(np.log(probability).mean())}
            )
    return pd.DataFrame(rows)
