"""What requests cost: at most, as expected from the replies so far, and in fact; and how long they take."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from judgerank.collecting.client import PRICED, list_prices
from judgerank.collecting.functions import function
from judgerank.collecting.ledger import Ledger, Record, task_of
from judgerank.collecting.prompts import messages, tokens_of
from judgerank.collecting.requests import is_bounded, longest
from judgerank.collecting.settings import Collection, Judge, Prompt
from judgerank.collecting.task_order import Questions, Task
from judgerank.data.errors import ConfigError

# How many tokens a request may take at most: no fewer than any tokenizer makes of it.
#
# Tokenizers of bytes give no byte more than one token, so that the bytes of a text in UTF-8 bound its tokens in
# every script. English takes about a quarter of that, Chinese or digits up to all of it. What else a provider
# counts (the frame of messages, a schema) is allowed for; where a judge is told to have used more, its bound is
# raised.
OF_A_REQUEST = 64  # tokens around the messages, such as a chat template's own system message
OF_A_MESSAGE = 16  # its role, and marks of its beginning and end
OF_A_SCHEMA = 768  # the schema itself, and what providers say of it to the model


class Bounds:
    """By judge, as corrected by what was told."""

    def __init__(self) -> None:
        self._more: dict[str, int] = {}
        self._longer: dict[str, float] = {}

    def tokens(self, judge: Judge, prompt: Prompt, sent: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
        """Of the messages and of the reply."""
        if judge.is_local:
            return 0.0, 0.0
        name = judge.judge
        tokens_in = prompt_tokens(judge, sent) + self._more.get(name, 0)
        return float(tokens_in), longest(judge, prompt) * self._longer.get(name, 1.0)

    def learn(
        self,
        judge: Judge,
        prompt: Prompt,
        sent: Sequence[Mapping[str, Any]],
        tokens_in: int | None,
        tokens_out: int | None,
    ) -> None:
        """Raise the bounds to what a request was told to have used."""
        name, most = judge.judge, longest(judge, prompt)
        if tokens_in is not None:
            self._more[name] = max(self._more.get(name, 0), tokens_in - prompt_tokens(judge, sent))
        if tokens_out is not None and most:
            self._longer[name] = max(self._longer.get(name, 1.0), tokens_out / most)

    def raised(self, judges: Iterable[str]) -> list[str]:
        """Judges who used more than a request was thought to take."""
        return [name for name in judges if self._more.get(name, 0) > 0 or self._longer.get(name, 1.0) > 1]


def prompt_tokens(judge: Judge, sent: Sequence[Mapping[str, Any]]) -> int:
    """Of messages, at most."""
    content = sum(OF_A_MESSAGE + _tokens(judge, message["content"]) for message in sent)
    return content + OF_A_REQUEST + (OF_A_SCHEMA if judge.structured else 0)


def _tokens(judge: Judge, content: str | Sequence[Mapping[str, Any]]) -> int:
    """Of a message's text, or of its texts and images."""
    if isinstance(content, str):
        return len(content.encode(errors="surrogatepass"))
    return sum(_tokens(judge, part["text"]) if "text" in part else tokens_of(judge) for part in content)


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
    before: float = 0.0  # of what is spent: what the file had cost when the run began
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
        await self._notify()

    async def park(self, amount: float) -> None:
        """Keep what is set aside for requests that are waited for no longer."""
        self.held -= amount
        self.parked += amount
        await self._notify()

    def unpark(self, amount: float) -> None:
        """They are waited for again."""
        self.parked -= amount
        self.held += amount

    async def _notify(self) -> None:
        async with self._settled:
            self._settled.notify_all()


