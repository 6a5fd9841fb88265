"""A leader who has the votes of a judge that favours its own answers: the ranking without that judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.data.cache import remembered
from judgerank.data.comparisons import FEW_JUDGES
from judgerank.data.errors import JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed, noun, shortened
from judgerank.fits.presentation import pairs
from judgerank.fits.result import Fit
from judgerank.model.kinds.family import MAKER, OWN, families_of, own_table, plain
from judgerank.ranking.choices import Record, Settings
from judgerank.ranking.components import parts_of
from judgerank.ranking.first_screen import headline
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.by_judge import BY_JUDGE
from judgerank.ranking.studies.contrary_judges import CONTRARY_JUDGES
from judgerank.ranking.studies.exact_fit import HARMLESS, WHICH_FIT
from judgerank.ranking.studies.leaderboard import board_of
from judgerank.ranking.studies.one_sided_votes import ONE_SIDED
from judgerank.ranking.studies.rivals import DISAGREE
from judgerank.ranking.study import component_of
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
    leaders = list(board["model"][board["rank_low"].eq(1).fillna(False)])
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
    best = list(remaining_board["model"][remaining_board["rank_low"].eq(1).fillna(False)])
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


# Warnings of the verdict, to know before trusting a ranking, one sentence or two each.
MANY_DROPPED = 0.05  # share of records that could not be read, from which it is a warning
NAMED_WARNED = 3  # judges up to which the problem of each is named
MOST_WEIGHT = 2 / 3  # share of the information from which one judge outweighs all others two to one


def warnings_of(ranking: Record, judges: pd.DataFrame, fewer: Without | None = None) -> list[str]:
    """The warnings on the largest component, by the table of its judges; `fewer` is without some of them."""
    fitted = ranking.fitted
    warnings = [
        note.removeprefix(start)
        for start in (WHICH_FIT, BY_JUDGE, CONTRARY_JUDGES, ONE_SIDED)
        for note in (remark.removeprefix("Component 1: ") for remark in ranking.remarks)
        if note.startswith(start) and not note.endswith(HARMLESS)
    ]
    if len(ranking.fits) > 1:
        warnings.append(
            f"The comparisons fall into {len(ranking.fits)} groups of models that were never compared with each "
            "other. Each group is ranked by itself, and scores of different groups are not comparable."
        )
    if not fitted.converged:
        warnings.append(f"The fit ended as {fitted.status}, not at a maximum.")
    warnings += _on_judges(judges, fewer)
    if 2 * judges["verdict"].isin((panel.RANDOM, panel.CONTRARY)).sum() >= len(judges):
        warnings.append("At least half of the judges disagree with the ranking or ignore it.")
    share = judges["information"]
    most = judges["judge"].iloc[share.argmax()] if share.notna().all() else FEW_JUDGES
    if len(judges) > 1 and most != FEW_JUDGES and share.max() >= MOST_WEIGHT:
        warnings.append(f"One judge, {most}, largely decides the ranking: it has {share.max():.0%} of the weight.")
    warnings += [*ranking.judgments.warnings, *unread(ranking)]
    if any(DISAGREE in note for note in ranking.remarks):
        warnings.append("The ranking changes a lot if all judges count equally (see the notes).")
    if not ranking.clustered or ranking.fitted.flips is not None:
        warnings.append(_on_dependence(ranking))
    return warnings


def _on_judges(judges: pd.DataFrame, fewer: Without | None) -> Iterator[str]:
    """Which judges have a problem, or may have, and what the ranking is without those who favour a leader."""
    unsure = judges["verdict"] == panel.UNSURE
    if unsure.any():
        who = f": {listed(judges['judge'][unsure])}" if unsure.sum() <= NAMED_WARNED else ""
        yield (
            f"For {unsure.sum()} of {len(judges)} judges, the answers do not tell what kind of judge it is{who}."
        )
    doubtful = judges[~judges["verdict"].isin(panel.NO_PROBLEM)]
    if len(doubtful):
        have = "has" if len(doubtful) == 1 else "have"
        names = list(doubtful["judge"])
        if len(doubtful) <= NAMED_WARNED:
            names = [
                f"{shortened(judge)} ({what})" for judge, what in zip(names, doubtful["verdict"], strict=True)
            ]
        yield (
            f"{len(doubtful)} of {len(judges)} judges {have} a problem (see Judges on the page): {listed(names)}."
        )
    if fewer:
        yield fewer.sentence()


def unread(ranking: Record) -> list[str]:
    """A warning where many answers could not be read."""
    c = ranking.judgments.comparisons
    dropped = sum(c.dropped.values())
    exceeds_limit = dropped > MANY_DROPPED * (dropped + c.n_comparisons)
    return [f"{dropped:,} {noun(dropped, 'answer')} could not be read."] if exceeds_limit else []


def _on_dependence(ranking: Record) -> str:
    """A warning on dependence that intervals cannot allow for, without enough questions or their names."""
    frame = ranking.judgments.frame
    if "question_id" not in frame:
        return (
            "No questions are named, so judgments of the same item and judges that copy each other cannot be "
            "recognised. If there are any, the intervals are too narrow (--column question=NAME names them)."
        )
    if ranking.fitted.flips is not None:
        narrow = " The intervals of scores may be too narrow." if ranking.fitted.robust is None else ""
        return (
            f"Only {counted(ranking.judgments.n_questions, 'question')}: significance is tested by exchanging "
            f"the names of two models in whole questions.{narrow}"
        )
    return "Judgments are taken as independent. If questions repeat, the intervals are too narrow."
