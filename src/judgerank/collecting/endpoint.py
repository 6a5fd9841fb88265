"""An OpenAI-compatible endpoint: one question at a time, at a pace, tried again where that can help.

What a server sends is not trusted: a reply has a largest size and a deadline as a whole, and a body in another
form than the protocol's counts as a failed attempt.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from judgerank.collecting.settings import Collection, Judge, Panel
from judgerank.errors import ConfigError, EndpointError

TRIED_AGAIN = (408, 409, 425, 429)  # and every 5xx
LARGEST_BODY = 4 << 20  # bytes; a thousand tokens take some thousand
LONGEST_PARTS = 1_000  # of a message that comes in parts


@dataclass(frozen=True)
class Reply:
    """What the endpoint answered; tokens are None where it does not say, or not in a number that can be."""

    text: str
    model: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None


class AttemptFailed(Exception):
    """An attempt failed in a way that another may not; `paid` if the endpoint may have charged for it."""

    def __init__(self, kind: str, wait: float | None = None, paid: bool = False):
        super().__init__(kind)
        self.kind, self.wait, self.paid = kind, wait, paid


class Refused(Exception):
    """The endpoint will not answer this request, however often it is sent."""


class Pace:
    """Lets a request go every so often. One that goes late delays those after it: they never bunch up."""

    def __init__(self, per_minute: float | None):
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._next, self._turn = 0.0, asyncio.Lock()

    async def wait(self) -> None:
        async with self._turn:
            await asyncio.sleep(self._next - time.monotonic())
            self._next = time.monotonic() + self._gap


class Endpoint:
    """A client of an endpoint; the key comes from the environment and stays in the client.

    Raises
    ------
    ConfigError
        If there is no key, or it cannot be sent, or the library is not installed.
    """

    def __init__(self, settings: Collection):
        self._openai = _library()
        panel, timeout = settings.panel, settings.timeout
        self._base_url, self._timeout = panel.base_url, timeout
        self._prompt, self._pace = settings.prompt, Pace(settings.requests_per_minute)
        # requests run in one event loop, since only there can they be ended as a whole when their time is up
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        # the library's own retries are off: ours are counted, and each is paid for from the budget
        self._clients = {
            url: self._openai.AsyncOpenAI(api_key=key_of(panel), base_url=url, max_retries=0, timeout=timeout)
            for url in {panel.base_url, *(judge.base_url for judge in panel.judges if judge.base_url)}
        }

    def attempt(self, judge: Judge, text: str) -> Reply:
        """Send one request, when its turn comes.

        Raises
        ------
        AttemptFailed
            If it failed in a way that another may not.
        Refused
            If the endpoint will not answer this request.
        EndpointError
            If it will not answer any: the key, or the model's name, is not accepted.
        """
        openai = self._openai
        try:
            return reply_of(asyncio.run_coroutine_threadsafe(self._in_turn(judge, text), self._loop).result())
        except (openai.APITimeoutError, TimeoutError):
            raise AttemptFailed("timeout", paid=True) from None
        except openai.APIConnectionError:
            raise AttemptFailed("connection", paid=True) from None
        except openai.APIStatusError as error:
            status = error.status_code
            if status in TRIED_AGAIN or status >= 500:
                raise AttemptFailed(str(status), _retry_after(error.response.headers)) from None
            if status in (401, 403, 404):
                raise EndpointError(
                    f"the endpoint refuses judge {judge.judge!r}, sent as {judge.sent!r} ({status})"
                ) from None
            raise Refused(str(status)) from None
        except openai.APIError:
            raise AttemptFailed("unreadable body", paid=True) from None
        except Exception as error:  # the HTTP library's own, of a body cut off or not decodable
            if not type(error).__module__.startswith(("httpx", "httpcore", "h11")):
                raise
            raise AttemptFailed("connection", paid=True) from None

    async def _in_turn(self, judge: Judge, text: str) -> bytes:
        await self._pace.wait()
        return await asyncio.wait_for(self._ask(judge, text), self._timeout)

    async def _ask(self, judge: Judge, text: str) -> bytes:
        request = {"model": judge.sent, "messages": [{"role": "user", "content": text}]}
        settings = {"temperature": self._prompt.temperature, "max_tokens": self._prompt.max_tokens}
        client = self._clients[judge.base_url or self._base_url]
        body = bytearray()
        async with client.chat.completions.with_streaming_response.create(**request, **settings) as response:
            async for part in response.iter_bytes():
                body += part
                if len(body) > LARGEST_BODY:
                    raise AttemptFailed("body too large", paid=True)
        return bytes(body)


def reply_of(body: bytes) -> Reply:
    """The reply in a body of the protocol.

    Raises
    ------
    AttemptFailed
        If it is in another form.
    """
    try:
        answer = json.loads(body)
        choice = answer["choices"][0]
        text = _text_of(choice["message"].get("content"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise AttemptFailed("unreadable body", paid=True) from None
    used = answer.get("usage")
    used = used if isinstance(used, dict) else {}
    return Reply(
        text,
        _name(answer.get("model")),
        _name(choice.get("finish_reason")),
        _tokens(used.get("prompt_tokens")),
        _tokens(used.get("completion_tokens")),
    )


def _text_of(content: object) -> str:
    """A message's text; nothing is empty, parts of text are joined.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if content is None:
        return ""
    if isinstance(content, list) and len(content) <= LONGEST_PARTS:
        content = "".join(part["text"] for part in content if part["type"] == "text")
    if not isinstance(content, str):
        raise TypeError("a message that is no text")
    return _whole(content)


def _whole(text: str) -> str:
    """The text with half characters (lone surrogates), which no file can hold, replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _name(said: object) -> str | None:
    """A name, or None if it is no text."""
    return _whole(said) if isinstance(said, str) else None


def _tokens(count: object) -> int | None:
    """A number of tokens, or None if it is none."""
    if isinstance(count, bool) or not isinstance(count, int | float):
        return None
    return int(count) if 0 <= count < 1e12 else None


def key_of(panel: Panel) -> str:
    """The key out of the environment.

    Raises
    ------
    ConfigError
        If there is none, or it cannot stand in a request's header.
    """
    key = os.environ.get(panel.api_key_env)
    if not key:
        raise ConfigError(
            f"the environment variable {panel.api_key_env} holds no key (api_key_env in the panel names another)"
        )
    if not (key.isascii() and key.isprintable()) or key != key.strip():
        raise ConfigError(
            f"the key in {panel.api_key_env} has a character that cannot be sent (a line's end, a blank, no ASCII)"
        )
    return key


def _library() -> ModuleType:
    try:
        import openai
    except ImportError:
        raise ConfigError(
            "collecting judgments needs the optional extra 'collect' (pip install 'judgerank[collect]')"
        ) from None
    return openai


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the endpoint asks to wait, if it says so in seconds."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if seconds >= 0 else None
