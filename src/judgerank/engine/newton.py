"""One exact climb of the likelihood over gamma_k >= 0: Newton steps, judges being set aside and taken back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dposv

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.ascent import Ascent, ascended, backtracked
from judgerank.engine.boundary import ANYWHERE, Bound, at_the_edge, look, set_aside, taken_back
from judgerank.engine.likelihood import Evaluation
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
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import movable, never_weak

# Newton's step on the exact likelihood: a Schur complement, and how a point moves along the step.
#
# The information of the judges' parameters is block-diagonal, so eliminating them leaves one N x N system. The
# likelihood does not change along two directions (a shift of the scores; scores against discrimination), which
# the system is made to leave alone.
# relative change of a discrimination, a slope or a tie propensity in one step (see `line_point`)
LARGEST_RISE, LARGEST_FALL = 4.0, 0.9
LARGEST_GAIN = 0.8  # share of a judge's information that the change to log gamma may take away
FLATTEST = 1e-12  # curvature of a judge's information, scaled to ones on its diagonal, that counts as none
SMALLEST = 1e-30  # of a judge's information, relative to a model's
DECIDED = 3.0  # log-odds of a typical pair under one judge
DAMPING = 1e-10  # relative to the mean information, where the information is singular to rounding


def newton_step(
    cells: Comparisons, model: Model, parameters: Parameters, evaluation: Evaluation, bound: Bound = ANYWHERE
) -> Parameters:
    """Ascent direction: Newton's where minus the Hessian is positive definite, else Fisher scoring's."""
    try:
        return _solve(model, parameters, evaluation, LARGEST_GAIN, 0.0)
    except LinAlgError:
        return _solve(model, parameters, look(cells, model, parameters, bound, "expected"), 0.0, DAMPING)


def _solve(
    model: Model, parameters: Parameters, evaluation: Evaluation, gain: float, damping: float
) -> Parameters:
    """Solve the information system by its Schur complement in the scores.

    Raises
    ------
    LinAlgError
        If the information is not positive definite on the complement of the invariant directions.
    """
    schur = evaluation.top_information
    right = evaluation.top_gradient
    mean = schur.trace() / len(schur)
    if damping:
        schur = schur + damping * mean * np.eye(len(schur))
    if len(parameters.judges) == 0:
        return Parameters(positive_solve(schur + mean / len(schur), right), parameters.judges)
    judge_information, play = _own_information(model, parameters, evaluation, gain, damping, mean)
    cross = evaluation.cross_information[:, play].transpose(1, 0, 2)  # (K', B, N)
    right_sides = np.concatenate([cross, evaluation.judge_gradient.T[play][:, :, None]], axis=2)
    solved = (
        right_sides / judge_information
        if judge_information.shape[-1] == 1
        else np.linalg.solve(judge_information, right_sides)
    )
    solved = solved.reshape(-1, len(schur) + 1)
    rows = cross.reshape(-1, len(schur))
    lifted = schur - rows.T @ solved[:, :-1]
    right = right - rows.T @ solved[:, -1]
    lifted += mean / len(schur)
    if model.weighs_judges:
        s = parameters.scores / max(float(np.sqrt(parameters.scores @ parameters.scores)), np.finfo(float).tiny)
        lifted += mean * (s[:, None] * s)
    scores = positive_solve(lifted, right)
    judges = np.zeros_like(parameters.judges)
    judges[:, play] = (solved[:, -1] - solved[:, :-1] @ scores).reshape(-1, len(judges)).T
    step = Parameters(scores, judges)
    if rise_along(evaluation, step) < 0:
        raise LinAlgError("the direction goes downhill")
    return step


def _own_information(
    model: Model, parameters: Parameters, evaluation: Evaluation, gain: float, damping: float, mean: float
) -> tuple[FloatArray, BoolArray]:
    """Information of the judges who move, shape (K', B, B), and who they are, shape (K,).

    Parameters
    ----------
    mean : float
        Mean information on a score: what holds a parameter that does not move.

    Raises
    ------
    LinAlgError
        If that of some judge is not positive definite.
    """
    # a judge at zero has its offsets alone to move, and so has every judge of one fixed discrimination
    in_play = parameters.in_play
    moves_offsets_alone = (~in_play | (not model.weighs_judges)) & bool(model.blocks[model.offsets])
    play = in_play | moves_offsets_alone
    judge_information = evaluation.judge_information[play]
    if damping:
        judge_information += damping * mean * np.eye(len(parameters.judges))
    if moves_offsets_alone.any():
        for b in range(judge_information.shape[-1])[model.weights]:
            judge_information[moves_offsets_alone[play], b, b] = mean
    if model.has(Role.TIE, Role.STRONG):
        still = ~movable(model, parameters)[:, play]
        for b in range(judge_information.shape[-1])[model.offsets]:
            judge_information[still[b], b, b] = mean  # of a level that the judge never uses
    # judges that rise in log gamma: minus the second derivative there is smaller by the gradient
    rise = np.where(decides(parameters)[0, play], evaluation.judge_gradient[0, play], 0.0)
    judge_information[:, 0, 0] -= np.minimum(
        np.maximum(rise, 0.0), np.maximum(gain * judge_information[:, 0, 0], 0.0)
    )
    if not _positive(judge_information, SMALLEST * mean):
        raise LinAlgError("a judge's information is not positive definite")
    return judge_information, play


def _positive(blocks: np.ndarray, least: float) -> bool:
    """Whether matrices are positive definite by more than rounding, each in its own units."""
    diagonal = np.einsum("kbb->kb", blocks)
    positive = bool((diagonal > least).all())
    if not positive or blocks.shape[-1] == 1:
        return positive
    scale = np.sqrt(diagonal)
    return bool(np.all(np.linalg.eigvalsh(blocks / (scale[:, :, None] * scale[:, None, :])) > FLATTEST))


def rise_along(evaluation: Evaluation, step: Parameters) -> float:
    """Directional derivative of the log-likelihood along a step."""
    return float(evaluation.top_gradient @ step.scores + (evaluation.judge_gradient * step.judges).sum())


def positive_solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a symmetric system by Cholesky.

    Raises
    ------
    LinAlgError
        If the matrix is not positive definite.
    """
    _, solution, failed = dposv(matrix, right, lower=True)
    if failed:
        raise LinAlgError("the matrix is not positive definite")
    return solution


def decides(parameters: Parameters) -> BoolArray:
    """Which judges decide most pairs, shape (1, K); (0, K) for a model without judges."""
    spread = np.sqrt(parameters.scores @ parameters.scores / len(parameters.scores))  # of scores that sum to zero
    is_decided: BoolArray = np.exp(parameters.judges[:1]) * spread > DECIDED
    return is_decided


def line_point(
    parameters: Parameters,
    step: Parameters,
    size: float,
    offsets: slice = slice(0),
    still: BoolArray | None = None,
    leader: int | None = None,
) -> Parameters:
    """The point `size` steps away; judges at zero stay there.

    The first judge row of `step` is relative to gamma and moves gamma itself, but for the rise of a judge who
    decides most pairs: that adds to log gamma, along which the log-likelihood is then closer to a parabola, and
    takes b and log nu, the rows `offsets`, with it: where gamma runs off, their ratios to it stay. Those of judges
    who are `still`, shape (K,), stay as they are.

    As a `leader` runs off, differences of scores shrink as its gamma grows. So the step is taken in units of the
    scores in which that gamma stays one: there the leader's predictors are linear in all that moves.
    """
    judges = parameters.judges + size * step.judges
    rising = (step.judges[:1] > 0) & decides(parameters)
    judges[:1][~rising] = parameters.judges[:1][~rising] + np.log1p(size * step.judges[:1][~rising])
    if len(judges[offsets]):
        moves_in_log = rising & np.isfinite(parameters.judges[offsets])  # no log nu for a judge who never ties
        if still is not None:
            moves_in_log &= ~still
        rise = np.broadcast_to(step.judges[0], moves_in_log.shape)[moves_in_log]
        offset, to_offset = parameters.judges[offsets][moves_in_log], step.judges[offsets][moves_in_log]
        judges[offsets][moves_in_log] = np.exp(size * rise) * (offset + size * (to_offset - offset * rise))
    if leader is None or not rising[0, leader]:
        return Parameters(parameters.scores + size * step.scores, judges)
    growth = 1.0 + size * step.judges[0, leader]
    judges[:, leader] = parameters.judges[:, leader] + size * step.judges[:, leader]
    judges[0, leader] = parameters.judges[0, leader] + np.log(growth)
    return Parameters(parameters.scores + size / growth * step.scores, judges)


def largest_size(model: Model, parameters: Parameters, step: Parameters) -> float:
    """How much of a step may be taken at once, at most all of it.

    A threshold of strong answers runs off with the discrimination as far as that goes: it moves by its own size.
    """
    units = [
        np.maximum(1.0, np.abs(judge_row)) if block.role.is_strong else 1.0
        for block, judge_row in zip(model.blocks, parameters.judges, strict=True)
    ]
    chosen = [row for row, block in enumerate(model.blocks) if block.role is not Role.OFFSET]
    relative = np.array([step.judges[row] / units[row] for row in chosen])
    rising = relative.max(initial=0.0) / LARGEST_RISE
    falling = -relative.min(initial=0.0) / LARGEST_FALL
    return float(1.0 / max(1.0, rising, falling))


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

    Examples
    --------
    >>> import judgerank
    >>> result = judgerank.fit(judgerank.example(), solver=judgerank.Newton(tolerance=1e-8))
    >>> result.converged
    True
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
    parameters, bound = start.normalised(), bound or Bound(-settings.slope_bound, settings.slope_bound)
    ascent = _Climb(cells, model, bound, settings.tolerance, furthest, leader)
    (parameters, evaluation), done, steps = ascended(
        ascent, (parameters, look(cells, model, parameters, bound)), settings.max_iterations
    )
    if not done:
        return _finished(cells, model, parameters, evaluation, steps, bound, Status.ITERATION_LIMIT)
    parameters, evaluation = at_the_edge(
        cells, model, *_polished(cells, model, parameters, evaluation, bound), bound
    )
    return _finished(cells, model, parameters, evaluation, steps, bound)


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
    cells: Comparisons, model: Model, parameters: Parameters, current: Evaluation, bound: Bound
) -> tuple[Parameters, Evaluation]:
    """Full Newton steps as long as they move the point by more than rounding and lower the gradient.

    A small gradient may leave a flat direction some way to go, and how far then depends on the path.
    """
    for _ in range(MOST_POLISHES):
        try:
            step = newton_step(cells, model, parameters, current, bound)
        except LinAlgError:
            break
        relative_step = np.abs(step.scores).max() / max(1.0, np.ptp(parameters.scores))
        if max(relative_step, np.abs(step.judges).max(initial=0.0)) <= STANDSTILL:
            break
        try:
            polished, evaluation = _line_search(cells, model, parameters, current, step, bound)
        except LinAlgError:
            break
        if evaluation.relative_gradient >= current.relative_gradient:
            break
        parameters, current = polished, evaluation
    return parameters, current


