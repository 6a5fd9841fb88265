"""From a composed configuration to settings, and from a function of one to a command."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, JudgerankError
from judgerank.engine.solvers import Settings, kind
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from replication.schemas.paper import Setting
from replication.schemas.ranges import nearest, require_known_and_in_range
from replication.schemas.registering import register

ROOT = Path(__file__).resolve().parents[2]
# a key, a package or an option of a defaults list
HYDRAS_OWN = re.compile(r"""\W*hydra\b.*:|\s*#\s*@package.*hydra|\s*-.*\bhydra\b.*:""")
CONF = str(ROOT / "conf")
QUIET = ("hydra/job_logging=none", "hydra/hydra_logging=none")  # of hydra's own log files and lines
SCRIPTS = ROOT / "experiments"
NOT_RESULTS = ("results", "figures", "draw_only", "cache", "parallel", "block")  # settings that change no number
OUTPUTS = ROOT / "outputs"
NO_FOLDER = ROOT / ".cache" / "hydra"  # hydra's folder of a run that has nothing to put into one
LONGEST_NAME = 100  # of a folder, in characters, far below what any file system takes
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
    scripts = [path for path in SCRIPTS.rglob("*.py") if path.stem == name]
    if not scripts:
        raise ConfigError(f"there is no script experiments/{name}.py")
    return scripts[0]


def is_default(command: str, cfg: DictConfig) -> bool:
    """Whether a configuration is that of conf/, on one of the command's sets, in all that changes a number."""
    chosen = cfg.get("dataset")
    return _changing_numbers(cfg) == _default(command, chosen.name if chosen else None)


def is_changed(command: str, cfg: DictConfig, key: str) -> bool:
    """Whether a setting is another one than that of conf/, so that what it names must be there."""
    chosen = cfg.get("dataset")
    return _changing_numbers(cfg)[key] != _default(command, chosen.name if chosen else None)[key]


@cache
def _default(command: str, dataset: str | None) -> dict:
    running = GlobalHydra.instance().hydra  # with the folders of conf that the command line may have named
    GlobalHydra.instance().clear()
    try:
        with hydra.initialize_config_dir(CONF, command, version_base="1.3"):
            job = [f"dataset={dataset}"] if dataset in sets_of(command) else []
            return _changing_numbers(hydra.compose(command, job))
    finally:
        GlobalHydra.instance().hydra = running


def _changing_numbers(cfg: DictConfig) -> dict:
    # surrogates have a folder of their own in results/ and figures/, whether they were asked for or needed
    keys = [key for key in cfg if key not in (*NOT_RESULTS, "hydra", "surrogate")]
    return OmegaConf.to_container(OmegaConf.masked_copy(cfg, keys), resolve=True, enum_to_str=True)


def unless_default(changed: str, default: str, *, _root_: DictConfig) -> str:
    """The first where a run has files to put into a folder of its own, else the second.

    It has none by the default settings, and none if the command line names both other folders. Neither has a sweep
    beside those of its runs.
    """
    is_sweep = _root_.hydra.mode is RunMode.MULTIRUN and OmegaConf.is_missing(_root_.hydra.job, "num")
    is_elsewhere = all(_root_[key] is not None for key in ("results", "figures") if key in _root_)
    return default if is_sweep or is_elsewhere or is_default(_root_.hydra.job.config_name, _root_) else changed


def folder_name(overrides: str) -> str:
    """Overrides as the name of a folder, with a digest where they are too long or no file system takes them.

    Examples
    --------
    >>> folder_name("level=0.9,solver=adam")
    'level=0.9,solver=adam'
    >>> folder_name("ratings=my/own.json")
    'ratings=my-own.json-f9ffd8cc'
    """
    name = re.sub(r"[^\w.,=+@~\[\]-]+", "-", overrides, flags=re.ASCII)[:LONGEST_NAME].rstrip(".")
    if name == overrides and name:
        return name
    return f"{name}-{hashlib.sha256(overrides.encode()).hexdigest()[:8]}"


OmegaConf.register_new_resolver("root", lambda: str(ROOT))
OmegaConf.register_new_resolver("unless_default", unless_default)
OmegaConf.register_new_resolver("folder_name", folder_name)


def run_folder() -> Path | None:
    """The folder of this run, as hydra has it; None where its files go to results/ and figures/."""
    if not HydraConfig.initialized():
        return None
    folder = Path(HydraConfig.get().runtime.output_dir)
    return None if folder == NO_FOLDER else folder


