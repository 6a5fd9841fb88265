"""How well members of the family predict comparisons they have not seen; folds are made of whole questions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.comparisons import Comparisons
from judgerank.datasets import Judgments
from judgerank.errors import ConfigError
from judgerank.fit import fit
from judgerank.simulate import generator


def folds_of(judgments: Judgments, n_folds: int, seed: int) -> np.ndarray:
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


def cross_validated(comparisons: Comparisons, members: list[str], fold: np.ndarray) -> pd.DataFrame:
    """Fit each member to all folds but one and predict that one.

    Returns
    -------
    DataFrame
        ``member, fold, comparisons, log_loss, accuracy``: log-loss per comparison, a tie being half a win, and the
        share of decided comparisons whose winner had the larger probability.
    """
    rows = []
    for number in range(fold.max() + 1):
        train, test = (comparisons.take(np.flatnonzero(keep)) for keep in (fold != number, fold == number))
        for member in members:
            p = fit(train, member).probability(test)
            y = test.outcome
            loss = -np.mean(y * np.log(p) + (1 - y) * np.log1p(-p))
            decided = y != 0.5
            hits = np.mean((p > 0.5)[decided] == (y == 1)[decided])
            rows.append((member, number, len(y), float(loss), float(hits)))
    return pd.DataFrame(rows, columns=["member", "fold", "comparisons", "log_loss", "accuracy"])
