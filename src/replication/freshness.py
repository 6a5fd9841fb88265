"""Whether what is stored is what this code computes.

Sidecars, run.json beside tables and figures.json beside figures, have digests of what made the files: the code,
the settings, the data. Each folder of tables has one, and each section's figures, with an entry for each set that
the section runs on in turn. What is stored is fresh if the code, the settings in conf/ and the data at hand have
these digests now. If only the code has changed since, a stamp in results/verified.csv makes it fresh again: one is
put there where the code was found to give the same files, by `make verify` or by another run.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

from judgerank.data.errors import ConfigError
from judgerank.writing.atomic import locked, replace_file
from judgerank.writing.sidecars import SIDECARS, content_of, require_inside, written
from replication.cache_files import JsonCache
from replication.config import CONF, NOT_RESULTS, ROOT, lot_of, script_of, sets_of
from replication.datasets import find_file
from replication.machine import commit
from replication.sources import CACHE, SOURCES, digest_of, named_modules, script_digest, texts_in

LOTS = ("paper", "beyond")
RECORD, SIDECAR = SIDECARS  # beside tables, and beside figures
SETS = "sets"  # in a section's sidecar, what is recorded of its figures on each set
AUDIT = "audit"
STAMPS = "verified.csv"
STAMPED = ["section", "set", "kind", "files", "code", "commit", "date"]
LISTED = ["lot", "section", "set", "kind", "why", "command", "seconds"]
# settings of commands that are no sections which change no number either
OF_COMMANDS = (
    *("rows", "store", "tolerance", "again"),
    *("pages", "accept_falls", "accept_stale", "codecheck", "articles"),
)
SURROGATE = "surrogate"  # decides whether a section runs, not what it gives
Digests = Mapping[str, str | None]
LONGEST_NAME = 200  # of a file
WAITED = 600  # tenths of a second that another run may take for a stamp


def settings_of(cfg: DictConfig) -> dict[str, Any]:
    """The settings that a section's results depend on, resolved."""
    config = OmegaConf.to_container(cfg, resolve=True, enum_to_str=True)
    return {key: value for key, value in config.items() if key not in (*NOT_RESULTS, *OF_COMMANDS)}


def inputs_of(texts: Collection[str]) -> dict[str, str]:
    """SHA-256 of the data files that settings name, by name, as far as they are at hand."""
    names = sorted(text for text in texts if "." in text and "\n" not in text and len(text) < LONGEST_NAME)
    return {name: _file_digest(path) for name in names if (path := find_file(name))}


@cache
def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def made_by(section: str, settings: Mapping[str, Any], data: Mapping[str, str], kind: str) -> Digests:
    """Digests of what makes a section's tables or figures: ``code, settings, data``.

    Parameters
    ----------
    section : str
    settings : mapping
        As of `settings_of`.
    data : mapping of str to str
        Digests by name of the files that tables are computed from, or of the tables that figures are drawn from.
    kind : {"tables", "figures"}
    """
    return _Settings.of(settings).made_by(section, data, kind)


def tables_of(files: Mapping[str, str]) -> dict[str, str]:
    """Of the files of a record those that figures are drawn from."""
    return {name: digest for name, digest in files.items() if name.endswith(".csv")}


def files_stored(results: Path) -> dict[str, str]:
    """Digests of the files of every stored run, all of which the audit may read, by its folder."""
    records = [record for lot in LOTS for record in sorted((results / lot).rglob(RECORD))]
    return {
        record.parent.relative_to(results).as_posix(): digest_of((content_of(record) or {}).get("files"))
        for record in records
    }


def figures_sidecar(folder: Path) -> Path:
    """The file that records the figures in a folder: in it, or for those on one set in that of the section."""
    own, shared = folder / SIDECAR, folder.parent / SIDECAR
    return shared if shared.is_file() and not own.exists() else own


def figures_record(folder: Path) -> dict[str, Any] | None:
    """What is recorded of the figures in a folder, their digests among it; None if nothing is."""
    sidecar = figures_sidecar(folder)
    content = content_of(sidecar)
    if content is None or sidecar.parent == folder:
        return content
    sets = content.get(SETS)
    record = sets.get(folder.name) if isinstance(sets, dict) else None
    return record if isinstance(record, dict) else None


def listed_figures(folder: Path) -> dict[str, str] | None:
    """Digests by name of the figures that are recorded to be in a folder; None if nothing is recorded of it.

    Raises
    ------
    ConfigError
        If what is there is no record, or lists files that are not inside the folder.
    """
    sidecar, record = figures_sidecar(folder), figures_record(folder)
    if record is None or sidecar.parent == folder:
        return written(folder, SIDECAR)
    files = record.get("files")
    if not isinstance(files, dict) or not all(isinstance(digest, str) for digest in files.values()):
        raise ConfigError(f"{sidecar} does not list the figures in {folder}")
    require_inside(folder, files, sidecar)
    return files


