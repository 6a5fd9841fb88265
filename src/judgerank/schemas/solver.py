"""Schemas of the solvers' settings (conf/solver/, conf/estimator/)."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING


@dataclass
class Newton:
    name: str = "newton"
    tolerance: float = MISSING
    max_iterations: int = MISSING
    slope_bound: float = 2.0


@dataclass
class Penalised:
    name: str = "penalised"
    scores: float | None = None
    log_discrimination: float | None = None
    slope: float | None = None
    position: float | None = None
    log_tie: float | None = None
    tolerance: float = MISSING
    max_iterations: int = MISSING


@dataclass
class AdamUnweighted:
    """What the published unweighted fit sets differently."""

    step_scores: float = MISSING
    epsilon: float = MISSING
    tolerance: float = MISSING
    max_iterations: int = MISSING


@dataclass
class Adam:
    name: str = "adam"
    step_scores: float = MISSING
    step_judges: float = MISSING
    beta1: float = MISSING
    beta2: float = MISSING
    epsilon: float = MISSING
    tolerance: float = MISSING
    max_iterations: int = MISSING
    btl: AdamUnweighted = field(default_factory=AdamUnweighted)


@dataclass
class Localized:
    name: str = "localized"
    score_bound: float = MISSING
    discrimination_bound: float = MISSING
    tolerance: float = MISSING
    max_iterations: int = MISSING
