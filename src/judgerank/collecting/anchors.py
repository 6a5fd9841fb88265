"""Anchors: a few requests that judges are asked again on later days, to see whether they still answer as they did.

Of what a judge has answered, those asked most often come first, then a fixed random order by a keyed hash. So the
anchors stay the same from week to week. One is due if its last answer is more than `MIN_INTERVAL` old: a run that
was cut off goes on with its round, and a second run on the same day asks nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd

from judgerank.collecting.ledger import Record, task_of
from judgerank.collecting.task_order import Questions, Task, order_key
from judgerank.data.comparisons import Comparisons
from judgerank.data.frames import OUTCOMES
from judgerank.trust.retest import COLUMNS, asked_again, changed

MIN_INTERVAL = timedelta(hours=20)
LEVEL = 0.99  # of the test after each run, which may be one of many
LONG_AGO = datetime.min.replace(tzinfo=UTC)
Item = tuple[str, str, str, str]


@dataclass
class _Answers:
    """How often a request was answered, its highest number, and when it was last."""

    count: int = 0
    readable: bool = False
    highest: int = 0
    last: datetime = LONG_AGO


def due(
    size: int,
    records: Iterable[Record],
    on_their_way: Iterable[Task],
    questions: Questions,
    judges: Iterable[str],
    repeats: int,
    seed: int,
    now: datetime | None = None,
) -> list[Task]:
    """The requests to ask again now, at most `size` of each judge.

    Parameters
    ----------
    size : int
    records : iterable of dict
        What was answered.
    on_their_way : iterable of Task
        What is in batches; it is not asked once more.
    questions : Questions
        Those whose answers are still there.
    judges : iterable of str
    repeats : int
        How often every request is asked without anchors, which have the numbers from there on.
    seed : int
        Of the order.
    now : datetime, optional
    """
    answers_by_item: dict[Item, _Answers] = defaultdict(_Answers)
    for record in records:
        answers = answers_by_item[_item(task_of(record))]
        answers.count += 1
        answers.readable |= record.get("judge_preferred_model") in OUTCOMES
        answers.highest = max(answers.highest, record["repeat"])
        answers.last = max(answers.last, _when(record))
    waited_for = {_item(task) for task in on_their_way}
    now = now or datetime.now(UTC)
    tasks: list[Task] = []
    for judge in judges:
        askable_items = [
            item for item, answers in answers_by_item.items() if _is_askable(item, judge, answers, questions)
        ]
        askable_items.sort(key=lambda item: (-answers_by_item[item].count, order_key(seed, *item)))
        tasks += [
            Task(*item, max(repeats, answers_by_item[item].highest + 1))
            for item in askable_items[:size]
            if item not in waited_for and now - answers_by_item[item].last >= MIN_INTERVAL
        ]
    return tasks


def _item(task: Task) -> Item:
    return task.question_id, task.first, task.second, task.judge


def _is_askable(item: Item, judge: str, answers: _Answers, questions: Questions) -> bool:
    question, first, second, of = item
    return of == judge and answers.readable and {first, second} <= questions.answers.get(question, {}).keys()


def _when(record: Record) -> datetime:
    """When it was answered; long ago where the record does not say so."""
    try:
        asked_at = datetime.fromisoformat(record["asked_at"])
    except (KeyError, TypeError, ValueError):
        return LONG_AGO
    return asked_at if asked_at.tzinfo else asked_at.replace(tzinfo=UTC)


def changes(records: Iterable[Record]) -> pd.DataFrame:
    """Judges whose later answers to the same requests differ from their first ones, as `asked_again` has them."""
    read = [record for record in records if record.get("judge_preferred_model") in OUTCOMES]
    if not read:
        return pd.DataFrame(columns=list(COLUMNS))
    question = np.unique([str(record["question_id"]) for record in read], return_inverse=True)[1]
    time = np.array([(_when(record) - LONG_AGO).total_seconds() for record in read])
    return asked_again(Comparisons.from_frame(pd.DataFrame(read)), question, time)


def change_sentences(changes: pd.DataFrame) -> Iterator[str]:
    """A sentence on each judge that changed."""
    for sentence in changed(changes, LEVEL):
        yield f"{sentence} Leave it out, or ask it everything anew under another name."
