"""Part of a large set of judgments, for studies that look at single records: whole questions at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerank.data.judgments import Judgments
from judgerank.model.streams import generator

MOST_ROWS = 200_000  # judgments that are looked at one by one


def sampled(judgments: Judgments) -> Judgments:
    """Whole questions with `MOST_ROWS` judgments at most, drawn at random; all if there are no more, or no ids.

    Which questions these are depends on their ids alone, and not on the order of the records.
    """
    c = judgments.comparisons
    if len(c) <= MOST_ROWS or "question_id" not in judgments.frame:
        return judgments
    question = judgments.question
    size = np.bincount(question)
    order = generator(0, "studies", "questions").permutation(len(size))
    drawn = np.zeros(len(size), bool)
    drawn[order[np.cumsum(size[order]) <= MOST_ROWS]] = True
    rows = drawn[question]
    records = np.flatnonzero(judgments.parsed.to_numpy())[rows]
    frame = judgments.frame.iloc[records].reset_index(drop=True)
    frame = frame.astype({name: object for name in frame if frame[name].dtype == "category"})
    return replace(judgments, frame=frame, comparisons=c._rows(rows))


def description(sample: Judgments, judgments: Judgments) -> str:
    """Size of a sample, in words."""
    n_drawn, of = (int(part.question.max(initial=-1)) + 1 for part in (sample, judgments))
    return (
        f"{n_drawn:,} of {of:,} questions, drawn at random ({len(sample.comparisons):,} of "
        f"{len(judgments.comparisons):,} judgments)"
    )
