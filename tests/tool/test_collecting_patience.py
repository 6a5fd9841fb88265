"""Outages in virtual time: a judge's trouble pauses it, and it is given up when patience ends."""

import asyncio
from collections import defaultdict
from pathlib import Path
from unittest.mock import Mock

import pytest

from judgerank.collecting.backoff import LONGEST_PAUSE, UNREACHED, Pause
from judgerank.collecting.collector import Collector
from judgerank.collecting.costs import Budget
from judgerank.collecting.response import AttemptFailed
from judgerank.collecting.settings import Collection, Judge, Panel
from judgerank.collecting.task_order import Questions, Task

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


def collected(
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
    client, ledger = Mock(refused=defaultdict(set)), Mock(records=[])
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
    answered, given_up, sent, clock, stopped = collected(outage(start, start + lasts, kind), 100)
    assert not stopped
    assert len(answered) == 100
    assert not given_up
    assert len([at for at in sent if start <= at < start + lasts]) <= 2 * AT_A_TIME + 8 + lasts / (
        0.7 * LONGEST_PAUSE
    )
    assert clock.now < start + lasts + 1.3 * max(lasts, 10) + 100 * TOOK


def test_a_judge_is_given_up_when_patience_ends_and_sooner_where_its_server_was_never_reached():
    _, _, sent, _, stopped = collected(outage(5, 1e9), 400, patience=1800)
    assert stopped
    assert 1650 < max(sent) - 5 < 1800
    nobody = lambda now, task: AttemptFailed("connection")  # noqa: E731
    answered, _, sent, _, stopped = collected(nobody, 100)
    assert stopped
    assert not answered
    assert max(sent) < TOOK + UNREACHED  # from the first failure on


def test_the_server_says_how_long_to_wait_and_longer_than_patience_is_too_long():
    answered, _, sent, _, stopped = collected(outage(0, 290, "429", wait=300.0), 20)
    assert len(answered) == 20
    assert not stopped
    assert sorted(sent)[1] >= 300
    _, _, sent, _, stopped = collected(outage(0, 1e9, "429", wait=7200.0), 20)
    assert stopped
    assert len(sent) == 1


def test_a_request_with_a_fault_of_its_own_is_given_up_and_the_others_are_answered():
    for kind in ("500", "unreadable body", "503"):
        poison = lambda now, task, kind=kind: AttemptFailed(kind, paid=True) if task == 3 else None  # noqa: E731
        answered, given_up, sent, _, stopped = collected(poison, 400)
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
    answered, given_up, sent, clock, stopped = collected(
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
    *_, sent, _, _ = collected(lambda now, task: None, 20)
    assert sorted(sent)[1] >= TOOK


def test_a_rate_limit_is_kept_with_few_refusals():
    """Six requests each 20 seconds; the others are told to wait."""
    taken: dict[int, int] = {}

    def limited(now: float, task: int) -> AttemptFailed | None:
        window = int(now // 20)
        taken[window] = taken.get(window, 0) + 1
        return AttemptFailed("429", wait=20 - now % 20) if taken[window] > 6 else None

    answered, given_up, sent, _, stopped = collected(limited, 60)
    assert len(answered) == 60
    assert not stopped
    assert not given_up
    assert len(sent) <= 60 + 10 * AT_A_TIME
