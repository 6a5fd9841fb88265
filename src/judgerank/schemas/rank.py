"""Schema of the ranking of one's own models (conf/rank.yaml)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from omegaconf import MISSING


class Cluster(Enum):
    """What comparisons may depend on each other through."""

    question = "question"
    none = "none"


@dataclass
class Columns:
    """Names of a file's columns; null is one of the usual names."""

    model_a: str | None = None
    model_b: str | None = None
    winner: str | None = None
    judge: str | None = None
    question: str | None = None
    length: str | None = None


@dataclass
class OwnData:
    """A file of one's own judgments."""

    path: str | None = MISSING
    format: str | None = MISSING
    columns: Columns = field(default_factory=Columns)


@dataclass
class Rank:
    """The ranking of one's own models."""

    data: OwnData = field(default_factory=OwnData)
    model: str = MISSING
    solver: Any = MISSING
    level: float = MISSING
    cluster: Cluster = MISSING
    few: int = MISSING
    next: int = MISSING
    next_size: int = MISSING
    results: str | None = MISSING
