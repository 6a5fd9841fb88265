"""The line to a server: one request an attempt, to the host that its key is for, and a reply of bounded size.

A client library translates requests into a provider's form. It sends them through here, where what it may not do
is out of its reach: send a second one, follow a redirect, reach another host, or read without end. Replies are
looked at before the library sees them, and its other ways into the network are blocked.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx
import numpy as np

from judgerank.collecting.secrets import Secrets
from judgerank.data.errors import ConfigError

# A server's JSON before a client library sees it: its depth, whose reply it is, and usage that can be counted.
LARGE = 1 << 16  # bytes, from which on a reply is read in another thread: a million values take seconds
DEEPEST = 64  # brackets within brackets; a reply with log-probabilities has about ten
IDS = ("id", "responseId")  # of OpenAI's and Anthropic's form, and of Gemini's
MOST_TOKENS = 1e12
# what stands for usage that cannot be counted, by its key: zeros, which every reader takes for untold
UNCOUNTED = {
    "usage": dict.fromkeys(
        ("prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens"), 0
    ),
    "usageMetadata": dict.fromkeys(("promptTokenCount", "candidatesTokenCount", "totalTokenCount"), 0),
}
DEFAULT_IDS = ("", "none", "null")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class TooDeep(ValueError):
    """A body with more brackets within brackets than any reply has."""


@dataclass(frozen=True)
class Body:
    """A reply's body.

    Attributes
    ----------
    content : bytes
        With zeros for usage that is no whole number, which would take the answer with it.
    reply_id : str or None
        By which its server distinguishes it from other replies.
    """

    content: bytes
    reply_id: str | None = None


def checked_body(content: bytes) -> Body:
    """The body, for whoever reads it next.

    Raises
    ------
    TooDeep
        Before anything parses it.
    """
    if _depth(content) > DEEPEST:
        raise TooDeep
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError):
        return Body(content)
    if not isinstance(fields, dict):
        return Body(content)
    reply_id = next((name for key in IDS if isinstance(name := fields.get(key), str)), None)
    odd = {key: zeros for key, zeros in UNCOUNTED.items() if not _is_countable(fields.get(key))}
    content = json.dumps(fields | odd).encode() if odd else content
    return Body(content, reply_id if reply_id and reply_id.lower() not in DEFAULT_IDS else None)


def _depth(content: bytes) -> int:
    """Brackets within brackets, at most, but for those in texts."""
    brackets = np.frombuffer(_without_texts(content).translate(None, _NOT_BRACKETS), np.uint8)
    steps = np.where((brackets == ord("[")) | (brackets == ord("{")), 1, -1)
    return int(np.cumsum(steps).max(initial=0))


def _without_texts(content: bytes) -> bytes:
    """JSON without what is in quotes."""
    parts = content.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
    return b"".join(parts[::2])


def _is_countable(usage: Any) -> bool:
    """Whether every number of tokens is a whole one; some servers send null where they do not count."""
    if not isinstance(usage, dict):
        return usage is None
    return all(_is_whole(value) for key, value in usage.items() if "token" in key.lower())


def _is_whole(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_countable, value))
    if isinstance(value, dict):
        return _is_countable(value)
    return not isinstance(value, float) or (value.is_integer() and value < MOST_TOKENS)


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


# The line itself.
LARGEST_BODY = 4 << 20  # bytes; a thousand tokens take some thousand
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
MAX_MESSAGE_LENGTH = 300  # characters of a server's message


class TooLarge(Exception):
    """The reply's body is larger than any that could be meant."""


class Compressed(Exception):
    """The reply's body is compressed, which nobody asked for: a few bytes of it may stand for gigabytes."""


class Postponed(Exception):
    """The reply is so large that it is read in another thread."""


