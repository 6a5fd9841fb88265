"""Schemas of the configuration: an unknown key or a wrong type fails before anything is computed."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import hydra
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException
from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from judgerank.comparisons import Comparisons
from judgerank.errors import ConfigError, JudgerankError
from judgerank.fit import FitResult, Settings, fit
from judgerank.solvers.adam import AdamSettings
from judgerank.solvers.localized import LocalizedSettings
from judgerank.solvers.newton import NewtonSettings

ROOT = Path(__file__).resolve().parents[2]
CONF = str(ROOT / "conf")


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


def _register() -> None:
    store = ConfigStore.instance()
    store.store(group="dataset", name="schema", node=Dataset)
    store.store(group="prompt", name="schema", node=Prompt)
    store.store(group="solver", name="newton_schema", node=Newton)
    store.store(group="solver", name="adam_schema", node=Adam)
    for name, node in (("localized", Localized), ("interior", Newton), ("adam", Adam)):
        store.store(group="estimator", name=f"{name}_schema", node=node)
    sections = (RealData, BenchmarkAlignment, JudgeReliability, Audit, Bench, Simulation, CiCoverage)
    for node in (*sections, OneSet, LengthCovariate, SubsamplingEfficiency, MixedJudges, Sparsity):
        store.store(name=f"{node.__name__}Schema", node=node)


_register()


def solver_settings(solver: DictConfig, model: str) -> tuple[str, Settings]:
    """Name and settings of the configured solver for a model."""
    values = OmegaConf.to_container(solver)
    name, unweighted = values.pop("name"), values.pop("btl", {})
    if model == "btl":
        values |= unweighted
    kinds = {"newton": NewtonSettings, "adam": AdamSettings, "localized": LocalizedSettings}
    if name not in kinds:
        raise ConfigError(f"there is no solver {name!r} (known: {', '.join(kinds)})")
    return name, kinds[name](**values)


def both_fits(solver: DictConfig, comparisons: Comparisons) -> dict[str, FitResult]:
    """The judge-aware and the unweighted fit by the configured solver."""
    return {m: fit(comparisons, m, *solver_settings(solver, m)) for m in ("judge_aware", "btl")}


def simulation_settings(cfg: DictConfig) -> dict[str, Setting]:
    """The configured settings by name, checked against the schema and against what the study can tell apart.

    The dictionary itself is left untyped so that a command line can add to it.

    Raises
    ------
    ConfigError
        Naming the setting or the key at fault.
    """
    least = {"replications": 1, "draw_replications": 1, "block": 1, "draws": 0, "seed": 0, "points": 1}
    for key, low in least.items():
        if cfg[key] is not None and cfg[key] < low:
            raise ConfigError(f"{key} must be at least {low}, not {cfg[key]}")
    checked: dict[str, Setting] = {}
    for name, setting in cfg.settings.items():
        try:
            checked[name] = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(Setting), setting))
        except OmegaConfBaseException as error:
            raise ConfigError(f"setting {name!r}: {_sentence(error)}") from None
    sizes = [(setting.n_models, setting.n_judges) for setting in checked.values()]
    for (name, setting), size in zip(checked.items(), sizes, strict=True):
        budgets = [*setting.n_comparisons, *setting.beyond]
        if sizes.count(size) > 1:
            raise ConfigError(f"setting {name!r}: another one has {size[0]} models and {size[1]} judges too")
        if min(size) < 1 or size[0] < 2 or not setting.n_comparisons:
            raise ConfigError(f"setting {name!r}: it takes two models, a judge and a number of comparisons")
        if len(set(budgets)) < len(budgets) or min(budgets) < setting.n_models - 1:
            raise ConfigError(f"setting {name!r}: budgets must differ and connect {setting.n_models} models")
    return checked


def main(config_name: str) -> Callable[[Callable[[DictConfig], None]], Callable[[], None]]:
    """Turn a function of a composed config into a command.

    Anything that is the input's or the configuration's fault ends in one sentence on standard error and exit
    code 1; set ``HYDRA_FULL_ERROR=1`` for the traceback.
    """

    def decorate(run: Callable[[DictConfig], None]) -> Callable[[], None]:
        def job(cfg: DictConfig) -> None:
            try:
                run(cfg)
            except JudgerankError as error:
                if traceback_wanted:
                    raise
                # an exit passes through hydra, which would put a line of its own before an exception
                sys.exit(f"{config_name}: {_sentence(error)}")

        command = hydra.main(version_base="1.3", config_path=CONF, config_name=config_name)(job)
        traceback_wanted = os.environ.get("HYDRA_FULL_ERROR") == "1"

        def guarded() -> None:
            os.environ["HYDRA_FULL_ERROR"] = "1"  # makes hydra raise instead of printing and exiting
            logging.basicConfig(format="%(message)s", stream=sys.stdout)
            logging.getLogger("judgerank").setLevel(logging.INFO)
            try:
                command()
            except (HydraException, OmegaConfBaseException) as error:
                if traceback_wanted:
                    raise
                sys.exit(f"{config_name}: {_sentence(error)}")

        return guarded

    return decorate


def _sentence(error: BaseException) -> str:
    """The first line of what went wrong, and of its cause where hydra wraps one."""
    lines = [str(error).strip().splitlines()[0]]
    cause = error.__cause__
    if isinstance(error, HydraException) and cause is not None:
        lines.append(str(cause).strip().splitlines()[0])
    return ": ".join(dict.fromkeys(line.rstrip(".") for line in lines))
