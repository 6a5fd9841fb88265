"""Sidecar files that record what was written to a folder, with journals of interrupted runs.

They may have come with somebody else's folder, a clone or an archive, so they are believed only as far as the
folder bears them out: a name is a relative path that stays inside, and a file is ours only while its digest is the
one stated. A stranger who does not know the bytes of a file can therefore not have it replaced or removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, TypeGuard

from judgerank.data.errors import ConfigError

STDIN = "-"  # as the path of a source
STAGING = ".judgerank.partial"
JOURNAL = "journal.json"
SIDECARS = ("run.json", "figures.json")
SHOWN = 80  # characters of a name in a sentence


def digest(path: Path) -> str:
    """SHA-256 of the bytes in a file, without holding them."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(path: Path) -> str | None:
    """What is at a place: a file's digest, where a link leads, or that it is neither; None if nothing is there."""
    if path.is_symlink():
        return f"link to {path.readlink()}"
    if path.is_file():
        return digest(path)
    return "neither file nor link" if path.exists() else None


def content_of(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file, empty if it holds anything else; None if there is nothing of that name."""
    if not os.path.lexists(path):
        return None
    try:
        content = json.loads(path.read_bytes()) if path.is_file() else None  # a FIFO would be waited for
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def written(folder: Path, sidecar: str = "run.json") -> dict[str, str] | None:
    """Digests by name of the files that a sidecar lists; None if there is no such sidecar.

    Raises
    ------
    ConfigError
        If a file of that name is something else, or lists files that are not inside the folder.
    """
    path = folder / sidecar
    content = content_of(path)
    if content is None:
        return None
    files = content.get("files")
    if not _is_of_texts(files):
        raise ConfigError(f"{path} does not list what was written there, and would be replaced (move it away)")
    require_inside(folder, files, path)
    return dict(files)


@dataclass(frozen=True)
class Journal:
    """A change of a folder that is certain.

    Attributes
    ----------
    place : list of str
        Files to move from the staging folder to their places, the sidecar last.
    remove : list of str
        Files to remove: those that the earlier sidecar lists, where they are still as listed.
    edited : dict of str to str
        What is replaced though no sidecar lists it so: fingerprints by name. Copies are among the files to place.
    """

    place: list[str]
    remove: list[str]
    edited: dict[str, str]

    @property
    def sidecar(self) -> str:
        return self.place[-1]


def journal_of(target: Path) -> Journal | None:
    """The journal that an interrupted run left in a folder; None if it left none.

    Raises
    ------
    ConfigError
        If it is no journal, or leads out of the folder.
    """
    staging = target / STAGING
    path = staging / JOURNAL
    content = content_of(path)
    if content is None:
        return None
    to_place, remove, edited = content.get("place"), content.get("remove"), content.get("edited", {})
    if _are_texts(to_place) and _are_texts(remove) and _is_of_texts(edited) and {*to_place[-1:]} & {*SIDECARS}:
        require_inside(target, [*to_place, *remove], path)
        require_inside(staging, to_place, path)
        return Journal(to_place, remove, edited)
    raise ConfigError(f"{path} is not the journal of an interrupted run (move {staging} away)")


def require_inside(folder: Path, names: Iterable[str], source: Path) -> None:
    """Refuse names of files that are not, or through links not, inside a folder.

    Raises
    ------
    ConfigError
    """
    for name in names:
        if not _is_inside(folder, name):
            message = f"{source} names {name[:SHOWN]!r}, which is no file inside that folder"
            raise ConfigError(f"{message}: nothing was changed (name another folder)")


def _is_inside(folder: Path, name: str) -> bool:
    path = PurePath(name)
    if not path.parts or path.anchor or ".." in path.parts or STAGING in path.parts:
        return False
    try:
        above = os.path.realpath(folder / path.parent)
        os.lstat(folder / path)
    except FileNotFoundError:
        pass
    except NotADirectoryError:  # a file where a folder should be, which is told as being in the way
        pass
    except (OSError, ValueError):  # too long, a NUL, or no text that a file system has
        return False
    return Path(above).is_relative_to(os.path.realpath(folder))


def _are_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_of_texts(value: object) -> TypeGuard[dict[str, str]]:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


# marks of single files


def mark_of(path: Path) -> Path:
    """Where the digest of a single file is kept that was written by itself, with that of its earlier edition."""
    return path.with_name(f".{path.name}.judgerank")


def is_mark(path: Path) -> bool:
    """Whether a file holds such digests, and nothing else."""
    is_short = path.is_file() and not path.is_symlink() and path.stat().st_size <= 130  # and no FIFO
    return is_short and re.fullmatch(r"([0-9a-f]{64}\n){1,2}", path.read_text("latin-1")) is not None


def is_marked(path: Path) -> bool:
    """Whether a file is as it was when it was written by itself."""
    mark = mark_of(path)
    return is_mark(mark) and path.is_file() and digest(path) in mark.read_text().split()
