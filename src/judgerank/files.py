"""Which files are meant: one, several, or all that a pattern matches."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from judgerank.errors import ConfigError, DataError, DataUnavailableError
from judgerank.forms import bare_name

SHOWN = 3  # files in a sentence
Files = str | Path | Sequence[str | Path]


def paths_of(files: Files) -> list[Path]:
    """The files themselves, patterns such as ``logs/*.jsonl`` resolved in the order of their names.

    Raises
    ------
    DataUnavailableError
        If nothing matches a pattern.
    ConfigError
        If there are none, or a file is there twice.
    """
    listed = [files] if isinstance(files, str | Path) else list(files)
    paths = [path for one in listed for path in _matches(one)]
    if not paths:
        raise ConfigError("no file is named")
    absolute = [os.path.abspath(path) for path in paths]  # noqa: PTH100  # as given, links left as they are
    if len(set(absolute)) < len(paths):
        raise ConfigError(f"{max(absolute, key=absolute.count)} is named twice")
    return paths


def _matches(file: str | Path) -> list[Path]:
    if not glob.has_magic(str(file)) or os.path.exists(file):  # noqa: PTH110  # which never fails
        return [Path(file)]
    found = sorted(glob.glob(str(file), recursive=True))  # noqa: PTH207  # a pattern may be absolute
    if not found:
        raise DataUnavailableError(f"no file matches {str(file)!r}")
    return [Path(name) for name in found]


def title_of(paths: Sequence[Path]) -> str:
    """The files in a few words, which may name a folder."""
    others = len(paths) - 1
    return bare_name(paths[0]) + (f"-and-{others}-more" if others else "")


def place_of(paths: Iterable[Path]) -> str:
    """Where the files are, as one text."""
    return ", ".join(str(path.absolute()) for path in paths)


def labels_of(paths: Sequence[Path]) -> list[str]:
    """What files are called in a sentence: their names, with their folders where two have the same."""
    names = [path.name for path in paths]
    return (
        names
        if len(set(names)) == len(names)
        else [f"{path.absolute().parent.name}/{path.name}" for path in paths]
    )


@contextmanager
def named(*labels: str) -> Iterator[None]:
    """Put what files are called before what is wrong with what is in them."""
    try:
        yield
    except DataError as error:
        others = len(labels) - SHOWN
        listed = ", ".join(labels[:SHOWN]) + (f" and {others} more" if others > 0 else "")
        raise DataError(f"{listed}: {error}" if labels else str(error)) from None
