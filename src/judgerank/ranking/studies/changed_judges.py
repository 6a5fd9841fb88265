"""Judges whose answers changed with time: their earlier half held against their later one."""

from __future__ import annotations

import numpy as np

from judgerank.data.listing import listed, p_of
from judgerank.ranking.study import Component, Finding
from judgerank.trust.drift import drift

TIME = "asked_at"  # the column that says when each was answered


def of_component(component: Component) -> Finding:
    """The table ``drift`` and a remark, where the records say when each was answered."""
    judgments = component.judgments
    if TIME not in judgments.frame:
        return Finding()
    time = judgments.frame.loc[judgments.parsed, TIME]
    if time.isna().any() or time.nunique() < 2 or len({type(value) for value in time}) > 1:
        return Finding()
    found = drift(judgments.comparisons, np.asarray(time))
    if not len(found):
        return Finding()
    changed = found.loc[found["p_holm"] <= 1 - component.settings.level, "judge"]
    if not len(changed):
        said = "No judge's answers changed with time (each judge's earlier half against the later)."
    else:
        p = p_of(float(found["p_holm"].iloc[0]))
        said = (
            f"Answers changed with time: {listed(list(changed))} answered otherwise in the later half than in the "
            f"earlier one (Holm's p {p}). Scores mix both. Rank the halves apart, or leave the judge out."
        )
    return Finding([said], {"drift": found})
