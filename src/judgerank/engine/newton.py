"""One exact climb of the likelihood over gamma_k >= 0: Newton's method, a Schur complement and a line search.

The information of the judges' parameters is block-diagonal, so eliminating them leaves one N x N system. The
likelihood does not change along two directions (a shift of the scores; scores against discrimination), which
the system is made to leave alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dposv

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.closure import Bound, at_the_edge, look, set_aside, taken_back
from judgerank.engine.solution import (
    LARGEST_LOG_ODDS,
    ROUNDING,
    Solution,
    Status,
    require_positive,
    require_tolerance,
    unbounded_judges,
    unerring_judges,
)
from judgerank.engine.sums import Evaluation
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

# relative change of a discrimination, a slope or a tie propensity in one step (see `moved`)
LARGEST_RISE, LARGEST_FALL = 4.0, 0.9
LARGEST_GAIN = 0.8  # share of a judge's information that the change to log gamma may take away
FLATTEST = 1e-12  # curvature of a judge's information, scaled to ones on its diagonal, that counts as none
SMALLEST = 1e-30  # of a judge's information, relative to a model's
DECIDED = 3.0  # log-odds of a typical pair under one judge
DAMPING = 1e-10  # relative to the mean information, where the information is singular to rounding
SUFFICIENT = 1e-4  # Armijo's constant
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
    bound : pair of floats or of float arrays, shape (K,), optional
        Least and largest slope, if not those of the settings. A judge for whom the two are equal is held there.
    furthest : float
        Log-odds of a typical pair beyond which a judge's discrimination counts as unbounded.
    """
    at, bound = start.normalised(), bound or (-settings.slope_bound, settings.slope_bound)
    here = look(cells, model, at, bound)
    for iteration in range(settings.max_iterations + 1):
        at, here = set_aside(cells, model, at, here, bound)
        if unbounded_judges(model, at, furthest):
            break
        if here.relative_gradient <= settings.tolerance:
            back = taken_back(cells, model, at, here, bound, settings.tolerance)
            if back is None:
                at, here = at_the_edge(cells, model, *_polished(cells, model, at, here, bound), bound)
                return _finished(cells, model, at, here, iteration, bound)
            at, here = back, look(cells, model, back, bound)
        if iteration == settings.max_iterations:
            break
        try:
            step = newton_step(cells, model, at, here, bound)
            at, here = _line_search(cells, model, at, here, step, bound)
        except LinAlgError:
            break
    return _finished(cells, model, at, here, iteration, bound, Status.ITERATION_LIMIT)


def _polished(
    cells: Comparisons, model: Model, at: Parameters, here: Evaluation, bound: Bound
) -> tuple[Parameters, Evaluation]:
    """Full Newton steps as long as they move the point by more than rounding and lower the gradient.

    A small gradient may leave a flat direction some way to go, and how far then depends on the path.
    """
    for _ in range(MOST_POLISHES):
        try:
            step = newton_step(cells, model, at, here, bound)
        except LinAlgError:
            break
        moved = np.abs(step.scores).max() / max(1.0, np.ptp(at.scores))
        if max(moved, np.abs(step.judges).max(initial=0.0)) <= STANDSTILL:
            break
        try:
            there, evaluation = _line_search(cells, model, at, here, step, bound)
        except LinAlgError:
            break
        if evaluation.relative_gradient >= here.relative_gradient:
            break
        at, here = there, evaluation
    return at, here


def _finished(
    cells: Comparisons,
    model: Model,
    at: Parameters,
    here: Evaluation,
    iterations: int,
    bound: Bound,
    status: Status | None = None,
) -> Solution:
    unbounded = unbounded_judges(model, at) or unerring_judges(cells, model, at)
    if unbounded:
        status = Status.UNBOUNDED
    elif status is None and model.has_slope and np.any((at.judges[1] <= bound[0]) | (at.judges[1] >= bound[1])):
        status = Status.LOCALIZED
    elif status is None:
        status = Status.INTERIOR if at.in_play.all() else Status.BOUNDARY
    return Solution(at, here, status, iterations, unbounded)


def newton_step(
    cells: Comparisons, model: Model, at: Parameters, here: Evaluation, bound: Bound = (-np.inf, np.inf)
) -> Parameters:
    """Ascent direction: Newton's where minus the Hessian is positive definite, else Fisher scoring's."""
    try:
        return _solve(model, at, here, LARGEST_GAIN, 0.0)
    except LinAlgError:
        return _solve(model, at, look(cells, model, at, bound, "expected"), 0.0, DAMPING)


