"""What settings may hold, as they are stored with the judgments: places and parameters, and no keys."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from judgerank.data.errors import ConfigError

# names of parameters that hold a key, and texts that are one
NAMED = re.compile(
    r"(api|access|auth|secret|private)[-_ ]?(key|token)|authorization|password|credential|bearer", re.I
)
LOOKS = re.compile(r"\bbearer\s+\S{8}|\b(sk|pk|gsk|xai|hf|r8)[-_][A-Za-z0-9_-]{16}|\bAIza[\w-]{20}", re.I)


def require_plain(url: str | None) -> str | None:
    """The address, unless it is none or carries more than a place: it is stored with the judgments.

    Raises
    ------
    ConfigError
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        plain = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        plain = False
    if not plain:
        raise ConfigError("this is not an address such as http://localhost:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"the address of {parts.hostname} carries more than a place (user, password or query): it would be "
            "stored with the judgments; put the key into the environment (api_key_env: NAME)"
        )
    return url


def require_no_key(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters, unless one of them holds a key.

    Raises
    ------
    ConfigError
        Naming the parameter, and never its text.
    """
    for name, value in params.items():
        inner = value if isinstance(value, list) else [value]
        for part in inner:
            if isinstance(part, dict):
                require_no_key(part)
        if NAMED.search(name) or any(isinstance(part, str) and LOOKS.search(part) for part in (name, *inner)):
            called = "a parameter" if LOOKS.search(name) else repr(name)
            raise ConfigError(
                f"{called} seems to hold a key, which would be stored with the judgments; put the key into the "
                "environment (api_key_env: NAME)"
            )
    return params
