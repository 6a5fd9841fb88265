"""What is asked into one file of judgments, what is asked again, and what goes to a file of its own.

Anchors are a few requests that judges are asked again on later days, to see whether they still answer as they did.
Of what a judge has answered, those asked most often come first, then a fixed random order by a keyed hash. So the
anchors stay the same from week to week. One is due if its last answer is more than `MIN_INTERVAL` old: a run that
was cut off goes on with its round, and a second run on the same day asks nothing.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd

from judgerank.adaptive.goals import Goal, read_goal
from judgerank.collecting.addresses import addressed
from judgerank.collecting.costs import priced
from judgerank.collecting.functions import code_digest
from judgerank.collecting.ledger import UNKNOWN, Record, choice_of, opened, request_record, task_of
from judgerank.collecting.prompts import askable, digest_of, images_of_task, mode_of
from judgerank.collecting.settings import LENGTHS, Collection, Judge, Prompt
from judgerank.collecting.task_order import Groups, Plan, Questions, Task, order_key
from judgerank.data.comparisons import Comparisons
from judgerank.data.frames import OUTCOMES
from judgerank.data.listing import counted, listed
from judgerank.reading.answers.found import Named
from judgerank.trust.retest import COLUMNS, asked_again, changed
from judgerank.writing.atomic import replace_file

# Anchors.
MIN_INTERVAL = timedelta(hours=20)
LEVEL = 0.99  # of the test after each run, which may be one of many
LONG_AGO = datetime.min.replace(tzinfo=UTC)
Item = tuple[str, str, str, str]


@dataclass
class _Answers:
    """How often a request was answered, its highest number, and when it was last."""

    count: int = 0
    readable: bool = False
    highest: int = 0
    last: datetime = LONG_AGO


def due(
    size: int,
    records: Iterable[Record],
    on_their_way: Iterable[Task],
    questions: Questions,
    judges: Iterable[str],
    repeats: int,
    seed: int,
    now: datetime | None = None,
) -> list[Task]:
    """The requests to ask again now, at most `size` of each judge.

    Parameters
    ----------
    size : int
    records : iterable of dict
        What was answered.
    on_their_way : iterable of Task
        What is in batches; it is not asked once more.
    questions : Questions
        Those whose answers are still there.
    judges : iterable of str
    repeats : int
        How often every request is asked without anchors, which have the numbers from there on.
    seed : int
        Of the order.
    now : datetime, optional
    """
    answers_by_item: dict[Item, _Answers] = defaultdict(_Answers)
    for record in records:
        answers = answers_by_item[_item(task_of(record))]
        answers.count += 1
        answers.readable |= record.get("judge_preferred_model") in OUTCOMES
        answers.highest = max(answers.highest, record["repeat"])
        answers.last = max(answers.last, _when(record))
    waited_for = {_item(task) for task in on_their_way}
    now = now or datetime.now(UTC)
    tasks: list[Task] = []
    for judge in judges:
        askable_items = [
            item for item, answers in answers_by_item.items() if _is_askable(item, judge, answers, questions)
        ]
        askable_items.sort(key=lambda item: (-answers_by_item[item].count, order_key(seed, *item)))
        tasks += [
            Task(*item, max(repeats, answers_by_item[item].highest + 1))
            for item in askable_items[:size]
            if item not in waited_for and now - answers_by_item[item].last >= MIN_INTERVAL
        ]
    return tasks


def _item(task: Task) -> Item:
    return task.question_id, task.first, task.second, task.judge


def _is_askable(item: Item, judge: str, answers: _Answers, questions: Questions) -> bool:
    question, first, second, of = item
    return of == judge and answers.readable and {first, second} <= questions.answers.get(question, {}).keys()


def _when(record: Record) -> datetime:
    """When it was answered; long ago where the record does not say so."""
    try:
        asked_at = datetime.fromisoformat(record["asked_at"])
    except (KeyError, TypeError, ValueError):
        return LONG_AGO
    return asked_at if asked_at.tzinfo else asked_at.replace(tzinfo=UTC)


def changes(records: Iterable[Record]) -> pd.DataFrame:
    """Judges whose later answers to the same requests differ from their first ones, as `asked_again` has them."""
    read = [record for record in records if record.get("judge_preferred_model") in OUTCOMES]
    if not read:
        return pd.DataFrame(columns=list(COLUMNS))
    question = np.unique([str(record["question_id"]) for record in read], return_inverse=True)[1]
    time = np.array([(_when(record) - LONG_AGO).total_seconds() for record in read])
    return asked_again(Comparisons.from_frame(pd.DataFrame(read)), question, time)


def change_sentences(changes: pd.DataFrame) -> Iterator[str]:
    """A sentence on each judge that changed."""
    for sentence in changed(changes, LEVEL):
        yield f"{sentence} Leave it out, or ask it everything anew under another name."


# The identity of a study: prompts, texts and judges must stay the same within a file of judgments.


def digest(prompt: Prompt) -> str:
    """What identifies a prompt and its settings, in a few letters."""
    system = [prompt.system] if prompt.system else []
    return _digest([prompt.text, prompt.temperature, prompt.max_tokens, "fenced", *system])


def identified(task: Task, judge: Judge, questions: Questions, prompt: Prompt) -> Record:
    """What is asked, as a record begins, and what identifies it."""
    with_params, images = judge_digest(judge), _sent(task, questions, judge)
    return {
        **request_record(task, prompt.ranks),
        "model_sent": judge.sent,
        "address": judge.address,
        "provider": judge.form,
        **({"thinking": judge.reasoning_budget} if judge.reasoning_budget else {}),
        "prompt": digest(prompt),
        "texts": texts_digest(task, questions, prompt, judge),
        **({"images": [image.reference for image in images]} if images else {}),
        **({"asked_with": with_params} if with_params else {}),
        **({"human": True} if judge.is_person else {}),
    }


def judge_digest(judge: Judge) -> str:
    """What identifies how a judge answers, beside its model, in a few letters; empty if nothing does.

    How long it may answer is left out, so that one who ran out of tokens can be asked again with more.
    """
    params = {name: value for name, value in judge.params.items() if name not in LENGTHS}
    form = [params or None, judge.reasoning_effort, judge.structured or None]
    if judge.is_function:
        form.append(code_digest(judge.sent))
    return _digest(form) if any(part is not None for part in form) else ""


def texts_digest(task: Task, questions: Questions, prompt: Prompt, judge: Judge | None) -> str:
    """What identifies the texts that a task shows, and images if the judge is sent them, in a few letters.

    It is the same for all orders.
    """
    answers = [questions.answers[task.question_id][name] for name in sorted(task.models)]
    reference = [questions.reference[task.question_id]] if "{reference}" in prompt.text else []
    images = [{"image": digest_of(image)} for image in _sent(task, questions, judge)]
    return _digest([questions.text[task.question_id], *answers, *reference, *images])


def _sent(task: Task, questions: Questions, judge: Judge | None) -> list[Named]:
    """Images that a judge is sent with a task."""
    return images_of_task(task, questions) if judge is not None and mode_of(judge) == "send" else []


def _digest(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]


def changed_since(
    records: Iterable[Record],
    tasks: Iterable[Task],
    judges: Mapping[str, Judge],
    questions: Questions,
    prompt: Prompt,
    address_may_differ: bool = False,
) -> str | None:
    """What is not as it was when earlier judgments were made, as a clause; None if all is.

    A judge's name that now stands for another model or another server, and answers that changed under their old
    names, would make one set of judgments of two. Records of versions that kept no address, or neither the
    provider nor the tokens for thoughts, are of any. With `address_may_differ`, the judges are the same at other
    addresses.
    """
    requested = {task.in_any_order for task in tasks}
    for number, record in enumerate(records, 1):
        task, judge = task_of(record), judges.get(record["judge_model"])
        change = judge_change(record, judge, address_may_differ)
        if change is not None:
            return f"line {number} is of judge {task.judge!r} {change}"
        is_checkable = (
            judge is not None or "images" not in record
        )  # whether it is sent images: else nobody knows now
        about = record.get("texts", "")
        if (
            task.in_any_order in requested
            and is_checkable
            and about != texts_digest(task, questions, prompt, judge)
        ):
            what, whose = "texts or images" if questions.images else "texts", " and ".join(map(repr, task.models))
            return f"line {number} is about other {what} of question {task.question_id!r} by {whose}"
    return None


def judge_change(record: Record, judge: Judge | None, address_may_differ: bool = False) -> str | None:
    """What a judge was when it made a judgment and is no longer, as a clause; None if nothing has changed."""
    if judge is None:
        return None
    was = record.get("model_sent")
    if was != judge.sent:
        return f"when it was {was!r}, not {judge.sent!r}"
    if record.get("asked_with", "") != judge_digest(judge):
        change = f"{judge.sent} had other code or" if judge.is_function else "it was asked with other"
        return f"when {change} parameters"
    now = {"provider": judge.form, "thinking": judge.reasoning_budget}
    for key in now if "provider" in record else ():
        if record.get(key) != now[key]:
            return f"with {key} {record.get(key)!r}, not {now[key]!r}"
    was = record.get("address")
    if was is not None and was != judge.address and not address_may_differ:
        return f"when it was asked at {was}, not at {judge.address} (--moved if the same model is now there)"
    return None


def answered(records: Iterable[Record], again: str | None = None) -> set[Task]:
    """The tasks that a record answers.

    With `again`, a reply that could not be read is no answer ("unreadable"), or one that refuses to judge
    ("refused").
    """

    def counts(record: Record) -> bool:
        outcome = "refused" if record.get("refusal") else "unreadable"
        return choice_of(record) != UNKNOWN or again != outcome

    return {task_of(record) for record in records if counts(record)}


def missing(tasks: Iterable[Task], records: Iterable[Record], both_orders: bool, again: str | None) -> list[Task]:
    """The tasks that no record answers; where one order is enough, in any."""
    if both_orders:
        done = answered(records, again)
        return [task for task in tasks if task not in done]
    done = {task.in_any_order for task in answered(records, again)}
    return [task for task in tasks if task.in_any_order not in done]


def _first_of(task: Task) -> Task:
    """One and the same for all answers to a request, in any order."""
    return replace(task.in_any_order, repeat=0)


@dataclass(frozen=True)
class Study:
    """What is asked into one file: settings for one prompt, judges with their prices, questions, all requests."""

    settings: Collection
    judges: Mapping[str, Judge]
    questions: Questions
    plan: Plan | Groups
    tasks: Sequence[Task]  # wanted in a file without any answers

    @property
    def goal(self) -> Goal | None:
        """What is to be known at the end, if it is said."""
        until = self.settings.until
        return None if until is None else read_goal(until, len(self.questions.models))

    def missing(self, records: Sequence[Record]) -> list[Task]:
        """The requests that are wanted and that no record answers yet.

        Of each judge as many are wanted as the first comparisons of the plan have. Answers to others count, too:
        earlier versions drew others, and so did other numbers of judges.
        """
        missing_tasks = self._missing_first(records)
        asked = {*map(_first_of, answered(records, self.settings.again)), *map(_first_of, missing_tasks)}
        again = [task for task in self.tasks if self._is_retest(task) and _first_of(task) in asked]
        return [*missing_tasks, *self._unanswered(again, records)]

    def _missing_first(self, records: Sequence[Record]) -> list[Task]:
        """The same without those that are asked once more."""
        size, tasks = self.settings.comparisons, [task for task in self.tasks if not self._is_retest(task)]
        if size is None:
            return self._unanswered(tasks, records)
        wanted = Counter(task.judge for task in tasks)
        longer = self.plan.first(min(len(self.plan), (max(wanted.values()) + len(records)) * len(self.judges)))
        room = wanted - self._answered(records)
        missing_tasks = []
        for task in self._unanswered(longer, records):
            if room[task.judge] > 0:
                room[task.judge] -= 1
                missing_tasks.append(task)
        return missing_tasks

    def anchors(self, records: Iterable[Record], pending: Iterable[Task] = ()) -> list[Task]:
        """The requests that are to be asked again today (`anchors.due`)."""
        size, repeats, seed = self.settings.anchors, self.settings.most_repeats, self.settings.seed
        return due(size, records, pending, self.questions, self.judges, repeats, seed) if size else []

    def _is_retest(self, task: Task) -> bool:
        return task.repeat >= self.settings.repeats

    def _unanswered(self, tasks: Sequence[Task], records: Iterable[Record]) -> list[Task]:
        askable_tasks = askable(tasks, self.judges, self.questions)
        return missing(askable_tasks, records, self._both, self.settings.again)

    def _answered(self, records: Iterable[Record]) -> Counter[str]:
        """How many requests of the whole plan are answered by each judge."""
        answered_tasks = {
            task if self._both else task.in_any_order
            for task in answered(records, self.settings.again)
            if self.questions.have(task) and task.repeat < self.settings.repeats
        }
        return Counter(task.judge for task in answered_tasks)

    @property
    def _both(self) -> bool:
        return self.settings.order == "both"


# Judgments of judges or a prompt that have changed go to a file of their own, and judges are asked again.
log = logging.getLogger("judgerank")
EARLIER = ".earlier.jsonl"  # end of the name of the file beside the judgments


def move_outdated(settings: Collection, is_earlier: Callable[[Record], bool], wait: float = 0.0) -> None:
    """Move judgments that no request would give now to a file beside the others, and say how many.

    They are of another prompt, of judges that are no longer what they were, or of earlier answers. All others
    stay, those of judges who are not in the panel among them.

    Parameters
    ----------
    settings : Collection
    is_earlier : function of a record
        Whether a judgment is of earlier answers.
    wait : float
        Seconds to wait for another run that writes to the file of judgments.
    """
    path = settings.output
    if not path.exists():
        return
    judges = addressed(priced(settings), settings.prompt, settings.allow_env_url)
    with opened(path, wait) as ledger:
        prompt = digest(settings.prompt)
        kept, changed, superseded = [], [], []
        for record in ledger.records:
            judge = judges.get(record["judge_model"])
            if is_earlier(record):
                superseded.append(record)
            elif record.get("prompt") != prompt or judge_change(record, judge, settings.moved) is not None:
                changed.append(record)
            else:
                kept.append(record)
        if not changed and not superseded:
            return
        earlier = path.with_name(path.name + EARLIER)
        before = earlier.read_text(encoding="utf-8") if earlier.exists() else ""
        replace_file(earlier, before + _lines([*superseded, *changed]))
        replace_file(path, _lines(kept))
    if superseded:
        log.info("%s of earlier answers are in %s", counted(len(superseded), "judgment"), earlier.name)
    if changed:
        log.info(
            "%s of judges or a prompt that have changed are in %s: %s",
            counted(len(changed), "judgment"),
            earlier.name,
            listed(Counter(record["judge_model"] for record in changed)),
        )


def _lines(records: Iterable[Record]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
