"""Schemas of the solvers' settings (conf/solver/, conf/estimator/)."""

from __future__ import annotations

from dataclasses import dataclass, field

from judgerank.engine.adam import LARGEST_UPDATE
from judgerank.engine.solution import LARGEST_TOLERANCE
from replication.schemas.ranges import above, at_least, within

TOLERANCE = 1e-16, LARGEST_TOLERANCE


@dataclass
class Newton:
    name: str = "newton"
    tolerance: float = within(*TOLERANCE)
    max_iterations: int = at_least(1)
    slope_bound: float = above(0, 2.0)


@dataclass
class Penalised:
    name: str = "penalised"
    scores: float | None = above(0, None)
    log_discrimination: float | None = above(0, None)
    slope: float | None = above(0, None)
    position: float | None = above(0, None)
    log_tie: float | None = above(0, None)
    tolerance: float = within(*TOLERANCE)
    max_iterations: int = at_least(1)


@dataclass
class AdamUnweighted:
    """What the published unweighted fit sets differently."""

    step_scores: float = above(0)
    epsilon: float = above(0)
    tolerance: float = within(0, LARGEST_UPDATE)
    max_iterations: int = at_least(1)


@dataclass
class Adam:
    name: str = "adam"
    step_scores: float = above(0)
    step_judges: float = above(0)
    beta1: float = within(0, 1)
    beta2: float = within(0, 1)
    epsilon: float = above(0)
    tolerance: float = within(0, LARGEST_UPDATE)
    max_iterations: int = at_least(1)
    btl: AdamUnweighted = field(default_factory=AdamUnweighted)


@dataclass
class Localized:
    name: str = "localized"
    score_bound: float = above(0)
    discrimination_bound: float = above(0)
    tolerance: float = within(*TOLERANCE)
    max_iterations: int = at_least(1)
