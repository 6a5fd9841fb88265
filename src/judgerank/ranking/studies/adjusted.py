"""Further blocks: what judges do besides judging quality, and how that changes the ranking."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.fits.block_sentences import sentences
from judgerank.fits.fitted import Fitted
from judgerank.fits.result import Fit
from judgerank.fits.testing import without_blocks
from judgerank.inference.wald import wald_by_covariance
from judgerank.order.pairs import orders, rank_intervals
from judgerank.order.scale import scale_of
from judgerank.ranking.study import Component, Finding

ALL = "all"  # categories together


def of_component(component: Component) -> Finding:
    """The tables ``blocks`` and ``adjusted``, and a remark on each block."""
    reported, level = component.reported, component.settings.level
    if not reported.blocks or not component.has_intervals:
        return Finding()
    without = without_blocks(reported)
    return Finding(sentences(reported, without, level), block_tables(reported, without, level))


def block_tables(result: Fit, without: Fitted, level: float) -> dict[str, pd.DataFrame]:
    """Tables of the blocks' estimates, and of the models with them and without.

    Returns
    -------
    dict of str to DataFrame
        ``blocks``: ``block, parameter, estimate, standard_error, low, high``. ``adjusted``: ``category, model,
        score_without, score, low, high, rank_without, rank, rank_low, rank_high``; categories beside ``all`` if
        there is a block of them.
    """
    every = result.to_frame(level)
    selected = every[every["parameter"].isin([block.name for block in result.blocks])]
    estimates = selected.rename(columns={"parameter": "block", "name": "parameter"}).drop(columns="status")
    adjusted = pd.concat(
        [_board(result, without, category, level) for category in [None, *result.categories]], ignore_index=True
    )
    return {"blocks": estimates.reset_index(drop=True), "adjusted": adjusted}


def _board(result: Fit, unblocked: Fitted, category: str | None, level: float) -> pd.DataFrame:
    tests = result.order(category)
    order = next(iter(orders(result))) if category is None else tests
    ranks = rank_intervals([order], level).set_index("model")
    models = list(order.models)
    without = unblocked.scores * scale_of(unblocked).factor
    scores = result.scores_in(category)[models] * scale_of(result).factor
    low, high = wald_by_covariance(scores.to_numpy(), tests.covariance, level, np.diag(tests.by_pair))
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
