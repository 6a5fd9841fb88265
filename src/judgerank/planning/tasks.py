"""Plans for boards of scores: on how many tasks two models have to be scored to separate them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from judgerank.data.errors import ConfigError, DataError
from judgerank.data.judgments import Judgments
from judgerank.fits.by_sizes import sizes_of
from judgerank.inference.wald import wald
from judgerank.ranking.score_boards import tasks_to_separate

GOAL = "pair_power"  # as plans of comparisons call it
COLUMNS = ["goal", "wanted", "first", "second", "difference", "low", "high", "tasks", "more"]


def tasks_plan(judgments: Judgments, pair: Sequence[str] | None, power: float, level: float) -> pd.DataFrame:
    """Tasks for a significant difference of two models, each pair tested by itself with a paired t-test.

    Parameters
    ----------
    judgments : Judgments
        Of one component, all made of scores.
    pair : sequence of str, optional
        Two models; by default every two neighbours by mean score.
    power : float
        Chance of a significant difference, if it is as estimated.
    level : float
        Confidence level.

    Returns
    -------
    DataFrame
        ``goal, wanted, first, second, difference, low, high, tasks, more``: ``tasks`` in all and ``more`` than
        there are; missing where a million are too few.

    Raises
    ------
    ConfigError
        If there is no such model.
    DataError
        If the scores do not give an error for every difference.
    """
    sizes, models = sizes_of(judgments), judgments.comparisons.models
    if sizes is None:
        raise DataError("no plan can be made from these scores: the models have too few tasks in common")
    ranking = np.argsort(-sizes.scores, kind="stable")
    neighbours = list(zip(ranking[:-1].tolist(), ranking[1:].tolist(), strict=True))
    rows = []
    for i, j in neighbours if pair is None else [_places(models, sizes.scores, pair)]:
        difference = sizes.scores[i] - sizes.scores[j]
        low, high = map(float, wald(difference, sizes.errors[i, j], level, sizes.degrees[i, j]))
        needed = tasks_to_separate(sizes, i, j, 1 - level, power)
        more = None if needed is None else max(needed - sizes.n_clusters, 0)
        rows.append((GOAL, power, models[i], models[j], difference, low, high, needed, more))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"tasks": "Int64", "more": "Int64"})


def _places(models: Sequence[str], scores: np.ndarray, pair: Sequence[str]) -> tuple[int, int]:
    unknown = [name for name in pair if name not in models]
    if unknown or pair[0] == pair[1]:
        raise ConfigError(
            f"a pair is of two different models of the file, and {(unknown or [pair[0]])[0]!r} is not"
        )
    i, j = (models.index(name) for name in pair)
    return (i, j) if scores[i] >= scores[j] else (j, i)
