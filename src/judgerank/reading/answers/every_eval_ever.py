"""Answers in instance files of Every Eval Ever, schema 0.2 and 0.3 (``instance_level_eval.schema.json``).

See https://github.com/evaleval/every_eval_ever: one record for each sample, or several if it has several scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgerank.data.errors import DataError
from judgerank.reading.answers.found import (
    AnswerFormat,
    Found,
    answered,
    are_messages,
    asked,
    records_of,
    split_at_answer,
)
from judgerank.reading.layouts.table import Table

NEEDS = ("model_id", "sample_id", "interaction_type", "input")


def _answers(table: Table) -> Iterator[Found]:
    for number, record in records_of(table):
        sample_input = record["input"]
        if not isinstance(sample_input, Mapping) or not isinstance(sample_input.get("raw"), str):
            raise DataError(f"record {number} has no text of its input (input.raw)")
        listed = sample_input.get("reference")
        reference = [str(text) for text in listed] if listed is not None else []
        question, answers = _conversation(record, str(sample_input["raw"]))
        for attempt, answer in enumerate(answers or [None], 1):
            yield Found(
                number,
                str(record["sample_id"]),
                question,
                str(record["model_id"]),
                answer or None,
                "\n".join(reference) or None,
                attempt,
            )


def _conversation(record: Mapping[str, Any], raw: str) -> tuple[str, list[str]]:
    """Text of the question, and of each answer to it."""
    messages, output = record.get("messages"), record.get("output")
    if are_messages(messages):
        before, after = split_at_answer(list(messages))
        return (asked(before) if before else raw), [answered(after)] if after else []
    raw_outputs = output.get("raw") if isinstance(output, Mapping) else None
    return raw, [str(text) for text in raw_outputs] if raw_outputs is not None else []


FORMATS = (AnswerFormat("instances of Every Eval Ever", NEEDS, _answers),)
