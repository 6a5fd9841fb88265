"""The blocks there are, one module each: its function `block` takes names of columns and returns blocks."""

from __future__ import annotations

from functools import cache
from pkgutil import iter_modules


@cache
def known() -> tuple[str, ...]:
    """Names of the blocks that come with the library."""
    return tuple(sorted(module.name for module in iter_modules(__path__)))
