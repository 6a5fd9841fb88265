"""Asking: the requests that are missing, several at a time, within a budget, each answer kept as it comes."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pandas as pd
import tenacity
from tqdm import tqdm

from judgerank.collecting.endpoint import AttemptFailed, Endpoint, Refused, Reply
from judgerank.collecting.ledger import Ledger, Record, task_of
from judgerank.collecting.prompts import fill
from judgerank.collecting.replies import parse
from judgerank.collecting.settings import Collection, Judge, Prompt
from judgerank.collecting.tasks import Questions, Task
from judgerank.errors import JudgerankError

CHARACTERS_PER_TOKEN = 3.5  # of English text, on the safe side of the usual four
MILLION = 1e6
LONGEST_WAIT = 120.0  # seconds between attempts, whatever the endpoint asks for


@dataclass
class Budget:
    """What may be spent, what has been, and what the requests on their way may cost at most."""

    limit: float | None
    spent: float = 0.0
    held: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hold(self, amount: float) -> bool:
        """Set the amount aside, if there is as much."""
        with self._lock:
            if self.limit is not None and self.spent + self.held + amount > self.limit:
                return False
            self.held += amount
            return True

    def settle(self, amount: float, actual: float) -> None:
        with self._lock:
            self.held -= amount
            self.spent += actual


def cost(judge: Judge, prompt_tokens: float, completion_tokens: float) -> float:
    """In the currency of the judge's prices."""
    return (judge.prompt_price * prompt_tokens + judge.completion_price * completion_tokens) / MILLION


def missing(tasks: Iterable[Task], records: Iterable[Record], both_orders: bool) -> list[Task]:
    """The tasks that no record answers; where one order is enough, in either."""
    done = {task_of(record) for record in records}
    return [task for task in tasks if task not in done and (both_orders or task.turned not in done)]


def estimated(
    tasks: Sequence[Task], judges: Mapping[str, Judge], questions: Questions, prompt: Prompt
) -> pd.DataFrame:
    """``judge, model, requests, prompt_tokens, completion_tokens, cost`` by judge, completions at the longest."""
    requests, sent = Counter[str](), dict.fromkeys(judges, 0.0)
    for task in tasks:
        requests[task.judge] += 1
        sent[task.judge] += prompt_tokens(_text(task, questions, prompt))
    rows = []
    for name, judge in judges.items():
        longest = requests[name] * prompt.max_tokens
        price = cost(judge, sent[name], longest)
        rows.append((name, judge.sent, requests[name], sent[name], longest, price))
    columns = ["judge", "model", "requests", "prompt_tokens", "completion_tokens", "cost"]
    return pd.DataFrame(rows, columns=columns).round({"prompt_tokens": 0})


def prompt_tokens(text: str) -> float:
    return len(text) / CHARACTERS_PER_TOKEN


def _text(task: Task, questions: Questions, prompt: Prompt) -> str:
    answers = questions.answers[task.question_id]
    return fill(prompt.text, questions.text[task.question_id], answers[task.first], answers[task.second])


class BudgetSpent(Exception):
    """The next attempt might cost more than is left."""


class Halted(Exception):
    """The run is being ended."""


