"""Policy on judges with a problem: what the leader depends on, what a ranking warns of, and whom it does not ask.

A judge has no vote on models of his own maker (`judgerank.ranking.recusal`). Every judge with a problem is left
out in turn, and all of them together, and so is one who outweighs all others. Where another model then leads, the
verdict says so. No advice asks a judge with a problem (`judgerank.ranking.studies.next_comparisons.may_judge`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np
import pandas as pd

from judgerank.data import QUESTION
from judgerank.data.cache import remembered
from judgerank.data.comparisons import FEW_ANSWERS, FEW_JUDGES
from judgerank.data.errors import JudgerankError
from judgerank.data.frames import LEFT_OUT
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed, noun, shortened
from judgerank.fits.errors_by_question import plural, sampled
from judgerank.fits.presentation import pairs, win_probability
from judgerank.fits.result import Fit
from judgerank.inference.clusters import JUDGMENT, RANKING
from judgerank.ranking.choices import Record, Settings
from judgerank.ranking.components import parts_of
from judgerank.ranking.first_screen import headline, largest
from judgerank.ranking.recusal import OTHER_MAKER, Recusal, of_rows, on_one_maker, recusal_of
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.by_judge import BY_JUDGE
from judgerank.ranking.studies.estimation import CYCLE, HARMLESS, WHICH_FIT
from judgerank.ranking.studies.judge_notes import CONTRARY_JUDGES, NEAR_COPIES
from judgerank.ranking.studies.leaderboards import board_of
from judgerank.ranking.studies.one_sided_votes import ONE_SIDED
from judgerank.ranking.studies.rivals import DISAGREE
from judgerank.ranking.study import component_of
from judgerank.trust.sentences import MOST_ROWS

MOST_TRIALS = 6  # judges left out one at a time, those with most information first; of large sets one
STAYS = " Leaving {} out changes no leader."


class Kind(StrEnum):
    """What a warning is about, the most important first: the terminal shows one warning."""

    LEADER = "leader"  # who leads without some judges
    POSITIONS = "positions"  # models shown in one order
    MAKERS = "makers"  # models that judges of other makers did not compare
    JUDGES = "judges"  # judges with a problem
    RANKING = "ranking"  # the fit, its intervals and the records
    UNKNOWN = "unknown"  # judges of whom too little is known


class RankingWarning(str):
    """A sentence to know before trusting a ranking.

    Attributes
    ----------
    kind : Kind
        What it is about.
    """

    __slots__ = ("kind",)
    kind: Kind

    def __new__(cls, text: str, kind: Kind = Kind.RANKING) -> Self:
        """A warning with its kind."""
        warning = super().__new__(cls, text)
        warning.kind = kind
        return warning


@dataclass(frozen=True)
class Policy:
    """What the votes of some judges mean for the leader.

    Attributes
    ----------
    condition : str
        Of the headline, to follow a comma; empty where there is none.
    warnings : tuple of RankingWarning
    next : str
        What settles it; empty where nothing is to be settled.
    """

    condition: str = ""
    warnings: tuple[RankingWarning, ...] = ()
    next: str = ""

    @property
    def caution(self) -> str:
        """What belongs beside the headline wherever that stands alone."""
        others = [warning for warning in self.warnings if not self.next or self.next not in warning]
        return " ".join(filter(None, [self.next, *others]))


@dataclass(frozen=True)
class Trial:
    """The ranking without some judges.

    Attributes
    ----------
    judges : tuple of str
    problem : str
        What is the matter with them, to follow *which*.
    first, headline : str
        The model with the highest score without them, and who leads.
    chance : float
        How often that model is preferred to the one that leads by all judges.
    is_changed : bool
        Whether the model that leads without them is not among the leaders, or the leader not among those without.
    is_same : bool
        Whether the same models lead.
    """

    judges: tuple[str, ...]
    problem: str
    first: str
    headline: str
    chance: float
    is_changed: bool
    is_same: bool

    @property
    def condition(self) -> str:
        """The condition on the headline by all judges."""
        single = len(self.judges) == 1
        who, them = ("judge", "without that judge") if single else ("judges", "without these judges")
        lead = f"{self.headline} ({self.chance:.0%})"
        if not self.headline.startswith(self.first):  # nobody leads without them
            lead = f"{self.headline[0].lower()}{self.headline[1:]}"
        return f"but this depends on {who} {listed(self.judges)}, which {self.problem}: {them} {lead}"

    @property
    def warning(self) -> RankingWarning:
        """Who leads without them, where these are more models or fewer."""
        return RankingWarning(f"Without {listed(self.judges)}: {self.headline}.", Kind.LEADER)

    @property
    def next(self) -> str:
        """How to settle who leads."""
        return f"To settle who leads, collect more answers from judges other than {listed(self.judges)}."


@remembered
def policy_of(ranking: Record) -> Policy:
    """Whether a leader of the largest component depends on judges of its maker, or on judges with a problem."""
    board, judges = (largest(ranking.tables[name]) for name in ("leaderboard", "judges"))
    judges, best = judges[judges["status"] != panel.MERGED], leading(board)
    dependent = [model for model in ranking.recusal.dependent if model in set(board["model"])]
    for model in best:
        if ranking.recusal.are_all_by_maker_of(model):
            return _of_one_maker(model, best, judges)
    led = [model for model in best if model in dependent]
    if led:
        whose = "its" if len(led) == 1 else "their"
        condition = f"but only judges of {whose} maker compared {listed(led)} with some of the others"
        advice = f"Ask judges of other makers to compare {listed(led)} with the other models."
        if len(board) == 2:
            condition = "but every judge is by the maker of one of the two"
            advice = f"Ask a judge of a third maker to compare {listed(board['model'])}."
        return Policy(condition, tuple(_on_judges(judges)), advice)
    of_dependent = [RankingWarning(text, Kind.MAKERS) for text in ranking.recusal.dependence()]
    trials: list[Trial] = []
    for trial in _trials(ranking, judges, best) if len(ranking.fits) == 1 else ():
        if trial.is_changed:
            return Policy(trial.condition, (*of_dependent, *_on_judges(judges)), trial.next)
        trials.append(trial)
    others = [trial.warning for trial in trials if not trial.is_same]
    is_tried = {judge for trial in trials for judge in trial.judges} >= {*panel.flagged(judges)}
    them = "it" if len(panel.flagged(judges)) == 1 else "them"
    stays = STAYS.format(them) if trials and is_tried and not others else ""
    return Policy(warnings=(*of_dependent, *_on_judges(judges, stays), *others))


def _of_one_maker(model: str, best: Sequence[str], judges: pd.DataFrame) -> Policy:
    """No judge of another maker compared a model that leads."""
    clause, warning = on_one_maker(
        len(judges), "the leader's maker" if len(best) == 1 else f"the maker of {model}"
    )
    on_maker = RankingWarning(warning, Kind.MAKERS)
    return Policy(f"but {clause}", (on_maker, *_on_judges(judges)), OTHER_MAKER)


def leading(board: pd.DataFrame) -> list[str]:
    """The models that lead by a leaderboard."""
    return list(board["model"][board["rank_low"].eq(1).fillna(False)]) or [board["model"].iloc[0]]


# Judges with a problem, left out alone and in sets.


def _trials(ranking: Record, judges: pd.DataFrame, old: Sequence[str]) -> Iterator[Trial]:
    """The ranking without judges with a problem, each alone, then all.

    None in which a leader has no place, or in which one who leads is compared by judges of his own maker alone.
    """
    for those in _sets(ranking, judges, old):
        try:
            fitted, board = without(ranking, those)
        except (JudgerankError, np.linalg.LinAlgError):
            continue
        scores, new = fitted.scores, leading(board)
        if old[0] in scores.index and not {*new} & {*_remaining(ranking, those).dependent}:
            lead = headline(board, pairs(fitted, ranking.settings.level))
            gap, middle = scores[new[0]] - scores[old[0]], (scores[new[0]] + scores[old[0]]) / 2
            chance = float(win_probability(fitted, np.array(gap), middle))
            is_changed = not (new[0] in old and old[0] in new)
            problem, is_same = _problem_of(judges, those), {*new} == {*old}
            yield Trial(those, problem, new[0], lead, chance, is_changed, is_same)


def _sets(ranking: Record, judges: pd.DataFrame, leaders: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Judges to leave out: each with a problem, all of these, who outweighs all, those of a leader's maker."""
    n, related = len(judges), ranking.recusal.related
    flagged = judges[judges["judge"].isin(panel.flagged(judges))]
    flagged = flagged.sort_values("information", ascending=False, kind="stable")
    alone = 1 if len(ranking.recusal.counts) > MOST_ROWS else MOST_TRIALS
    sets: list[tuple[str, ...]] = [(judge,) for judge in flagged["judge"].head(alone)]
    sets.append(tuple(flagged["judge"]))
    sets += [(judge,) for judge in outweighing(judges)]
    if not ranking.recusal.is_recused:
        c = ranking.recusal.judgments.comparisons
        own = np.asarray(related.is_own[:, [c.models.index(model) for model in leaders]].any(axis=1))
        sets.append(tuple(judge for judge, is_own in zip(c.judges, own, strict=True) if is_own))
    yield from (those for those in dict.fromkeys(sets) if 0 < len(those) < n)


