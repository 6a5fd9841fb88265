"""Schema of a plan: what is planned for and what is wanted (conf/plan.yaml)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from replication.schemas.dataset import Dataset
from replication.schemas.ranges import LARGEST_SPREAD, above, at_least, within
from replication.schemas.section import Judged, Replicated


@dataclass
class Columns:
    """Names of a file's columns; null is one of the usual names."""

    model_a: str | None = None
    model_b: str | None = None
    winner: str | None = None
    judge: str | None = None
    question: str | None = None
    length: str | None = None
    count: str | None = "ask"  # null counts every record once; ask refuses a column that looks like counts


@dataclass
class OwnData:
    """A file of one's own judgments."""

    path: str | None = MISSING
    format: str | None = MISSING
    columns: Columns = field(default_factory=Columns)


@dataclass
class Assumed:
    """A panel that is not fitted to judgments."""

    name: str = MISSING
    n_models: int = at_least(2)
    n_judges: int = at_least(1)
    sigma_scores: float = within(0, LARGEST_SPREAD)
    sigma_discrimination: float = within(0, LARGEST_SPREAD)
    scores: Any = None  # a list, or a mapping by model
    discrimination: Any = None  # a list, or a mapping by judge


@dataclass
class Weights:
    """How often judges and pairs are asked relative to others; those not named have weight one."""

    judges: dict[str, float] = at_least(0, {})
    pairs: list[Any] = field(default_factory=list)  # of [model, model, weight]


@dataclass
class Wanted:
    """Goals by name, as in `planning.GOALS`; null where none is set."""

    score_width: float | None = above(0, None)
    score_width_worst: float | None = above(0, None)
    standardised_width: float | None = above(0, None)
    standardised_width_worst: float | None = above(0, None)
    pair_power: float | None = within(0, 1, None, ends=False)
    pairs_interval_excludes_zero: float | None = within(0, 1, None, ends=False)
    separated: float | None = within(0, 1, None, ends=False)


@dataclass
class Asked:
    """How questions are asked; null is as in the file, or nothing in common and one comparison each."""

    sd: float | None = within(0, 20, None)
    pairs: int | None = within(1, 1e6, None)
    judges: int | None = within(1, 1e6, None)
    pairs_compared: list[int] = at_least(1)
    judges_compared: list[int] = at_least(1)


@dataclass
class Promises:
    """Plans made from files of a panel, and new data of the planned sizes."""

    n_models: int = at_least(2)
    n_judges: int = at_least(1)
    sigma_scores: float = within(0, LARGEST_SPREAD)
    sigma_discrimination: float = within(0, LARGEST_SPREAD)
    wanted: float = within(0, 1, ends=False)
    n_comparisons: list[int] = at_least(1)
    times: int = at_least(1)


@dataclass
class Plan(Judged, Replicated):
    """A plan for an assumed panel, or for one fitted to a set or to a file of one's own."""

    assumed: Assumed = field(default_factory=Assumed)
    dataset: Dataset | None = None
    data: OwnData = field(default_factory=OwnData)
    wanted: Wanted = field(default_factory=Wanted)
    model: str | None = MISSING
    questions: Asked = field(default_factory=Asked)
    promises: Promises = field(default_factory=Promises)
    pair: list[str] | None = MISSING
    weights: Weights = field(default_factory=Weights)
    repeats: int = at_least(1)
    correlation: float = within(0, 1)
    repeats_compared: list[int] = at_least(1)
    correlations_compared: list[float] = within(0, 1)
    n_judges: list[int] = at_least(1)
    n_comparisons: list[int] = at_least(1)
    replications: int = at_least(1)
    draws: int = at_least(1)
    draw_replications: int = at_least(1)
    points: int | None = at_least(1)
