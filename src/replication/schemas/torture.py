"""Schema of the adverse cases (conf/torture.yaml)."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING

from replication.schemas.ranges import at_least
from replication.schemas.section import Replicated


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
    results: str = MISSING
