"""One exact climb of the likelihood over gamma_k >= 0: Newton steps, judges being set aside and taken back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from judgerank.data.comparisons import Comparisons
from judgerank.engine.ascent import Ascent, ascended, backtracked
from judgerank.engine.boundary import Bound, at_the_edge, look, set_aside, taken_back
from judgerank.engine.newton_step import largest_size, moved, newton_step, rise_along
from judgerank.engine.solution import (
    LARGEST_LOG_ODDS,
    Solution,
    Status,
    log_odds,
    require_positive,
    require_tolerance,
    unbounded_judges,
    unerring_judges,
)
from judgerank.engine.sums import Evaluation
from judgerank.model.limits import never_weak
from judgerank.model.members import Model, Parameters

STANDSTILL, MOST_POLISHES = 1e-10, 5  # relative change of the parameters that counts as none; steps to get there


@dataclass(frozen=True)
class Newton:
    """Settings of the exact solver.

    Attributes
    ----------
    tolerance : float
        Largest gradient component, over the size of the log-likelihood, at which the fit is done.
    max_iterations : int
        Newton steps, over all changes of the set of judges in play.
    slope_bound : float
        Largest |beta_k|. Without a bound the length-augmented likelihood seldom has a maximum when a judge is
        weak: its discrimination falls to zero but for the questions at one end, and its slope runs off.
    """

    tolerance: float = 1e-10
    max_iterations: int = 200
    slope_bound: float = 2.0

    def __post_init__(self) -> None:
        require_positive(self, "max_iterations", "slope_bound")
        require_tolerance(self.tolerance)


def climb(
    cells: Comparisons,
    model: Model,
    settings: Newton,
    start: Parameters,
    bound: Bound | None = None,
    furthest: float = LARGEST_LOG_ODDS,
    leader: int | None = None,
) -> Solution:
    """The maximum that a climb from one start reaches, over gamma_k >= 0.

    Judges whose slope at zero is not positive are set to gamma_k = 0 on the way (for the scores as they are,
    that is their best value) and taken back whenever their slope at the fit of the others turns positive, so
    that at return the Karush-Kuhn-Tucker conditions hold for all of them; with a covariate, at every beta_k on a
    grid between its bounds. Which maximum is the highest is for `judgerank.engine.search` to find.

    Parameters
    ----------
    cells : Comparisons
    model : Model
    settings : Newton
    start : Parameters
    bound : Bound, optional
        If not the slopes' of the settings. A judge for whom least and largest slope are equal is held there.
    furthest : float
        Log-odds of a typical pair beyond which a judge's discrimination counts as unbounded.
    leader : int, optional
        A judge who may run off. The climb then gets there in fewer steps.
    """
    at, bound = start.normalised(), bound or Bound(-settings.slope_bound, settings.slope_bound)
    ascent = _Climb(cells, model, bound, settings.tolerance, furthest, leader)
    (at, evaluation), done, steps = ascended(ascent, (at, look(cells, model, at, bound)), settings.max_iterations)
    if not done:
        return _finished(cells, model, at, evaluation, steps, bound, Status.ITERATION_LIMIT)
    at, evaluation = at_the_edge(cells, model, *_polished(cells, model, at, evaluation, bound), bound)
    return _finished(cells, model, at, evaluation, steps, bound)


@dataclass(frozen=True)
class _Climb(Ascent[tuple[Parameters, Evaluation]]):
    """Newton's method over gamma_k >= 0; attributes are the arguments of `climb`."""

    cells: Comparisons
    model: Model
    bound: Bound
    tolerance: float
    furthest: float
    leader: int | None

    def settled(self, point: tuple[Parameters, Evaluation]) -> tuple[Parameters, Evaluation]:
        return set_aside(self.cells, self.model, *point, self.bound)

    def strays(self, point: tuple[Parameters, Evaluation]) -> bool:
        return bool(set(unbounded_judges(self.model, point[0], self.furthest)) - set(self.bound.held))

    def arrived(self, point: tuple[Parameters, Evaluation]) -> bool:
        return point[1].relative_gradient <= self.tolerance

    def released(self, point: tuple[Parameters, Evaluation]) -> tuple[Parameters, Evaluation] | None:
        reactivated = taken_back(self.cells, self.model, *point, self.bound, self.tolerance)
        return (
            None if reactivated is None else (reactivated, look(self.cells, self.model, reactivated, self.bound))
        )

    def next_point(self, point: tuple[Parameters, Evaluation]) -> tuple[Parameters, Evaluation]:
        step = newton_step(self.cells, self.model, *point, self.bound)
        return _line_search(self.cells, self.model, *point, step, self.bound, self.leader)


