"""The blocks there are, one module each: its function `block` takes names of columns and returns blocks."""

from __future__ import annotations

from pkgutil import iter_modules


def known() -> list[str]:
    """Names of the blocks that come with the library."""
    return sorted(module.name for module in iter_modules(__path__))
