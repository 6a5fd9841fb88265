"""Keys of judges, out of the environment."""

from __future__ import annotations

import os
from collections.abc import Iterable

from judgerank.collecting.settings import Judge
from judgerank.data.errors import ConfigError


def keys(judges: Iterable[Judge]) -> dict[str, str]:
    """The keys out of the environment, by judge.

    Raises
    ------
    ConfigError
        If one is missing, or cannot stand in a request's header.
    """
    found = {}
    for judge in judges:
        name = judge.api_key_env
        if name is None:
            continue
        key = os.environ.get(name)
        if not key:
            raise ConfigError(
                f"the environment variable {name} holds no key for judge {judge.judge!r} "
                "(api_key_env names another variable)"
            )
        if not (key.isascii() and key.isprintable()) or key != key.strip():
            raise ConfigError(
                f"the key in {name} has a character that cannot be sent (a line's end, a blank, no ASCII)"
            )
        found[judge.judge] = key
    return found


def keys_there_are(judges: Iterable[Judge]) -> list[str]:
    """The keys that the environment holds, where some may be missing."""
    names = {judge.api_key_env for judge in judges} - {None}
    return [os.environ[name] for name in names if name and os.environ.get(name)]
