"""The judges beside the models on the first screen of a page: a verdict on each, and the reason."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.listing import shortened
from judgerank.ranking.first_screen import LONGEST_NAME
from judgerank.ranking.headline import largest
from judgerank.ranking.record import Record
from judgerank.ranking.studies import by_judge, panel

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
            line["verdict"] == panel.FINE,
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


def _by_effect(line: Line, about: _About) -> str:
    return by_judge.reason(about.effects, line["judge"], about.level)


def _random(_: Line, __: _About) -> str:
    return "its answers do not follow the ranking, so they have little or no weight"


def _same(line: Line, _: _About) -> str:
    judge = line["verdict"].removeprefix(panel.SAME)
    return f"its answers match those of {judge} far more often than any other judge's"


def _unsure(line: Line, about: _About) -> str:
    if line["comparisons"] < about.few:
        return f"{_answers(line)} are too few to tell"
    return f"its {_answers(line)} do not tell how well they follow the ranking"


def _unbounded(line: Line, _: _About) -> str:
    return f"none of its {_answers(line)} contradicts the ranking, so its weight has no upper limit"


# what a verdict rests on, in a sentence without a full stop, by its kind
REASONS: Mapping[str, Callable[[Line, _About], str]] = {
    panel.FINE: _fine,
    panel.NOISY: _noisy,
    panel.BY_POSITION: _by_position,
    panel.BY_EFFECT: _by_effect,
    panel.RANDOM: _random,
    panel.COPY: _same,
    panel.UNSURE: _unsure,
    panel.UNBOUNDED: _unbounded,
}
