"""Messages before a collection, after its pilot, and at its end."""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from judgerank.adaptive.goals import Goal
from judgerank.adaptive.rounds import Collected
from judgerank.adaptive.stop_rule import carried
from judgerank.collecting.addresses import where
from judgerank.collecting.batches.server import Pending
from judgerank.collecting.collection import Study, change_sentences, changes
from judgerank.collecting.collector import Collector
from judgerank.collecting.costs import estimated, expected_seconds, is_priced, spent_into
from judgerank.collecting.ledger import UNKNOWN, Ledger, Record, choice_of
from judgerank.collecting.outcome import (
    LEVEL,
    biased,
    digits,
    duration,
    happened,
    money,
    piloted,
    replies,
    several,
    unfetched,
)
from judgerank.collecting.requests import refused_sentences
from judgerank.collecting.settings import Judge
from judgerank.collecting.task_order import Task
from judgerank.data.listing import counted, noun

# Which model answered: not the one asked for, another one from some day on, or one for several judges.
# what providers add to a model's name to say which version of it answers: a day, a number, `latest`
VERSION = re.compile(r"[-@:](\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{2}-\d{2,4}|\d{3,4}|v\d+|latest)$")


def substituted(records: Iterable[Record]) -> Iterator[str]:
    """Sentences on judges not answered by the model asked for, by several, or by one that answered for others too.

    Records are in the order of their time. A version of the model asked for is that model, but no two versions are
    one.
    """
    judges: dict[str, set[str]] = {}
    answered: dict[str, dict[str, str]] = {}  # by judge, the models in order, and since when
    differs: Counter[tuple[str, str, str]] = Counter()
    for record in records:
        name, judge = record.get("model_answered"), record["judge_model"]
        if not name:
            continue
        judges.setdefault(name, set()).add(judge)
        answered.setdefault(judge, {}).setdefault(name, str(record.get("asked_at", ""))[:10])
        if not is_the_same(record["model_sent"], name):
            differs[judge, record["model_sent"], name] += 1
    for (judge, sent, name), count in sorted(differs.items()):
        yield f"judge {judge!r} was sent as {sent!r} and answered as {name!r}, {counted(count, 'time')}"
    for judge, models in sorted(answered.items()):
        if len(models) > 1:
            since = ", then ".join(f"{name!r}{f' from {day}' if day else ''}" for name, day in models.items())
            yield f"judge {judge!r} was not one model all the time: {since}"
    for name, those in sorted(judges.items()):
        if len(those) > 1:
            yield f"one model, {name!r}, answered for {len(those)} judges: {', '.join(sorted(those))}"


def is_the_same(sent: str, answered: str) -> bool:
    """Whether a name is that of the model asked for, or of a version of it where none was asked for."""
    requested_name, answered_name = (name.rpartition("/")[2].lower() for name in (sent, answered))
    return answered_name == requested_name or VERSION.sub("", answered_name) in (
        requested_name,
        requested_name.removesuffix("-latest"),
    )


log = logging.getLogger("judgerank")


def show(study: Study, tasks: Sequence[Task], ledger: Ledger) -> None:
    """What the requests will take, at most and, where there are replies already, as expected."""
    settings, currency = study.settings, study.settings.panel.currency
    records = ledger.records
    tell_addresses(study, records)
    table = estimated(tasks, study.judges, study.questions, settings.prompt, records, settings.pilot)
    log.info("%s", table.to_string(index=False, float_format=digits, na_rep="unknown"))
    if not tasks:
        log.info("nothing is left to ask")
        return
    total, unknown = table["at_most"].sum(), unpriced(study.judges, table.loc[table["requests"] > 0, "judge"])
    n_tasks = counted(len(tasks), "request")
    log.info("at most %s, estimated cost at most %s", n_tasks, with_unknown(total, currency, unknown))
    left = math.inf if settings.budget is None else settings.budget - spent_into(ledger, study.judges)
    if total > left:
        template = "that may be more than the budget leaves (%s): the run ends before it would exceed it"
        log.info(template, money(max(left, 0.0), currency))
    if study.goal is not None:
        log.info("that is for all of them; most goals are reached after a part")
    if records:
        expected_costs = table.loc[table["requests"] > 0, "expected"]
        expected = money(float(expected_costs.sum(skipna=False)), currency)
        took = expected_time(tasks, records, study)
        log.info("as the replies so far: expected cost %s, expected time %s", expected, took)


