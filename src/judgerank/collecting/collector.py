"""Asking: the requests that are missing, several at a time, within a budget, each answer kept as it comes."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import tenacity
from tqdm import tqdm

from judgerank.collecting.answers import Reply
from judgerank.collecting.breaker import Breaker
from judgerank.collecting.client import AttemptFailed, Client, JudgeRefused, Refused
from judgerank.collecting.costs import Budget, BudgetSpent, cost, most
from judgerank.collecting.identity import digest, judge_digest, texts_digest
from judgerank.collecting.ledger import Ledger, Record
from judgerank.collecting.pace import Pace
from judgerank.collecting.prompts import messages
from judgerank.collecting.replies import parse
from judgerank.collecting.settings import Collection, Judge
from judgerank.collecting.tasks import Questions, Task

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
        self._at_a_time = {name: judge.concurrent or settings.max_concurrent for name, judge in judges.items()}
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
        try:
            async with asyncio.TaskGroup() as group:
                for name, queue in queues.items():
                    for _ in range(min(len(queue), self._at_a_time[name])):
                        group.create_task(self._work(name, queue, progress))
        except ExceptionGroup as several:
            raise several.exceptions[0] from None

    async def _work(self, name: str, queue: deque[Task], progress: tqdm) -> None:
        while queue and not self._stops[name].is_set():
            await self._one(queue.popleft())
            progress.set_postfix_str(f"spent {self.budget.spent:.4f} {self.currency}", refresh=False)
            progress.update()

    async def _one(self, task: Task) -> None:
        breaker = self.breakers[task.judge]
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(AttemptFailed),
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=self._wait,
            sleep=lambda seconds: self._sleep(task.judge, seconds),
            reraise=True,
        )
        try:
            await retrying(self._attempt, task)
        except Stopped:
            return
        except BudgetSpent:
            self.short_of_money.add(task.judge)
            self._stops[task.judge].set()
        except JudgeRefused as error:
            breaker.given_up[error.kind] += 1
            breaker.stop(f"it refuses every request ({error.kind})", error.kind)
        except (AttemptFailed, Refused) as error:
            breaker.gave_up(error.kind)
        if breaker.why is not None:
            self._stops[task.judge].set()

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
        """One attempt, in its turn, paid for from the budget; a reply is on the disk before anything else."""
        judge = self.judges[task.judge]
        sent = messages(self.prompt, self.questions, task)
        async with self._paces[task.judge].request(self._all):
            if self._stops[task.judge].is_set():
                raise Stopped
            held, actual = most(judge, self.prompt, sent), 0.0
            await self.budget.hold(held)
            start = time.monotonic()
            try:
                reply = await self.client.attempt(judge, sent)
                self._keep(self._record(task, reply, time.monotonic() - start))
                if reply.prompt_tokens is None or reply.completion_tokens is None:
                    actual = held
                else:
                    actual = cost(judge, reply.prompt_tokens, reply.completion_tokens)
                total, count = self._spent[task.judge]
                self._spent[task.judge] = total + actual, count + 1
            except AttemptFailed as error:
                self.breakers[task.judge].failure(error.kind, error.said)
                if error.paid:
                    actual = self._typical(task.judge)
                raise
            except Refused as error:
                self.breakers[task.judge].failure(error.kind, error.said)
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

    def _record(self, task: Task, reply: Reply, seconds: float) -> Record:
        choice, confidence = parse(reply.text)
        judge = self.judges[task.judge]
        beside = {"letters": reply.letters_for(choice), "asked_with": judge_digest(judge)}
        return {
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
            "texts": texts_digest(task, self.questions, self.prompt),
            "asked_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
            **{name: value for name, value in beside.items() if value},
        }

    def _keep(self, record: Record) -> None:
        self.ledger.append(record)
        self.written.append(record)
        empty = not record["raw"].strip() and record["finish_reason"] == "length"
        self.breakers[record["judge_model"]].reply(record["judge_preferred_model"] != "unknown", empty)
