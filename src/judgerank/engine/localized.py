"""Maximum likelihood over a compact set, as the paper's theory has it (appendix A, proposition A.1).

The set is a box in the normalised parameters: |s_i| <= score_bound, |alpha_k| <= discrimination_bound, sum s =
sum alpha = 0. Where the likelihood has a maximum inside, that is the answer; otherwise a primal active-set Newton
method walks along the faces of the box. It is dense, in the zero-sum coordinates of the free parameters: it
serves panels of hundreds, not thousands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from judgerank.data.comparisons import Comparisons
from judgerank.data.connectivity import runaway_models
from judgerank.data.errors import ConfigError
from judgerank.engine import search
from judgerank.engine.ascent import Ascent, ascended, backtracked
from judgerank.engine.boundary import main_direction
from judgerank.engine.information import information
from judgerank.engine.likelihood import Evaluation, evaluate
from judgerank.engine.newton import DAMPING, Newton, positive_solve
from judgerank.engine.problem import in_units
from judgerank.engine.search import highest, same_point
from judgerank.engine.solution import (
    Solution,
    Status,
    require_positive,
    require_tolerance,
    unerring_judges,
)
from judgerank.model.members import JUDGE_AWARE, Model, Parameters

WORTH, MOST_CLIMBS = 2.0, 4  # rough climbs end close to their maximum over the same box
LARGEST_STEP = 2.0  # of any parameter
ON_THE_FACE = 1e-9  # distance from a bound, relative to it, that counts as none


@dataclass(frozen=True)
class Localized:
    """Settings of the localised fit.

    Attributes
    ----------
    score_bound, discrimination_bound : float
        Largest |s_i| and |alpha_k| = |log gamma_k|.
    tolerance, max_iterations : float, int
        As in Newton; at a face of the box they apply to the gradient along it.

    Examples
    --------
    >>> import judgerank
    >>> box = judgerank.Localized(discrimination_bound=2.0)
    >>> result = judgerank.fit(judgerank.example(), solver=box)
    >>> round(float(result.discrimination.min()), 2)
    0.14
    """

    score_bound: float = 5.0
    discrimination_bound: float = 5.0
    tolerance: float = 1e-10
    max_iterations: int = 500

    def __post_init__(self) -> None:
        require_positive(self, "max_iterations", "score_bound", "discrimination_bound")
        require_tolerance(self.tolerance)

    def maximise(
        self, cells: Comparisons, model: Model, start: Parameters | None = None, bar: float | None = None
    ) -> Solution:
        """As the function of this module."""
        return maximise(cells, model, self, start)

    def holds(self, parameters: Parameters) -> bool:
        """Whether scores and log-discriminations lie inside the box, on none of its faces."""
        blocks = (parameters.scores, self.score_bound), (parameters.judges, self.discrimination_bound)
        return all(np.abs(values).max(initial=0.0) < bound * (1 - ON_THE_FACE) for values, bound in blocks)


def maximise(cells: Comparisons, model: Model, settings: Localized, start: Parameters | None = None) -> Solution:
    """Maximise the judge-aware likelihood over the box.

    The status is interior where the exact fit is interior and inside the box, and localized otherwise. Without a
    `start`, many rough climbs say from where to walk, as in `search.maximise`.

    Raises
    ------
    ConfigError
        If the model is not the judge-aware one.
    """
    if model != JUDGE_AWARE:
        raise ConfigError(f"the localised fit is for the judge-aware model, not {model.name!r}")
    box = _Box(cells, settings)
    exists = not runaway_models(cells.pool_judges())
    if start is not None:
        return _checked(cells, box.maximise(box.pulled_inside(start)), exists)
    exact = search.from_unweighted(cells, model, Newton(settings.tolerance)) if exists else None
    if (
        exact is not None
        and search.is_sure(cells, model, exact)
        and exact.status is Status.INTERIOR
        and box.holds(_stacked(exact.parameters))
    ):
        return exact
    bounds = {"scores": settings.score_bound, "log_discrimination": settings.discrimination_bound}
    units, size = in_units(cells)
    box, rough = _Box(units, settings), search.rough_ends(units, model, bounds)
    starts = search.worth_climbing(units, model, rough, WORTH, MOST_CLIMBS)
    ends = search.followed(units, model, starts, lambda near: box.maximise(box.pulled_inside(near)))
    solution = _checked(cells, highest(ends, main_direction(cells)).times(size), exists)
    if solution.status is Status.INTERIOR and not search.is_sure(cells, model, solution):
        # a maximum inside the box is the exact fit only if nothing outside is higher
        exact = search.maximise(cells, model, Newton(settings.tolerance), rough=rough)
        inside = exact.status is Status.INTERIOR and same_point(exact, solution)
        return exact if inside else replace(solution, status=Status.LOCALIZED)
    return solution


def _checked(cells: Comparisons, solution: Solution, exists: bool) -> Solution:
    """Inside the box is interior only if the scores have a maximum, and no judge's discrimination runs off."""
    if solution.status is Status.INTERIOR and (
        not exists or unerring_judges(cells, JUDGE_AWARE, solution.parameters)
    ):
        return replace(solution, status=Status.LOCALIZED)
    return solution


