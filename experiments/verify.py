"""Are the stored results this code's? Recomputed and compared cell by cell, with what differs and by how much.

python experiments/verify.py [only=[chatbot_arena]] [sample=null] [seed=1] [recompute=false] ...
"""

import json
import logging
import runpy
import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from hydra import compose
from matplotlib import image
from matplotlib.figure import Figure
from omegaconf import DictConfig, open_dict

from judgerank.data.errors import ConfigError, DataUnavailableError
from judgerank.plots.looks import in_style
from judgerank.writing.atomic import staged
from replication.config import ROOT, main, script_of, sets_of
from replication.errors import NotAsStoredError
from replication.legends import looks, wrong_labels
from replication.outputs import folder_of, load_section_data, suffix_of
from replication.plots.labels import save_figures
from replication.records import RECORD, VERSIONED, provenance, write_record
from replication.tables import Table, stored_frame
from replication.verifying import (
    Difference,
    compare,
    unlike_csv,
    unlike_listed,
    unlike_settings,
    unlike_versions,
)

log = logging.getLogger("replication")
PIXEL, SHOWN_ELSEWISE = 0.1, 0.002  # a pixel's difference that is seen, and the share of such in a redrawn figure
LOCK = ROOT / "requirements.lock"


def sampled(
    given: DictConfig, axes: list[str], many: int, rng: np.random.Generator, tables: dict[str, pd.DataFrame]
) -> Iterator[str]:
    """Keep only some elements of every axis, and say which; of those that a set is too small for, none."""
    for axis in axes:
        grids = [(given, axis)]
        if axis == "settings":
            grids = [
                (s, kind) for s in given.settings.values() for kind in ("n_comparisons", "beyond") if s.get(kind)
            ]
        for holder, name in grids:
            stored = {value for table in tables.values() if name in table for value in table[name]}
            elements = [key for key in holder[name] if key in stored] or list(holder[name])
            kept = [elements[i] for i in sorted(rng.permutation(len(elements))[:many])]
            with open_dict(holder):
                # a group of named elements, such as panels, or a list
                named = isinstance(holder[name], DictConfig)
                holder[name] = {key: holder[name][key] for key in kept} if named else kept
            yield f"{axis if axis == name else holder._key()} {', '.join(map(str, kept))}"


def jobs(cfg: DictConfig, section: str) -> Iterator[list[str]]:
    """Overrides for every set of a section that runs on each in turn; one without any for the others."""
    swept = sets_of(section)
    for name in swept:
        if cfg.datasets is None or name in cfg.datasets:
            yield [f"dataset={name}"]
    if not swept:
        yield []


def verified(
    cfg: DictConfig, section: str, job: list[str], rng: np.random.Generator
) -> tuple[list[Difference], str]:
    """What differs in a section's stored results on one set, and what was looked at."""
    plan = cfg.sections[section]
    given = compose(section, [*job, *cfg.overrides])
    stored, figures = (folder_of(given, base, section) for base in (cfg.results, cfg.figures))
    if not (stored / RECORD).is_file():
        return [Difference(stored.name, "", RECORD, "missing", "there")], "nothing stored"
    found = unlike_listed(stored, RECORD) + unlike_listed(figures, "figures.json")
    tables = {}
    for path in sorted(stored.iterdir()):
        if path.suffix not in (".csv", ".parquet"):
            continue
        try:
            tables[path.stem] = stored_frame(path)
            if path.suffix == ".csv":
                found += unlike_csv(path)
        except ValueError as error:  # of pandas or of an encoding: not a table any more
            found.append(Difference(stored.name, "", path.name, str(error), "a table"))
    run_json = json.loads((stored / RECORD).read_text())
    found += unlike_settings(run_json, provenance(section, given, {}, ""), "section", "config")
    found += unlike_versions(run_json["versions"], LOCK.read_text(), VERSIONED)
    if not cfg.recompute:
        return found, f"{len(tables)} tables by their digests"
    if plan.overrides:
        given = compose(section, [*job, *cfg.overrides, *plan.overrides])
    with open_dict(given):
        given.surrogate = "never"
    kept = list(sampled(given, plan.axes, cfg.sample, rng, tables)) if cfg.sample else []
    script = runpy.run_path(str(script_of(section)))
    data, again = recomputed(cfg, given, script)
    found += unlike_settings(run_json, provenance(section, given, data, ""), "data")
    try:
        with in_style():
            drawn = script["draw"](tables, suffix_of(given))
            found += unlike_legends(section, drawn, tables, figures) + unlike_figures(drawn, figures)
    except Exception as error:  # whatever comes of drawing tables that were altered
        told = f"cannot be drawn from the stored tables ({type(error).__name__}: {error})"
        found.append(Difference(figures.name, "", "figures", told, "drawn"))
    if cfg.sample:
        again = {name: table for name, table in again.items() if name not in plan.without}
    if section == "convergence_mse" and {"mse", "mse_interior", "mse_draws"} <= tables.keys():
        again |= slopes_again(tables, script)
    for name in dict.fromkeys([*again, *tables]):
        if name in again and name in tables:
            is_part = bool(kept or plan.overrides)
            found += compare(f"{stored.name}/{name}", tables[name], again[name], part=is_part)
        elif name in again or not (name in plan.optional or kept):
            found.append(Difference(stored.name, "", name, *(name in both for both in (tables, again))))
    rows = sum(map(len, again.values()))
    return found, f"{len(again)} tables, {rows} rows" + (f" ({'; '.join(kept)})" if kept else "")