class Line(httpx.AsyncBaseTransport):
    """Carries one request.

    Parameters
    ----------
    client : httpx.AsyncClient
        What sends it.
    address : str or None
        Where it may go; None anywhere, for a client that reaches no network.
    params : mapping
        What goes into the request's body as it is; None takes a part out.
    secrets : Secrets
        What is blanked in all that comes back.
    largest : int
        Bytes that the reply's body may have.
    postpones : bool
        Leave it to the caller to read a large reply (`Postponed`).

    Attributes
    ----------
    sent, cut : bool
        Whether the request may have reached the server; whether its reply broke off.
    status : int or None
        Of the reply, if there was one.
    headers, body : mapping, bytes
        Of the reply, without keys.
    reply_id : str or None
        By which the server distinguishes its reply from others.
    compressed, deep : bool
        Whether the reply was refused because it is compressed, or nested deeper than any that could be meant.
    postponed : bool
        Whether the reply is there and still to be read, by what `answer_again` gives.
    astray : str
        Another host that the library wanted to reach, if it did.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        address: str | None,
        params: Mapping[str, Any],
        secrets: Secrets,
        largest: int = LARGEST_BODY,
        postpones: bool = False,
    ):
        self._client, self._params, self._secrets, self._largest = client, params, secrets, largest
        self._postpones = postpones
        self._origin = None if address is None else _origin(address)
        self._used = False
        self.astray = ""
        self.sent, self.cut, self.large = False, False, False
        self.compressed, self.deep, self.postponed = False, False, False
        self.reply_id: str | None = None
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.body = b""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it, and read the whole reply.

        Raises
        ------
        httpx.TransportError
            If there is no reply, or another request was sent already.
        TooLarge
            If it is longer than it can be.
        Compressed, TooDeep
            If it cannot be read within bounds.
        Postponed
            If it is an answer that takes long to read.
        """
        if self._used:
            raise httpx.TransportError("an attempt is one request")
        self._used = True
        if self._origin not in (None, _origin(str(request.url))):
            self.astray = request.url.host
            raise httpx.TransportError(f"the key is not for {self.astray}")
        content = await request.aread()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in REPLACED}
        headers["accept-encoding"] = PLAIN
        outgoing = httpx.Request(
            request.method,
            request.url,
            headers=headers,
            content=with_params(content, self._params),
            extensions=request.extensions,
        )
        self.sent = True
        try:
            with let_through():
                response = await self._client.send(outgoing, stream=True, follow_redirects=False)
        except UNSENT:
            self.sent = False
            raise
        except httpx.TransportError:
            self.cut = True
            raise
        self.status, self.headers = response.status_code, self._secrets.blanked_headers(response.headers)
        try:
            await self._read(response)
        except (httpx.TransportError, httpx.DecodingError):
            self.cut = True
            raise
        finally:
            await response.aclose()
        if self._postpones and response.is_success and len(self.body) > LARGE:
            self.postponed = True
            raise Postponed
        return self.answer_again(request)

    def answer_again(self, request: httpx.Request) -> httpx.Response:
        """The reply that came, to the same request."""
        decoded_headers = {name: value for name, value in self.headers.items() if name.lower() not in DECODED}
        assert self.status is not None
        return httpx.Response(self.status, headers=decoded_headers, content=self.body, request=request)

    async def _read(self, response: httpx.Response) -> None:
        """The bytes as they come, counted; in another thread what takes time, so that the clock can cut in."""
        if response.headers.get("content-encoding", PLAIN).strip().lower() not in ("", PLAIN):
            self.compressed = True
            raise Compressed
        body = bytearray()
        async for part in response.aiter_bytes() if response.is_stream_consumed else response.aiter_raw():
            body += part
            if len(body) > self._largest:
                self.large = True
                raise TooLarge
        self.body = await asyncio.to_thread(self._secrets.blanked_body, bytes(body))
        try:
            checked = await asyncio.to_thread(checked_body, self.body)
        except TooDeep:
            self.deep, self.body = True, b""
            raise
        self.body, self.reply_id = checked.content, checked.reply_id

    @property
    def redirected(self) -> str | None:
        """The host that the server would send the request on to."""
        if self.status is None or not 300 <= self.status < 400:
            return None
        return urlsplit(self.headers.get("location", "")).netloc or "another place"

    @property
    def message(self) -> str:
        """The server's own message."""
        return _message(self.body)

    @property
    def short_message(self) -> str:
        """The server's message in one short line."""
        return shortened(self.message)


