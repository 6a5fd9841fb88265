"""Load a fit from the file that `judgerank.fits.storing` wrote."""

from __future__ import annotations

import json
import logging
import zipfile
from collections.abc import Mapping
from dataclasses import fields, replace
from os import PathLike
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import AnyArray
from judgerank.data.errors import DataError
from judgerank.engine.solution import Status
from judgerank.fits.result import Fit
from judgerank.fits.storing import PARTS, SCALE, VERSION
from judgerank.inference.uncertainty import Errors
from judgerank.model.block import Role

log = logging.getLogger("judgerank")
OTHER_SCALE = (
    "This fit was saved when reported scores were those of the most informative judges. They are on the scale "
    "of the panel's win rates now: compare them with scores printed since, not with those printed then."
)


def load(path: str | PathLike[str]) -> Fit:
    """Read a fit that `Fit.save` wrote; it is equal to the last bit.

    Raises
    ------
    DataError
        If there is no such file, or it is another one, or it is of another version.

    Examples
    --------
    >>> import judgerank, tempfile, pathlib
    >>> result = judgerank.fit(judgerank.example(), "btl")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, 'fit.npz')
    ...     result.save(path)
    ...     again = judgerank.load(path)
    >>> again.scores.equals(result.scores)
    True
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            version, tree = header["judgerank_fit"], header["fit"]
            if version != VERSION:
                raise DataError(f"{path} is a fit saved in version {version}, and this reads version {VERSION}")
            kind = header.get("kind", Fit.__name__)
            fitted: Fit = _unpacked({"kind": kind, "fields": tree}, file, _kinds())
            return fitted if header.get("scale") == SCALE else _on_todays_scale(fitted)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except (AttributeError, EOFError, KeyError, OSError, TypeError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is not a fit that judgerank saved, or it is damaged") from None


def _on_todays_scale(fitted: Fit) -> Fit:
    """A fit saved with weights of judges that are no weights of today's scale, without them."""
    if not isinstance(fitted, Fit) or fitted.scale_weights is None:
        return fitted
    log.warning("warning: %s", OTHER_SCALE)
    return replace(fitted, scale_weights=None, remarks=(*fitted.remarks, OTHER_SCALE))


def _kinds() -> dict[str, Any]:
    """What is made when a file is read, by name."""
    kinds: list[Any] = [*PARTS, Fit]
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
        metadata = json.loads(str(file["header"])).get("about", {})
    return dict(metadata)


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
            values = {name: inner(part) for name, part in named.items()}
            if kinds[kind] is Fit:
                of_errors = values.keys() & {field.name for field in fields(Errors)}
                values["errors"] = Errors(**{name: values.pop(name) for name in of_errors})
            return kinds[kind](**values)
        case {"status": status}:
            return Status(status)
        case {"role": role}:
            return Role(role)
        case {"tuple": parts}:
            return tuple(inner(part) for part in parts)
        case {"mapping": named}:
            return {name: inner(part) for name, part in named.items()}
    return value
