"""When the next request may go: so many a minute and so many at a time, of each judge and of all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager


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
