"""The judgments of every category, where the records name any."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from judgerank.data.judgments import Judgments
from judgerank.reading.read import comparisons_of

MOST = 30  # categories that are ranked by themselves


def categories_of(judgments: Judgments) -> dict[str, Judgments]:
    """The judgments of each category, by its name in alphabetical order; none unless there are two to `MOST`."""
    if "category" not in judgments.frame:
        return {}
    names = judgments.frame["category"].dropna().astype(str)
    if not 2 <= names.nunique() <= MOST:
        return {}
    return {str(name): _restricted(judgments, rows.index) for name, rows in names.groupby(names, sort=True)}


def _restricted(judgments: Judgments, rows: pd.Index) -> Judgments:
    frame = judgments.frame.loc[rows].reset_index(drop=True)
    return replace(judgments, frame=frame, comparisons=comparisons_of(frame, judgments.ordered), remarks=())
