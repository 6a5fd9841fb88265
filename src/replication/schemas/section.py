"""Schemas of a set of judgments, and of what sections share."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from omegaconf import MISSING

from replication.schemas.ranges import at_least, within

# Schema of a set of judgments (conf/dataset/), and of when a surrogate stands in for it.


class Surrogate(Enum):
    """When a section runs on simulated stand-ins for its data."""

    if_needed = "if_needed"
    always = "always"
    never = "never"


@dataclass
class StandIn:
    """What a surrogate has beyond the fit or the printed tables that it is drawn from."""

    n_questions: int = at_least(1)
    log_length_mean: float = 5.5  # of the questions, in log characters: a median of 245
    log_length_sd: float = at_least(0, 1.0)
    tie_share: float | None = within(0, 1, None)  # null: each judge's own share
    random_order: bool = False  # else the alphabetically smaller model is shown first, as in the published sets
    slopes: dict[str, float] = field(default_factory=dict)  # of some judges' discrimination in length


@dataclass
class Dataset:
    """One set of judgments: where it is found, and how it is known to be the published one."""

    name: str = MISSING
    title: str = MISSING
    # in the published form; with columns, in any that judgerank reads; hf:owner/name[@revision][::split] on the
    # hub; null: there is only the surrogate
    file: str | None = MISSING
    url: str | None = MISSING
    sha256: str | None = MISSING
    records: int | None = at_least(1, None)  # size of the surrogate; null where there is none
    git_blob: str | None = None  # the file's id in its repository, where its SHA-256 is not known
    questions: str | None = None  # file of the questions' texts, for their lengths
    questions_sha256: str | None = None
    left_out: list[str] = field(default_factory=list)  # judges the paper leaves out of its complete ranking
    stand_in: StandIn | None = field(default_factory=lambda: StandIn(n_questions=1000))  # null: there is none
    columns: dict[str, str] = field(default_factory=dict)  # such as judge: annotator, where they have other names


# Schemas of what sections share.


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
