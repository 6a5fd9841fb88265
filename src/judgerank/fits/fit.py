"""Comparisons + model + solver -> a result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judgerank.data.arrays import BoolArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import judges_of_one_length, positions_are_imitated, require_maximum
from judgerank.data.errors import DataError, NoMaximumError, NotIdentifiedError
from judgerank.engine import runaway
from judgerank.engine.existence import near_maximum, rising_direction
from judgerank.engine.localized import Localized
from judgerank.engine.penalised import Penalised
from judgerank.engine.settings import Settings, maximise, settings_of
from judgerank.engine.solution import Solution, Status
from judgerank.fits.result import FitResult
from judgerank.fits.resuming import bar, beginning
from judgerank.model.members import Model, Parameters, get_model

if TYPE_CHECKING:
    from judgerank.reading.read import Source

MOVES = 1e-6  # entry of a direction, the largest being one, that counts as moving


def fit(
    comparisons: Comparisons | Source,
    model: str = "judge_aware",
    solver: str | Settings = "newton",
    start: Parameters | FitResult | None = None,
) -> FitResult:
    """Maximum likelihood, penalised or not, of a member of the family.

    Parameters
    ----------
    comparisons : Comparisons, or anything that `judgerank.read` reads
    model : str
        A name in `judgerank.model.members.MODELS`: ``btl``, ``judge_aware``, ``length``, ``position_aware``, ...
    solver : {"newton", "adam", "localized", "penalised"}, or Newton, Adam, Localized or Penalised
        The exact solver over gamma_k >= 0, the paper's Algorithm 1 over gamma_k > 0, the exact solver over a
        box (for the judge-aware model), or shrinkage toward the panel; the last two always have an estimate.
        A name takes its default settings, for Adam the published ones; ``Newton(tolerance=1e-9)`` sets others.
    start : Parameters or FitResult, optional
        Where the climb begins. Parameters are those of data that these are a resample of: the maximum is then the
        one reached from there. A fit is that of a part of these comparisons, of some of their models and judges
        (`Comparisons.extended`): the maximum is then the highest, and found quickly where few are new. The
        penalised fit takes none.

    Raises
    ------
    DataError
        If a judge has no comparison, or the model needs a covariate, or ties, that are not there.
    NotIdentifiedError
        If the order in which models were shown cannot tell scores from positions, or a judge saw one length only.
    DisconnectedError, NoMaximumError
        If scores cannot be compared, or some run off to infinity; the models are named.
    ConfigError
        If the model or the solver is not known.
    """
    if not isinstance(comparisons, Comparisons):
        from judgerank.reading.read import comparisons_in

        comparisons = comparisons_in(comparisons)
    member = get_model(model, comparisons)
    if comparisons.covariate is not None and not member.has_slope:  # rows that differ in it alone merge
        comparisons = replace(comparisons, covariate=None)
    if member.has_ties:
        comparisons = comparisons.with_ties()
    elif comparisons.tied is not None:
        comparisons = replace(comparisons, tied=None)
    cells = comparisons.aggregate()
    settings = settings_of(solver, member)
    silent = np.flatnonzero(np.bincount(cells.judge, minlength=len(cells.judges)) == 0)
    if silent.size:
        raise DataError(f"judge {cells.judges[silent[0]]!r} has no comparison")
    if isinstance(settings, Localized | Penalised):  # there is a maximum whatever the data
        return FitResult(cells, member, settings, _maximum(cells, member, settings, start))
    pooled = cells.pool_judges()
    require_maximum(pooled)
    if member.has_position and positions_are_imitated(cells):
        raise NotIdentifiedError(
            "scores and positions cannot be told apart: some scores differ by the same amount between the model "
            "shown first and the other in every comparison (show some pairs in the other order)"
        )
    alike = judges_of_one_length(cells) if member.has_slope else ()
    if alike:
        raise NotIdentifiedError(
            f"slopes and discriminations cannot be told apart where a judge's comparisons have one length: "
            f"{', '.join(alike)} (leave them out, or fit the model without lengths)"
        )
    if member.judge_blocks:
        found = runaway.shrunk_alone(cells, member, _maximum(cells, member, settings, start))
        result = FitResult(cells, member, settings, found)
        _require_maximum_in_play(result)
        return result
    # judges do not matter: the pooled cells have the same likelihood, and there are fewer of them
    solution = _maximum(pooled, member, settings, start)
    parameters = Parameters(solution.parameters.scores, np.zeros((0, len(cells.judges))))
    return FitResult(cells, member, settings, replace(solution, parameters=parameters))


def _maximum(
    cells: Comparisons, member: Model, settings: Settings, start: Parameters | FitResult | None
) -> Solution:
    """Where the solver ends, from a start or from what was fitted before."""
    if not isinstance(start, FitResult):
        return maximise(cells, member, settings, start)
    at = beginning(start, cells, member)
    return maximise(cells, member, settings, at, bar(start, cells, member))


def _require_offsets(cells: Comparisons, member: Model, at: Parameters, held: BoolArray) -> None:
    """Refuse comparisons whose likelihood rises without end in scores, positions and tie propensities.

    Judges `held` are shrunk, alone.
    """
    if held.any():
        direction = rising_direction(cells, member, at, held)
    else:
        direction = None if near_maximum(cells, member, at) else rising_direction(cells, member, at)
    if direction is None:
        return
    n = len(cells.models)
    scores, judges = direction[:n], np.abs(direction[n:].reshape(-1, len(cells.judges))).max(axis=0)
    moving = np.ptp(scores) > MOVES
    models = tuple(
        name for name, v in zip(cells.models, scores, strict=True) if moving and v > scores.min() + MOVES
    )
    names = ", ".join([*models, *(name for name, v in zip(cells.judges, judges, strict=True) if v > MOVES)])
    raise NoMaximumError(
        f"the likelihood has no maximum: these models' scores and judges' positions or ties can run off together "
        f"without contradicting any answer: {names}",
        (models,),
    )


def _require_maximum_in_play(result: FitResult) -> None:
    """Scores must be bounded by the judges in play alone: those at zero say nothing of them."""
    shrunk = result.solution.alone is not None
    if result.model.has_offsets and (shrunk or result.status is not Status.UNBOUNDED):
        places = np.flatnonzero(result.solution.parameters.in_play)
        if len(places):
            chosen = result.comparisons.with_judges([result.comparisons.judges[k] for k in places])
            at = Parameters(result.solution.parameters.scores, result.solution.parameters.judges[:, places])
            held = np.isin(places, result.solution.unbounded_judges)
            _require_offsets(chosen, result.model, at, held)
    if not result.judges_at_zero:
        return
    aside = set(result.judges_at_zero)
    in_play = [judge for judge in result.comparisons.judges if judge not in aside]
    if not in_play:
        raise NoMaximumError("every judge's answers are even between the models: there is no order to find", ())
    try:
        require_maximum(result.comparisons.with_judges(in_play).pool_judges())
    except NoMaximumError as error:
        names = ", ".join(result.judges_at_zero)
        message = f"with judges at zero discrimination ({names}) set aside, {error}"
        raise type(error)(message, error.models) from None
