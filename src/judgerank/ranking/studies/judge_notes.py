"""Judges as a panel: contrary ones, near copies, and those whose answers changed with time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgerank.data.arrays import AnyArray
from judgerank.data.cache import remembered
from judgerank.data.errors import DataError, JudgerankError
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed, p_of
from judgerank.fits.presentation import pairs
from judgerank.fits.result import Fit
from judgerank.order.claims import significant
from judgerank.ranking.components import parts_of
from judgerank.ranking.first_screen import headline
from judgerank.ranking.studies import panel
from judgerank.ranking.studies.leaderboards import board_of
from judgerank.ranking.study import Component, Finding, component_of
from judgerank.trust.drift import drift
from judgerank.trust.effective_judges import EffectiveJudges, effective_judges
from judgerank.trust.retest import asked_again, changed
from judgerank.trust.sentences import MOST_PARAMETERS, MOST_ROWS, on_near_copies

# Judges who answer against the others, and the ranking with their answers turned.


CONTRARY_JUDGES = "Contrary judges: "  # begins the remark


def contrary_judges(component: Component) -> Finding:
    """A remark on judges whose labels may be swapped, and on who leads with their answers turned."""
    judges = panel.contrary_judges(component)
    if not judges:
        return Finding()
    c = component.reported.comparisons
    agrees = panel.agreement(c)
    counts = dict(zip(c.judges, np.bincount(c.judge, c.decided, len(c.judges)), strict=True))
    named = [f"{judge} ({1 - agrees[judge]:.0%} of {counts[judge]:,.0f} answers)" for judge in judges]
    answer, whose = ("answers", "its") if len(judges) == 1 else ("answer", "their")
    text = f"{listed(named)} {answer} against the majority of the other judges: are the labels swapped?"
    lead = with_turned(component)
    then = f" With {whose} answers turned: {lead}." if lead else ""
    return Finding([f"{CONTRARY_JUDGES}{text}{then}"])


@remembered
def with_turned(component: Component) -> str:
    """Who leads with the answers of contrary judges turned; empty where nobody is, or that makes no ranking."""
    judges = panel.contrary_judges(component)
    if not judges:
        return ""
    try:
        judgments = parts_of(panel.turned(component.judgments, judges))[0]
        fitted = component_of(judgments, component.member.model.alone, component.settings)
        return headline(board_of(fitted), pairs(fitted.reported, component.settings.level))
    except (JudgerankError, np.linalg.LinAlgError):
        return ""


# How many independent judges the panel amounts to where judges share questions, and which are near copies.


NAME = "effective_judges"
NEAR_COPIES = "Near copies: "  # how the remark on them begins
QUESTION = "question"
MOST_JUDGES = 150  # beyond which correlations of all pairs take long


def near_copies(component: Component) -> Finding:
    """The table ``effective_judges``, and a remark for each group of near copies."""
    effective = panel_of(component)
    if effective is None:
        return Finding()
    table = effective.worth[effective.worth["measure"] == "information"].drop(columns="measure")
    table = table.assign(n_judges=effective.n_judges, is_informative=effective.is_informative)
    judges = panel.table_of(component)
    copies = set(judges["judge"][judges["verdict"].str.startswith(panel.SAME)])
    remarks = [
        f"{NEAR_COPIES}{on_near_copies(group)}"
        for group in effective.near_copies()
        if len({*group.judges} - copies) > 1  # of judges who answer as one, the verdicts speak
    ]
    return Finding(remarks, {NAME: table})


@remembered
def panel_of(component: Component) -> EffectiveJudges | None:
    """The panel as `judgerank trust` has it; None where judges share no questions, or that would take long."""
    settings = component.settings
    return (
        panel_size(component.member, component.judgments, settings.level) if settings.cluster == QUESTION else None
    )


def panel_size(fitted: Fit, judgments: Judgments, level: float) -> EffectiveJudges | None:
    """The same of judgments and a fit of their member alone."""
    c = fitted.comparisons
    large = fitted.n_parameters > MOST_PARAMETERS or len(judgments.comparisons) > MOST_ROWS
    by_question = "question_id" in judgments.frame and c.stages is None and bool(fitted.model.judge_blocks)
    if large or not by_question or len(c.judges) > MOST_JUDGES:
        return None
    try:
        return effective_judges(fitted, judgments.comparisons, judgments.question, level)
    except DataError:  # no two judges share a question, or they never depart from the scores
        return None


# Judges whose answers changed with time: earlier half against later, first answers against later ones.


TIME = "asked_at"  # the column that says when each was answered
DAY = pd.Timedelta("1D")
ADVICE = "Scores mix both. Rank the earlier and the later answers separately, or leave the judge out."


def changed_judges(component: Component) -> Finding:
    """The tables ``drift`` and ``asked_again`` and remarks, where the records say when each was answered."""
    judgments, level = component.judgments, component.settings.level
    time = _times(judgments)
    if time is None:
        return Finding()
    has_questions = "question_id" in judgments.frame
    halves = drift(judgments.comparisons, time, judgments.question if has_questions else None)
    again = asked_again(judgments.comparisons, judgments.item, time) if has_questions else pd.DataFrame()
    tables = {name: table for name, table in (("drift", halves), ("asked_again", again)) if len(table)}
    remarks = [*_of_halves(halves, level)]
    if len(again) and _are_apart(time):
        remarks += _of_requests(again, level)
    return Finding(remarks, tables)


def _times(judgments: Judgments) -> AnyArray | None:
    """When each judgment was made; None where that is not known of all."""
    if TIME not in judgments.frame:
        return None
    time = judgments.frame.loc[judgments.parsed, TIME]
    if time.isna().any() or time.nunique() < 2 or len({type(value) for value in time}) > 1:
        return None
    return np.asarray(time)


def _are_apart(time: AnyArray) -> bool:
    """Whether judges were asked over more than a day, where the times are dates."""
    if not isinstance(time[0], str):
        return True
    dates = pd.to_datetime(pd.Series(time), errors="coerce", utc=True, format="ISO8601")
    return bool(dates.isna().any() or dates.max() - dates.min() >= DAY)


def _of_halves(halves: pd.DataFrame, level: float) -> Iterator[str]:
    judges = significant(halves, level)["judge"]
    if len(judges):
        p = p_of(float(halves["p_holm"].iloc[0]))
        yield (
            f"Answers changed with time: {listed(list(judges))} answered differently in the later half than in "
            f"the earlier one (Holm's p {p}). {ADVICE}"
        )
    elif halves["p_value"].notna().any():
        yield "No judge's answers changed with time (each judge's earlier half against the later)."


def _of_requests(tests: pd.DataFrame, level: float) -> Iterator[str]:
    sentences = list(changed(tests, level))
    yield from (f"{sentence} {ADVICE}" for sentence in sentences)
    if not sentences:
        requests = counted(int(tests["requests"].sum()), "repeated request")
        said_of_all = "No judge's answers to repeated requests changed beyond its usual noise"
        yield f"{said_of_all} ({requests}, permutation test)."
