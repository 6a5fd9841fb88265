"""Check where a command will write, before anything is computed and again at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from judgerank.data.errors import ConfigError
from judgerank.writing.atomic import beside, locked, recover
from judgerank.writing.sidecars import STAGING, STDIN, content_of, is_mark, is_marked, mark_of, written

FORCE = "--force, or force=True in Python, replaces it"


class Outputs:
    """The folder and the files that one command writes.

    Parameters
    ----------
    inputs : iterable of path
        What the command reads. No output may be one of these, by whatever name or link.
    force : bool
        Whether what judgerank did not write may be replaced. Inputs, folders and devices never are.
    """

    def __init__(self, inputs: Iterable[str | Path] = (), force: bool = False):
        self._inputs = [_real(path) for path in inputs]
        self._force = force
        self._folder: Path | None = None
        self._files: dict[Path, Callable[[Path], bool]] = {}

    def folder(self, target: Path, section: str, source: str | None = None) -> None:
        """Take a folder that is new or empty, or that an earlier run of the section on the same source wrote.

        What an interrupted run was writing there is finished first.

        Raises
        ------
        ConfigError
            If it holds anything else, or a file that this command reads.
        """
        place = _real(target)
        if os.path.lexists(place / STAGING):
            with locked(place):
                recover(place)
        told = content_of(place / "run.json") or {}
        is_earlier = told.get("section") == section
        if place.exists() and not place.is_dir():
            raise ConfigError(f"{target} is no folder: it holds something else (name another folder)")
        if not is_earlier and not self._force and place.exists() and any(place.iterdir()):
            raise ConfigError(f"{target} holds something else, and would be replaced (name another folder)")
        if is_earlier and not self._force:
            _refuse_another_source(target, told.get("source"), source)
        listed = [place / name for name in written(place) or ()]
        for one in self._inputs:
            if one.is_relative_to(place) or any(_are_same(one, path) for path in listed):
                raise ConfigError(f"{one} is read, and lies in {target}, which is written (name another folder)")
        self._folder = place

    def file(self, path: Path, is_ours: Callable[[Path], bool] = is_marked) -> None:
        """Take a file that is new, or that an earlier run wrote.

        Parameters
        ----------
        path : Path
            Links are followed.
        is_ours : callable
            Whether a file is one that may be replaced; by default one that is as `write` left it.

        Raises
        ------
        ConfigError
            If it is anything else, an input, another output, or there can be no such file.
        """
        place = _real(path)
        try:
            self._refuse(path, place, is_ours)
        except (OSError, ValueError) as error:
            if isinstance(error, ConfigError):
                raise
            why = error.strerror if isinstance(error, OSError) else error
            raise ConfigError(f"{path} cannot be written: {why}") from None
        if {place, mark_of(place)} & {one for taken in self._files for one in (taken, mark_of(taken))}:
            raise ConfigError(f"two outputs go to {path} (name another file for one of them)")
        self._files[place] = is_ours

    def write(self, contents: Mapping[Path, bytes]) -> None:
        """Write files that were taken, all of them or none; `writing` says what is raised."""
        with self.writing(contents):
            pass

    @contextmanager
    def writing(self, contents: Mapping[Path, bytes]) -> Iterator[None]:
        """Write files that were taken when the block ends well, all of them or none.

        Raises
        ------
        ConfigError
            If one cannot be written, or has been written by something else since.
        """
        places = {_real(path): content for path, content in contents.items()}
        marked = [place for place in places if self._files[place] is is_marked]
        with beside(places, marked):
            yield
            for place in places:
                self._refuse(place, place, self._files[place])

    def _refuse(self, path: Path, place: Path, is_ours: Callable[[Path], bool]) -> None:
        mark = mark_of(place)
        if any(_are_same(place, one) or (one.is_dir() and place.is_relative_to(one)) for one in self._inputs):
            raise ConfigError(f"{path} is read by this command, and would be replaced (name another file)")
        if place.is_dir() or not place.parent.is_dir():
            wrong = "is a folder" if place.is_dir() else "lies in a folder that is not there"
            raise ConfigError(f"{path} cannot be written: it {wrong}")
        if self._folder is not None and (place.is_relative_to(self._folder) or self._folder.is_relative_to(place)):
            raise ConfigError(f"{path} lies in {self._folder}, where this command keeps its own files")
        if not os.access(place.parent, os.W_OK):
            raise ConfigError(f"{path} cannot be written: there is no right to write into its folder")
        if os.path.lexists(place) and not place.is_file():
            raise ConfigError(f"{path} cannot be written: it is neither a file nor new")
        if place.exists() and not self._force:
            is_fixed = not place.stat().st_mode & 0o222
            if is_fixed or not is_ours(place):
                why = "is read-only" if is_fixed else "is not as judgerank wrote it"
                raise ConfigError(f"{path} {why}, and would be replaced (name another file; {FORCE})")
        if is_ours is is_marked and os.path.lexists(mark) and not is_mark(mark):
            raise ConfigError(f"{mark} is not as judgerank wrote it, and would be replaced (move it away)")


def _refuse_another_source(target: Path, told: object, source: str | None) -> None:
    earlier = told.get("path") if isinstance(told, dict) else None
    if earlier != source or source == STDIN:  # nobody knows that two pipes are one
        other = "standard input" if earlier == STDIN else earlier or "something else"
        raise ConfigError(
            f"{target} holds the results of {other}, which would be replaced (--output names another folder; "
            f"{FORCE})"
        )


def _are_same(one: Path, other: Path) -> bool:
    """Whether two paths are one file, by whatever names; for those that are not there, whether they are equal."""
    try:
        return one.samefile(other)
    except OSError:
        return one == other


def _real(path: str | Path) -> Path:
    return Path(os.path.realpath(path))
