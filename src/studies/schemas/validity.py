"""Schema of the checks of what tests and intervals promise (conf/validity.yaml)."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING

from replication.schemas.dataset import Dataset, Surrogate
from replication.schemas.ranges import LARGEST_SPREAD, above, at_least, within
from replication.schemas.section import Replicated, Section


@dataclass
class Fitted:
    """A member of the family and how it is fitted."""

    member: str = MISSING
    solver: str = "newton"


@dataclass
class Design:
    """A truth, drawn anew for every data set, and a design."""

    title: str = field(default=MISSING, compare=False)
    methods: list[str] = field(default=MISSING, compare=False)
    n_models: int = at_least(2, 12)
    n_judges: int = at_least(1, 16)
    n_comparisons: int = at_least(1, 2000)
    sigma_scores: float = within(0, LARGEST_SPREAD, 0.0)
    equal: int = at_least(0, 0)  # models whose scores are one
    sigma_discrimination: float = within(0, LARGEST_SPREAD, 0.5)
    far: float = above(0, 1.0)  # the first judge's discrimination, as a multiple
    islands: bool = False  # two halves of the models, never compared with each other
    questions: int = at_least(0, 0)  # none: every comparison has one of its own
    question_sd: float = at_least(0, 0.0)  # of a model's performance over questions, in the scores' units
    position: float = 0.0  # leanings towards the first model, evenly from minus to plus this
    ties: float = within(0, 1, 0.0)  # share of ties
    clustered: bool = False  # errors clustered by question


@dataclass
class Validity(Section, Replicated):
    level: float = within(0, 1, ends=False)
    surrogate: Surrogate = MISSING
    datasets: dict[str, Dataset] = field(default_factory=dict)
    members: list[str] = MISSING
    methods: dict[str, Fitted] = field(default_factory=dict)
    designs: dict[str, Design] = field(default_factory=dict)
    halves: int = at_least(1)
    replications: int = at_least(2)


@dataclass
class Defaults(Section, Replicated):
    """What should be fitted unless a user says otherwise."""

    level: float = within(0, 1, ends=False)
    surrogate: Surrogate = MISSING
    datasets: dict[str, Dataset] = field(default_factory=dict)
    methods: dict[str, Fitted] = field(default_factory=dict)
    n_comparisons: list[int] = at_least(1)  # of samples
    draws: int = at_least(2)  # samples of every size
    designs: dict[str, Design] = field(default_factory=dict)
    replications: int = at_least(2)
    fewer: dict[str, int] = field(default_factory=dict)  # replications of designs whose fits take long