def _polished(
    cells: Comparisons, model: Model, at: Parameters, current: Evaluation, bound: Bound
) -> tuple[Parameters, Evaluation]:
    """Full Newton steps as long as they move the point by more than rounding and lower the gradient.

    A small gradient may leave a flat direction some way to go, and how far then depends on the path.
    """
    for _ in range(MOST_POLISHES):
        try:
            step = newton_step(cells, model, at, current, bound)
        except LinAlgError:
            break
        relative_step = np.abs(step.scores).max() / max(1.0, np.ptp(at.scores))
        if max(relative_step, np.abs(step.judges).max(initial=0.0)) <= STANDSTILL:
            break
        try:
            polished, evaluation = _line_search(cells, model, at, current, step, bound)
        except LinAlgError:
            break
        if evaluation.relative_gradient >= current.relative_gradient:
            break
        at, current = polished, evaluation
    return at, current


def _finished(
    cells: Comparisons,
    model: Model,
    at: Parameters,
    evaluation: Evaluation,
    iterations: int,
    bound: Bound,
    status: Status | None = None,
) -> Solution:
    unbounded = unbounded_judges(model, at) or unerring_judges(
        cells, model, at, None if bound.held else evaluation
    )
    if unbounded:
        status = Status.UNBOUNDED
    elif status is None and model.weights_vary and np.any((at.judges[1] <= bound[0]) | (at.judges[1] >= bound[1])):
        status = Status.LOCALIZED
    elif status is None:
        status = Status.INTERIOR if at.in_play.all() else Status.BOUNDARY
    return Solution(at, evaluation, status, iterations, unbounded)


def _line_search(
    cells: Comparisons,
    model: Model,
    at: Parameters,
    current: Evaluation,
    step: Parameters,
    bound: Bound,
    leader: int | None = None,
) -> tuple[Parameters, Evaluation]:
    """The point along the step at which the log-likelihood has risen enough.

    Raises
    ------
    LinAlgError
        If there is none.
    """

    def try_at(size: float) -> tuple[Parameters, Evaluation]:
        parameters = moved(at, step, size, model.offsets, never_weak(model, at), leader).normalised()
        if bound.held:
            parameters = with_log_odds(model, parameters, bound.held, log_odds(at))
        if model.weights_vary:
            parameters.judges[1] = np.where(parameters.in_play, np.clip(parameters.judges[1], *bound[:2]), 0.0)
        return parameters, look(cells, model, parameters, bound)

    return backtracked(
        try_at,
        lambda there: there[1].log_likelihood,
        current.log_likelihood,
        rise_along(current, step),
        largest_size(model, at, step),
    )[1]


def with_log_odds(model: Model, at: Parameters, held: tuple[int, ...], size: float | np.ndarray) -> Parameters:
    """The point with typical log-odds of this size, shape (K,) or one for all, of these judges.

    Those at zero discrimination stay there. The others' b and log nu are taken along.
    """
    chosen = np.isin(np.arange(len(at.in_play)), held) & at.in_play
    times = (size / np.where(chosen, log_odds(at), 1.0))[chosen]
    judges = at.judges.copy()
    judges[0, chosen] += np.log(times)
    judges[model.offsets, chosen] *= times
    return Parameters(at.scores, judges).normalised()
