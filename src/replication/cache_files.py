"""Files of what would take long to compute again: values by key, and blocks of finished replications."""

from __future__ import annotations

import hashlib
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


# Files of finished replications: each is written as a unit, and known to be complete when it is read.


def write_block(path: Path, lines: str) -> None:
    """Write a block whole or not at all, under a first line with its length and checksum.

    The checksum covers the file's own place in the cache, so that a block is not taken for another.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial")  # several runs may share a cache
    content = lines.encode()
    with partial.open("wb") as file:
        file.write(_header(path, content) + content)
        file.flush()
        os.fsync(file.fileno())
    try:
        partial.replace(path)
    except FileNotFoundError:  # swept by another run of the study, which has then written the block itself
        if not path.exists():
            raise


def read_block(path: Path) -> list[dict] | None:
    """A block's records, or None where the file is not what was written."""
    header, _, content = path.read_bytes().partition(b"\n")
    if header + b"\n" != _header(path, content):
        return None
    return [json.loads(line) for line in content.splitlines()]


def _header(path: Path, content: bytes) -> bytes:
    block_path = f"{path.parent.parent.name}/{path.parent.name}/{path.name}\n"
    checksum = hashlib.sha256(block_path.encode() + content).hexdigest()
    return json.dumps({"bytes": len(content), "sha256": checksum}).encode() + b"\n"
