"""Where a section's tables, figures and provenance go: all of them written, or none."""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from omegaconf import DictConfig, OmegaConf

from judgerank.data.errors import ConfigError, DataUnavailableError
from judgerank.data.judgments import Judgments
from judgerank.plots.looks import in_style
from judgerank.reading.read import read_judgments
from judgerank.writing.atomic import locked, recover, staged
from judgerank.writing.sidecars import content_of, digest, fingerprint, written
from replication import published
from replication.config import CONF, ROOT, lot_of, main, run_folder
from replication.datasets import load_judgments
from replication.freshness import SETS, SIDECAR, made_by, settings_of, stamp_run, tables_of, waiting_for
from replication.plots.drawn import figure_record
from replication.plots.labels import save_figures
from replication.records import RECORD, provenance, store
from replication.schemas.section import Dataset, Surrogate
from replication.surrogates import surrogate_judgments
from replication.tables import Replications, Table

log = logging.getLogger("replication")

Compute = Callable[[DictConfig, dict[str, Judgments]], dict[str, Table | Replications]]
Draw = Callable[[dict[str, pd.DataFrame], str], dict[str, Figure]]


def section_command(section: str, compute: Compute, draw: Draw) -> Callable[[], None]:
    """The command of a section, which `run_section` runs."""

    @main(section)
    def run(cfg: DictConfig) -> None:
        run_section(section, cfg, compute, draw)

    return run


def run_section(section: str, cfg: DictConfig, compute: Compute, draw: Draw) -> None:
    """Load the section's data, compute and store its tables, and draw its figures from what is stored.

    Parameters
    ----------
    section : str
        Its name: the script's, and that of its folders below results/ and figures/.
    cfg : DictConfig
    compute : callable
        From the config and the data by name to tables by name.
    draw : callable
        From the stored tables by name and a suffix for titles (the set chosen, surrogate or not) to figures by
        name.
    """
    start = time.monotonic()
    if cfg.draw_only:
        draw_section(section, cfg, draw)
        return
    data, kind = load_section_data(cfg)
    # from before anything is computed until both are written, so that two runs never mix
    folders = [output_folder(cfg, name, section, kind) for name in ("results", "figures")]
    with locked(*folders), _marked(f"{kind}: " if kind else ""):
        for judgments in data.values():
            left_out = sum(judgments.comparisons.dropped.values())
            count = f"{judgments.comparisons.n_comparisons:.0f} comparisons"
            log.info("%s: %s, %d records dropped as unparsed", judgments.title, count, left_out)
        record = provenance(section, cfg, data, kind)  # of the code as it was loaded: sources may change meanwhile
        tables = compute(cfg, data)
        store(folders[0], tables, record, ROOT, start)
        _draw(section, cfg, draw, kind)
        if not kind:
            stamp_run(folders[0], section, _chosen(cfg)[0])


def draw_section(section: str, cfg: DictConfig, draw: Draw) -> None:
    """Draw a section's figures anew from its stored tables, those of surrogates too.

    Raises
    ------
    DataUnavailableError
        If there are none.
    """
    folders = {kind: output_folder(cfg, "results", section, kind) for kind in ("", "surrogate")}
    variants = [kind for kind, folder in folders.items() if _has_tables(folder)]
    if not variants:
        raise DataUnavailableError(f"there are no stored tables of {section} to draw from")
    for kind in variants:
        _draw(section, cfg, draw, kind)


def _has_tables(folder: Path) -> bool:
    """Whether an earlier run stored its tables there; one that was killed while it did is finished first."""
    if folder.is_dir():
        with locked(folder):
            recover(folder)
    return (folder / RECORD).is_file()


@contextmanager
def _marked(mark: str) -> Iterator[None]:
    """Put a mark before every log line, so that none can be quoted without it."""
    handlers = logging.getLogger().handlers
    before = [handler.formatter for handler in handlers]
    for handler in handlers:
        handler.setFormatter(_Marked(mark))
    try:
        yield
    finally:
        for handler, formatter in zip(handlers, before, strict=True):
            handler.setFormatter(formatter)


class _Marked(logging.Formatter):
    def __init__(self, mark: str):
        super().__init__("%(message)s")
        self.mark = mark

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(self.mark + line for line in super().format(record).splitlines())


def load_section_data(cfg: DictConfig) -> tuple[dict[str, Judgments], str]:
    """The section's sets, all real or all surrogates: several, the one chosen by ``dataset=``, or none.

    Where a section takes a file of one's own (``data.path=``), that file's judgments.

    Raises
    ------
    ConfigError
        If both are chosen.
    DataError
        If data under the name of one of the paper's sets are others.
    """
    chosen, user_data = cfg.get("dataset"), cfg.get("data")
    if user_data and user_data.path:
        if chosen:
            raise ConfigError("dataset and data.path: only one of them can be chosen")
        columns = OmegaConf.to_container(user_data.columns)  # in a configuration null says nothing, but of counts
        column_names = {key: name for key, name in columns.items() if name is not None or key == "count"}
        judgments = read_judgments(Path(user_data.path), user_data.format, column_names)
        return {judgments.name: judgments}, ""
    wanted = {chosen.name: chosen} if chosen else cfg.get("datasets", {})
    data, kind = _loaded(cfg, wanted) if wanted else ({}, "")
    for name, judgments in data.items():
        published.require_its_names(name, judgments)
    return _Sets(data), kind


