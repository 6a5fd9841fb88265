"""A ranking with further blocks: what judges do besides judging quality, and scores that allow for it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.blocks.fit import fit_blocks
from judgerank.blocks.report import sentences
from judgerank.blocks.result import BlockFit
from judgerank.data.errors import NoIntervalError, NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import Judgments
from judgerank.inference.wald import wald
from judgerank.order.pairs import rank_intervals
from judgerank.ranking import remarks
from judgerank.ranking.settings import Settings

ALL = "all"  # categories together


def with_blocks(judgments: Judgments, name: str, settings: Settings) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Tables ``blocks`` and ``adjusted``, and what to know of them.

    Parameters
    ----------
    judgments : Judgments
        A component of the comparison graph.
    name : str
        The member that ranks.
    settings : Settings

    Returns
    -------
    tables : dict of str to DataFrame
        ``blocks``: ``block, parameter, estimate, standard_error, low, high``. ``adjusted``: ``category, model,
        score_without, score, low, high, rank_without, rank, rank_low, rank_high``; categories beside ``all`` if
        there is a block of them. Empty if the blocks cannot be fitted.
    said : list of str

    Raises
    ------
    ConfigError, DataError
        If there is no such block, or the records lack what it needs.
    """
    try:
        result = fit_blocks(judgments, settings.blocks, name)
        said = remarks.on_questions(result.without, judgments.question) if "question_id" in judgments.frame else []
        if settings.cluster != "none" and "question_id" in judgments.frame and not said:
            result = result.clustered()
        told = sentences(result, settings.level)
        return _tables(result, settings.level), told
    except (NoMaximumError, NotIdentifiedError, NoIntervalError) as error:
        return {}, [f"Further blocks ({', '.join(settings.blocks)}) are left out: {error}."]


def _tables(result: BlockFit, level: float) -> dict[str, pd.DataFrame]:
    every = result.confidence_intervals(level)
    own = {block.name for block in result.blocks}
    estimates = every[every["block"].isin(own)].reset_index(drop=True)
    groups: list[str | None] = [None]
    if "category" in own:
        columns = result.parameters("category").index
        first = f"{result.records.comparisons.models[0]} in "
        groups += [label.removeprefix(first) for label in columns if label.startswith(first)]
    adjusted = pd.concat([_board(result, group, level) for group in groups], ignore_index=True)
    return {"blocks": estimates, "adjusted": adjusted}


def _board(result: BlockFit, category: str | None, level: float) -> pd.DataFrame:
    order = result.order(category)
    ranks = rank_intervals([order], level).set_index("model")
    models = list(order.models)
    without = result.without.scores
    scores = result.scores_in(category)[models]
    low, high = wald(scores.to_numpy(), np.sqrt(np.diag(order.covariance)), level, order.degrees_of_freedom)
    table = {
        "category": ALL if category is None else category,
        "model": models,
        "score_without": without[models].to_numpy(),
        "score": scores.to_numpy(),
        "low": low,
        "high": high,
        "rank_without": without.rank(ascending=False, method="first").astype(int)[models].to_numpy(),
        "rank": ranks.loc[models, "rank"].to_numpy(),
        "rank_low": ranks.loc[models, "low"].to_numpy(),
        "rank_high": ranks.loc[models, "high"].to_numpy(),
    }
    return pd.DataFrame(table)
