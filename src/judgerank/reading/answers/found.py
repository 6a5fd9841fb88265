"""A question with an answer to it, and a format of files that hold them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from judgerank.reading.answers.media import Named
from judgerank.reading.layouts.table import Table

Text = str | tuple[str, ...]  # of one turn, or of several
LONGEST_NAME = 72  # characters of a question that stands for its name


@dataclass(frozen=True)
class Found:
    """A question, an answer to it, or both, as a file has them.

    Attributes
    ----------
    record : int
        Which of the file's records it is, counted from 1.
    question_id : str
    question : str or tuple of str, optional
        The texts of its turns; None where another file has them.
    model : str, optional
        Who answered; None for a question alone.
    answer : str or tuple of str, optional
        None where a model failed to answer.
    reference : str or tuple of str, optional
    attempt : object
        What tells one answer of a model to a question from the next, where the file says so.
    images : tuple of Named
        What its texts refer to, where that is not found in the file as a whole.
    """

    record: int
    question_id: str
    question: Text | None
    model: str | None = None
    answer: Text | None = None
    reference: Text | None = None
    attempt: object = None
    images: tuple[Named, ...] = ()

    def numbered(self, attempt: int) -> Found:
        """The answer as one to a question of its own."""
        return replace(self, question_id=f"{self.question_id} #{attempt}")


@dataclass(frozen=True)
class AnswerFormat:
    """One way in which a tool writes down what models answered.

    Attributes
    ----------
    name : str
        Whose it is, as in "answers of MT-Bench".
    needs : tuple of str
        Columns by which it is recognised.
    read : callable
        From a `Table` to what it holds.
    also : callable
        What else tells it, of a `Table`.
    """

    name: str
    needs: tuple[str, ...]
    read: Callable[[Table], Iterable[Found]]
    also: Callable[[Table], bool] = lambda table: True

    def matches(self, table: Table) -> bool:
        """Whether a table is in this format."""
        return len(table.frame) > 0 and set(self.needs) <= set(map(str, table.frame.columns)) and self.also(table)


def records_of(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    """A table's records, each with its number, counted from 1."""
    for number, record in enumerate(table.frame.to_dict("records"), 1):
        yield number, {str(name): value for name, value in record.items()}


def named_by(text: str) -> str:
    """A name for a question that has none: its text, or the beginning with a digest of all of it."""
    line = " ".join(text.split())
    if len(line) <= LONGEST_NAME:
        return line
    return f"{line[: LONGEST_NAME - 10]} #{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def first_of(table: Table, column: str) -> Any:
    """The first value of a column that is there."""
    return next((value for value in table.frame[column] if value is not None), None)
