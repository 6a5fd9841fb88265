"""Blocks and members of the family by name.

A block is ``style:length`` or ``my_block.py:column``; a member is ``btl`` or ``my_member.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, DataError, JudgerankError
from judgerank.data.modules import from_file, is_file, object_of
from judgerank.data.tied_choices import tie_sizes
from judgerank.model import kinds
from judgerank.model.block import PAIRS_ALONE, Block, Need, Role
from judgerank.model.judge_blocks import JudgeBlock, in_order, larger_ties, plain, strengths
from judgerank.model.kinds import known
from judgerank.model.members import NAMED, Model, Parameters


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
        why = f"requires {missing}" if missing == PAIRS_ALONE else why
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


# The formula of a member of the family in plain text, put together from its judge blocks.
TIES = "odds of first, second, tie e^(eta/2) : e^(-eta/2) : nu_k (Davidson, 1970), eta = "

SETS = (
    "odds of choosing the set C of answers nu_k|C| e^(mean of u over C), nu_k1 = 1 (Davidson-Luce model), a lead "
)
SETS += "in u is eta = "
BEST = "odds of choosing answer i as the best of those left e^(u_i) (Plackett-Luce model), u_i - u_j = "
EARLIER = "d by how many places i was shown before j"
FIVE = "odds of much better, better, tie, worse, much worse kappa_k e^eta : e^(eta/2) : nu_k : e^(-eta/2) : "
FIVE += "kappa_k e^(-eta) (Agresti, 1992), eta = "
MORE = (
    "odds of strength 1, 2, 3, ... for the first e^(eta/2) : kappa_k e^eta : kappa_k3 e^(3 eta/2) : ..., of a tie "
)
MORE += "nu_k, and for the second as for the first with -eta (Agresti, 1992), eta = "


def formula(model: Model, ranked: bool = False) -> str:
    """How a member predicts an answer, or a ranking of several, with a word on each parameter of a judge."""
    eta, free = predictor(model, ranked), _free(model)
    has_columns = any(block.column for block in free)
    block_meanings = [block.meaning for block in free if block.meaning and not has_columns]
    whose = ["the judge's", *["its"] * len(block_meanings)]
    meanings = " and ".join(text.format(whose=word) for text, word in zip(block_meanings, whose, strict=False))
    if ranked or model.tie_sizes[1:]:
        conditions = [EARLIER] if ranked and model.uses(Need.ORDER) else []
        return (SETS if model.has_ties else BEST) + ", ".join(
            [eta, *([meanings] if meanings else []), *conditions]
        )
    if model.uses(Need.TIES) or model.uses(Need.STRENGTH):
        levels = MORE if model.n_strengths > 1 else FIVE if model.uses(Need.STRENGTH) else TIES
        if not model.uses(Need.TIES):
            levels = levels.replace(" tie,", "").replace(" nu_k :", "").replace(" of a tie nu_k,", "")
        return levels + ", ".join([eta, *([meanings] if meanings else [])])
    event = ["first preferred" if model.uses(Need.ORDER) else "i beats j"]
    event += ["judge k"] if free else []
    event += ["length z"] if has_columns else []
    alike = "" if free else ": all judges alike (Bradley and Terry, 1952)"
    return f"P({', '.join(event)}) = sigmoid({eta}){alike}" + (f", {meanings}" if meanings else "")


def predictor(model: Model, ranked: bool = False) -> str:
    """The log-odds of the answer shown first; in rankings, of an answer i against j."""
    of_two = not ranked and (model.uses(Need.ORDER) or model.uses(Need.TIES))
    first, second = ("first", "second") if of_two else ("i", "j")
    free = _free(model)
    weights = [block for block in free if block.role is Role.WEIGHT]
    scaled = f"s_{first} - s_{second}"
    if len(weights) == 1:
        scaled = f"gamma_k ({scaled})"
    elif weights:
        scaled = f"exp({' + '.join(block.term for block in weights)}) ({scaled})"
    return " + ".join([scaled, *(block.term + " d" * ranked for block in free if block.role is Role.OFFSET)])


def treatment_of_ties(model: Model, ranked: bool = False) -> str:
    """Say whether ties are an outcome, and what they are if not."""
    if ranked and not model.uses(Need.TIES):
        return "ties averaged over the orders of the tied answers"
    return "ties an outcome of their own" if model.uses(Need.TIES) else "ties as half a win for either"


def _free(model: Model) -> list[JudgeBlock]:
    return [block for block in model.blocks if block.name in model.free_blocks]


# Parameters of judges that stay at a limit, since the judge never uses a level of answers.
ALWAYS_STRONG = 40.0  # least log propensity to say much better that leaves better no chance


def at_mean(model: Model, cells: Comparisons) -> BoolArray:
    """Judges whose discrimination is held at the mean of the others', shape (K,); none where it has a slope."""
    return cells.at_mean & (model.weighs_judges and not model.weights_vary)


def movable(model: Model, parameters: Parameters) -> BoolArray:
    """Which parameters of the judges are not at a limit, shape (B, K).

    A judge at zero discrimination has log-discrimination minus infinity, and one who never ties, or never says
    much better, that log-propensity. One who never says better without more has `ALWAYS_STRONG` for the least
    strength that it gives: beside a level that has no chance, thresholds are known from each other alone.
    """
    return np.isfinite(parameters.judges) & ~held(model, parameters)


def propensities(model: Model, parameters: Parameters, values: FloatArray) -> FloatArray:
    """Propensities, shape (K,), infinite beside a level that has no chance."""
    return np.where(never_weak(model, parameters) & (values > 0), np.inf, values)


def never_weak(model: Model, parameters: Parameters) -> BoolArray:
    """Mask of the judges who never say better without more, shape (K,)."""
    return np.asarray(held(model, parameters).any(axis=0))


def held(model: Model, parameters: Parameters) -> BoolArray:
    """Thresholds that stand still, since the judge never says better without more, shape (B, K)."""
    is_held = np.zeros(parameters.judges.shape, bool)
    unused = np.ones(parameters.judges.shape[1], bool)  # every weaker strength beyond better
    for row, block in enumerate(model.blocks):
        if block.role.is_strong:
            is_held[row] = unused & (parameters.judges[row] >= ALWAYS_STRONG)
            unused &= ~np.isfinite(parameters.judges[row])
    return is_held
