"""From a composed configuration to settings, and from a function of one to a command."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

import hydra
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from judgerank.comparisons import Comparisons
from judgerank.errors import ConfigError, JudgerankError
from judgerank.estimates import Settings
from judgerank.fit import SOLVERS, fit
from judgerank.result import FitResult
from judgerank.schemas import register
from judgerank.schemas.simulation import Setting

ROOT = Path(__file__).resolve().parents[2]
CONF = str(ROOT / "conf")
register()


def solver_settings(solver: DictConfig, model: str) -> tuple[str, Settings]:
    """Name and settings of the configured solver for a model."""
    values = OmegaConf.to_container(solver)
    name, unweighted = values.pop("name"), values.pop("btl", {})
    if model == "btl":
        values |= unweighted
    if name not in SOLVERS:
        raise ConfigError(f"there is no solver {name!r} (known: {', '.join(SOLVERS)})")
    return name, type(SOLVERS[name][1])(**values)


def both_fits(solver: DictConfig, comparisons: Comparisons) -> dict[str, FitResult]:
    """The judge-aware and the unweighted fit by the configured solver."""
    return {m: fit(comparisons, m, *solver_settings(solver, m)) for m in ("judge_aware", "btl")}


def require_least(cfg: DictConfig, least: dict[str, int]) -> None:
    """Refuse settings below the least that makes sense; null is none.

    Raises
    ------
    ConfigError
        Naming the key at fault.
    """
    for key, low in least.items():
        if cfg[key] is not None and cfg[key] < low:
            raise ConfigError(f"{key} must be at least {low}, not {cfg[key]}")


def simulation_settings(cfg: DictConfig) -> dict[str, Setting]:
    """The configured settings by name, checked against the schema and against what the study can tell apart.

    The dictionary itself is left untyped so that a command line can add to it.

    Raises
    ------
    ConfigError
        Naming the setting or the key at fault.
    """
    least = {"replications": 1, "draw_replications": 1, "block": 1, "draws": 0, "seed": 0, "points": 1}
    require_least(cfg, least)
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
            except (JudgerankError, OSError) as error:
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
            except KeyboardInterrupt:
                sys.exit(f"{config_name}: interrupted; what was finished is kept")
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
