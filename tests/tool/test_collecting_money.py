"""Money: budgets hold for every kind of text and over all runs, and costs are what providers charge."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
from collections import defaultdict
from pathlib import Path
from unittest.mock import Mock

import pytest

from judgerank.collecting.backoff import LONGEST_PAUSE, UNREACHED, Pause
from judgerank.collecting.client import library, list_prices
from judgerank.collecting.collector import Collector
from judgerank.collecting.costs import Bounds, Budget, at_most, cost, prompt_tokens, recorded_cost
from judgerank.collecting.response import AttemptFailed
from judgerank.collecting.settings import Collection, Judge, Panel, Prompt
from judgerank.collecting.task_order import Questions, Task
from studies.torture.endpoint import serving
from tests.tool.collecting import collected as run
from tests.tool.collecting import judgments, started
from tests.tool.money_collecting import KINDS, collected

PRICED = [{"judge": "j1", "prompt_price": 1000, "completion_price": 1000}]  # an answer costs 0.11, at most 1.9
CHARGES = "judgments.jsonl.charges.json"

# whatever a tokenizer of bytes may make of a text: one token a byte at most, about a quarter of that of English
TOKENIZERS = {
    "a token a byte": lambda text: len(text.encode()),
    "a token a character": len,
    "four characters a token": lambda text: len(text) // 4,
}


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_budget_is_overrun_whatever_the_text(kind, tokenizer):
    asked = 0
    for seed in range(6):
        limit, charged, spent, count = collected(seed, kind, TOKENIZERS[tokenizer])
        assert charged <= min(spent, limit)
        asked += count
    assert asked > 20


@pytest.mark.parametrize("kind", KINDS)
def test_no_prompt_has_more_tokens_than_its_bound_by_a_real_tokenizer(kind):
    import random

    text = KINDS[kind](random.Random(1))
    count = library().token_counter(model="gpt-4", messages=[{"role": "user", "content": text}])
    judge = Judge(judge="j", base_url="http://here/v1")
    assert count <= prompt_tokens(judge, [{"content": text}])


def test_a_judge_who_uses_more_than_was_counted_on_is_counted_on_for_that():
    judge, prompt, bounds = Judge(judge="j", base_url="http://here/v1"), Prompt(), Bounds()
    short, long = [{"content": "x"}], [{"content": "x" * 1000}]
    before = bounds.tokens(judge, prompt, long)
    bounds.learn(judge, prompt, short, 5, 7)
    assert bounds.tokens(judge, prompt, long) == before
    assert bounds.raised(["j"]) == []
    bounds.learn(judge, prompt, short, prompt_tokens(judge, short) + 500, 2 * prompt.max_tokens)
    assert bounds.tokens(judge, prompt, long) == (before[0] + 500, 2 * before[1])
    assert bounds.raised(["j"]) == ["j"]


@pytest.mark.parametrize("model", ["gpt-5-mini", "claude-sonnet-4-5", "gemini/gemini-2.5-flash"])
def test_cached_tokens_cost_what_the_provider_charges(model):
    """2,000 tokens of which 1,500 were cached, and 500 of the reply, beside the library's own arithmetic."""
    litellm = library()
    judge = Judge(judge="j", model=model if "/" in model else f"x/{model}")
    judge = judge.model_copy(update=list_prices(judge))
    usage = litellm.Usage(
        prompt_tokens=2000, completion_tokens=500, total_tokens=2500, prompt_tokens_details={"cached_tokens": 1500}
    )
    answer = litellm.ModelResponse(model=model, usage=usage)
    assert cost(judge, 2000, 500, cached=1500) == pytest.approx(litellm.completion_cost(answer, model=model))
    assert cost(judge, 2000, 500, cached=1500) < 0.8 * cost(judge, 2000, 500)
    assert at_most(judge, (2000.0, 500.0)) >= cost(judge, 2000, 500)


def test_what_is_not_known_is_not_nothing():
    half = Judge(judge="j", base_url="http://here/v1", prompt_price=1.0)
    assert cost(half, 10, 10) != cost(half, 10, 10)  # nan
    assert recorded_cost(half.model_copy(update={"completion_price": 2.0}), {"tokens_at_most": (1e6, 1e6)}) == 3.0


