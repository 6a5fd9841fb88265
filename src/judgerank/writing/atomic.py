"""Atomic writes: only what an earlier run wrote is replaced, and never an input.

What a command wrote into a folder is listed with digests in the sidecar it leaves there: ``run.json`` beside
tables, ``figures.json`` beside figures, which may share a folder. A run prepares its files in a staging folder
inside the target, so that renames stay on one file system and go through symbolic links. Once a journal of the
change lies beside them the change is certain: files take their places one by one by rename, so that none is ever
absent, and if a kill intervenes, the next run into the folder finishes what the journal says before anything else.
Without a journal, what is staged is nothing. `sidecars` says how far sidecars and journals are believed.

A file that is written by itself has its digest in a hidden file beside it, which goes where the folder goes and
which two runs in one folder do not share. `targets` decides what may be written before it is computed.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import secrets
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from judgerank.data.errors import ConfigError
from judgerank.writing.sidecars import (
    JOURNAL,
    STAGING,
    Journal,
    digest,
    fingerprint,
    is_marked,
    journal_of,
    mark_of,
    require_inside,
    written,
)

if sys.platform != "win32":  # there, runs into one folder are not kept apart
    import fcntl

log = logging.getLogger("judgerank")
STORED_FORMAT = "%.9g"  # of numbers: beyond any printed precision, short of the bits that differ between machines
_held: set[Path] = set()


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Of Python and of packages, for a sidecar."""
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


@contextmanager
def locked(*folders: Path) -> Iterator[None]:
    """Keep other runs out of folders, which are made if need be, and removed again if they stay empty.

    Raises
    ------
    ConfigError
        If another run is in one of them, or it cannot be written to.
    """
    with ExitStack() as stack:
        for folder in dict.fromkeys(map(_real, folders)):
            if folder not in _held:
                stack.enter_context(_locked(folder))
        yield


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    handle: int | None = None
    try:
        while handle is None:
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(folder, os.O_RDONLY)
            if sys.platform != "win32":
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not folder.exists() or not os.path.samestat(os.fstat(handle), folder.stat()):
                os.close(handle)  # removed by a run that ended without results, between the two calls
                handle = None
    except BlockingIOError:
        if handle is not None:
            os.close(handle)
        raise ConfigError(f"another run is writing to {folder}; wait for it, or name another folder") from None
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written to: {error.strerror}") from None
    _held.add(folder)
    try:
        yield
    finally:
        _held.discard(folder)
        with suppress(OSError):  # the first that is not empty
            for path in missing:
                path.rmdir()
        os.close(handle)


@contextmanager
def staged(target: Path, sidecar: str = "run.json", force: bool = False) -> Iterator[Path]:
    """A folder whose files become the target's when the block ends well, and vanish when it does not.

    They take the places of those that an earlier run listed in its sidecar; what that one wrote and this one does
    not is removed. A file that was edited since is kept, as ``NAME.edited``; every other file stays as it is.

    Parameters
    ----------
    target : Path
    sidecar : {"run.json", "figures.json"}
        The JSON file that lists the others, to which the block may give further content.
    force : bool
        Whether files that no earlier run wrote may be replaced; they are kept as edited ones are.

    Raises
    ------
    ConfigError
        If a file that no earlier run wrote is in the way, or another run is in the folder; nothing changes then.
    """
    target = _real(target)
    with locked(target):
        recover(target)
        staging = target / STAGING
        try:
            staging.mkdir()
            yield staging
            journal = _prepare(target, staging, sidecar, force)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        _finish(target, journal)


def recover(target: Path) -> None:
    """Finish the change that a killed run was making in a folder; drop what it had merely prepared.

    Raises
    ------
    ConfigError
        If that is not what a run of ours left, or a file was changed since that it would replace.
    """
    staging = target / STAGING
    if not os.path.lexists(staging):
        return
    if staging.is_symlink() or not staging.is_dir():
        raise ConfigError(f"{staging} is not the folder of an interrupted run (move it away)")
    journal = journal_of(target)
    if journal is None:
        shutil.rmtree(staging)
    else:
        log.info("finishing what an interrupted run was writing to %s", target)
        _finish(target, journal)


