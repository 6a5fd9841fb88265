"""A fit in one file, and back: arrays as they are in a NumPy archive, all else as JSON among them; no pickle.

A fit is a tree of dataclasses. Each becomes a mapping of its fields with the name of its kind, each array the
number of its entry in the archive. Only the kinds listed here are made when a file is read.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from judgerank.arrays import AnyArray
from judgerank.comparisons import Comparisons
from judgerank.effects import QuestionEffects
from judgerank.errors import DataError
from judgerank.likelihood import Evaluation
from judgerank.model import Model, Parameters
from judgerank.solvers.settings import SOLVERS
from judgerank.solvers.solution import Rival, Solution, Status
from judgerank.targets import Outputs

if TYPE_CHECKING:
    from judgerank.questions.result import QuestionFit
    from judgerank.result import FitResult

VERSION = 1  # of the tree; other versions are refused
PARTS = (Comparisons, Model, Solution, Evaluation, Parameters, QuestionEffects, Rival, *SOLVERS.values())
WITH_QUESTIONS = "QuestionFit"


def save(
    fitted: FitResult | QuestionFit, path: Path, about: Mapping[str, Any] | None = None, force: bool = False
) -> None:
    """Write a fit, whole or not at all, with what there is to say about it: JSON values by name.

    Raises
    ------
    ConfigError
        If the file cannot be written, or is no saved fit and would be lost.
    """
    outputs = Outputs(force=force)
    outputs.file(path, is_saved)
    outputs.write({path: content(fitted, about)})


def is_saved(path: Path) -> bool:
    """Whether a file is a fit that was saved, in whatever version."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return "judgerank_fit" in json.loads(str(file["header"]))
    except (AttributeError, EOFError, KeyError, OSError, TypeError, ValueError, zipfile.BadZipFile):
        return False


def content(fitted: FitResult | QuestionFit, about: Mapping[str, Any] | None = None) -> bytes:
    """What the file of a fit holds."""
    arrays: list[AnyArray] = []
    tree = _packed(fitted, arrays)
    told = {"kind": tree["kind"], "fit": tree["fields"], "about": dict(about or {})}
    header = json.dumps({"judgerank_fit": VERSION, **told})
    entries: dict[str, Any] = {f"array_{number}": values for number, values in enumerate(arrays)}
    file = io.BytesIO()
    np.savez_compressed(file, header=np.array(header), **entries)
    return file.getvalue()


def load(path: str | PathLike[str]) -> FitResult | QuestionFit:
    """Read a fit that `FitResult.save` or `QuestionFit.save` wrote; it is equal to the last bit.

    Raises
    ------
    DataError
        If there is no such file, or it is another one, or it is of another version.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            version, tree = header["judgerank_fit"], header["fit"]
            if version != VERSION:
                raise DataError(f"{path} is a fit saved in version {version}, and this reads version {VERSION}")
            with_questions = header.get("kind") == WITH_QUESTIONS
            kind = WITH_QUESTIONS if with_questions else "FitResult"
            return _unpacked({"kind": kind, "fields": tree}, file, _kinds(with_questions))
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except (AttributeError, EOFError, KeyError, OSError, TypeError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is not a fit that judgerank saved, or it is damaged") from None


@cache
def _kinds(with_questions: bool) -> dict[str, Any]:
    """What is made when a file is read, by name."""
    from judgerank.result import FitResult

    kinds: list[Any] = [*PARTS, FitResult]
    if with_questions:
        from judgerank.questions.groups import Group
        from judgerank.questions.marginal import Marginal
        from judgerank.questions.maximum import Found
        from judgerank.questions.result import QuestionFit

        kinds += [Group, Marginal, Found, QuestionFit]
    return {kind.__name__: kind for kind in kinds}


def about(path: str | PathLike[str]) -> dict[str, Any]:
    """What was said of a saved fit when it was saved; nothing, of one saved without.

    Raises
    ------
    DataError
        As of `load`.
    """
    load(path)  # which says what is wrong with a file
    with np.load(path, allow_pickle=False) as file:
        told = json.loads(str(file["header"])).get("about", {})
    return dict(told)


def _packed(value: Any, arrays: list[AnyArray]) -> Any:
    """A value as JSON can hold it, its arrays left to the archive."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, csr_array):
        parts = [_packed(part, arrays) for part in (value.data, value.indices, value.indptr)]
        return {"sparse": parts, "shape": list(value.shape)}
    if is_dataclass(value):
        named = {field.name: _packed(getattr(value, field.name), arrays) for field in fields(value) if field.init}
        return {"kind": type(value).__name__, "fields": named}
    if isinstance(value, Status):
        return {"status": str(value)}
    if isinstance(value, tuple):
        return {"tuple": [_packed(part, arrays) for part in value]}
    if isinstance(value, Mapping):
        return {"mapping": {name: _packed(part, arrays) for name, part in value.items()}}
    return value.item() if isinstance(value, np.generic) else value


def _unpacked(value: Any, arrays: Mapping[str, AnyArray], kinds: Mapping[str, Any]) -> Any:
    """The inverse of `_packed`."""

    def inner(part: Any) -> Any:
        return _unpacked(part, arrays, kinds)

    match value:
        case {"array": number}:
            return arrays[f"array_{number}"]
        case {"sparse": parts, "shape": shape}:
            return csr_array(tuple(inner(part) for part in parts), shape=tuple(shape))
        case {"kind": kind, "fields": named}:
            return kinds[kind](**{name: inner(part) for name, part in named.items()})
        case {"status": status}:
            return Status(status)
        case {"tuple": parts}:
            return tuple(inner(part) for part in parts)
        case {"mapping": named}:
            return {name: inner(part) for name, part in named.items()}
    return value
