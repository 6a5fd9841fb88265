"""What a type does not say of a setting: its range, and that it is one at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass
from difflib import get_close_matches
from typing import Any

from omegaconf import MISSING, DictConfig, ListConfig, OmegaConf

from judgerank.data.errors import ConfigError

RANGE, PARTS = "range", "each"
LARGEST_SPREAD = 100.0  # of scores or log-discriminations: beyond it every outcome is certain
ANY_NUMBER = (-math.inf, math.inf, True)  # that is finite


def within(low: float, high: float, default: Any = MISSING, *, ends: bool = True) -> Any:
    """A field of a schema whose value, or each of whose values, lies from `low` to `high`; null is none.

    Parameters
    ----------
    ends : bool
        Whether `low` and `high` themselves are allowed; what is infinite never is.
    """
    limits = {RANGE: (low, high, ends)}
    if isinstance(default, list | dict):
        return field(default_factory=default.copy, metadata=limits)
    return field(default=default, metadata=limits)


def at_least(low: float, default: Any = MISSING) -> Any:
    """As `within`, without an upper limit."""
    return within(low, math.inf, default)


def above(low: float, default: Any = MISSING) -> Any:
    """As `at_least`, without `low` itself."""
    return within(low, math.inf, default, ends=False)


def named_parts(schema: type) -> Any:
    """A field with parts by name, each checked by a schema though the command line may add any."""
    return field(default_factory=dict, metadata={PARTS: schema})


def require_known_and_in_range(cfg: DictConfig) -> None:
    """Refuse keys that a configuration's schema does not have, and values that no one means.

    Hydra lets ``+key=`` add any key. No number may be out of its range or infinite, and no text empty.

    Raises
    ------
    ConfigError
        Naming the key at fault, and of an unknown one the nearest that is known.
    """
    _require(cfg, OmegaConf.get_type(cfg), "")
    if cfg.get("parallel"):
        from replication.replicate import require_workers  # loads joblib, which other commands do without

        require_workers(cfg.parallel.backend, cfg.parallel.n_jobs)


def nearest(key: str, schema: type) -> str:
    """The key of a schema that is most like another."""
    return get_close_matches(key, [key_field.name for key_field in fields(schema)], 1, 0.0)[0]


def _require(node: DictConfig, schema: type, prefix: str) -> None:
    of_schema = {schema_field.name: schema_field.metadata for schema_field in fields(schema)}
    unknown = next((key for key in node if key not in of_schema), None)
    if unknown is not None:
        nearest_key = prefix + nearest(unknown, schema)
        raise ConfigError(f"there is no setting {prefix + unknown!r}; the nearest known one is {nearest_key!r}")
    for key in node:
        _require_value(node[key], f"{prefix}{key}", of_schema[key])


def _require_value(value: Any, path: str, of_field: Mapping[str, Any], schema: type | None = None) -> None:
    """A value, or all within it; `schema` is that of a mapping which has no type."""
    if isinstance(value, DictConfig):
        typed = OmegaConf.get_type(value)
        if schema or is_dataclass(typed):
            _require(value, schema or typed, f"{path}.")
        else:
            for key, inner in value.items():
                _require_value(inner, f"{path}.{key}", of_field, of_field.get(PARTS))
    elif isinstance(value, ListConfig):
        for inner in value:
            _require_value(inner, path, of_field)
    elif value == "":
        raise ConfigError(f"{path} is empty")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        low, high, ends = of_field.get(RANGE, ANY_NUMBER)
        inside = low <= value <= high if ends else low < value < high
        if not (inside and math.isfinite(value)):
            raise ConfigError(f"{path}={value:g} is out of range: {_words(low, high, ends)}")


def _words(low: float, high: float, ends: bool) -> str:
    if math.isinf(low) and math.isinf(high):
        return "it must be finite"
    if math.isinf(high):
        return f"it must be finite and {'at least' if ends else 'above'} {low:g}"
    return f"it must lie {'from' if ends else 'between'} {low:g} {'to' if ends else 'and'} {high:g}"
