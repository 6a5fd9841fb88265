"""Validate settings from YAML files and the command line; each fault is reported in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from judgerank.data.errors import ConfigError, DataUnavailableError

OUR_WORDS = ("Value error, ", "")  # what pydantic puts before a sentence of ours


class Settings(BaseModel):
    """Nothing is converted, infinite or unknown."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _require_known_keys(cls, values: Any) -> Any:
        unknown = [key for key in values if key not in cls.model_fields] if isinstance(values, dict) else []
        if unknown:
            nearest = get_close_matches(str(unknown[0]), list(cls.model_fields), 1, 0.0)[0]
            raise ValueError(f"there is no key {str(unknown[0])!r}; the nearest known one is {nearest!r}")
        return values


Checked = TypeVar("Checked", bound=Settings)


def checked(schema: type[Checked], values: Mapping[str, Any], where: str = "") -> Checked:
    """Settings from plain values.

    Raises
    ------
    ConfigError
        Naming the first key at fault; never its text, which might be a key of another kind.
    """
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
    key = "".join(f" no. {part + 1}" if isinstance(part, int) else f".{part}" for part in first["loc"])
    value = first["input"] if isinstance(first["input"], int | float) else None
    key = key.lstrip(".") + (f"={value:g}" if value is not None and key else "")
    message = first["msg"].replace(*OUR_WORDS)
    message = message[0].lower() + message[1:]
    raise ConfigError(": ".join(part for part in (where, key, message) if part))


def read_settings(schema: type[Checked], path: Path) -> Checked:
    """Settings from a YAML file.

    Raises
    ------
    DataUnavailableError
        If there is no such file, or it cannot be read.
    ConfigError
        Naming the file, and the key or the line at fault.
    """
    return checked(schema, read_keys(path, schema.model_fields), path.name)


def read_keys(path: Path, such_as: Iterable[str]) -> dict[str, Any]:
    """The keys of a YAML file and what they hold.

    Raises
    ------
    DataUnavailableError
        If there is no such file, or it cannot be read.
    ConfigError
        Naming the file, and the line at fault.
    """
    try:
        values = keys_of(path.read_text(encoding="utf-8"), path.name)
    except OSError as error:
        raise DataUnavailableError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path.name}: this is not UTF-8 text (byte {error.start + 1})") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path.name}: there are no keys, such as {', '.join(such_as)}")
    return values


def keys_of(text: str, where: str) -> Any:
    """What a YAML text holds.

    Raises
    ------
    ConfigError
        Naming the line at fault.
    """
    try:
        return yaml.load(text, _Loader)
    except (
        yaml.YAMLError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:  # of odd keys, numbers, days and depths
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1}: {getattr(error, 'problem', '')})" if mark else ""
        raise ConfigError(f"{where}: this is not YAML{line}") from None


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml comes without types
    """Refuses a key that is there twice: the usual one keeps the last, and says nothing."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, "a key is there twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


# What settings may hold, as they are stored with the judgments: places and parameters, and no keys.
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
