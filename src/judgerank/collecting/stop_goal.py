"""Asking by rounds until a goal is reached: LLM judges as whom `judgerank.adaptive` asks."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from tqdm import tqdm

from judgerank.adaptive.goals import Goal
from judgerank.adaptive.rounds import Answers, Collected, collect_until
from judgerank.collecting.collector import Collector
from judgerank.collecting.costs import typical_costs
from judgerank.collecting.ledger import Record, task_of
from judgerank.collecting.messages import changed
from judgerank.collecting.outcome import money, outlook, outlook_sentence
from judgerank.collecting.settings import Judge
from judgerank.collecting.task_order import Task
from judgerank.data.arrays import FloatArray, IntArray, generator
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.listing import counted
from judgerank.fits.result import Fit
from judgerank.model.kinds.family import Relations, counted_votes, relations
from judgerank.order.pairs import Order

log = logging.getLogger("judgerank")
OUTCOMES = {"a": 1.0, "b": 0.0, "c": 0.5}  # of the model shown first
LEAST_COST = 0.01  # of a judge, relative to the dearest: one that is free is not asked everything


class Judges:
    """The requests that are left, as an oracle; of those alike the question asked least comes first.

    Attributes
    ----------
    models, judges, costs, left
        Those of `adaptive.oracles.Oracle`.
    """

    def __init__(
        self,
        collector: Collector,
        progress: tqdm,
        models: Sequence[str],
        judges: Sequence[str],
        costs: FloatArray,
        tasks: Iterable[Task],
        known_records: Iterable[Record],
    ):
        self.models, self.judges, self.costs = tuple(models), tuple(judges), costs
        self._collector, self._progress = collector, progress
        self._loop = asyncio.get_running_loop()
        self._running: asyncio.Task[None] | None = None
        self._places = {name: n for n, name in enumerate(models)}, {name: n for n, name in enumerate(judges)}
        self._n_asked = Counter(record["question_id"] for record in known_records)
        self._numbers: dict[object, int] = {}  # of questions, as they come
        self._waiting: dict[tuple[int, ...], list[Task]] = {}
        self.left = np.zeros((len(models), len(models), len(judges)), np.int64)
        for task in tasks:
            if task.judge in self._places[1]:
                self._waiting.setdefault(self._cell(task), []).append(task)
                self.left[self._cell(task)] += 1

    def _cell(self, task: Task) -> tuple[int, int, int]:
        models, judges = self._places
        return models[task.first], models[task.second], judges[task.judge]

    def number(self, question: object) -> int:
        """Of a question, by its id."""
        return self._numbers.setdefault(question, len(self._numbers))

    def ask(self, first: IntArray, second: IntArray, judge: IntArray) -> Answers:
        """Answers; NaN where there is none that can be read."""
        tasks = [self._next(cell) for cell in zip(first.tolist(), second.tolist(), judge.tolist(), strict=True)]
        before = len(self._collector.written)
        asyncio.run_coroutine_threadsafe(self._round(tasks), self._loop).result()
        winners = {task_of(record): record["judge_preferred_model"] for record in self._collector.written[before:]}
        for name, breaker in self._collector.breakers.items():
            if name in self._places[1] and (breaker.why or name in self._collector.short_of_money):
                self.left[:, :, self._places[1][name]] = 0
        outcome = np.array([OUTCOMES.get(winners.get(task, "unknown"), np.nan) for task in tasks])
        return Answers(outcome, np.array([self.number(task.question_id) for task in tasks], np.int64))

    async def _round(self, tasks: Sequence[Task]) -> None:
        self._running = asyncio.current_task()
        await self._collector.run(tasks, self._progress)

    async def stop(self) -> None:
        """End the round that is on its way."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def _next(self, cell: tuple[int, ...]) -> Task:
        waiting = self._waiting[cell]
        task = min(waiting, key=lambda waiting_task: self._n_asked[waiting_task.question_id])
        waiting.remove(task)
        self._n_asked[task.question_id] += 1
        self.left[cell] -= 1
        return task

    def comparisons(self, records: Iterable[Record]) -> tuple[Comparisons | None, IntArray]:
        """What is known already, of these models and judges, and the number of the question behind each."""
        models, judges = self._places
        rows = [
            (
                *self._cell(task_of(record)),
                OUTCOMES[record["judge_preferred_model"]],
                self.number(record["question_id"]),
            )
            for record in records
            if record["judge_preferred_model"] in OUTCOMES
            and record["judge_model"] in judges
            and {record["model_a"], record["model_b"]} <= models.keys()
        ]
        if not rows:
            return None, np.zeros(0, np.int64)
        first, second, judge, outcome, question = map(np.array, zip(*rows, strict=True))
        return Comparisons(self.models, self.judges, first, second, judge, outcome), question