def _prepare(target: Path, staging: Path, sidecar: str, force: bool) -> Journal:
    """Complete a staging folder by the list of its files, by copies of edited ones, and last by the journal."""
    owned = written(target, sidecar) or {}
    paths = [path.relative_to(staging) for path in sorted(staging.rglob("*")) if path.is_file()]
    new = {path.as_posix(): digest(staging / path) for path in paths if str(path) != sidecar}
    require_inside(target, new, target)
    unchanged, edited = [], {}
    for name in new:
        if _in_the_way(target, name, owned, force):
            message = "was not written by an earlier run, and would be replaced (move it, or name another folder)"
            raise ConfigError(f"{target / name} {message}")
        current = fingerprint(target / name)
        if current is not None and current != owned.get(name):
            unchanged.append(_free_name(target, f"{name}.edited"))
            edited[name] = current
            shutil.copy2(target / name, staging / unchanged[-1], follow_symlinks=False)
            log.info("%s was edited since it was written: kept as %s", target / name, unchanged[-1])
    gone = [name for name in owned if name not in new and fingerprint(target / name) == owned[name]]
    sidecar_content = json.loads((staging / sidecar).read_text()) if (staging / sidecar).exists() else {}
    (staging / sidecar).write_text(json.dumps(sidecar_content | {"files": new}, indent=2) + "\n")
    journal = Journal([*unchanged, *new, sidecar], gone, edited)
    replace_file(staging / JOURNAL, json.dumps(asdict(journal)))
    return journal


def _in_the_way(target: Path, name: str, owned: Mapping[str, str], force: bool) -> bool:
    """Whether there is something at a file's place, or at that of one of its folders, that no run put there."""
    path = target / name
    if any(above.exists() and not above.is_dir() for above in path.parents if above.is_relative_to(target)):
        return True
    return os.path.lexists(path) and (path.is_dir() or not path.is_file() or not (force or name in owned))


def _free_name(target: Path, name: str) -> str:
    number, free = 1, name
    while os.path.lexists(target / free):
        number += 1
        free = f"{name}-{number}"
    return free


def _finish(target: Path, journal: Journal) -> None:
    """Make the change that the journal says, or what is left of it: every step may have been made before.

    The sidecar changes last, so that until then it is the earlier one, by which every step is checked.
    """
    staging = target / STAGING
    owned = written(target, journal.sidecar) or {}
    fingerprints = owned | journal.edited
    left = [name for name in journal.place if os.path.lexists(staging / name)]
    for name in left:
        current = fingerprint(target / name)
        if name != journal.sidecar and current is not None and current != fingerprints.get(name):
            message = f"was changed since a run was interrupted that would replace it (move it, or {staging})"
            raise ConfigError(f"{target / name} {message}")
    for name in [name for name in left if name != journal.sidecar]:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (staging / name).replace(target / name)
    for name in journal.remove:
        if name in owned and fingerprint(target / name) == owned[name]:
            (target / name).unlink()
            with suppress(OSError):  # a folder that is not empty stays
                for above in (target / name).relative_to(target).parents[:-1]:
                    (target / above).rmdir()
    if journal.sidecar in left:
        (staging / journal.sidecar).replace(target / journal.sidecar)
    (staging / JOURNAL).unlink()
    shutil.rmtree(staging)


# single files


@contextmanager
def beside(files: Mapping[Path, bytes], marked: Collection[Path] = ()) -> Iterator[None]:
    """Write files when the block ends well, all of them or none; the marked ones with their digests.

    Raises
    ------
    ConfigError
        If one cannot be written; before the block, unless only its place cannot be taken.
    """
    partials: dict[Path, Path] = {}
    path = Path()
    try:
        try:
            for path, content in files.items():
                partials[path] = _partial(path, content)
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from None
        yield
        try:
            for path, partial in partials.items():
                if path in marked:  # first, with both digests, so that a kill between leaves a file that is known
                    both = [digest(file) for file in (path, partial) if file is partial or is_marked(path)]
                    replace_file(mark_of(path), "".join(f"{file}\n" for file in both))
                partial.replace(path)
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        for partial in partials.values():
            partial.unlink(missing_ok=True)


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all, whatever it was; when this returns it is on the disk."""
    partial = _partial(path, content)
    try:
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _partial(path: Path, content: str | bytes) -> Path:
    """A new file on the disk, beside that which it is to become; there is no file of its name before."""
    partial = path.with_name(f".judgerank-{secrets.token_hex(8)}.partial")
    with partial.open("xb") as file:
        try:
            file.write(content if isinstance(content, bytes) else content.encode())
            file.flush()
            os.fsync(file.fileno())
            if path.exists():
                shutil.copymode(path, partial)
        except BaseException:
            partial.unlink()
            raise
    return partial


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
