"""Format names and numbers in a sentence: long lists, long names, counts, p-values."""

from __future__ import annotations

from collections.abc import Iterable

LISTED = 8  # names in a sentence
LONGEST = 80  # characters of a name in it


def listed(names: Iterable[str], max_shown: int | None = None) -> str:
    """The first few of some names, of which there are so `many` if not all are given."""
    names = list(names)
    max_shown = len(names) if max_shown is None else max_shown
    rest = f" and {max_shown - LISTED:,} more" if max_shown > LISTED else ""
    return ", ".join(map(shortened, names[:LISTED])) + rest


def shortened(name: object, longest: int = LONGEST) -> str:
    """A name on one line, cut in the middle where it is longer than a reader needs: versions stand at the end."""
    text = str(name)
    if len(text) <= longest:
        return " ".join(text.split())
    end = " ".join(text[-(longest // 3) :].split())
    return f"{' '.join(text[:longest].split())[: longest - 3 - len(end)]}...{end}"


def noun(number: float, singular: str) -> str:
    """A noun as it stands after a number."""
    return singular if number == 1 else f"{singular}s"


def counted(number: float, singular: str) -> str:
    """A number of things, with their noun."""
    return f"{number:,.0f} {noun(number, singular)}"


def percent(share: float) -> str:
    """A share in percent, to as many digits as matter: 0.56%, 2.5%, 14%."""
    return f"{share:.2%}" if share < 0.01 else f"{share:.1%}" if share < 0.1 else f"{share:.0%}"


def p_of(value: float) -> str:
    """A p-value, with its sign."""
    return "< 0.0001" if value < 1e-4 else f"= {value:.4f}"
