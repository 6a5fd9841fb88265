"""Which two answers a person compares, in which order."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from judgerank.collecting.task_order import Plan
from judgerank.collecting.tasks import Questions, Task
from judgerank.data.errors import DataError
from judgerank.data.frames import question_name
from judgerank.reading.file_formats import read_table

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
