"""A fit in one file, and back: arrays as they are in a NumPy archive, all else as JSON among them; no pickle.

A fit is a tree of dataclasses. Each becomes a mapping of its fields with the name of its kind, each array the
number of its entry in the archive. Only the kinds listed here are made when a file is read.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import AnyArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.data.stages import Stages
from judgerank.engine.likelihood import Evaluation
from judgerank.engine.solution import Rival, Solution, Status
from judgerank.engine.solvers import SOLVERS
from judgerank.fits.fitted import Fitted
from judgerank.inference.clusters import Clusters
from judgerank.inference.estimates import QuestionEffects
from judgerank.inference.score_sizes import ScoreSizes
from judgerank.model.block import Placed, Role
from judgerank.model.members import Model, Parameters
from judgerank.order.scale import weights_of
from judgerank.writing.targets import Outputs

VERSION = 2  # of the tree; other versions are refused
SCALE = "win rates"  # what reported scores were the log-odds of when the fit was saved (`judgerank.order.scale`)
PARTS = (
    Comparisons,
    Clusters,
    Stages,
    Model,
    Placed,
    Solution,
    Evaluation,
    Parameters,
    QuestionEffects,
    Rival,
    ScoreSizes,
    *SOLVERS.values(),
)


def save(fitted: object, path: Path, about: Mapping[str, Any] | None = None, force: bool = False) -> None:
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


def content(fitted: object, about: Mapping[str, Any] | None = None) -> bytes:
    """What the file of a fit holds.

    Raises
    ------
    ConfigError
        If the fit is by a solver that this library does not have, whose settings could not be read back.
    """
    settings = getattr(fitted, "settings", None)
    if settings is not None and type(settings) not in SOLVERS.values():
        raise ConfigError(f"a fit by a solver of your own ({type(settings).__name__}) cannot be saved")
    arrays: list[AnyArray] = []
    if isinstance(fitted, Fitted):
        fitted = replace(fitted, scale_weights=weights_of(fitted))
    tree = _packed(fitted, arrays)
    metadata = {"kind": tree["kind"], "fit": tree["fields"], "about": dict(about or {}), "scale": SCALE}
    header = json.dumps({"judgerank_fit": VERSION, **metadata})
    entries: dict[str, Any] = {f"array_{number}": values for number, values in enumerate(arrays)}
    file = io.BytesIO()
    np.savez_compressed(file, header=np.array(header), **entries)
    return file.getvalue()


def kept_weights(board: Fitted) -> Mapping[str, float]:
    """The weights of a board's reported scale by judge: those kept with it, or, of one saved without, its own."""
    return weights_of(board) if board.scale_weights is None else board.scale_weights


def _packed(value: Any, arrays: list[AnyArray]) -> Any:
    """A value as JSON can hold it, its arrays left to the archive."""
    if isinstance(value, np.ndarray):
        columns = [
            number for number, array in enumerate(arrays) if array is value
        ]  # a fit and that without share some
        arrays += [] if columns else [value]
        return {"array": columns[0] if columns else len(arrays) - 1}
    if isinstance(value, csr_array):
        parts = [_packed(part, arrays) for part in (value.data, value.indices, value.indptr)]
        return {"sparse": parts, "shape": list(value.shape)}
    if is_dataclass(value):
        named = {field.name: _packed(getattr(value, field.name), arrays) for field in fields(value) if field.init}
        if isinstance(value, Fitted):  # files have the errors' fields among those of the fit
            named |= named.pop("errors")["fields"]
        return {"kind": type(value).__name__, "fields": named}
    if isinstance(value, Status):
        return {"status": str(value)}
    if isinstance(value, Role):
        return {"role": int(value)}
    if isinstance(value, tuple):
        return {"tuple": [_packed(part, arrays) for part in value]}
    if isinstance(value, Mapping):
        return {"mapping": {name: _packed(part, arrays) for name, part in value.items()}}
    return value.item() if isinstance(value, np.generic) else value
