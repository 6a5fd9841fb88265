"""Schemas of the commands that are no sections, and all schemas made known to Hydra, which workers do without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING

from replication.schemas.paper import Adam, Localized, Newton, Penalised
from replication.schemas.ranges import above, at_least
from replication.schemas.section import Dataset, Parallel, Section


@dataclass
class Audit(Section):
    pages: list[str] = MISSING
    accept_falls: bool = False
    accept_stale: bool = False
    codecheck: str = MISSING
    articles: str = MISSING


@dataclass
class Stale(Section):
    fail: bool = False


@dataclass
class Tables(Section):
    only: list[str] | None = MISSING
    forms: str = MISSING


@dataclass
class Smoke(Section):
    """Every section small, and the page of them."""

    stored: str = MISSING
    workers: int = at_least(1)
    sections: dict[str, list[str]] = MISSING
    monte_carlo: list[str] = MISSING


@dataclass
class Verified:
    """How a section is verified: overrides, tables that need not be there; and for samples axes and the like."""

    overrides: list[str] = field(default_factory=list)
    optional: list[str] = field(default_factory=list)  # tables that are there if a source is within reach
    axes: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    sampled: list[str] = field(default_factory=list)


@dataclass
class Verify:
    """The stored results recomputed, or a sample of them."""

    lot: str = MISSING
    results: str = MISSING
    figures: str = MISSING
    only: Any = MISSING  # names of sections, or a word
    at_most: float | None = above(0)
    datasets: list[str] | None = MISSING
    sample: int | None = at_least(1)
    seed: int | None = at_least(0)
    recompute: bool = MISSING
    parallel: Parallel = field(default_factory=Parallel)
    shown: int = at_least(0)
    overrides: list[str] = MISSING
    sections: dict[str, Verified] = field(default_factory=dict)


def register(*commands: type) -> None:
    """Make the schemas of all loaded sections known to Hydra, by the names that the files in conf/ use.

    Parameters
    ----------
    *commands : type
        Schemas of commands that are no sections.
    """
    store = ConfigStore.instance()
    store.store(group="dataset", name="schema", node=Dataset)
    store.store(group="solver", name="newton_schema", node=Newton)
    store.store(group="solver", name="adam_schema", node=Adam)
    store.store(group="solver", name="penalised_schema", node=Penalised)
    for name, node in (("localized", Localized), ("interior", Newton), ("adam", Adam)):
        store.store(group="estimator", name=f"{name}_schema", node=node)
    for node in (*_below(Section), Verify, *commands):
        store.store(name=f"{node.__name__}Schema", node=node)


def _below(kind: type) -> Iterator[type]:
    """The classes derived from one, directly or through others."""
    for derived in kind.__subclasses__():
        yield derived
        yield from _below(derived)
