"""Block network access while the client library prepares a request, except over that request's own connection.

For some providers the library takes a client of its own instead of the one it is given, or fetches a token first:
these would follow redirects, and go through any proxy, with the key.
"""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import Any, Protocol

OUTWARD = ("socket.connect", "socket.getaddrinfo", "socket.sendto")  # events of the interpreter


class Astray(Protocol):
    """A request's line, which is told where else the library wanted to go."""

    astray: str


_line: ContextVar[Astray | None] = ContextVar("line", default=None)
_handler: ContextVar[Any] = ContextVar("handler", default=None)


@contextmanager
def guarded(line: Astray, handler: object) -> Iterator[None]:
    """Refuse every connection, and have the library take this handler where it would take one of its own."""
    tokens = _line.set(line), _handler.set(handler)
    try:
        yield
    finally:
        _line.reset(tokens[0])
        _handler.reset(tokens[1])


@contextmanager
def let_through() -> Iterator[None]:
    """Let the line itself send."""
    token = _line.set(None)
    try:
        yield
    finally:
        _line.reset(token)


@cache
def install(litellm: ModuleType) -> None:
    """Put the guard in place, once in a process: an audit hook stays."""
    from litellm.caching.llm_caching_handler import LLMClientCache

    class Clients(LLMClientCache):
        def get_cache(self, key: str, *args: Any, **more: Any) -> Any:
            handler = _handler.get() if key.startswith("async_httpx_client") else None
            return handler or super().get_cache(key, *args, **more)

    litellm.in_memory_llm_clients_cache = Clients()  # type: ignore[attr-defined]
    _report_no_request()
    sys.addaudithook(_refuse)


def _report_no_request() -> None:
    """Drop the library's reports of our requests: nobody reads them, and its worker serves one event loop."""
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER as worker

    report = worker.ensure_initialized_and_enqueue

    def report_others(async_coroutine: Coroutine[Any, Any, Any]) -> None:
        if _handler.get() is None:
            report(async_coroutine)
        else:
            async_coroutine.close()

    worker.ensure_initialized_and_enqueue = report_others


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if event not in OUTWARD:
        return
    line = _line.get()
    if line is None:
        return
    destination = args[0] if event == "socket.getaddrinfo" else args[1]
    line.astray = str(destination[0] if isinstance(destination, tuple) else destination)
    raise PermissionError(f"nothing is sent to {line.astray}")