def test_attempts_without_an_answer_count_in_later_runs(tmp_path):
    """A server that charges and never answers gets the budget once, however often it is run."""
    with serving(lambda prompt, times: "broken") as server:
        options = ("--budget", 10, "--concurrent", 1, "--attempts", 2)
        done = run(tmp_path, server.url, *options, judges=PRICED)
        assert "stopped: the next request to judge 'j1' might exceed the budget" in done.stdout
        asked, spent = len(server.requests), float(done.stdout.split("spent ")[-1].split()[0])
        assert asked > 3
        stored = json.loads((tmp_path / CHARGES).read_text())
        assert stored == {"without_answer": pytest.approx(spent, abs=1e-4), "on_their_way": 0.0}
        done = run(tmp_path, server.url, *options, judges=PRICED)
        assert len(server.requests) == asked
        assert re.search(rf"\battempts\b.* {spent:.4f} USD; ", done.stdout)
        assert re.search(r"\brun it again\b.* --budget\b", done.stdout)


def test_nothing_left_to_ask_costs_nothing_and_is_said_so(tmp_path):
    with serving() as server:
        assert run(tmp_path, server.url, judges=[*PRICED, {"judge": "j2"}]).returncode == 0
        done = run(tmp_path, server.url, "--budget", 0.01, judges=PRICED)
    assert done.returncode == 0
    assert re.search(r"^nothing\b.*\bask$", done.stdout, re.MULTILINE)
    assert not re.search(r"\b\d+ requests, ", done.stdout) and done.stdout.count("budget") == 1
    spent = 0.11 * len([one for one in judgments(tmp_path) if one["judge_model"] == "j1"])
    assert f"spent {spent:.4f} USD, which is more than the budget of 0.0100 USD" in done.stdout
    assert f"({spent:.4f} USD of it before this run)" in done.stdout
    done = run(tmp_path, server.url, "--dry-run", judges=[*PRICED, {"judge": "j2"}])
    (line,) = [line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["j2"]]
    assert line[2] == "0" and float(line[-1]) == 0.0


def test_an_interrupted_request_without_a_price_is_no_gift(tmp_path):
    with serving(delay=5) as server:
        running = started(tmp_path, server.url)
        while not server.requests and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        stdout, _ = running.communicate()
    assert running.returncode == 130
    assert "spent unknown (no price for: j1" in stdout


def test_what_was_on_its_way_at_a_kill_counts_in_the_next_run(tmp_path):
    with serving(delay=5) as server:
        running = started(tmp_path, server.url, "--budget", 100, judges=PRICED)
        while not server.requests and running.poll() is None:
            time.sleep(0.01)
        running.kill()
        running.wait()
        stored = json.loads((tmp_path / CHARGES).read_text())
    assert stored["without_answer"] == 0 < stored["on_their_way"]
    with serving() as server:
        done = run(tmp_path, server.url, "--moved", "--dry-run", "--budget", stored["on_their_way"], judges=PRICED)
        assert "more than the budget leaves (0.0000 USD)" in done.stdout
        done = run(tmp_path, server.url, "--moved", "--budget", 100, judges=PRICED)
    told = float(done.stdout.split("spent ")[-1].split()[0])
    assert told == pytest.approx(0.11 * len(judgments(tmp_path)) + stored["on_their_way"], abs=1e-4)


def test_a_run_that_ends_well_leaves_no_charges_and_a_file_that_is_none_is_refused(tmp_path):
    with serving() as server:
        assert run(tmp_path, server.url, "--comparisons", 2, judges=PRICED).returncode == 0
        assert not (tmp_path / CHARGES).exists()
        for content, words in (("no", CHARGES), ('{"without_answer": -1, "on_their_way": 0}', "=-1")):
            (tmp_path / CHARGES).write_text(content)
            done = run(tmp_path, server.url, judges=PRICED)
            assert done.returncode == 1
            assert CHARGES in done.stderr.splitlines()[-1]
            assert words in done.stderr
            assert (tmp_path / CHARGES).read_text() == content
    assert len(server.requests) == 2


