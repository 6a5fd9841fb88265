"""The leaderboard: scores and ranks with their intervals, and bands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from judgerank.data.arrays import BoolArray
from judgerank.fits import presentation
from judgerank.ranking.study import Component, Finding

# Bands: groups of neighbours in rank without a significant difference between any two.


def separated_matrix(models: Sequence[str], pairs: pd.DataFrame) -> BoolArray:
    """Which models are separated, from a table of pairs; bool array, shape (N, N), symmetric."""
    index = pd.Index(models)
    i, j = index.get_indexer(pd.Index(pairs["first"])), index.get_indexer(pd.Index(pairs["second"]))
    is_separated = np.zeros((len(models), len(models)), bool)
    is_separated[i, j] = is_separated[j, i] = pairs["separated"].fillna(False).to_numpy(bool)
    return is_separated


def bands_of(models: Sequence[str], pairs: pd.DataFrame) -> list[int]:
    """Number of the band of every model, counted from one at the top.

    A band begins with the best model that is in none, and takes in the next ones as long as none of its models is
    separated from them. Models of different bands need not be separated, but the first of a band is separated from
    one of the band before.

    Parameters
    ----------
    models : sequence of str
        Best first.
    pairs : DataFrame
        ``first, second, separated``, as `order.pairs.pairwise` gives them.
    """
    is_separated = separated_matrix(models, pairs)
    bands: list[int] = []
    start = 0
    for position in range(len(models)):
        if is_separated[position, start:position].any():
            start = position
        bands.append(1 + bands[-1] if bands and start == position else bands[-1] if bands else 1)
    return bands


def with_bands(board: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """A leaderboard with ``band`` (`bands.bands_of`), missing where the pairs say nothing of being separated."""
    is_tested = "separated" in pairs
    bands = pd.Series(bands_of(list(board["model"]), pairs) if is_tested else pd.NA, board.index, "Int64")
    return board.assign(band=bands)[[*board.columns.drop("comparisons"), "band", "comparisons"]]


def of_component(component: Component) -> Finding:
    """The table ``leaderboard``."""
    return Finding(tables={"leaderboard": board_of(component)})


def board_of(component: Component) -> pd.DataFrame:
    """The leaderboard of the shown fit."""
    return with_bands(presentation.leaderboard(component.reported, component.settings.level), component.pairs)
