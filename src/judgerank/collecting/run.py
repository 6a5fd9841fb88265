"""The paper's protocol (appendices D and E) with your own judges: from questions and answers to judgments.

A dry run shows each judge's first request as it would be sent, and what can be checked without asking.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from tqdm import tqdm

from judgerank.adaptive.rounds import Collected, ending
from judgerank.collecting.addresses import addressed, where
from judgerank.collecting.answer_sources import files_of, read_questions
from judgerank.collecting.batches.asking import Batches
from judgerank.collecting.batches.server import Pending
from judgerank.collecting.client import Client, listed
from judgerank.collecting.collection import Study, changed_since, digest
from judgerank.collecting.collector import Collector, together
from judgerank.collecting.costs import Budget, at_most, is_priced, learned, priced, prompt_tokens, spent_into
from judgerank.collecting.ledger import Ledger, Record, opened
from judgerank.collecting.messages import show, tell, tell_goal, tell_left, tell_pilot
from judgerank.collecting.prompts import (
    askable,
    for_criterion,
    image_sentences,
    images_of_task,
    messages,
    mode_of,
    require_images,
    require_references,
)
from judgerank.collecting.requests import is_bounded, longest, refused_sentences, request, rule_of
from judgerank.collecting.response import AttemptFailed, Refused
from judgerank.collecting.secrets import STANDS_FOR, Secrets, available_keys, keys
from judgerank.collecting.settings import Collection, Judge, Prompt
from judgerank.collecting.stop_goal import ask_until
from judgerank.collecting.task_order import Questions, Task, planned, retests
from judgerank.data.errors import ConfigError, DataError, EndpointError
from judgerank.data.listing import counted
from judgerank.ranking.recusal import is_recusing
from judgerank.reading.layouts.words import ANSWERS
from judgerank.writing.atomic import versions
from judgerank.writing.sidecars import content_of
from judgerank.writing.targets import Outputs

log = logging.getLogger("judgerank")
VERSIONED = ("judgerank", "numpy", "pandas", "litellm")


def collect(
    settings: Collection,
    dry_run: bool = False,
    pilot_only: bool = False,
    questions: Questions | None = None,
    wait: float = 0.0,
) -> list[Study]:
    """Ask for every judgment that is not in the file yet, and say how it goes.

    Parameters
    ----------
    settings : Collection
        With criteria in the prompt, each makes a file of its own, named after it.
    dry_run : bool
        Ask nothing, and say what it would take.
    pilot_only : bool
        Ask every judge a few requests, and say what the rest would take.
    questions : Questions, optional
        Questions and answers, such as `read_questions` makes of a table in memory; by default those that the
        settings name.
    wait : float
        Seconds to wait for another run that writes to the file of judgments.

    Returns
    -------
    list of Study
        What was wanted, for each file of judgments.

    Raises
    ------
    ConfigError
        If the file is another's or holds answers to other requests, there is no key that can be sent, or the
        environment names where to send it and that is not allowed.
    DataError, DataUnavailableError
        If there are no questions to be read, or the file of judgments is none.
    EndpointError
        If a judge was stopped; the others were asked all the same, and what was answered is kept.
    """
    with Secrets(available_keys(settings.panel.judges)).out_of_logs():
        return _collect(settings, dry_run, pilot_only, questions, wait)


def refuse_words_for_winners(models: Iterable[str]) -> None:
    """Refuse names that the file of judgments could not tell from an answer."""
    odd = next((model for model in models if model in ANSWERS), None)
    if odd is not None:
        raise DataError(f"a model is called {odd!r}, which in judgments is a word for an answer: rename it")


def _collect(
    settings: Collection, dry_run: bool, pilot_only: bool, given_questions: Questions | None, wait: float
) -> list[Study]:
    questions = given_questions or read_questions(settings.questions, settings.columns, settings.answers)
    refuse_words_for_winners(questions.models)
    require_references(settings.prompt, questions)
    judges = addressed(priced(settings), settings.prompt, settings.allow_env_url)
    plan = planned(questions, judges, settings)
    drawn = plan.first(settings.comparisons)
    tasks = askable(drawn, judges, questions)
    on_servers = [task for task in tasks if not judges[task.judge].is_local]
    again = retests(on_servers, settings.retest, settings.seed, settings.repeats)
    require_images(tasks, judges, questions)
    for sentence in image_sentences(drawn, judges, questions):
        log.warning("warning: %s", sentence)
    wanted = [*tasks, *again]
    sizes = {"question": len(questions.text), "model": len(questions.models), "request": len(wanted)}
    log.info("%s in all", ", ".join(counted(size, name) for name, size in sizes.items()))
    if again:
        share = f"{len(again) / len(tasks):.0%} of the others"
        log.info(
            "%d of them ask %s again, to see how often judges change their answer (--retest)", len(again), share
        )
    studies = [
        Study(criterion_settings, judges, questions, plan, wanted) for criterion_settings in by_criterion(settings)
    ]
    require_goal(studies[0])
    if dry_run:
        for study in studies:
            ledger, pending = Ledger(study.settings.output), Pending(study.settings.output)
            refuse_another_study(study, ledger, pending)
            open_tasks = [task for tasks_left in tell_left(study, ledger, pending) for task in tasks_left]
            show(study, open_tasks, ledger)
            preview(study, open_tasks)
        return studies
    record = {"settings": settings.model_dump(mode="json"), "versions": versions(VERSIONED)}
    record |= {"addresses": where(judges)}
    refuse_a_written_key(judges, record)
    with ExitStack() as stack:
        ledgers = [stack.enter_context(opened(study.settings.output, wait)) for study in studies]
        files = [
            (study, ledger, Pending(study.settings.output)) for study, ledger in zip(studies, ledgers, strict=True)
        ]
        outputs, records = Outputs(files_of(settings.questions)), []
        for study in studies:
            path = study.settings.output
            records.append(record_of(path))
            outputs.file(path, lambda _: True)  # that it holds judgments was looked at when it was opened
            outputs.file(records[-1], _is_record)
        budget = Budget(settings.budget)
        for study, ledger, pending in files:
            refuse_another_study(study, ledger, pending)
            budget.spent += spent_into(ledger, judges)
            budget.parked += sum(set_aside(study, ledger, pending).values())
        budget.before = budget.spent
        stopped: dict[str, str] = {}
        for (study, ledger, pending), path in zip(files, records, strict=True):
            judges_stopped, collected = ask(study, ledger, pending, budget, pilot_only)
            stopped |= judges_stopped
            of_file = record if collected is None else record | {"until": ending(collected)}
            outputs.write({path: (json.dumps(of_file, indent=2) + "\n").encode()})
    if stopped:
        raise EndpointError("; ".join(f"judge {name!r} was stopped: {why}" for name, why in stopped.items()))
    return studies


def record_of(judgments: Path) -> Path:
    """The record beside a file of judgments: settings, versions, and how a goal ended."""
    return judgments.with_name(f"{judgments.name}.run.json")


def _is_record(path: Path) -> bool:
    return {"settings", "versions"} <= (content_of(path) or {}).keys()


def require_goal(study: Study) -> None:
    """What is to be reached can be, there are answers to begin with, and each is there before the next is chosen.

    Raises
    ------
    ConfigError
    """
    if study.goal is not None and not study.settings.pilot:
        raise ConfigError("collecting until a goal is reached requires a pilot (--pilot)")
    by_batch = [name for name, judge in study.judges.items() if judge.batch]
    if study.goal is not None and by_batch:
        raise ConfigError(
            f"judge {by_batch[0]!r} is asked by batch, and collecting until something is known looks at answers "
            "before it asks on: it requires judges that answer live (batch: false)"
        )


def by_criterion(settings: Collection) -> list[Collection]:
    """The settings, or those for each criterion, which has its own file: judgments.NAME.jsonl."""
    prompt, path = settings.prompt, settings.output
    if not prompt.criteria:
        return [settings]
    return [
        settings.model_copy(update={"prompt": for_criterion(prompt, name), "output": _named(path, name)})
        for name in prompt.criteria
    ]


def _named(path: Path, criterion: str) -> Path:
    return path.with_name(f"{path.stem}.{criterion}{path.suffix}")


def refuse_a_written_key(judges: Mapping[str, Judge], record: Mapping[str, object]) -> None:
    """Keys come from the environment and go nowhere but to the servers that they were named for."""
    written = json.dumps(record, ensure_ascii=False)
    for name, key in keys(judges.values()).items():
        if Secrets([key]).blanked(written) != written:
            variable = judges[name].api_key_env
            raise ConfigError(
                f"the key in {variable}, or a part of it, is also in a setting, which would be stored with "
                "the judgments"
            )


def refuse_another_study(study: Study, ledger: Ledger, pending: Pending) -> None:
    """One file holds answers to one prompt, by judges that stay what they are, about texts that stay the same.

    So do the batches whose answers are to go there.
    """
    prompt = study.settings.prompt
    gone = [task for task in pending.tasks if not study.questions.have(task)]
    if gone:
        raise ConfigError(
            f"{pending.path.name}: a batch on its way asks about {' and '.join(map(repr, gone[0].models))} in "
            f"question {gone[0].question_id!r}, whose answers are no longer there"
        )
    files: list[tuple[str, list[Record], Sequence[Task]]] = [
        (study.settings.output.name, ledger.records, study.tasks),
        (pending.path.name, pending.requests, pending.tasks),
    ]
    for name, records, tasks in files:
        if any(record.get("prompt") != digest(prompt) for record in records):
            raise ConfigError(f"{name} holds answers to another prompt (--judgments FILE names another file)")
        changed = changed_since(records, tasks, study.judges, study.questions, prompt, study.settings.moved)
        if changed:
            raise ConfigError(f"{name}: {changed} (--judgments FILE names another file)")


def set_aside(study: Study, ledger: Ledger, pending: Pending) -> dict[Task, float]:
    """What each request in the batches on their way may cost."""
    prompt, questions, judges = study.settings.prompt, study.questions, study.judges
    bounds = learned(ledger.records, judges, questions, prompt)
    return {
        task: at_most(judges[task.judge], bounds.tokens(judges[task.judge], prompt, sent), batched=True)
        for task in pending.tasks
        if task.judge in judges and is_priced(judges[task.judge])
        for sent in [messages(prompt, questions, task, judges[task.judge])]
    }


def ask(
    study: Study, ledger: Ledger, pending: Pending, budget: Budget, pilot_only: bool
) -> tuple[dict[str, str], Collected | None]:
    """Ask and say how it went, also where it was cut short; judges that were stopped and why; how a goal ended."""
    if ledger.torn:
        log.info("the last line was cut off by a kill: %s dropped", counted(ledger.torn, "byte"))
    unanswered = study.missing(ledger.records)
    left, anchors = tell_left(study, ledger, pending)
    show(study, [*left, *anchors], ledger)
    collectors: list[Collector] = []
    try:
        collected = asyncio.run(_ask(study, ledger, pending, budget, left, anchors, pilot_only, collectors))
        ledger.refresh()  # what was written is still there
    finally:
        ledger.charges.end()
        for collector in collectors:
            tell(collector, len(unanswered) + len(anchors), pending)
    stopped = {name: breaker.why for name, breaker in collectors[0].breakers.items() if breaker.why is not None}
    return stopped, collected


async def _ask(
    study: Study,
    ledger: Ledger,
    pending: Pending,
    budget: Budget,
    tasks: list[Task],
    anchors: list[Task],
    pilot_only: bool,
    collectors: list[Collector],
) -> Collected | None:
    """Ask the pilot, then the rest and the anchors, and what is in batches already; how a goal ended."""
    settings = study.settings
    on_servers = {name: judge for name, judge in study.judges.items() if not judge.is_local}
    client = Client(on_servers, settings.prompt, settings.timeout)
    collector = Collector(settings, study.judges, client, ledger, study.questions, budget)
    collectors.append(collector)
    first, rest = piloting(tasks, settings.pilot, ledger.records)
    aside = set_aside(study, ledger, pending)
    collected: Collected | None = None
    try:
        waited_for = sum(task.judge in study.judges for task in pending.tasks)
        with tqdm(total=len(tasks) + len(anchors) + waited_for, desc="judgments") as progress:
            await collector.run(first, progress)
            collector.end_pilot()
            if first:
                progress.clear()
                tell_pilot(study, collector, rest)
            if study.goal is not None and not pilot_only:
                await collector.run(anchors, progress)
                known_records = [*ledger.records, *collector.written]
                records = [record for record in known_records if not record.get("anchor")]
                models = study.questions.models
                collected = await ask_until(
                    collector,
                    progress,
                    study.goal,
                    models,
                    rest,
                    records,
                    settings.seed,
                    is_recusing(settings.own_maker),
                )
                progress.clear()
                tell_goal(collected, settings.until or "", collector)
            elif not pilot_only:
                batches = Batches(collector, pending, settings.poll, progress, aside)
                live, batched = (
                    [task for task in [*anchors, *rest] if study.judges[task.judge].batch == by]
                    for by in (False, True)
                )
                await together([collector.run(live, progress), batches.run(batched)])
    finally:
        await client.close()
    return collected


def piloting(tasks: Sequence[Task], size: int, records: Sequence[Record]) -> tuple[list[Task], list[Task]]:
    """The first requests to each judge, less those it has answered already, and the rest."""
    n_asked = Counter[str](record["judge_model"] for record in records)
    first: list[Task] = []
    rest: list[Task] = []
    for task in tasks:
        n_asked[task.judge] += 1
        (first if n_asked[task.judge] <= size else rest).append(task)
    return first, rest


# What a dry run shows.
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
        yield f"{name}: {rule.family} requires a reasoning_budget of at least {rule.least_budget} tokens"
    if judge.logprobs and "logprobs" not in parameters:
        yield f"{name}: {rule.family} gives no logprobs here; letters will have no probabilities"
    if prompt.temperature and "temperature" not in parameters:
        yield f"{name}: {rule.family} accepts no temperature here; the prompt's {prompt.temperature:g} is left out"
    listed_limits = {} if judge.base_url else listed(judge)
    wanted_of = {"max_output_tokens": longest(judge, prompt), "max_input_tokens": prompt_tokens(judge, sent)}
    for key, wanted in wanted_of.items():
        part = "reply" if key == "max_output_tokens" else "prompt"
        if isinstance(listed_limits.get(key), int) and wanted > listed_limits[key]:
            yield f"{name}: a {part} may need {wanted} tokens, and its model accepts {listed_limits[key]}"
    ends = listed_limits.get("deprecation_date")
    if ends and date.fromisoformat(ends) <= datetime.now(UTC).date() + SOON:
        yield f"{name}: its provider announced the end of {judge.sent} for {ends}"
