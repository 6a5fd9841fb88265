"""The picture on the first screen of a page: the models as rows with intervals, in groups."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.comparisons import FEW_ANSWERS
from judgerank.data.listing import counted, listed, shortened
from judgerank.fits.presentation import win_rate_intervals
from judgerank.fits.result import Fit
from judgerank.ranking.choices import Record
from judgerank.ranking.page_options import FILTERS, Additions, Changelog
from judgerank.ranking.studies import by_judge, panel
from judgerank.ranking.studies.leaderboards import claims_of

# Who leads, in one line, by a leaderboard and the tests of its pairs.
NAMED = 3  # models in a sentence
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def largest(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the first component, where there are several."""
    return table[table["component"] == 1] if "component" in table else table


def in_words(number: int) -> str:
    """A small number as a word."""
    return WORDS[number] if number < len(WORDS) else f"{number:,}"


def headline(board: pd.DataFrame, pairs: pd.DataFrame, lacking: str = "data") -> str:
    """Who leads, without a full stop, by the claims on a leaderboard's models.

    Where nothing is claimed there is not enough of what is `lacking`.
    """
    claims, best = claims_of(board, pairs), board["model"].iloc[0]
    if claims is None:
        return f"{best} has the highest score"
    if not claims.has_any:
        return f"Not enough {lacking} to order {in_order(claims.models)}"
    shared, contenders = claims.shared_lead, claims.contenders
    lead = f"No clear leader: {in_words(len(shared))} models may be the best"
    if len(shared) <= 2:
        lead = f"{best} leads" if len(shared) == 1 else f"No clear leader: {best} or {shared[1]} may be the best"
    if not contenders:
        return lead
    who = contenders[0] if len(contenders) == 1 else f"{in_words(len(contenders))} others"
    return f"{lead}, but {who} may be as good"


def in_order(models: Sequence[str]) -> str:
    """Models that are not ordered, in words: their names, or of many how many there are."""
    if len(models) > NAMED:
        return f"the {in_words(len(models))} models"
    return " and ".join(filter(None, [listed(models[:-1]), models[-1]]))


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
    """Models drawn together, and what is said of them; empty where nothing is."""

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
        As `judgerank.ranking.studies.leaderboards.board_of` returns it.
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
    return Picture(*_groups(board, rows), drawn(0.5), not board["low"].isna().all())


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


def _ranks(line: Mapping[Hashable, Any]) -> str:
    low, high = line["rank_low"], line["rank_high"]
    if pd.isna(low):
        return str(line["rank"])
    return str(low) if low == high else f"{low}\N{EN DASH}{high}"


def _groups(board: pd.DataFrame, rows: list[Row]) -> tuple[list[Group], list[Group]]:
    """Groups shown at once, of `SHOWN` models, and behind the fold: those that may be the best, and the rest."""
    leads = board["rank_low"].eq(1).fillna(False).to_numpy(bool)
    n_leads = int(np.argmin(np.r_[leads, False]))
    head = ""
    if n_leads == len(board):
        head = "No significant difference between any two models"
    elif n_leads > 1:
        head = f"Tied for first: no significant difference between these {in_words(n_leads)}"
    shown = Group(head, rows[: min(n_leads, SHOWN)]), Group("", rows[n_leads:SHOWN])
    folded = Group("", rows[SHOWN:n_leads]), Group("", rows[max(n_leads, SHOWN) :])
    return [group for group in shown if group.rows], [group for group in folded if group.rows]


# The judges beside the models on the first screen of a page: a verdict on each, and the reason.
Line = Mapping[Hashable, Any]  # of the table of judges


@dataclass(frozen=True)
class Judge:
    """A judge as it is drawn.

    Attributes
    ----------
    name, short : str
    share : float
        Of the information, over the largest; NaN where unknown.
    problem, reason : str
        The verdict, and what it rests on.
    fine : bool
    """

    name: str
    short: str
    share: float
    problem: str
    reason: str
    fine: bool


