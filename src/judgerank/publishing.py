"""Folders that commands write to: one run at a time, all of its files or none, and nobody else's touched.

What a command wrote into a folder is listed with digests in the sidecar it leaves there: ``run.json`` beside
tables, ``figures.json`` beside figures, which may share a folder. A run prepares its files in a staging folder
inside the target, so that renames stay on one file system and go through symbolic links. Once a journal of the
change lies beside them the change is certain: files take their places one by one by rename, so that none is ever
absent, and if a kill intervenes, the next run into the folder finishes what the journal says before anything else.
Without a journal, what is staged is nothing.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

from judgerank.errors import ConfigError

if sys.platform != "win32":  # there, runs into one folder are not kept apart
    import fcntl

log = logging.getLogger("judgerank")
STORED_FORMAT = "%.9g"  # of numbers: beyond any printed precision, short of the bits that differ between machines
STAGING = ".judgerank.partial"
JOURNAL = "journal.json"
_held: set[Path] = set()


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Of Python and of packages, for a sidecar."""
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def written(folder: Path, sidecar: str = "run.json") -> dict[str, str] | None:
    """Digests by name of the files that a sidecar lists; None if there is no such sidecar.

    Raises
    ------
    ConfigError
        If a file of that name is something else.
    """
    path = folder / sidecar
    try:
        files = json.loads(path.read_text())["files"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        files = None
    if not isinstance(files, dict):
        raise ConfigError(f"{path} does not list what was written there, and would be replaced (move it away)")
    return files


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


def replaceable(target: Path, section: str) -> None:
    """Refuse a folder with anything in it unless an earlier run of the section wrote there.

    Raises
    ------
    ConfigError
    """
    if (target / STAGING).exists():
        with locked(target):
            recover(target)
    try:
        earlier = json.loads((target / "run.json").read_text())["section"] == section
    except (OSError, ValueError, KeyError, TypeError):
        earlier = False
    if target.exists() and not earlier and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError(f"{target} holds something else, and would be replaced (name another folder)")


@contextmanager
def staged(target: Path, sidecar: str = "run.json") -> Iterator[Path]:
    """A folder whose files become the target's when the block ends well, and vanish when it does not.

    They take the places of those that an earlier run listed in its sidecar; what that one wrote and this one does
    not is removed. A file that was edited since is kept, as ``NAME.edited``; every other file stays as it is.

    Parameters
    ----------
    target : Path
    sidecar : str
        The JSON file that lists the others, to which the block may give further content.

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
            _prepare(target, staging, sidecar)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        _finish(target)


def recover(target: Path) -> None:
    """Finish the change that a killed run was making in a folder; drop what it had merely prepared."""
    if (target / STAGING / JOURNAL).exists():
        log.info("finishing what an interrupted run was writing to %s", target)
        _finish(target)
    elif (target / STAGING).exists():
        shutil.rmtree(target / STAGING)


def _prepare(target: Path, staging: Path, sidecar: str) -> None:
    """Complete a staging folder by the list of its files, by copies of edited ones, and last by the journal."""
    owned = written(target, sidecar) or {}
    paths = [path.relative_to(staging) for path in sorted(staging.rglob("*")) if path.is_file()]
    new = {path.as_posix(): digest(staging / path) for path in paths if str(path) != sidecar}
    kept = []
    for name in new:
        if _in_the_way(target, name, owned):
            told = "was not written by an earlier run, and would be replaced (move it, or name another folder)"
            raise ConfigError(f"{target / name} {told}")
        if name in owned and _is_edited(target / name, owned[name]):
            kept.append(_free_name(target, f"{name}.edited"))
            shutil.copy2(target / name, staging / kept[-1], follow_symlinks=False)
            log.info("%s was edited since it was written: kept as %s", target / name, kept[-1])
    gone = [name for name in owned if name not in new and not _is_edited(target / name, owned[name])]
    known = json.loads((staging / sidecar).read_text()) if (staging / sidecar).exists() else {}
    (staging / sidecar).write_text(json.dumps(known | {"files": new}, indent=2) + "\n")
    replace_file(staging / JOURNAL, json.dumps({"place": [*kept, *new, sidecar], "remove": gone}))


def _in_the_way(target: Path, name: str, owned: dict[str, str]) -> bool:
    """Whether there is something at a file's place, or at that of one of its folders, that no run put there."""
    path = target / name
    blocked = any(above.exists() and not above.is_dir() for above in path.parents if above.is_relative_to(target))
    return blocked or path.is_dir() or (os.path.lexists(path) and name not in owned)


def _is_edited(path: Path, known: str) -> bool:
    return path.is_symlink() or (path.exists() and digest(path) != known)


def _free_name(target: Path, name: str) -> str:
    number, free = 1, name
    while os.path.lexists(target / free):
        number += 1
        free = f"{name}-{number}"
    return free


def _finish(target: Path) -> None:
    """Make the change that the journal says, or what is left of it: every step may have been made before."""
    staging = target / STAGING
    journal = json.loads((staging / JOURNAL).read_text())
    for name in journal["place"]:
        if os.path.lexists(staging / name):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (staging / name).replace(target / name)
    for name in journal["remove"]:
        (target / name).unlink(missing_ok=True)
        with suppress(OSError):  # a folder that is not empty stays
            for above in (target / name).relative_to(target).parents[:-1]:
                (target / above).rmdir()
    (staging / JOURNAL).unlink()
    shutil.rmtree(staging)


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; when this returns it is on the disk."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