def _remove_empty(folder: Path | None) -> None:
    """Remove a folder that hydra made in outputs/ and a run left empty, and those above that are empty then."""
    with suppress(OSError):
        while folder is not None and folder.is_relative_to(OUTPUTS):
            folder.rmdir()
            folder = folder.parent


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
            finally:
                _remove_empty(run_folder())

        command = hydra.main(version_base="1.3", config_path=CONF, config_name=config_name)(job)
        traceback_wanted = os.environ.get("HYDRA_FULL_ERROR") == "1"

        def guarded() -> None:
            os.environ["HYDRA_FULL_ERROR"] = "1"  # makes hydra raise instead of printing and exiting
            if not any(word.startswith(("--info", "-i")) for word in sys.argv[1:]):  # which hydra logs by itself
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
            except (ConfigError, HydraException, OmegaConfBaseException, OSError) as error:
                if traceback_wanted:
                    raise
                sys.exit(f"{config_name}: {_sentence(error)}{choices(config_name, error)}")
            except (ValueError, TypeError) as error:
                overrides = [word for word in sys.argv[1:] if "=" in word and word not in QUIET]
                if traceback_wanted or not overrides or not _is_of_settings(error):
                    raise
                sys.exit(f"{config_name}: {_sentence(error)} (told: {' '.join(overrides)})")

        return guarded

    return decorate


def explained(config_name: str) -> str:
    """What a command can be told: its configuration and those it builds on, as they are written, with comments."""
    parts = [
        f"Any of these settings can be overridden: {config_name}.py KEY=VALUE PART.KEY=VALUE ...\n"
        "(--hydra-help has hydra's own options)\n"
    ]
    seen = set()
    for key, name in _parts(config_name):
        if not key:
            parts.append(f"--- conf/{name}.yaml\n{Path(CONF, f'{name}.yaml').read_text()}")
            continue
        group = key.partition("@")[0]
        options = sorted(path.stem for path in Path(CONF, group).glob("*.yaml"))
        if (group, name) not in seen:
            seen.add((group, name))
            parts.append(f"--- {group}={name} (there are {', '.join(options)})\n")
            parts.append(Path(CONF, group, f"{name}.yaml").read_text() if name else "")
    return "".join(parts)


def _parts(config_name: str) -> Iterator[tuple[str, str | None]]:
    """What a configuration is made of: files of conf/, without a key, and options by the key that chooses them."""
    waiting = [config_name]
    while waiting:
        name = waiting.pop(0)
        yield "", name
        for entry in OmegaConf.load(Path(CONF, f"{name}.yaml")).get("defaults", []):
            if isinstance(entry, str):
                waiting += [entry] if Path(CONF, f"{entry}.yaml").is_file() else []
                continue
            ((key, option),) = entry.items()
            if Path(CONF, str(key).partition("@")[0]).is_dir():
                yield str(key), option


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


def choices(config_name: str, error: BaseException) -> str:
    """Where an option of a group cannot be chosen, which can; empty for other errors.

    A section on several sets at once has them at ``dataset@datasets.NAME``, others have none to choose.
    """
    refused = re.match(r"Could not override '([\w/]+)(?:@[\w.]+)?'", str(error).strip())
    if refused is None:
        return ""
    keys = [key for key, _ in _parts(config_name) if key]
    alike = [key for key in keys if key.partition("@")[0] == refused[1]]
    free = sorted(path.stem for path in Path(CONF).glob("*.yaml") if _takes_any(path.stem, refused[1]))
    elsewhere = f" ({refused[1]}=... is for {', '.join(free)})" if free else ""
    return f": {config_name} takes {', '.join(f'{key}=...' for key in alike or keys) or 'none'}{elsewhere}"


def _takes_any(config_name: str, group: str) -> bool:
    return any(key == group and option for key, option in _parts(config_name))


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


def launched(section: str, *overrides: str, environment: Mapping[str, str] = os.environ) -> str:
    """Run a section to its end.

    Parameters
    ----------
    section : str
        The name of its script.
    *overrides : str
        Of its configuration, as on the command line.
    environment : mapping, optional
        The variables it sees; by default our own.

    Returns
    -------
    str
        Empty if it ended well, else the last line it said.
    """
    command = [sys.executable, str(script_of(section)), *overrides]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
