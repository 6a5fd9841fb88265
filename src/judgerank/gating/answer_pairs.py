"""Two files of answers as questions for a panel; equal answers are a tie, and nobody is asked about them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgerank.data import QUESTION
from judgerank.data.errors import ConfigError, DataError
from judgerank.reading.layouts.answer_versions import key_of

OLD, NEW = "old", "new"  # what the two are called in the judgments
ANSWER = "answer"
KEYS = ("question_id", "question", ANSWER)
Text = str | list[str]


@dataclass(frozen=True)
class Pair:
    """A question with two answers.

    Attributes
    ----------
    question_id : str
        As the files have it.
    key : str
        The same and a digest of all three texts, so that a judgment is found again while nothing has changed.
    labels : mapping of str to str
        Further columns of the files, such as ``category``, in which they do not contradict each other.
    """

    question_id: str
    key: str
    question: Text
    old: Text
    new: Text
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_same(self) -> bool:
        return self.old == self.new

    def rows(self) -> list[dict[str, Any]]:
        """The question as `judgerank collect` reads it."""
        question_fields = {"question_id": self.key, "question": self.question}
        return [
            question_fields | {"model": OLD, "answer": self.old},
            question_fields | {"model": NEW, "answer": self.new},
        ]


def paired(old: Path, new: Path) -> list[Pair]:
    """The questions of both files, in an order that depends on nothing but their names.

    Raises
    ------
    DataError
        If a file cannot be read, or the two have different questions.
    """
    before, after = answers_in(old), answers_in(new)
    unpaired = sorted(before.keys() ^ after.keys())
    if unpaired:
        where = new if unpaired[0] in before else old
        raise DataError(f"{where.name} has no answer to question {unpaired[0]!r}, and the other file has one")
    pairs = []
    for name, record in before.items():
        question, answer, answer_after = record["question"], record[ANSWER], after[name][ANSWER]
        if after[name]["question"] != question:
            raise DataError(f"question {name!r} has another text in {new.name} than in {old.name}")
        key = key_of(name, _digest([question, answer, answer_after]))
        pairs.append(Pair(name, key, question, answer, answer_after, _labels(record, after[name])))
    return sorted(pairs, key=lambda pair: _digest(pair.question_id))


def _labels(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Values of further columns by name: those that both records have alike, or that one alone has."""
    either = {**new, **old}
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in either.items()
        if name not in KEYS and isinstance(value, str | int | float) and new.get(name, value) == value
    }


def labels_of(pairs: Iterable[Pair]) -> dict[str, dict[str, str]]:
    """Values of further columns of the answers by question, by column."""
    columns: dict[str, dict[str, str]] = {}
    for pair in pairs:
        for name, value in pair.labels.items():
            columns.setdefault(name, {})[pair.question_id] = value
    return columns


def require_columns(pairs: Sequence[Pair], unit: str, groups: Iterable[str] = ()) -> None:
    """Refuse to ask a panel where the answers lack a column that the rule needs.

    Parameters
    ----------
    pairs : sequence of Pair
    unit : str
        What was sampled, of which every question has one.
    groups : iterable of str
        Columns of groups to protect.

    Raises
    ------
    ConfigError, DataError
    """
    columns = labels_of(pairs)
    if absent := sorted({unit, *groups} - {QUESTION} - columns.keys()):
        raise ConfigError(f"the answers have no column {absent[0]!r} that both files have alike")
    lacking = [] if unit == QUESTION else [pair for pair in pairs if pair.question_id not in columns[unit]]
    if lacking:
        raise DataError(f"question {lacking[0].question_id!r} has no {unit!r}, or another one in either file")


def texts_of(pairs: Sequence[Pair]) -> dict[str, Pair]:
    """The same by question, to be shown beside judgments."""
    return {pair.question_id: pair for pair in pairs}


def answers_in(path: Path) -> dict[str, Mapping[str, Any]]:
    """Records by id, from JSON Lines with ``question_id``, ``question``, ``answer`` and further keys."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name} cannot be read: {error}") from None
    answers: dict[str, Mapping[str, Any]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = _record(path, number, line)
        name = str(record["question_id"])
        if name in answers:
            raise DataError(f"{path.name}: line {number} is a second answer to question {name!r}")
        answers[name] = record
    if not answers:
        raise DataError(f"{path.name} holds no answers")
    return answers


def _record(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        raise DataError(f"{path.name}: line {number} is not JSON") from None
    for key in KEYS:
        value = record.get(key) if isinstance(record, dict) else None
        if value is None or (value in ("", []) and key != ANSWER):  # an empty answer is one, and 0 is an id
            raise DataError(f"{path.name}: line {number} has no {key!r} (expected: {', '.join(KEYS)})")
    return record


def write_answers(path: Path, questions: Mapping[str, str], answer: Callable[[str], str]) -> None:
    """Answer all questions, by id, and write the file that `answers_in` reads."""
    rows = ({"question_id": name, "question": text, "answer": answer(text)} for name, text in questions.items())
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _digest(texts: object) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()