def stale(results: Path, lots: Collection[str] = LOTS) -> pd.DataFrame:
    """Stored tables, figures, counts and ratios that this code neither made nor was found to make again.

    Parameters
    ----------
    results : Path
        Usually ``results/``; figures are in ``figures/`` beside it.
    lots : collection of str
        Those that are looked at: the settings of all sections take seconds to compose.

    Returns
    -------
    DataFrame
        ``lot, section, set, kind, why, command, seconds``: `lot` is paper or beyond, `set` empty for a section
        that runs once, `kind` is tables, figures or ratios, `why` names what differs (code, settings, data) or
        says "no digest", `command` makes the thing anew, `seconds` is what its stored run took, if that is known.
    """
    stamped = {_key(row): row for row in _stamps(results).to_dict("records")}
    rows = [
        (entry.lot, entry.section, entry.set, entry.kind, why, entry.command, entry.seconds)
        for entry in _stored(results, lots=lots)
        if (why := entry.differs(stamped.get(entry.key, {}).get("code")))
    ]
    return pd.DataFrame(rows, columns=LISTED)


def stamp(results: Path, sections: Mapping[str, Collection[str]]) -> None:
    """Note that this code gives the stored tables and figures of some sections again.

    Parameters
    ----------
    results : Path
        Usually ``results/``, whose file ``verified.csv`` is replaced whole.
    sections : mapping of str to collection of str
        By section the sets that were recomputed whole and found equal, tables and figures; ``[""]`` for a section
        that runs once, whatever its folder is called. What is fresh without a stamp gets none, and neither does
        what has other settings or data than now.
    """
    with waiting_for(results):
        before = _stamps(results)
        stamps, now = {_key(row): row for row in before.to_dict("records")}, _now()
        for entry in _stored(results, sections):
            wanted = sections[entry.section]
            if entry.set in wanted or ("" in wanted and entry.set not in _sets(entry.section)):
                earlier = stamps.pop(entry.key, {})
                if entry.differs(None) == "code":
                    new = dict(zip(STAMPED, (*entry.key, entry.now["code"], *now), strict=True))
                    is_known = earlier.get("code") == new["code"] and (earlier["commit"] or not new["commit"])
                    stamps[entry.key] = earlier if is_known else new
        rows = [stamps[key] for key in sorted(stamps)]
        if rows != before.to_dict("records"):
            text = pd.DataFrame(rows, columns=STAMPED).to_csv(index=False, lineterminator="\n")
            replace_file(results / STAMPS, text)


def stamp_run(folder: Path, section: str, of: str) -> None:
    """Note that the results in a folder are this code's, if that is a section's own folder in some results/.

    Parameters
    ----------
    folder : Path
        Where a run has just stored its tables.
    section, of : str
        The section, and the set that it ran on, empty if it runs once.
    """
    relative = Path(lot_of(section), section, of)
    results = folder.parents[len(relative.parts) - 1]
    if folder == results / relative:
        stamp(results, {section: [of]})


