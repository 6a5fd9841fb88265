"""Schemas of the sections: what every one has, and those on judgments."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from omegaconf import MISSING

from judgerank.collecting.wording import PAIRWISE
from replication.schemas.dataset import Dataset, Surrogate
from replication.schemas.ranges import above, at_least, each, within


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
    results: str = MISSING
    figures: str = MISSING


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


@dataclass
class BenchmarkAlignment(RealData):
    ratings: str | None = MISSING
    votes: dict[str, Dataset] = field(default_factory=dict)  # people's, by the set they are held against


@dataclass
class Search:
    """Settings of Algorithm 1 to try, each with the others as published."""

    length: int = at_least(1)
    random_starts: int = at_least(0)
    steps: list[list[float]] = above(0)
    epsilon: list[float] = above(0)
    answers: list[str] = MISSING  # of `replication.stopping.ANSWERS`


@dataclass
class JudgeReliability(RealData):
    prompt: dict[str, Any] = field(default_factory=PAIRWISE.copy)  # what `judgerank collect` sends
    path_length: int = at_least(1)
    search: Search = field(default_factory=Search)
    one_model: list[str] = MISSING
    fewest_shared: int = at_least(1)


@dataclass
class Audit(Section):
    pages: list[str] = MISSING
    accept_falls: bool = False
    codecheck: str = MISSING
    articles: str = MISSING


@dataclass
class Smoke(Section):
    """Every section small, and the page of them."""

    stored: str = MISSING
    workers: int = at_least(1)
    sections: dict[str, list[str]] = MISSING
    monte_carlo: list[str] = MISSING


@dataclass
class Verified:
    """How a section is verified: settings for that, axes that are sampled, tables that follow from others."""

    overrides: list[str] = field(default_factory=list)
    axes: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    optional: list[str] = field(default_factory=list)  # tables that are there if a source is within reach


@dataclass
class Verify:
    """The stored results recomputed, or a sample of them."""

    results: str = MISSING
    figures: str = MISSING
    only: list[str] | None = MISSING
    datasets: list[str] | None = MISSING
    sample: int | None = at_least(1)
    seed: int | None = at_least(0)
    recompute: bool = MISSING
    parallel: Parallel = field(default_factory=Parallel)
    shown: int = at_least(0)
    overrides: list[str] = MISSING
    sections: dict[str, Verified] = field(default_factory=dict)


@dataclass
class Kernels:
    """Small sections and tests under several kernels of the same libraries."""

    short: bool = MISSING
    tests: list[str] = MISSING
    settings: dict[str, dict[str, str]] = MISSING
    sections: dict[str, list[str]] = MISSING
    replicated: list[str] = MISSING  # sections that keep replications
    short_settings: list[str] = MISSING
    short_sections: list[str] = MISSING
    shown: int = at_least(0)


@dataclass
class Bench(RealData):
    study_share: float = within(0, 1)
    engine_rows: int = at_least(0)
    engine_memory: str = MISSING
    blocks: list[str] = MISSING
    answers: str | None = None


@dataclass
class Stepped:
    """What may differ between runs of Algorithm 1."""

    step_scores: float = above(0)
    step_judges: float = above(0)
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
    ranking_stops: list[int] = at_least(1)
    turned: int = at_least(1)


@dataclass
class LengthCovariate(OneSet):
    curves: list[str] | None = MISSING
    adam_iterations: int = at_least(1)


@dataclass
class ModelComparison(OneSet):
    members: list[str] = MISSING
    shrunk: list[str] = MISSING  # members that are fitted with shrinkage too
    folds: int = at_least(2)
    resamples: int = at_least(2)


@dataclass
class Uncertainty(OneSet):
    parallel: Parallel = field(default_factory=Parallel)
    members: list[str] = MISSING
    bootstraps: int = at_least(2)
    replications: int = at_least(0)
    inner_bootstraps: int = at_least(2)
    question_sd: list[float] = at_least(0)
    block: int = at_least(1)
    cache: str = MISSING


@dataclass
class Panel(RealData):
    """Question effects and further blocks on every set, and on simulated data."""

    parallel: Parallel = field(default_factory=Parallel)
    members: list[str] = MISSING
    folds: int = at_least(2)
    draws: int = at_least(2)
    blocks: list[str] = MISSING
    answers: str | None = None
    replications: int = at_least(0)
    question_sd: list[float] = at_least(0)
    sizes: dict[str, float] = MISSING
    block_replications: int = at_least(0)
    block: int = at_least(1)
    cache: str = MISSING


@dataclass
class Trust(RealData):
    """What would change rankings, and what panels are worth, on every set and on simulated panels."""

    parallel: Parallel = field(default_factory=Parallel)
    members: list[str] = MISSING
    most: int = at_least(1)
    replications: int = at_least(0)
    draws: int = at_least(1)
    block: int = at_least(1)
    cache: str = MISSING


@dataclass
class Newcomers(RealData):
    """New models on existing boards, and boards compared."""

    parallel: Parallel = field(default_factory=Parallel)
    member: str = MISSING
    replications: int = at_least(0)
    block: int = at_least(1)
    cache: str = MISSING


@dataclass
class People(Section):
    """A few human votes beside a panel, simulated."""

    parallel: Parallel = field(default_factory=Parallel)
    level: float = within(0, 1, ends=False)
    replications: int = at_least(2)
    block: int = at_least(1)
    cache: str = MISSING


@dataclass
class Gating(RealData):
    """May a candidate ship? Simulated and played back."""

    parallel: Parallel = field(default_factory=Parallel)
    n_questions: list[int] = MISSING
    n_judges: list[int] = MISSING
    replications: int = at_least(2)
    looks: list[int] = MISSING
    looked: int = at_least(2)
    rare: int = at_least(2)
    parts: list[int] = MISSING
    draws: int = at_least(1)
    block: int = at_least(1)
    cache: str = MISSING


@dataclass
class Soft(Section):
    """Probabilities in place of letters, simulated."""

    parallel: Parallel = field(default_factory=Parallel)
    level: float = within(0, 1, ends=False)
    replications: int = at_least(2)
    block: int = at_least(1)
    cache: str = MISSING


@dataclass
class Adaptive(RealData):
    """Judgments collected by rounds, simulated and played back."""

    parallel: Parallel = field(default_factory=Parallel)
    rules: list[str] = MISSING
    false_stops: int = at_least(1)
    most: int = at_least(1)
    saved: int = at_least(2)
    share: float = within(0, 1, ends=False)
    growth: float = above(1)
    playbacks: int = at_least(1)
    block: int = at_least(1)
    cache: str = MISSING


@dataclass
class Resampled(OneSet):
    """A section that refits random parts of a set."""

    parallel: Parallel = field(default_factory=Parallel)
    repeats: int = at_least(1)
    paper_repeats: int = at_least(1)
    block: int = at_least(1)
    cache: str = MISSING


@dataclass
class SubsamplingEfficiency(Resampled):
    n_judges: list[int] = at_least(1)
    n_comparisons: list[int] = at_least(1)


@dataclass
class MixedJudges(Resampled):
    pool: list[str] = MISSING
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
    designs: dict[str, Any] = each(Designs)
    design_tables: int = at_least(2)
    found_tables: int = at_least(2)
