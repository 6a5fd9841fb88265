"""The texts that were judged, where a table has them beside the judgments: for reading, never for fitting."""

from __future__ import annotations

from collections.abc import Set

import pandas as pd

MOST_RECORDS = 20_000  # of longer tables no page shows every text, and they take much memory
ANSWERS = (
    *(("answer_a", "answer_b"), ("response_a", "response_b")),
    *(("response1", "response2"), ("output_1", "output_2")),
)
QUESTIONS = ("question_text", "question", "prompt", "instruction")
QUESTION, FIRST, SECOND = "question_text", "answer_a", "answer_b"


def texts_in(table: pd.DataFrame, used: Set[str]) -> dict[str, str]:
    """Columns of texts by what they become: `FIRST` and `SECOND`, and `QUESTION` unless it is used otherwise.

    Parameters
    ----------
    table : DataFrame
    used : set of str
        Columns that are read as something else.
    """
    if len(table) > MOST_RECORDS:
        return {}
    pair = next((pair for pair in ANSWERS if all(_is_text(table, name) for name in pair)), None)
    if pair is None or used & {*pair}:
        return {}
    question = next((name for name in QUESTIONS if name not in used and _is_text(table, name)), None)
    return dict(zip((FIRST, SECOND), pair, strict=True)) | ({} if question is None else {QUESTION: question})


def _is_text(table: pd.DataFrame, name: str) -> bool:
    """Whether there is one column of that name, and its first value that is there is a text."""
    if list(table.columns).count(name) != 1:
        return False
    present = table[name].dropna()
    return len(present) > 0 and isinstance(present.iloc[0], str)
