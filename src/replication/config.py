"""From a composed configuration to settings, and from a function of one to a command."""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from pathlib import Path

import hydra
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, JudgerankError
from judgerank.engine.solvers import Settings, kind
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from replication.schemas.ranges import nearest, require_known_and_in_range
from replication.schemas.registering import register
from replication.schemas.simulation import Setting

ROOT = Path(__file__).resolve().parents[2]
# a key, a package or an option of a defaults list
HYDRAS_OWN = re.compile(r"""\W*hydra\b.*:|\s*#\s*@package.*hydra|\s*-.*\bhydra\b.*:""")
CONF = str(ROOT / "conf")
QUIET = ("hydra/job_logging=none", "hydra/hydra_logging=none")  # of hydra's own log files and lines
SCRIPTS = ROOT / "experiments"
register()


def sets_of(section: str) -> list[str]:
    """The data sets on each of which a section runs in turn; none of one that runs once."""
    hydra_config = hydra.compose(section, return_hydra_config=True).hydra
    return hydra_config.sweeper.params.dataset.split(",") if str(hydra_config.mode) == "RunMode.MULTIRUN" else []


def lot_of(section: str) -> str:
    """The lot that a section belongs to, whose folders hold its tables and figures: ``paper`` or ``beyond``."""
    return "paper" if script_of(section).parent == SCRIPTS else "beyond"


def script_of(name: str) -> Path:
    """The script of a section, the paper's or one of ours, or of another command.

    Raises
    ------
    ConfigError
        If there is none of that name.
    """
    found = [path for path in SCRIPTS.rglob("*.py") if path.stem == name]
    if not found:
        raise ConfigError(f"there is no script experiments/{name}.py")
    return found[0]


def solver_settings(solver: DictConfig, model: str) -> Settings:
    """Settings of the configured solver or estimator for a model; ``interior`` is Newton's method.

    Raises
    ------
    ConfigError
        If there is no such solver.
    """
    values = OmegaConf.to_container(solver)
    name, unweighted = values.pop("name"), values.pop("btl", {})
    if model == "btl":
        values |= unweighted
    return kind("newton" if name == "interior" else name)(**values)


def both_solvers(solver: DictConfig) -> dict[str, Settings]:
    """Settings of the configured solver for the judge-aware and the unweighted model."""
    return {model: solver_settings(solver, model) for model in ("judge_aware", "btl")}


def fits_by(solvers: Mapping[str, Settings], comparisons: Comparisons) -> dict[str, Fit]:
    """A fit of every model, each by its solver."""
    comparisons = comparisons.aggregate()  # once for all
    return {model: fit(comparisons, model, settings) for model, settings in solvers.items()}


def both_fits(solver: DictConfig, comparisons: Comparisons) -> dict[str, Fit]:
    """The judge-aware and the unweighted fit by the configured solver."""
    return fits_by(both_solvers(solver), comparisons)


def simulation_settings(cfg: DictConfig) -> dict[str, Setting]:
    """The configured settings by name, checked against the schema and against what the study can tell apart.

    The dictionary itself is left untyped so that a command line can add to it.

    Raises
    ------
    ConfigError
        Naming the setting or the key at fault.
    """
    if not cfg.settings:
        raise ConfigError("settings is empty: there is nothing to simulate")
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
        if not setting.n_comparisons:
            raise ConfigError(f"setting {name!r}: it takes a number of comparisons")
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
                require_known_and_in_range(cfg)
                run(cfg)
            except (JudgerankError, OmegaConfBaseException, OSError) as error:
                if traceback_wanted:
                    raise
                # an exit passes through hydra, which would put a line of its own before an exception
                sys.exit(f"{config_name}: {_sentence(error)}")

        command = hydra.main(version_base="1.3", config_path=CONF, config_name=config_name)(job)
        traceback_wanted = os.environ.get("HYDRA_FULL_ERROR") == "1"

        def guarded() -> None:
            os.environ["HYDRA_FULL_ERROR"] = "1"  # makes hydra raise instead of printing and exiting
            logging.basicConfig(format="%(message)s", stream=sys.stdout)
            for package in ("judgerank", "replication", "studies"):
                logging.getLogger(package).setLevel(logging.INFO)
            if {"--help", "-h"} & set(sys.argv[1:]):
                print(explained(config_name), end="")
                return
            try:
                sys.argv[1:] = [*map(as_merged, sys.argv[1:]), *QUIET]
                require_plain_options(Path(CONF))
                command()
            except KeyboardInterrupt:
                sys.exit(f"{config_name}: interrupted; what was finished is kept")
            except (ConfigError, HydraException, OmegaConfBaseException) as error:
                if traceback_wanted:
                    raise
                sys.exit(f"{config_name}: {_sentence(error)}")
            except (ValueError, TypeError) as error:
                told = [word for word in sys.argv[1:] if "=" in word and word not in QUIET]
                if traceback_wanted or not told or not _is_of_settings(error):
                    raise
                sys.exit(f"{config_name}: {_sentence(error)} (told: {' '.join(told)})")

        return guarded

    return decorate


