"""The paper's protocol (appendices D and E) with your own judges: from questions and answers to judgments.

python experiments/collect_judgments.py questions.source=answers.jsonl 'judges=[{judge: gpt-oss}]' dry_run=true ...
"""

import json
import logging
from collections import Counter
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig, OmegaConf

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
from judgerank.collecting.endpoint import Endpoint, key_of, require_plain
from judgerank.collecting.ledger import Ledger, opened
from judgerank.collecting.tasks import Questions, Task, plan, read_questions
from judgerank.errors import ConfigError
from judgerank.publishing import replace_file
from replication.config import main
from replication.outputs import versions
from replication.schemas.collect import CollectJudgments, Order

log = logging.getLogger("replication")


@main("collect_judgments")
def run(cfg: DictConfig) -> None:
    settings = checked(cfg)
    questions = read_questions(settings.questions.source, settings.questions.columns, settings.questions.answers)
    both = settings.order is Order.both
    tasks = plan(
        questions, (j.judge for j in settings.judges), settings.comparisons, settings.repeats, both, settings.seed
    )
    log.info("%d questions, %d models, %d requests in all", len(questions.text), len(questions.models), len(tasks))
    if settings.dry_run:
        show(settings, questions, tasks)
        return
    record = {"config": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True), "versions": versions()}
    refuse_a_written_key(settings, record)
    path = Path(settings.output)
    with opened(path) as ledger:
        if ledger.torn:
            log.info("the last line was cut off by a kill: %d bytes dropped", ledger.torn)
        refuse_another_study(settings, questions, tasks, ledger, path)
        left = missing(tasks, ledger.records, both)
        log.info("%d of them are there already", len(tasks) - len(left))
        show(settings, questions, left)
        collect(settings, questions, ledger, left)
        replace_file(path.with_name(path.name + ".run.json"), json.dumps(record, indent=2) + "\n")


def checked(cfg: DictConfig) -> CollectJudgments:
    """The settings, with what types cannot say checked."""
    settings = OmegaConf.to_object(cfg)
    names = Counter(judge.judge for judge in settings.judges)
    if not names:
        raise ConfigError("judges is empty: there is nobody to ask")
    if max(names.values()) > 1:
        raise ConfigError(f"judge {max(names, key=names.get)!r} is there twice")
    for url in (settings.base_url, *(judge.base_url for judge in settings.judges if judge.base_url)):
        require_plain(url)
    free = [judge.judge for judge in settings.judges if not judge.prompt_price + judge.completion_price > 0]
    if settings.budget is not None and free:
        raise ConfigError(f"a budget needs prices, and judge {free[0]!r} has none")
    return settings


def refuse_a_written_key(settings: CollectJudgments, record: dict) -> None:
    """The key comes from the environment and goes nowhere but to the endpoint."""
    if key_of(settings) in json.dumps(record, ensure_ascii=False):
        raise ConfigError(
            f"the key in {settings.api_key_env} also stands in a setting, which would be stored with the judgments"
        )


def refuse_another_study(
    settings: CollectJudgments, questions: Questions, tasks: list[Task], ledger: Ledger, path: Path
) -> None:
    """One file holds answers to one prompt, by judges that stay what they are, about texts that stay the same."""
    if any(record.get("prompt") != digest(settings.prompt) for record in ledger.records):
        raise ConfigError(f"{path.name} holds answers to another prompt (output=FILE names another file)")
    changed = changed_since(ledger.records, tasks, {judge.judge: judge for judge in settings.judges}, questions)
    if changed:
        raise ConfigError(f"{path.name}: {changed} (output=FILE names another file)")


def show(settings: CollectJudgments, questions: Questions, tasks: list[Task]) -> None:
    """What the requests will take at most, before any is sent."""
    table = estimated(tasks, {judge.judge: judge for judge in settings.judges}, questions, settings.prompt)
    log.info("%s", table.to_string(index=False, float_format="%.4f"))
    log.info("at most %d requests, estimated cost at most %.4f", len(tasks), table["cost"].sum())


def collect(settings: CollectJudgments, questions: Questions, ledger: Ledger, tasks: list[Task]) -> None:
    """Ask, and say how it went, also where it was cut short."""
    prices = {judge.judge: judge for judge in settings.judges}
    budget = Budget(settings.budget, spent_before(ledger.records, prices, settings.prompt.max_tokens))
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


if __name__ == "__main__":
    run()
