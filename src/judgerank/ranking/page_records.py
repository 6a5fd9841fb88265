"""The judgments behind a ranking, small enough for a page: counts by pair, records by pair and judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray, places_among
from judgerank.data.comparisons import Comparisons
from judgerank.data.judgments import Judgments
from judgerank.ranking.page_options import Text, Texts

MOST_RECORDS = 20_000  # shown in all; of more, every pair keeps its first ones
MOST_BY_JUDGE = 20_000  # judges' counts of a pair that are shown; of more, those with most comparisons
MOST_PAIRS = 100_000  # pairs whose counts are shown; of more, those compared most
LONGEST_REPLY, MOST_TEXT = (
    2_000,
    2_000_000,
)  # characters of one reply, and of all; likewise of questions and answers
LARGE = 1_000  # models, beyond which not every two have a place for their counts
LETTERS = {"a": "a", "b": "b", "c": "tie"}


def evidence(
    judgments: Judgments, models: Sequence[str], judges: Sequence[str], texts: Texts | None = None
) -> dict[str, Any]:
    """Counts and records for a page's script, as lists.

    Parameters
    ----------
    judgments : Judgments
    models, judges : sequence of str
        Those ranked, in the order that numbers stand for.
    texts : Texts, optional
        Those that were judged; by default what the records have.

    Returns
    -------
    dict
        ``pairs``: ``first, second`` (the first is earlier among the models), ``count`` and ``won``, the share that
        the first of them won, ties half. ``records``: ``first, second`` as shown, ``judge, answer, question,
        times, reply``. ``by_judge``: ``first, second, judge, count, won`` of every judge, where there are several.
        ``all`` is how many records there are. ``texts``: questions by id, and answers by question
        and number of the model, of the records listed.
    """
    c, index = judgments.comparisons.aggregate(), pd.Index(models)
    number = index.get_indexer(pd.Index(c.models))
    i, j = number[c.first], number[c.second]
    is_ranked = (i >= 0) & (j >= 0)
    records = _records(judgments, index, pd.Index(judges))
    judge = pd.Index(judges).get_indexer(pd.Index(c.judges))[c.judge]
    has_judge = is_ranked & (judge >= 0) & (len(judges) > 1)
    return {
        "by_judge": _by_judge(*(values[has_judge] for values in (i, j, judge, c.decided, c.share_won))),  # type: ignore[arg-type]
        "pairs": _pairs(i[is_ranked], j[is_ranked], c.decided[is_ranked], c.share_won[is_ranked], len(models)),
        "records": records,
        "all": len(judgments.frame),
        "texts": _texts(records, texts or texts_of(judgments.frame), models),
    }


def head_to_head(comparisons: Comparisons, first: str, second: str) -> tuple[int, float]:
    """How many comparisons two models have, and the share that the first of them won, ties half; NaN of none."""
    c = comparisons.aggregate()
    i, j = c.models.index(first), c.models.index(second)
    count = np.where((c.first == i) & (c.second == j) | (c.first == j) & (c.second == i), c.decided, 0.0)
    won = float(count @ np.where(c.first == i, c.share_won, 1 - c.share_won))
    total = float(count.sum())
    return round(total), won / total if total > 0 else np.nan


def texts_of(frame: pd.DataFrame) -> Texts:
    """The texts that records have beside the judgments (`judgerank.reading.layouts.texts`)."""
    if "answer_a" not in frame or "question_id" not in frame:
        return Texts()
    questions, answers = dict[str, Text](), dict[str, dict[str, Text]]()
    for side in ("a", "b"):
        columns = frame["question_id"].astype(str), frame[f"model_{side}"], frame[f"answer_{side}"]
        for question, model, answer in zip(*columns, strict=True):
            if isinstance(answer, str):
                answers.setdefault(question, {}).setdefault(model, answer)
    if "question_text" in frame:
        pairs = zip(frame["question_id"].astype(str), frame["question_text"], strict=True)
        questions = {name: text for name, text in pairs if isinstance(text, str)}
    return Texts(questions, answers)


def _texts(records: dict[str, list[Any]], texts: Texts, models: Sequence[str]) -> dict[str, Any]:
    """Texts of the questions and answers in some records, as many as fit."""
    questions, answers, left = dict[str, str](), dict[str, dict[int, str]](), MOST_TEXT
    for question, *pair in zip(records["question"], records["first"], records["second"], strict=False):
        for number in pair:
            text = texts.answers.get(question, {}).get(models[number])
            if text is None or left <= 0 or number in answers.get(question, {}):
                continue
            answers.setdefault(question, {})[number] = _cut(text)
            left -= len(answers[question][number])
        if question in answers and question in texts.questions and question not in questions:
            questions[question] = _cut(texts.questions[question])
            left -= len(questions[question])
    return {"questions": questions, "answers": answers}


def _cut(text: Text) -> str:
    """A text of a page: the turns of a conversation one after the other, and not too long."""
    full_text = text if isinstance(text, str) else "\n\n".join(text)
    return full_text if len(full_text) <= LONGEST_REPLY else f"{full_text[:LONGEST_REPLY]} [cut]"


def _pairs(i: IntArray, j: IntArray, count: FloatArray, outcome: FloatArray, n: int) -> dict[str, list[float]]:
    low, high = np.minimum(i, j), np.maximum(i, j)
    won = count * np.where(i < j, outcome, 1 - outcome)
    where, pair = low.astype(np.int64) * n + high, np.arange(n * n)
    if n > LARGE:
        pair, where = np.unique(where, return_inverse=True)
    total, wins = np.bincount(where, count, len(pair)), np.bincount(where, won, len(pair))
    compared = total > 0
    pair, total, wins = pair[compared], total[compared], wins[compared]
    selected = np.sort(np.argsort(-total, kind="stable")[:MOST_PAIRS])
    return {
        "first": (pair[selected] // n).tolist(),
        "second": (pair[selected] % n).tolist(),
        "count": total[selected].round().astype(int).tolist(),
        "won": (wins[selected] / total[selected]).round(4).tolist(),
    }


def _by_judge(
    i: IntArray, j: IntArray, judge: IntArray, count: FloatArray, outcome: FloatArray
) -> dict[str, list[float]]:
    """Comparisons of every judge and pair, and the share that the first of the pair won, a tie counting half.

    Parameters
    ----------
    i, j : int arrays, shape (M,)
        Numbers of the models of each cell, by rank.
    judge : int array, shape (M,)
    count, outcome : float arrays, shape (M,)
        Comparisons of the cell, and the share of them that model `i` won.
    """
    ends = {"first": np.minimum(i, j), "second": np.maximum(i, j), "judge": judge}
    rows = pd.DataFrame({**ends, "count": count, "won": count * np.where(i < j, outcome, 1 - outcome)})
    table = rows.groupby([*ends], as_index=False).sum().query("count > 0")
    table = table.iloc[np.sort(np.argsort(-table["count"].to_numpy(), kind="stable")[:MOST_BY_JUDGE])]
    won = (table["won"] / table["count"]).round(4)
    return table.assign(won=won, count=table["count"].round().astype(int)).to_dict("list")  # type: ignore[return-value]


def _records(judgments: Judgments, models: pd.Index, judges: pd.Index) -> dict[str, list[Any]]:
    frame = judgments.frame
    first, second = (places_among(frame[name], models) for name in ("model_a", "model_b"))
    judge = places_among(frame["judge_model"], judges)
    is_ranked = (first >= 0) & (second >= 0) & (judge >= 0)
    if "comparisons" in frame:  # of rankings: what a record says of two answers below the best is nothing
        is_ranked &= frame["comparisons"].fillna(1.0).to_numpy(float) > 0
    selected = slice(None) if is_ranked.all() else is_ranked
    rows = _selected_rows(first[selected], second[selected])
    rows = rows if is_ranked.all() else np.flatnonzero(is_ranked)[rows]
    listed = frame.iloc[rows]
    answer = listed["judge_preferred_model"].astype(object).map(LETTERS).fillna("not read")
    return {
        "first": first[rows].tolist(),
        "second": second[rows].tolist(),
        "judge": judge[rows].tolist(),
        "answer": answer.tolist(),
        "question": listed["question_id"].astype(str).tolist() if "question_id" in frame else [],
        "times": pd.to_numeric(listed["count"]).tolist() if "count" in frame else [],
        "reply": _replies(listed["reply"]) if "reply" in frame else [],
    }


def _selected_rows(first: IntArray, second: IntArray) -> IntArray:
    """Rows to show: the first ones of every pair, as many of each as fit."""
    if len(first) <= MOST_RECORDS:
        return np.arange(len(first))
    high = np.maximum(first, second)
    n = int(high.max()) + 1
    pair = np.minimum(first, second).astype(np.intp) * n + high
    size = np.bincount(pair if n <= LARGE else pd.factorize(pair)[0])
    with_turn = len(size) - np.cumsum(np.bincount(size))  # pairs with more than 0, 1, ... records
    fitting = int(np.searchsorted(np.cumsum(with_turn), MOST_RECORDS, side="right"))
    part = MOST_RECORDS
    while True:  # from the start, until every pair has its records
        turn = pd.Series(pair[:part]).groupby(pair[:part]).cumcount().to_numpy()
        selected = turn < max(fitting, 1)
        if part >= len(pair) or selected.sum() == np.minimum(size, max(fitting, 1)).sum():
            return np.flatnonzero(selected)[: None if fitting else MOST_RECORDS]
        part *= 4


def _replies(column: pd.Series) -> list[str | None]:
    replies: list[str | None] = []
    left = MOST_TEXT
    for text in column:
        reply = _cut(text) if isinstance(text, str) and left > 0 else None
        left -= len(reply or "")
        replies.append(reply)
    return replies
