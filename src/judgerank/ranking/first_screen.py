"""The picture on the first screen of a page: the models as rows with intervals, in groups."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.listing import counted, shortened
from judgerank.fits.result import Fit
from judgerank.fits.standings import win_rate_intervals
from judgerank.ranking.headline import in_words
from judgerank.ranking.model_facts import FILTERS
from judgerank.ranking.page_options import Additions, Changelog
from judgerank.ranking.record import Record

WIDTH = 100.0  # of a drawn row, in its own units
MARGIN = 0.04  # of the range drawn, beside the outermost ends
LONGEST_NAME = 60
SHOWN = 60  # models of a component before a fold
UP, DOWN, NEW = "up", "down", "new"


@dataclass(frozen=True)
class Move:
    """A model's change of rank since an earlier ranking.

    Attributes
    ----------
    kind : str
        `UP`, `DOWN` or `NEW`.
    text, description : str
        As a sign, and in words.
    """

    kind: str
    text: str
    description: str


@dataclass(frozen=True)
class Row:
    """A model as it is drawn.

    Attributes
    ----------
    anchor : str
        To link to the row.
    ranks : str
        Its rank, or the range that its rank may have.
    model, name, maker : str
        The model; its name after a slash, if it has one, and before it.
    low, at, high : float
        Where the interval and the estimate are drawn, from 0 to `WIDTH`; the ends are NaN where there is none.
    rate, description : str
        The win rate, and in words with its interval.
    facts : dict of str to str
        What is known of it to filter by (`model_facts.FILTERS`).
    move : Move, optional
    """

    anchor: str
    ranks: str
    model: str
    name: str
    maker: str
    low: float
    at: float
    high: float
    rate: str
    description: str
    facts: dict[str, str]
    move: Move | None = None


@dataclass(frozen=True)
class Group:
    """Models no two of which are significantly different; `head` is empty for a model by itself."""

    head: str
    rows: list[Row]


@dataclass(frozen=True)
class Picture:
    """The rows of one component.

    Attributes
    ----------
    groups, more : list of Group
        Those shown at once, and those behind a fold.
    even : float
        Where a win rate of one half is drawn.
    intervals : bool
        Whether there are any.
    """

    groups: list[Group]
    more: list[Group]
    even: float
    intervals: bool

    @property
    def n_folded(self) -> int:
        """Models behind the fold."""
        return sum(len(group.rows) for group in self.more)


def pictures(ranking: Record, additions: Additions) -> list[Picture]:
    """The models of every component, best first."""
    board, level = ranking.tables["leaderboard"], ranking.settings.level
    parts = board["component"] if "component" in board else pd.Series(1, board.index)
    components = zip(ranking.fits, board.groupby(parts, sort=True), strict=True)
    return [picture(fitted, rows, level, ranking.anchors, additions) for fitted, (_, rows) in components]


def picture(
    fitted: Fit, board: pd.DataFrame, level: float, anchors: Mapping[str, str], additions: Additions | None = None
) -> Picture:
    """The models of a leaderboard.

    Parameters
    ----------
    fitted : Fit
        Behind the leaderboard.
    board : DataFrame
        As `judgerank.ranking.studies.leaderboard.board_of` returns it.
    level : float
        Of its intervals.
    anchors : mapping of str to str
        By model, to link to its row.
    additions : Additions, optional
        What else to show.
    """
    ends = win_rate_intervals(fitted, level).loc[board["model"]]
    rates = {"at": board["win_rate"].to_numpy(float), **{end: ends[end].to_numpy() for end in ends}}
    everything = np.concatenate([*rates.values(), [0.5]])
    least, most = np.nanmin(everything), np.nanmax(everything)
    margin = MARGIN * (most - least) or 1.0

    def drawn(rate: float) -> float:
        return round(WIDTH * (rate - least + margin) / (most - least + 2 * margin), 2)

    rows = []
    for number, line in enumerate(board.to_dict("records")):
        low, at, high = (float(rates[end][number]) for end in ("low", "at", "high"))
        description = f"win rate {at:.0%}" + (
            "" if np.isnan(low) else f", {level:.0%} interval {low:.0%} to {high:.0%}"
        )
        positions = drawn(low), drawn(at), drawn(high)
        rows.append(
            _row(line, anchors[line["model"]], positions, f"{at:.0%}", description, additions or Additions())
        )
    groups = _groups(board, rows)
    return Picture(*_folded(groups), drawn(0.5), not board["low"].isna().all())


def _row(
    line: Mapping[Hashable, Any],
    anchor: str,
    positions: tuple[float, float, float],
    rate: str,
    description: str,
    additions: Additions,
) -> Row:
    model = str(line["model"])
    maker, _, name = model.rpartition("/")
    facts: dict[str, str] = {}
    if additions.facts is not None:
        model_facts = additions.facts.loc[model] if model in additions.facts.index else pd.Series(dtype=object)
        facts = {fact: str(model_facts.get(fact, "")) for fact in FILTERS if fact in additions.facts}
        maker = facts.get("organisation") or maker
    move = None if additions.changelog is None else _move(model, additions.changelog)
    short = shortened(name, LONGEST_NAME), shortened(maker, LONGEST_NAME)
    return Row(anchor, _ranks(line), model, *short, *positions, rate, description, facts, move)


def _move(model: str, changelog: Changelog) -> Move | None:
    if model in changelog.new:
        return Move(NEW, "new", f"not in {changelog.since}")
    by = changelog.rank_changes.get(model, 0)
    if not by:
        return None
    sure = "a significant change of score" if model in changelog.significant else "no significant change of score"
    kind, sign = (UP, "\N{BLACK UP-POINTING TRIANGLE}") if by > 0 else (DOWN, "\N{BLACK DOWN-POINTING TRIANGLE}")
    return Move(kind, f"{sign}{abs(by)}", f"{kind} {counted(abs(by), 'rank')} since {changelog.since}, {sure}")


def _folded(groups: list[Group]) -> tuple[list[Group], list[Group]]:
    """Groups shown at once, of about `SHOWN` models, and the others."""
    cumulative = np.cumsum([len(group.rows) for group in groups])
    first = int(np.searchsorted(cumulative, SHOWN)) + 1
    return groups[:first], groups[first:]


def _ranks(line: Mapping[Hashable, Any]) -> str:
    low, high = line["rank_low"], line["rank_high"]
    if pd.isna(low):
        return str(line["rank"])
    return str(low) if low == high else f"{low}\N{EN DASH}{high}"


def _groups(board: pd.DataFrame, rows: list[Row]) -> list[Group]:
    if board["band"].isna().any():
        return [Group("", rows)]
    groups = []
    for band, members in groupby(zip(board["band"], rows, strict=True), key=lambda item: item[0]):
        among = [row for _, row in members]
        head = ""
        if len(among) > 1:
            these = f"these {in_words(len(among))}"
            head = (
                f"Tied for first: no significant difference between {these}"
                if band == 1
                else f"Group {band}: no significant differences"
            )
        groups.append(Group(head, among))
    return groups
