"""Judges whose answers changed with time: earlier half against later, first answers against later ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from judgerank.data.arrays import AnyArray
from judgerank.data.judgments import Judgments
from judgerank.data.listing import counted, listed, p_of
from judgerank.order.claims import significant
from judgerank.ranking.study import Component, Finding
from judgerank.trust.drift import drift
from judgerank.trust.retest import asked_again, changed

TIME = "asked_at"  # the column that says when each was answered
DAY = pd.Timedelta("1D")
ADVICE = "Scores mix both. Rank the earlier and the later answers separately, or leave the judge out."


def of_component(component: Component) -> Finding:
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
