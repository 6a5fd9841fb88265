"""Answers in what evaluation tools keep: Every Eval Ever, lm-evaluation-harness, inspect_ai and promptfoo."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from judgerank.data.errors import DataError
from judgerank.reading.answers.found import (
    AnswerFormat,
    Found,
    answered,
    are_messages,
    asked,
    first_of,
    records_of,
    split_at_answer,
    written,
)
from judgerank.reading.layouts.promptfoo import outputs_in, provider_of, test_of
from judgerank.reading.layouts.sample_scores import inspect_logs, model_and_task
from judgerank.reading.layouts.table import Table

# Every Eval Ever's instance files, schema 0.2 and 0.3 (``instance_level_eval.schema.json``).
#
# See https://github.com/evaleval/every_eval_ever: one record for each sample, or several if it has several scores.


NEEDS = ("model_id", "sample_id", "interaction_type", "input")


def _of_instances(table: Table) -> Iterator[Found]:
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


# Samples of lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` of ``--log_samples``.
#
# The folder alone names the model, as in `judgerank.reading.layouts.sample_scores`. Tasks that compare likelihoods
# have no answers.


LIST = (list, tuple, np.ndarray)


def _of_harness(table: Table) -> Iterator[Found]:
    model, task = model_and_task(table)
    for number, record in records_of(table):
        target = record.get("target")
        yield Found(
            number,
            f"{task}/{record['doc_id']}",
            _prompt(number, record.get("arguments")),
            str(record.get("model") or model),
            _reply(number, record.get("resps")),
            str(target) if target not in (None, "") else None,
        )


def _prompt(number: int, arguments: Any) -> str:
    """The prompt that the model was sent: the first argument of the first request."""
    first: Any = arguments
    for _ in range(2):  # the requests, and the arguments of one
        if isinstance(first, Mapping):
            first = next(iter(first.values()), None)
        elif isinstance(first, LIST) and len(first):
            first = first[0]
    if not isinstance(first, str):
        raise DataError(f"record {number} does not say what the model was asked (arguments)")
    return first


def _reply(number: int, replies: Any) -> str:
    reply: Any = replies
    while isinstance(reply, LIST) and len(reply) == 1:
        reply = reply[0]
    if not isinstance(reply, str):
        raise DataError(
            f"record {number} holds no answer in words ({reply!r:.60}): the task compares likelihoods, or asks "
            "for several answers"
        )
    return reply


# Logs of inspect_ai: ``EvalLog`` in https://inspect.aisi.org.uk/eval-logs.html, as JSON or ``.eval``.
#
# A question is a sample of a task, and each epoch is an answer of its own. What an agent did is shown in full.


ATTACHED = "attachment://"  # what stands for a long text, which the sample has under its digest


def _of_logs(table: Table) -> Iterator[Found]:
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


# Reports of promptfoo, of which `judgerank.reading.layouts.promptfoo` reads the scores.
#
# A model is a provider, by its label. Outputs of the same prompt and variables answer the same question.


def _of_report(table: Table) -> Iterator[Found]:
    return _of_outputs(outputs_in(table))


def _of_lines(table: Table) -> Iterator[Found]:
    return _of_outputs(table.frame.to_dict("records"))


def _of_outputs(outputs: Sequence[Any]) -> Iterator[Found]:
    results = [result for result in outputs if isinstance(result, Mapping)]
    if len(results) < len(outputs):
        raise DataError("a result is not an object")
    several = len({_template(result) for result in results}) > 1
    for number, output in enumerate(results, 1):
        name = test_of(number, output)
        response = output.get("response")
        answer = response.get("output") if isinstance(response, Mapping) else None
        failed = answer is None or (bool(output.get("error")) and not answer)
        yield Found(
            number,
            f"{name} | {_template(output)}" if several else name,
            _question(output),
            provider_of(number, output),
            None if failed else written(answer),
            attempt=number,
        )


def _template(output: Mapping[str, Any]) -> str:
    """Name of the prompt before variables are filled in, by which prompts of a report differ."""
    prompt = output.get("prompt")
    label = prompt.get("label") if isinstance(prompt, Mapping) else None
    return str(label or output.get("promptId") or "")


def _question(output: Mapping[str, Any]) -> str:
    """The prompt as it was sent: a text, or messages, which are written as JSON."""
    prompt = output.get("prompt")
    raw = prompt.get("raw") if isinstance(prompt, Mapping) else prompt
    if isinstance(raw, str) and raw.lstrip().startswith("["):
        try:
            messages = json.loads(raw)
        except ValueError:
            return raw
        return asked(messages) if are_messages(messages) else raw
    return written(raw)


def _is_report(table: Table) -> bool:
    first = first_of(table, "results")
    return isinstance(first, Mapping) and "results" in first


FORMATS = (
    AnswerFormat("instances of Every Eval Ever", NEEDS, _of_instances),
    AnswerFormat("samples of lm-evaluation-harness", ("doc_id", "doc", "resps"), _of_harness),
    AnswerFormat("a log of inspect_ai", ("eval", "samples"), _of_logs),
    AnswerFormat("promptfoo's report", ("results", "config"), _of_report, _is_report),
    AnswerFormat(
        "promptfoo's report, a line for each output", ("provider", "prompt", "vars", "response"), _of_lines
    ),
)
