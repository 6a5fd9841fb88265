"""Cache results on the comparisons or the fit that they were computed from."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from html import escape
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import pandas as pd

from judgerank.data.listing import shortened

Result = TypeVar("Result")


def remembered(function: Callable[..., Result]) -> Callable[..., Result]:
    """Cache a function of comparisons (or a fit) and hashable arguments, for as long as its first argument lives.

    A result must not refer to that argument, and must be treated as read-only.
    """
    cache: WeakKeyDictionary[Any, dict[tuple[Any, ...], Result]] = WeakKeyDictionary()

    @wraps(function)
    def recalled(of: Any, *arguments: Any) -> Result:
        cached = cache.setdefault(of, {})
        if arguments not in cached:
            cached[arguments] = function(of, *arguments)
        return cached[arguments]

    return recalled


# Representations of results: one line as text, a line and a table in a notebook.
MOST = 20  # rows of a table in a notebook


class Shown:
    """A record that says in a line what it holds, and has a table for a notebook."""

    def _line(self) -> str:
        raise NotImplementedError

    def _table(self) -> pd.DataFrame:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shortened(self._line())}>"

    def _repr_html_(self) -> str:
        markup = self._table().to_html(
            index=False, float_format="{:.3f}".format, na_rep="", max_rows=MOST, border=0
        )
        return f"<div>\n<p>{escape(self._line())}</p>\n{markup}\n</div>"
