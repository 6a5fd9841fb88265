"""Schema of the methods compared and of the panels they are tried on (conf/method_comparison.yaml)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from replication.schemas.dataset import Dataset, Surrogate
from replication.schemas.ranges import LARGEST_SPREAD, at_least, within
from replication.schemas.section import Replicated, Section


@dataclass
class Method:
    """A method: from comparisons and its settings to a `studies.methods.ranking.Ranking`."""

    name: str = MISSING
    title: str = MISSING
    function: str = MISSING  # dotted path; one of your own will do
    source: str = MISSING  # of the formula, of the code where a library has it, and of the settings
    settings: dict[str, Any] = field(default_factory=dict)
    limits: str = MISSING  # what it cannot do
    orders: int = at_least(1, 1)  # random orders of the rows to average over, for a method that depends on them


@dataclass
class SimulatedPanel:
    """A panel whose truth is drawn anew for every data set."""

    title: str = MISSING
    n_models: int = at_least(2)
    n_judges: int = at_least(1)
    n_comparisons: int = at_least(1)
    sigma_scores: float = within(0, LARGEST_SPREAD, 1.0)
    sigma_discrimination: float = within(0, LARGEST_SPREAD, 1.0)
    n_contrary: int = at_least(0, 0)  # judges who prefer the worse model, as often as they would the better one
    mean_position: float = 0.0  # of leanings towards the model shown first, who is the first by name
    sigma_position: float = within(0, LARGEST_SPREAD, 0.0)
    judged_by_models: bool = False  # the models judge each other, the better ones better


@dataclass
class MethodComparison(Section, Replicated):
    level: float = within(0, 1, ends=False)
    surrogate: Surrogate = MISSING
    datasets: dict[str, Dataset] = field(default_factory=dict)
    methods: dict[str, Method] = field(default_factory=dict)
    panels: dict[str, SimulatedPanel] = field(default_factory=dict)
    folds: int = at_least(2)
    replications: int = at_least(2)
