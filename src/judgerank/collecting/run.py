"""The paper's protocol (appendices D and E) with your own judges: from questions and answers to judgments."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence

import pandas as pd

from judgerank.collecting.collector import (
    Budget,
    Collector,
    changed_since,
    digest,
    estimated,
    missing,
    spent_before,
    substituted,
)
from judgerank.collecting.endpoint import Endpoint, key_of
from judgerank.collecting.ledger import Ledger, opened
from judgerank.collecting.settings import Collection
from judgerank.collecting.tasks import Questions, Task, plan, read_questions
from judgerank.errors import ConfigError
from judgerank.publishing import replace_file, versions

log = logging.getLogger("judgerank")
VERSIONED = ("judgerank", "numpy", "pandas", "openai")


def collect(settings: Collection, dry_run: bool = False) -> None:
    """Ask for every judgment that is not in the file yet, and say how it goes.

    Parameters
    ----------
    settings : Collection
    dry_run : bool
        Ask nothing, and say what it would take.

    Raises
    ------
    ConfigError
        If the file is another's or holds answers to other requests, or there is no key that can be sent.
    DataError, DataUnavailableError
        If there are no questions to be read, or the file of judgments is none.
    EndpointError
        If the endpoint will not answer at all; what it did answer is kept.
    """
    questions = read_questions(settings.questions, settings.columns, settings.answers)
    judges, both = settings.panel.by_name, settings.order == "both"
    tasks = plan(questions, judges, settings.comparisons, settings.repeats, both, settings.seed)
    log.info("%d questions, %d models, %d requests in all", len(questions.text), len(questions.models), len(tasks))
    if dry_run:
        show(settings, questions, tasks)
        return
    record = {"settings": settings.model_dump(mode="json"), "versions": versions(VERSIONED)}
    refuse_a_written_key(settings, record)
    path = settings.output
    with opened(path) as ledger:
        if ledger.torn:
            log.info("the last line was cut off by a kill: %d bytes dropped", ledger.torn)
        refuse_another_study(settings, questions, tasks, ledger)
        left = missing(tasks, ledger.records, both)
        log.info("%d of them are there already", len(tasks) - len(left))
        show(settings, questions, left)
        ask(settings, questions, ledger, left)
        replace_file(path.with_name(path.name + ".run.json"), json.dumps(record, indent=2) + "\n")


def refuse_a_written_key(settings: Collection, record: Mapping[str, object]) -> None:
    """The key comes from the environment and goes nowhere but to the endpoint."""
    if key_of(settings.panel) in json.dumps(record, ensure_ascii=False):
        name = settings.panel.api_key_env
        raise ConfigError(f"the key in {name} also stands in a setting, which would be stored with the judgments")


def refuse_another_study(settings: Collection, questions: Questions, tasks: list[Task], ledger: Ledger) -> None:
    """One file holds answers to one prompt, by judges that stay what they are, about texts that stay the same."""
    name = settings.output.name
    if any(record.get("prompt") != digest(settings.prompt) for record in ledger.records):
        raise ConfigError(f"{name} holds answers to another prompt (--output FILE names another file)")
    changed = changed_since(ledger.records, tasks, settings.panel.by_name, questions)
    if changed:
        raise ConfigError(f"{name}: {changed} (--output FILE names another file)")


def show(settings: Collection, questions: Questions, tasks: Sequence[Task]) -> None:
    """What the requests will take at most, before any is sent."""
    table = estimated(tasks, settings.panel.by_name, questions, settings.prompt)
    log.info("%s", table.to_string(index=False, float_format="%.4f"))
    log.info("at most %d requests, estimated cost at most %.4f", len(tasks), table["cost"].sum())


def ask(settings: Collection, questions: Questions, ledger: Ledger, tasks: Sequence[Task]) -> None:
    """Ask, and say how it went, also where it was cut short."""
    spent = spent_before(ledger.records, settings.panel.by_name, settings.prompt.max_tokens)
    budget = Budget(settings.budget, spent)
    collector = Collector(settings, Endpoint(settings), ledger, questions, budget)
    try:
        collector.run(tasks)
    finally:
        answers = pd.Series([record["judge_preferred_model"] for record in collector.written], dtype=object)
        unread = int((answers == "unknown").sum())
        log.info("%d judgments written, %d of them unreadable (kept, with their text)", len(answers), unread)
        for what, counter in (("attempts failed", collector.failures), ("given up", collector.given_up)):
            listed = ", ".join(f"{count} {kind}" for kind, count in sorted(counter.items()))
            log.info("%s: %s", what, listed or "none")
        log.info("spent %.4f%s", budget.spent, f" of {budget.limit:.4f}" if budget.limit is not None else "")
        for sentence in substituted([*ledger.records, *collector.written]):
            log.warning("warning: %s", sentence)
    if collector.stopped:
        log.info("stopped: the next request might exceed the budget")
    elif len(collector.written) < len(tasks):
        log.info("%d requests have no answer yet; run it again to ask them", len(tasks) - len(collector.written))
