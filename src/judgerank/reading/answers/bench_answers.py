"""Questions and answers of benchmarks: AlpacaEval, MT-Bench and Arena-Hard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from judgerank.data.errors import DataError
from judgerank.reading.answers.found import (
    AnswerFormat,
    Found,
    Text,
    answered,
    are_messages,
    asked,
    first_of,
    named_by,
    records_of,
    split_at_answer,
)
from judgerank.reading.layouts.table import Table

# Outputs of AlpacaEval: ``model_outputs.json`` with ``instruction``, ``output`` and ``generator``.
#
# See https://github.com/tatsu-lab/alpaca_eval; a question is known by its text, since it has no name.


def _of_instructions(table: Table) -> Iterator[Found]:
    for number, record in records_of(table):
        question, output = record["instruction"], record["output"]
        if not isinstance(question, str) or not question:
            raise DataError(f"record {number} has {question!r:.60} as instruction, not a text")
        text = output if isinstance(output, str) and output else None
        yield Found(number, named_by(question), question, str(record["generator"]), text)


# MT-Bench and Arena-Hard, in files of their own: ``question.jsonl`` and one a model.
#
# FastChat (``fastchat/llm_judge/gen_model_answer.py``): ``question_id``, ``model_id``, ``choices`` with ``turns``.
# Those of Arena-Hard 0.1 have each turn as an object. Arena-Hard 2 (https://github.com/lmarena/arena-hard-auto):
# ``uid``, ``model`` and ``messages``; its questions have ``uid`` and ``prompt``.


LIST = (list, tuple, np.ndarray)


def _of_choices(table: Table) -> Iterator[Found]:
    for number, record in records_of(table):
        choices = record["choices"]
        for attempt, choice in enumerate(choices if isinstance(choices, LIST) else (), 1):
            if not isinstance(choice, Mapping) or "turns" not in choice:
                raise DataError(f"record {number} has a choice without 'turns'")
            answer = _turns(number, choice["turns"])
            yield Found(number, _name(record), None, str(record["model_id"]), answer, attempt=attempt)


def _of_messages(table: Table) -> Iterator[Found]:
    for number, record in records_of(table):
        if not are_messages(record["messages"]):
            raise DataError(f"record {number} has no messages")
        before, after = split_at_answer(record["messages"])
        answer = answered(after) if after else None
        yield Found(number, _name(record), asked(before), str(record["model"]), answer or None)


def _questions(table: Table) -> Iterator[Found]:
    for number, record in records_of(table):
        references = record.get("reference")
        reference = _turns(number, references) if isinstance(references, LIST) and len(references) else None
        turns = _turns(number, record["turns"])
        yield Found(
            number, _name(record), turns, reference=reference if _n_turns(reference) == _n_turns(turns) else None
        )


def _prompts(table: Table) -> Iterator[Found]:
    for number, record in records_of(table):
        yield Found(number, _name(record), str(record["prompt"]))


def _name(record: Mapping[str, Any]) -> str:
    return str(record["question_id"] if record.get("question_id") is not None else record["uid"])


def _turns(number: int, turns: Any) -> Text | None:
    """Texts of turns, which are texts, or objects with a content; None if one is empty, as after an error."""
    listed = [turn.get("content") if isinstance(turn, Mapping) else turn for turn in turns]
    if not listed or not all(isinstance(turn, str) for turn in listed):
        raise DataError(f"record {number} has turns that are no texts")
    if not all(listed):
        return None
    return str(listed[0]) if len(listed) == 1 else tuple(map(str, listed))


def _n_turns(text: Text | None) -> int:
    return 1 if isinstance(text, str) else len(text or ())


def _has_turns(table: Table) -> bool:
    return isinstance(first_of(table, "choices"), LIST)


def _no_model(table: Table) -> bool:
    return not {"model", "model_id", "choices", "messages"} & set(table.frame.columns)


FORMATS = (
    AnswerFormat("outputs of AlpacaEval", ("instruction", "output", "generator"), _of_instructions),
    AnswerFormat(
        "answers of MT-Bench or Arena-Hard 0.1", ("question_id", "model_id", "choices"), _of_choices, _has_turns
    ),
    AnswerFormat("answers of Arena-Hard 2", ("uid", "model", "messages"), _of_messages),
    AnswerFormat("questions of MT-Bench or Arena-Hard 0.1", ("question_id", "turns"), _questions, _no_model),
    AnswerFormat("questions of Arena-Hard 2", ("uid", "prompt"), _prompts, _no_model),
)
