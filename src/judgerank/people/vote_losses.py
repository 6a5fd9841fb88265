"""Which scores on the human scale to report: those that predict held-out human votes better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import expit

from judgerank.data.errors import JudgerankError
from judgerank.fits.result import Fit
from judgerank.people.anchor import anchored_by_people
from judgerank.people.items import HumanScores, Items
from judgerank.people.toward_panel import drawn_toward_panel

FOLDS, SEED = 5, 0


def vote_losses(items: Items, panel: Fit) -> dict[str, float]:
    """Log-loss of a human vote by scores that were fitted to the votes on other questions, in nats.

    Whole questions are held out, in five folds.

    Returns
    -------
    dict of str to float
        ``toward_panel`` (`people.toward_panel`) and ``helped`` (`people.anchor`); NaN if a fold has no such fit.
    """
    questions = np.unique(items.question[items.asked])
    fold = np.random.default_rng(SEED).permutation(len(questions)) % FOLDS
    of_item = np.full(len(items.first), -1)
    of_item[items.asked] = fold[np.searchsorted(questions, items.question[items.asked])]
    estimators: dict[str, Callable[[Items], HumanScores]] = {
        "toward_panel": lambda some: drawn_toward_panel(some, panel),
        "helped": anchored_by_people,
    }
    return {name: _loss(items, of_item, estimator) for name, estimator in estimators.items()}


def _loss(items: Items, fold: np.ndarray, estimator: Callable[[Items], HumanScores]) -> float:
    total = 0.0
    for number in range(min(FOLDS, int(fold.max()) + 1)):
        out = fold == number
        try:
            scores = estimator(replace(items, human=np.where(out, np.nan, items.human))).scores
        except JudgerankError:
            return float("nan")
        p, y = expit(scores[items.first[out]] - scores[items.second[out]]), items.human[out]
        total -= float((y * np.log(p) + (1 - y) * np.log1p(-p)).sum())
    return total / int((fold >= 0).sum())
