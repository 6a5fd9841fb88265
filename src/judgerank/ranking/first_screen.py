"""What the first screen of a page draws: the models as rows with intervals, in groups, and the judges beside."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.listing import shortened
from judgerank.fits.standings import win_rates
from judgerank.ranking.record import Record
from judgerank.ranking.studies import panel
from judgerank.ranking.verdict import in_words, largest

WIDTH = 100.0  # of a drawn row, in its own units
MARGIN = 0.04  # of the range drawn, beside the outermost ends
LONGEST_NAME = 60
SHOWN = 60  # models of a component before a fold
PROBLEMS = {
    panel.TRUST: "fine",
    panel.WEAK: "noisy",
    panel.SILENT: "against the ranking, or random",
    panel.UNSURE: "too few answers",
    panel.UNBOUNDED: "too few answers: never contradicts the ranking",
    panel.LEANS[0]: "favours the first answer",
    panel.LEANS[1]: "favours the second answer",
}


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
    rate, told : str
        The win rate, and in words with its interval.
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
    told: str


@dataclass(frozen=True)
class Group:
    """Models no two of which are significantly different; `head` is empty for a model by itself."""

    head: str
    rows: list[Row]


@dataclass(frozen=True)
class Judge:
    """A judge as it is drawn; `share` is of the information, over the largest, and NaN where unknown."""

    name: str
    short: str
    share: float
    problem: str
    fine: bool


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
    def many(self) -> int:
        """Models behind the fold."""
        return sum(len(group.rows) for group in self.more)


def pictures(ranking: Record) -> list[Picture]:
    """The models of every component, best first."""
    board = ranking.tables["leaderboard"]
    parts = board["component"] if "component" in board else pd.Series(1, board.index)
    anchors = dict(zip(board["model"], _anchors(list(board["model"])), strict=True))
    by_part = enumerate(board.groupby(parts, sort=True))
    return [_picture(ranking, rows, number, anchors) for number, (_, rows) in by_part]


def _picture(ranking: Record, board: pd.DataFrame, component: int, anchors: dict[str, str]) -> Picture:
    fitted = ranking.fits[component]
    ends = {end: win_rates(fitted, board.set_index("model")[end]) for end in ("low", "high")}
    rates = {"at": board["win_rate"].to_numpy(float), **ends}
    everything = np.concatenate([*rates.values(), [0.5]])
    least, most = np.nanmin(everything), np.nanmax(everything)
    margin = MARGIN * (most - least) or 1.0

    def drawn(rate: float) -> float:
        return round(WIDTH * (rate - least + margin) / (most - least + 2 * margin), 2)

    level = f"{ranking.settings.level:.0%}"
    rows = []
    for number, line in enumerate(board.to_dict("records")):
        low, at, high = (float(rates[end][number]) for end in ("low", "at", "high"))
        maker, _, name = str(line["model"]).rpartition("/")
        told = f"win rate {at:.0%}" + ("" if np.isnan(low) else f", {level} interval {low:.0%} to {high:.0%}")
        places = drawn(low), drawn(at), drawn(high)
        short = shortened(name, LONGEST_NAME), shortened(maker, LONGEST_NAME)
        rows.append(Row(anchors[line["model"]], _ranks(line), line["model"], *short, *places, f"{at:.0%}", told))
    groups = _groups(board, rows)
    return Picture(*_folded(groups), drawn(0.5), not board["low"].isna().all())


def _folded(groups: list[Group]) -> tuple[list[Group], list[Group]]:
    """Groups shown at once, of about `SHOWN` models, and the others."""
    many = np.cumsum([len(group.rows) for group in groups])
    first = int(np.searchsorted(many, SHOWN)) + 1
    return groups[:first], groups[first:]


def _ranks(line: Mapping[Hashable, Any]) -> str:
    low, high = line["rank_low"], line["rank_high"]
    if pd.isna(low):
        return str(line["rank"])
    return str(low) if low == high else f"{low}\N{EN DASH}{high}"


def _groups(board: pd.DataFrame, rows: list[Row]) -> list[Group]:
    if board["band"].isna().any():
        return [Group("", rows)]
    found = []
    for band, members in groupby(zip(board["band"], rows, strict=True), key=lambda one: one[0]):
        among = [row for _, row in members]
        head = ""
        if len(among) > 1:
            these = f"these {in_words(len(among))}"
            head = (
                f"Tied for first: no significant difference between {these}"
                if band == 1
                else f"Group {band}: no significant difference between {these}"
            )
        found.append(Group(head, among))
    return found


def _anchors(names: list[str]) -> list[str]:
    """A different anchor for every model, made of its name."""
    found: dict[str, int] = {}
    anchors = []
    for name in names:
        anchor = "model-" + (re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-").lower() or "unnamed")[:80]
        found[anchor] = found.get(anchor, 0) + 1
        anchors.append(anchor if found[anchor] == 1 else f"{anchor}--{found[anchor]}")
    return anchors


def _problem(verdict: str) -> str:
    """What is wrong with a judge, in words."""
    if verdict.startswith(panel.SAME):
        return f"duplicates {verdict.removeprefix(panel.SAME)}"
    return PROBLEMS.get(verdict, verdict)


def judges_of(ranking: Record) -> list[Judge]:
    """The judges of the largest component, those that tell most first."""
    table = largest(ranking.tables["judges"])
    table = table.sort_values("information", ascending=False, kind="stable")
    most = table["information"].max()
    return [
        Judge(
            line["judge"],
            shortened(line["judge"].rpartition("/")[2], LONGEST_NAME),
            line["information"] / most if most > 0 else float("nan"),
            _problem(line["verdict"]),
            line["verdict"] == panel.TRUST,
        )
        for line in table.to_dict("records")
    ]
