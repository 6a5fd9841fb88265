"""Simulated collections within a budget: what their servers charge, and what was allowed.

Each is killed or interrupted at two random moments, and gone on with until it ends by itself.
``python -m tests.tool.money_collecting 1000`` runs so many, by the tokenizer that the client library has with it,
and prints how many charged more than their budget, by kind of text.
"""

from __future__ import annotations

import asyncio
import io
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from judgerank.collecting.collection import missing
from judgerank.collecting.collector import Collector
from judgerank.collecting.costs import Budget, cost, spent_into
from judgerank.collecting.ledger import Charges
from judgerank.collecting.requests import longest
from judgerank.collecting.response import AttemptFailed, Reply
from judgerank.collecting.settings import Collection, Judge, Panel
from judgerank.collecting.task_order import Plan, Questions

CODE = "for (int i = 0; i < n; ++i) { a[i] ^= b[(i * 7) % n]; }\n\t\treturn x->y ? &z : nullptr;\n"
JSON = '{"id":"9f3c","v":[1.5,-2e8,null],"k":{"a_b":"\\u00e9","ok":true}},\n'
CHINESE = "请比较以下两个回答哪一个更准确、更有帮助、并说明理由。龘靐齉爩魑魅魍魉。"
EMOJI = "👩🏽‍🚀🧑‍🤝‍🧑🇪🇺🫠🏳️‍🌈🤷🏿‍♂️"
ENGLISH = "The second answer explains why the sky is blue, and the first does not mention scattering at all. "
KINDS: dict[str, Callable[[random.Random], str]] = {
    "code": lambda rng: CODE * rng.randint(1, 12),
    "JSON": lambda rng: JSON * rng.randint(1, 12),
    "digits": lambda rng: "".join(str(rng.randrange(10)) for _ in range(rng.randint(20, 900))),
    "Chinese": lambda rng: "".join(rng.sample(CHINESE, len(CHINESE)) * rng.randint(1, 9)),
    "emoji": lambda rng: EMOJI * rng.randint(1, 15),
    "English": lambda rng: ENGLISH * rng.randint(1, 9),
}


class Kept:
    """Judgments in memory; beside them, what attempts without an answer may have cost is on disk."""

    def __init__(self, place: Path):
        self.records, self._place, self.charges = [], place, Charges(place)

    def append(self, record: dict) -> None:
        self.records.append(record)

    def refresh(self) -> None:
        """Nobody else writes to memory."""

    def is_answered(self, task: object) -> bool:
        return False

    def opened(self) -> Kept:
        """As the next run finds it."""
        found = Kept(self._place)
        found.records = list(self.records)
        return found


class Charging:
    """Judges that answer after a while, now and then not at all, and charge for it as providers do.

    After so many requests the run is gone, and those on their way are charged without anybody to read the answers.
    """

    def __init__(self, rng: random.Random, tokens: Callable[[str], int], settings: Collection, ends_at: float):
        self.refused, self.charged, self.gone = defaultdict(set), 0.0, asyncio.Event()
        self._rng, self._tokens, self._prompt, self._left = rng, tokens, settings.prompt, ends_at

    async def attempt(self, judge: Judge, messages: list[dict]) -> Reply:
        if self.gone.is_set():
            return await asyncio.Future()
        self._left -= 1
        if self._left < 0:
            self.gone.set()
        for _ in range(self._rng.randint(1, 4)):
            await asyncio.sleep(0)
        asked = 11 + sum(4 + self._tokens(message["content"]) for message in messages)
        said = self._rng.randint(1, longest(judge, self._prompt))
        cached = self._rng.choice((0, 0, asked // 2))
        self.charged += cost(judge, asked, said, cached)
        if self.gone.is_set():
            return await asyncio.Future()
        if self._rng.random() < 0.05:
            raise AttemptFailed("timeout", paid=True)
        if self._rng.random() < 0.05:
            return Reply("a, 0.8", judge.sent, "stop", None, None, None)
        return Reply("a, 0.8", judge.sent, "stop", asked, said, None, cached=cached)


def collected(seed: int, kind: str, tokens: Callable[[str], int]) -> tuple[float, float, float, int]:
    """The budget, what was charged, what the run says it spent, and how many judgments there are."""
    rng = random.Random(f"{seed} {kind}")
    texts = {f"q{q}": KINDS[kind](rng) for q in range(4)}
    questions = Questions(texts, {name: {f"m{m}": KINDS[kind](rng) for m in range(3)} for name in texts})
    judges = {
        name: Judge(
            judge=name,
            base_url="http://here/v1",
            api_key_env=None,
            prompt_price=rng.choice((0.1, 3.0, 30.0)),
            completion_price=rng.choice((0.0, 0.4, 15.0)),
            cached_price=0.05,
        )
        for name in ("j0", "j1")
    }
    settings = Collection(
        questions="q",
        panel=Panel(judges=list(judges.values())),
        output=Path("none"),
        attempts=2,
        first_wait=1e-9,
        max_concurrent=rng.choice((1, 3, 8)),
    )
    tasks = Plan(questions, judges, 1, False, seed).first()
    everything = sum(cost(judges[task.judge], 1500, 500) for task in tasks)
    limit, charged = everything * rng.uniform(0.05, 1.2), 0.0
    with TemporaryDirectory() as folder:
        kept = Kept(Path(folder, "judgments"))
        for ends_at in (*(rng.randint(0, len(tasks)) for _ in range(2)), math.inf):
            client, budget = Charging(rng, tokens, settings, ends_at), Budget(limit)
            budget.spent = spent_into(kept, judges)
            collector = Collector(settings, judges, client, kept, questions, budget)
            left = missing(tasks, kept.records, False, None)
            asyncio.run(_run(collector, left, client, Path(folder), is_killed=rng.random() < 0.5))
            charged += client.charged
            kept = kept.opened()
        return limit, charged, spent_into(kept, judges), len(kept.records)


async def _run(collector: Collector, tasks: list, client: Charging, folder: Path, is_killed: bool) -> None:
    """To its end, or until it is killed or interrupted."""
    with tqdm(file=io.StringIO()) as progress:
        run, gone = asyncio.create_task(collector.run(tasks, progress)), asyncio.create_task(client.gone.wait())
        await asyncio.wait([run, gone], return_when=asyncio.FIRST_COMPLETED)
        for _ in range(9):  # the server answers what is on its way
            await asyncio.sleep(0)
        at_kill = {path: path.read_bytes() for path in folder.iterdir()}
        run.cancel()
        gone.cancel()
        await asyncio.wait([run, gone])
        assert run.cancelled() or run.exception() is None
    collector.ledger.charges.end()
    if is_killed and client.gone.is_set():  # nothing of what was done after it
        for path in folder.iterdir():
            path.unlink()
        for path, content in at_kill.items():
            path.write_bytes(content)


def main(runs: int) -> None:
    from judgerank.collecting.client import library

    tokens = library().token_counter
    over, done, used = Counter(), Counter(), defaultdict(list)
    for seed in range(runs):
        kind = list(KINDS)[seed % len(KINDS)]
        limit, charged, spent, _ = collected(seed, kind, lambda text: tokens(model="gpt-4", text=text))
        over[kind] += charged > limit or spent < charged - 1e-12
        done[kind] += 1
        used[kind].append(charged / limit)
    for kind in KINDS:
        print(
            f"{kind}: {over[kind]} of {done[kind]} over, charged {sum(used[kind]) / done[kind]:.0%} of the budget"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))
