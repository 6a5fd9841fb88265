"""Schemas of the commands that check and show the sections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from replication.schemas.ranges import above, at_least
from replication.schemas.section import Parallel, Section


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
