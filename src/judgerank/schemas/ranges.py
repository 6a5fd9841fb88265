"""What a type does not say of a setting: its range, and that it is one at all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, is_dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Any, get_type_hints

from omegaconf import MISSING, DictConfig, OmegaConf

from judgerank.errors import ConfigError

RANGE = "range"


def within(low: float, high: float, default: Any = MISSING, *, ends: bool = True) -> Any:
    """A field of a schema whose value, or each of whose values, lies from `low` to `high`; null is none.

    Parameters
    ----------
    ends : bool
        Whether `low` and `high` themselves are allowed.
    """
    if isinstance(default, list):
        return field(default_factory=lambda: list(default), metadata={RANGE: (low, high, ends)})
    return field(default=default, metadata={RANGE: (low, high, ends)})


def require_known_and_in_range(cfg: DictConfig, schema: type) -> None:
    """Refuse keys that a schema does not have (hydra lets ``+key=`` add them), and numbers out of range.

    Numbers of a part without a schema of its own, such as the solver's, are from zero up; none is infinite.

    Raises
    ------
    ConfigError
        Naming the key at fault, and of an unknown one the nearest that is known.
    """
    values = OmegaConf.to_container(cfg, resolve=True)
    _require(values, schema, "", set(_paths(values, schema, "")))


def _require(values: Mapping[str, Any], schema: type, prefix: str, known: set[str]) -> None:
    types = get_type_hints(schema)
    of_schema = {one.name: one for one in fields(schema)}
    for key, value in values.items():
        path = f"{prefix}{key}"
        if key not in of_schema:
            near = get_close_matches(path, known, 1, 0.0)
            raise ConfigError(f"there is no setting {path!r}; the nearest known one is {near[0]!r}")
        inner = _schema_of(types[key])
        if inner is not None and isinstance(value, Mapping):
            _require(value, inner, f"{path}.", known)
            continue
        low, high, ends = of_schema[key].metadata.get(RANGE, (-math.inf, math.inf, False))
        if types[key] is Any:
            low, high, ends = 0.0, math.inf, True
        for place, number in _numbers(value, path):
            inside = low <= number <= high if ends else low < number < high
            if not (inside and math.isfinite(number)):
                raise ConfigError(f"{place}={number:g} is out of range: {_words(low, high, ends)}")


def _schema_of(annotation: Any) -> type | None:
    """The schema of a part of the settings, one that may be null among them."""
    kinds = annotation.__args__ if isinstance(annotation, UnionType) else (annotation,)
    return next((kind for kind in kinds if is_dataclass(kind)), None)


def _paths(values: Mapping[str, Any], schema: type, prefix: str) -> Iterator[str]:
    types = get_type_hints(schema)
    for one in fields(schema):
        inner = _schema_of(types[one.name])
        yield f"{prefix}{one.name}"
        if inner is not None:
            here = values.get(one.name)
            yield from _paths(here if isinstance(here, Mapping) else {}, inner, f"{prefix}{one.name}.")


def _numbers(value: Any, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def _words(low: float, high: float, ends: bool) -> str:
    if math.isinf(low) and math.isinf(high):
        return "it must be finite"
    if math.isinf(high):
        return f"it must be finite and {'at least' if ends else 'above'} {low:g}"
    return f"it must lie {'from' if ends else 'between'} {low:g} {'to' if ends else 'and'} {high:g}"
