"""Asking: the requests that are missing, several at a time, within a budget, each answer kept as it comes."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import tenacity
from tqdm import tqdm

from judgerank.collecting.answers import Reply
from judgerank.collecting.breaker import Breaker
from judgerank.collecting.client import AttemptFailed, Client, JudgeRefused, Refused
from judgerank.collecting.costs import Budget, BudgetSpent, at_a_time, cost, most
from judgerank.collecting.functions import NoAnswer, answered, function
from judgerank.collecting.identity import identified
from judgerank.collecting.ledger import Ledger, Record
from judgerank.collecting.pace import Pace
from judgerank.collecting.prompts import messages
from judgerank.collecting.replies import parse
from judgerank.collecting.settings import Collection, Judge
from judgerank.collecting.tasks import Questions, Task

LEAST_SHOWN = 5e-5  # of money, with four decimals
LONGEST_WAIT = 120.0  # seconds between attempts, whatever the server asks for


class Stopped(Exception):
    """The judge is asked no more."""


class Collector:
    """One run over the tasks that are missing.

    Attributes
    ----------
    written : list of dict
        Judgments of this run.
    breakers : dict
        What happened to each judge's requests.
    short_of_money : set of str
        Judges whose next request might exceed the budget.
    goes_by_plan : bool
        Whether every task is to be asked, not only what a goal takes.
    """

    def __init__(
        self,
        settings: Collection,
        judges: Mapping[str, Judge],
        client: Client,
        ledger: Ledger,
        questions: Questions,
        budget: Budget,
    ):
        self.client, self.ledger, self.questions, self.budget = client, ledger, questions, budget
        self.prompt, self.judges, self.currency = settings.prompt, judges, settings.panel.currency
        self.first_wait, self.attempts = settings.first_wait, settings.attempts
        self.goes_by_plan = settings.until is None
        self.written: list[Record] = []
        self.breakers = {name: Breaker() for name in judges}
        self.short_of_money: set[str] = set()
        self._all = Pace(settings.requests_per_minute, settings.max_concurrent)
        self._at_a_time = {name: at_a_time(judge, settings) for name, judge in judges.items()}
        self._paces = {
            name: Pace(judge.requests_per_minute, self._at_a_time[name]) for name, judge in judges.items()
        }
        self._stops = {name: asyncio.Event() for name in judges}
        self._spent = dict.fromkeys(judges, (0.0, 0))  # on replies, and how many: what one costs by and large

    async def run(self, tasks: Sequence[Task], progress: tqdm) -> None:
        """Ask every task of every judge who is not stopped.

        Raises
        ------
        DataError
            If the disk does not take an answer.
        """
        queues: dict[str, deque[Task]] = {}
        for task in tasks:
            queues.setdefault(task.judge, deque()).append(task)
        await together(
            self._work(name, queue, progress)
            for name, queue in queues.items()
            for _ in range(min(len(queue), self._at_a_time[name]))
        )

    async def _work(self, name: str, queue: deque[Task], progress: tqdm) -> None:
        while queue and not self._stops[name].is_set():
            await self._one(queue.popleft())
            self.show(progress)

    def show(self, progress: tqdm, done: int = 1) -> None:
        """Say that requests were dealt with, and what that has cost."""
        held = self.budget.set_aside
        aside = f", {held:.4f} set aside" if held > LEAST_SHOWN else ""
        progress.set_postfix_str(f"spent {self.budget.spent:.4f} {self.currency}{aside}", refresh=False)
        progress.update(done)

    async def _one(self, task: Task) -> None:
        try:
            await self.retrying(lambda seconds: self._sleep(task.judge, seconds))(self._attempt, task)
        except Stopped:
            return
        except BudgetSpent:
            self.out_of_money(task.judge)
        except (AttemptFailed, Refused) as error:
            self.give_up(task.judge, error)

    def retrying(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> tenacity.AsyncRetrying:
        """What attempts again where another attempt may help."""
        return tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(AttemptFailed),
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=self._wait,
            sleep=sleep,
            reraise=True,
        )

    def give_up(self, name: str, error: AttemptFailed | Refused) -> None:
        """Count a request that has no answer, and stop a judge who has too many of these."""
        breaker = self.breakers[name]
        if isinstance(error, JudgeRefused):
            breaker.given_up[error.kind] += 1
            breaker.stop(f"it refuses every request ({error.kind})", error.kind)
        else:
            breaker.gave_up(error.kind)
        if breaker.why is not None:
            self._stops[name].set()

    def out_of_money(self, name: str) -> None:
        """Ask a judge no more: the next request might exceed the budget."""
        self.short_of_money.add(name)
        self._stops[name].set()

    def stop(self, name: str, why: str, kind: str) -> None:
        """Ask a judge no more, for the last fault of a kind."""
        self.breakers[name].stop(why, kind)
        self._stops[name].set()

    def is_stopped(self, name: str) -> bool:
        return self._stops[name].is_set()

    def end_pilot(self) -> None:
        """Stop judges whose first requests say that the rest would be in vain."""
        for name, breaker in self.breakers.items():
            breaker.end_pilot()
            if breaker.why is not None:
                self._stops[name].set()

    async def _sleep(self, name: str, seconds: float) -> None:
        """Wait for the next attempt, or until there is none."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stops[name].wait(), seconds)

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """What the server asks for, else about twice as long every time."""
        backoff = self.first_wait / 2 + tenacity.wait_random_exponential(self.first_wait)(state)
        failed = state.outcome.exception() if state.outcome else None
        asked = failed.wait if isinstance(failed, AttemptFailed) else None
        return 0.0 if asked == 0.0 else min(LONGEST_WAIT, max(backoff, asked or 0.0))

    async def _attempt(self, task: Task) -> None:
        """One attempt, in its turn, paid for from the budget."""
        judge = self.judges[task.judge]
        within = None if judge.is_function else self._all  # no server's pace
        async with self._paces[task.judge].request(within):
            if self.is_stopped(task.judge):
                raise Stopped
            held = self.most(task)
            await self.budget.hold(held)
            await self.take(task, held, self._reply(task))

    async def _reply(self, task: Task) -> Reply:
        judge = self.judges[task.judge]
        if not judge.is_function:
            return await self.client.attempt(judge, self.messages(task))
        try:
            return await answered(function(judge.sent), self.questions.shown(task), judge.params)
        except NoAnswer as error:
            raise Refused(error.kind, error.said) from error

    def messages(self, task: Task) -> list[dict[str, str]]:
        """What the task's judge is sent."""
        return messages(self.prompt, self.questions, task)

    def most(self, task: Task, batched: bool = False) -> float:
        """What a request may cost, live or in a batch."""
        return most(self.judges[task.judge], self.prompt, self.messages(task), batched)

    async def take(self, task: Task, held: float, reply: Awaitable[Reply], batch: Record | None = None) -> None:
        """Wait for a reply and pay for it; it is on the disk before anything else.

        Parameters
        ----------
        task : Task
        held : float
            What was set aside for it.
        reply : awaitable of Reply
        batch : dict, optional
            Which batch it comes from, and since when that was asked.

        Raises
        ------
        AttemptFailed, Refused
            If there is none.
        """
        actual, judge, start = 0.0, self.judges[task.judge], time.monotonic()
        share = judge.batch_share if batch else 1.0
        try:
            answer = await reply
            self._keep(self._record(task, answer) | (batch or {"seconds": round(time.monotonic() - start, 3)}))
            if answer.prompt_tokens is None or answer.completion_tokens is None:
                actual = held
            else:
                actual = share * cost(judge, answer.prompt_tokens, answer.completion_tokens)
            total, count = self._spent[task.judge]
            self._spent[task.judge] = total + actual, count + 1
        except (AttemptFailed, Refused) as error:
            self.breakers[task.judge].failure(error.kind, error.said)
            if isinstance(error, AttemptFailed) and error.paid:
                actual = self._typical(task.judge)
            raise
        finally:
            await self.budget.settle(held, actual)

    def _typical(self, name: str) -> float:
        """What an attempt without an answer is taken to have cost: as much as this judge's others, on average.

        One who never answered costs nothing: a dead judge must not use up what the others need.
        """
        self.breakers[name].unpriced += 1
        total, count = self._spent[name]
        return total / count if count else 0.0

    def asked(self, task: Task) -> Record:
        """What is asked, and what identifies it."""
        return identified(task, self.judges[task.judge], self.questions, self.prompt)

    def _record(self, task: Task, reply: Reply) -> Record:
        choice, confidence = parse(reply.text)
        letters = reply.letters_for(choice)
        return {
            **self.asked(task),
            "judge_preferred_model": choice,
            "judge_confidence": confidence,
            "raw": reply.text,
            "model_answered": reply.model,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "asked_at": datetime.now(UTC).isoformat(timespec="seconds"),
            **({"letters": letters} if letters else {}),
        }

    def _keep(self, record: Record) -> None:
        self.ledger.append(record)
        self.written.append(record)
        empty = not record["raw"].strip() and record["finish_reason"] == "length"
        self.breakers[record["judge_model"]].reply(record["judge_preferred_model"] != "unknown", empty)


async def together(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do all of it side by side; the first fault ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            for each in work:
                group.create_task(each)
    except ExceptionGroup as several:
        raise several.exceptions[0] from None