def shortened(text: str) -> str:
    """What a server said in one short line of printable letters."""
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return text if len(text) <= MAX_MESSAGE_LENGTH else text[:MAX_MESSAGE_LENGTH] + " ..."


PLAIN = "identity"  # the one encoding of a body that is taken
# follow from the content and the address, or are ours to say
REPLACED = ("content-length", "transfer-encoding", "host", "accept-encoding")
DECODED = ("content-encoding", "content-length", "transfer-encoding")  # no longer true of what was read


def with_params(content: bytes, params: Mapping[str, Any]) -> bytes:
    """The body with what is to go into it, and without what is None.

    Raises
    ------
    ConfigError
        If the provider's requests are not of JSON.
    """
    if not params:
        return content
    try:
        body = json.loads(content)
    except ValueError:
        raise ConfigError("params can only go into requests of JSON") from None
    return json.dumps(_merged(body, params)).encode()


def _merged(body: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    merged = {name: value for name, value in body.items() if params.get(name, value) is not None}
    for name, value in params.items():
        within = merged.get(name)
        if isinstance(within, dict) and isinstance(value, dict):
            merged[name] = _merged(within, value)
        elif value is not None:
            merged[name] = value
    return merged


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _message(body: bytes) -> str:
    """What a server says in an error's body: OpenAI's form, others' like it, or its text."""
    text = body[:LARGEST_BODY].decode("utf-8", "replace")
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for _ in range(3):
        if isinstance(parsed, dict):
            inner = (parsed.get(name) for name in ("error", "message", "detail", "msg"))
            parsed = next((part for part in inner if part), text)
        elif isinstance(parsed, list) and parsed:
            parsed = parsed[0]
    return parsed if isinstance(parsed, str) else text


# The network as judges are reached by it: directly, or through a proxy that sees no more than a host's name.
PROXIES = ("http", "https", "socks5", "socks5h")


class Network:
    """Clients by the proxy they go through. None follows a redirect, or reads a key from a file of its own."""

    def __init__(self, timeout: float):
        self._timeout = timeout
        self._clients: dict[str | None, httpx.AsyncClient] = {}

    def to(self, address: str) -> httpx.AsyncClient:
        """What sends requests to an address."""
        proxy = proxy_for(address)
        if proxy not in self._clients:
            # reads from the environment which certificates to trust; a connection serves one request, as a server
            # that answers twice would have its second answer taken for the next request's
            transport = httpx.AsyncHTTPTransport(proxy=proxy, limits=httpx.Limits(max_keepalive_connections=0))
            self._clients[proxy] = httpx.AsyncClient(transport=transport, trust_env=False, timeout=self._timeout)
        return self._clients[proxy]

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()


def proxy_for(address: str) -> str | None:
    """The proxy that the environment names for an address of https; None if it names none, and for http.

    A proxy is asked to connect (CONNECT) to a host of https, and all else is encrypted. Of a request to http it
    would see everything, the key too.

    Raises
    ------
    ConfigError
        If it is no proxy's address, or one that needs a library that is not there.
    """
    parts = urlsplit(address)
    proxies = getproxies()
    proxy = proxies.get("https") or proxies.get("all")
    if parts.scheme != "https" or not proxy or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    scheme = urlsplit(proxy).scheme
    if scheme not in PROXIES:
        raise ConfigError(
            f"HTTPS_PROXY or ALL_PROXY names a proxy of the kind {scheme!r}, which cannot be used; "
            f"known are {', '.join(PROXIES)}"
        )
    if scheme.startswith("socks") and find_spec("socksio") is None:
        raise ConfigError(
            "HTTPS_PROXY or ALL_PROXY names a SOCKS proxy, which requires the package socksio (pip install "
            "socksio); NO_PROXY names hosts that need no proxy"
        )
    return proxy


def proxy_without_password(proxy: str) -> str:
    """A proxy without the user and the password that its address may hold."""
    parts = urlsplit(proxy)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
