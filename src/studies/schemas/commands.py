"""Schemas of the commands that are no sections: adverse cases, kernels, speed."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING

from replication.schemas.ranges import at_least, within
from replication.schemas.section import RealData, Replicated, Section


@dataclass
class Problems:
    """Random problems: the members they are for, and the least and the most of what they have."""

    members: list[str] = MISSING
    models: list[int] = at_least(2)
    judges: list[int] = at_least(1)
    comparisons: list[int] = at_least(1)
    cases: int = at_least(1)  # of every member


@dataclass
class ManyStarts(Problems):
    starts: int = at_least(1)


@dataclass
class Scales(Problems):
    factors: list[float] = at_least(1)  # of the counts


@dataclass
class Inputs:
    forms: list[str] = MISSING
    cases: int = at_least(1)  # of every form


@dataclass
class Slips:
    layouts: list[str] = MISSING
    cases: int = at_least(1)  # of every layout


@dataclass
class Kills:
    kinds: list[str] = MISSING
    kills: int = at_least(1)  # of every victim
    cases: int = at_least(1)  # victims of every kind


@dataclass
class Secrets:
    ways: list[str] = MISSING
    cases: int = at_least(1)  # of every way


@dataclass
class Files:
    ways: list[str] = MISSING
    cases: int = at_least(1)  # of every way


@dataclass
class Torture(Replicated):
    maxima: ManyStarts = field(default_factory=ManyStarts)
    thin: ManyStarts = field(default_factory=ManyStarts)
    existence: Problems = field(default_factory=Problems)
    scales: Scales = field(default_factory=Scales)
    inputs: Inputs = field(default_factory=Inputs)
    slips: Slips = field(default_factory=Slips)
    kills: Kills = field(default_factory=Kills)
    files: Files = field(default_factory=Files)
    secrets: Secrets = field(default_factory=Secrets)
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
