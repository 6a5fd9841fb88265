"""A leader who has the votes of a judge that favours its own answers: the ranking without that judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.data.cache import remembered
from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import listed
from judgerank.fits.result import Fit
from judgerank.fits.standings import pairs
from judgerank.model.kinds.family import MAKER, OWN, families_of, own_table, plain
from judgerank.ranking.choices import Settings
from judgerank.ranking.component_fit import component_of
from judgerank.ranking.components import parts_of
from judgerank.ranking.headline import headline
from judgerank.ranking.record import Record
from judgerank.ranking.studies.leaderboard import board_of
from judgerank.reading.from_tables import of_records

NAMED = 4  # models in a sentence
FAVOURS = {f"favours {OWN}": OWN, f"favours {MAKER}": MAKER}  # the verdicts, and whose answers they are on


@dataclass(frozen=True)
class Without:
    """The ranking without some judges.

    Attributes
    ----------
    judges : tuple of str
    headline : str
        Who leads without them.
    leaders : list of str
        All models that do.
    same : bool
        Whether these are the leaders by all judgments.
    """

    judges: tuple[str, ...]
    headline: str
    leaders: list[str]
    same: bool

    @property
    def who(self) -> str:
        """The judges."""
        return f"{'judge' if len(self.judges) == 1 else 'judges'} {listed(self.judges)}"

    def sentence(self) -> str:
        """Who leads without them."""
        names = f" ({listed(self.leaders)})" if 2 < len(self.leaders) <= NAMED else ""
        return f"Without {self.who}: {self.headline}{names}."

    @property
    def condition(self) -> str:
        """The condition on the headline of all judgments, to follow a comma."""
        return "" if self.same else f"but not without the votes of {self.who}"

    @property
    def next(self) -> str:
        """Advice on how to settle who leads; empty where it is settled."""
        if self.same:
            return ""
        return f"To settle who leads, collect more answers from judges other than {listed(self.judges)}."


def without_partial(ranking: Record, board: pd.DataFrame, judges: pd.DataFrame) -> Without | None:
    """The ranking without the judges who favour a model that leads, or that is tied for the lead.

    None where there is none of them, where nobody is left, or where the others make no ranking.
    """
    leaders = list(board["model"][board["band"].eq(1).fillna(False)])
    partial = tuple(
        judge
        for judge, verdict in zip(judges["judge"], judges["verdict"], strict=True)
        if verdict in FAVOURS and _favoured(judge, FAVOURS[verdict], leaders)
    )
    if not partial or len(ranking.fits) != 1 or len(partial) == len(ranking.judgments.comparisons.judges):
        return None
    try:
        fitted, remaining_board = without(ranking, partial)
    except (JudgerankError, np.linalg.LinAlgError):
        return None
    lead = headline(remaining_board, pairs(fitted, ranking.settings.level))
    best = list(remaining_board["model"][remaining_board["band"].eq(1).fillna(False)])
    return Without(partial, lead, best, {*best} == {*leaders})


def _favoured(judge: str, whose: str, models: Sequence[str]) -> bool:
    """Whether some of these models are a judge's own, or its maker's others."""
    if whose == OWN:
        return any(plain(judge) == plain(model) for model in models)
    maker, *makers = families_of([judge, *models], own_table())
    return maker != "" and maker in makers


@remembered
def without(ranking: Record, judges: tuple[str, ...]) -> tuple[Fit, pd.DataFrame]:
    """The fit without the judgments of some judges, and its leaderboard.

    Raises
    ------
    JudgerankError
        If the others make no ranking.
    """
    judgments = ranking.judgments
    remaining = of_records(judgments, ~judgments.frame["judge_model"].isin(judges))
    return refitted(ranking, remaining, ranking.settings)


def refitted(ranking: Record, judgments: Judgments, settings: Settings) -> tuple[Fit, pd.DataFrame]:
    """The fit of some judgments by the member that ranks, and its leaderboard."""
    component = component_of(parts_of(judgments)[0], ranking.fitted.model.alone, settings)
    return component.reported, board_of(component)
