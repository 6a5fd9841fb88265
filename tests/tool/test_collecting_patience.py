"""Outages in virtual time: a judge's trouble pauses it, and it is given up when patience ends."""

import asyncio

import pytest

from judgerank.collecting.pause import LONGEST_PAUSE, UNREACHED, Pause, Stopped, backoff
from judgerank.collecting.request_errors import AttemptFailed

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
    fault, n: int, patience: float = 1800.0, attempts: int = 6
) -> tuple[set, set, list[float], Clock, bool]:
    """Requests answered and given up, when requests were sent, the clock, and whether the judge was given up."""
    clock = Clock()
    pause, queue, answered, given_up, sent = Virtual(clock, patience), list(range(n)), set(), set(), []

    async def one(task: int) -> None:
        counted = 0
        while True:
            turn = await pause.turn()
            sent.append(clock.now)
            await clock.sleep(TOOK)
            error = fault(clock.now, task)
            if error is None:
                answered.add(task)
                pause.answered()
                pause.end(turn)
                return
            counts, paused = pause.failed(turn, task, error)
            pause.end(turn)
            counted += counts
            if pause.given_up_after is not None:
                pause.stop()
            elif counted >= attempts:
                given_up.add(task)
                return
            elif not paused:
                await clock.sleep(backoff(1.0, counted - 1))

    async def work() -> None:
        while queue:
            try:
                await one(queue.pop(0))
            except Stopped:
                return

    asyncio.run(clock.run([work() for _ in range(AT_A_TIME)]))
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
