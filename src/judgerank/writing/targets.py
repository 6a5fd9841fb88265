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
        real_path = _real(target)
        if os.path.lexists(real_path / STAGING):
            with locked(real_path):
                recover(real_path)
        record = content_of(real_path / "run.json") or {}
        is_earlier = record.get("section") == section
        if real_path.exists() and not real_path.is_dir():
            raise ConfigError(f"{target} is no folder: it holds something else (name another folder)")
        if not is_earlier and not self._force and real_path.exists() and any(real_path.iterdir()):
            raise ConfigError(f"{target} holds something else, and would be replaced (name another folder)")
        if is_earlier and not self._force:
            _refuse_another_source(target, record.get("source"), source)
        listed = [real_path / name for name in written(real_path) or ()]
        for input_path in self._inputs:
            if input_path.is_relative_to(real_path) or any(_are_same(input_path, path) for path in listed):
                raise ConfigError(
                    f"{input_path} is read, and lies in {target}, which is written (name another folder)"
                )
        self._folder = real_path

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
        real_path = _real(path)
        try:
            self._refuse(path, real_path, is_ours)
        except (OSError, ValueError) as error:
            if isinstance(error, ConfigError):
                raise
            why = error.strerror if isinstance(error, OSError) else error
            raise ConfigError(f"{path} cannot be written: {why}") from None
        if {real_path, mark_of(real_path)} & {
            reserved_path for reserved in self._files for reserved_path in (reserved, mark_of(reserved))
        }:
            raise ConfigError(f"two outputs go to {path} (name another file for one of them)")
        self._files[real_path] = is_ours

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
        real_paths = {_real(path): content for path, content in contents.items()}
        marked = [real_path for real_path in real_paths if self._files[real_path] is is_marked]
        with beside(real_paths, marked):
            yield
            for real_path in real_paths:
                self._refuse(real_path, real_path, self._files[real_path])

    def _refuse(self, path: Path, real_path: Path, is_ours: Callable[[Path], bool]) -> None:
        mark = mark_of(real_path)
        if any(
            _are_same(real_path, input_path) or (input_path.is_dir() and real_path.is_relative_to(input_path))
            for input_path in self._inputs
        ):
            raise ConfigError(f"{path} is read by this command, and would be replaced (name another file)")
        if real_path.is_dir() or not real_path.parent.is_dir():
            wrong = "is a folder" if real_path.is_dir() else "lies in a folder that is not there"
            raise ConfigError(f"{path} cannot be written: it {wrong}")
        if self._folder is not None and (
            real_path.is_relative_to(self._folder) or self._folder.is_relative_to(real_path)
        ):
            raise ConfigError(f"{path} lies in {self._folder}, where this command keeps its own files")
        if not os.access(real_path.parent, os.W_OK):
            raise ConfigError(f"{path} cannot be written: there is no right to write into its folder")
        if os.path.lexists(real_path) and not real_path.is_file():
            raise ConfigError(f"{path} cannot be written: it is neither a file nor new")
        if real_path.exists() and not self._force:
            is_fixed = not real_path.stat().st_mode & 0o222
            if is_fixed or not is_ours(real_path):
                why = "is read-only" if is_fixed else "is not as judgerank wrote it"
                raise ConfigError(f"{path} {why}, and would be replaced (name another file; {FORCE})")
        if is_ours is is_marked and os.path.lexists(mark) and not is_mark(mark):
            raise ConfigError(f"{mark} is not as judgerank wrote it, and would be replaced (move it away)")


def _refuse_another_source(target: Path, recorded_source: object, source: str | None) -> None:
    earlier = recorded_source.get("path") if isinstance(recorded_source, dict) else None
    if earlier != source or source == STDIN:  # nobody knows that two pipes are one
        source_text = "standard input" if earlier == STDIN else earlier or "something else"
        raise ConfigError(
            f"{target} holds the results of {source_text}, which would be replaced (--output names another "
            f"folder; {FORCE})"
        )


def _are_same(left: Path, right: Path) -> bool:
    """Whether two paths are one file, by whatever names; for those that are not there, whether they are equal."""
    try:
        return left.samefile(right)
    except OSError:
        return left == right


def _real(path: str | Path) -> Path:
    return Path(os.path.realpath(path))
