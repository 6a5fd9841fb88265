"""Leaderboards by category, where the records name any."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from judgerank.data.errors import DataError, NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import Judgments
from judgerank.fits.result import Fit
from judgerank.ranking.components import parts_of
from judgerank.ranking.studies.leaderboard import board_of
from judgerank.ranking.study import Finding, Ranked, component_of
from judgerank.reading.from_tables import of_records

MOST = 30  # categories that are ranked by themselves
BY_CHANCE = "Each category is tested by itself, so among several, one may show a significant difference by chance."


def of_set(ranked: Ranked) -> Finding:
    """The table ``categories``, one leaderboard after the other, and remarks on them and on those without one.

    Each is fitted to its own judgments; where these fall apart, to those of the largest component.
    """
    boards, unranked, fits = [], [], dict[str, Fit]()
    settings = replace(ranked.settings, blocks=())
    for category, judgments in categories_of(ranked.judgments).items():
        try:
            fitted = component_of(parts_of(judgments.pool_few())[0], ranked.member, settings)
            board = board_of(fitted)
        except (DataError, NoMaximumError, NotIdentifiedError) as error:
            unranked.append(f"Category {category} is not ranked by itself: {error}.")
            continue
        boards.append(board.assign(category=category)[["category", *board.columns]])
        fits[category] = fitted.reported
    if not boards:
        return Finding(unranked)
    notes = [f"Categories: {BY_CHANCE}"] if len(boards) > 1 else []
    return Finding([*notes, *unranked], {"categories": pd.concat(boards, ignore_index=True)}, fits)


def categories_of(judgments: Judgments) -> dict[str, Judgments]:
    """The judgments of each category, by its name in alphabetical order; none unless there are two to `MOST`."""
    if "category" not in judgments.frame:
        return {}
    names = judgments.frame["category"].dropna().astype(str)
    if not 2 <= names.nunique() <= MOST:
        return {}
    return {str(name): of_records(judgments, rows.index) for name, rows in names.groupby(names, sort=True)}
