"""Requests to one platform: to its host alone, with its key, no redirect, bodies of bounded size."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from judgerank.collecting.backoff import retrying
from judgerank.collecting.client import TRIED_AGAIN
from judgerank.collecting.response import AttemptFailed, retry_after
from judgerank.collecting.secrets import Secrets
from judgerank.collecting.transport import Line, Network, TooLarge
from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.reading.answers.found import Found, Messages, answered, are_messages, asked, written

log = logging.getLogger("judgerank")
LARGEST_PAGE = 64 << 20  # bytes of one answer: a page of transcripts
ATTEMPTS, FIRST_WAIT, PATIENCE, TIMEOUT = 5, 1.0, 30.0, 60.0  # the last three in seconds
FINE, MISSING = 200, 404


class Session:
    """Asks one server.

    Parameters
    ----------
    name : str
        What the platform is called in messages.
    address : str
    headers : mapping
        What goes with every request.
    keys : iterable of str
        What is blanked in all that comes back.
    """

    def __init__(self, name: str, address: str, headers: Mapping[str, str], keys: Iterable[str]):
        self.name, self.address, self._headers = name, address.rstrip("/"), dict(headers)
        self._secrets, self._network = Secrets(keys), Network(TIMEOUT)

    async def get(self, path: str, **params: Any) -> Any:
        """What the server answers, as JSON; None if there is no such thing.

        Raises
        ------
        DataUnavailableError
            If it does not answer, or refuses.
        DataError
            If it answers something else.
        """
        query = {name: str(value) for name, value in params.items() if value is not None}
        try:
            async for attempt in retrying(ATTEMPTS, FIRST_WAIT, PATIENCE):
                with attempt:
                    return await self._once(path, query)
        except AttemptFailed as error:
            server_message = f": {error.message}" if error.message else ""
            raise DataUnavailableError(
                f"{self.name} at {self.address} gives no answer ({error.kind}){server_message}"
            ) from None
        return None

    async def _once(self, path: str, params: Mapping[str, str]) -> Any:
        line = Line(self._network.to(self.address), self.address, {}, self._secrets, LARGEST_PAGE)
        request = httpx.Request("GET", f"{self.address}/{path}", params=params, headers=self._headers)
        try:
            async with asyncio.timeout(TIMEOUT):
                response = await line.handle_async_request(request)
        except TooLarge:
            raise DataError(f"{self.name} answers with more than {LARGEST_PAGE >> 20} MB") from None
        except (TimeoutError, httpx.TimeoutException):
            raise AttemptFailed("timeout") from None
        except httpx.TransportError:
            raise AttemptFailed("connection") from None
        if response.status_code == MISSING:
            return None
        if response.status_code in TRIED_AGAIN or response.status_code >= 500:
            raise AttemptFailed(str(response.status_code), line.short_message, retry_after(line.headers))
        if response.status_code != FINE:
            reason = f"sends requests on to {line.redirected}" if line.redirected else line.short_message
            raise DataUnavailableError(f"{self.name} at {self.address} refuses ({response.status_code}): {reason}")
        try:
            return json.loads(response.content)
        except ValueError:
            raise DataError(f"{self.name} at {self.address} answers with something that is not JSON") from None

    async def pages(self, path: str, cursor: Callable[[Mapping[str, Any]], Any], **params: Any) -> list[Any]:
        """All records of an interface that gives them page by page; none if there is no such thing.

        Parameters
        ----------
        path : str
        cursor : callable
            From a page to what asks for the next one; nothing after the last.
        params
            What goes with each request.
        """
        records: list[Any] = []
        after = None
        while True:
            page = await self.get(path, cursor=after, **params)
            if page is None:
                return records
            if not isinstance(page, Mapping) or not isinstance(page.get("data"), list):
                raise DataError(f"{self.name} answers without a list of data")
            records += page["data"]
            after, before = cursor(page), after
            if not after or after == before:
                return records

    async def close(self) -> None:
        await self._network.close()


@dataclass(frozen=True)
class Platform:
    """A platform and how its experiments are read.

    Attributes
    ----------
    name : str
    addresses : tuple of str
        Environment variables that name its server, the first that is set counts.
    default : str
        Its server otherwise.
    keys : tuple of str
        Environment variables of its keys.
    needs_keys : bool
        Whether it cannot be asked without.
    headers : callable
        From the keys to what goes with a request.
    fetch : callable
        From a session, a data set and an experiment (None for all) to what they hold.
    """

    name: str
    addresses: tuple[str, ...]
    default: str
    keys: tuple[str, ...]
    needs_keys: bool
    headers: Callable[[list[str]], Mapping[str, str]]
    fetch: Callable[[Session, str, str | None], Awaitable[list[Found]]]

    def read(self, dataset: str, experiment: str | None) -> list[Found]:
        """What the experiments hold; `judgerank.collecting.platforms.fetched` says what is raised."""
        address = next((os.environ[name] for name in self.addresses if os.environ.get(name)), self.default)
        keys = [os.environ.get(name, "") for name in self.keys]
        missing = [name for name, key in zip(self.keys, keys, strict=True) if not key]
        if missing and self.needs_keys:
            raise ConfigError(f"the environment variable {missing[0]} holds no key for {self.name}")
        if not address.startswith(("http://", "https://")):
            raise ConfigError(f"the address of {self.name} is {address!r}, not http:// or https://")
        log.info("reading %s of %s at %s", experiment or "all experiments", dataset, address)
        return asyncio.run(self._read(Session(self.name, address, self.headers(keys), keys), dataset, experiment))

    async def _read(self, session: Session, dataset: str, experiment: str | None) -> list[Found]:
        try:
            return await self.fetch(session, dataset, experiment)
        finally:
            await session.close()


def basic(keys: list[str]) -> dict[str, str]:
    """The header of a public and a secret key."""
    return {"Authorization": f"Basic {b64encode(':'.join(keys).encode()).decode()}"}


def bearer(keys: list[str]) -> dict[str, str]:
    """The header of one key, if there is one."""
    return {"Authorization": f"Bearer {keys[0]}"} if keys[0] else {}


# Inputs and outputs of platforms, which may be anything in JSON, as texts.


def as_question(value: object) -> str:
    """What was asked: a text, the only text of an object, messages, else JSON."""
    messages = _messages(value)
    return asked(messages) if messages else written(_only(value))


def as_answer(value: object) -> str | None:
    """What was answered, in the same way; None if nothing was."""
    if value is None or value in ("", {}, []):
        return None
    messages = _messages(value)
    return answered(messages) if messages else written(_only(value))


def _messages(value: object) -> Messages | None:
    if isinstance(value, Mapping):
        inner = value.get("messages")
        return inner if are_messages(inner) else [value] if {"role", "content"} <= value.keys() else None
    return value if are_messages(value) else None


def _only(value: object) -> object:
    """The value of an object with one key."""
    if isinstance(value, Mapping) and len(value) == 1:
        return _only(next(iter(value.values())))
    return value
