"""Stored results recomputed and compared: tables cell by cell, figures, and the records of runs."""

from __future__ import annotations

import json
import logging
import runpy
import secrets
import tempfile
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from hydra import compose
from omegaconf import DictConfig, OmegaConf, open_dict

from judgerank.data.errors import ConfigError, DataUnavailableError
from judgerank.plots.looks import in_style
from judgerank.writing.atomic import staged
from replication import freshness
from replication.config import ROOT, script_of, sets_of
from replication.differences import (
    Difference,
    compare,
    other_drawers,
    unlike_figures,
    unlike_listed,
    unlike_settings,
    unlike_versions,
)
from replication.errors import NotAsStoredError
from replication.freshness import SIDECAR
from replication.machine import peak_memory_mb, total_processor_seconds
from replication.outputs import folder_of, load_section_data, suffix_of
from replication.records import (
    RECORD,
    VERSIONED,
    Cost,
    provenance,
    unlike_code,
    unlike_cost,
    unlike_record,
    write_record,
)
from replication.tables import Table, stored_frames

log = logging.getLogger("replication")
LOCK = ROOT / "requirements.lock"
READERS = {".csv": pd.read_csv, ".parquet": pd.read_parquet}
STALE = "stale"  # instead of names: sections whose stored results this code did not make


@dataclass
class Verification:
    """What was compared of a section's stored results on one set, and what differs.

    Attributes
    ----------
    compared : str
        In words.
    differences : list of Difference
    is_whole : bool
        Every table was recomputed, and every picture compared by its pixels.
    unavailable : str
        Why nothing was recomputed; empty if it was.
    """

    compared: str
    differences: list[Difference] = field(default_factory=list)
    is_full: bool = False
    unavailable: str = ""


def verify(cfg: DictConfig) -> None:
    """Recompute the sections of a configuration, print what differs, and stamp those that came out equal.

    Raises
    ------
    ConfigError
        If a section or a set asked for does not exist.
    NotAsStoredError
        If anything differs.
    DataUnavailableError
        If data that a section needs are not at hand, so that it was not compared.
    """
    seed = secrets.randbelow(2**32) if cfg.seed is None else cfg.seed
    if cfg.recompute and cfg.sample:
        log.info("%d of every axis, drawn with seed=%d (sample=null recomputes everything)", cfg.sample, seed)
    start, done = time.monotonic(), {}
    for section, name in _chosen(cfg):
        job = [f"dataset={name}"] if name else []
        began, title = time.monotonic(), " ".join([section, *job])
        # each section's sample depends on the seed alone, not on which others are verified
        rng = np.random.default_rng([seed, *title.encode()])
        done[section, name] = result = verified(cfg, section, job, rng)
        _log(title, result, time.monotonic() - began, cfg.shown)
    log.info("verified in %.0f s" if done else "nothing to verify (%.0f s)", time.monotonic() - start)
    equal = {}
    for (section, name), result in done.items():
        if result.is_full and not result.differences:
            equal.setdefault(section, []).append(name)
    if equal and not cfg.overrides:
        freshness.stamp(Path(ROOT, cfg.results), equal)
    _require_equal({" ".join(filter(None, parts)): result for parts, result in done.items()})
    if is_full(cfg):
        keep(cfg, [" ".join(filter(None, parts)) for parts in done], start)


def _require_equal(done: dict[str, Verification]) -> None:
    different = {title: result for title, result in done.items() if result.differences}
    unavailable = {title: result for title, result in done.items() if result.unavailable}
    left = f"not compared, for want of data: {', '.join(unavailable)}" if unavailable else ""
    if different:
        count = sum(len(result.differences) for result in different.values())
        more = f"; {left}" if left else ""
        raise NotAsStoredError(f"{_counted(count)} from what is stored: {', '.join(different)}{more}")
    if unavailable:
        first = next(iter(unavailable.values())).unavailable
        raise DataUnavailableError(f"{left} ({first}; docs/data.md says how to get them)")


def _counted(differences: int) -> str:
    return f"{differences} difference{'s' * (differences != 1)}"


def _log(title: str, result: Verification, seconds: float, n_shown: int) -> None:
    count = len(result.differences)
    verdict = "as stored" if not result.unavailable else "nothing recomputed"
    verdict = _counted(count) if count else verdict
    log.info("%s: %s; %s, %.0f s", title, verdict, result.unavailable or result.compared, seconds)
    for difference in result.differences[:n_shown]:
        log.info("  %s", difference)
    if count > n_shown:
        log.info("  ... and %d more (shown=%d shows them)", count - n_shown, count)


