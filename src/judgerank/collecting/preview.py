"""What a dry run shows: each judge's first request as it would be sent, and what can be checked without asking."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx

from judgerank.collecting.client import Client
from judgerank.collecting.collection import Study
from judgerank.collecting.costs import is_priced, prompt_tokens
from judgerank.collecting.images import images_of_task, mode_of
from judgerank.collecting.library import listed
from judgerank.collecting.prompts import messages
from judgerank.collecting.requests import is_bounded, longest, refused_sentences, request, rule_of
from judgerank.collecting.response import AttemptFailed, Refused
from judgerank.collecting.secrets import STANDS_FOR, Secrets, available_keys, keys
from judgerank.collecting.settings import Judge, Prompt
from judgerank.collecting.task_order import Task

log = logging.getLogger("judgerank")
SHOWN = 60  # characters of each text of a request
SOON = timedelta(days=90)  # before a model's end, which is then worth a word
NO_KEY = "(no key)"  # a word that is none stands in its place
KEYS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")  # headers that carry a key


def preview(study: Study, tasks: Sequence[Task]) -> None:
    """Say what each judge's first request is, and what is wrong with it; nothing is sent.

    Of a judge who is sent images it is the first that has one.
    """
    first: dict[str, Task] = {}
    for task in tasks:
        first.setdefault(task.judge, task)
    if study.questions.images:
        for task in reversed(tasks):
            if mode_of(study.judges[task.judge]) == "send" and images_of_task(task, study.questions):
                first[task.judge] = task
    judges = {name: judge for name, judge in study.judges.items() if not judge.is_local and name in first}
    if judges:
        asyncio.run(_preview(study, judges, first))


async def _preview(study: Study, judges: Mapping[str, Judge], first: Mapping[str, Task]) -> None:
    prompt = study.settings.prompt
    known_keys = keys(judge for judge in judges.values() if _has_key(judge))
    client, secrets = Client(judges, prompt, 60.0, known_keys), Secrets(available_keys(judges.values()))
    try:
        for name, judge in judges.items():
            sent = messages(prompt, study.questions, first[name], judge)
            try:
                made = await client.prepared(judge, sent)
                log.info(
                    "first request to judge %r: %s", name, secrets.blanked(request_text(made, name in known_keys))
                )
            except (AttemptFailed, Refused) as error:
                log.warning(
                    "warning: no request can be made to judge %r: %s", name, secrets.blanked(error.message)
                )
            for sentence in [*refused_sentences(name, client.refused[name]), *checks(judge, prompt, sent)]:
                log.warning("warning: %s", sentence)
    finally:
        await client.close()


def _has_key(judge: Judge) -> bool:
    return judge.api_key_env is not None and bool(os.environ.get(judge.api_key_env))


def request_text(made: httpx.Request, has_key: bool) -> str:
    """A request in a line for its address, one for its header with the key, and one for its body."""
    url = str(made.url.copy_with(query=None))
    keyed = [name for name in KEYS if name in made.headers]
    header = f"\n  {keyed[0]}: {STANDS_FOR if has_key else NO_KEY}" if keyed else ""
    return f"{made.method} {url}{header}\n  {json.dumps(_shortened(json.loads(made.content)), ensure_ascii=False)}"


def _shortened(content: Any) -> Any:
    """What JSON holds, with the beginning of each long text."""
    if isinstance(content, str):
        return content if len(content) <= SHOWN else f"{content[:SHOWN]}... ({len(content)} characters)"
    if isinstance(content, list):
        return [_shortened(part) for part in content]
    if isinstance(content, dict):
        return {name: _shortened(part) for name, part in content.items()}
    return content


def checks(judge: Judge, prompt: Prompt, sent: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Sentences on what a judge's server would refuse, and on what is not known."""
    name, rule, parameters = f"judge {judge.judge!r}", rule_of(judge), request(judge, prompt)
    if judge.api_key_env is not None and not _has_key(judge):
        yield f"{name}: the environment variable {judge.api_key_env} holds no key yet"
    if not is_priced(judge):
        yield f"{name} has no price: what it costs is unknown (prompt_price and completion_price say it)"
    if not is_bounded(judge):
        yield f"{name} is not told how long a reply may be: what it costs at most is not known"
    if judge.reasoning_budget and judge.reasoning_budget < rule.least_budget:
        yield f"{name}: {rule.family} takes a reasoning_budget of at least {rule.least_budget} tokens"
    if judge.logprobs and "logprobs" not in parameters:
        yield f"{name}: {rule.family} gives no logprobs here; letters will have no probabilities"
    if prompt.temperature and "temperature" not in parameters:
        yield f"{name}: {rule.family} takes no temperature here; the prompt's {prompt.temperature:g} is left out"
    listed_limits = {} if judge.base_url else listed(judge)
    wanted_of = {"max_output_tokens": longest(judge, prompt), "max_input_tokens": prompt_tokens(judge, sent)}
    for key, wanted in wanted_of.items():
        part = "reply" if key == "max_output_tokens" else "prompt"
        if isinstance(listed_limits.get(key), int) and wanted > listed_limits[key]:
            yield f"{name}: a {part} may take {wanted} tokens, and its model takes {listed_limits[key]}"
    ends = listed_limits.get("deprecation_date")
    if ends and date.fromisoformat(ends) <= datetime.now(UTC).date() + SOON:
        yield f"{name}: its provider announced the end of {judge.sent} for {ends}"
