"""What is to be asked: questions with the models' answers, and which judge compares which two of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judgerank.data.errors import DataError
from judgerank.data.frames import question_name
from judgerank.reading.forms import READERS, read_table
from judgerank.reading.hub import load_rows

Row = tuple[int, dict[str, Any]]  # a record's number, and question_id, question, model, answer and reference
Text = str | tuple[str, ...]  # of one turn, or of several
COLUMNS = {"question_id": "question_id", "question": "question", "model": "model", "answer": "answer"}
REFERENCE = "reference"


@dataclass(frozen=True, order=True)
class Task:
    """One request: a judge compares the answers of two models to a question, in this order."""

    question_id: str
    first: str
    second: str
    judge: str
    repeat: int

    @property
    def turned(self) -> Task:
        """The same with the other answer shown first."""
        return Task(self.question_id, self.second, self.first, self.judge, self.repeat)


@dataclass(frozen=True)
class Questions:
    """Texts of questions by id, of answers by question and model, and reference answers where there are some."""

    text: Mapping[str, Text]
    answers: Mapping[str, Mapping[str, Text]]
    reference: Mapping[str, Text] = field(default_factory=dict)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(sorted({model for answers in self.answers.values() for model in answers}))

    def shown(self, task: Task) -> dict[str, Text]:
        """``question``, ``first`` and ``second`` of a task."""
        answers = self.answers[task.question_id]
        return {
            "question": self.text[task.question_id],
            "first": answers[task.first],
            "second": answers[task.second],
        }


def read_questions(source: str, columns: Mapping[str, str | None], answers: str | None = None) -> Questions:
    """Read questions and answers from a file (JSON, JSON Lines, CSV, Parquet) or a set on the hub.

    Parameters
    ----------
    source : str
        A path, or a hub id such as ``openbmb/UltraFeedback``.
    columns : mapping of str to str
        The file's names of ``question_id``, ``question``, ``model``, ``answer`` and ``reference`` (which a file
        may lack), where they are others. In nested form without ids, questions are numbered by their rows. A
        question of several turns is a list of texts, and so is each answer to it.
    answers : str, optional
        Column that holds a list of objects with ``model`` and ``answer``; else there is one row for each answer.

    Raises
    ------
    DataUnavailableError
        If there is neither such a file nor access to the hub.
    DataError
        Naming the record (counted from 1) at fault.
    """
    names = COLUMNS | {REFERENCE: REFERENCE} | {key: name for key, name in columns.items() if name}
    path = Path(source)
    is_file = bool(path.suffix) and path.is_file()
    is_file |= path.suffix.lstrip(".").lower() in READERS  # no name of a set on the hub ends so
    table = read_table(path) if is_file else load_rows(source).to_pandas()
    try:
        return _questions(_rows(table, names, answers))
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None


def _rows(table: pd.DataFrame, names: Mapping[str, str], answers: str | None) -> Iterable[Row]:
    """Every answer."""
    needed = [names["question"], answers] if answers else [names[key] for key in COLUMNS]
    if names[REFERENCE] != REFERENCE:
        needed.append(names[REFERENCE])
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise DataError(f"the table has no column {missing[0]!r} (it has: {', '.join(map(str, table.columns))})")
    for number, record in enumerate(table.to_dict("records"), 1):
        own = {"question_id": record.get(names["question_id"], number), "question": record[names["question"]]}
        own[REFERENCE] = record.get(names[REFERENCE])
        for answer in record[answers] if answers else [record]:
            if not isinstance(answer, dict) or not {names["model"], names["answer"]} <= answer.keys():
                raise DataError(
                    f"record {number} has an answer without {names['model']!r} and {names['answer']!r}"
                )
            yield number, own | {key: answer[names[key]] for key in ("model", "answer")}


def _questions(rows: Iterable[Row]) -> Questions:
    text: dict[str, Text] = {}
    answers: dict[str, dict[str, Text]] = {}
    reference: dict[str, Text] = {}
    for number, row in rows:
        if not isinstance(row["model"], str) or not row["model"]:
            raise DataError(f"record {number} has {row['model']!r} as model, not a text")
        if row["question_id"] is None:
            raise DataError(f"record {number} has no question_id")
        name = question_name(row["question_id"])
        question, answer = _text(number, row, "question"), _text(number, row, "answer")
        if text.setdefault(name, question) != question:
            raise DataError(f"record {number} has another text for question {name!r} than an earlier one")
        if row["model"] in answers.setdefault(name, {}):
            raise DataError(f"record {number} is a second answer of {row['model']!r} to question {name!r}")
        if turns(question) != turns(answer):
            raise DataError(f"record {number} answers {turns(answer)} of the {turns(question)} turns of {name!r}")
        answers[name][row["model"]] = answer
        if not _is_missing(row[REFERENCE]):
            said = _text(number, row, REFERENCE)
            if reference.setdefault(name, said) != said:
                raise DataError(f"record {number} has another reference for question {name!r} than an earlier one")
    if not any(len(models) > 1 for models in answers.values()):
        raise DataError("no question has answers of two models: there is nothing to compare")
    return Questions(text, answers, reference)


def turns(text: Text) -> int:
    """Of a conversation; one of a plain text."""
    return 1 if isinstance(text, str) else len(text)


def _text(number: int, row: Mapping[str, Any], key: str) -> Text:
    """A text, or the texts of several turns."""
    value = row[key]
    parts = list(value) if isinstance(value, list | tuple | np.ndarray) else [value]
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise DataError(f"record {number} has {value!r} as {key}, not a text")
    return parts[0] if len(parts) == 1 else tuple(parts)


def _is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and np.isnan(value))