def _chosen(cfg: DictConfig) -> list[tuple[str, str]]:
    """Sections to verify, each with a data set, empty for a section that runs once."""
    swept = sorted({name for section in cfg.sections for name in sets_of(section)})
    for name in set(cfg.datasets or []) - set(swept):
        raise ConfigError(f"no section runs on a data set {name!r} in turn (known: {', '.join(swept)})")
    only = [cfg.only] if isinstance(cfg.only, str) else cfg.only
    if only == [STALE]:
        wanted = freshness.stale(Path(ROOT, cfg.results))
        wanted = wanted[~(wanted["seconds"] > (cfg.at_most or float("inf")))]
        pairs = set(zip(wanted["section"], wanted["set"], strict=True))
        every = [(section, name) for section in cfg.sections for name in _sets(cfg, section)]
        # a section that runs once may have a folder named after what it assumes
        return [job for job in every if job in pairs or (not job[1] and job[0] in set(wanted["section"]))]
    if only is not None and not OmegaConf.is_list(only) and not isinstance(only, list):
        raise ConfigError(f"only={only}: name sections, as in only=[{next(iter(cfg.sections))}], or {STALE}")
    unknown = sorted(set(only or []) - set(cfg.sections))
    if unknown:
        raise ConfigError(
            f"there is no section {unknown[0]!r} (known: {', '.join(cfg.sections)}; `make verify` takes those of "
            "the paper, `make verify_beyond` the others)"
        )
    return [(section, name) for section in only or cfg.sections for name in _sets(cfg, section)]


def _sets(cfg: DictConfig, section: str) -> list[str]:
    """Sets that a section runs on in turn, as far as they were asked for; one without a name if it runs once."""
    swept = sets_of(section)
    return [name for name in swept if cfg.datasets is None or name in cfg.datasets] if swept else [""]


def verified(cfg: DictConfig, section: str, job: list[str], rng: np.random.Generator) -> Verification:
    """Compare a section's stored results on one set with what the code gives.

    Parameters
    ----------
    cfg : DictConfig
        Of the command.
    section : str
    job : list of str
        The override that chooses the set, if there is one.
    rng : Generator
        For the sample, where one is asked for.
    """
    plan = cfg.sections[section]
    composed = compose(section, [*job, *cfg.overrides])
    stored, figures = (folder_of(composed, base, section) for base in (cfg.results, cfg.figures))
    if not (stored / RECORD).is_file():
        return Verification("nothing stored", [Difference(stored.name, "", RECORD, "missing", "there")])
    result = Verification("", unlike_listed(stored, RECORD) + unlike_listed(figures, SIDECAR))
    differences = result.differences
    tables, unreadable = _readable(stored)
    differences += unreadable
    record = json.loads((stored / RECORD).read_text())
    now = provenance(section, composed, {}, "")
    differences += unlike_record(record, ROOT)
    differences += unlike_code(record, ROOT, [*job, *cfg.overrides], now["made_by"]["code"])
    differences += unlike_settings(record, now, "section", "config")
    differences += unlike_versions(record["versions"], LOCK.read_text(), VERSIONED)
    if not cfg.recompute:
        result.compared = f"{len(tables)} tables by their digests"
        return result
    more = [*plan.overrides, *(plan.sampled if cfg.sample else [])]
    composed = compose(section, [*job, *cfg.overrides, *more])
    with open_dict(composed):
        composed.surrogate = "never"
    sampled_axes = list(sampled(composed, plan.axes, cfg.sample, rng, tables)) if cfg.sample else []
    script = runpy.run_path(str(script_of(section)))
    try:
        data, again, cost = recomputed(cfg, composed, script)
    except DataUnavailableError as error:
        result.unavailable = str(error)
        return result
    differences += unlike_settings(record, provenance(section, composed, data, ""), "data")
    if not sampled_axes:
        differences += unlike_cost(record, cost)
    differences += _unlike_drawn(section, script, composed, tables, figures)
    left_out = [*plan.without] if cfg.sample else []
    again = {name: table for name, table in again.items() if name not in left_out}
    for name in dict.fromkeys([*again, *tables]):
        if name in again and name in tables:
            differences += compare(f"{stored.name}/{name}", tables[name], again[name], part=bool(sampled_axes))
        elif name in again or not (name in plan.optional or sampled_axes):
            both = ("there" if name in side else "missing" for side in (tables, again))
            differences.append(Difference(stored.name, "", name, *both))
    rows, drawers = sum(map(len, again.values())), other_drawers(figures)
    result.is_full = not (sampled_axes or drawers)
    sample = f" ({'; '.join(sampled_axes)})" if sampled_axes else ""
    pictures = f", pixels not compared (pictures {drawers}; `make study` installs those)" if drawers else ""
    result.compared = f"{len(again)} tables, {rows} rows{sample}{pictures}"
    return result


