"""The panel of judges, out of a file and of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from judgerank.collecting.checking import checked, keys_of, read_keys
from judgerank.collecting.settings import Panel


def read_panel(path: Path | None, more: Iterable[str]) -> Panel:
    """The judges of a file, if there is one, and those described each in one line of the same keys.

    Raises
    ------
    ConfigError
        Naming the key, or the line at fault.
    """
    values: dict[str, Any] = read_keys(path, Panel.model_fields) if path else {}
    described = [_judge(text) for text in more]
    if described:
        listed = values.get("judges", [])
        values = values | {"judges": [*(listed if isinstance(listed, list) else []), *described]}
    return checked(Panel, values, path.name if path else "")


def _judge(text: str) -> Any:
    """One judge; a name alone is a judge of the panel's server."""
    keys = keys_of(f"{{{text}}}", f"judge {text!r}")
    if isinstance(keys, dict) and list(keys.values()) == [None]:
        return {"judge": text}
    return keys
