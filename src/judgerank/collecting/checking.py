"""Validate settings from YAML files and the command line; each fault is reported in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from judgerank.data.errors import ConfigError, DataUnavailableError

OUR_WORDS = ("Value error, ", "")  # what pydantic puts before a sentence of ours


class Settings(BaseModel):
    """Nothing is converted, infinite or unknown."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        unknown = [key for key in values if key not in cls.model_fields] if isinstance(values, dict) else []
        if unknown:
            near = get_close_matches(str(unknown[0]), list(cls.model_fields), 1, 0.0)[0]
            raise ValueError(f"there is no key {str(unknown[0])!r}; the nearest known one is {near!r}")
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
    given = first["input"] if isinstance(first["input"], int | float) else None
    key = key.lstrip(".") + (f"={given:g}" if given is not None and key else "")
    said = first["msg"].replace(*OUR_WORDS)
    said = said[0].lower() + said[1:]
    raise ConfigError(": ".join(part for part in (where, key, said) if part))


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
    except yaml.YAMLError as error:
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
