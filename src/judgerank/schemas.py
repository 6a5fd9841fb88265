"""Schemas of the configuration: an unknown key or a wrong type fails before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING

from judgerank.methods_schema import Method, SimulatedPanel
from judgerank.plan_schema import Assumed, Wanted, Weights
from judgerank.rank_schema import OwnData, Rank


class Surrogate(Enum):
    """When a section runs on simulated stand-ins for its data."""

    if_needed = "if_needed"
    always = "always"
    never = "never"


@dataclass
class StandIn:
    """What a surrogate has beyond the fit or the printed tables that it is drawn from."""

    n_questions: int = MISSING
    log_length_mean: float = 5.5  # of the questions, in log characters: a median of 245
    log_length_sd: float = 1.0
    tie_share: float | None = None  # null: each judge's own share
    random_order: bool = False  # else the alphabetically smaller model is shown first, as in the published sets
    slopes: dict[str, float] = field(default_factory=dict)  # of some judges' discrimination in length


@dataclass
class Dataset:
    """One set of judgments: where it is found, and how it is known to be the published one."""

    name: str = MISSING
    title: str = MISSING
    file: str | None = MISSING  # null: there is only the surrogate
    url: str | None = MISSING
    sha256: str | None = MISSING
    records: int = MISSING
    git_blob: str | None = None  # the file's id in its repository, where its SHA-256 is not known
    questions: str | None = None  # file of the questions' texts, for their lengths
    stand_in: StandIn = field(default_factory=lambda: StandIn(n_questions=1000))


@dataclass
class Newton:
    name: str = "newton"
    tolerance: float = MISSING
    max_iterations: int = MISSING
    slope_bound: float = 2.0


@dataclass
class Penalised:
    name: str = "penalised"
    scores: float | None = None
    log_discrimination: float | None = None
    slope: float | None = None
    position: float | None = None
    log_tie: float | None = None
    tolerance: float = MISSING
    max_iterations: int = MISSING


@dataclass
class AdamUnweighted:
    """What the published unweighted fit sets differently."""

    step_scores: float = MISSING
    epsilon: float = MISSING
    tolerance: float = MISSING
    max_iterations: int = MISSING


@dataclass
class Adam:
    name: str = "adam"
    step_scores: float = MISSING
    step_judges: float = MISSING
    beta1: float = MISSING
    beta2: float = MISSING
    epsilon: float = MISSING
    tolerance: float = MISSING
    max_iterations: int = MISSING
    btl: AdamUnweighted = field(default_factory=AdamUnweighted)


@dataclass
class Localized:
    name: str = "localized"
    score_bound: float = MISSING
    discrimination_bound: float = MISSING
    tolerance: float = MISSING
    max_iterations: int = MISSING


@dataclass
class Parallel:
    """How replications are spread; `options` go to joblib's backend, or to dask's Client."""

    backend: str = MISSING
    n_jobs: int = MISSING
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class Setting:
    """One configuration of the simulation study and its grid of comparison budgets."""

    n_models: int = MISSING
    n_judges: int = MISSING
    sigma_scores: float = 1.0
    sigma_discrimination: float = 1.0
    n_comparisons: list[int] = MISSING
    beyond: list[int] = field(default_factory=list)  # budgets past the paper's, reported apart


@dataclass
class Section:
    """What every section has."""

    seed: int = MISSING
    draw_only: bool = MISSING
    results: str = MISSING
    figures: str = MISSING


@dataclass
class Judged(Section):
    """A section on judgments."""

    solver: Any = MISSING
    level: float = MISSING
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
class LengthCovariate(OneSet):
    curves: list[str] | None = MISSING
    adam_iterations: int = MISSING


@dataclass
class ModelComparison(OneSet):
    members: list[str] = MISSING
    shrunk: list[str] = MISSING  # members that are fitted with shrinkage too
    folds: int = MISSING


@dataclass
class Uncertainty(OneSet):
    parallel: Parallel = field(default_factory=lambda: Parallel())
    members: list[str] = MISSING
    bootstraps: int = MISSING
    replications: int = MISSING
    inner_bootstraps: int = MISSING
    question_sd: list[float] = MISSING
    block: int = MISSING
    cache: str = MISSING


@dataclass
class Resampled(OneSet):
    """A section that refits random parts of a set."""

    parallel: Parallel = field(default_factory=lambda: Parallel())
    repeats: int = MISSING
    paper_repeats: int = MISSING
    block: int = MISSING
    cache: str = MISSING


@dataclass
class SubsamplingEfficiency(Resampled):
    n_judges: list[int] = MISSING
    n_comparisons: list[int] = MISSING


@dataclass
class MixedJudges(Resampled):
    pool: list[str] = MISSING
    n_weak: int = MISSING
    n_strong: int = MISSING
    panel: int = MISSING
    n_comparisons: int = MISSING


class Redraw(Enum):
    """Where the comparisons of a thinned design come from."""

    resample = "resample"
    simulate = "simulate"


@dataclass
class Sparsity(Resampled):
    trees: list[int] = MISSING
    redraw: list[Redraw] = MISSING


@dataclass
class BenchmarkAlignment(RealData):
    ratings: str | None = MISSING


@dataclass
class Prompt:
    """What a judge is asked, with {question}, {first} and {second} to be filled in."""

    name: str = MISSING
    temperature: float = MISSING
    max_tokens: int = MISSING
    text: str = MISSING


@dataclass
class Judge:
    """One judge of a panel; prices are for a million tokens."""

    judge: str = MISSING
    model: str | None = None  # the name sent; null: the judge's
    base_url: str | None = None  # null: the panel's
    prompt_price: float = 0.0
    completion_price: float = 0.0


@dataclass
class QuestionFile:
    """Questions and answers: a file or a hub id, and the names of its columns where they are not the usual."""

    source: str = MISSING
    answers: str | None = None
    columns: dict[str, str | None] = field(default_factory=dict)


class Order(Enum):
    """In which order two answers are shown."""

    random = "random"
    both = "both"


@dataclass
class CollectJudgments:
    """Collecting judgments from an OpenAI-compatible endpoint."""

    questions: QuestionFile = field(default_factory=QuestionFile)
    output: str = MISSING
    prompt: Prompt = field(default_factory=Prompt)
    judges: list[Judge] = MISSING
    base_url: str = MISSING
    api_key_env: str = MISSING
    comparisons: int | None = MISSING
    repeats: int = MISSING
    order: Order = MISSING
    seed: int = MISSING
    dry_run: bool = MISSING
    budget: float | None = MISSING
    max_concurrent: int = MISSING
    requests_per_minute: float | None = MISSING
    attempts: int = MISSING
    first_wait: float = MISSING
    timeout: float = MISSING


@dataclass
class JudgeReliability(RealData):
    prompt: Prompt = field(default_factory=Prompt)
    path_length: int = MISSING
    one_model: list[str] = MISSING
    fewest_shared: int = MISSING


@dataclass
class Audit(Section):
    readme: str | None = MISSING


@dataclass
class Bench(RealData):
    study_share: float = MISSING


@dataclass
class MethodComparison(RealData):
    methods: dict[str, Method] = field(default_factory=dict)
    panels: dict[str, SimulatedPanel] = field(default_factory=dict)
    folds: int = MISSING
    parallel: Parallel = field(default_factory=Parallel)
    replications: int = MISSING
    block: int = MISSING
    cache: str = MISSING


@dataclass
class Simulation(Section):
    """A section of the simulation study."""

    settings: dict[str, Any] = field(default_factory=dict)  # of Setting; see simulation_settings
    estimator: Any = MISSING
    parallel: Parallel = field(default_factory=Parallel)
    replications: int = MISSING
    draws: int = MISSING
    draw_replications: int = MISSING
    points: int | None = MISSING
    block: int = MISSING
    cache: str = MISSING


@dataclass
class CiCoverage(Simulation):
    level: float = MISSING


@dataclass
class SlotBias(Section):
    parallel: Parallel = field(default_factory=Parallel)
    members: list[str] = MISSING
    n_models: int = MISSING
    n_judges: int = MISSING
    sigma_scores: float = MISSING
    sigma_discrimination: float = MISSING
    mean_position: float = MISSING
    sigma_position: float = MISSING
    n_comparisons: list[int] = MISSING
    replications: int = MISSING
    block: int = MISSING
    cache: str = MISSING


@dataclass
class SmallSamples(Simulation):
    solver: Any = MISSING
    level: float = MISSING


@dataclass
class Plan(Judged):
    """A plan for an assumed panel, or for one fitted to a set or to a file of one's own."""

    assumed: Assumed = field(default_factory=Assumed)
    dataset: Dataset | None = None
    data: OwnData = field(default_factory=OwnData)
    wanted: Wanted = field(default_factory=Wanted)
    pair: list[str] | None = MISSING
    weights: Weights = field(default_factory=Weights)
    repeats: int = MISSING
    correlation: float = MISSING
    repeats_compared: list[int] = MISSING
    correlations_compared: list[float] = MISSING
    n_judges: list[int] = MISSING
    n_comparisons: list[int] = MISSING
    parallel: Parallel = field(default_factory=Parallel)
    replications: int = MISSING
    draws: int = MISSING
    draw_replications: int = MISSING
    points: int | None = MISSING
    block: int = MISSING
    cache: str = MISSING


def _register() -> None:
    store = ConfigStore.instance()
    store.store(group="dataset", name="schema", node=Dataset)
    store.store(group="prompt", name="schema", node=Prompt)
    store.store(group="solver", name="newton_schema", node=Newton)
    store.store(group="solver", name="adam_schema", node=Adam)
    store.store(group="solver", name="penalised_schema", node=Penalised)
    for name, node in (("localized", Localized), ("interior", Newton), ("adam", Adam)):
        store.store(group="estimator", name=f"{name}_schema", node=node)
    sections = (
        RealData,
        BenchmarkAlignment,
        JudgeReliability,
        Audit,
        Bench,
        Simulation,
        CiCoverage,
        SmallSamples,
        SlotBias,
    )
    for node in (
        *sections,
        OneSet,
        LengthCovariate,
        ModelComparison,
        Uncertainty,
        CollectJudgments,
        SubsamplingEfficiency,
        MixedJudges,
        Sparsity,
        Rank,
        Plan,
        MethodComparison,
    ):
        store.store(name=f"{node.__name__}Schema", node=node)


_register()
