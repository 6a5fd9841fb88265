"""The paper's protocol (appendices D and E) with your own judges: from questions and answers to judgments."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from tqdm import tqdm

from judgerank.collecting.client import Client, list_prices
from judgerank.collecting.collector import Collector
from judgerank.collecting.costs import Budget, spent_before
from judgerank.collecting.identity import changed_since, digest
from judgerank.collecting.keys import keys
from judgerank.collecting.ledger import Ledger, opened
from judgerank.collecting.prompts import for_criterion, require_references
from judgerank.collecting.settings import Collection, Judge
from judgerank.collecting.study import Study
from judgerank.collecting.tasks import Task, plan, read_questions
from judgerank.collecting.telling import show, tell, tell_goal, tell_pilot
from judgerank.collecting.until import ask_until
from judgerank.errors import ConfigError, EndpointError
from judgerank.publishing import replace_file, versions

log = logging.getLogger("judgerank")
VERSIONED = ("judgerank", "numpy", "pandas", "litellm")


def collect(settings: Collection, dry_run: bool = False, pilot_only: bool = False) -> None:
    """Ask for every judgment that is not in the file yet, and say how it goes.

    Parameters
    ----------
    settings : Collection
        With criteria in the prompt, each makes a file of its own, named after it.
    dry_run : bool
        Ask nothing, and say what it would take.
    pilot_only : bool
        Ask every judge a few requests, and say what the rest would take.

    Raises
    ------
    ConfigError
        If the file is another's or holds answers to other requests, or there is no key that can be sent.
    DataError, DataUnavailableError
        If there are no questions to be read, or the file of judgments is none.
    EndpointError
        If a judge was stopped; the others were asked all the same, and what was answered is kept.
    """
    questions = read_questions(settings.questions, settings.columns, settings.answers)
    require_references(settings.prompt, questions)
    judges = priced(settings)
    both = settings.order == "both"
    tasks = plan(questions, judges, settings.comparisons, settings.repeats, both, settings.seed)
    log.info("%d questions, %d models, %d requests in all", len(questions.text), len(questions.models), len(tasks))
    studies = [Study(one, judges, questions, tasks) for one in by_criterion(settings)]
    require_goal(studies[0])
    if dry_run:
        for study in studies:
            show(study, tasks, None)
        return
    record = {"settings": settings.model_dump(mode="json"), "versions": versions(VERSIONED)}
    refuse_a_written_key(judges, record)
    with ExitStack() as stack:
        ledgers = [stack.enter_context(opened(study.settings.output)) for study in studies]
        for study, ledger in zip(studies, ledgers, strict=True):
            refuse_another_study(study, ledger)
        spent = sum(
            spent_before(ledger.records, judges, study.settings.prompt)
            for study, ledger in zip(studies, ledgers, strict=True)
        )
        budget = Budget(settings.budget, spent)
        stopped: dict[str, str] = {}
        for study, ledger in zip(studies, ledgers, strict=True):
            stopped |= ask(study, ledger, budget, pilot_only)
            path = study.settings.output
            replace_file(path.with_name(path.name + ".run.json"), json.dumps(record, indent=2) + "\n")
    if stopped:
        raise EndpointError("; ".join(f"judge {name!r} was stopped: {why}" for name, why in stopped.items()))


def require_goal(study: Study) -> None:
    """What is to be reached can be, and there are answers to begin with.

    Raises
    ------
    ConfigError
    """
    if study.goal is not None and not study.settings.pilot:
        raise ConfigError("collecting until something is known takes a pilot (--pilot)")


def priced(settings: Collection) -> dict[str, Judge]:
    """The judges with their addresses, keys' names and prices: their own, else, at no address, litellm's.

    Raises
    ------
    ConfigError
        If there is a budget, and a judge without prices.
    """
    judges = settings.panel.by_name
    for name, judge in judges.items():
        if judge.base_url is None and judge.prompt_price is None and judge.completion_price is None:
            judges[name] = judge.model_copy(update=list_prices(judge))
        if settings.budget is not None and not sum(judges[name].prices):
            raise ConfigError(f"a budget needs prices, and judge {name!r} has none")
    return judges


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
        if key in written:
            variable = judges[name].api_key_env
            raise ConfigError(
                f"the key in {variable} also stands in a setting, which would be stored with the judgments"
            )


def refuse_another_study(study: Study, ledger: Ledger) -> None:
    """One file holds answers to one prompt, by judges that stay what they are, about texts that stay the same."""
    name, prompt = study.settings.output.name, study.settings.prompt
    if any(record.get("prompt") != digest(prompt) for record in ledger.records):
        raise ConfigError(f"{name} holds answers to another prompt (--output FILE names another file)")
    changed = changed_since(ledger.records, study.tasks, study.judges, study.questions, prompt)
    if changed:
        raise ConfigError(f"{name}: {changed} (--output FILE names another file)")


def ask(study: Study, ledger: Ledger, budget: Budget, pilot_only: bool) -> dict[str, str]:
    """Ask, and say how it went, also where it was cut short; judges that were stopped, and why."""
    if ledger.torn:
        log.info("the last line was cut off by a kill: %d bytes dropped", ledger.torn)
    left = study.missing(ledger)
    log.info("%s: %d of the judgments are there already", study.settings.output.name, len(study.tasks) - len(left))
    show(study, left, ledger)
    collectors: list[Collector] = []
    try:
        asyncio.run(_ask(study, ledger, budget, left, pilot_only, collectors))
    finally:
        for collector in collectors:
            tell(collector, len(left))
    return {name: each.why for name, each in collectors[0].breakers.items() if each.why is not None}


async def _ask(
    study: Study, ledger: Ledger, budget: Budget, tasks: list[Task], pilot_only: bool, told: list[Collector]
) -> None:
    """The pilot, then the rest."""
    settings = study.settings
    client = Client(study.judges, settings.prompt, settings.timeout)
    collector = Collector(settings, study.judges, client, ledger, study.questions, budget)
    told.append(collector)
    first, rest = piloting(tasks, settings.pilot)
    try:
        with tqdm(total=len(tasks), desc="judgments") as progress:
            await collector.run(first, progress)
            collector.end_pilot()
            if first:
                progress.clear()
                tell_pilot(study, collector, rest)
            if study.goal is not None and not pilot_only:
                records = [*ledger.records, *collector.written]
                models = study.questions.models
                found = await ask_until(collector, progress, study.goal, models, rest, records, settings.seed)
                progress.clear()
                tell_goal(found, settings.until or "")
            elif not pilot_only:
                await collector.run(rest, progress)
    finally:
        await client.close()


def piloting(tasks: Sequence[Task], size: int) -> tuple[list[Task], list[Task]]:
    """The first requests to each judge, and the rest."""
    asked: dict[str, int] = {}
    first: list[Task] = []
    rest: list[Task] = []
    for task in tasks:
        asked[task.judge] = asked.get(task.judge, 0) + 1
        (first if asked[task.judge] <= size else rest).append(task)
    return first, rest
