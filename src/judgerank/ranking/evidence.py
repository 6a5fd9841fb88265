"""The judgments behind a ranking, small enough for a page: counts by pair, records by pair and judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.judgments import Judgments

MOST_RECORDS = 20_000  # shown in all; of more, every pair keeps its first ones
MOST_PAIRS = 100_000  # pairs whose counts are shown; of more, those compared most
LONGEST_REPLY, MOST_TEXT = 2_000, 2_000_000  # characters of one reply, and of all
LETTERS = {"a": "a", "b": "b", "c": "tie"}


def evidence(judgments: Judgments, models: Sequence[str], judges: Sequence[str]) -> dict[str, Any]:
    """Counts and records for a page's script, as lists.

    Parameters
    ----------
    judgments : Judgments
    models, judges : sequence of str
        Those ranked, in the order that numbers stand for.

    Returns
    -------
    dict
        ``pairs``: ``first, second`` (the first is earlier among the models), ``count`` and ``won``, the share that
        the first of them won, ties half. ``records``: ``first, second`` as shown, ``judge, answer, question,
        times, reply``. ``all`` is how many records there are.
    """
    c, place = judgments.comparisons, pd.Index(models)
    number = place.get_indexer(pd.Index(c.models))
    i, j = number[c.first], number[c.second]
    known = (i >= 0) & (j >= 0)
    return {
        "pairs": _pairs(i[known], j[known], c.count[known], c.outcome[known], len(models)),
        "records": _records(judgments, place, pd.Index(judges)),
        "all": len(judgments.frame),
    }


def _pairs(i: IntArray, j: IntArray, count: FloatArray, outcome: FloatArray, n: int) -> dict[str, list[float]]:
    low, high = np.minimum(i, j), np.maximum(i, j)
    won = count * np.where(i < j, outcome, 1 - outcome)
    pair, where = np.unique(low.astype(np.int64) * n + high, return_inverse=True)
    total, wins = np.bincount(where, count, len(pair)), np.bincount(where, won, len(pair))
    kept = np.sort(np.argsort(-total, kind="stable")[:MOST_PAIRS])
    return {
        "first": (pair[kept] // n).tolist(),
        "second": (pair[kept] % n).tolist(),
        "count": total[kept].round().astype(int).tolist(),
        "won": (wins[kept] / total[kept]).round(4).tolist(),
    }


def _records(judgments: Judgments, models: pd.Index, judges: pd.Index) -> dict[str, list[Any]]:
    frame = judgments.frame
    first, second = (models.get_indexer(pd.Index(frame[name])) for name in ("model_a", "model_b"))
    judge = judges.get_indexer(pd.Index(frame["judge_model"]))
    rows = _kept(np.minimum(first, second), np.maximum(first, second), (first >= 0) & (second >= 0) & (judge >= 0))
    answer = frame["judge_preferred_model"].map(LETTERS).fillna("not read")
    question = frame["question_id"].astype(str).tolist() if "question_id" in frame else None
    times = pd.to_numeric(frame["count"]).tolist() if "count" in frame else None
    return {
        "first": first[rows].tolist(),
        "second": second[rows].tolist(),
        "judge": judge[rows].tolist(),
        "answer": answer.iloc[rows].tolist(),
        "question": [question[row] for row in rows] if question else [],
        "times": [times[row] for row in rows] if times else [],
        "reply": _replies(frame["reply"].iloc[rows]) if "reply" in frame else [],
    }


def _kept(low: IntArray, high: IntArray, known: np.ndarray) -> IntArray:
    """Rows to show: the first ones of every pair, as many of each as fit."""
    rows = np.flatnonzero(known)
    if len(rows) <= MOST_RECORDS:
        return rows
    turn = pd.Series(0, rows).groupby([low[rows], high[rows]]).cumcount().to_numpy()
    by_turn = np.cumsum(np.bincount(turn))
    fitting = int(np.searchsorted(by_turn, MOST_RECORDS, side="right"))
    return rows[turn < fitting] if fitting else rows[np.flatnonzero(turn == 0)[:MOST_RECORDS]]


def _replies(column: pd.Series) -> list[str | None]:
    found: list[str | None] = []
    left = MOST_TEXT
    for text in column:
        said = text[:LONGEST_REPLY] if isinstance(text, str) and left > 0 else None
        left -= len(said or "")
        found.append(said if said is None or len(said) == len(text) else f"{said} [cut]")
    return found
