"""Answers in logs of inspect_ai: ``EvalLog`` in https://inspect.aisi.org.uk/eval-logs.html, as JSON or ``.eval``.

A question is a sample of a task, and each epoch is an answer of its own. What an agent did is shown in full.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgerank.data.errors import DataError
from judgerank.reading.answers.found import AnswerFormat, Found, answered, are_messages, asked, split_at_answer
from judgerank.reading.layouts.sample_scores import inspect_logs
from judgerank.reading.layouts.table import Table

ATTACHED = "attachment://"  # what stands for a long text, which the sample has under its digest


def _answers(table: Table) -> Iterator[Found]:
    for header, samples in inspect_logs(table):
        for number, sample in enumerate(samples if isinstance(samples, list) else (), 1):
            if not isinstance(sample, Mapping) or sample.get("id") is None:
                raise DataError(f"sample {number} has no id")
            yield _of_sample(number, header, _with_attachments(sample, sample.get("attachments") or {}))


def _of_sample(number: int, header: Mapping[str, Any], sample: Mapping[str, Any]) -> Found:
    target = sample.get("target")
    answer = answer_of(sample)
    reference = "\n".join(map(str, target)) if isinstance(target, list) else str(target or "")
    return Found(
        number,
        f"{header['task']}/{sample['id']}",
        question_of(sample),
        str(header["model"]),
        None if sample.get("error") or not answer else answer,
        reference or None,
        sample.get("epoch", 1),
    )


def question_of(sample: Mapping[str, Any]) -> str:
    """Text of the question of a sample."""
    sample_input = sample.get("input")
    return asked(sample_input) if are_messages(sample_input) else str(sample_input or "")


def answer_of(sample: Mapping[str, Any]) -> str:
    """All that the model said and did in a sample; its reply alone if that is all."""
    messages = sample.get("messages")
    _, after = split_at_answer(_since_input(sample, messages) if are_messages(messages) else [])
    if len(after) > 1 or any(reply.get("tool_calls") for reply in after):
        return answered(after)
    output = sample.get("output") or {}
    choices = output.get("choices") or []
    message = choices[0].get("message") if choices and isinstance(choices[0], Mapping) else None
    return answered([message]) if isinstance(message, Mapping) else str(output.get("completion") or "")


def _since_input(sample: Mapping[str, Any], messages: Any) -> Sequence[Mapping[str, Any]]:
    """The messages without those that the sample began with, answers of a model among them."""
    sample_input = sample.get("input")
    spoken = [message for message in messages if message.get("role") != "system"]
    begun = sum(message.get("role") != "system" for message in sample_input) if are_messages(sample_input) else 0
    return spoken[begun:] if begun else spoken


def _with_attachments(value: Any, attached: Mapping[str, Any]) -> Any:
    """A sample with long texts where their digests stand."""
    if isinstance(value, str) and value.startswith(ATTACHED):
        return attached.get(value.removeprefix(ATTACHED), value)
    if isinstance(value, Mapping):
        return {
            key: inner if key in ("attachments", "events") else _with_attachments(inner, attached)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_with_attachments(inner, attached) for inner in value]
    return value


FORMATS = (AnswerFormat("a log of inspect_ai", ("eval", "samples"), _answers),)
