"""Where questions and answers are read from: our own table, files of other tools, folders of texts, platforms."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pandas as pd
from pandas.api.types import is_object_dtype

from judgerank.collecting.platforms import fetched, is_platform
from judgerank.collecting.task_order import Questions
from judgerank.data.errors import DataError
from judgerank.data.frames import question_name
from judgerank.data.listing import counted, listed
from judgerank.reading.answers import FORMATS, answers_in, recognised_answers
from judgerank.reading.answers.found import (
    Found,
    Named,
    Text,
    answered,
    are_messages,
    are_parts,
    asked,
    images_in,
    is_text_folder,
    references,
    text_of,
    texts_in,
)
from judgerank.reading.contents import split
from judgerank.reading.file_formats import form_of, opened
from judgerank.reading.files import labels_of, named, paths_of
from judgerank.reading.hub import is_hub, load_rows
from judgerank.reading.layouts.table import Table
from judgerank.reading.tabular import Tabular, frame_of, is_tabular

log = logging.getLogger("judgerank")
COLUMNS = {"question_id": "question_id", "question": "question", "model": "model", "answer": "answer"}
REFERENCE = "reference"
OWN_NAME = re.compile(r"\w[\w.-]*/[\w.-]+(@[^@]+?)?(::.+)?")  # of a set on the hub, as it is called there
Source = str | Path | Tabular
Columns = Mapping[str, str | None]


def read_questions(
    source: Source | Sequence[str | Path], columns: Columns, answers: str | None = None
) -> Questions:
    """Read questions and the models' answers from wherever they are.

    Parameters
    ----------
    source : str or Path, or several; or a table
        Files in our own columns (any form that judgments may have), files that other tools wrote
        (`judgerank.reading.answers.FORMATS`), patterns and folders of these, a folder of text files by model, a
        set on the hub such as ``openbmb/UltraFeedback``, or ``langfuse:DATASET`` and ``phoenix:DATASET``
        (`judgerank.collecting.platforms`). A table is a frame of pandas, or anything that `judgerank.read`
        takes, such as a table of polars, DuckDB or pyarrow.
    columns : mapping of str to str
        The names of ``question_id``, ``question``, ``model``, ``answer`` and ``reference`` (which may be missing),
        where they are others. In nested form without ids, questions are numbered by their rows. A question of
        several turns is a list of texts, and so is each answer to it. A list of messages is shown as a transcript,
        and a list of parts of a message, such as images, as their texts and references.
    answers : str, optional
        Column that holds a list of objects with ``model`` and ``answer``; else there is one row for each answer.

    Raises
    ------
    DataUnavailableError
        If there is neither such a file nor access to the hub or the platform.
    DataError
        Naming the file and the record (counted from 1) at fault.
    """
    if _is_table(source):
        return _questions([_read("", Table(frame_of(source)), columns, answers, None)])
    return _questions(
        [part for file_source in _several(source) for part in parts_of(file_source, columns, answers)]
    )


def files_of(sources: Iterable[str]) -> list[Path]:
    """Files on disk among the sources, to which nothing may be written."""
    roots = [split(Path(source))[0] for source in sources if not is_platform(source) and not is_hub(source)]
    existing = [path for pattern in roots for path in ([pattern] if pattern.exists() else _matching(pattern))]
    within = (path.rglob("*") if path.is_dir() else [path] for path in existing)
    return [path for paths in within for path in paths if path.is_file()]


def _matching(pattern: Path) -> list[Path]:
    return [Path(name) for name in sorted(glob(str(pattern), recursive=True))]  # noqa: PTH207  # may be absolute


def _several(source: object) -> list[str]:
    if isinstance(source, str | Path):
        return [str(source)]
    return [str(item) for item in source] if isinstance(source, list | tuple) else []


def _is_table(source: object) -> TypeGuard[Tabular]:
    return not isinstance(source, str | Path) and is_tabular(source)


@dataclass(frozen=True)
class Part:
    """What one file holds: what it is called, what was found in it, and images that its records name."""

    label: str
    answers: list[Found]
    images: list[Named]


def _read(label: str, table: Table, columns: Columns, answers: str | None, folder: Path | None) -> Part:
    cells = (value for _, column in table.frame.items() if is_object_dtype(column) for value in column)
    images = [image for cell in cells for image in images_in(cell, folder)]
    return Part(label, list(_rows(table, columns, answers)), images)


def parts_of(source: str, columns: Columns, answers: str | None) -> Iterator[Part]:
    """What each file of a source holds."""
    path = Path(source)
    if is_platform(source):
        fetched_answers = list(fetched(source))
        yield Part(source, fetched_answers, [image for item in fetched_answers for image in item.images])
    elif is_text_folder(path):
        with named(path.name):
            yield Part(path.name, list(texts_in(path)), [])
    elif is_hub(source) or (OWN_NAME.fullmatch(source) and not _is_file(path)):
        with named(path.name):
            yield _read(path.name, Table(load_rows(source).to_pandas(), label=source), columns, answers, None)
    else:
        paths = paths_of(source)
        for item, label in zip(paths, labels_of(paths), strict=True):
            with named(label):
                table = Table(opened(item, None).read(), path=item, label=label)
                yield _read(label, table, columns, answers, split(item)[0].parent)


def _is_file(path: Path) -> bool:
    """Whether a source is on disk: a set on the hub is named like a folder, which is not there."""
    root = split(path)[0]
    return root.exists() or bool(form_of(root)) or any(sign in str(path) for sign in "*?[")


def _rows(table: Table, columns: Columns, answers: str | None) -> Iterator[Found]:
    """What a table holds, in our own columns or in another tool's."""
    if table.frame.empty:
        raise DataError("there are no answers: the table is empty")
    names = COLUMNS | {REFERENCE: REFERENCE} | {key: name for key, name in columns.items() if name}
    ours = answers or any(columns.values()) or {*COLUMNS.values()} <= set(table.frame.columns)
    form = None if ours else recognised_answers(table)
    if form is not None:
        yield from answers_in(table, form)
        return
    needed = [names["question"], answers] if answers else [names[key] for key in COLUMNS]
    if names[REFERENCE] != REFERENCE:
        needed.append(names[REFERENCE])
    missing = [name for name in needed if name not in table.frame.columns]
    if missing:
        column_names = ", ".join(map(str, table.frame.columns[:20]))
        other_formats = (
            "" if ours else f"; nor is it one of: {', '.join(known_format.name for known_format in FORMATS)}"
        )
        raise DataError(f"the table has no column {missing[0]!r} (it has: {column_names}){other_formats}")
    yield from _ours(table.frame, names, answers)