def _problem_of(judges: pd.DataFrame, those: Sequence[str]) -> str:
    """What is the matter with some judges, to follow *which*."""
    if not {*those} <= {*panel.flagged(judges)}:
        share = outweighing(judges).get(those[0])
        if share is not None and len(those) == 1:
            return f"has {share:.0%} of the weight"
        return "is of its maker" if len(those) == 1 else "are of its maker"
    verdicts = dict(zip(judges["judge"], judges["verdict"], strict=True))
    return panel.in_a_clause(verdicts[those[0]]) if len(those) == 1 else "have a problem"


@remembered
def without(ranking: Record, judges: tuple[str, ...]) -> tuple[Fit, pd.DataFrame]:
    """The fit without the judgments of some judges, and its leaderboard.

    Raises
    ------
    JudgerankError
        If the others make no ranking.
    """
    return _refitted(ranking, _remaining(ranking, judges).counted, ranking.settings)


@remembered
def _remaining(ranking: Record, judges: tuple[str, ...]) -> Recusal:
    """The judgments without those of some judges, and which of them count."""
    judgments, settings = ranking.recusal.judgments, ranking.settings
    c = judgments.comparisons
    rows = np.flatnonzero(~np.isin(np.array(c.judges, object), judges)[c.judge])
    return recusal_of(
        of_rows(judgments, rows), settings.is_recused, settings.makers, favoured=ranking.recusal.favoured
    )


