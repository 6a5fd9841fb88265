"""Texts without the differences that readers do not see, and names of columns without those that people make."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

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