def explained(config_name: str) -> str:
    """What a command can be told: its configuration and those it builds on, as they are written, with comments."""
    parts = [
        f"Any of these settings can be overridden: {config_name}.py KEY=VALUE PART.KEY=VALUE ...\n"
        "(--hydra-help has hydra's own options)\n"
    ]
    waiting, seen = [config_name], set()
    while waiting:
        name = waiting.pop(0)
        path = Path(CONF, f"{name}.yaml")
        parts.append(f"--- conf/{name}.yaml\n{path.read_text()}")
        for entry in OmegaConf.load(path).get("defaults", []):
            if isinstance(entry, str):
                waiting += [entry] if Path(CONF, f"{entry}.yaml").is_file() else []
                continue
            ((key, option),) = entry.items()
            group = str(key).partition("@")[0]
            others = sorted(path.stem for path in Path(CONF, group).glob("*.yaml"))
            if others and (group, option) not in seen:
                seen.add((group, option))
                parts.append(f"--- {group}={option} (there are {', '.join(others)})\n")
                parts.append(Path(CONF, group, f"{option}.yaml").read_text() if option else "")
    return "".join(parts)


def require_plain_options(folder: Path) -> None:
    """Refuse a file of a group, such as a data set got from elsewhere, that sets what hydra itself does.

    Hydra's callbacks run any code, before a configuration can be checked.

    Raises
    ------
    ConfigError
        Naming the file.
    """
    for path in sorted(folder.glob("*/**/*.yaml")):
        lines = path.read_text().splitlines()
        if any(HYDRAS_OWN.match(line) for line in lines):
            raise ConfigError(f"{path.parent.name}/{path.name} sets hydra's own settings, which only commands may")


def as_merged(override: str) -> str:
    """``+group.name={...}`` as ``+group={name: {...}}``: hydra merges a mapping into a typed group, but adds none.

    Raises
    ------
    ConfigError
        If the mapping is empty: merged, it would change nothing and say nothing.
    """
    key, _, value = override.partition("=")
    if value.replace(" ", "") == "{}":
        raise ConfigError(f"{override} would change nothing (~{key.lstrip('+')}.NAME takes a part away)")
    group, dot, name = key.rpartition(".")
    if key.startswith("+") and dot and value.startswith("{"):
        return f"{group}={{{name}: {value}}}"
    return override


def _is_of_settings(error: BaseException) -> bool:
    """Whether an error was raised while settings were put together."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return bool({"hydra", "omegaconf"} & {*Path(last.filename).parts})


def _sentence(error: BaseException) -> str:
    """The first line of what went wrong, and of its cause where hydra wraps one."""
    lines = [str(error).strip().splitlines()[0]]
    cause = error.__cause__
    if isinstance(error, HydraException) and cause is not None:
        lines.append(str(cause).strip().splitlines()[0])
        if isinstance(cause, ConfigAttributeError | ConfigKeyError) and is_dataclass(cause.object_type):
            lines[-1] += f"; the nearest known one is {nearest(cause.key, cause.object_type)!r}"
    return ": ".join(dict.fromkeys(line.rstrip(".") for line in lines))
