"""Answers in reports of promptfoo, of which `judgerank.reading.layouts.promptfoo` reads the scores.

A model is a provider, by its label. Outputs of the same prompt and variables answer the same question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgerank.data.errors import DataError
from judgerank.reading.answers.found import AnswerFormat, Found, are_messages, asked, first_of, written
from judgerank.reading.layouts.promptfoo import outputs_in, provider_of, test_of
from judgerank.reading.layouts.table import Table


def _of_report(table: Table) -> Iterator[Found]:
    return _answers(outputs_in(table))


def _of_lines(table: Table) -> Iterator[Found]:
    return _answers(table.frame.to_dict("records"))


def _answers(outputs: Sequence[Any]) -> Iterator[Found]:
    results = [result for result in outputs if isinstance(result, Mapping)]
    if len(results) < len(outputs):
        raise DataError("a result is no object")
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
    AnswerFormat("promptfoo's report", ("results", "config"), _of_report, _is_report),
    AnswerFormat(
        "promptfoo's report, a line for each output", ("provider", "prompt", "vars", "response"), _of_lines
    ),
)
