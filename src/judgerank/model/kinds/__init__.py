"""The blocks there are, one module each: its function `block` takes names of columns and returns blocks."""

from __future__ import annotations

from functools import cache

from judgerank.data.modules import names_in


@cache
def known() -> tuple[str, ...]:
    """Names of the blocks that come with the library."""
    return names_in(__path__)