async def ask_until(
    collector: Collector,
    progress: tqdm,
    goal: Goal,
    models: Sequence[str],
    tasks: Sequence[Task],
    records: Sequence[Record],
    seed: int,
    recuse: bool = True,
) -> Collected:
    """Ask by rounds, and say at each look how far it is.

    Parameters
    ----------
    collector : Collector
    progress : tqdm
    goal : Goal
    models : sequence of str
    tasks : sequence of Task
        What may be asked.
    records : sequence of Record
        What is known.
    seed : int
    recuse : bool
        Whether judges are not asked about models of their own maker, as far as others can connect the models.

    Raises
    ------
    ConfigError
        If no judge has given a readable answer to begin with.
    """
    read = [record for record in records if record["judge_preferred_model"] in OUTCOMES]
    judges = sorted(
        {record["judge_model"] for record in read}
        & {name for name, breaker in collector.breakers.items() if breaker.why is None}
    )
    if not judges:
        raise ConfigError("no judge gave an answer that can be read: there is nothing to choose by (--pilot)")
    costs = relative_costs(records, {name: collector.judges[name] for name in judges})
    own_maker = relations(judges, models) if recuse else None
    if own_maker is not None:
        tasks = _counted_tasks(tasks, models, judges, own_maker)
    oracle = Judges(collector, progress, models, judges, costs, tasks, records)
    known_comparisons, questions = oracle.comparisons(records)
    try:
        return await asyncio.to_thread(
            collect_until,
            oracle,
            goal,
            generator(seed, "until"),
            watch=_watch(collector, progress, goal, oracle, records),
            known=known_comparisons,
            known_questions=questions,
            warn=lambda name: log.warning("warning: %s", changed(name)),
            own_maker=own_maker,
        )
    finally:
        await oracle.stop()


def _counted_tasks(
    tasks: Sequence[Task], models: Sequence[str], judges: Sequence[str], own_maker: Relations
) -> list[Task]:
    """The requests whose votes would count in a ranking; how many are not asked is said."""
    tasks = [task for task in tasks if task.judge in judges]
    first, second, judge = (
        pd.Index(names).get_indexer(pd.Index([getattr(task, side) for task in tasks], dtype=object))
        for names, side in ((models, "first"), (models, "second"), (judges, "judge"))
    )
    asked = Comparisons(tuple(models), tuple(judges), first, second, judge, np.full(len(tasks), 0.5))
    counts = counted_votes(asked, own_maker.votes(asked))
    if not counts.all():
        n = counted(int((~counts).sum()), "request")
        log.info("not asked: %s to judges on models of their own maker (--own-maker count asks them, too)", n)
    return list(itertools.compress(tasks, counts))


def _watch(
    collector: Collector, progress: tqdm, goal: Goal, oracle: Judges, records: Sequence[Record]
) -> Callable[[Fit, Order | None], dict[str, float]]:
    """Say at each look how far it is."""
    look_numbers = itertools.count(1)

    def watch(result: Fit, order: Order | None) -> dict[str, float]:
        leading = result.scores.sort_values(ascending=False).index[:3]
        count = float(result.comparisons.count.sum())
        forecast = outlook(order, goal, next(look_numbers), count)
        typical = typical_costs([*records, *collector.written], collector.judges)
        unit_cost = float(np.mean(list(typical.values()))) if typical else 0.0
        far = outlook_sentence(forecast, count, float(oracle.left.sum()), unit_cost, collector.currency)
        spent = money(collector.budget.spent, collector.currency)
        progress.clear()
        n_judgments = counted(int(count), "judgment")
        log.info("look: %s, spent %s; %s; leading: %s", n_judgments, spent, far, ", ".join(leading))
        return {}

    return watch


def relative_costs(records: Iterable[Record], judges: Mapping[str, Judge]) -> FloatArray:
    """What a judgment by each costs, shape (K,); alike where one is not known."""
    typical = typical_costs(records, judges)
    costs = np.array([typical.get(name, np.nan) for name in judges])
    if np.isnan(costs).any():
        return np.ones(len(costs))
    top = costs.max()
    return np.maximum(costs, LEAST_COST * top) if top > 0 else np.ones(len(costs))