def _stacked(parameters: Parameters) -> np.ndarray:
    return np.concatenate([parameters.scores, parameters.judges[0]])


class _Face:
    """The directions that keep both sums at zero and the parameters held at a bound, `held`, in place."""

    def __init__(self, held: np.ndarray, n_models: int):
        self.held, self._n_models = held, n_models
        # unit vectors along the sums of the free scores and of the free log-discriminations, shape (D, 2)
        self.sums = np.zeros((len(held), 2))
        for block, part in enumerate((slice(None, n_models), slice(n_models, None))):
            free = ~held[part]
            self.sums[part, block] = free / np.sqrt(max(1, free.sum()))

    def changed(self, parameter: int) -> _Face:
        """The face with one more parameter held, or released."""
        held = self.held.copy()
        held[parameter] = not held[parameter]
        return _Face(held, self._n_models)

    def along(self, values: np.ndarray) -> np.ndarray:
        """Projection, by columns."""
        free = np.where(self.held, 0.0, values.T).T
        return free - self.sums @ (self.sums.T @ free)

    def within(self, matrix: np.ndarray, damping: float) -> np.ndarray:
        """A matrix of the directions along the face, damped; on all others a multiple of the identity."""
        mean = np.trace(matrix) / len(matrix)
        matrix = self.along(self.along(matrix).T) + mean * (self.sums @ self.sums.T)
        diagonal = np.arange(len(matrix))
        matrix[diagonal, diagonal] += mean * np.where(self.held, 1.0, damping)
        return matrix


class _Point(NamedTuple):
    """A point, the evaluation there, and the face of the box along which the climb goes."""

    x: np.ndarray
    look: Evaluation
    face: _Face


