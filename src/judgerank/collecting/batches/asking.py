"""Asking judges by batches: one of a judge at a time, within the budget, each answer kept as a live one is."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from tqdm import tqdm

from judgerank.collecting.backoff import retrying
from judgerank.collecting.batches.providers import FORMS, Form, Result
from judgerank.collecting.batches.server import Pending, Server, Submission, custom_id, new_name
from judgerank.collecting.collector import Collector, together
from judgerank.collecting.costs import BudgetSpent
from judgerank.collecting.ledger import task_of
from judgerank.collecting.outcome import money
from judgerank.collecting.response import AttemptFailed, Refused
from judgerank.collecting.task_order import Task
from judgerank.collecting.transport import shortened
from judgerank.data.listing import counted

log = logging.getLogger("judgerank")
SEPARATOR = 2  # bytes between two requests of a batch
NO_RESULT = "no result"  # of a request that the provider may have answered and charged for


class Batches:
    """The batches of one run, after those on their way from earlier runs.

    `aside` is what is set aside for each request of these.
    """

    def __init__(
        self, collector: Collector, pending: Pending, poll: float, progress: tqdm, aside: Mapping[Task, float]
    ):
        self._collector, self._pending, self._poll, self._progress = collector, pending, poll, progress
        self._judges, self._client, self._budget = collector.judges, collector.client, collector.budget
        self._aside = dict(aside)  # what a request may cost changes with what others are told to have cost
        for request in pending.requests:  # their replies begin with the word that an earlier run drew
            if "nonce" in request:
                collector.nonces[task_of(request)] = str(request["nonce"])
        self._answered = {(record.get("batch"), task_of(record)) for record in collector.ledger.records}

    async def run(self, tasks: Sequence[Task]) -> None:
        """Fetch what was asked before, and ask every task of every judge who is not stopped.

        Raises
        ------
        DataError
            If the disk does not take an answer, or the name of a batch.
        """
        queues: dict[str, deque[Task]] = {which.judge: deque() for which in self._pending}
        for task in tasks:
            queues.setdefault(task.judge, deque()).append(task)
        await together(self._ask(name, queue) for name, queue in queues.items() if name in self._judges)

    async def _ask(self, name: str, queue: deque[Task]) -> None:
        self._budget.unpark(self._on_their_way(name))
        try:
            form = FORMS.get(self._judges[name].form)
            if form is None:
                raise Refused("no batches", "")
            for which in self._pending:
                if which.judge == name:
                    await self._finish(which, await self._server(form, which.tasks[0]))
            while queue and not self._collector.is_stopped(name):
                which, items = await self._begin(form, queue)
                await self._finish(which, await self._server(form, which.tasks[0]), items)
        except BudgetSpent:
            self._collector.out_of_money(name)
        except (AttemptFailed, Refused) as error:
            self._collector.stop(name, f"its batch interface fails ({error.kind})", error.kind)
        finally:
            await self._budget.park(self._on_their_way(name))

    def _on_their_way(self, name: str) -> float:
        """What a judge's batches may cost."""
        return sum(self._most(task) for which in self._pending if which.judge == name for task in which.tasks)

    async def _server(self, form: Form, task: Task) -> Server:
        """The batch interface of a task's judge."""
        judge, collector = self._judges[task.judge], self._collector
        live = await self._client.prepared(judge, collector.messages(task))
        failure = collector.breakers[task.judge].failure
        again = partial(retrying, collector.attempts, collector.first_wait, collector.patience)
        return Server(self._client, judge, form, live, again, failure, self._poll)

    async def _begin(self, form: Form, queue: deque[Task]) -> tuple[Submission, list[bytes]]:
        """The next batch: as many requests as it may have, and as there is money for.

        Raises
        ------
        BudgetSpent
            If there is none for the first.
        """
        judge, name = self._judges[queue[0].judge], new_name()
        most = min(judge.batch_size or form.most_requests, form.most_requests)
        tasks: list[Task] = []
        items: list[bytes] = []
        size = 0
        try:
            while queue and len(tasks) < most:
                item = await self._item(form, name, len(tasks), queue[0])
                size += len(item) + SEPARATOR
                if tasks and (size > form.most_bytes or not self._budget.hold_now(self._most(queue[0]))):
                    break
                if not tasks:
                    await self._budget.hold(self._most(queue[0]))
                tasks.append(queue.popleft())
                items.append(item)
        except Refused:
            await self._give_back(tasks)
            raise
        return self._pending.begin(judge.judge, name, map(self._collector.request_fields, tasks)), items

    async def _item(self, form: Form, name: str, number: int, task: Task) -> bytes:
        request = await self._client.prepared(self._judges[task.judge], self._collector.messages(task))
        return form.item(custom_id(name, number), request.content)

    async def _finish(self, which: Submission, server: Server, items: list[bytes] | None = None) -> None:
        """Submit a batch, if that is not done yet, wait for it, and keep its answers."""
        if not which.batch:
            which = await self._submit(which, server, items)
        batch = await server.ended(which.batch)
        wanted = {custom_id(which.name, number): task for number, task in enumerate(which.tasks)}
        results: dict[str, Result] = {}
        for result in await server.results(batch, len(wanted)):
            if result.custom_id not in wanted or result.custom_id in results:
                self._collector.breakers[which.judge].failure("result of no request", "")
            else:
                results[result.custom_id] = result
        untold = (
            sum(result.answer is not None and result.answer.is_success for result in results.values())
            < batch.succeeded
        )
        for name, task in wanted.items():
            missing = Result(name, None, NO_RESULT if untold else f"batch {batch.status}", batch.message)
            await self._keep(which, task, results.get(name, missing))
            self._collector.show(self._progress)
        self._pending.drop(which)

    async def _submit(self, which: Submission, server: Server, items: list[bytes] | None) -> Submission:
        """Submit a batch; without its requests at hand, it is one that an earlier run may have submitted."""

        async def all_items() -> list[bytes]:
            if items is not None:
                return items
            return [
                await self._item(server.form, which.name, *numbered_task)
                for numbered_task in enumerate(which.tasks)
            ]

        try:
            batch = await server.submit(which, items is not None, all_items)
        except Refused as error:
            self._collector.breakers[which.judge].given_up[error.kind] += len(which.tasks)
            await self._give_back(which.tasks)
            self._pending.drop(which)
            raise
        self._progress.clear()
        aside = money(sum(map(self._most, which.tasks)), self._collector.currency)
        template = "judge %r: batch %s is submitted with %s; %s set aside for it"
        log.info(template, which.judge, batch, counted(len(which.tasks), "request"), aside)
        return self._pending.submitted(which, batch)

    async def _keep(self, which: Submission, task: Task, result: Result) -> None:
        """One result, as that of a live request."""
        collector, judge = self._collector, self._judges[task.judge]
        if (which.batch, task) in self._answered:  # by a run that was killed before it could say that all are
            await self._give_back([task])
            return
        try:
            if result.answer is None:
                charged = self._most(task) if result.kind == NO_RESULT else 0.0
                await self._budget.settle(self._most(task), charged)
                if charged:
                    collector.without_answer(task.judge, charged)
                kind, message = (shortened(text) for text in (result.kind, result.message))
                collector.breakers[task.judge].failure(kind, message)
                raise Refused(kind, message)
            reply = self._client.read(judge, collector.messages(task), result.answer)
            await collector.take(task, self._most(task), reply, {"batch": which.batch, "asked_at": which.begun})
        except (AttemptFailed, Refused) as error:
            collector.give_up(task.judge, error)

    def _most(self, task: Task) -> float:
        if task not in self._aside:
            self._aside[task] = self._collector.most(task, batched=True)
        return self._aside[task]

    async def _give_back(self, tasks: Iterable[Task]) -> None:
        """Money that was set aside and is not spent."""
        for task in tasks:
            await self._budget.settle(self._most(task), 0.0)
