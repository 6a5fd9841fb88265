"""What is computed once for as long as some comparisons live."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from judgerank.comparisons import Comparisons

Found = TypeVar("Found")


def remembered(function: Callable[..., Found]) -> Callable[..., Found]:
    """The same function of comparisons and hashable arguments, computed once for as long as the comparisons live.

    What it gives must not refer to the comparisons, and nobody may change it.
    """
    known: WeakKeyDictionary[Comparisons, dict[tuple[Any, ...], Found]] = WeakKeyDictionary()

    @wraps(function)
    def recalled(comparisons: Comparisons, *arguments: Any) -> Found:
        found = known.setdefault(comparisons, {})
        if arguments not in found:
            found[arguments] = function(comparisons, *arguments)
        return found[arguments]

    return recalled