class Collector:
    """One run over the tasks that are missing.

    Attributes
    ----------
    written : list of dict
        Judgments of this run.
    failures : Counter
        Attempts that failed, by kind.
    given_up : Counter
        Requests without an answer, by the kind of their last failure.
    stopped : bool
        Whether the budget ended the run.
    """

    def __init__(
        self, settings: Collection, endpoint: Endpoint, ledger: Ledger, questions: Questions, budget: Budget
    ):
        self.endpoint, self.ledger, self.questions, self.budget = endpoint, ledger, questions, budget
        self.prompt, self.judges = settings.prompt, settings.panel.by_name
        self.first_wait, self.attempts = settings.first_wait, settings.attempts
        self.max_concurrent = settings.max_concurrent
        self.written: list[Record] = []
        self.failures: Counter[str] = Counter()
        self.given_up: Counter[str] = Counter()
        self.stopped = False
        self._halted = threading.Event()
        self._fatal: JudgerankError | None = None
        self._lock = threading.Lock()

    def run(self, tasks: Sequence[Task]) -> None:
        """Ask every task.

        Raises
        ------
        EndpointError
            If the endpoint will not answer at all; what it did answer is kept.
        """
        with ThreadPoolExecutor(self.max_concurrent) as pool, tqdm(total=len(tasks), desc="judgments") as progress:
            try:
                for done in as_completed([pool.submit(self._one, task) for task in tasks]):
                    done.result()
                    progress.update()
            except BaseException:
                self._halted.set()  # no further attempt, no further wait for one
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        if self._fatal is not None:
            raise self._fatal

    def _one(self, task: Task) -> None:
        if self.stopped or self._fatal is not None or self._halted.is_set():
            return
        text = _text(task, self.questions, self.prompt)
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(AttemptFailed),
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=self._wait,
            sleep=tenacity.sleep_using_event(self._halted),
            reraise=True,
        )
        try:
            reply = retrying(self._attempt, self.judges[task.judge], text)
        except (AttemptFailed, Refused) as error:
            with self._lock:
                self.given_up[str(error)] += 1
        except BudgetSpent:
            self.stopped = True
        except Halted:
            return
        except JudgerankError as error:
            self._fatal = error
        else:
            self._keep(task, reply)

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """What the endpoint asks for, else about twice as long every time."""
        backoff = self.first_wait / 2 + tenacity.wait_random_exponential(self.first_wait)(state)
        failed = state.outcome.exception() if state.outcome else None
        asked = failed.wait if isinstance(failed, AttemptFailed) else None
        return min(LONGEST_WAIT, max(backoff, asked or 0.0))

    def _attempt(self, judge: Judge, text: str) -> Reply:
        """One attempt, paid for from the budget; what cannot be told is taken at its most."""
        if self._halted.is_set():
            raise Halted
        most = cost(judge, prompt_tokens(text), self.prompt.max_tokens)
        if not self.budget.hold(most):
            raise BudgetSpent
        actual = 0.0
        try:
            reply = self.endpoint.attempt(judge, text)
            if reply.prompt_tokens is None or reply.completion_tokens is None:
                actual = most
            else:
                actual = cost(judge, reply.prompt_tokens, reply.completion_tokens)
            return reply
        except AttemptFailed as error:
            actual = most if error.paid else 0.0
            with self._lock:
                self.failures[error.kind] += 1
            raise
        except Refused as error:
            with self._lock:
                self.failures[str(error)] += 1
            raise
        finally:
            self.budget.settle(most, actual)

    def _keep(self, task: Task, reply: Reply) -> None:
        choice, confidence = parse(reply.text)
        judge = self.judges[task.judge]
        record = {
            "question_id": task.question_id,
            "model_a": task.first,
            "model_b": task.second,
            "judge_model": task.judge,
            "judge_preferred_model": choice,
            "judge_confidence": confidence,
            "repeat": task.repeat,
            "raw": reply.text,
            "model_sent": judge.sent,
            "model_answered": reply.model,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "prompt": digest(self.prompt),
            "texts": texts_digest(task, self.questions),
            "asked_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        self.ledger.append(record)
        with self._lock:
            self.written.append(record)


def digest(prompt: Prompt) -> str:
    """What identifies a prompt and its settings, in a few letters."""
    return _digest([prompt.text, prompt.temperature, prompt.max_tokens, "fenced"])


def texts_digest(task: Task, questions: Questions) -> str:
    """What identifies the texts that a task shows, in a few letters; the same for both orders."""
    answers = questions.answers[task.question_id]
    first, second = sorted((task.first, task.second))
    return _digest([questions.text[task.question_id], answers[first], answers[second]])


def _digest(content: list[str | float]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]


def changed_since(
    records: Iterable[Record], tasks: Iterable[Task], judges: Mapping[str, Judge], questions: Questions
) -> str | None:
    """What is not as it was when earlier judgments were made, as a clause; None if all is.

    A judge's name that now stands for another model, and answers that changed under their old names, would make
    one set of judgments of two.
    """
    asked = set(tasks) | {task.turned for task in tasks}
    for number, record in enumerate(records, 1):
        task, judge = task_of(record), judges.get(record["judge_model"])
        if judge is not None and record.get("model_sent") != judge.sent:
            was = record.get("model_sent")
            return f"line {number} is of judge {task.judge!r} when it was {was!r}, not {judge.sent!r}"
        if task in asked and record.get("texts", "") != texts_digest(task, questions):
            pair = f"{task.first!r} and {task.second!r}"
            return f"line {number} is about other texts of question {task.question_id!r} by {pair}"
    return None


def spent_before(records: Iterable[Record], judges: Mapping[str, Judge], max_tokens: int) -> float:
    """What the judgments of earlier runs cost, by the prices of today."""
    total = 0.0
    for record in records:
        judge = judges.get(record["judge_model"])
        if judge is not None:
            prompt, completion = record.get("prompt_tokens"), record.get("completion_tokens")
            total += cost(judge, prompt or 0, max_tokens if completion is None else completion)
    return total


def substituted(records: Iterable[Record]) -> list[str]:
    """Sentences on judges not answered by the model asked for, or by one that answered for others too."""
    answered: dict[str, set[str]] = {}
    differs: Counter[tuple[str, str, str]] = Counter()
    for record in records:
        name = record.get("model_answered")
        if name:
            answered.setdefault(name, set()).add(record["judge_model"])
            if name != record["model_sent"]:
                differs[(record["judge_model"], record["model_sent"], name)] += 1
    said = [
        f"judge {judge!r} was sent as {sent!r} and answered as {name!r}, {count} times"
        for (judge, sent, name), count in sorted(differs.items())
    ]
    return said + [
        f"one model, {name!r}, answered for {len(judges)} judges: {', '.join(sorted(judges))}"
        for name, judges in sorted(answered.items())
        if len(judges) > 1
    ]
