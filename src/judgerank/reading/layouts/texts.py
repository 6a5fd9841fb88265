"""Texts without the differences that readers do not see, and names of columns without those that people make."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set
from functools import lru_cache

import pandas as pd

INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|[\s_.-]+")  # where the words of a name meet


def visible(text: str) -> str:
    """A text without what no reader sees: blanks around it, zero-width characters, another form of Unicode."""
    if text.isascii():
        return text.strip()
    return unicodedata.normalize("NFC", text.translate(INVISIBLE)).strip()


@lru_cache(maxsize=1 << 16)
def seen(text: str) -> str:
    """A key that is the same for texts that look the same."""
    return " ".join(visible(text).split())


def is_whole(text: str) -> bool:
    """Whether a text can be written: JSON may hold a half of a character, which is none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=1 << 16)
def plain(name: str) -> str:
    """A column's name without case, and with one sign for blanks, hyphens, points and underscores."""
    text = unicodedata.normalize("NFKC", name).translate(INVISIBLE).strip()
    return WORDS.sub("_", text).casefold().strip("_")


# The texts that were judged, where a table has them beside the judgments: for reading, never for fitting.
MOST_RECORDS = 20_000  # of longer tables no page shows every text, and they take much memory
ANSWERS = (
    *(("answer_a", "answer_b"), ("response_a", "response_b")),
    *(("response1", "response2"), ("output_1", "output_2")),
)
QUESTIONS = ("question_text", "question", "prompt", "instruction")
QUESTION, FIRST, SECOND = "question_text", "answer_a", "answer_b"


def texts_in(table: pd.DataFrame, used: Set[str]) -> dict[str, str]:
    """Columns of texts by what they become: `FIRST` and `SECOND`, and `QUESTION` unless it is used otherwise.

    Parameters
    ----------
    table : DataFrame
    used : set of str
        Columns that are read as something else.
    """
    if len(table) > MOST_RECORDS:
        return {}
    pair = next((pair for pair in ANSWERS if all(_is_text(table, name) for name in pair)), None)
    if pair is None or used & {*pair}:
        return {}
    question = next((name for name in QUESTIONS if name not in used and _is_text(table, name)), None)
    return dict(zip((FIRST, SECOND), pair, strict=True)) | ({} if question is None else {QUESTION: question})


def _is_text(table: pd.DataFrame, name: str) -> bool:
    """Whether there is one column of that name, and its first value that is there is a text."""
    if list(table.columns).count(name) != 1:
        return False
    present = table[name].dropna()
    return len(present) > 0 and isinstance(present.iloc[0], str)
