"""Judges that may be one model under several names: how alike they answer, and what merging them changes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pandas as pd

from judgerank.comparisons import Comparisons
from judgerank.frames import OUTCOMES
from judgerank.judgments import Judgments

ITEM = ["question_id", "model_a", "model_b"]


def answer_agreement(judgments: Judgments, fewest: int) -> pd.DataFrame:
    """Share of equal answers of every two judges on the items both judged.

    An item is a question with two models in the order shown; of several answers of a judge the first counts.

    Returns
    -------
    DataFrame
        ``dataset, judge_1, judge_2, shared, agreement`` for pairs with at least `fewest` shared items.
    """
    frame = judgments.frame[judgments.frame["judge_preferred_model"].isin(list(OUTCOMES))]
    once = frame.drop_duplicates([*ITEM, "judge_model"])
    answers = once.pivot(index=ITEM, columns="judge_model", values="judge_preferred_model")
    rows = []
    for one, other in combinations(sorted(answers.columns), 2):
        both = answers[[one, other]].dropna()
        if len(both) >= fewest:
            alike = float((both[one] == both[other]).mean())
            rows.append((judgments.name, one, other, len(both), alike))
    return pd.DataFrame(rows, columns=["dataset", "judge_1", "judge_2", "shared", "agreement"])


def with_judges_merged(judgments: Judgments, names: Iterable[str], merged: str) -> Comparisons:
    """The comparisons with these judges as one judge, who has one vote an item: the mean of their answers."""
    frame = judgments.frame[judgments.frame["judge_preferred_model"].isin(list(OUTCOMES))]
    alike = frame["judge_model"].isin(list(names))
    renamed = frame.assign(judge_model=frame["judge_model"].where(~alike, merged))
    outcome = renamed["judge_preferred_model"].map(OUTCOMES)
    votes = renamed[alike].assign(outcome=outcome[alike]).groupby([*ITEM, "judge_model"], as_index=False)
    single = votes["outcome"].mean()
    rows = pd.concat([renamed[~alike].assign(outcome=outcome[~alike]), single], ignore_index=True)
    c = Comparisons.from_frame(rows.assign(judge_preferred_model="a"))
    return Comparisons(
        c.models, c.judges, c.first, c.second, c.judge, np.asarray(rows["outcome"], float), None, None, c.dropped
    )
