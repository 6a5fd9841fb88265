"""The page of votes: one HTML file that works without a network and without a server."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from judgerank.collecting.task_order import Plan, Questions, Task
from judgerank.data.errors import DataError
from judgerank.data.frames import question_name
from judgerank.pages import render
from judgerank.reading.answers.found import Text
from judgerank.reading.file_formats import read_table

TEMPLATE = Path(__file__).parent / "vote.html"


def vote_page(questions: Questions, items: Sequence[Task], voter: str = "", prompt: str = "") -> str:
    """HTML on which a person compares the answers of every item, without the names of the models.

    The names are in the file, in an encoding that nobody reads by accident: votes that are saved carry them. Votes
    are kept in the browser until they are saved, and no request leaves the page.

    Parameters
    ----------
    questions : Questions
    items : sequence of Task
        Whose ``judge`` and ``repeat`` do not count.
    voter : str
        Name of the person, the judge of the votes; by default the page asks for it.
    asked : str
        What the person is asked; by default which answer is better.
    """
    listed = [
        {
            "question": _turns(questions.text[item.question_id]),
            "first": _turns(questions.answers[item.question_id][item.first]),
            "second": _turns(questions.answers[item.question_id][item.second]),
            "key": base64.b64encode(json.dumps([item.question_id, item.first, item.second]).encode()).decode(),
        }
        for item in items
    ]
    data = json.dumps(listed, ensure_ascii=False)
    return render(
        TEMPLATE,
        title="Which answer is better?",
        asked=prompt or "Which answer is better?",
        voter=voter,
        many=len(items),
        items=data,
        identity=hashlib.sha256(data.encode()).hexdigest()[:16],
    )


def _turns(text: Text) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


# Which two answers a person compares, in which order.
PEOPLE = (
    "people"  # whose order it is: every voter sees the same items, so that votes of two people can be compared
)
OF_LIST = ("question", "first", "second")


def drawn_items(questions: Questions, size: int | None, seed: int) -> list[Task]:
    """The first comparisons of a fixed random order: the first 50 are among the first 100.

    Parameters
    ----------
    questions : Questions
    size : int, optional
        How many; by default all.
    seed : int
        Decides the order, and which answer is shown first.

    Raises
    ------
    ConfigError
        If there are fewer.
    """
    return Plan(questions, [PEOPLE], 1, False, seed).first(size)


def listed_items(questions: Questions, path: Path, size: int | None, seed: int) -> list[Task]:
    """Comparisons that a file lists, in its order, such as that of `judgerank people --next`.

    Raises
    ------
    DataError
        Naming the record (counted from 1) whose question or answers are not among the questions.
    """
    table = read_table(path)
    missing = [name for name in OF_LIST if name not in table]
    if missing:
        raise DataError(f"{path.name} has no column {missing[0]!r}; items have the columns {', '.join(OF_LIST)}")
    tasks = {_key(task): task for task in drawn_items(questions, None, seed)}
    return [_item(tasks, number, row) for number, row in enumerate(_rows(table[:size]), 1)]


def _rows(table: pd.DataFrame) -> Iterable[tuple[str, str, str]]:
    for question, first, second in table[list(OF_LIST)].itertuples(index=False):
        yield question_name(question), str(first), str(second)


def _item(tasks: dict[tuple[str, frozenset[str]], Task], number: int, row: tuple[str, str, str]) -> Task:
    question, first, second = row
    try:
        return tasks[question, frozenset((first, second))]
    except KeyError:
        raise DataError(
            f"record {number} asks for {first!r} and {second!r}: question {question!r} does not have both answers"
        ) from None


def _key(task: Task) -> tuple[str, frozenset[str]]:
    return task.question_id, frozenset((task.first, task.second))