def tell_left(study: Study, ledger: Ledger, pending: Pending) -> tuple[list[Task], list[Task]]:
    """Say what the file holds; the requests that are left, and those that are asked again."""
    n_answered = len(study.tasks) - len(study.missing(ledger.records))
    log.info("%s: %d of the judgments are there already", study.settings.output.name, n_answered)
    if pending.requests:
        are = "is" if len(pending.requests) == 1 else "are"
        log.info("%s %s in batches on their way", counted(len(pending.requests), "request"), are)
    if ledger.charges.without_answer > 0:
        most = money(ledger.charges.without_answer, study.settings.panel.currency)
        log.info("earlier attempts without an answer may have cost %s; that counts as spent", most)
    anchors = study.anchors(ledger.records, pending.tasks)
    if anchors:
        n_judges, are = len({task.judge for task in anchors}), "is" if len(anchors) == 1 else "are"
        n_anchors = f"{counted(len(anchors), 'request')} ({noun(len(anchors), 'anchor')})"
        log.info("%s %s asked again, of %s", n_anchors, are, counted(n_judges, "judge"))
    elif study.settings.anchors:
        log.info("no anchors are due: a request is asked again a day after its last answer")
    return study.missing([*ledger.records, *pending.requests]), anchors


def unpriced(judges: Mapping[str, Judge], names: Iterable[str]) -> list[str]:
    """Those of the judges whose prices are not known."""
    return sorted(name for name in set(names) if not is_priced(judges[name]))


def with_unknown(amount: float, currency: str, unknown: Sequence[str]) -> str:
    """An amount, and whose costs are not in it."""
    amount = 0.0 if math.isnan(amount) else amount
    if unknown and not amount:
        return f"unknown (no price for: {several(unknown)})"
    remark = f", and an unknown amount for judges without a price: {several(unknown)}" if unknown else ""
    return f"{money(amount, currency)}{remark}"


def tell_addresses(study: Study, records: Sequence[Record]) -> None:
    """Where each judge is asked, and through what proxy."""
    together: dict[tuple[str, ...], list[str]] = {}
    called = [name for name, judge in study.judges.items() if judge.is_function]
    people = [name for name, judge in study.judges.items() if judge.is_person]
    if called:
        log.info("called as Python functions, at no cost: %s", several(called))
    if people:
        log.info("asked at this terminal: %s", several(people))
    for name, endpoint in where(study.judges).items():
        if name in (*called, *people):
            continue
        route = tuple(endpoint.get(key, "") for key in ("address", "named_by", "proxy"))
        together.setdefault(route, []).append(name)
    for (address, named_by, proxy), names in together.items():
        source = f", from {named_by}" if named_by else ""
        through = f", through the proxy {proxy}" if proxy else ""
        log.info(
            "asked at %s%s%s: %s",
            address or "no address (no request can be prepared)",
            source,
            through,
            several(names),
        )
    untold = sum("address" not in record for record in records)
    if untold:
        log.info("%d earlier judgments do not say at which address they were asked", untold)


def tell_pilot(study: Study, collector: Collector, rest: Sequence[Task]) -> None:
    """What the pilot says of every judge, and what the rest will take."""
    table = piloted(collector.written, study.judges)
    if len(table):
        log.info("the pilot:\n%s", table.to_string(index=False, float_format=digits, na_rep="unknown"))
        for sentence in biased(table):
            log.warning("warning: %s", sentence)
    for name, breaker in collector.breakers.items():
        for sentence in refused_sentences(name, collector.client.refused[name]):
            log.warning("warning: %s", sentence)
        if breaker.why is not None:
            log.warning("warning: judge %r is asked no more: %s", name, breaker.why)
    going = [task for task in rest if collector.breakers[task.judge].why is None]
    if going and collector.written:
        costs = estimated(going, study.judges, study.questions, study.settings.prompt, collector.written)
        expected = money(float(costs.loc[costs["requests"] > 0, "expected"].sum(skipna=False)), collector.currency)
        took = expected_time(going, collector.written, study)
        n_going = counted(len(going), "request")
        log.info("%s to go: expected cost %s, expected time %s", n_going, expected, took)


def expected_time(tasks: Sequence[Task], records: Sequence[Record], study: Study) -> str:
    """How long requests take."""
    live = [task for task in tasks if not study.judges[task.judge].batch]
    parts = [duration(expected_seconds(live, records, study.settings))] if live else []
    if len(live) < len(tasks):
        parts.append(f"up to a day for each batch ({counted(len(tasks) - len(live), 'request')})")
    return ", ".join(parts)


def changed(judge: str) -> str:
    """That a judge's answers changed, and what to do."""
    return (
        f"judge {judge!r} answers otherwise than it did at first (p < .01, its earlier half against its later): "
        "leave it out, or ask it everything anew under another name"
    )