def refitted(ranking: Record, judgments: Judgments, settings: Settings) -> tuple[Fit, pd.DataFrame]:
    """The fit of those of some judgments that count by the member that ranks, and its leaderboard."""
    recusal = recusal_of(judgments, settings.is_recused, settings.makers, favoured=ranking.recusal.favoured)
    return _refitted(ranking, recusal.counted, settings)


def _refitted(ranking: Record, counted: Judgments, settings: Settings) -> tuple[Fit, pd.DataFrame]:
    component = component_of(parts_of(counted)[0], ranking.fit.model.alone, settings)
    return component.reported, board_of(component)


# Warnings of the verdict, to know before trusting a ranking, one sentence or two each.
MANY_DROPPED = 0.05  # share of records that could not be read, from which it is a warning
NAMED_WARNED = 3  # judges up to which the problem of each is named
MOST_WEIGHT = 2 / 3  # share of the information from which one judge outweighs all others two to one


def warnings_of(ranking: Record, judges: pd.DataFrame) -> list[RankingWarning]:
    """The warnings on the largest component, by the table of its judges."""
    fitted = ranking.fit
    warnings = [
        note.removeprefix(start)
        for start in (CYCLE, WHICH_FIT, BY_JUDGE, NEAR_COPIES, CONTRARY_JUDGES, ONE_SIDED)
        for note in (remark.removeprefix("Component 1: ") for remark in ranking.remarks)
        if note.startswith(start) and not note.endswith(HARMLESS)
    ]
    if len(ranking.fits) > 1:
        warnings.append(
            f"The models form {len(ranking.fits)} components that were never compared with each other. Each is "
            "ranked by itself, and scores of different components are not comparable."
        )
    if not fitted.converged:
        warnings.append(f"The fit ended as {fitted.status}, not at a maximum.")
    if 2 * judges["verdict"].isin((panel.RANDOM, panel.CONTRARY)).sum() >= len(judges):
        warnings.append("At least half of the judges disagree with the ranking or ignore it.")
    for judge, share in outweighing(judges).items():
        warnings.append(f"One judge, {judge}, largely decides the ranking: it has {share:.0%} of the weight.")
    warnings += [*ranking.judgments.warnings, *unread(ranking)]
    if any(DISAGREE in note for note in ranking.remarks):
        warnings.append("The ranking changes a lot if all judges count equally (see the notes).")
    if not ranking.clustered or ranking.fit.errors.flips is not None or ranking.sampled_by == JUDGMENT:
        warnings.append(_on_dependence(ranking))
    found = [RankingWarning(text) for text in warnings]
    if (judges["judge"] == FEW_JUDGES).all() and ranking.judgments.n_judges > 1:
        few = f"Every judge has fewer than {FEW_ANSWERS} answers, so all count equally: ask each more often."
        found.append(RankingWarning(few, Kind.UNKNOWN))
    return found