def cost(judge: Judge, tokens_in: float, tokens_out: float, cached: float = 0.0, written: float = 0.0) -> float:
    """In the currency of the judge's prices; nan if they are not known.

    Parameters
    ----------
    judge : Judge
    tokens_in, tokens_out : float
        Tokens of the prompt and of the reply.
    cached, written : float
        Of the prompt's, those read from the provider's cache, and those put into it.
    """
    if judge.is_local:
        return 0.0
    if judge.prompt_price is None or judge.completion_price is None:
        return np.nan
    read_price = judge.prompt_price if judge.cached_price is None else judge.cached_price
    write_price = judge.prompt_price if judge.cache_write_price is None else judge.cache_write_price
    of_prompt = judge.prompt_price * (tokens_in - cached - written) + read_price * cached + write_price * written
    return (of_prompt + judge.completion_price * tokens_out) / MILLION


def is_priced(judge: Judge) -> bool:
    """Whether it is known what a judge costs."""
    return not np.isnan(cost(judge, 0.0, 0.0))


def at_most(judge: Judge, tokens: tuple[float, float], batched: bool = False) -> float:
    """What a request of at most so many tokens may cost, live or in a batch; none of them may be cached."""
    share = judge.batch_share if batched else 1.0
    return share * max(cost(judge, *tokens), cost(judge, *tokens, written=tokens[0]))


def recorded_cost(judge: Judge, record: Record) -> float:
    """What a judgment cost by the prices of today: of what is told, else at most."""
    share = judge.batch_share if record.get("batch") else 1.0
    tokens_in, tokens_out = record.get("prompt_tokens"), record.get("completion_tokens")
    if tokens_in is None or tokens_out is None:
        bound = record.get("tokens_at_most")
        return at_most(judge, tuple(bound), bool(record.get("batch"))) if bound else share * cost(judge, 0, 0)
    cache_tokens = (record.get(key, 0) for key in ("cached_tokens", "cache_written_tokens"))
    return share * cost(judge, tokens_in, tokens_out, *cache_tokens)


def learned(
    records: Iterable[Record], judges: Mapping[str, Judge], questions: Questions, prompt: Prompt
) -> Bounds:
    """Bounds on tokens, raised to what earlier judgments were told to have used."""
    bounds = Bounds()
    for record in records:
        judge, task = judges.get(record["judge_model"]), task_of(record)
        if judge is not None and not judge.is_local and questions.have(task):
            recorded_tokens = record.get("prompt_tokens"), record.get("completion_tokens")
            bounds.learn(judge, prompt, messages(prompt, questions, task, judge), *recorded_tokens)
    return bounds


def estimated(
    tasks: Sequence[Task],
    judges: Mapping[str, Judge],
    questions: Questions,
    prompt: Prompt,
    records: Iterable[Record] = (),
    pilot: int = 0,
) -> pd.DataFrame:
    """``judge, model, requests, prompt_tokens, completion_tokens, at_most, expected`` by judge.

    Tokens are at most. As expected, requests cost what those in the records did; nan for a judge who has none, and
    for one without prices, unless nothing is asked of it. The first of each judge, as many as the pilot has, are
    asked live.
    """
    requests, bounds = Counter[str](), Bounds()
    tokens = {name: np.zeros(2) for name in judges}
    priced, price = dict.fromkeys(judges, 0.0), dict.fromkeys(judges, 0.0)
    for task in tasks:
        judge = judges[task.judge]
        sent = [] if judge.is_local else messages(prompt, questions, task, judge)
        most, batched = bounds.tokens(judge, prompt, sent), judge.batch and requests[task.judge] >= pilot
        requests[task.judge] += 1
        tokens[task.judge] += most
        priced[task.judge] += judge.batch_share if batched else 1.0
        price[task.judge] += at_most(judge, most, batched)
    typical = typical_costs(records, judges)
    rows = []
    for name, judge in judges.items():
        expected = priced[name] * typical.get(name, np.nan) if requests[name] else 0.0
        rows.append((name, judge.sent, requests[name], *tokens[name], price[name], expected))
    columns = ["judge", "model", "requests", "prompt_tokens", "completion_tokens", "at_most", "expected"]
    return pd.DataFrame(rows, columns=columns).astype({"prompt_tokens": int, "completion_tokens": int})


