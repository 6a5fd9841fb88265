"""When a judge may be asked: at once, after a pause, at its pace, or again after an error."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

import tenacity

from judgerank.collecting.response import AttemptFailed

# When a judge may be asked: at once, after a pause that all its requests share, or by one request to try.
#
# A server that is down or overloaded fails every request on its way at once, which is one event and no reason to
# give the judge up. So its trouble pauses the judge, each time about twice as long, or as long as the server asks.
# Then one request goes alone (the half-open state of a circuit breaker): if it is answered, the others follow. A
# judge also begins that way, so that a request which its server does not take is sent once and not eight times.
#
# A request is at fault that failed although one sent after it was answered. Then the judge is not paused for it.
LONGEST_PAUSE = 60.0  # seconds, unless the server asks for more
UNREACHED = 60.0  # seconds of patience with a server that was never reached: its address may be wrong
SEVERAL = 3  # requests that fail without an answer in between are the judge's trouble, whatever their faults
# faults of the server as a whole; any other may be of one request
OF_THE_SERVER = {"408", "425", "429", "502", "503", "504", "520", "521", "522", "523", "524", "529", "connection"}


class Stopped(Exception):
    """The judge is asked no more."""


class Pause:
    """One judge's.

    Parameters
    ----------
    first_wait : float
        Seconds of the first pause, about twice as long each further one.
    patience : float
        Seconds without any answer after which the judge is given up.
    clock : callable
        Seconds that pass.
    """

    def __init__(self, first_wait: float, patience: float, clock: Callable[[], float] = time.monotonic):
        self._first_wait, self._patience, self.clock = first_wait, patience, clock
        self._open, self._reached = False, False
        self._until = 0.0
        self._since: float | None = None
        self._failures, self._answered, self._turn, self._closed_at = 0, 0, 0, 0
        self._probe: int | None = None
        self._failing: dict[Hashable, int] = {}  # the turn in which a request last failed
        self._at_fault: set[Hashable] = set()
        self._in_a_row: set[Hashable] = set()
        self._stopped, self._settled = asyncio.Event(), asyncio.Event()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    @property
    def in_trouble(self) -> bool:
        """Whether requests failed and none was answered since, so that one at a time goes."""
        return not self._open and (self._since is not None or bool(self._in_a_row))

    def is_at_fault(self, what: Hashable) -> bool:
        """Whether a request failed, and one that was sent later was answered."""
        return what in self._at_fault or self._answered > self._failing.get(what, self._turn)

    def stop(self) -> None:
        """Let no further request go."""
        self._stopped.set()
        self._notify()

    async def turn(self) -> int:
        """Wait until a request may go; its number.

        Raises
        ------
        Stopped
        """
        while not self.is_stopped:
            left = self._until - self.clock()
            if left > 0:
                await self.sleep(left)
            elif self._open or self._probe is None:
                self._turn += 1
                if not self._open:
                    self._probe = self._turn
                return self._turn
            else:
                await self._settled.wait()
        raise Stopped

    def may_go(self, turn: int) -> bool:
        """Whether a request may still go that has waited for something else since its turn.

        Raises
        ------
        Stopped
        """
        if self.is_stopped:
            raise Stopped
        return self._open or self._probe == turn

    def end(self, turn: int) -> None:
        """A request is no longer on its way, however it ended."""
        if self._probe == turn:
            self._probe = None
            self._notify()

    def answered(self, turn: int) -> float:
        """The server answers: let all requests go. Seconds of the trouble that ends so; 0 for none."""
        lasted = 0.0 if self._since is None else self.clock() - self._since
        self._open, self._reached, self._since, self._failures = True, True, None, 0
        self._answered = max(self._answered, turn)
        self._in_a_row.clear()
        self._notify()
        return lasted

    def begin_anew(self) -> None:
        """Take no more note of the trouble so far: it was of requests that are given up."""
        self._since, self._failures, self._until = None, 0, 0.0
        self._in_a_row.clear()

    def failed(self, turn: int, what: Hashable, error: AttemptFailed) -> tuple[bool, float]:
        """Take note of a fault; whether it counts against the request, and for how long the judge is paused.

        It counts if it may be the request's own, or if one sent after this one last failed was answered. From then
        on its faults say nothing of the judge, unless they are of the server by their kind.
        """
        self._reached |= error.kind != "connection" or error.paid
        later = self._answered > self._failing.get(what, turn)
        self._failing[what] = turn
        if later:
            self._at_fault.add(what)
        if what not in self._at_fault:
            self._in_a_row.add(what)
        wide = error.kind in OF_THE_SERVER or error.wait is not None
        wide |= what not in self._at_fault and len(self._in_a_row) >= SEVERAL
        return later or not wide, self._close(turn, error.wait or 0.0) if wide else 0.0

    def _close(self, turn: int, requested_wait: float) -> float:
        now = self.clock()
        self._since = now if self._since is None else self._since
        wait = requested_wait
        if turn > self._closed_at:  # not of those that were on their way when the pause began
            wait = max(requested_wait, backoff(self._first_wait, self._failures))
            self._failures += 1
            self._closed_at = self._turn
        self._open = False
        self._until = max(self._until, now + wait)
        return wait

    @property
    def given_up_after(self) -> float | None:
        """Seconds of patience, if they end before the next attempt; None if they do not."""
        if self._since is None:
            return None
        patience = self._patience if self._reached else min(self._patience, UNREACHED)
        return patience if self._until - self._since > patience else None

    async def sleep(self, seconds: float) -> None:
        """Wait, or until the judge is stopped."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    def _notify(self) -> None:
        self._settled.set()
        self._settled = asyncio.Event()


