"""Which request of a judge goes next: one that failed waits, so that it does not keep a place from the others.

A judge in trouble is tried with a request that has not failed yet. If it is answered, the judge is well, and the
fault was of those that failed.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from judgerank.collecting.backoff import Pause

T = TypeVar("T", bound=Hashable)


@dataclass
class Asked(Generic[T]):
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
        self._new, self._failed = deque(tasks), list[Asked[T]]()
        self._pause, self._idle = pause, 0

    def __len__(self) -> int:
        return len(self._new) + len(self._failed)

    async def take(self) -> tuple[Asked[T], int] | None:
        """Wait until a request may go; which one, and its turn. None if there are fewer than wait for one.

        Raises
        ------
        Stopped
        """
        while self._idle < len(self):
            self._idle += 1
            try:
                if not self._new:
                    await self._pause.sleep(max(0.0, min(each.due for each in self._failed) - self._pause.clock()))
                turn = await self._pause.turn()
            finally:
                self._idle -= 1
            found = self._next()
            if found is not None:
                return found, turn
            self._pause.end(turn)
        return None

    def _next(self) -> Asked[T] | None:
        in_trouble = self._pause.in_trouble
        due = [each for each in self._failed if each.due <= self._pause.clock()]
        first = [each for each in due if each.with_the_judge]
        if self._new and (in_trouble or not first):
            # anywhere, because those that fail may stand side by side
            place = random.randrange(len(self._new)) if in_trouble else 0
            found = Asked(self._new[place])
            del self._new[place]
            return found
        again = first or due
        if not again:
            return None
        # the longest wait first, so that a limit of the rate does not meet the same request each time
        found = min(again, key=lambda each: each.failures) if in_trouble else again[0]
        self._failed.remove(found)
        return found

    def unsent(self, asked: Asked[T]) -> None:
        """Take a request back that was not sent."""
        if asked.failures:
            self._failed.append(asked)
        else:
            self._new.appendleft(asked.task)

    def failed(self, asked: Asked[T], counts: bool, wait: float | None) -> None:
        """Take a request back that failed: for so many seconds, or until the judge is out of its trouble."""
        asked.failures += 1
        asked.counted += counts
        asked.due, asked.with_the_judge = self._pause.clock() + (wait or 0.0), wait is None
        self._failed.append(asked)

    def hopeless(self) -> list[T]:
        """All that wait, if none is new and most of them failed while the judge answered others; otherwise none.

        Most, because after the last request that is answered no evidence comes on those that fail after it.
        """
        at_fault = sum(self._pause.is_at_fault(each.task) for each in self._failed)
        return [] if self._new or 2 * at_fault <= len(self._failed) else [each.task for each in self._failed]

    def clear(self) -> None:
        """Forget all that wait."""
        self._new.clear()
        self._failed.clear()
