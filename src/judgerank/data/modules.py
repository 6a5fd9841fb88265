"""The modules of a package by name, a user's own code (a module by its file, or an object of it), and extras."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from judgerank.data.errors import ConfigError

ENDING = ".py"


def names_in(folder: Iterable[str], but: Collection[str] = ()) -> tuple[str, ...]:
    """Names of the modules in a package, by its ``__path__``, in alphabetical order, without some."""
    return tuple(sorted(module.name for module in iter_modules(folder) if module.name not in but))


def is_file(name: str) -> bool:
    """Whether a name is that of a Python file, alone or with an object of it (``FILE.py:NAME``)."""
    return name.partition(":")[0].endswith(ENDING)


def from_file(name: str, what: str) -> ModuleType:
    """Run a Python file and return it as a module.

    Parameters
    ----------
    name : str
        Path of the file.
    what : str
        What the file should hold, for the message if there is no such file.

    Raises
    ------
    ConfigError
        If there is no such file, or it raises an exception.
    """
    path = Path(name).resolve()
    module_name = f"judgerank_file_{path.stem}"  # no other module's name, so that none is replaced
    spec = spec_from_file_location(module_name, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise ConfigError(f"there is no file {name} that holds {what}")
    module = module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses of the file look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ConfigError(f"{name} ends in {type(error).__name__}: {error}") from error
    return module


def object_of(name: str, default: str, what: str) -> Any:
    """One object of a Python file.

    Parameters
    ----------
    name : str
        ``FILE.py:OBJECT``, or ``FILE.py`` for the object called `default`.
    default, what : str
        As in `from_file`.

    Raises
    ------
    ConfigError
        As `from_file`, or if the file does not define the object.
    """
    file, _, object_name = name.partition(":")
    module, object_name = from_file(file, what), object_name or default
    if not hasattr(module, object_name):
        raise ConfigError(f"{file} defines no {object_name}: it should hold {what}")
    return getattr(module, object_name)


# How to install what an optional part needs.


@contextmanager
def asking() -> Iterator[None]:
    """Import what asks judges; where it is not installed, say how to install it.

    Raises
    ------
    ConfigError
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(f"asking judges requires {needed('collect')}: there is no {error.name}") from None


def needed(extra: str) -> str:
    """An extra and the command that installs its packages, wherever this package itself came from.

    Parameters
    ----------
    extra : str
        As ``pyproject.toml`` names it.

    Returns
    -------
    str
        For example ``the extra 'parquet' (pip install 'pyarrow>=16')``, to end a sentence with.
    """
    try:
        declared = requires("judgerank") or []
    except PackageNotFoundError:  # run from its sources
        return f"the extra '{extra}' (pip install '.[{extra}]' in the checkout)"
    split = (requirement.partition(";") for requirement in declared)
    names = [name.strip() for name, _, marker in split if marker.split() == ["extra", "==", f"'{extra}'"]]
    return f"the extra '{extra}' (pip install {' '.join(repr(name) for name in names)})"