def _loaded(cfg: DictConfig, wanted: Mapping[str, Dataset]) -> tuple[dict[str, Judgments], str]:
    if cfg.surrogate is not Surrogate.always:
        try:
            return {name: load_judgments(dataset) for name, dataset in wanted.items()}, ""
        except DataUnavailableError as error:
            without = any(wanted_set.stand_in is None or _is_of_user(wanted_set) for wanted_set in wanted.values())
            if cfg.surrogate is Surrogate.never or without:
                raise
            log.info("surrogate: %s, so this section runs on simulated stand-ins", error)
    return {name: surrogate_judgments(dataset, cfg.seed) for name, dataset in wanted.items()}, "surrogate"


def _is_of_user(dataset: Dataset) -> bool:
    """Whether a set of conf/ has another file than there, for which nothing stands in."""
    path = Path(CONF, "dataset", f"{dataset.name}.yaml")
    return bool(dataset.file) and path.is_file() and OmegaConf.load(path).file != dataset.file


class _Sets(dict):
    """Judgments by name of the set."""

    def __missing__(self, name: str) -> Judgments:
        raise ConfigError(f"this section takes datasets.{name}, which the command line takes away")


def _draw(section: str, cfg: DictConfig, draw: Draw, kind: str) -> None:
    stored, target = (output_folder(cfg, name, section, kind) for name in ("results", "figures"))
    tables = {path.stem: pd.read_csv(path) for path in sorted(stored.glob("*.csv"))}
    is_on_set = target.parts[-2:] == (section, _chosen(cfg)[0])
    with in_style(), _staged_on_set(target) if is_on_set else staged(target, SIDECAR) as folder:
        figures = draw(tables, suffix_of(cfg, kind))
        save_figures(figures, folder)
        drawn_from = tables_of(written(stored, RECORD) or {})
        record = {"section": section, "surrogate": bool(kind), **figure_record(figures)}
        record["made_by"] = made_by(section, settings_of(cfg), drawn_from, "figures")
        (folder / SIDECAR).write_text(json.dumps(record))
    log.info("%s: tables in %s, figures in %s", section, display_path(stored), display_path(target))


@contextmanager
def _staged_on_set(target: Path) -> Iterator[Path]:
    """A folder as of `staged`, for a section's figures on one set: the sidecar becomes an entry in the section's.

    Figures on other sets stay as they are, and so do their entries, whether the figures are as recorded or not.
    """
    home, name = target.parent, target.name
    with locked(target), waiting_for(home):
        recover(home)
        listed = written(home, SIDECAR) or {}
        sets = (content_of(home / SIDECAR) or {}).get(SETS, {})
        # own figures that runs on other sets could not list, as they were edited or missing then
        unlisted = {f"{name}/{file}" for file in sets.get(name, {}).get("files", {})} - listed.keys()
        with staged(home, SIDECAR, force=bool(unlisted)) as folder:
            for file, recorded in listed.items():
                if not file.startswith(f"{name}/") and fingerprint(home / file) == recorded:
                    (folder / file).parent.mkdir(exist_ok=True)
                    shutil.copy2(home / file, folder / file)
            own = folder / name
            own.mkdir()
            yield own
            record = json.loads((own / SIDECAR).read_text())
            (own / SIDECAR).unlink()
            record["files"] = {path.name: digest(path) for path in sorted(own.iterdir())}
            sets = dict(sorted({**sets, name: record}.items()))
            (folder / SIDECAR).write_text(json.dumps({"section": record["section"], SETS: sets}))


def output_folder(cfg: DictConfig, name: str, section: str, kind: str = "") -> Path:
    """Where the tables (``results``) or the ``figures`` of this run go.

    To the folder that the user names, else to the run's, else, by the default settings, to those that are stored.
    """
    run = run_folder()
    if cfg[name] is None and run is not None:
        return run / kind / name
    return folder_of(cfg, cfg[name] or name, section, kind)


def folder_of(cfg: DictConfig, base: str, section: str, kind: str = "") -> Path:
    """The folder results/LOT/section[/set], LOT being paper, beyond or surrogate; relative to the project."""
    return ROOT / base / (kind or lot_of(section)) / section / _chosen(cfg)[0]


def suffix_of(cfg: DictConfig, kind: str = "") -> str:
    """What the titles of a section's figures end in: the set chosen, and whether it is a surrogate."""
    title = _chosen(cfg)[1]
    return (f": {title}" if title else "") + (" (surrogate)" if kind else "")


def _chosen(cfg: DictConfig) -> tuple[str, str]:
    """Name and title of the one set, file or assumed panel that the section is on; empty if it is on none."""
    if cfg.get("dataset"):
        return cfg.dataset.name, cfg.dataset.title
    if cfg.get("data") and cfg.data.path:
        return Path(cfg.data.path).stem, Path(cfg.data.path).stem
    return (cfg.assumed.name, f"{cfg.assumed.name} panel") if cfg.get("assumed") else ("", "")


def display_path(path: Path) -> Path:
    """A path as messages have it: relative to the project, if it is inside."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
