"""Schema of the checks of what tests and intervals promise (conf/validity.yaml)."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING

from judgerank.schemas.dataset import Dataset, Surrogate
from judgerank.schemas.section import Parallel, Section


@dataclass
class Fitted:
    """A member of the family and how it is fitted."""

    member: str = MISSING
    solver: str = "newton"


@dataclass
class Design:
    """A truth, drawn anew for every data set, and a design."""

    title: str = MISSING
    methods: list[str] = MISSING
    n_models: int = 12
    n_judges: int = 16
    n_comparisons: int = 2000
    sigma_scores: float = 0.0
    equal: int = 0  # models whose scores are one
    sigma_discrimination: float = 0.5
    far: float = 1.0  # the first judge's discrimination, as a multiple
    islands: bool = False  # two halves of the models, never compared with each other
    questions: int = 0  # none: every comparison has one of its own
    question_sd: float = 0.0  # of a model's performance over questions, in the scores' units
    position: float = 0.0  # leanings towards the first model, evenly from minus to plus this
    ties: float = 0.0  # share of ties
    clustered: bool = False  # errors clustered by question


@dataclass
class Validity(Section):
    level: float = MISSING
    surrogate: Surrogate = MISSING
    datasets: dict[str, Dataset] = field(default_factory=dict)
    members: list[str] = MISSING
    methods: dict[str, Fitted] = field(default_factory=dict)
    designs: dict[str, Design] = field(default_factory=dict)
    halves: int = MISSING
    parallel: Parallel = field(default_factory=Parallel)
    replications: int = MISSING
    block: int = MISSING
    cache: str = MISSING
