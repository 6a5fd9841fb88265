"""Simulated collections within a budget: what their servers charge, and what was allowed.

``python -m tests.tool.money_collecting 1000`` runs so many, by the tokenizer that the client library has with it,
and prints how many charged more than their budget, by kind of text.
"""

from __future__ import annotations

import asyncio
import io
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from judgerank.collecting.collector import Collector
from judgerank.collecting.costs import Budget, cost
from judgerank.collecting.request_errors import AttemptFailed
from judgerank.collecting.requests import longest
from judgerank.collecting.response import Reply
from judgerank.collecting.settings import Collection, Judge, Panel
from judgerank.collecting.task_order import Plan
from judgerank.collecting.tasks import Questions

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
    """A file of judgments that is none."""

    records: tuple = ()

    def append(self, record: dict) -> None:
        pass


class Charging:
    """Judges that answer after a while, now and then not at all, and charge for it as providers do."""

    def __init__(self, rng: random.Random, tokens: Callable[[str], int], settings: Collection):
        self.refused, self.charged = defaultdict(set), 0.0
        self._rng, self._tokens, self._prompt = rng, tokens, settings.prompt

    async def attempt(self, judge: Judge, messages: list[dict]) -> Reply:
        for _ in range(self._rng.randint(1, 4)):
            await asyncio.sleep(0)
        asked = 11 + sum(4 + self._tokens(message["content"]) for message in messages)
        said = self._rng.randint(1, longest(judge, self._prompt))
        cached = self._rng.choice((0, 0, asked // 2))
        self.charged += cost(judge, asked, said, cached)
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
    client = Charging(rng, tokens, settings)
    everything = sum(cost(judges[task.judge], 1500, 500) for task in tasks)
    budget = Budget(everything * rng.uniform(0.05, 1.2))
    collector = Collector(settings, judges, client, Kept(), questions, budget)
    with tqdm(file=io.StringIO()) as progress:
        asyncio.run(collector.run(tasks, progress))
    return budget.limit, client.charged, budget.spent, len(collector.written)


def main(runs: int) -> None:
    from judgerank.collecting.library import library

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
