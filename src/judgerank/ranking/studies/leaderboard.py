"""The leaderboard: scores and ranks with their intervals, and bands."""

from __future__ import annotations

import pandas as pd

from judgerank.fits import standings
from judgerank.ranking.bands import with_bands
from judgerank.ranking.study import Component, Finding


def of_component(component: Component) -> Finding:
    """The table ``leaderboard``."""
    return Finding(tables={"leaderboard": board_of(component)})


def board_of(component: Component) -> pd.DataFrame:
    """The leaderboard of the shown fit."""
    return with_bands(standings.leaderboard(component.reported, component.settings.level), component.pairs)