def test_a_dry_run_counts_what_is_there_already(tmp_path):
    with serving() as server:
        run(tmp_path, server.url, "--comparisons", 4)
        done = run(tmp_path, server.url, "--comparisons", 10, "--dry-run")
        assert "4 of the judgments are there already" in done.stdout
        assert "at most 6 requests, estimated cost at most unknown (no price for: j1, j2)" in done.stdout
        assert len(server.requests) == 4
        changed = [{"judge": "j1", "reasoning_effort": "low"}, {"judge": "j2"}]
        refused = run(tmp_path, server.url, "--dry-run", judges=changed)
        assert refused.returncode == 1
        assert "asked with other parameters" in refused.stderr


# Outages in virtual time: a judge's trouble pauses it, and it is given up when patience ends.
AT_A_TIME, TOOK = 8, 0.5  # requests on their way, and seconds that each takes


class Clock:
    """Time that passes when everybody waits."""

    def __init__(self):
        self.now, self.waiting, self.count = 0.0, [], 0

    async def sleep(self, seconds: float) -> None:
        done = asyncio.get_running_loop().create_future()
        self.count += 1
        self.waiting.append((self.now + seconds, self.count, done))
        await done

    async def run(self, work) -> None:
        everything = asyncio.gather(*(asyncio.ensure_future(each) for each in work))
        while not everything.done():
            for _ in range(50):
                await asyncio.sleep(0)
            if self.waiting and not everything.done():
                self.waiting.sort()
                self.now, _, done = self.waiting.pop(0)
                done.set_result(None)
        await everything


class Virtual(Pause):
    def __init__(self, clock: Clock, patience: float):
        super().__init__(1.0, patience, lambda: clock.now)
        self._virtual = clock

    async def sleep(self, seconds: float) -> None:
        await self._virtual.sleep(seconds)


def collected_patiently(
    fault, n: int, patience: float = 1800.0, attempts: int = 6, took=lambda task: TOOK
) -> tuple[set, set, list[float], Clock, bool]:
    """Requests answered and given up, when requests were sent, the clock, and whether the judge was given up."""
    clock, judge = Clock(), Judge(judge="j", base_url="http://here/v1", api_key_env=None)
    answered, sent = set(), []
    settings = Collection(
        questions="q",
        panel=Panel(judges=[judge]),
        output=Path("none"),
        attempts=attempts,
        max_concurrent=AT_A_TIME,
    )
    client, ledger = Mock(refused=defaultdict(set)), Mock(records=[], is_answered=lambda task: False)
    collector = Collector(settings, {"j": judge}, client, ledger, Questions({}, {}), Budget(None))
    pause, breaker, progress = Virtual(clock, patience), collector.breakers["j"], Mock()

    async def attempt(task: Task, turn: int) -> bool:
        number = int(task.question_id)
        sent.append(clock.now)
        await clock.sleep(took(number))
        error = fault(clock.now, number)
        if error is not None:
            raise error
        assert number not in answered
        answered.add(number)
        breaker.reply(readable=True, empty=False)
        return True

    collector.pauses["j"], collector._attempt = pause, attempt
    tasks = [Task(str(number), "a", "b", "j", 0) for number in range(n)]
    asyncio.run(clock.run([collector.run(tasks, progress)]))
    dealt_with = sum(call.args[0] for call in progress.update.call_args_list)
    assert dealt_with == len(answered) + breaker.given_up.total()
    given_up = set() if pause.is_stopped else set(range(n)) - answered
    assert pause.is_stopped or breaker.given_up.total() == len(given_up)
    return answered, given_up, sent, clock, pause.is_stopped


def outage(start: float, end: float, kind: str = "503", wait: float | None = None):
    return lambda now, task: AttemptFailed(kind, wait=wait, paid=True) if start <= now < end else None


@pytest.mark.parametrize("kind", ["503", "529", "500", "connection", "timeout"])
@pytest.mark.parametrize(("start", "lasts"), [(0, 20), (0, 40), (5, 25), (5, 600)])
def test_an_outage_of_minutes_loses_nothing_and_is_asked_through_seldom(kind, start, lasts):
    answered, given_up, sent, clock, stopped = collected_patiently(outage(start, start + lasts, kind), 100)
    assert not stopped
    assert len(answered) == 100
    assert not given_up
    assert len([at for at in sent if start <= at < start + lasts]) <= 2 * AT_A_TIME + 8 + lasts / (
        0.7 * LONGEST_PAUSE
    )
    assert clock.now < start + lasts + 1.3 * max(lasts, 10) + 100 * TOOK


