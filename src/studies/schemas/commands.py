"""Schemas of the commands that are no sections: adverse cases, kernels, speed."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING

from replication.schemas.ranges import at_least, within
from replication.schemas.section import RealData, Replicated, Section


@dataclass
class Cases:
    """Random cases of every element of the list that a schema derived from this one has."""

    cases: int = at_least(1)


@dataclass
class Problems(Cases):
    """Random problems: the members they are for, and the least and the most of what they have."""

    members: list[str] = MISSING
    models: list[int] = at_least(2)
    judges: list[int] = at_least(1)
    comparisons: list[int] = at_least(1)


@dataclass
class ManyStarts(Problems):
    starts: int = at_least(1)


@dataclass
class Scales(Problems):
    factors: list[float] = at_least(1)  # of the counts


@dataclass
class Inputs(Cases):
    forms: list[str] = MISSING


@dataclass
class Slips(Cases):
    layouts: list[str] = MISSING


@dataclass
class Kills(Cases):
    kinds: list[str] = MISSING  # of victims
    kills: int = at_least(1)  # of every victim


@dataclass
class Attacks(Cases):
    ways: list[str] = MISSING


@dataclass
class Runs(Cases):
    commands: list[str] = MISSING


@dataclass
class Torture(Replicated):
    maxima: ManyStarts = field(default_factory=ManyStarts)
    thin: ManyStarts = field(default_factory=ManyStarts)
    existence: Problems = field(default_factory=Problems)
    scales: Scales = field(default_factory=Scales)
    inputs: Inputs = field(default_factory=Inputs)
    slips: Slips = field(default_factory=Slips)
    replies: Attacks = field(default_factory=Attacks)
    commands: Runs = field(default_factory=Runs)
    kills: Kills = field(default_factory=Kills)
    touched: Attacks = field(default_factory=Attacks)
    files: Attacks = field(default_factory=Attacks)
    secrets: Attacks = field(default_factory=Attacks)
    seed: int = at_least(0)
    results: str | None = MISSING


@dataclass
class Pages(Section):
    pages: list[str] = MISSING


@dataclass
class Kernels:
    """Small sections and tests under several kernels of the same libraries."""

    short: bool = MISSING
    tests: list[str] = MISSING
    settings: dict[str, dict[str, str]] = MISSING
    sections: dict[str, list[str]] = MISSING
    replicated: list[str] = MISSING  # sections that keep replications
    short_settings: list[str] = MISSING
    short_sections: list[str] = MISSING
    shown: int = at_least(0)


@dataclass
class Bench(RealData):
    study_share: float = within(0, 1)
    engine_rows: int = at_least(0)
    engine_memory: str = MISSING
    blocks: list[str] = MISSING
    answers: str | None = None
    rows: list[str] = field(default_factory=list)
    store: bool = False
    tolerance: float = at_least(0)
    again: int = at_least(0)
