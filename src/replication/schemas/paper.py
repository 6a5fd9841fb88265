"""Schemas of the sections of the paper, on judgments and on simulated comparisons, and of their solvers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from omegaconf import MISSING

from judgerank.collecting.prompt_settings import PAIRWISE
from judgerank.engine.adam import LARGEST_UPDATE
from judgerank.engine.solution import LARGEST_TOLERANCE
from replication.schemas.ranges import LARGEST_SPREAD, above, at_least, named_parts, within
from replication.schemas.section import Dataset, OneSet, RealData, Replicated, Section, Surrogate

LARGEST_DECAY = 0.999999  # of a moment: at one it never moves

# Schemas of the solvers' settings (conf/solver/, conf/estimator/).
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


# Schemas of the sections of the paper on judgments.


@dataclass
class BenchmarkAlignment(RealData):
    ratings: str | None = MISSING
    votes: dict[str, Dataset] = field(default_factory=dict)  # people's, by the set they are held against


@dataclass
class Grid:
    """Constants of Algorithm A.1 to try in every combination."""

    step_scores: list[float] = above(0)
    step_judges: list[float] = above(0)
    beta1: list[float] = within(0, LARGEST_DECAY)
    beta2: list[float] = within(0, LARGEST_DECAY)


@dataclass
class Search:
    """Settings of Algorithm A.1 to try: each with the others as published, then some constants together."""

    length: int = at_least(1)
    random_starts: int = at_least(0)
    steps: list[list[float]] = above(0)
    betas: list[list[float]] = within(0, LARGEST_DECAY)
    epsilon: list[float] = above(0)
    answers: list[str] = MISSING  # of `replication.stopping.ANSWERS`
    grids: list[Grid] = MISSING
    reach: float = above(0)


@dataclass
class JudgeReliability(RealData):
    prompt: dict[str, Any] = field(default_factory=PAIRWISE.copy)  # what `judgerank collect` sends
    search: Search = field(default_factory=Search)
    one_model: list[str] = MISSING
    fewest_shared: int = at_least(1)


@dataclass
class Stepped:
    """What may differ between runs of Algorithm A.1."""

    step_scores: float = above(0)
    step_judges: float = above(0)
    beta1: float = within(0, LARGEST_DECAY)
    beta2: float = within(0, LARGEST_DECAY)
    epsilon: float = above(0)


@dataclass
class UnstatedSettings(Section):
    level: float = within(0, 1, ends=False)
    surrogate: Surrogate = MISSING
    datasets: dict[str, Dataset] = field(default_factory=dict)
    most_left_out: int = at_least(0)
    swapped: list[list[str]] = MISSING
    sizes: dict[str, list[int]] = at_least(1)
    seeds: list[int] = at_least(0)
    algorithms: list[Stepped] = MISSING
    stops: list[int] = at_least(1)
    ranking_algorithms: list[Stepped] = MISSING
    ranking_stops: list[int] = at_least(1)
    turned: int = at_least(1)


@dataclass
class LengthCovariate(OneSet):
    curves: list[str] | None = MISSING
    adam_iterations: int = at_least(1)


@dataclass
class Resampled(OneSet, Replicated):
    """A section that refits random parts of a set."""

    repeats: int = at_least(1)
    paper_repeats: int = at_least(1)
    box: Localized = field(default_factory=Localized)
    algorithm_1: Adam = field(default_factory=Adam)


@dataclass
class SubsamplingEfficiency(Resampled):
    n_judges: list[int] = at_least(1)
    n_comparisons: list[int] = at_least(1)


@dataclass
class MixedJudges(Resampled):
    pools: dict[str, list[str]] = MISSING
    pool: list[str] | None = MISSING
    n_weak: int = at_least(1)
    n_strong: int = at_least(1)
    panel: int = at_least(1)
    n_comparisons: int = at_least(1)


class Redraw(Enum):
    """Where the comparisons of a thinned design come from."""

    resample = "resample"
    subset = "subset"
    simulate = "simulate"


class Tree(Enum):
    """How a random spanning tree is drawn."""

    weights = "weights"
    uniform = "uniform"


@dataclass
class Designs:
    """Designs of Table A.9 to search: every choice out of these lists."""

    redraws: list[Redraw] = MISSING
    trees: list[Tree] = MISSING
    budgets: list[int] = at_least(1)
    stops: list[int] = at_least(1)


@dataclass
class Sparsity(Resampled):
    trees: list[int] = at_least(1)
    redraw: list[Redraw] = MISSING
    designs: dict[str, Any] = named_parts(Designs)
    design_tables: int = at_least(2)
    found_tables: int = at_least(2)


# Schemas of the sections on simulated comparisons.


@dataclass
class Setting:
    """One configuration of the simulation study and its grid of comparison budgets."""

    n_models: int = at_least(2)
    n_judges: int = at_least(1)
    sigma_scores: float = within(0, LARGEST_SPREAD, 1.0)
    sigma_discrimination: float = within(0, LARGEST_SPREAD, 1.0)
    n_comparisons: list[int] = at_least(1)
    beyond: list[int] = at_least(1, [])  # budgets past the paper's, reported apart


@dataclass
class Simulation(Section, Replicated):
    """A section of the simulation study."""

    settings: dict[str, Any] = named_parts(Setting)  # see simulation_settings
    estimator: Any = MISSING
    replications: int = at_least(1)
    draws: int = at_least(0)
    draw_replications: int = at_least(1)
    points: int | None = at_least(1)


@dataclass
class Algorithm1:
    """A run of the paper's algorithm beside the study's own estimator."""

    settings: list[str] = MISSING
    stops: list[int] = at_least(1)
    data_sets: dict[str, int] = at_least(2)
    draws: int = at_least(0)  # further draws of the truth


@dataclass
class ConvergenceMse(Simulation):
    algorithm_1: Algorithm1 = field(default_factory=Algorithm1)


@dataclass
class CiCoverage(Simulation):
    level: float = within(0, 1, ends=False)


@dataclass
class SmallSamples(Simulation):
    solver: Any = MISSING
    level: float = within(0, 1, ends=False)


@dataclass
class SlotBias(Section, Replicated):
    members: list[str] = MISSING
    n_models: int = at_least(2)
    n_judges: int = at_least(1)
    sigma_scores: float = within(0, LARGEST_SPREAD)
    sigma_discrimination: float = within(0, LARGEST_SPREAD)
    mean_position: float = MISSING
    sigma_position: float = within(0, LARGEST_SPREAD)
    n_comparisons: list[int] = at_least(1)
    replications: int = at_least(1)
