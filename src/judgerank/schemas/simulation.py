"""Schemas of the sections on simulated comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from judgerank.schemas.section import Parallel, Section


@dataclass
class Setting:
    """One configuration of the simulation study and its grid of comparison budgets."""

    n_models: int = MISSING
    n_judges: int = MISSING
    sigma_scores: float = 1.0
    sigma_discrimination: float = 1.0
    n_comparisons: list[int] = MISSING
    beyond: list[int] = field(default_factory=list)  # budgets past the paper's, reported apart


@dataclass
class Simulation(Section):
    """A section of the simulation study."""

    settings: dict[str, Any] = field(default_factory=dict)  # of Setting; see simulation_settings
    estimator: Any = MISSING
    parallel: Parallel = field(default_factory=Parallel)
    replications: int = MISSING
    draws: int = MISSING
    draw_replications: int = MISSING
    points: int | None = MISSING
    block: int = MISSING
    cache: str = MISSING


@dataclass
class Algorithm1:
    """A run of the paper's algorithm beside the study's own estimator."""

    settings: list[str] = MISSING
    estimator: Any = MISSING
    replications: int = MISSING
    draws: int = MISSING  # further draws of the truth


@dataclass
class ConvergenceMse(Simulation):
    algorithm_1: Algorithm1 = field(default_factory=Algorithm1)


@dataclass
class CiCoverage(Simulation):
    level: float = MISSING


@dataclass
class SmallSamples(Simulation):
    solver: Any = MISSING
    level: float = MISSING


@dataclass
class SlotBias(Section):
    parallel: Parallel = field(default_factory=Parallel)
    members: list[str] = MISSING
    n_models: int = MISSING
    n_judges: int = MISSING
    sigma_scores: float = MISSING
    sigma_discrimination: float = MISSING
    mean_position: float = MISSING
    sigma_position: float = MISSING
    n_comparisons: list[int] = MISSING
    replications: int = MISSING
    block: int = MISSING
    cache: str = MISSING
