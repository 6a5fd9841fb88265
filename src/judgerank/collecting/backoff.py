"""When a judge may be asked: at once, after a pause that all its requests share, or by one request to try.

A server that is down or overloaded fails every request on its way at once, which is one event and no reason to
give the judge up. So its trouble pauses the judge, each time about twice as long, or as long as the server asks.
Then one request goes alone (the half-open state of a circuit breaker): if it is answered, the others follow. A
judge also begins that way, so that a request which its server does not take is sent once and not eight times.

A request is at fault that failed although one sent after it was answered. Then the judge is not paused for it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Hashable
from contextlib import suppress

from judgerank.collecting.request_errors import AttemptFailed

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
        self._tell()

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
            self._tell()

    def answered(self, turn: int) -> float:
        """The server answers: let all requests go. Seconds of the trouble that ends so; 0 for none."""
        lasted = 0.0 if self._since is None else self.clock() - self._since
        self._open, self._reached, self._since, self._failures = True, True, None, 0
        self._answered = max(self._answered, turn)
        self._in_a_row.clear()
        self._tell()
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

    def _close(self, turn: int, asked: float) -> float:
        now = self.clock()
        self._since = now if self._since is None else self._since
        wait = asked
        if turn > self._closed_at:  # not of those that were on their way when the pause began
            wait = max(asked, backoff(self._first_wait, self._failures))
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

    def _tell(self) -> None:
        self._settled.set()
        self._settled = asyncio.Event()


def backoff(first_wait: float, failures: int) -> float:
    """Seconds before the next attempt after so many failures: about twice as long every time."""
    wait = min(first_wait * 2.0 ** min(failures, 30), max(LONGEST_PAUSE, first_wait))
    return wait * random.uniform(0.75, 1.25)
