"""Comparisons + model + solver -> a result."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from judgerank.comparisons import Comparisons
from judgerank.connectivity import positions_are_imitated, require_maximum
from judgerank.errors import ConfigError, DataError, NoMaximumError, NotIdentifiedError
from judgerank.estimates import Settings
from judgerank.model import Model, Parameters, get_model
from judgerank.recession import near_maximum, rising_direction
from judgerank.result import FitResult
from judgerank.solvers import adam, localized, penalised, runaway, search
from judgerank.solvers.adam import AdamSettings
from judgerank.solvers.localized import LocalizedSettings
from judgerank.solvers.newton import NewtonSettings
from judgerank.solvers.penalised import PenalisedSettings
from judgerank.solvers.solution import Status

PUBLISHED_ADAM_BTL = AdamSettings(step_scores=3e-3, epsilon=1e-8, tolerance=0.0, max_iterations=8_000)
MOVES = 1e-6  # entry of a direction, the largest being one, that counts as moving
# name: (maximise, default settings, default settings for a model without judge blocks)
SOLVERS = {
    "newton": (search.maximise, NewtonSettings(), NewtonSettings()),
    "adam": (adam.maximise, AdamSettings(), PUBLISHED_ADAM_BTL),
    "localized": (localized.maximise, LocalizedSettings(), None),
    "penalised": (penalised.maximise, PenalisedSettings(), PenalisedSettings()),
}
ALWAYS = ("localized", "penalised")  # there is a maximum whatever the data


def fit(
    comparisons: Comparisons,
    model: str = "judge_aware",
    solver: str = "newton",
    settings: Settings | None = None,
    start: Parameters | None = None,
) -> FitResult:
    """Maximum likelihood, penalised or not, of a member of the family.

    Parameters
    ----------
    comparisons : Comparisons
    model : str
        A name in `judgerank.model.MODELS`: ``btl``, ``judge_aware``, ``length``, ``position_aware``, ...
    solver : {"newton", "adam", "localized", "penalised"}
        The exact solver over gamma_k >= 0, the paper's Algorithm 1 over gamma_k > 0, the exact solver over a
        box (for the judge-aware model), or shrinkage toward the panel; the last two always have an estimate.
    settings : NewtonSettings, AdamSettings, LocalizedSettings or PenalisedSettings, optional
        The solver's settings; the published ones for Adam by default.
    start : Parameters, optional
        Where the climb begins, such as the fit of data that these are a resample of: the maximum is then the one
        reached from there. The penalised fit takes none.

    Raises
    ------
    DataError
        If a judge has no comparison, or the model needs a covariate, or ties, that are not there.
    NotIdentifiedError
        If the order in which models were shown cannot tell scores from positions.
    DisconnectedError, NoMaximumError
        If scores cannot be compared, or some run off to infinity; the models are named.
    ConfigError
        If the model or the solver is not known.
    """
    member = get_model(model, comparisons)
    if comparisons.covariate is not None and not member.has_slope:  # rows that differ in it alone merge
        comparisons = replace(comparisons, covariate=None)
    if member.has_ties:
        comparisons = comparisons.with_ties()
    elif comparisons.tied is not None:
        comparisons = replace(comparisons, tied=None)
    cells = comparisons.aggregate()
    settings = _settings(member, solver, settings)
    if start is not None and solver == "penalised":
        raise ConfigError("the penalised fit takes no start")
    silent = np.flatnonzero(np.bincount(cells.judge, minlength=len(cells.judges)) == 0)
    if silent.size:
        raise DataError(f"judge {cells.judges[silent[0]]!r} has no comparison")
    maximise = SOLVERS[solver][0] if start is None else partial(SOLVERS[solver][0], start=start)
    if solver in ALWAYS:
        return FitResult(cells, member, settings, maximise(cells, member, settings))
    pooled = cells.pool_judges()
    require_maximum(pooled)
    if member.has_position and positions_are_imitated(cells):
        raise NotIdentifiedError(
            "scores and positions cannot be told apart: some scores differ by the same amount between the model "
            "shown first and the other in every comparison (show some pairs in the other order)"
        )
    if member.judge_blocks:
        found = runaway.shrunk_alone(cells, member, maximise(cells, member, settings))
        result = FitResult(cells, member, settings, found)
        _require_maximum_in_play(result)
        return result
    # judges do not matter: the pooled cells have the same likelihood, and there are fewer of them
    solution = maximise(pooled, member, settings)
    parameters = Parameters(solution.parameters.scores, np.zeros((0, len(cells.judges))))
    return FitResult(cells, member, settings, replace(solution, parameters=parameters))


def _settings(member: Model, solver: str, settings: Settings | None) -> Settings:
    if solver not in SOLVERS:
        raise ConfigError(f"there is no solver {solver!r} (known: {', '.join(SOLVERS)})")
    if settings is None:
        return SOLVERS[solver][1 if member.judge_blocks else 2]
    if type(settings) is not type(SOLVERS[solver][1]):
        raise ConfigError(f"solver {solver!r} cannot take {type(settings).__name__}")
    return settings


def _require_level(cells: Comparisons, member: Model, at: Parameters) -> None:
    """Refuse comparisons whose likelihood rises without end in scores, positions and tie propensities."""
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
    if result.model.has_levels and result.status is not Status.UNBOUNDED:
        in_play = np.flatnonzero(result.solution.parameters.in_play)
        if len(in_play):
            chosen = result.comparisons.with_judges([result.comparisons.judges[k] for k in in_play])
            at = Parameters(result.solution.parameters.scores, result.solution.parameters.judges[:, in_play])
            _require_level(chosen, result.model, at)
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
