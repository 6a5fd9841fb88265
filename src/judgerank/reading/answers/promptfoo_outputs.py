"""Answers in reports of promptfoo, of which `judgerank.reading.layouts.promptfoo` reads the scores.

A model is a provider, by its label. Outputs of the same prompt and variables answer the same question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgerank.data.errors import DataError
from judgerank.reading.answers.found import AnswerFormat, Found, first_of
from judgerank.reading.answers.transcripts import are_messages, asked, written
from judgerank.reading.layouts.promptfoo import outputs_in, provider_of, test_of
from judgerank.reading.layouts.table import Table


def _of_report(table: Table) -> Iterator[Found]:
    return _found(outputs_in(table))


def _of_lines(table: Table) -> Iterator[Found]:
    return _found(table.frame.to_dict("records"))


def _found(outputs: Sequence[Any]) -> Iterator[Found]:
    told = [one for one in outputs if isinstance(one, Mapping)]
    if len(told) < len(outputs):
        raise DataError("a result is no object")
    several = len({_template(one) for one in told}) > 1
    for place, output in enumerate(told, 1):
        name = test_of(place, output)
        response = output.get("response")
        said = response.get("output") if isinstance(response, Mapping) else None
        failed = said is None or (bool(output.get("error")) and not said)
        yield Found(
            place,
            f"{name} | {_template(output)}" if several else name,
            _question(output),
            provider_of(place, output),
            None if failed else written(said),
            attempt=place,
        )


def _template(output: Mapping[str, Any]) -> str:
    """What tells one prompt of a report from another, whatever the variables."""
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
