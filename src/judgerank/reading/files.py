"""Which files are meant: one, several, or all that a pattern matches."""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeGuard

from judgerank.data.errors import ConfigError, DataError, DataUnavailableError
from judgerank.data.judgments import Judgments
from judgerank.reading.contents import PART, split
from judgerank.reading.file_formats import READERS, bare_name, form_of
from judgerank.reading.hub import Address, is_hub
from judgerank.writing.sidecars import STDIN, written

SHOWN = 3  # files in a sentence
NOT_RECORDS = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "run.json")
GRADING = "grading.json"  # of a run of a skill; what is beside these, such as the run's outputs, is not read
BESIDE = (".run.json", ".charges.json", ".batches.json")  # what a collection keeps beside its judgments
Files = str | Path | Sequence[str | Path]


def is_files(source: object) -> TypeGuard[Files]:
    """Whether something names files."""
    return isinstance(source, str | Path) or (
        isinstance(source, list | tuple) and all(isinstance(item, str | Path) for item in source)
    )


def paths_of(files: Files) -> list[Path]:
    """The files themselves: patterns such as ``logs/*.jsonl`` resolved, and folders, in the order of their names.

    A name may end in ``::`` and one table of the file.

    Raises
    ------
    DataUnavailableError
        If nothing matches a pattern, or a folder holds no file of records.
    ConfigError
        If there are none, a file is there twice, or a folder holds files in several forms.
    """
    listed = [files] if isinstance(files, str | Path) else list(files)
    paths = [path for name in listed for path in _matches(name)]
    if not paths:
        raise ConfigError("no file is named")
    absolute = [os.path.abspath(path) for path in paths]  # noqa: PTH100  # as given, links left as they are
    if len(set(absolute)) < len(paths):
        raise ConfigError(f"{max(absolute, key=absolute.count)} is named twice")
    return paths


def _matches(file: str | Path) -> list[Path]:
    if os.path.isdir(file):  # noqa: PTH112  # which never fails
        return _files_in(Path(file))
    pattern, part = split(Path(file))
    if not glob.has_magic(str(pattern)) or os.path.exists(pattern):  # noqa: PTH110  # likewise
        return [Path(file)]
    matches = sorted(glob.glob(str(pattern), recursive=True))  # noqa: PTH207  # a pattern may be absolute
    if not matches:
        raise DataUnavailableError(f"no file matches {str(file)!r}")
    return [Path(name if part is None else f"{name}{PART}{part}") for name in matches]


def _files_in(folder: Path) -> list[Path]:
    """Files of records in a folder and below it, all in one form.

    None whose name begins with a dot or ``_``, and none of what this package's commands wrote beside records.
    Where there are gradings of skill-creator's runs, these alone.
    """
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and _holds_records(path, folder)]
    paths = [path for path in paths if path.name == GRADING] or paths
    results = {path: _results_in(path) for path in {path.parent for path in paths}}
    paths = [path for path in paths if path.name not in results[path.parent]]
    forms = sorted({form_of(path) for path in paths})
    if not paths:
        raise DataUnavailableError(f"there is no file of records in the folder {str(folder)!r}")
    if len(forms) > 1:
        pattern = str(folder / "**" / f"*.{forms[0]}")
        raise ConfigError(
            f"the folder {str(folder)!r} holds {', '.join(forms)}: name one form, such as {pattern!r}"
        )
    return paths


def _holds_records(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    is_sidecar = any(
        path.name.endswith(end) and path.with_name(path.name.removesuffix(end)).exists() for end in BESIDE
    )
    return not hidden and not is_sidecar and path.name not in NOT_RECORDS and form_of(path) in READERS


def _results_in(folder: Path) -> set[str]:
    """Names of the files of a folder that an earlier ranking or report wrote."""
    try:
        return set(written(folder) or ())
    except ConfigError:  # a run.json of somebody else
        return set()


def plain(paths: Iterable[Path]) -> list[Path]:
    """Files on disk, without the parts that are named of them: not standard input, nor a set on the hub."""
    paths = list(paths)
    addresses = [Address.of(str(path)) for path in paths if is_hub(path)]
    files = [split(path)[0] for path in paths if not is_hub(path) and str(path) != STDIN]
    return [*files, *(Path(address.name) for address in addresses if address.is_local)]


def behind(judgments: Judgments) -> list[str]:
    """Paths of the files that judgments are from."""
    sources = judgments.source.get("files", [judgments.source])
    return [str(path) for path in plain(Path(source["path"]) for source in sources if "path" in source)]


def file_names(files: Files) -> list[str]:
    """Files, folders and patterns as they were named."""
    return [writable(str(name)) for name in ([files] if isinstance(files, str | Path) else files)]


def run_again(command: str, judgments: Judgments, *options: str, passed_on: bool = False) -> str:
    """A command on the files that judgments are from, as they were named; on FILE where none were, or many.

    What is `passed_on`, such as a page, has the name alone of a file elsewhere. The options by which the files
    were read come before further ones.
    """
    names: list[str] = list(judgments.source.get("given", []))
    if not names or len(names) > SHOWN or STDIN in names:
        names = ["FILE"]
    if passed_on:
        names = [Path(name).name if _leads_away(Path(name)) else name for name in names]
    return shlex.join(["judgerank", command, *names, *judgments.source.get("options", []), *options])


def _leads_away(path: Path) -> bool:
    return path.is_absolute() or ".." in path.parts


def title_of(paths: Sequence[Path]) -> str:
    """The files in a few words, which may name a folder."""
    n_others = len(paths) - 1
    return writable(bare_name(paths[0])) + (f"-and-{n_others}-more" if n_others else "")


def place_of(paths: Iterable[Path]) -> str:
    """Where the files are, as one text."""
    return ", ".join(writable(str(path if _is_elsewhere(path) else path.absolute())) for path in paths)


def _is_elsewhere(path: Path) -> bool:
    return str(path) == STDIN or is_hub(path)


def writable(name: str) -> str:
    """A name in which bytes that are no UTF-8 are escaped, so that it can be written."""
    return name.encode("utf-8", "backslashreplace").decode()


def labels_of(paths: Sequence[Path]) -> list[str]:
    """Labels of files in a sentence: their names, with their folders where two have the same."""
    names = list(map(label_of, paths))
    return (
        names
        if len(set(names)) == len(names)
        else [
            name if _is_elsewhere(path) else f"{path.absolute().parent.name}/{path.name}"
            for name, path in zip(names, paths, strict=True)
        ]
    )


def label_of(path: Path) -> str:
    """Label of a file in a sentence: its name; a set on the hub is called as it was named."""
    if str(path) == STDIN:
        return "standard input"
    return writable(str(path) if is_hub(path) else path.name)


@contextmanager
def named(*labels: str) -> Iterator[None]:
    """Put what files are called before what is wrong with what is in them."""
    try:
        yield
    except DataError as error:
        n_others = len(labels) - SHOWN
        listed = ", ".join(labels[:SHOWN]) + (f" and {n_others} more" if n_others > 0 else "")
        raise DataError(f"{listed}: {error}" if labels else str(error)) from None
