"""Keys of judges, out of the environment, and taken out of texts."""

from __future__ import annotations

import json
import logging
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from string import ascii_lowercase, ascii_uppercase
from typing import Any
from urllib.parse import quote, unquote

from judgerank.collecting.settings import Judge
from judgerank.data.errors import ConfigError

# Keys taken out of texts: whole, in part, and as they are written in addresses and in Base64.
#
# A server can send back what it was sent. What it says is cleaned of every judge's key where it comes in, and what
# is logged once more at that door.
PART = 12  # characters in a row that give a key away
SHORTEST = 4  # characters; anything shorter is a placeholder, and might be a verdict
STEP = PART // 2  # a part covers a whole piece of half its length, wherever the pieces begin
STANDS_FOR = "(the key)"
LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)  # changes no text's length
LOGS = ("judgerank", "httpx", "httpcore.connection", "httpcore.http11", "httpcore.proxy", "LiteLLM", "asyncio")
ESCAPED = re.compile(r'\\(?:u00([2-7][0-9a-fA-F])|(["\\/]))')  # how JSON can write letters of a key


class Secrets:
    """The keys of a panel.

    A key of fewer than 12 characters is found as a whole word, a longer one by any 12 of its characters in a row,
    in capitals or not.
    """

    def __init__(self, keys: Iterable[str] = ()):
        written = {form for key in keys for form in _forms(key)}
        short = sorted({form for form in written if SHORTEST <= len(form) < PART}, key=len, reverse=True)
        self._short = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, short))})(?!\w)") if short else None
        long = [form.translate(LOWER) for form in written if len(form) >= PART]
        self._parts = {part for form in long for part in _pieces(form, PART)}
        self._pieces = {piece for form in long for piece in _pieces(form, STEP)}

    def blanked(self, text: str) -> str:
        """The text without any key."""
        if self._short is not None:
            text = self._short.sub(STANDS_FOR, text)
        lower = text.translate(LOWER)
        if self._pieces.isdisjoint(lower[begin : begin + STEP] for begin in range(0, len(lower), STEP)):
            return text
        pieces, end = [], 0
        for start, stop in self._key_spans(lower):
            pieces += [text[end:start], STANDS_FOR]
            end = stop
        return "".join([*pieces, text[end:]])

    def _key_spans(self, lower: str) -> Iterator[tuple[int, int]]:
        """Where parts of keys begin and end; those that overlap or touch are one."""
        start = stop = -1
        for begin in range(len(lower) - PART + 1):
            if lower[begin : begin + PART] not in self._parts:
                continue
            if begin > stop:
                if stop >= 0:
                    yield start, stop
                start = begin
            stop = begin + PART
        if stop >= 0:
            yield start, stop

    def blanked_in(self, value: Any) -> Any:
        """What JSON holds, with every text in it cleaned, names of keys among them."""
        if isinstance(value, str):
            return self.blanked(value)
        if isinstance(value, list):
            return [self.blanked_in(part) for part in value]
        if isinstance(value, dict):
            return {self.blanked(name): self.blanked_in(part) for name, part in value.items()}
        return value

    def blanked_body(self, body: bytes) -> bytes:
        """A reply's body without any key: as JSON, as lines of JSON, or as text.

        A body without a key stays as it is, to the byte.
        """
        text = body.replace(b"\0", b"").decode("utf-8", "replace")  # without the zeros UTF-16 reads alike
        plain = ESCAPED.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], text)
        if self.blanked(plain) == plain and self.blanked(text) == text:
            return body
        with suppress(ValueError, RecursionError):
            cleaned = json.dumps(self.blanked_in(json.loads(body)))
            return self.blanked(cleaned).encode()  # once more for a key that is a number
        lines = body.split(b"\n")
        return b"\n".join(map(self.blanked_body, lines)) if len(lines) > 1 else self.blanked(plain).encode()

    def blanked_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """A reply's headers without any key."""
        return {self.blanked(name): self.blanked(value) for name, value in headers.items()}

    @contextmanager
    def out_of_logs(self) -> Iterator[None]:
        """Keep keys out of what is logged meanwhile."""
        logs = [logging.getLogger(name) for name in LOGS]

        def clean(record: logging.LogRecord) -> bool:
            record.msg, record.args = self.blanked(record.getMessage()), ()
            return True

        for log in logs:
            log.addFilter(clean)
        try:
            yield
        finally:
            for log in logs:
                log.removeFilter(clean)


def _forms(key: str) -> Iterator[str]:
    """A key as it can be written: itself, in an address, and in Base64, wherever in a text it begins."""
    yield key
    for safe in ("", "/:+=~"):
        yield quote(key, safe=safe)
    yield unquote(key)
    for before in range(3):
        coded = b64encode(b"\0" * before + key.encode()).decode()
        inner = coded[(before * 8 + 5) // 6 : (before + len(key)) * 8 // 6]  # the letters that are the key's alone
        yield from (inner, inner.replace("+", "-").replace("/", "_"))


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[begin : begin + size] for begin in range(len(text) - size + 1))


# Keys of judges, out of the environment.


def keys(judges: Iterable[Judge]) -> dict[str, str]:
    """The keys out of the environment, by judge.

    Raises
    ------
    ConfigError
        If one is missing, or cannot stand in a request's header.
    """
    keys_by_judge = {}
    for judge in judges:
        name = judge.api_key_env
        if name is None:
            continue
        key = os.environ.get(name)
        if not key:
            raise ConfigError(
                f"the environment variable {name} holds no key for judge {judge.judge!r} "
                "(api_key_env names another variable)"
            )
        if not (key.isascii() and key.isprintable()) or key != key.strip():
            raise ConfigError(
                f"the key in {name} has a character that cannot be sent (a line's end, a blank, no ASCII)"
            )
        keys_by_judge[judge.judge] = key
    return keys_by_judge


def available_keys(judges: Iterable[Judge]) -> list[str]:
    """The keys that the environment holds, where some may be missing."""
    names = {judge.api_key_env for judge in judges} - {None}
    return [os.environ[name] for name in names if name and os.environ.get(name)]