def test_a_judge_is_given_up_when_patience_ends_and_sooner_where_its_server_was_never_reached():
    _, _, sent, _, stopped = collected_patiently(outage(5, 1e9), 400, patience=1800)
    assert stopped
    assert 1650 < max(sent) - 5 < 1800
    nobody = lambda now, task: AttemptFailed("connection")  # noqa: E731
    answered, _, sent, _, stopped = collected_patiently(nobody, 100)
    assert stopped
    assert not answered
    assert max(sent) < TOOK + UNREACHED  # from the first failure on


def test_the_server_says_how_long_to_wait_and_longer_than_patience_is_too_long():
    answered, _, sent, _, stopped = collected_patiently(outage(0, 290, "429", wait=300.0), 20)
    assert len(answered) == 20
    assert not stopped
    assert sorted(sent)[1] >= 300
    _, _, sent, _, stopped = collected_patiently(outage(0, 1e9, "429", wait=7200.0), 20)
    assert stopped
    assert len(sent) == 1


def test_a_wait_longer_than_patience_is_too_long_where_it_ends_the_last_attempt_of_a_request():
    """Others were answered since it was sent, so it is given up; all that are left were to wait as long."""
    fault = lambda now, task: AttemptFailed("429", wait=1e9) if task == 3 else None  # noqa: E731
    slow = lambda task: 10 * TOOK if task == 3 else TOOK  # noqa: E731
    answered, _, _, clock, stopped = collected_patiently(fault, 400, attempts=1, took=slow)
    assert stopped
    assert 0 < len(answered) < 399
    assert clock.now < 20 * TOOK


def test_a_request_with_a_fault_of_its_own_is_given_up_and_the_others_are_answered():
    for kind in ("500", "unreadable", "503"):
        poison = lambda now, task, kind=kind: AttemptFailed(kind, paid=True) if task == 3 else None  # noqa: E731
        answered, given_up, sent, _, stopped = collected_patiently(poison, 400)
        assert given_up == {3}, kind
        assert len(answered) == 399
        assert not stopped
        assert len(sent) <= 399 + 7


@pytest.mark.parametrize("kind", ["timeout", "500", "504"])
@pytest.mark.parametrize("seconds", [TOOK, 6 * TOOK], ids=["soon", "late"])
@pytest.mark.parametrize(
    "poison",
    [lambda task: task % 25 == 7, lambda task: 20 <= task < 50, lambda task: task < 24],
    ids=["now and then", "side by side", "first"],
)
def test_requests_that_always_fail_are_given_up_and_all_others_are_answered(kind, seconds, poison):
    """Also more of them than go at a time, and where they are asked first or are all that is left."""
    bad = set(filter(poison, range(600)))
    answered, given_up, sent, clock, stopped = collected_patiently(
        lambda now, task: AttemptFailed(kind, paid=True) if task in bad else None,
        600,
        took=lambda task: seconds if task in bad else TOOK,
    )
    assert not stopped
    assert given_up == bad
    assert len(answered) == 600 - len(bad)
    assert len(sent) <= 600 + 8 * len(bad)
    # a fault of the server by its kind is waited for as long as patience lasts
    assert clock.now < 300 + (1900 if kind == "504" else 0)


def test_the_first_request_goes_alone():
    *_, sent, _, _ = collected_patiently(lambda now, task: None, 20)
    assert sorted(sent)[1] >= TOOK


def test_a_rate_limit_is_kept_with_few_refusals():
    """Six requests each 20 seconds; the others are told to wait."""
    taken: dict[int, int] = {}

    def limited(now: float, task: int) -> AttemptFailed | None:
        window = int(now // 20)
        taken[window] = taken.get(window, 0) + 1
        return AttemptFailed("429", wait=20 - now % 20) if taken[window] > 6 else None

    answered, given_up, sent, _, stopped = collected_patiently(limited, 60)
    assert len(answered) == 60
    assert not stopped
    assert not given_up
    assert len(sent) <= 60 + 10 * AT_A_TIME