def _solve(model: Model, at: Parameters, here: Evaluation, gain: float, damping: float) -> Parameters:
    """Solve the information system by its Schur complement in the scores.

    Raises
    ------
    LinAlgError
        If the information is not positive definite on the complement of the invariant directions.
    """
    schur = here.top_information
    right = here.top_gradient
    mean = np.trace(schur) / len(schur)
    schur = schur + damping * mean * np.eye(len(schur))
    if len(at.judges) == 0:
        return Parameters(positive_solve(schur + mean / len(schur), right), at.judges)
    own, play = _own_information(model, at, here, gain, damping, mean)
    cross = here.cross_information[:, play].transpose(1, 0, 2)  # (K', B, N)
    right_sides = np.concatenate([cross, here.judge_gradient.T[play][:, :, None]], axis=2)
    solved = right_sides / own if own.shape[-1] == 1 else np.linalg.solve(own, right_sides)
    solved = solved.reshape(-1, len(schur) + 1)
    rows = cross.reshape(-1, len(schur))
    schur = schur - rows.T @ solved[:, :-1]
    right = right - rows.T @ solved[:, -1]
    lifted = schur + mean / len(schur)
    if model.weighs_judges:
        s = at.scores / max(np.linalg.norm(at.scores), np.finfo(float).tiny)
        lifted = lifted + mean * np.outer(s, s)
    scores = positive_solve(lifted, right)
    judges = np.zeros_like(at.judges)
    judges[:, play] = (solved[:, -1] - solved[:, :-1] @ scores).reshape(-1, len(judges)).T
    step = Parameters(scores, judges)
    if _rise(here, step) < 0:
        raise LinAlgError("the direction goes downhill")
    return step


def _own_information(
    model: Model, at: Parameters, here: Evaluation, gain: float, damping: float, mean: float
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
    moves_offsets_alone = (~at.in_play | (not model.weighs_judges)) & model.has_offsets
    play = at.in_play | moves_offsets_alone
    own = here.judge_information[play] + damping * mean * np.eye(len(at.judges))
    for b in range(model.n_scale):
        own[moves_offsets_alone[play], b, b] = mean
    if model.has_ties:
        own[np.isinf(at.judges[-1, play]), -1, -1] = mean  # judges who never tie
    # judges that rise in log gamma: minus the second derivative there is smaller by the gradient
    rise = np.where(decides(at)[0, play], here.judge_gradient[0, play], 0.0)
    own[:, 0, 0] -= np.clip(rise, 0.0, np.maximum(gain * own[:, 0, 0], 0.0))
    if not _positive(own, SMALLEST * mean):
        raise LinAlgError("a judge's information is not positive definite")
    return own, play


def _positive(own: np.ndarray, least: float) -> bool:
    """Whether matrices are positive definite by more than rounding, each in its own units."""
    diagonal = np.einsum("kbb->kb", own)
    if not np.all(diagonal > least) or own.shape[-1] == 1:
        return bool(np.all(diagonal > least))
    scale = np.sqrt(diagonal)
    return bool(np.all(np.linalg.eigvalsh(own / (scale[:, :, None] * scale[:, None, :])) > FLATTEST))


def _rise(here: Evaluation, step: Parameters) -> float:
    """Directional derivative of the log-likelihood along a step."""
    return float(here.top_gradient @ step.scores + np.sum(here.judge_gradient * step.judges))


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


def decides(at: Parameters) -> BoolArray:
    """Which judges decide most pairs, shape (1, K); (0, K) for a model without judges."""
    spread = np.sqrt(at.scores @ at.scores / len(at.scores))  # of scores that sum to zero
    found: BoolArray = np.exp(at.judges[:1]) * spread > DECIDED
    return found


def moved(at: Parameters, step: Parameters, size: float, offsets: slice = slice(0)) -> Parameters:
    """The point `size` steps away; judges at zero stay there.

    The first judge row of `step` is relative to gamma and moves gamma itself, but for the rise of a judge who
    decides most pairs: that adds to log gamma, along which the log-likelihood is then closer to a parabola, and
    takes b and log nu, the rows `offsets`, with it: where gamma runs off, their ratios to it stay.
    """
    judges = at.judges + size * step.judges
    rising = (step.judges[:1] > 0) & decides(at)
    judges[:1][~rising] = at.judges[:1][~rising] + np.log1p(size * step.judges[:1][~rising])
    if len(judges[offsets]):
        taken = rising & np.isfinite(at.judges[offsets])  # no log nu for a judge who never ties
        rise = np.broadcast_to(step.judges[0], taken.shape)[taken]
        offset, to_offset = at.judges[offsets][taken], step.judges[offsets][taken]
        judges[offsets][taken] = np.exp(size * rise) * (offset + size * (to_offset - offset * rise))
    return Parameters(at.scores + size * step.scores, judges)


def _line_search(
    cells: Comparisons, model: Model, at: Parameters, here: Evaluation, step: Parameters, bound: Bound
) -> tuple[Parameters, Evaluation]:
    """Backtrack along the step until the log-likelihood rises enough.

    Raises
    ------
    LinAlgError
        If no step along it does.
    """
    rise = _rise(here, step)
    relative = step.judges[[row for row, block in enumerate(model.blocks) if block.role is not Role.OFFSET]]
    rising = relative.max(initial=0.0) / LARGEST_RISE
    falling = -relative.min(initial=0.0) / LARGEST_FALL
    size = 1.0 / max(1.0, rising, falling)
    slack = ROUNDING * max(1.0, abs(here.log_likelihood))
    for _ in range(50):
        there = moved(at, step, size, model.offsets).normalised()
        if model.has_slope:
            there.judges[1] = np.where(there.in_play, np.clip(there.judges[1], *bound), 0.0)
        evaluation = look(cells, model, there, bound)
        if evaluation.log_likelihood >= here.log_likelihood + SUFFICIENT * size * rise - slack:
            return there, evaluation
        size /= 2
    raise LinAlgError("no ascent along the step")