def judges_of(ranking: Record) -> list[Judge]:
    """The judges of the largest component, those that tell most first."""
    table = largest(ranking.tables["judges"])
    table = table.sort_values("information", ascending=False, kind="stable")
    most, about = table["information"].max(), _About.of(ranking, table)
    return [
        Judge(
            line["judge"],
            shortened(line["judge"].rpartition("/")[2], LONGEST_NAME),
            line["information"] / most if most > 0 else float("nan"),
            line["verdict"],
            REASONS[panel.kind_of(line["verdict"])](line, about),
            line["verdict"] in (panel.FINE, panel.UNRATED, panel.UNBOUNDED),
        )
        for line in table.to_dict("records")
    ]


@dataclass(frozen=True)
class _About:
    """Values that a reason takes besides the judge's own line.

    Attributes
    ----------
    middle : float
        Median discrimination; NaN where there is none.
    few : int
        Answers below which they are few.
    level : float
        Of the tests.
    effects : DataFrame
        What single judges go by (`studies.by_judge`).
    """

    middle: float
    few: int
    level: float
    effects: pd.DataFrame

    @classmethod
    def of(cls, ranking: Record, judges: pd.DataFrame) -> _About:
        middle = judges["discrimination"].median() if "discrimination" in judges else np.nan
        effects = largest(ranking.tables.get("effects", pd.DataFrame()))
        return cls(middle, ranking.settings.few, ranking.settings.level, effects)


def _answers(line: Line) -> str:
    return f"{line['comparisons']:,.0f} answers"


def _fine(line: Line, _: _About) -> str:
    agrees, answers = line.get("agreement", np.nan), _answers(line)
    return answers if pd.isna(agrees) else f"agrees with the majority of the others in {agrees:.0%} of {answers}"


def _noisy(line: Line, about: _About) -> str:
    sharpness = line.get("discrimination", np.nan) / about.middle if about.middle > 0 else np.nan
    return f"separates better from worse models {sharpness:.0%} as sharply as the median judge"


def _by_position(line: Line, _: _About) -> str:
    which, sign = ("first", 1.0) if line["verdict"] == panel.LEANS[0] else ("second", -1.0)
    share = 1 / (1 + np.exp(-sign * line["position"]))
    return f"picks the {which} answer {share:.0%} of the time between two equal models"


def _contrary(line: Line, _: _About) -> str:
    against = f"{1 - line['agreement']:.0%} of {_answers(line)}"
    return f"answers against the majority of the others in {against}: are its labels swapped?"


def _same(line: Line, _: _About) -> str:
    judge = line["verdict"].removeprefix(panel.SAME)
    return f"its answers match those of {judge} far more often than any other judge's"


def _unsure(line: Line, about: _About) -> str:
    unclear = f"its {_answers(line)} do not show how well it separates better from worse models"
    low, high = (line.get(f"{end}_discrimination", np.nan) / about.middle for end in ("low", "high"))
    if line["comparisons"] < about.few or not np.isfinite(low + high):
        return unclear
    return f"{unclear}: {low:.0%} to {high:.0%} as sharply as the median judge"


# what a verdict rests on, in a sentence without a full stop, by its kind
REASONS: Mapping[str, Callable[[Line, _About], str]] = {
    panel.FINE: _fine,
    panel.NOISY: _noisy,
    panel.BY_POSITION: _by_position,
    panel.BY_EFFECT: lambda line, about: by_judge.reason(about.effects, line["judge"], about.level),
    panel.RANDOM: lambda _, __: "its answers do not follow the ranking, so they have little or no weight",
    panel.CONTRARY: _contrary,
    panel.COPY: _same,
    panel.UNSURE: _unsure,
    panel.UNRATED: lambda line, _: f"all judges have equal weight; {_answers(line)}",
    panel.TOO_FEW: lambda line, _: (
        f"{_answers(line)} in all, fewer than {FEW_ANSWERS} by each judge: they count with average weight"
    ),
    panel.UNBOUNDED: lambda line, _: f"none of its {_answers(line)} contradicts the ranking",
}
