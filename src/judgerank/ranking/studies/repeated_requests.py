"""Requests that were asked more than once: how often judges change their answer, and what repeats buy."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judgerank.data.cache import remembered
from judgerank.ranking.study import Component, Finding
from judgerank.trust.repeats import RELIABILITY, Repeats, repeats_of

# columns of the table of judges, by the name that they have in the table of repeats
OF_JUDGES = {"flip_rate": "flip_rate", "low": "low_flip_rate", "high": "high_flip_rate"}
OF_JUDGES |= dict(zip(RELIABILITY, ("reliability", "low_reliability", "high_reliability"), strict=True))
DISATTENUATED = "disattenuated"


def of_component(component: Component) -> Finding:
    """The table ``repeats`` and a remark, where questions are known and something was asked twice."""
    repeats = repeats_in(component)
    return Finding() if repeats is None else Finding([" ".join(repeats.sentences())], {"repeats": repeats.table})


@remembered
def repeats_in(component: Component) -> Repeats | None:
    """What repeated requests tell; None where questions are not known or nothing was asked twice."""
    if "question_id" not in component.judgments.frame or component.comparisons.stages is not None:
        return None
    judgments = component.sample
    level, item = component.settings.level, judgments.item
    return repeats_of(component.member, judgments.comparisons, judgments.question, level, item)


def with_retest(judges: pd.DataFrame, component: Component) -> pd.DataFrame:
    """The table of judges with what repeated requests say of each, where there are any.

    ``flip_rate`` and ``reliability`` with their intervals, and ``disattenuated``: the discrimination that a judge
    would have if its noise were averaged out. It is left out where the reliability may be zero. A judge's share of
    the information does not grow by answers to the same request but by what these add.
    """
    repeats = repeats_in(component)
    if repeats is None:
        return judges
    retest = repeats.table.set_index("judge")[list(OF_JUDGES)].rename(columns=OF_JUDGES)
    judges = judges.join(retest, on="judge")
    worth = judges["judge"].map(repeats.worth_of_answers(judges.set_index("judge")["comparisons"])).fillna(1.0)
    judges["information"] *= worth / (worth * judges["information"]).sum()
    if "discrimination" in judges:
        reliability = judges["reliability"].where(judges["low_reliability"] > 0)
        judges[DISATTENUATED] = judges["discrimination"] / np.sqrt(reliability)
    return judges
