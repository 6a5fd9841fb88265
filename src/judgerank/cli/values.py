"""Checks of the numbers and names that options are given; nothing is loaded for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from difflib import get_close_matches

import typer


def between(low: float, high: float) -> Callable[[float | None], float | None]:
    """Check of a number that must lie between two others, neither of which it may be."""

    def check(value: float | None) -> float | None:
        if value is not None and not low < value < high:
            top = f"between {low:g} and {high:g}" if math.isfinite(high) else f"finite and above {low:g}"
            raise typer.BadParameter(f"{value:g} is out of range: it must be {top}.")
        return value

    return check


def finite(value: float | None) -> float | None:
    """Check of a number that has a range already: this one is not passed by what is no number, or infinite."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value:g} is out of range: it must be finite.")
    return value


def named(pairs: Iterable[str] | None, allowed: Iterable[str]) -> dict[str, str | None]:
    """``KEY=NAME`` as a mapping; ``null`` names nothing."""
    allowed, values = list(allowed), {}
    for pair in pairs or ():
        key, equals, name = pair.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{pair!r} is not KEY=NAME.", param_hint="'--column'")
        if key not in allowed:
            nearest = get_close_matches(key, allowed, 1, 0.0)[0]
            raise typer.BadParameter(
                f"there is no key {key!r}; the nearest known one is {nearest!r}.", param_hint="'--column'"
            )
        values[key] = None if name == "null" else name
    return values
