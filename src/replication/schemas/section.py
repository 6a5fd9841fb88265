"""Schemas of what sections share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from replication.schemas.dataset import Dataset, Surrogate
from replication.schemas.ranges import at_least, within


@dataclass
class Parallel:
    """How replications are spread; `options` go to joblib's backend, or to dask's Client."""

    backend: str = MISSING
    n_jobs: int = MISSING
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class Section:
    """What every section has."""

    seed: int = at_least(0)
    draw_only: bool = MISSING
    results: str | None = MISSING
    figures: str | None = MISSING


@dataclass
class Replicated:
    """What everything with replications has besides."""

    parallel: Parallel = field(default_factory=Parallel)
    block: int = at_least(1)  # replications a checkpoint holds
    cache: str = MISSING


@dataclass
class Judged(Section):
    """A section on judgments."""

    solver: Any = MISSING
    level: float = within(0, 1, ends=False)
    surrogate: Surrogate = MISSING


@dataclass
class RealData(Judged):
    """A section on fixed sets of the paper's judgments."""

    datasets: dict[str, Dataset] = field(default_factory=dict)


@dataclass
class OneSet(Judged):
    """A section on one set at a time, chosen by ``dataset=``."""

    dataset: Dataset = field(default_factory=Dataset)
