"""Inputs and outputs of platforms, which may be anything in JSON, as texts."""

from __future__ import annotations

from collections.abc import Mapping

from judgerank.reading.answers.transcripts import Messages, answered, are_messages, asked, written


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