def _readable(stored: Path) -> tuple[dict[str, pd.DataFrame], list[Difference]]:
    """Stored tables by name, and those that are no tables any more."""
    tables, unreadable = {}, []
    for path in sorted(stored.iterdir()):
        try:
            if path.suffix in READERS:
                tables[path.stem] = READERS[path.suffix](path)
        except (ValueError, OSError) as error:  # of pandas, of an encoding, or of pyarrow
            unreadable.append(Difference(stored.name, "", path.name, str(error), "a table"))
    return tables, unreadable


def _unlike_drawn(
    section: str, script: dict, composed: DictConfig, tables: dict[str, pd.DataFrame], figures: Path
) -> list[Difference]:
    """Differences between the stored figures and those drawn from the stored tables."""
    try:
        with in_style():
            drawn = script["draw"](tables, suffix_of(composed))
            return unlike_figures(section, drawn, tables, figures)
    except Exception as error:  # whatever comes of drawing tables that were altered
        message = f"cannot be drawn from the stored tables ({type(error).__name__}: {error})"
        return [Difference(figures.name, "", "figures", message, "drawn")]


@cache
def _memory_at_first() -> float | None:
    """Megabytes before the first section was recomputed: the peak of a process does not fall after a large one."""
    return peak_memory_mb()


def recomputed(cfg: DictConfig, composed: DictConfig, script: dict) -> tuple[dict, dict[str, pd.DataFrame], Cost]:
    """A section's data, its tables as they come back from files, computed without any cache, and the cost."""
    start_memory, start, start_processor = _memory_at_first(), time.monotonic(), total_processor_seconds()
    with tempfile.TemporaryDirectory(prefix="judgerank-verify-") as name:
        folder = Path(name)
        if "cache" in composed:
            composed.cache = str(folder / "cache")
        if "parallel" in composed:
            composed.parallel = cfg.parallel
        data, _ = load_section_data(composed)
        log.setLevel(logging.WARNING)
        try:
            tables = script["compute"](composed, data)
        finally:
            log.setLevel(logging.INFO)
        cost = Cost(time.monotonic() - start, total_processor_seconds() - start_processor, start_memory)
        target = folder / "tables"
        target.mkdir()
        for table_name, table in tables.items():
            table.write(target, table_name)
        return data, stored_frames(target), cost


def sampled(
    composed: DictConfig,
    axes: Collection[str],
    size: int,
    rng: np.random.Generator,
    tables: dict[str, pd.DataFrame],
) -> Iterator[str]:
    """Keep only some elements of every axis, and say which; of those that a set is too small for, none."""
    for axis in axes:
        grids = [(composed, axis)]
        if axis == "settings":
            grids = [
                (s, kind)
                for s in composed.settings.values()
                for kind in ("n_comparisons", "beyond")
                if s.get(kind)
            ]
        for holder, name in grids:
            stored = {value for table in tables.values() if name in table for value in table[name]}
            elements = [key for key in holder[name] if key in stored] or list(holder[name])
            sampled_elements = [elements[i] for i in sorted(rng.permutation(len(elements))[:size])]
            with open_dict(holder):
                # a group of named elements, such as panels, or a list
                named = isinstance(holder[name], DictConfig)
                holder[name] = {key: holder[name][key] for key in sampled_elements} if named else sampled_elements
            yield f"{axis if axis == name else holder._key()} {', '.join(map(str, sampled_elements))}"


def is_full(cfg: DictConfig) -> bool:
    """Whether all of the paper's stored results are recomputed."""
    is_part = cfg.only or cfg.datasets or cfg.overrides or cfg.sample
    return cfg.lot == "paper" and cfg.recompute and not is_part


def keep(cfg: DictConfig, names: list[str], start: float) -> None:
    """Store that every section is as stored, and how long it took to find out."""
    target = Path(ROOT, cfg.results, cfg.lot, "verify")
    frame = pd.DataFrame({"section": names, "verdict": "as stored"})
    with staged(target) as folder:
        Table(frame, "Sections whose stored tables come out again").write(folder, "sections")
        write_record(folder, target, provenance("verify", cfg, {}, ""), ROOT, start)
