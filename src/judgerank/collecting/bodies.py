"""A server's JSON before a client library sees it: its depth, whose reply it is, and usage that can be counted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

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
        By which its server tells it from other replies.
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
