"""Verdicts in replies, read by contract: a prompt declares one form, and only a reply that ends in it is a vote.

The verdict is the last line of the reply, whole, with nothing after it. Whatever else a reply holds is not read: a
heading, a sentence that prefers an answer, or a verdict in the form of another prompt. A reply that was cut off
counts only if its last line is complete. Two lines in the form that differ are no verdict. Neither is one that the
judge may have copied from what it was shown, unless it is the whole reply. All of these are unknown, not guessed.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import Literal

Kind = Literal["line", "brackets", "label", "json", "ranking"]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LABEL = "verdict"  # what goes before the choice in the form of a label, with the nonce if there is one
# why a reply ended before its model ended it, by the names of OpenAI, Anthropic, Gemini, Inspect, and of servers
# whose model failed
CUT_OFF = (
    *("length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"),
    *("content_filter", "refusal", "safety", "error", "network_error"),
)
FENCE = "```"

_MARKS = r"[*_`]{0,3}"  # Markdown's emphasis
_NUMBER = r"(?P<number>\d{1,3}(?:\.\d{1,6})?|\.\d{1,6}) ?(?P<percent>%?)"
_SIDE = rf"{_MARKS}(?P<side>[abc]){_MARKS}"
_CONFIDENCE = rf" ?, ?{_MARKS}{_NUMBER}{_MARKS}"
_BRACKETS = r"\[\[ ?(?:(?P<side>[abc])|(?P<left>[ab]) ?(?P<sign>>{1,2}|={1,2}|<{1,2}) ?(?P<right>[ab])) ?\]\]"
# MT-Bench and Arena-Hard ask for the brackets alone, or after these words
_LEAD = (
    rf"{_MARKS}(?:(?:my |the )?final verdict(?: is)?{_MARKS}:?{_MARKS} ?)?"
    r"(?:(?:(?P<tie>tie)|(?:assistant )?(?P<named>[ab]) is (?:slightly |significantly |much )?better): ?)?"
)
_RANKED = r"[A-Z](?: ?(?:>|=) ?[A-Z])+"
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,100}>|[*_`]")
_SPACED = re.compile(r" ?([\[\]:]) ?")
_LETTER_ALONE = re.compile(rf"{_SIDE}\.?", re.IGNORECASE)


@dataclass(frozen=True)
class Form:
    """The form in which a request asks for its verdict.

    Attributes
    ----------
    kind : {"line", "brackets", "label", "json", "ranking"}
        ``b, 0.75``; ``[[B]]`` or ``[[B>>A]]``; ``verdict: b``; ``{"choice": "b", "confidence": 0.75}``;
        ``B > A = C``.
    nonce : str
        A word of this request alone that stands in the label: ``verdict-7f3a90c2: b``.
    is_structured : bool
        Whether the request also asks for JSON by a schema, which some servers ignore.
    is_graded : bool
        Whether the judge is asked how much better an answer is.
    texts : tuple of str
        Texts that the judge was shown, from which it may copy a verdict.
    """

    kind: Kind = "line"
    nonce: str = ""
    is_structured: bool = False
    is_graded: bool = False
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What a reply says.

    Attributes
    ----------
    choice : {"a", "b", "c", "unknown"}
        c for a tie.
    confidence : float or None
        From 0 to 1; None where there is none, or it is out of range.
    strength : int or None
        2 if an answer is much better, 1 if it is better; None without a preference, or if it was not asked for.
    ranking : list of list of int, or None
        Places of the answers shown in groups from best to worst, those of a group being tied.
    """

    choice: str = "unknown"
    confidence: float | None = None
    strength: int | None = None
    ranking: tuple[tuple[int, ...], ...] | None = None


UNCLEAR = Verdict()


def read(reply: str, form: Form, finish_reason: str | None = None) -> Verdict:
    """The verdict of a reply in the form that was asked for.

    Parameters
    ----------
    reply : str
    form : Form
    finish_reason : str, optional
        Why the reply ended, as its provider says.
    """
    text = reply.replace("\r\n", "\n")
    was_cut_off = (finish_reason or "").lower() in CUT_OFF
    ends_whole = not was_cut_off or text.endswith(("\n", "]]", "}", FENCE))
    answer, is_complete = without_thoughts(text)
    if not answer or not ends_whole:
        return UNCLEAR
    answer = _without_fence(answer)
    is_one_line = is_complete and "\n" not in answer
    if form.kind == "json" or form.is_structured:
        verdict = _of_json(answer)
        if verdict is not None or form.kind == "json" or not is_one_line:
            return verdict or UNCLEAR
    # a letter that was cut off may be the heading of what comes next
    if form.kind == "line" and is_one_line and not was_cut_off and (alone := _LETTER_ALONE.fullmatch(answer)):
        return Verdict(alone["side"].lower())
    pattern = _line_pattern(form.kind, form.nonce)
    matches = list(pattern.finditer(answer))
    if not matches or matches[-1].end() < len(answer):
        return UNCLEAR
    verdicts = [_of_match(match, form) for match in matches]
    verdict = verdicts[-1]
    if any((other.choice, other.ranking) != (verdict.choice, verdict.ranking) for other in verdicts):
        return UNCLEAR
    is_whole = is_complete and not answer[: matches[0].start()].strip()
    if not is_whole and not form.nonce and verdict in _verdicts_within(form):
        return UNCLEAR
    return verdict


