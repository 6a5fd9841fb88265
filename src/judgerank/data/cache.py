"""Cache results on the comparisons or the fit that they were computed from."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Found = TypeVar("Found")


def remembered(function: Callable[..., Found]) -> Callable[..., Found]:
    """Cache a function of comparisons (or a fit) and hashable arguments, for as long as its first argument lives.

    A result must not refer to that argument, and must be treated as read-only.
    """
    cache: WeakKeyDictionary[Any, dict[tuple[Any, ...], Found]] = WeakKeyDictionary()

    @wraps(function)
    def recalled(of: Any, *arguments: Any) -> Found:
        cached = cache.setdefault(of, {})
        if arguments not in cached:
            cached[arguments] = function(of, *arguments)
        return cached[arguments]

    return recalled
