"""A block by its name and columns, as in ``style:length`` or ``my_block.py:column``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from judgerank.data.errors import ConfigError, JudgerankError
from judgerank.model import kinds
from judgerank.model.block import Block


def known() -> list[str]:
    """Names of the blocks that come with the library."""
    return sorted(module.name for module in iter_modules(kinds.__path__))


def named(specification: str) -> tuple[Block, ...]:
    """The blocks that a name and its columns stand for.

    Parameters
    ----------
    specification : str
        ``NAME`` or ``NAME:COLUMN,COLUMN``. NAME is a block of the library, a module (``package.module``) or a file
        (``folder/module.py``) with a function `block` that takes the columns and returns blocks.

    Raises
    ------
    ConfigError
        If there is no such block, or it does not take these columns.
    """
    name, _, columns = specification.partition(":")
    make = getattr(_module(name), "block", None)
    if not callable(make):
        raise ConfigError(f"block {name!r} has no function `block`")
    try:
        blocks = make(*(column.strip() for column in columns.split(",") if column.strip()))
    except TypeError as error:
        raise ConfigError(f"block {name!r} does not take columns {columns!r}: {error}") from None
    except Exception as error:
        if isinstance(error, JudgerankError):
            raise
        raise ConfigError(f"the function `block` of {name!r} ends in {type(error).__name__}: {error}") from error
    blocks = (blocks,) if isinstance(blocks, Block) else tuple(blocks)
    if not blocks or not all(isinstance(block, Block) for block in blocks):
        raise ConfigError(f"the function `block` of {name!r} returns no blocks")
    return blocks


def all_of(specifications: Iterable[str | Block]) -> tuple[Block, ...]:
    """Those of several names, and blocks as they are.

    Raises
    ------
    ConfigError
        As `named`, and if two blocks have one name.
    """
    blocks = tuple(block for one in specifications for block in ((one,) if isinstance(one, Block) else named(one)))
    names = [block.name for block in blocks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"block {twice[0]!r} is there twice")
    return blocks


def _module(name: str) -> ModuleType:
    if name in known():
        return import_module(f"{kinds.__name__}.{name}")
    if name.endswith(".py"):
        path = Path(name)
        spec = spec_from_file_location(path.stem, path) if path.is_file() else None
        if spec is None or spec.loader is None:
            raise ConfigError(f"there is no file {name} that holds a block")
        module = module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)  # dataclasses of the file look their module up
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise ConfigError(f"{name} ends in {type(error).__name__}: {error}") from error
        return module
    if "." in name:
        try:
            if find_spec(name) is not None:
                return import_module(name)
        except ModuleNotFoundError:
            pass
    raise ConfigError(f"there is no block {name!r} (known: {', '.join(known())}; or a module, or a file NAME.py)")
