"""What a judge is shown."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgerank.collecting.images import content_of, mode_of
from judgerank.collecting.replies import LETTERS, Form
from judgerank.collecting.settings import Judge, Prompt
from judgerank.collecting.task_order import Questions, Task
from judgerank.data.errors import ConfigError
from judgerank.reading.answers.found import Text

_FENCES = re.compile(r"`+")
SHORTEST_FENCE = 3
NONCE_LENGTH = 8  # of 16 letters: four billion words


def fill(
    template: str,
    question: Text,
    first: Text,
    second: Text,
    reference: Text | None = None,
    nonce: str = "",
) -> str:
    """The prompt for one comparison.

    Each text stands between two fences, lines of backticks longer than any run of them in what is filled in. So no
    text can end its own part, and no two different pairs of answers give the same prompt. A conversation has each
    of its turns between fences of its own.

    Raises
    ------
    ConfigError
        If the template lacks ``{question}``, ``{first}`` or ``{second}``, has other fields than these,
        ``{reference}`` and ``{nonce}``, or there is no reference to fill in.
    """
    return _filled(template, {"question": question, "first": first, "second": second}, {}, reference, nonce)


def fill_ranking(template: str, question: Text, answers: Sequence[Text], reference: Text | None = None) -> str:
    """The prompt for a ranking of several answers: as `fill`, with all of them, by letters, at ``{answers}``.

    Raises
    ------
    ConfigError
    """
    return _filled(template, {"question": question}, dict(zip(LETTERS, answers, strict=False)), reference)


def _filled(
    template: str,
    texts: dict[str, Text],
    lettered: Mapping[str, Text],
    reference: Text | None,
    nonce: str = "",
) -> str:
    missing = [name for name in (*texts, *(["answers"] if lettered else [])) if f"{{{name}}}" not in template]
    if missing:
        raise ConfigError(f"the prompt's text does not say where {{{missing[0]}}} goes")
    if reference is not None:
        texts = texts | {"reference": reference}
    runs = (
        len(run)
        for text in ((template,), *map(turns_of, (*texts.values(), *lettered.values())))
        for part in text
        for run in _FENCES.findall(part)
    )
    fence = "`" * max(SHORTEST_FENCE, 1 + max(runs, default=0))
    fields = {name: _fenced(text, fence) for name, text in texts.items()} | ({"nonce": nonce} if nonce else {})
    if lettered:
        responses = (f"Model {letter} Response:\n{_fenced(text, fence)}" for letter, text in lettered.items())
        fields["answers"] = "\n\n".join(responses)
    try:
        return template.format_map(fields)
    except (KeyError, ValueError, IndexError, AttributeError) as error:
        raise ConfigError(f"the prompt's text has a field that nothing fills: {error}") from None


def turns_of(text: Text) -> tuple[str, ...]:
    """The texts of the turns of a question or an answer."""
    return (text,) if isinstance(text, str) else text


def _fenced(text: Text, fence: str) -> str:
    if isinstance(text, str):
        return f"{fence}\n{text}\n{fence}"
    return "\n".join(f"Turn {number}:\n{fence}\n{part}\n{fence}" for number, part in enumerate(text, 1))


def for_criterion(prompt: Prompt, name: str) -> Prompt:
    """The prompt that asks by one criterion alone."""
    criterion_text = prompt.criteria[name].replace("{", "{{").replace("}", "}}")
    text = prompt.text.replace("{criterion}", criterion_text)
    return prompt.model_copy(update={"name": f"{prompt.name}, {name}", "text": text, "criteria": {}})


def messages(prompt: Prompt, questions: Questions, task: Task, judge: Judge) -> list[dict[str, Any]]:
    """What a judge is sent for one comparison, or one ranking."""
    answers = [questions.answers[task.question_id][name] for name in task.models]
    question = questions.text[task.question_id]
    reference = questions.reference.get(task.question_id) if "{reference}" in prompt.text else None
    if prompt.ranks:
        text = fill_ranking(prompt.text, question, answers, reference)
    else:
        nonce = nonce_of(task, questions) if prompt.nonce else ""
        text = fill(prompt.text, question, answers[0], answers[1], reference, nonce)
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    content = content_of(text, questions.images if mode_of(judge) == "send" else {})
    return [*system, {"role": "user", "content": content}]


def nonce_of(task: Task, questions: Questions) -> str:
    """A word for one request that no answer can know: it follows from both answers and from who is asked what.

    It is the same in a later run, which may fetch the reply from a batch.
    """
    texts = [*turns_of(questions.text[task.question_id])]
    for name in task.models:
        texts += [name, *turns_of(questions.answers[task.question_id][name])]
    content = json.dumps([task.question_id, task.judge, task.repeat, *texts])
    return hashlib.sha256(content.encode()).hexdigest()[:NONCE_LENGTH]


def form_of(prompt: Prompt, questions: Questions, task: Task, judge: Judge, is_structured: bool) -> Form:
    """The form of the verdict that a request asks for; functions and people reply in our own words."""
    answers = [questions.answers[task.question_id][name] for name in task.models]
    texts = [questions.text[task.question_id], *answers, questions.reference.get(task.question_id, "")]
    return Form(
        kind="line" if judge.is_local else prompt.kind,
        nonce=nonce_of(task, questions) if prompt.nonce and not judge.is_local else "",
        is_structured=is_structured,
        is_graded=prompt.scale == 5,
        texts=tuple(part for text in texts for part in turns_of(text)),
    )


def require_references(prompt: Prompt, questions: Questions) -> None:
    """Every question has a reference answer, where the prompt shows one.

    Raises
    ------
    ConfigError
    """
    if "{reference}" in prompt.text:
        without = [name for name in questions.answers if name not in questions.reference]
        if without:
            raise ConfigError(
                f"the prompt shows a reference answer, and question {without[0]!r} has none (column reference)"
            )
