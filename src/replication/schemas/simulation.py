"""Schemas of the sections on simulated comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from replication.schemas.ranges import LARGEST_SPREAD, at_least, each, within
from replication.schemas.section import Replicated, Section


@dataclass
class Setting:
    """One configuration of the simulation study and its grid of comparison budgets."""

    n_models: int = at_least(2)
    n_judges: int = at_least(1)
    sigma_scores: float = within(0, LARGEST_SPREAD, 1.0)
    sigma_discrimination: float = within(0, LARGEST_SPREAD, 1.0)
    n_comparisons: list[int] = at_least(1)
    beyond: list[int] = at_least(1, [])  # budgets past the paper's, reported apart


@dataclass
class Simulation(Section, Replicated):
    """A section of the simulation study."""

    settings: dict[str, Any] = each(Setting)  # see simulation_settings
    estimator: Any = MISSING
    replications: int = at_least(1)
    draws: int = at_least(0)
    draw_replications: int = at_least(1)
    points: int | None = at_least(1)


@dataclass
class Algorithm1:
    """A run of the paper's algorithm beside the study's own estimator."""

    settings: list[str] = MISSING
    stops: list[int] = at_least(1)
    data_sets: dict[str, int] = at_least(2)
    draws: int = at_least(0)  # further draws of the truth


@dataclass
class ConvergenceMse(Simulation):
    algorithm_1: Algorithm1 = field(default_factory=Algorithm1)


@dataclass
class CiCoverage(Simulation):
    level: float = within(0, 1, ends=False)


@dataclass
class SmallSamples(Simulation):
    solver: Any = MISSING
    level: float = within(0, 1, ends=False)


@dataclass
class SlotBias(Section, Replicated):
    members: list[str] = MISSING
    n_models: int = at_least(2)
    n_judges: int = at_least(1)
    sigma_scores: float = within(0, LARGEST_SPREAD)
    sigma_discrimination: float = within(0, LARGEST_SPREAD)
    mean_position: float = MISSING
    sigma_position: float = within(0, LARGEST_SPREAD)
    n_comparisons: list[int] = at_least(1)
    replications: int = at_least(1)