def _ours(table: pd.DataFrame, names: Mapping[str, str], answers: str | None) -> Iterator[Found]:
    for number, record in enumerate(table.to_dict("records"), 1):
        name = record.get(names["question_id"], number)
        if name is None:
            raise DataError(f"record {number} has no question_id")
        question = _text(number, record[names["question"]], "question")
        reference_value = record.get(names[REFERENCE])
        reference = None if _is_missing(reference_value) else _text(number, reference_value, REFERENCE)
        for answer in record[answers] if answers else [record]:
            if not isinstance(answer, dict) or not {names["model"], names["answer"]} <= answer.keys():
                raise DataError(
                    f"record {number} has an answer without {names['model']!r} and {names['answer']!r}"
                )
            model = answer[names["model"]]
            if not isinstance(model, str) or not model:
                raise DataError(f"record {number} has {model!r} as model, not a text")
            answer_text = _text(number, answer[names["answer"]], "answer")
            yield Found(number, question_name(name), question, model, answer_text, reference)


def _text(number: int, value: Any, key: str) -> Text:
    """A text, the texts of several turns, or messages as a transcript; an answer may be empty."""
    if are_messages(value):
        return (asked if key == "question" else answered)(list(value))
    if are_parts(value):
        return text_of(list(value))
    parts = list(value) if isinstance(value, list | tuple | np.ndarray) else [value]
    may_be_empty = key == "answer"  # which is a failure to judge, not a missing value
    if not parts or not all(isinstance(part, str) and (part or may_be_empty) for part in parts):
        raise DataError(f"record {number} has {value!r} as {key}, not a text")
    return parts[0] if len(parts) == 1 else tuple(parts)


def _is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and np.isnan(value))


def _questions(parts: Sequence[Part]) -> Questions:
    """All questions with at least one answer; a question's text may be in another file than the answers."""
    text: dict[str, Text] = {}
    reference: dict[str, Text] = {}
    for part in parts:
        with named(part.label) if part.label else nullcontext():
            for answer in part.answers:
                _agree(text, answer.record, answer.question_id, answer.question, "text")
                _agree(reference, answer.record, answer.question_id, answer.reference, "reference")
    answers: dict[str, dict[str, Text]] = {}
    failed, empty = Counter[str](), Counter[str]()
    for part in parts:
        with named(part.label) if part.label else nullcontext():
            for answer in part.answers:
                if answer.model is not None and answer.answer is None:
                    failed[answer.model] += 1
                elif answer.model is not None:
                    _add(answers, text, answer)
                    empty[answer.model] += not answer.answer
    for counts, what in (
        (failed, "left out, because the model did not answer"),
        (empty, "empty answers, which count as they are"),
    ):
        if by_model := [f"{model} ({count})" for model, count in sorted(counts.items()) if count]:
            log.warning("%s: %s", what, listed(by_model))
    if not any(len(models) > 1 for models in answers.values()):
        raise DataError("no question has answers of two models: there is nothing to compare")
    named_images = {image.reference: image for part in parts for image in part.images}
    texts = [text[name] for name in answers], *(replies.values() for replies in answers.values())
    image_names = references(answer for replies in texts for answer in replies) if named_images else ()
    images = {name: named_images[name] for name in image_names if name in named_images}
    return Questions({name: text[name] for name in answers}, answers, _of(reference, answers), images)


def _of(texts: Mapping[str, Text], names: Iterable[str]) -> dict[str, Text]:
    return {name: texts[name] for name in names if name in texts}


def _agree(texts: dict[str, Text], record: int, name: str, text: Text | None, what: str) -> None:
    """Keep a question's text; it is the same wherever it is told."""
    if text is not None and texts.setdefault(name, text) != text:
        raise DataError(f"record {record} has another {what} for question {name!r} than an earlier one")


def _add(answers: dict[str, dict[str, Text]], text: Mapping[str, Text], answer_read: Found) -> None:
    name, model = answer_read.question_id, str(answer_read.model)
    if name not in text:
        raise DataError(
            f"record {answer_read.record} answers question {name!r}, and no file has its text: "
            "name that of the questions"
        )
    if model in answers.setdefault(name, {}):
        raise DataError(f"record {answer_read.record} is a second answer of {model!r} to question {name!r}")
    answer = answer_read.answer if answer_read.answer is not None else ""
    if _turns(text[name]) != _turns(answer):
        raise DataError(
            f"record {answer_read.record} answers {counted(_turns(answer), 'turn')} of {name!r}, which has "
            f"{_turns(text[name])}"
        )
    answers[name][model] = answer


def _turns(text: Text) -> int:
    """Of a conversation; one of a plain text."""
    return 1 if isinstance(text, str) else len(text)
