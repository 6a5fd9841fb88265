"""What is computed once for as long as some comparisons, or a fit, live."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Found = TypeVar("Found")


def remembered(function: Callable[..., Found]) -> Callable[..., Found]:
    """The same function of comparisons (or a fit) and hashable arguments, computed once for as long as these live.

    What it gives must not refer to them, and nobody may change it.
    """
    known: WeakKeyDictionary[Any, dict[tuple[Any, ...], Found]] = WeakKeyDictionary()

    @wraps(function)
    def recalled(of: Any, *arguments: Any) -> Found:
        found = known.setdefault(of, {})
        if arguments not in found:
            found[arguments] = function(of, *arguments)
        return found[arguments]

    return recalled
