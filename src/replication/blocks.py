"""Files of finished replications: each is written whole, and known to be whole when it is read."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path


def write(path: Path, lines: str) -> None:
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


def read(path: Path) -> list[dict] | None:
    """A block's records, or None where the file is not what was written."""
    header, _, content = path.read_bytes().partition(b"\n")
    if header + b"\n" != _header(path, content):
        return None
    return [json.loads(line) for line in content.splitlines()]


def _header(path: Path, content: bytes) -> bytes:
    block_path = f"{path.parent.parent.name}/{path.parent.name}/{path.name}\n"
    checksum = hashlib.sha256(block_path.encode() + content).hexdigest()
    return json.dumps({"bytes": len(content), "sha256": checksum}).encode() + b"\n"
