"""A file of values that would take long to find again, one file for each kind of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

LARGEST = 5000  # entries


class JsonCache:
    """Plain values by key, in memory and in a file that any other run may use.

    Parameters
    ----------
    path : Path
    valid_for : str
        What all values depend on besides their keys; a file with another one is dropped.
    """

    def __init__(self, path: Path, valid_for: str):
        self.path, self.valid_for = path, valid_for
        self._new: set[str] = set()

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        """The value of a key, computed if there is none."""
        if key not in self._values:
            self._values[key] = compute()
            self._new.add(key)
        return self._values[key]

    def save(self) -> None:
        """Write the file if there is anything new; a cache that cannot be written is none."""
        if not self._new:
            return
        names = self._values if len(self._values) < LARGEST else self._new
        content = {"valid_for": self.valid_for, "values": {name: self._values[name] for name in names}}
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}.partial")
        with suppress(OSError):
            self.path.parent.mkdir(exist_ok=True)
            partial.write_text(json.dumps(content))
            partial.replace(self.path)
        self._new.clear()

    @cached_property
    def _values(self) -> dict[str, Any]:
        with suppress(OSError, ValueError, AttributeError):
            stored = json.loads(self.path.read_text())
            if stored.get("valid_for") == self.valid_for:
                return dict(stored["values"])
        return {}
