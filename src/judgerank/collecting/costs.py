"""What requests cost: at most, as expected from the replies so far, and in fact; and how long they take."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from judgerank.collecting.ledger import Record
from judgerank.collecting.prompts import messages
from judgerank.collecting.settings import Collection, Judge, Prompt
from judgerank.collecting.tasks import Questions, Task

CHARACTERS_PER_TOKEN = 3.5  # of English text, on the safe side of the usual four
MILLION = 1e6


class BudgetSpent(Exception):
    """The next attempt might cost more than is left."""


@dataclass
class Budget:
    """What may be spent, what has been, and what requests on their way may cost at most.

    These are held where the run waits for them, and parked where it does not: nobody is to wait for that money.
    """

    limit: float | None
    spent: float = 0.0
    held: float = 0.0
    parked: float = 0.0
    _settled: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def hold(self, amount: float) -> None:
        """Set the amount aside, if need be when requests on their way have turned out cheaper.

        Raises
        ------
        BudgetSpent
            If there is not as much left.
        """
        async with self._settled:
            while not self.hold_now(amount):
                if self.limit is None or self.spent + self.parked + amount > self.limit or not self.held:
                    raise BudgetSpent
                await self._settled.wait()

    def hold_now(self, amount: float) -> bool:
        """Set the amount aside if there is as much left; whether there was."""
        enough = self.limit is None or self.spent + self.set_aside + amount <= self.limit
        self.held += amount if enough else 0.0
        return enough

    @property
    def set_aside(self) -> float:
        """What all requests on their way may cost."""
        return self.held + self.parked

    async def settle(self, amount: float, actual: float) -> None:
        """Give back what was set aside, and take what it cost."""
        self.held -= amount  # at once, whatever becomes of those who wait
        self.spent += actual
        await self._tell()

    async def park(self, amount: float) -> None:
        """Keep what is set aside for requests that are waited for no longer."""
        self.held -= amount
        self.parked += amount
        await self._tell()

    def unpark(self, amount: float) -> None:
        """They are waited for again."""
        self.parked -= amount
        self.held += amount

    async def _tell(self) -> None:
        async with self._settled:
            self._settled.notify_all()


def cost(judge: Judge, prompt_tokens: float, completion_tokens: float) -> float:
    """In the currency of the judge's prices."""
    prompt_price, completion_price = judge.prices
    return (prompt_price * prompt_tokens + completion_price * completion_tokens) / MILLION


def prompt_tokens(sent: Sequence[Mapping[str, str]]) -> float:
    """Of messages, from their length."""
    return sum(len(message["content"]) for message in sent) / CHARACTERS_PER_TOKEN


def most(judge: Judge, prompt: Prompt, sent: Sequence[Mapping[str, str]], batched: bool = False) -> float:
    """What one request may cost, live or in a batch."""
    share = judge.batch_share if batched else 1.0
    return share * cost(judge, prompt_tokens(sent), judge.longest(prompt))


def estimated(
    tasks: Sequence[Task],
    judges: Mapping[str, Judge],
    questions: Questions,
    prompt: Prompt,
    records: Iterable[Record] = (),
    pilot: int = 0,
) -> pd.DataFrame:
    """``judge, model, requests, prompt_tokens, completion_tokens, at_most, expected`` by judge.

    At most, replies are as long as they can be. As expected, requests cost what those in the records did; nan for
    a judge who has none. The first of each judge, as many as the pilot has, are asked live.
    """
    requests, sent = Counter[str](), dict.fromkeys(judges, 0.0)
    priced, price = dict.fromkeys(judges, 0.0), dict.fromkeys(judges, 0.0)
    for task in tasks:
        judge, tokens = judges[task.judge], 0.0
        if not judge.is_function:
            tokens = prompt_tokens(messages(prompt, questions, task))
        share = judge.batch_share if judge.batch and requests[task.judge] >= pilot else 1.0
        requests[task.judge] += 1
        sent[task.judge] += tokens
        priced[task.judge] += share
        price[task.judge] += share * cost(judge, tokens, judge.longest(prompt))
    typical = typical_costs(records, judges)
    rows = []
    for name, judge in judges.items():
        longest = requests[name] * judge.longest(prompt)
        expected = priced[name] * typical.get(name, np.nan)
        rows.append((name, judge.sent, requests[name], sent[name], longest, price[name], expected))
    columns = ["judge", "model", "requests", "prompt_tokens", "completion_tokens", "at_most", "expected"]
    return pd.DataFrame(rows, columns=columns).round({"prompt_tokens": 0})


def typical_costs(records: Iterable[Record], judges: Mapping[str, Judge]) -> dict[str, float]:
    """Mean cost of a live reply by judge, of those whose tokens are told."""
    told: dict[str, list[float]] = {}
    for record in records:
        judge, tokens = judges.get(record["judge_model"]), _tokens(record)
        if judge is not None and tokens is not None:
            told.setdefault(judge.judge, []).append(cost(judge, *tokens))
    return {name: float(np.mean(costs)) for name, costs in told.items()}


def expected_seconds(tasks: Iterable[Task], records: Iterable[Record], settings: Collection) -> float:
    """How long live requests take at the speed of the replies so far, and the pace; nan if there are none."""
    requests = Counter(task.judge for task in tasks)
    took: dict[str, list[float]] = {}
    for record in records:
        if isinstance(record.get("seconds"), int | float):
            took.setdefault(record["judge_model"], []).append(record["seconds"])
    each = {name: float(np.mean(took[name])) if name in took else np.nan for name in requests}
    judges = settings.panel.by_name
    on_servers = sum(count for name, count in requests.items() if not judges[name].is_function)
    alone = [
        count
        * max(
            each[name] / min(at_a_time(judges[name], settings), settings.max_concurrent),
            60.0 / (judges[name].requests_per_minute or np.inf),
        )
        for name, count in requests.items()
    ]
    together = sum(count * each[name] for name, count in requests.items()) / settings.max_concurrent
    paced = on_servers * 60.0 / (settings.requests_per_minute or np.inf)
    return float(np.max([*alone, together, paced]))


def at_a_time(judge: Judge, settings: Collection) -> int:
    """How many requests to a judge may be on their way; a function is called by one thread unless it says more."""
    return judge.concurrent or (1 if judge.is_function else settings.max_concurrent)


def spent_before(records: Iterable[Record], judges: Mapping[str, Judge], prompt: Prompt) -> float:
    """What the judgments of earlier runs cost, by the prices of today."""
    total = 0.0
    for record in records:
        judge = judges.get(record["judge_model"])
        if judge is not None:
            asked, completed = record.get("prompt_tokens"), record.get("completion_tokens")
            share = judge.batch_share if record.get("batch") else 1.0
            total += share * cost(judge, asked or 0, judge.longest(prompt) if completed is None else completed)
    return total


def _tokens(record: Record) -> tuple[int, int] | None:
    asked, completed = record.get("prompt_tokens"), record.get("completion_tokens")
    return None if asked is None or completed is None else (asked, completed)