def _finished(
    cells: Comparisons,
    model: Model,
    parameters: Parameters,
    evaluation: Evaluation,
    iterations: int,
    bound: Bound,
    status: Status | None = None,
) -> Solution:
    unbounded = unbounded_judges(model, parameters) or unerring_judges(
        cells, model, parameters, None if bound.held else evaluation
    )
    if unbounded:
        status = Status.UNBOUNDED
    elif (
        status is None
        and model.weights_vary
        and np.any((parameters.judges[1] <= bound[0]) | (parameters.judges[1] >= bound[1]))
    ):
        status = Status.LOCALIZED
    elif status is None:
        status = Status.INTERIOR if parameters.in_play.all() else Status.BOUNDARY
    return Solution(parameters, evaluation, status, iterations, unbounded)


def _line_search(
    cells: Comparisons,
    model: Model,
    parameters: Parameters,
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
        trial = line_point(
            parameters, step, size, model.offsets, never_weak(model, parameters), leader
        ).normalised()
        if bound.held:
            trial = with_log_odds(model, trial, bound.held, log_odds(parameters))
        if model.weights_vary:
            trial.judges[1] = np.where(trial.in_play, np.clip(trial.judges[1], *bound[:2]), 0.0)
        return trial, look(cells, model, trial, bound)

    return backtracked(
        try_at,
        lambda trial: trial[1].log_likelihood,
        current.log_likelihood,
        rise_along(current, step),
        largest_size(model, parameters, step),
    )[1]


def with_log_odds(
    model: Model, parameters: Parameters, held: tuple[int, ...], size: float | np.ndarray
) -> Parameters:
    """The point with typical log-odds of this size, shape (K,) or one for all, of these judges.

    Those at zero discrimination stay there. The others' b and log nu are taken along.
    """
    chosen = np.isin(np.arange(len(parameters.in_play)), held) & parameters.in_play
    times = (size / np.where(chosen, log_odds(parameters), 1.0))[chosen]
    judges = parameters.judges.copy()
    judges[0, chosen] += np.log(times)
    judges[model.offsets, chosen] *= times
    return Parameters(parameters.scores, judges).normalised()
