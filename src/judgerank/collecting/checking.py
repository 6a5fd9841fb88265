"""Validate settings from YAML files and the command line; each fault is reported in one sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from yaml.reader import ReaderError

from judgerank.collecting.bounded_yaml import LARGEST, load
from judgerank.data.errors import ConfigError, DataUnavailableError

LARGEST_INTEGER = 2**63  # in JSON that every server reads
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
    key = key.lstrip(".") + (_shown(first["input"]) if key else "")
    message = first["msg"].replace(*OUR_WORDS)
    message = message[0].lower() + message[1:]
    raise ConfigError(": ".join(part for part in (where, key, message) if part))


def _shown(value: Any) -> str:
    """A number at fault; nothing for a text, which might be a key of another kind, or for digits without end."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"={value:g}" if is_number and not abs(value) > LARGEST_INTEGER else ""


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
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ConfigError(f"{path.name}: settings have no more than {LARGEST:,} bytes")
        values = keys_of(content.decode("utf-8"), path.name)
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
        return load(text)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{where}: line {line} has a character that YAML cannot, {error.character:#x}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        parts = [f"line {mark.line + 1}" if mark else "", getattr(error, "problem", None) or ""]
        place = ": ".join(part for part in parts if part)
        raise ConfigError(f"{where}: this is not YAML for settings{place and f' ({place})'}") from None


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
    """The parameters, unless one of them holds a key, or what no request of JSON can.

    Raises
    ------
    ConfigError
        Naming the parameter, and never its text.
    """
    for name, value in _within("", params):
        if NAMED.search(name) or any(isinstance(part, str) and LOOKS.search(part) for part in (name, value)):
            called = "a parameter" if LOOKS.search(name) else repr(name)
            raise ConfigError(
                f"{called} seems to hold a key, which would be stored with the judgments; put the key into the "
                "environment (api_key_env: NAME)"
            )
        if not _is_json(value):
            raise ConfigError(f"{name!r} holds a value that JSON cannot")
    return params


def _within(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every key with nothing, then every value with the nearest key that it stands under."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield str(key), None
            yield from _within(str(key), part)
    elif isinstance(value, list):
        for part in value:
            yield from _within(name, part)
    else:
        yield name, value


def _is_json(value: Any) -> bool:
    """Whether a text, a number or another single value can stand in JSON that every server reads."""
    if isinstance(value, str):
        return value == value.encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, int) and abs(value) <= LARGEST_INTEGER)
