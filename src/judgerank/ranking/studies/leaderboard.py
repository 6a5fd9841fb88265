"""The leaderboard: scores and ranks with their intervals, and groups."""

from __future__ import annotations

import pandas as pd

from judgerank.fits import presentation
from judgerank.order.claims import Claims
from judgerank.ranking.study import Component, Finding


def claims_of(board: pd.DataFrame, pairs: pd.DataFrame) -> Claims | None:
    """The claims on the models of a leaderboard; None where nothing was tested.

    Parameters
    ----------
    board : DataFrame
        ``model``, by falling score.
    pairs : DataFrame
        As `fits.presentation.pairs` gives them.
    """
    return Claims.of_table(list(board["model"]), pairs) if "separated" in pairs else None


def with_groups(board: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """A leaderboard with ``group`` (`Claims.groups`), missing where nothing was tested."""
    claims = claims_of(board, pairs)
    groups = pd.Series(pd.NA if claims is None else list(claims.groups), board.index, "string")
    return board.assign(group=groups)[[*board.columns.drop("comparisons"), "group", "comparisons"]]


def of_component(component: Component) -> Finding:
    """The table ``leaderboard``."""
    return Finding(tables={"leaderboard": board_of(component)})


def board_of(component: Component) -> pd.DataFrame:
    """The leaderboard of the shown fit."""
    return with_groups(presentation.leaderboard(component.reported, component.settings.level), component.pairs)
