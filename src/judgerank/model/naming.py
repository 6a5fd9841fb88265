"""Blocks and members of the family by name.

A block is ``style:length`` or ``my_block.py:column``; a member is ``btl`` or ``my_member.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError, JudgerankError
from judgerank.data.modules import from_file, is_file, object_of
from judgerank.data.tied_choices import tie_sizes
from judgerank.model import kinds
from judgerank.model.block import Block, Role
from judgerank.model.judge_blocks import in_order, larger_ties, plain, strengths
from judgerank.model.kinds import known
from judgerank.model.members import NAMED, Model
from judgerank.model.needs import PAIRS_ALONE


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


def all_of(specifications: str | Iterable[str | Block]) -> tuple[Block, ...]:
    """Those of one name or several, and blocks as they are.

    Raises
    ------
    ConfigError
        As `named`, and if two blocks have one name.
    """
    specs = (specifications,) if isinstance(specifications, str) else specifications
    blocks = tuple(block for spec in specs for block in ((spec,) if isinstance(spec, Block) else named(spec)))
    names = [block.name for block in blocks]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"block {twice[0]!r} is there twice")
    return blocks


def member(name: str | Model) -> Model:
    """The member of the family that a name stands for, without further blocks.

    Parameters
    ----------
    name : str or Model
        A name in `members.NAMED`, a file that defines ``MEMBER`` (``my_member.py``) or another name
        (``my_member.py:OTHER``), or a member itself.

    Raises
    ------
    ConfigError
        If there is no such member, or one of another name or other blocks than the library's.
    """
    model: object = name
    if isinstance(name, str):
        model = object_of(name, "MEMBER", "a model") if is_file(name) else NAMED.get(name)
        if model is None:
            raise ConfigError(f"there is no model {name!r} (known: {', '.join(NAMED)}; or a file NAME.py)")
    if not isinstance(model, Model):
        raise ConfigError(f"{name} is a {type(model).__name__}, not a Model (judgerank.model.members)")
    usual = NAMED.get(model.name)
    if usual is not None and usual != replace(model.alone, judge_blocks=plain(model.judge_blocks)):
        raise ConfigError(f"model {model.name!r} of {name} has the name of another model: rename it")
    return model.alone


def get_model(name: str | Model, cells: Comparisons) -> Model:
    """The member that a name stands for, with the strengths that the comparisons have, if they have all it needs.

    Raises
    ------
    ConfigError
        As `member`.
    DataError
        If the model needs a covariate, or an order of presentation, and the comparisons have none.
    """
    model = member(name)
    missing = model.missing(cells)
    if missing is not None:
        alternatives = ", ".join(
            candidate.name for candidate in NAMED.values() if candidate.missing(cells) is None
        )
        why = f"needs {missing}, and the comparisons have none"
        why = f"takes {missing}" if missing == PAIRS_ALONE else why
        raise DataError(f"model {model.name!r} {why} (models that do without: {alternatives})")
    if model.has_ties and cells.stages is not None:
        names = larger_ties({*tie_sizes(cells), *model.tie_sizes})
        return replace(model, judge_blocks=in_order((*model.judge_blocks, *names)))
    more = 0 if cells.strong is None else cells.n_strengths - model.n_strengths
    if not model.has(Role.STRONG) or more <= 0:
        return model
    missing_blocks = strengths(cells.n_strengths)[model.n_strengths :]
    return replace(model, judge_blocks=(*model.judge_blocks, *missing_blocks))


def _module(name: str) -> ModuleType:
    if name in known():
        return import_module(f"{kinds.__name__}.{name}")
    if is_file(name):
        return from_file(name, "a block")
    if "." in name:
        try:
            if find_spec(name) is not None:
                return import_module(name)
        except ModuleNotFoundError:
            pass
    raise ConfigError(f"there is no block {name!r} (known: {', '.join(known())}; or a module, or a file NAME.py)")