def backoff(first_wait: float, failures: int) -> float:
    """Seconds before the next attempt after so many failures: about twice as long every time."""
    wait = min(first_wait * 2.0 ** min(failures, 30), max(LONGEST_PAUSE, first_wait))
    return wait * random.uniform(0.75, 1.25)


# When the next request may go: so many a minute and so many at a time, of each judge and of all.


class Pace:
    """Lets a request go every so often, and so many at a time. One that goes late delays those after it.

    Parameters
    ----------
    per_minute : float or None
        Requests a minute; no limit if None.
    at_a_time : int
    """

    def __init__(self, per_minute: float | None, at_a_time: int):
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._next, self._turn = 0.0, asyncio.Lock()
        self._slots = asyncio.Semaphore(at_a_time)

    @asynccontextmanager
    async def request(self, within: Pace | None = None) -> AsyncIterator[None]:
        """Hold a place for one request from its turn to its end; `within` is the pace of all."""
        async with self._slots, AsyncExitStack() as stack:
            async with self._turn:
                await asyncio.sleep(max(0.0, self._next - time.monotonic()))
                if within is not None:
                    await stack.enter_async_context(within.request())
                self._next = time.monotonic() + self._gap
            yield


# Which request of a judge goes next: one that failed waits, so that it does not keep a place from the others.
#
# A judge in trouble is tried with a request that has not failed yet. If it is answered, the judge is well, and the
# fault was of those that failed.
T = TypeVar("T", bound=Hashable)


@dataclass
class Attempt(Generic[T]):
    """A request, and how it went so far.

    Attributes
    ----------
    task : hashable
    failures, counted : int
        Attempts that failed, and those of them that count against the request.
    due : float
        When it may be tried again, by the clock of the pause.
    with_the_judge : bool
        Whether it failed as the judge was in trouble: then it goes first when that is over.
    """

    task: T
    failures: int = 0
    counted: int = 0
    due: float = 0.0
    with_the_judge: bool = False


class Waiting(Generic[T]):
    """One judge's requests that are not on their way and not dealt with.

    Parameters
    ----------
    tasks : iterable
    pause : Pause
        The judge's.
    """

    def __init__(self, tasks: Iterable[T], pause: Pause):
        self._new, self._failed = deque(tasks), list[Attempt[T]]()
        self._pause, self._idle = pause, 0

    def __len__(self) -> int:
        return len(self._new) + len(self._failed)

    async def take(self) -> tuple[Attempt[T], int] | None:
        """Wait until a request may go; which one, and its turn. None if there are fewer than wait for one.

        Raises
        ------
        Stopped
        """
        while self._idle < len(self):
            self._idle += 1
            try:
                if not self._new:
                    await self._pause.sleep(
                        max(0.0, min(attempt.due for attempt in self._failed) - self._pause.clock())
                    )
                turn = await self._pause.turn()
            finally:
                self._idle -= 1
            queued = self._next()
            if queued is not None:
                return queued, turn
            self._pause.end(turn)
        return None

    def _next(self) -> Attempt[T] | None:
        in_trouble = self._pause.in_trouble
        due = [attempt for attempt in self._failed if attempt.due <= self._pause.clock()]
        first = [attempt for attempt in due if attempt.with_the_judge]
        if self._new and (in_trouble or not first):
            # anywhere, because those that fail may stand side by side
            index = random.randrange(len(self._new)) if in_trouble else 0
            queued = Attempt(self._new[index])
            del self._new[index]
            return queued
        again = first or due
        if not again:
            return None
        # the longest wait first, so that a limit of the rate does not meet the same request each time
        queued = min(again, key=lambda attempt: attempt.failures) if in_trouble else again[0]
        self._failed.remove(queued)
        return queued

    def unsent(self, attempt: Attempt[T]) -> None:
        """Take a request back that was not sent."""
        if attempt.failures:
            self._failed.append(attempt)
        else:
            self._new.appendleft(attempt.task)

    def failed(self, attempt: Attempt[T], counts: bool, wait: float | None) -> None:
        """Take a request back that failed: for so many seconds, or until the judge is out of its trouble."""
        attempt.failures += 1
        attempt.counted += counts
        attempt.due, attempt.with_the_judge = self._pause.clock() + (wait or 0.0), wait is None
        self._failed.append(attempt)

    def hopeless(self) -> list[T]:
        """All that wait, if none is new and most of them failed while the judge answered others; otherwise none.

        Most, because after the last request that is answered no evidence comes on those that fail after it.
        """
        at_fault = sum(self._pause.is_at_fault(attempt.task) for attempt in self._failed)
        return [] if self._new or 2 * at_fault <= len(self._failed) else [attempt.task for attempt in self._failed]

    def clear(self) -> None:
        """Forget all that wait."""
        self._new.clear()
        self._failed.clear()


# Calls of a batch interface that are made again where that may help.


def retrying(attempts: int, first_wait: float, patience: float) -> tenacity.AsyncRetrying:
    """What calls again: as long as patience lasts if the server is in trouble, else a number of times."""

    def is_enough(state: tenacity.RetryCallState) -> bool:
        failed = _fault(state)
        if failed is not None and failed.kind in OF_THE_SERVER:
            return (state.seconds_since_start or 0.0) >= patience
        return state.attempt_number >= attempts

    def wait(state: tenacity.RetryCallState) -> float:
        failed = _fault(state)
        requested_wait = failed.wait if failed is not None else None
        return min(patience, max(backoff(first_wait, state.attempt_number - 1), requested_wait or 0.0))

    return tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception_type(AttemptFailed), stop=is_enough, wait=wait, reraise=True
    )


def _fault(state: tenacity.RetryCallState) -> AttemptFailed | None:
    failed = state.outcome.exception() if state.outcome else None
    return failed if isinstance(failed, AttemptFailed) else None
