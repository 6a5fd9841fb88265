"""What a judge answered, out of litellm's response: text, who answered, tokens, probabilities of the letters."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from judgerank.collecting.replies import CUT_OFF

CHOICES = ("a", "b", "c")
PARTS = ("text", "output_text")  # of a message, beside thoughts
FILTERED = ("content_filter", "refusal")  # reasons for the end of a reply, by litellm's names


@dataclass(frozen=True)
class Reply:
    """What a judge answered; tokens are None where it is not told how many.

    Of the prompt's tokens, `cached` were read from the provider's cache and `cache_written` were put into it.
    """

    text: str
    model: str | None
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    letters: tuple[str, Mapping[str, float]] | None  # the letter said, and log-probabilities of all
    refusal: str | None = None  # why it does not judge, where it or its provider says so
    cached: int = 0
    cache_written: int = 0
    asked_without: frozenset[str] = frozenset()  # what its server refused before (`refusals`)
    reply_id: str | None = None  # by which its server tells it from other replies

    def letters_for(self, choice: str) -> dict[str, float] | None:
        """Log-probabilities of the letters, if the one that was said is the choice."""
        return dict(self.letters[1]) if self.letters and self.letters[0] == choice else None


def reply_of(answer: Any) -> Reply:
    """The reply in litellm's response.

    Raises
    ------
    TypeError, LookupError, AttributeError
        If it is none.
    """
    choice = answer.choices[0]
    text = text_of(choice.message.content)
    used = getattr(answer, "usage", None)
    prompt, completion = (_tokens(getattr(used, f"{part}_tokens", None)) for part in ("prompt", "completion"))
    untold = not prompt  # litellm puts zero for what it is not told, and no request has none
    reason = _reason(choice)
    details = getattr(used, "prompt_tokens_details", None)
    return Reply(
        without_surrogates(text or ""),
        _name(answer.model),
        reason,
        None if untold else prompt,
        None if untold else completion,
        letters_of(getattr(choice, "logprobs", None)),
        refusal_of(choice.message, reason, text or ""),
        min(_tokens(getattr(details, "cached_tokens", None)) or 0, prompt or 0),
        min(_tokens(getattr(used, "cache_creation_input_tokens", None)) or 0, prompt or 0),
    )


def _reason(choice: Any) -> str | None:
    """Why the reply ended; litellm calls some ends a stop that cut it off, and all that it does not know."""
    fields = getattr(choice, "provider_specific_fields", None)
    told = _name(fields.get("native_finish_reason")) if isinstance(fields, dict) else None
    is_cut = told is not None and told.lower() in CUT_OFF
    return told if is_cut and choice.finish_reason == "stop" else _name(choice.finish_reason)


def text_of(content: Any) -> str | None:
    """The text of a message, which some servers send in parts, thoughts among them.

    Raises
    ------
    TypeError, LookupError, AttributeError
        If it is no text.
    """
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise TypeError("a message that is not text")
    texts = [part["text"] for part in content if part["type"] in PARTS]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a part of a message that is not text")
    return "".join(texts)


def refusal_of(message: Any, reason: str | None, text: str) -> str | None:
    """What is said instead of a judgment, or the reason alone; None where it is no refusal.

    OpenAI's models say it in a field of their own, Anthropic's end with that reason, and a provider's filter cuts
    the reply off.
    """
    provider_fields = getattr(message, "provider_specific_fields", None)
    refusal = getattr(message, "refusal", None) or (
        provider_fields.get("refusal") if isinstance(provider_fields, dict) else None
    )
    if isinstance(refusal, str) and refusal:
        return without_surrogates(refusal)
    return (text.strip() and without_surrogates(text)) or reason if reason in FILTERED else None


def letters_of(logprobs: Any) -> tuple[str, dict[str, float]] | None:
    """The last token that is a, b or c, and the log-probabilities of each there; None where none are told.

    A reply of a letter alone, of JSON and of ``[[A]]`` have their verdict there.
    """
    for token in reversed(getattr(logprobs, "content", None) or ()):
        chosen_letter = _letter(token.token)
        if chosen_letter is None:
            continue
        log_probabilities: dict[str, float] = {}
        for alternative in (token, *(token.top_logprobs or ())):
            letter = _letter(alternative.token)
            if letter and math.isfinite(alternative.logprob):
                log_probabilities.setdefault(
                    letter, float(alternative.logprob)
                )  # the likeliest spelling comes first
        return (chosen_letter, log_probabilities) if log_probabilities else None
    return None


def _letter(token: object) -> str | None:
    text = token.strip(" [\"'(").lower() if isinstance(token, str) else ""
    return text if text in CHOICES else None


def without_surrogates(text: str) -> str:
    """The text with half characters (lone surrogates), which no file can hold, replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _name(name: object) -> str | None:
    return without_surrogates(name) if isinstance(name, str) and name else None


def _tokens(count: object) -> int | None:
    """A number of tokens, or None if it is none."""
    if isinstance(count, bool) or not isinstance(count, int | float):
        return None
    return int(count) if 0 <= count < 1e12 else None


# What can go wrong with a request, and how long the server asks to wait.


class AttemptFailed(Exception):
    """An attempt failed in a way that another may not; `paid` if the server may have charged for it."""

    def __init__(self, kind: str, message: str = "", wait: float | None = None, paid: bool = False):
        super().__init__(kind)
        self.kind, self.message, self.wait, self.paid = kind, message, wait, paid


class Refused(Exception):
    """The server will not answer this request, however often it is sent."""

    def __init__(self, kind: str, message: str = ""):
        super().__init__(kind)
        self.kind, self.message = kind, message


class JudgeRefused(Refused):
    """The server will not answer any request to this judge."""


_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE]\+?[0-9]+)?")  # not all that Python takes for a number


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait; None if it does not.

    It says so in milliseconds (``retry-after-ms``), in seconds or as a date (``retry-after``, RFC 9110).
    """
    lowered_headers = {name.lower(): value.strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(_SECONDS.fullmatch(lowered_headers.get(name, ""))[0]) * unit  # type: ignore[index]
        except TypeError:  # it is no number
            continue
        if seconds < float("inf"):
            return seconds
    try:
        return max(0.0, parsedate_to_datetime(lowered_headers.get("retry-after", "")).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
