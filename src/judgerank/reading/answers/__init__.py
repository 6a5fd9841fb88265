"""Models' answers where other tools have left them; a file's format is recognised, or it is our own table.

To add a format: a module in this folder whose ``FORMATS`` holds it (docs/extend/files.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from judgerank.data.errors import DataError
from judgerank.data.modules import names_in
from judgerank.reading.answers.found import AnswerFormat, Found
from judgerank.reading.layouts.table import Table

__all__ = ["FORMATS", "AnswerFormat", "Found", "answers_in", "recognised_answers"]


def _discovered() -> tuple[AnswerFormat, ...]:
    """The formats of every module of this folder, by the names of the modules."""
    modules = [import_module(f"{__name__}.{name}") for name in names_in(__path__)]
    return tuple(answer_format for module in modules for answer_format in getattr(module, "FORMATS", ()))


FORMATS = _discovered()


def recognised_answers(table: Table) -> AnswerFormat | None:
    """The one format that a table is in; None if there is none.

    Raises
    ------
    DataError
        If it could be in several.
    """
    matching = [candidate for candidate in FORMATS if candidate.matches(table)]
    if len(matching) > 1:
        raise DataError(
            f"the answers could be {' or '.join(candidate.name for candidate in matching)}: name the columns"
        )
    return matching[0] if matching else None


def answers_in(table: Table, form: AnswerFormat) -> Iterator[Found]:
    """Questions and answers in a table; an answer that is there again word for word is one answer.

    A tool that scores one answer in several ways writes a record for each. Further answers of a model to the same
    question are answers to ``QUESTION #2``, ``QUESTION #3``.
    """
    seen: dict[tuple[str, str | None], list[object]] = {}
    for answer in form.read(table):
        previous = seen.setdefault((answer.question_id, answer.model), [])
        attempt = (answer.attempt, answer.answer)
        if attempt in previous:
            continue
        previous.append(attempt)
        yield answer if len(previous) == 1 else answer.numbered(len(previous))
