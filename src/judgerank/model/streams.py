"""Random numbers that do not depend on the order in which they are drawn."""

from __future__ import annotations

import zlib

import numpy as np


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A generator keyed by names, so that no stream depends on the order in which others are drawn."""
    key = tuple(int(name) if isinstance(name, int | np.integer) else zlib.crc32(name.encode()) for name in names)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
