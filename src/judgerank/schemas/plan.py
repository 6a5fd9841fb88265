"""Schema of a plan: what is planned for and what is wanted (conf/plan.yaml)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from judgerank.schemas.dataset import Dataset
from judgerank.schemas.ranges import within
from judgerank.schemas.rank import OwnData
from judgerank.schemas.section import Judged, Parallel


@dataclass
class Assumed:
    """A panel that is not fitted to judgments."""

    name: str = MISSING
    n_models: int = MISSING
    n_judges: int = MISSING
    sigma_scores: float = MISSING
    sigma_discrimination: float = MISSING
    scores: Any = None  # a list, or a mapping by model
    discrimination: Any = None  # a list, or a mapping by judge


@dataclass
class Weights:
    """How often judges and pairs are asked relative to others; those not named have weight one."""

    judges: dict[str, float] = field(default_factory=dict)
    pairs: list[Any] = field(default_factory=list)  # of [model, model, weight]


@dataclass
class Wanted:
    """Goals by name, as in `planning.GOALS`; null where none is set."""

    score_width: float | None = None
    score_width_worst: float | None = None
    standardised_width: float | None = None
    standardised_width_worst: float | None = None
    pair_power: float | None = None
    pairs_interval_excludes_zero: float | None = None
    separated: float | None = None


@dataclass
class Asked:
    """How questions are asked; null is as in the file, or nothing in common and one comparison each."""

    sd: float | None = within(0, 20, None)
    pairs: int | None = within(1, 1e6, None)
    judges: int | None = within(1, 1e6, None)
    pairs_compared: list[int] = MISSING
    judges_compared: list[int] = MISSING


@dataclass
class Plan(Judged):
    """A plan for an assumed panel, or for one fitted to a set or to a file of one's own."""

    assumed: Assumed = field(default_factory=Assumed)
    dataset: Dataset | None = None
    data: OwnData = field(default_factory=OwnData)
    wanted: Wanted = field(default_factory=Wanted)
    model: str | None = MISSING
    questions: Asked = field(default_factory=Asked)
    pair: list[str] | None = MISSING
    weights: Weights = field(default_factory=Weights)
    repeats: int = MISSING
    correlation: float = MISSING
    repeats_compared: list[int] = MISSING
    correlations_compared: list[float] = MISSING
    n_judges: list[int] = MISSING
    n_comparisons: list[int] = MISSING
    parallel: Parallel = field(default_factory=Parallel)
    replications: int = MISSING
    draws: int = MISSING
    draw_replications: int = MISSING
    points: int | None = MISSING
    block: int = MISSING
    cache: str = MISSING
