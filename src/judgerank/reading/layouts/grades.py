"""How much better an answer is, as people and judges write it: words, signs and numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.strengths import MOST_STRENGTHS

KEPT = 1 << 12  # texts of which what they say is kept
SLIGHTLY, BETTER, MUCH, VERY_MUCH = range(4)
WORDS = {
    **dict.fromkeys(("slightly", "slight", "weak", "weakly", "marginally", "a little", "a bit"), SLIGHTLY),
    **dict.fromkeys(("", "somewhat", "moderately", "moderate"), BETTER),
    **dict.fromkeys(("much", "strongly", "strong", "significantly", "clearly", "a lot"), MUCH),
    **dict.fromkeys(("very much", "far", "overwhelmingly", "vastly"), VERY_MUCH),
}
ENDING = re.compile(r"(.*?)\s*\b(?:better|preferred)")
SIGN = re.compile(r"(a|b)(>+|<+)(a|b)")
NUMBER = re.compile(r"[+-]?\d+(?:\.0*)?")


@lru_cache(maxsize=KEPT)
def grade(text: str) -> float | str | None:
    """The strength in a normal text: a number, a grade's word as `WORDS` has it, or None."""
    if NUMBER.fullmatch(text):
        return abs(float(text))
    if re.fullmatch(r">+", text):
        return float(len(text))
    end = ENDING.fullmatch(text)
    plain = text if end is None else end[1]
    return plain if plain in WORDS and (plain or end) else None


def degrees(texts: Iterable[str]) -> FloatArray:
    """Strengths of normal texts from one up, NaN where there is none, shape (T,).

    *Slightly better* is one and *better* two where both are there; else both are one, and *much better* is two.
    """
    grades = [grade(text) for text in texts]
    both = {SLIGHTLY, BETTER} <= {WORDS[value] for value in grades if isinstance(value, str)}
    strengths = [_degree(value, both) for value in grades]
    return np.array(strengths, float)


def _degree(value: float | str | None, both: bool) -> float:
    if isinstance(value, str):
        return float(max(WORDS[value], BETTER) + (both and WORDS[value] > SLIGHTLY))
    return np.nan if value is None or not 1 <= value <= MOST_STRENGTHS else value


@lru_cache(maxsize=KEPT)
def of_verdict(text: str) -> str | None:
    """The part of a winner's normal text that says how much better it is; None if nothing does.

    Such as ``>>`` of ``a>>b``, ``slightly better`` of ``a is slightly better``, and ``3`` of ``-3``.
    """
    signs = SIGN.fullmatch(text)
    if signs is not None:
        return signs[2].replace("<", ">") if signs[1] != signs[3] else None
    phrase = PHRASE.fullmatch(text)
    if phrase is not None:
        return f"{phrase[2] or ''} better".strip()
    return text.lstrip("+-") if NUMBER.fullmatch(text) else None


def side_of_phrase(text: str) -> str | None:
    """The letter of a winner in a phrase such as ``response 1 is much better``."""
    phrase = PHRASE.fullmatch(text)
    return None if phrase is None else {"a": "a", "1": "a", "b": "b", "2": "b"}[phrase[1]]


def side_of_signs(text: str) -> str | None:
    """The letter of the winner of a verdict such as ``a>>>b``."""
    signs = SIGN.fullmatch(text)
    if signs is None or signs[1] == signs[3]:
        return None
    return signs[1] if signs[2][0] == ">" else signs[3]


def are_signed(values: Collection[float]) -> bool:
    """Whether numbers are strengths with a sign for either model: whole, some below zero, not all within one."""
    are_integers = all(float(value).is_integer() and abs(value) <= MOST_STRENGTHS for value in values)
    return are_integers and min(values, default=0.0) < 0 and max(map(abs, values), default=0.0) > 1


_KINDS = r"(?:(?:model|assistant|response|answer|output|candidate|option|system) ?)?"
_GRADES = "|".join(sorted(filter(None, WORDS), key=len, reverse=True))
PHRASE = re.compile(rf"{_KINDS}(a|b|1|2)(?: is)? (?:({_GRADES}) )?better(?: than {_KINDS}(?:a|b|1|2))?")