def _on_judges(judges: pd.DataFrame, stays: str = "") -> Iterator[RankingWarning]:
    """Which judges have a problem, or may have; `stays` where the leader is the same without them.

    Judges with few answers, who have one row together, are not among those that are assessed.
    """
    few = judges["judge"] == FEW_JUDGES
    judges, enough = judges[~few], f" with at least {FEW_ANSWERS} answers" if few.any() else ""
    unsure = judges["verdict"] == panel.UNSURE
    if unsure.any():
        who = f": {listed(judges['judge'][unsure])}" if unsure.sum() <= NAMED_WARNED else ""
        how = "it judges" if unsure.sum() == 1 else "they judge"
        which = _some_of(int(unsure.sum()), len(judges))
        yield RankingWarning(f"The answers of {which}{enough} do not show how well {how}{who}.", Kind.UNKNOWN)
    doubtful = judges[judges["judge"].isin(panel.flagged(judges))]
    if len(doubtful):
        have = "has" if len(doubtful) == 1 else "have"
        names = list(doubtful["judge"])
        if len(doubtful) <= NAMED_WARNED:
            names = [
                f"{shortened(judge)} ({what})" for judge, what in zip(names, doubtful["verdict"], strict=True)
            ]
        which = _some_of(len(doubtful), len(judges))
        which = f"{which[0].upper()}{which[1:]}{enough}"
        problem = f"{which} {have} a problem (see Judges on the page): {listed(names)}.{stays}"
        yield RankingWarning(problem, Kind.JUDGES)


def _some_of(n: int, total: int) -> str:
    """So many of all judges, in words where it is all of them."""
    if n < total:
        return f"{n} of {counted(total, 'judge')}"
    return "the only judge" if total == 1 else f"all {counted(total, 'judge')}"


def outweighing(judges: pd.DataFrame) -> dict[str, float]:
    """The judge who outweighs all others two to one, with the share of the information; of one judge none."""
    share = judges["information"]
    if len(judges) < 2 or share.isna().any():
        return {}
    of_judges = zip(judges["judge"], share, strict=True)
    return {judge: weight for judge, weight in of_judges if weight >= MOST_WEIGHT and judge != FEW_JUDGES}


def unread(ranking: Record) -> list[str]:
    """A warning where many answers could not be read."""
    c = ranking.judgments.comparisons
    dropped = sum(count for reason, count in c.dropped.items() if reason not in LEFT_OUT)
    exceeds_limit = dropped > MANY_DROPPED * (dropped + c.n_comparisons)
    return [f"{dropped:,} {noun(dropped, 'answer')} could not be read."] if exceeds_limit else []


def _on_dependence(ranking: Record) -> str:
    """A warning on dependence that intervals cannot allow for, without enough questions or their names."""
    frame = ranking.judgments.frame
    clusters = ranking.fit.clusters
    if "question_id" not in frame and (clusters is None or clusters.names[0] in (JUDGMENT, RANKING)):
        return (
            "No questions are named, so each judgment is taken by itself. If several are of the same item, or "
            "judges copy each other, the intervals are too narrow (--column question=NAME names the questions)."
        )
    if ranking.fit.errors.flips is not None:
        narrow = " The intervals of scores may be too narrow." if not ranking.fit._is_robust else ""
        few = sampled(ranking.fit) if clusters else counted(ranking.judgments.n_questions, "question")
        units = " and ".join(map(plural, clusters.names if clusters else (QUESTION,)))
        return (
            f"Only {few}: significance is tested by exchanging the names of two models in whole {units}.{narrow}"
        )
    return "Judgments are taken as independent. If questions repeat, the intervals are too narrow."