def tell_goal(collected: Collected, until: str, collector: Collector) -> None:
    """Whether the goal was reached, by which models and thanks to which judges, or why not."""
    goal = collected.goal
    order = collected.result.scores.sort_values(ascending=False).index
    last = collected.looks.iloc[-1]
    if collected.reached:
        whose = f", {goal.whose}" if goal.kind != "comparisons" and not until.endswith(goal.whose) else ""
        n_looks = counted(int(last["look"]), "look")
        log.info("reached after %s: %s%s; the order is %s", n_looks, until, whose, ", ".join(order))
        for sentence in carried(collected.without_judge):
            log.info("%s", sentence)
    else:
        why = "every request has been asked"
        if collected.drifted:
            why = "the claims are sure, but a judge changed"
        elif collector.short_of_money:
            why = "the budget is spent"
        elif any(breaker.why for breaker in collector.breakers.values()):
            why = "what is left is for judges that were stopped"
        still = "" if math.isnan(last["open"]) else f" ({counted(int(last['open']), 'claim')} open)"
        log.info("not reached: %s%s; %s", until, still, why)
        if goal.like_these:
            log.info("judges' own tastes can leave a claim open however much they are asked: add judges")
    for name in collected.drifted:
        log.warning("warning: %s", changed(name))
    if last["questions"] < last["comparisons"] and not last["by_question"]:
        log.warning("warning: %s", few_questions(goal, int(last["questions"]), len(order), int(last["look"])))


def few_questions(goal: Goal, n_questions: int, n_models: int, look: int) -> str:
    """What a goal takes where there are too few questions for errors by question."""
    are = "is" if n_questions == 1 else "are"
    sentence = f"there {are} {counted(n_questions, 'question')}, too few for standard errors by question: "
    if goal.kind == "width":
        return f"{sentence}no interval allows for so few, and no width counts as reached. Add questions"
    sentence += "claims are tested by sign flips of whole questions"
    if goal.kind == "comparisons":
        return sentence
    least = goal.fewest_questions(n_models, look, 1 - LEVEL)
    return (
        f"{sentence}, and with fewer than {least} no claim can be sure. Add questions"
        if n_questions < least
        else sentence
    )


def tell(collector: Collector, wanted: int, pending: Pending) -> None:
    """How it went."""
    budget, currency = collector.budget, collector.currency
    read = [record for record in collector.written if choice_of(record) != UNKNOWN]
    unread = len(collector.written) - len(read)
    unreadable = replies(unread, "that cannot be read", "that cannot be read")
    log.info("%s written, and %s (kept, with their text)", counted(len(read), "judgment"), unreadable)
    for sentence in happened(collector.breakers):
        log.info("%s", sentence)
    limit = ""
    if budget.limit is not None:
        over = "which is more than the budget of" if budget.spent > budget.limit else "of"
        limit = f"{', ' if over != 'of' else ' '}{over} {money(budget.limit, currency)}"
        limit += f" ({money(budget.before, currency)} of it before this run)" if budget.before else ""
    aside = f", {money(budget.set_aside, currency)} set aside for batches" if pending.requests else ""
    for name in collector.judges:
        for sentence in refused_sentences(name, collector.client.refused[name]):
            log.info("%s", sentence)
    for name in collector.raised:
        log.info("judge %r uses more tokens than were counted on; what it may cost was raised to that", name)
    judges_used = {record["judge_model"] for record in collector.written}
    judges_used |= {name for name, breaker in collector.breakers.items() if breaker.unpriced}
    spent = with_unknown(budget.spent, currency, unpriced(collector.judges, judges_used))
    log.info("spent %s%s%s", spent, limit, aside)
    for sentence in unfetched(pending, collector.judges):
        log.info("%s", sentence)
    if any(record.get("anchor") for record in collector.written):
        judge_changes = changes([*collector.ledger.records, *collector.written])
        for sentence in change_sentences(judge_changes):
            log.warning("warning: %s", sentence)
        if not any(change_sentences(judge_changes)):
            log.info("no judge's answers to repeated requests changed beyond its usual noise")
    for sentence in substituted([*collector.ledger.records, *collector.written]):
        log.warning("warning: %s", sentence)
    for name in sorted(collector.short_of_money):
        log.info("stopped: the next request to judge %r might exceed the budget", name)
    n_open = wanted - len(collector.written) - collector.answered_elsewhere
    if collector.goes_by_plan and n_open > 0:
        how = "run it again with a larger --budget" if collector.short_of_money else "run it again"
        has, them = ("has", "it") if n_open == 1 else ("have", "them")
        log.info("%s %s no answer yet; %s to ask %s", counted(n_open, "request"), has, how, them)