def without_thoughts(reply: str) -> tuple[str, bool]:
    """The reply after the thoughts it opens with, and whether its first line is part of the answer.

    A closing tag that nothing opened may end thoughts or be quoted, so that only the last line is safe to read.
    """
    answer = reply.strip()
    for tag in ("think", "thinking"):
        if answer[: len(tag) + 2].lower() == f"<{tag}>":
            end = answer.lower().find(f"</{tag}>")
            answer = "" if end < 0 else answer[end + len(tag) + 3 :].strip()
    low = answer.lower()
    return answer, "</think" not in low and "<think" not in low


def _without_fence(answer: str) -> str:
    """The reply without a fence around all of it; one after other text may hold what the judge quotes."""
    if not (answer.startswith(FENCE) and answer.endswith(FENCE) and answer.count(FENCE) == 2):
        return answer
    return answer.removesuffix(FENCE).partition("\n")[2].strip() or answer


@cache
def _pattern(kind: Kind, nonce: str) -> str:
    label = re.escape(f"{LABEL}-{nonce}" if nonce else LABEL)
    return {
        "line": _SIDE + _CONFIDENCE,
        "brackets": _BRACKETS,
        "label": rf"{_MARKS}{label}{_MARKS}:{_MARKS} ?{_SIDE}(?:{_CONFIDENCE})?",
        "ranking": rf"(?P<ranked>{_RANKED})",
        "json": "(?!)",
    }[kind]


@cache
def _line_pattern(kind: Kind, nonce: str) -> re.Pattern[str]:
    """A whole line in the form, in Markdown or not."""
    lead = _LEAD if kind == "brackets" else ""
    flags = re.MULTILINE if kind == "ranking" else re.MULTILINE | re.IGNORECASE
    return re.compile(rf"^[ \t]*{lead}{_MARKS}{_pattern(kind, nonce)}{_MARKS}\.?{_MARKS}[ \t]*$", flags)


@cache
def _pattern_within(kind: Kind) -> re.Pattern[str]:
    """The form anywhere in a text."""
    return re.compile(rf"(?<![A-Za-z0-9]){_pattern(kind, '')}(?![A-Za-z0-9])", re.IGNORECASE)


def _verdicts_within(form: Form) -> Iterator[Verdict]:
    """Verdicts that stand anywhere in what the judge was shown, also as a judge may tidy them in a quotation."""
    pattern = _pattern_within(form.kind)
    shown = (version for text in form.texts for version in (text, _tidied(text)))
    return (_of_match(match, form) for text in shown for match in pattern.finditer(text))


def _tidied(text: str) -> str:
    """A text without markup and letters that nobody sees, in plain letters, with single spaces."""
    plain = unicodedata.normalize("NFKC", unescape(_MARKUP.sub("", text)))
    visible = "".join(letter for letter in plain if unicodedata.category(letter) != "Cf")
    return _SPACED.sub(r"\1", " ".join(visible.split()))


def _of_match(match: re.Match[str], form: Form) -> Verdict:
    fields = match.groupdict()
    if form.kind == "ranking":
        return _of_ranking(fields["ranked"].upper())
    if form.kind == "brackets":
        return _of_brackets(fields, form.is_graded)
    return Verdict(fields["side"].lower(), _confidence(fields))


def _of_ranking(ranked: str) -> Verdict:
    """A ranking, which has every letter up to its last once."""
    groups = ranked.replace(" ", "").split(">")
    positions = tuple(tuple(sorted(LETTERS.index(letter) for letter in group.split("="))) for group in groups)
    is_complete = sorted(position for group in positions for position in group) == list(
        range(sum(map(len, positions)))
    )
    return Verdict(ranking=positions) if is_complete else UNCLEAR


def _of_brackets(fields: dict[str, str | None], is_graded: bool) -> Verdict:
    """The verdict of MT-Bench (``[[A]]``) or Arena-Hard (``[[A>>B]]``), unless the words before it differ."""
    sign, left, right = fields["sign"] or "", (fields["left"] or "").lower(), (fields["right"] or "").lower()
    if sign and left == right:
        return UNCLEAR
    choice = (fields["side"] or (left if sign[:1] == ">" else right if sign[:1] == "<" else "c")).lower()
    named = "c" if fields.get("tie") else (fields.get("named") or choice).lower()
    if named != choice:
        return UNCLEAR
    strength = (2 if len(sign) == 2 else 1) if is_graded and choice != "c" else None
    return Verdict(choice, None, strength)


def _of_json(answer: str) -> Verdict | None:
    """The verdict of a reply that is one JSON object; None if it is none, or says a thing twice."""
    if not (answer.startswith("{") and answer.endswith("}")):
        return None
    try:
        fields = json.loads(answer, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        return None
    choice = fields.get("choice")
    if not isinstance(choice, str) or choice.lower() not in ("a", "b", "c"):
        return None
    confidence = fields.get("confidence")
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    return Verdict(choice.lower(), float(confidence) if is_number and 0 <= confidence <= 1 else None)


def _each_once(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    pairs = list(pairs)
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key is there twice")
    return fields


def _confidence(fields: dict[str, str | None]) -> float | None:
    number = fields.get("number")
    if not number:
        return None
    value = float(number) / (100 if fields["percent"] else 1)
    return value if 0 <= value <= 1 else None