def recomputed(cfg: DictConfig, given: DictConfig, script: dict) -> tuple[dict, dict[str, pd.DataFrame]]:
    """A section's data, and its tables from nothing that was computed before, as they come back from CSV."""
    with tempfile.TemporaryDirectory(prefix="judgerank-verify-") as name:
        folder = Path(name)
        if "cache" in given:
            given.cache = str(folder / "cache")
        if "parallel" in given:
            given.parallel = cfg.parallel
        data, _ = load_section_data(given)
        log.setLevel(logging.WARNING)
        try:
            tables = script["compute"](given, data)
        finally:
            log.setLevel(logging.INFO)
        for table_name, table in tables.items():
            table.write(folder, table_name)
        return data, {path.stem: stored_frame(path) for path in folder.iterdir() if path.is_file()}


def unlike_figures(drawn: dict[str, Figure], stored: Path) -> list[Difference]:
    """Stored figures that do not show what is drawn from the stored tables."""
    found = []
    with tempfile.TemporaryDirectory(prefix="judgerank-verify-") as name:
        save_figures(drawn, Path(name))
        for path in sorted(Path(name).glob("*.png")):
            if not (stored / path.name).is_file():
                found.append(Difference(stored.name, "", path.name, "missing", "there"))
                continue
            one, other = (image.imread(folder / path.name) for folder in (stored, Path(name)))
            unlike = np.abs(one - other).max(axis=2) > PIXEL if one.shape == other.shape else np.ones(1)
            if unlike.mean() > SHOWN_ELSEWISE:
                share = f"{unlike.mean():.1%} of it shows something else"
                found.append(Difference(stored.name, "", path.name, share, "as drawn from the tables"))
    return found


def unlike_legends(
    section: str, drawn: dict[str, Figure], tables: dict[str, pd.DataFrame], stored: Path
) -> list[Difference]:
    """Labels with another's look: in a figure beside its table, in the stored figure beside the one drawn."""
    found = [
        Difference(section, name, "legend", wrong, "the numbers of its label")
        for name, figure in drawn.items()
        for wrong in wrong_labels(section, name, figure, tables)
    ]
    kept = json.loads((stored / "figures.json").read_text()).get("legends", {})
    now = {name: looks(figure) for name, figure in drawn.items()}
    return found + [
        Difference(section, name, "legend", shown, now.get(name))
        for name, shown in kept.items()
        if now.get(name) != shown
    ]


def slopes_again(tables: dict[str, pd.DataFrame], script: dict) -> dict[str, pd.DataFrame]:
    """Slopes of section 4.1 from the stored means they follow from, whose points are sampled."""
    main_draw = [
        tables[name].assign(draw=0, subset=subset)
        for name, subset in (("mse", "all"), ("mse_interior", "interior"))
    ]
    errors = pd.concat([*main_draw, tables["mse_draws"]])
    lines = errors.groupby([*script["SETTING"], "draw", "subset", "parameter"], sort=False)
    slopes = lines.apply(script["slope"], include_groups=False).reset_index()
    place = [*script["SETTING"], "draw", "subset", "parameter"]
    slopes_draws = slopes.sort_values(place, ascending=[*[True] * (len(place) - 1), False])  # as they are stored
    return {"slopes_draws": slopes_draws, "slopes": script["_beside_paper"](slopes)}


def is_whole(cfg: DictConfig) -> bool:
    """Whether all that is stored is looked at, and recomputed as far as by default."""
    is_part = cfg.only or cfg.datasets or cfg.overrides or cfg.seed is not None
    return cfg.recompute and cfg.sample == 1 and not is_part


def keep(cfg: DictConfig, names: list[str], start: float) -> None:
    """Store that every section is as stored, and how long it took to find out."""
    target = Path(ROOT, cfg.results, "paper", "verify")
    frame = pd.DataFrame({"section": names, "verdict": "as stored"})
    with staged(target) as folder:
        Table(frame, "Sections whose stored tables come out again").write(folder, "sections")
        write_record(folder, target, provenance("verify", cfg, {}, ""), ROOT, start)


@main("verify")
def run(cfg: DictConfig) -> None:
    unknown = set(cfg.only or []) - set(cfg.sections)
    if unknown:
        raise ConfigError(f"there is no section {min(unknown)!r} (known: {', '.join(cfg.sections)})")
    seed = secrets.randbelow(2**32) if cfg.seed is None else cfg.seed
    if cfg.recompute and cfg.sample:
        log.info("%d of every axis, drawn with seed=%d (sample=null recomputes everything)", cfg.sample, seed)
    names, different, start = [], [], time.monotonic()
    for section in cfg.only or cfg.sections:
        for job in jobs(cfg, section):
            began, name = time.monotonic(), " ".join([section, *job])
            names.append(name)
            # each section's sample depends on the seed alone, not on which others are verified
            rng = np.random.default_rng([seed, *name.encode()])
            try:
                found, what = verified(cfg, section, job, rng)
            except DataUnavailableError as error:
                found, what = [Difference(section, "", "data", "a result", str(error))], "not recomputed"
            verdict = f"{len(found)} differences" if found else "as stored"
            log.info("%s: %s; %s, %.0f s", name, verdict, what, time.monotonic() - began)
            for difference in found[: cfg.shown]:
                log.info("  %s", difference)
            if len(found) > cfg.shown:
                log.info("  ... and %d more (shown=%d shows them)", len(found) - cfg.shown, len(found))
            different += [(name, difference) for difference in found]
    log.info("verified in %.0f s", time.monotonic() - start)
    if different:
        unlike = list(dict.fromkeys(name for name, _ in different))
        raise NotAsStoredError(f"{len(different)} differences from what is stored: {', '.join(unlike)}")
    if is_whole(cfg):
        keep(cfg, names, start)


if __name__ == "__main__":
    run()
