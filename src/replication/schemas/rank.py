"""Schema of the ranking of one's own models (conf/rank.yaml)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from omegaconf import MISSING

from replication.schemas.ranges import within


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
    count: str | None = "ask"  # null counts every record once; ask refuses a column that looks like counts


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
    model: str | None = MISSING  # null: the default member, `leaderboard.members.default_member`
    solver: Any = MISSING
    level: float = within(0, 1, ends=False)
    cluster: Cluster = MISSING
    few: int = within(0, 1e9)
    next: int = within(1, 1000)
    next_size: int = within(1, 1e6)
    results: str | None = MISSING
