"""How to install what an optional part needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires

from judgerank.data.errors import ConfigError


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
        raise ConfigError(f"asking judges takes {needed('collect')}: there is no {error.name}") from None


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