@dataclass(frozen=True)
class _Stored:
    """Files that one run stored in one folder, with digests of what made them and of what would make them now."""

    lot: str
    section: str
    set: str
    kind: str
    files: str
    made_by: Digests
    now: Digests
    seconds: float = float("nan")

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a stamp is for: these very files."""
        return self.section, self.set, self.kind, self.files

    @property
    def command(self) -> str:
        if self.kind == "ratios":
            return f"make {self.section} ROWS={self.set} ARGS=store=true"
        words = [f"dataset={self.set}"] if self.set and self.set in _sets(self.section) else []
        words += ["draw_only=true"] if self.kind == "figures" and self.section != AUDIT else []
        return f"make {self.section}" + (f' ARGS="{" ".join(words)}"' if words else "")

    def differs(self, stamped: str | None) -> str:
        """What differs from what made it, in words; empty if it is fresh, by a stamp of some code if need be."""
        if not self.made_by:
            return "no digest"
        parts = [name for name, digest in self.now.items() if self.made_by.get(name) != digest]
        return "" if parts == ["code"] and stamped == self.now["code"] else ", ".join(parts)


def _stored(
    results: Path, sections: Collection[str] | None = None, lots: Collection[str] = LOTS
) -> Iterator[_Stored]:
    """What is stored, of all sections or of these alone: digests of all that would make it now take a second."""
    for lot in lots:
        for path in sorted((results / lot).rglob(RECORD)):
            section, *below = path.parent.relative_to(results / lot).parts
            if sections is None or section in sections:
                yield from _of_run(results, lot, section, "/".join(below), content_of(path) or {})
    sidecar = content_of(results / LOTS[0] / f"{AUDIT}.json")
    if sidecar is not None and LOTS[0] in lots and (sections is None or AUDIT in sections):
        yield from _of_run(results, LOTS[0], AUDIT, "", sidecar | {"inputs": files_stored(results)})
    _composed_before().save()


def _of_run(results: Path, lot: str, section: str, of: str, record: Mapping[str, Any]) -> Iterator[_Stored]:
    """Tables and figures of one run; where every row of a table has digests of its own, these."""
    settings, files = _settings_now(section, of), record.get("files", {})
    seconds = record.get("machine", {}).get("seconds", float("nan"))
    now = settings.made_by(section, record.get("inputs", {}) | inputs_of(settings.texts), "tables")
    if "by_row" in record:
        rows = pd.read_csv(results / lot / section / of / record["by_row"], dtype=str, keep_default_na=False)
        for name, lines in rows.groupby("row", sort=False):
            made = lines[list(now)].iloc[0].to_dict()
            yield _Stored(lot, section, str(name), "ratios", "", made if any(made.values()) else {}, now)
    else:
        yield _Stored(lot, section, of, "tables", digest_of(files), record.get("made_by", {}), now, seconds)
    drawn = figures_record(results.parent / "figures" / lot / section / of)
    if drawn is not None:
        now = settings.made_by(section, tables_of(files), "figures")
        made = drawn.get("made_by", {})
        yield _Stored(lot, section, of, "figures", digest_of(drawn.get("files")), made, now, seconds)


@dataclass(frozen=True)
class _Settings:
    """Settings as far as freshness depends on them: their digest, and the strings among them."""

    digest: str
    texts: tuple[str, ...]

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> _Settings:
        deciding = {key: value for key, value in settings.items() if key != SURROGATE}
        return cls(digest_of(deciding), tuple(sorted(texts_in(deciding))))

    def made_by(self, section: str, data: Mapping[str, str], kind: str) -> Digests:
        modules = frozenset(named_modules(self.texts))
        try:
            code = script_digest(script_of(section), kind, modules, frozenset(self.texts))
        except ConfigError:  # stored by a section that is no more
            code = None
        return {"code": code, "settings": self.digest, "data": digest_of(dict(data))}


def _settings_now(section: str, of: str) -> _Settings:
    """The settings that conf/ has for a section, on one set of those that it runs on in turn."""

    def settings() -> dict[str, Any]:
        digested = _Settings.of(settings_of(composed(section, of)))
        return {"digest": digested.digest, "texts": digested.texts}

    known = _composed_before().get(f"{section}/{of}", settings)
    return _Settings(known["digest"], tuple(known["texts"]))


def composed(section: str, of: str) -> DictConfig:
    """What conf/ has for a section, on one set of those that it runs on in turn; any other name is of none."""
    return _composed_on(section, of if of in _sets(section) else "")


@cache
def _composed_on(section: str, of: str) -> DictConfig:
    with _composing(section):
        return compose(section, [f"dataset={of}"] if of else [])


def _sets(section: str) -> list[str]:
    def sets() -> list[str]:
        with _composing(section):
            return sets_of(section)

    return _composed_before().get(section, sets)


@cache
def _composed_before() -> JsonCache:
    """Digests of settings that were composed before: composing all takes seconds."""
    files = [*Path(CONF).rglob("*.yaml"), *SOURCES.glob("*/schemas/*.py"), Path(__file__)]
    content = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files)))
    return JsonCache(CACHE / "settings.json", content.hexdigest())


@contextmanager
def _composing(section: str) -> Iterator[None]:
    """Make the schemas of a section known to Hydra, by the module that its command comes from."""
    begun = r"^from (\S+) import .*\b(?:main|section_command)\b"
    (module,) = re.findall(begun, script_of(section).read_text(), re.MULTILINE)
    import_module(module)
    is_ready = GlobalHydra.instance().is_initialized()
    with nullcontext() if is_ready else initialize_config_dir(CONF, version_base="1.3"):
        yield


def _stamps(results: Path) -> pd.DataFrame:
    path = results / STAMPS
    if not path.is_file():
        return pd.DataFrame(columns=STAMPED)
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _key(row: Mapping[str, str]) -> tuple[str, str, str, str]:
    return row["section"], row["set"], row["kind"], row["files"]


def _now() -> tuple[str, str]:
    """Commit and day of a stamp; no commit where the code is not as committed."""
    version = commit(ROOT)
    name = version["commit"] if version["clean"] else None
    return (str(name)[:7] if name else ""), f"{datetime.now(UTC):%Y-%m-%d}"


@contextmanager
def waiting_for(folder: Path) -> Iterator[None]:
    """Keep other runs from writing to a folder; wait for those that do."""
    with ExitStack() as stack:
        for left in reversed(range(WAITED)):
            try:
                stack.enter_context(locked(folder))
                break
            except ConfigError:
                if not left:
                    raise
                time.sleep(0.1)
        yield
