"""Asking: the requests that are missing, several at a time, within a budget, each answer kept as it comes."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import defaultdict
from collections.abc import Awaitable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from tqdm import tqdm

from judgerank.collecting.backoff import Attempt, Pace, Pause, Stopped, Waiting, backoff
from judgerank.collecting.client import Client
from judgerank.collecting.collection import identified
from judgerank.collecting.costs import Budget, BudgetSpent, at_a_time, at_most, is_priced, learned, recorded_cost
from judgerank.collecting.ledger import UNKNOWN, Ledger, Record, choice_of, record_of, task_of
from judgerank.collecting.outcome import Breaker, digits, duration, money
from judgerank.collecting.prompts import form_of, messages, new_nonce
from judgerank.collecting.requests import structured_by
from judgerank.collecting.respondents import ReplyOwners, ShownComparison, respondents
from judgerank.collecting.response import AttemptFailed, JudgeRefused, Refused, Reply
from judgerank.collecting.settings import Collection, Judge
from judgerank.collecting.task_order import Questions, Task
from judgerank.collecting.transport import LARGE, shortened
from judgerank.data.listing import counted

MIN_LOGGED_AMOUNT = 1e-9  # of money; less is an error of rounding
MIN_LOGGED_PAUSE = 5.0  # seconds of a pause that is worth a word

log = logging.getLogger("judgerank")


class Collector:
    """One run over the tasks that are missing.

    Attributes
    ----------
    written : list of dict
        Judgments of this run.
    answered_elsewhere : int
        Requests that were not sent, as something else had appended an answer to the file meanwhile.
    breakers : dict
        What happened to each judge's requests.
    short_of_money : set of str
        Judges whose next request might exceed the budget.
    goes_by_plan : bool
        Whether every task is to be asked, not only what a goal takes.
    nonces : dict of Task to str
        The word for the verdict of each request, drawn when the request is first made.
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
        self._respondents = respondents(judges, client)
        self.attempts, self.patience, self.first_wait = settings.attempts, settings.patience, settings.first_wait
        self.goes_by_plan, self.repeats = settings.until is None, settings.most_repeats
        self.nonces: dict[Task, str] = defaultdict(new_nonce)
        self.written: list[Record] = []
        self.answered_elsewhere = 0
        self.breakers = {name: Breaker(settings.other_forms) for name in judges}
        self.short_of_money: set[str] = set()
        self._all = Pace(settings.requests_per_minute, settings.max_concurrent)
        self._at_a_time = {name: at_a_time(judge, settings) for name, judge in judges.items()}
        self._paces = {
            name: Pace(judge.requests_per_minute, self._at_a_time[name]) for name, judge in judges.items()
        }
        self.pauses = {name: Pause(settings.first_wait, settings.patience) for name in judges}
        self._bounds = learned(ledger.records, judges, questions, settings.prompt)
        self._paused_logged = set[str]()
        self._progress: tqdm | None = None
        self._owners = ReplyOwners(judges)
        for record in ledger.records:
            told = (record.get(name) for name in ("prompt_tokens", "completion_tokens"))
            self._owners.is_to_another(task_of(record), record.get("reply_id"), str(record.get("raw", "")), *told)
            client.refused[record["judge_model"]] |= set(record.get("asked_without", ()))

    async def run(self, tasks: Sequence[Task], progress: tqdm) -> None:
        """Ask every task of every judge who is not stopped.

        Raises
        ------
        DataError
            If the disk does not take an answer.
        """
        self._progress = progress
        of: dict[str, list[Task]] = {}
        for task in tasks:
            of.setdefault(task.judge, []).append(task)
        queues = {name: Waiting(some, self.pauses[name]) for name, some in of.items()}
        await together(
            self._work(name, queue, progress)
            for name, queue in queues.items()
            for _ in range(min(len(queue), self._at_a_time[name]))
        )

    async def _work(self, name: str, queue: Waiting[Task], progress: tqdm) -> None:
        with suppress(Stopped):
            while (queued := await queue.take()) is not None:
                self.show(progress, await self._one(name, queue, *queued))

    def show(self, progress: tqdm, done: int = 1) -> None:
        """Say that so many requests were dealt with, and what all attempts have cost."""
        held = self.budget.set_aside
        aside = f", {digits(held)} set aside" if held > MIN_LOGGED_AMOUNT else ""
        progress.set_postfix_str(f"spent {money(self.budget.spent, self.currency)}{aside}", refresh=False)
        progress.update(done)
        if not done:  # which tqdm takes for nothing new
            progress.refresh()

    async def _one(self, name: str, queue: Waiting[Task], attempt: Attempt[Task], turn: int) -> int:
        """One attempt; how many requests are dealt with by it."""
        pause = self.pauses[name]
        try:
            self.ledger.refresh()
            if self.ledger.is_answered(attempt.task):
                self.answered_elsewhere += 1
                return 1
            if not await self._attempt(attempt.task, turn):
                queue.unsent(attempt)
                return 0
            self._answers_again(name, turn)
        except BudgetSpent:
            self.out_of_money(name)
            return 0
        except Refused as error:
            self._answers_again(name, turn)
            self.give_up(name, error)
        except AttemptFailed as error:
            return self._failed(name, queue, attempt, turn, error)
        finally:
            pause.end(turn)
        return 1

    def _failed(
        self, name: str, queue: Waiting[Task], attempt: Attempt[Task], turn: int, error: AttemptFailed
    ) -> int:
        """Put a request back that failed, or give it up; how many are given up."""
        pause = self.pauses[name]
        counts, paused = pause.failed(turn, attempt.task, error)
        if attempt.counted + counts >= self.attempts:
            self.give_up(name, error, pause.is_at_fault(attempt.task))
            if error.wait is not None:  # the judge's other requests would wait as long
                self._tell_pause(name, error, paused)
            return 1
        queue.failed(attempt, counts, None if paused else backoff(self.first_wait, attempt.counted))
        after = pause.given_up_after
        hopeless = [] if after is None or error.wait is not None else queue.hopeless()
        if after is None or not hopeless:
            self._tell_pause(name, error, paused)
            return 0
        template = "judge %r: %s given up, which failed for %s after it answered all others"
        self._say(template, name, counted(len(hopeless), "request"), duration(after))
        for _ in hopeless:
            self.give_up(name, error, at_fault=True)
        queue.clear()
        pause.begin_anew()
        return len(hopeless)

    def _answers_again(self, name: str, turn: int) -> None:
        lasted = self.pauses[name].answered(turn)
        if name in self._paused_logged:
            self._paused_logged.discard(name)
            self._say("judge %r answers again after %s", name, duration(lasted))

    def _tell_pause(self, name: str, error: AttemptFailed, paused: float) -> None:
        """Say that a judge is paused, once in its trouble, or give it up at the end of all patience."""
        given_up = self.pauses[name].given_up_after
        if given_up is not None:
            reason = f"there was no answer for {duration(given_up)}, at last for {error.kind}"
            if error.wait and error.wait > given_up:
                reason = f"it asks to wait for {duration(error.wait)} ({error.kind}), longer than --patience"
            self.stop(name, reason, error.kind)
        elif paused >= MIN_LOGGED_PAUSE and name not in self._paused_logged:
            self._paused_logged.add(name)
            server_message = f"; it says: {error.message}" if error.message else ""
            longest = duration(self.patience)
            self._say(
                "judge %r is paused (%s%s) and tried again for up to %s", name, error.kind, server_message, longest
            )

    def _say(self, *template_and_values: Any) -> None:
        if self._progress is not None:
            self._progress.clear()
        log.info(*template_and_values)

    def give_up(self, name: str, error: AttemptFailed | Refused, at_fault: bool = False) -> None:
        """Count a request that has no answer, and stop a judge who has too many of these.

        One that is `at_fault`, because the judge answered others, is not held against the judge.
        """
        breaker = self.breakers[name]
        if isinstance(error, JudgeRefused):
            breaker.given_up[error.kind] += 1
            breaker.stop(f"it refuses every request ({error.kind})", error.kind)
        elif at_fault:
            breaker.given_up[error.kind] += 1
        else:
            breaker.gave_up(error.kind)
        if breaker.why is not None:
            self.pauses[name].stop()

    def out_of_money(self, name: str) -> None:
        """Ask a judge no more: the next request might exceed the budget."""
        self.short_of_money.add(name)
        self.pauses[name].stop()

    def stop(self, name: str, why: str, kind: str) -> None:
        """Ask a judge no more, for the last fault of a kind."""
        self.breakers[name].stop(why, kind)
        self.pauses[name].stop()

    def is_stopped(self, name: str) -> bool:
        return self.pauses[name].is_stopped

    def end_pilot(self) -> None:
        """Stop judges whose first requests say that the rest would be in vain."""
        for name, breaker in self.breakers.items():
            breaker.end_pilot()
            if breaker.why is not None:
                self.pauses[name].stop()

    async def _attempt(self, task: Task, turn: int) -> bool:
        """One attempt, paid for from the budget; False if the judge was paused before it was sent."""
        judge = self.judges[task.judge]
        within = None if judge.is_local else self._all  # no server's pace
        async with self._paces[task.judge].request(within):
            if not self.pauses[task.judge].may_go(turn):
                return False
            held = self.most(task)
            await self.budget.hold(held)
            with self.ledger.charges.on_their_way(held):
                await self.take(task, held, self._reply(task))
            return True

    async def _reply(self, task: Task) -> Reply:
        comparison = ShownComparison(**self.questions.texts_of(task), messages=self.messages(task))
        return await self._respondents[task.judge].compare(comparison)

    def messages(self, task: Task) -> list[dict[str, Any]]:
        """What the task's judge is sent."""
        return messages(self.prompt, self.questions, task, self.judges[task.judge], self.nonces[task])

    def most(self, task: Task, batched: bool = False) -> float:
        """What a request may cost, live or in a batch; nothing that could be set aside without prices."""
        judge = self.judges[task.judge]
        tokens = self._bounds.tokens(judge, self.prompt, self.messages(task))
        return at_most(judge, tokens, batched) if is_priced(judge) else 0.0

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
        try:
            answer = await reply
            self._require_own(task, answer)
            tokens = self._bounds.tokens(judge, self.prompt, self.messages(task))
            is_structured = bool(structured_by(judge, answer.asked_without))
            form = form_of(self.prompt, self.questions, task, judge, is_structured, self.nonces[task])
            read = partial(record_of, self.request_fields(task), answer, tokens, form)
            record = await asyncio.to_thread(read) if len(answer.text) > LARGE else read()
            record |= batch or {"seconds": round(time.monotonic() - start, 3)}
            paid = recorded_cost(judge, record)
            actual = 0.0 if math.isnan(paid) else paid
            self._keep(task, record, answer)
        except (AttemptFailed, Refused) as error:
            self.breakers[task.judge].failure(error.kind, error.message)
            if isinstance(error, AttemptFailed) and error.paid:  # or may have been
                actual = self.without_answer(task.judge, held)
            raise
        except asyncio.CancelledError:
            if batch is None:  # which goes on, and whose money stays set aside
                actual = self.without_answer(task.judge, held)
            raise
        finally:
            await self.budget.settle(held, actual)

    def _require_own(self, task: Task, reply: Reply) -> None:
        """The reply is of this request: a server, or what stands before it, may send another's.

        Raises
        ------
        AttemptFailed
            If it was the answer to another request before.
        """
        server, reused_ids = self._owners.server(task.judge), self._owners.reused_ids
        was_reused = server in reused_ids
        told = reply.prompt_tokens, reply.completion_tokens
        is_to_another = self._owners.is_to_another(task, reply.reply_id, reply.text, *told)
        if server in reused_ids and not was_reused:
            self._say(
                "judge %r is on a server that gives different replies the same id (%s): only long texts show now "
                "whether a reply was sent for another request",
                task.judge,
                shortened(reused_ids[server]),
            )
        if is_to_another:
            raise AttemptFailed("reply to another request", paid=True)

    def without_answer(self, name: str, amount: float) -> float:
        """Count an attempt that ended without an answer and may have been charged; the amount."""
        self.ledger.charges.add(amount)
        self.breakers[name].unpriced += 1
        return amount

    @property
    def raised(self) -> list[str]:
        """Judges who were told to have used more tokens than were counted on."""
        return self._bounds.raised(self.judges)

    def request_fields(self, task: Task) -> Record:
        """What is asked, what identifies it, and the nonce by which a later run reads the reply of a batch."""
        judge = self.judges[task.judge]
        fields = identified(task, judge, self.questions, self.prompt)
        fields |= {"anchor": True} if task.repeat >= self.repeats else {}
        return fields | ({"nonce": self.nonces[task]} if self.prompt.nonce and not judge.is_local else {})

    def _keep(self, task: Task, record: Record, reply: Reply) -> None:
        judge, breaker = self.judges[task.judge], self.breakers[task.judge]
        self.ledger.append(record)
        self.written.append(record)
        self._bounds.learn(judge, self.prompt, self.messages(task), reply.prompt_tokens, reply.completion_tokens)
        readable, refused = choice_of(record) != UNKNOWN, "refusal" in record
        empty = not record["raw"].strip() and record["finish_reason"] == "length"
        if not (readable or refused or empty):
            breaker.in_another_form(record["raw"], record["finish_reason"] == "length")
        breaker.reply(readable, empty, refused and not readable)
        if breaker.why is not None:
            self.pauses[task.judge].stop()
        breaker.untold += "tokens_at_most" in record
        if judge.structured and not readable and not refused and record["raw"].strip():
            self.client.unheeded(judge, reply)


async def together(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do all of it side by side; the first fault ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in work:
                group.create_task(coroutine)
    except ExceptionGroup as several:
        raise several.exceptions[0] from None
