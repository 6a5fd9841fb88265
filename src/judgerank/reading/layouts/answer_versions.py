"""Judgments that `judgerank gate --panel` keeps, of answers that have changed since: the last ones count.

There a question's id ends in a digest of its texts, by which a judgment is found again while nothing has changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from judgerank.reading.layouts.table import Layout, Table

TEXTS = "texts"  # the column in which collected judgments have a digest of what was shown
DIGEST = 12  # letters of it
KEY = re.compile(rf"(.+)#([0-9a-f]{{{DIGEST}}})", re.DOTALL)
Read = tuple[Layout, Table]


def key_of(question: str, digest: str) -> str:
    """A question's id in the file that a gate keeps."""
    return f"{question}#{digest[:DIGEST]}"


def are_keyed(table: Table, column: str) -> bool:
    """Whether ids of questions in a column are keys that a gate wrote."""
    if TEXTS not in table.frame or not isinstance(table.frame.get(column), pd.Series):
        return False
    return any(isinstance(value, str) and KEY.fullmatch(value) for value in table.frame[column])


def of_last_answers(read: Sequence[Read]) -> tuple[list[Read], list[str]]:
    """The tables with questions by their own ids and the judgments of their last answers, and what to say of it.

    The last are those of the last record of a question, in the order of the files and of the records in them.
    """
    columns = [layout.used(table).get("question", ("",))[0] for layout, table in read]
    keyed = [are_keyed(table, column) for (_, table), column in zip(read, columns, strict=True)]
    if not any(keyed):
        return list(read), []
    last: dict[object, str] = {}
    split = [
        [_split(value) for value in table.frame[column]] if has else []
        for (_, table), column, has in zip(read, columns, keyed, strict=True)
    ]
    for questions in split:
        last.update({name: version for name, version in questions if version})
    remaining, left_out = [], 0
    for (layout, table), column, questions in zip(read, columns, split, strict=True):
        if questions:
            now = np.array([not version or last[name] == version for name, version in questions], bool)
            named = table.frame.copy(deep=False)
            named[column] = pd.Series([name for name, _ in questions], named.index, dtype=object)
            left_out += int((~now).sum())
            table = replace(table, frame=named[now].reset_index(drop=True))
        remaining.append((layout, table))
    if not left_out:
        return remaining, []
    older = "judgment of earlier answers is" if left_out == 1 else "judgments of earlier answers are"
    return remaining, [f"{left_out:,} {older} left out: of each question, the answers judged last count."]


def _split(value: object) -> tuple[object, str]:
    """A question and the version of its answers; empty where there is none."""
    match = KEY.fullmatch(value) if isinstance(value, str) else None
    return (match[1], match[2]) if match else (value, "")
