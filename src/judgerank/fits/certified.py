"""Refusals of fits whose likelihood has no maximum, or whose blocks are not identified."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import require_maximum
from judgerank.data.errors import NoMaximumError, NotIdentifiedError
from judgerank.engine.existence import near_maximum, rising_direction
from judgerank.engine.information import SINGULAR, Coordinates, information
from judgerank.engine.levels import judged, net_wins
from judgerank.engine.likelihood import Evaluation, evaluate
from judgerank.engine.penalty import penalty
from judgerank.engine.solution import Status
from judgerank.fits.fitted import Fitted
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

MOVES = 1e-6  # entry of a direction, the largest being one, that counts as moving
EVEN = 1e-9  # net wins of a model by a judge, over its comparisons, that count as none
SHARE = 0.05  # of a singular direction's length, scaled, that names a block


def _refuse(cells: Comparisons, model: Model, direction: FloatArray | None) -> None:
    """Refuse a direction along which the likelihood rises without end, where there is one, naming what moves."""
    if direction is None:
        return
    reasons, start, models = list[str](), 0, tuple[str, ...]()
    offsets = [(block.shown, cells.judges) for block in model.blocks[model.offsets]]
    extra = [(block.name, block.labels) for block in model.further]
    for name, labels in [("scores", cells.models), *offsets, *extra]:
        values = direction[start : start + len(labels)]
        values = np.abs(values - (values.min() if name == "scores" else 0.0))
        names = tuple(label for label, value in zip(labels, values, strict=True) if value > MOVES)
        models = names if name == "scores" else models
        reasons += [f"{name} of {', '.join(names)}"] if names else []
        start += len(labels)
    raise NoMaximumError(
        f"the likelihood has no maximum: these can run off together without contradicting any answer: "
        f"{'; '.join(reasons)}",
        (models,),
    )


def _without_order(cells: Comparisons) -> str:
    """Why no judge has a discrimination above zero."""
    largest = np.abs(net_wins(cells)).max(axis=1)
    if np.all(largest <= EVEN * judged(cells)):
        return "each judge prefers every model as often as it prefers another to it, so there is nothing to rank"
    return (
        "positions or ties alone explain each judge's answers as well as any order of the models does "
        "(model 'btl' ranks them, or shrinkage does)"
    )


def require_maximum_in_play(result: Fitted) -> None:
    """Scores must be bounded by the judges in play alone: those at zero say nothing of them."""
    shrunk = result.solution.alone is not None
    if result.model.has(Role.OFFSET, Role.TIE, Role.STRONG) and (shrunk or result.status is not Status.UNBOUNDED):
        active = np.flatnonzero(result.solution.parameters.in_play)
        if len(active):
            chosen = result.comparisons.with_judges([result.comparisons.judges[k] for k in active])
            parameters = Parameters(
                result.solution.parameters.scores, result.solution.parameters.judges[:, active]
            )
            held = np.isin(active, result.solution.unbounded_judges)  # they are shrunk, alone
            if held.any():
                _refuse(chosen, result.model, rising_direction(chosen, result.model, parameters, held))
            elif not near_maximum(chosen, result.model, parameters):
                _refuse(chosen, result.model, rising_direction(chosen, result.model, parameters))
    if not result.judges_at_zero:
        return
    aside = set(result.judges_at_zero)
    in_play = [judge for judge in result.comparisons.judges if judge not in aside]
    if not in_play:
        raise NoMaximumError(_without_order(result.comparisons), ())
    try:
        require_maximum(result.comparisons.with_judges(in_play).pool_judges())
    except NoMaximumError as error:
        names = ", ".join(result.judges_at_zero)
        message = f"with judges at zero discrimination ({names}) set aside, {error}"
        raise type(error)(message, error.models) from None


def require_bounded(fitted: Fitted) -> None:
    """Refuse a fit some discriminations of which run off.

    Raises
    ------
    NoMaximumError
    """
    if fitted.status is Status.UNBOUNDED:
        names = ", ".join(fitted.unbounded_judges)
        raise NoMaximumError(
            f"the likelihood has no maximum: the discrimination of {names} runs off to infinity", ()
        )


def require_blocks(fitted: Fitted) -> None:
    """Refuse further blocks along which the likelihood rises without end, or of which only a combination is known.

    Raises
    ------
    NoMaximumError, NotIdentifiedError
        Naming what runs off, or what is not identified.
    """
    model, parameters, cells, spread = (
        fitted.model,
        fitted.solution.parameters,
        fitted.comparisons,
        fitted.solution.spread,
    )
    precision = penalty(model, parameters, spread) if spread else None
    evaluation = evaluate(cells, model, parameters, "expected", at_zero=False)
    # the prior of scores must not be all that keeps an effect finite which the scores share
    held = {name: tau for name, tau in (spread or {}).items() if name != "scores"} if _shared(fitted) else spread
    holding = penalty(model, parameters, held) if held else None
    if not near_maximum(cells, model, parameters, fitted._free, fitted._free_common, holding, evaluation):
        _refuse(cells, model, rising_direction(cells, model, parameters, moving=_without_penalty(fitted)))
    _require_told_apart(fitted, evaluation, precision)


def _shared(fitted: Fitted) -> list[FloatArray]:
    """Means by model of the blocks that are not shrunk, where scores are."""
    if "scores" not in (fitted.solution.spread or {}):
        return []
    return [block.means for block in fitted.blocks if block.means is not None and not block.shrunk]


def _without_penalty(fitted: Fitted) -> csr_array:
    """Directions with nothing to hold them, as columns, in the parameters of `rising_direction`.

    Shrunk scores move only by what they share with blocks.
    """
    model, spread = fitted.model, fitted.solution.spread or {}
    scores = np.full(len(fitted.comparisons.models), "scores" not in spread)
    free = fitted._free[model.offsets].copy()
    for row, name in enumerate(model.judge_blocks[model.offsets]):
        free[row] &= name not in spread
    held = [np.full(len(b.labels), b.name in spread or b.role is Role.WEIGHT) for b in model.further]
    moving = np.r_[scores, free.ravel(), fitted._free_common & ~np.concatenate(held)]
    shared = [np.pad(means, ((0, len(moving) - len(scores)), (0, 0))) for means in _shared(fitted)]
    return csr_array(np.column_stack([np.eye(len(moving))[:, moving], *shared]))


def _require_told_apart(fitted: Fitted, evaluation: Evaluation, precision: FloatArray | None) -> None:
    """Refuse further blocks of which the records determine only a combination.

    Raises
    ------
    NotIdentifiedError
        Naming the blocks.
    """
    model, cells, chosen = fitted.model, fitted.comparisons, fitted._chosen
    info = information(evaluation, fitted._free, fitted._free_common)
    total_information = info if precision is None else info + precision[np.ix_(chosen, chosen)]
    coordinates = Coordinates.of(model, len(cells.models), fitted._free, fitted._free_common)
    reduced = coordinates.reduced(total_information)
    scale = np.sqrt(np.maximum(np.diag(reduced), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(reduced / np.outer(scale, scale))
    if values.min(initial=1.0) > SINGULAR:
        return
    along = np.zeros(len(chosen))
    along[chosen] = np.abs(coordinates.full(vectors[:, 0] / scale)) * np.sqrt(np.maximum(np.diag(info), 0.0))
    start, involved = 0, []
    sizes = [("scores", len(cells.models)), *((name, len(cells.judges)) for name in model.judge_blocks)]
    for name, size in [*sizes, *((block.name, len(block.labels)) for block in model.further)]:
        if along[start : start + size].max(initial=0.0) > SHARE * along.max():
            involved.append(name)
        start += size
    raise NotIdentifiedError(f"these records cannot tell apart what belongs to {' and '.join(involved)}")