class _Box(Ascent[_Point]):
    """The active-set method. Coordinates are (s, alpha) in one vector x."""

    def __init__(self, cells: Comparisons, settings: Localized):
        self.cells, self.settings = cells, settings
        self.sizes = len(cells.models), len(cells.judges)
        self.bound = np.repeat([settings.score_bound, settings.discrimination_bound], self.sizes)

    def holds(self, x: np.ndarray) -> bool:
        """Whether a point is inside, by more than rounding."""
        return bool(np.all(np.abs(x) < self.bound * (1 - ON_THE_FACE)))

    def pulled_inside(self, parameters: Parameters) -> Parameters:
        """A point of the box near a point that may have run off in some parameters."""
        blocks = []
        for values, bound in zip(self._blocks(_stacked(parameters)), self._blocks(self.bound), strict=True):
            clipped = np.clip(values, -bound, bound)
            clipped = clipped - clipped.mean()
            blocks.append(clipped / max(1.0, np.abs(clipped / bound).max()))
        return Parameters(blocks[0], blocks[1][None, :])

    def maximise(self, start: Parameters) -> Solution:
        x = _stacked(start.normalised())
        start_ = _Point(x, self._evaluate(x), _Face(np.zeros(len(x), bool), self.sizes[0]))
        (x, evaluation, _), done, steps = ascended(self, start_, self.settings.max_iterations)
        return self._solution(x, evaluation, Status.LOCALIZED if done else Status.ITERATION_LIMIT, steps)

    def arrived(self, point: _Point) -> bool:
        along = point.face.along(self._gradient(point.look))
        size = max(1.0, abs(point.look.log_likelihood))
        return bool(np.abs(along).max(initial=0.0) <= self.settings.tolerance * size)

    def released(self, point: _Point) -> _Point | None:
        while self.arrived(point):
            free = self._release(point.x, point.face.held, self._gradient(point.look))
            if free is None:
                return None
            point = point._replace(face=point.face.changed(free))
        return point

    def next_point(self, point: _Point) -> _Point:
        gradient = self._gradient(point.look)
        step = self._direction(point.x, point.look, point.face, point.face.along(gradient))
        x, evaluation, hit = self._move(point.x, point.look, step, gradient @ step)
        return _Point(x, evaluation, point.face if hit is None else point.face.changed(hit))

    def _solution(self, x: np.ndarray, evaluation: Evaluation, status: Status, iterations: int) -> Solution:
        if status is Status.LOCALIZED and self.holds(x):
            status = Status.INTERIOR
        return Solution(self._parameters(x), evaluation, status, iterations)

    def _parameters(self, x: np.ndarray) -> Parameters:
        return Parameters(x[: self.sizes[0]], x[self.sizes[0] :][None, :])

    def _evaluate(self, x: np.ndarray) -> Evaluation:
        return evaluate(self.cells, JUDGE_AWARE, self._parameters(x), "observed")

    def _gradient(self, evaluation: Evaluation) -> np.ndarray:
        return np.concatenate([evaluation.top_gradient, evaluation.judge_gradient[0]])

    def _blocks(self, values: np.ndarray) -> list[np.ndarray]:
        return [values[: self.sizes[0]], values[self.sizes[0] :]]

    def _release(self, x: np.ndarray, held: np.ndarray, gradient: np.ndarray) -> int | None:
        """The held parameter that most wants to come back inside, or None at a maximum.

        The multiplier of a sum is the free parameters' common gradient; a held one stays if it would rise
        further than that would buy.
        """
        wish = np.zeros(len(x))
        for part in (slice(0, self.sizes[0]), slice(self.sizes[0], None)):
            free = ~held[part]
            common = gradient[part][free].mean() if free.any() else 0.0
            wish[part] = np.where(held[part], -np.sign(x[part]) * (gradient[part] - common), 0.0)
        slack = self.settings.tolerance * np.abs(gradient).sum()
        return int(wish.argmax()) if wish.max() > slack else None

    def _direction(self, x: np.ndarray, evaluation: Evaluation, face: _Face, along: np.ndarray) -> np.ndarray:
        """Newton's direction along the face if minus the Hessian is positive definite, else Fisher scoring's."""
        everyone = np.ones((1, self.sizes[1]), bool)
        observed = information(evaluation, everyone)
        # from gamma to alpha = log gamma the second derivative gains the first
        judges = np.arange(self.sizes[0], len(x))
        observed[judges, judges] -= evaluation.judge_gradient[0]
        try:
            return positive_solve(face.within(observed, 0.0), along)
        except LinAlgError:
            evaluation = evaluate(self.cells, JUDGE_AWARE, self._parameters(x), "expected")
            return positive_solve(face.within(information(evaluation, everyone), DAMPING), along)

    def _move(
        self, x: np.ndarray, current: Evaluation, step: np.ndarray, rise: float
    ) -> tuple[np.ndarray, Evaluation, int | None]:
        """Backtrack from the nearest bound or the full step; name the parameter that reached its bound.

        Raises
        ------
        LinAlgError
            If no step along the direction raises the log-likelihood.
        """
        with np.errstate(divide="ignore"):
            room = np.where(step == 0, np.inf, (self.bound - np.sign(step) * x) / np.abs(step))
        hit = int(room.argmin())
        length = min(1.0, LARGEST_STEP / np.abs(step).max(), room[hit])

        def try_at(length: float) -> tuple[np.ndarray, Evaluation]:
            x_trial = x + length * step
            if length == room[hit]:
                x_trial[hit] = np.sign(step[hit]) * self.bound[hit]
            return x_trial, self._evaluate(x_trial)

        length, (x_new, evaluation) = backtracked(
            try_at, lambda trial: trial[1].log_likelihood, current.log_likelihood, rise, length
        )
        return x_new, evaluation, hit if length == room[hit] else None
