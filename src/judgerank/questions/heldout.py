"""How well whole questions are predicted that were not seen, with question effects and without."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.questions.fit import fit_known


def held_out(comparisons: Comparisons, question: IntArray, fold: IntArray, model: str) -> pd.DataFrame:
    """Fit all folds but one and predict that one, the answers to each question together.

    The log-loss of a question is minus the logarithm of its marginal likelihood: the second judge's answer is
    predicted with the first one's known, and so on. With one comparison to a question, it is the usual log-loss.

    Parameters
    ----------
    comparisons : Comparisons
    question, fold : int array, shape (T,)
        Questions are whole: all comparisons of one are in the same fold.
    model : str

    Returns
    -------
    DataFrame
        ``fold, question, comparisons, with_effects, without``: log-likelihoods of each question, held out.

    Raises
    ------
    NoMaximumError
        If the likelihood of some folds has no maximum.
    """
    parts = []
    for number in np.unique(fold):
        train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        fitted = fit_known(comparisons.take(train), question[train], model)
        table = fitted.log_likelihoods(comparisons.take(test), question[test])
        parts.append(table.assign(fold=number))
    whole = pd.concat(parts, ignore_index=True)
    return whole[["fold", "question", "comparisons", "with_effects", "without"]]