def typical_costs(records: Iterable[Record], judges: Mapping[str, Judge]) -> dict[str, float]:
    """Mean cost of a live reply by judge, of those whose tokens are told."""
    costs_by_judge: dict[str, list[float]] = {}
    for record in records:
        judge = judges.get(record["judge_model"])
        if judge is not None and None not in (record.get("prompt_tokens"), record.get("completion_tokens")):
            costs_by_judge.setdefault(judge.judge, []).append(recorded_cost(judge, record | {"batch": None}))
    return {name: float(np.mean(costs)) for name, costs in costs_by_judge.items()}


def expected_seconds(tasks: Iterable[Task], records: Iterable[Record], settings: Collection) -> float:
    """How long live requests take at the speed of the replies so far, and the pace; nan if there are none."""
    requests = Counter(task.judge for task in tasks)
    took: dict[str, list[float]] = {}
    for record in records:
        if isinstance(record.get("seconds"), int | float):
            took.setdefault(record["judge_model"], []).append(record["seconds"])
    mean_seconds = {name: float(np.mean(took[name])) if name in took else np.nan for name in requests}
    judges = settings.panel.by_name
    on_servers = sum(count for name, count in requests.items() if not judges[name].is_local)
    alone = [
        count
        * max(
            mean_seconds[name] / min(at_a_time(judges[name], settings), settings.max_concurrent),
            60.0 / (judges[name].requests_per_minute or np.inf),
        )
        for name, count in requests.items()
    ]
    together = sum(count * mean_seconds[name] for name, count in requests.items()) / settings.max_concurrent
    paced = on_servers * 60.0 / (settings.requests_per_minute or np.inf)
    return float(np.max([*alone, together, paced]))


def at_a_time(judge: Judge, settings: Collection) -> int:
    """How many requests to a judge may be on their way; a function is called by one thread unless it says more."""
    return judge.concurrent or (1 if judge.is_local else settings.max_concurrent)


def spent_into(ledger: Ledger, judges: Mapping[str, Judge]) -> float:
    """What a file of judgments has cost so far, attempts that ended without an answer among it."""
    return spent_before(ledger.records, judges) + ledger.charges.without_answer


def spent_before(records: Iterable[Record], judges: Mapping[str, Judge]) -> float:
    """What the judgments of earlier runs cost, of judges whose prices are known."""
    past_costs = (recorded_cost(judges[r["judge_model"]], r) for r in records if r["judge_model"] in judges)
    return float(sum(past_cost for past_cost in past_costs if not np.isnan(past_cost)))


# The judges with what they cost: by their own prices, else by the list of the client library.
def priced(settings: Collection) -> dict[str, Judge]:
    """The judges with their addresses, keys' names and prices: their own, else, at no address, litellm's.

    Raises
    ------
    ConfigError
        If there is a budget and a judge without prices, or no function that a judge names.
    """
    judges = settings.panel.by_name
    for name, judge in judges.items():
        if judge.is_function:
            function(judge.sent)  # refused before anything is asked, if it is not there
        if judge.is_local:
            continue
        if judge.base_url is None:
            own_prices = {key: price for key in PRICED if (price := getattr(judge, key)) is not None}
            judges[name] = judge.model_copy(update=list_prices(judge) | own_prices)
        if settings.budget is not None:
            refuse_a_budget(judges[name])
    return judges


def refuse_a_budget(judge: Judge) -> None:
    """A budget is kept only where it is known what a request costs at most.

    Raises
    ------
    ConfigError
    """
    if not is_priced(judge):
        lacking = [name for name in ("prompt_price", "completion_price") if getattr(judge, name) is None]
        raise ConfigError(
            f"a budget needs prices, and judge {judge.judge!r} has none: give it {' and '.join(lacking)} "
            "(0 for a server of your own)"
        )
    if not is_bounded(judge):
        raise ConfigError(
            f"a budget needs an end of each reply, and judge {judge.judge!r} has none: give it max_tokens or "
            "max_completion_tokens in its params"
        )
