"""Format names and numbers in a sentence: long lists, long names, counts, p-values."""

from __future__ import annotations

from collections.abc import Iterable

LISTED = 8  # names in a sentence
LONGEST = 80  # characters of a name in it


def listed(names: Iterable[str], many: int | None = None) -> str:
    """The first few of some names, of which there are so `many` if not all are given."""
    names = list(names)
    many = len(names) if many is None else many
    rest = f" and {many - LISTED:,} more" if many > LISTED else ""
    return ", ".join(map(shortened, names[:LISTED])) + rest


def shortened(name: object, longest: int = LONGEST) -> str:
    """A name on one line, cut where it is longer than a reader needs."""
    text = str(name)
    start = " ".join(text[: longest + 1].split())
    return start if len(text) <= longest else f"{start[: longest - 3]}..."


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where there is not one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def p_of(value: float) -> str:
    """A p-value, with its sign."""
    return "< 0.0001" if value < 1e-4 else f"= {value:.4f}"
