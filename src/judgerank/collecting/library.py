"""litellm, configured to fetch and print nothing; and its list of models."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import Any, Protocol

from judgerank.collecting.settings import Judge
from judgerank.data.errors import ConfigError
from judgerank.writing.extras import needed

# Block network access while the client library prepares a request, except over that request's own connection.
#
# For some providers the library takes a client of its own instead of the one it is given, or fetches a token
# first: these would follow redirects, and go through any proxy, with the key.
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
    sys.addaudithook(_refuse)


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if event not in OUTWARD:
        return
    line = _line.get()
    if line is None:
        return
    place = args[0] if event == "socket.getaddrinfo" else args[1]
    line.astray = str(place[0] if isinstance(place, tuple) else place)
    raise PermissionError(f"nothing is sent to {line.astray}")


# nothing is fetched, loaded from a folder's .env, or sent by litellm but what it is asked to send
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
# its one HTTP handler for all providers, which takes our line, also for OpenAI's form
ONE_HANDLER = {"EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "True"}
ALWAYS_SET = QUIET | ONE_HANDLER
PRICED = {
    "prompt_price": "input_cost_per_token",
    "completion_price": "output_cost_per_token",
    "cached_price": "cache_read_input_token_cost",
    "cache_write_price": "cache_creation_input_token_cost",
}


def library() -> ModuleType:
    """litellm; its import takes seconds, so that only what needs it pays for it.

    Raises
    ------
    ConfigError
        If it is not installed.
    """
    os.environ.update(ALWAYS_SET)
    try:
        import litellm
    except ImportError:
        raise ConfigError(f"collecting judgments takes {needed('collect')}") from None
    install(litellm)
    # what it leaves behind where a request is cancelled while it still prepares it
    warnings.filterwarnings("ignore", r"coroutine '\w+\.\w*completion\w*' was never awaited", RuntimeWarning)
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


def listed(judge: Judge) -> Mapping[str, Any]:
    """What litellm's list says of the judge's model: prices, limits, its last day; empty if it is not on it."""
    models = library().model_cost
    return models.get(judge.sent) or models.get(judge.sent.partition("/")[2]) or {}


def list_prices(judge: Judge) -> dict[str, float | None]:
    """The judge's prices for a million tokens by that list, in US dollars; none if it is not on it."""
    known = listed(judge)
    prices = {name: known.get(key) for name, key in PRICED.items()}
    return {name: None if price is None else price * 1e6 for name, price in prices.items()}
