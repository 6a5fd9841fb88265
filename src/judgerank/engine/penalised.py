"""Penalised maximum likelihood: every block shrunk toward the panel by as much as the data ask for. Always exists.

Zero-sum scores and log-discriminations, and the judges' further parameters about their mean, are normal with
standard deviations tau, one for each block. Scores are so on the scale on which discriminations have the mean one:
on that of the fit, where their geometric mean is one, all scores could be shrunk by the fall of a single judge who
says next to nothing. Standard deviations that are not given maximise the marginal likelihood in Laplace's
approximation at the mode (Tierney and Kadane, 1986), under a weak prior, log tau being standard normal:

    l(theta) + log p(theta | tau) - log det(H) / 2 - (log tau)^2 / 2 + constant,

H the expected information of the first two terms. (Minus their Hessian need not be positive definite, and would be
rewarded for being all but singular.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, eigh

from judgerank.data.comparisons import Comparisons
from judgerank.engine.arrow import Arrow
from judgerank.engine.coordinates import Coordinates
from judgerank.engine.information import information
from judgerank.engine.newton import SUFFICIENT, positive_solve
from judgerank.engine.penalty import (
    apart_times,
    arrow,
    free_blocks,
    log_prior_determinant,
    penalty,
    scale,
)
from judgerank.engine.solution import (
    ROUNDING,
    Solution,
    Status,
    require_positive,
    require_tolerance,
    unbounded_judges,
)
from judgerank.engine.sums import Curvature, Evaluation, evaluate
from judgerank.model.members import Model, Parameters

FLATTEST = 1e-9  # curvature, relative to the largest, that a step takes for granted
LARGEST_STEP = 3.0  # of any parameter, in one iteration
NARROWEST, WIDEST = 0.05, 5.0  # standard deviations tried, in log-odds and log gamma
CLOSE, SLOPE = 1e-9, 0.9  # relative difference of log-likelihoods that may be rounding; slope left, on either side
LARGE = 1_000  # parameters up to which one matrix is quicker than blocks
DIFFERENCE = 1e-4  # of log tau, for the slope of the marginal likelihood

Information = np.ndarray | Arrow


@dataclass(frozen=True)
class Penalised:
    """Settings of the penalised fit.

    Attributes
    ----------
    scores, log_discrimination, slope, position, log_tie : float, optional
        Standard deviations tau of the blocks; by marginal likelihood where they are not given.
    tolerance : float
        Largest gradient component of the penalised log-likelihood, over its size.
    max_iterations : int
        Newton steps for one set of standard deviations.
    """

    scores: float | None = None
    log_discrimination: float | None = None
    slope: float | None = None
    position: float | None = None
    log_tie: float | None = None
    tolerance: float = 1e-10
    max_iterations: int = 500

    def __post_init__(self) -> None:
        blocks = ("scores", "log_discrimination", "slope", "position", "log_tie")
        require_tolerance(self.tolerance)
        require_positive(self, "max_iterations")
        require_positive(self, *(name for name in blocks if getattr(self, name) is not None))


class Problem:
    """The penalised log-likelihood of one set of cells, in zero-sum coordinates.

    With `held`, parameters of the judges of which those that are not finite stay as they are, and `alone`, a fixed
    precision matrix of the others and the scores, that is the penalty; else it is that of the standard deviations.
    """

    def __init__(
        self, cells: Comparisons, model: Model, held: np.ndarray | None = None, alone: np.ndarray | None = None
    ):
        self.cells, self.model, self.alone = cells, model, alone
        self.n, self.k = len(cells.models), len(cells.judges)
        self.held = np.zeros((len(model.judge_blocks), self.k)) if held is None else held
        self.free = np.isfinite(self.held)
        self.free[: model.fixed_scale] = False
        blocks = [(self.n, True)]
        free_by_block = self.free[model.fixed_scale :].sum(axis=1).tolist()
        for name, many in zip(free_blocks(model), free_by_block, strict=True):
            blocks.append((many, name == "log_discrimination"))
        self.coordinates = Coordinates(blocks)
        # where judges run off there are many modes, and which is found must not hang on what has no coordinate
        self.metric = None if alone is None else self.coordinates.metric
        self._last: dict[str | None, tuple[np.ndarray, Evaluation]] = {}  # by curvature

    def parameters(self, x: np.ndarray) -> Parameters:
        return self._split(self.coordinates.full(x))

    def _split(self, full: np.ndarray) -> Parameters:
        judges = np.where(np.isfinite(self.held), 0.0, self.held)
        judges[self.free] = full[self.n :]
        return Parameters(full[: self.n], judges)

    def at(self, at: Parameters) -> np.ndarray:
        """The inverse of `parameters`."""
        return np.r_[at.scores, at.judges[self.free]][self.coordinates.kept]

    def look(
        self, x: np.ndarray, spread: Mapping[str, float], curvature: Curvature | None = None
    ) -> tuple[float, np.ndarray, Information]:
        """Penalised log-likelihood, its gradient, and on request minus its Hessian or the expected one."""
        full = self.coordinates.full(x)
        at = self._split(full)
        here = self._evaluated(x, at, curvature)
        mean_gamma, share = scale(self.model, at) if self.alone is None else (0.0, np.empty(0))
        image = apart_times(self.model, full, self.n, spread) if self.alone is None else self.alone @ full
        pull = (mean_gamma / spread["scores"]) ** 2 * at.scores
        size = pull @ at.scores
        gradient = np.concatenate([here.top_gradient, here.judge_gradient[self.free]]) - image
        gradient[: self.n] -= pull
        gradient[self.n : self.n + len(share)] -= size * share
        height = here.log_likelihood - 0.5 * float(size + full @ image)
        info = np.empty((0, 0)) if curvature is None else self._second(at, spread, here, curvature)
        return height, self.coordinates.gradient(gradient), info

    def _second(
        self, at: Parameters, spread: Mapping[str, float], here: Evaluation, curvature: Curvature
    ) -> Information:
        """Minus the second derivatives in the coordinates, or the expected ones, shape (D', D')."""
        precision = penalty(self.model, at, spread) if self.alone is None else self.alone.copy()
        if curvature == "observed":
            here = self._logarithmic(here)
            if self.alone is None and not self.model.fixed_scale and len(self.free):
                mean_gamma, share = scale(self.model, at)
                pull, by_judge = (
                    (mean_gamma / spread["scores"]) ** 2 * at.scores,
                    slice(self.n, self.n + len(share)),
                )
                cross = pull[:, None] * share
                precision[: self.n, by_judge] += cross
                precision[by_judge, : self.n] += cross.T
                precision[by_judge, by_judge] += (pull @ at.scores) * np.diag(share)
        return self.coordinates.reduced(information(here, self.free) + precision)

    def _logarithmic(self, here: Evaluation) -> Evaluation:
        """The same with minus the second derivatives in the logarithm of gamma, no longer in gamma."""
        if self.model.fixed_scale or not len(self.free):
            return here
        own = here.judge_information.copy()
        own[:, 0, 0] -= here.judge_gradient[0]
        return replace(here, judge_information=own)

    def _evaluated(self, x: np.ndarray, at: Parameters, curvature: Curvature | None) -> Evaluation:
        """The likelihood's part, which standard deviations do not change; they are often tried at one point."""
        if curvature not in self._last or not np.array_equal(self._last[curvature][0], x):
            self._last[curvature] = x, evaluate(self.cells, self.model, at, curvature)
        return self._last[curvature][1]

    def mode(
        self, x: np.ndarray, spread: Mapping[str, float], settings: Penalised
    ) -> tuple[np.ndarray, float, bool, int]:
        """The mode reached from x: where it is, how high, whether the tolerance was met, and Newton steps.

        A judge without a penalty may run off: the climb ends where its discrimination counts as unbounded.
        """
        height, gradient, info = self.look(x, spread, "observed")
        for steps in range(settings.max_iterations + 1):
            step, slack = self._ascent(info, gradient), ROUNDING * max(1.0, abs(height))
            rise = gradient @ step
            small = np.abs(gradient).max() <= settings.tolerance * max(1.0, abs(height))
            if small or rise <= slack:
                return x, height, True, steps
            if self.alone is not None and unbounded_judges(self.model, self.parameters(x)):
                break
            moved = step if self.metric is None else self.coordinates.full(step)
            size = min(1.0, LARGEST_STEP / np.abs(moved).max())
            there = self.look(x + size * step, spread, "observed")  # the first try mostly holds
            while there[0] < height + SUFFICIENT * size * rise - slack and not (
                # where rounding hides which is higher, the slope tells (Hager and Zhang, 2005)
                there[0] >= height - CLOSE * max(1.0, abs(height)) and there[1] @ step >= -SLOPE * rise
            ):
                size /= 2
                there = self.look(x + size * step, spread, "observed")
            x, (height, gradient, info) = x + size * step, there
        return x, height, False, steps

    def _ascent(self, info: Information, gradient: np.ndarray) -> np.ndarray:
        """Newton's step; where the log-likelihood curves upward, as if it curved downward as much."""
        if isinstance(info, Arrow):
            whole = np.zeros(len(info.sums))
            whole[self.coordinates.kept] = gradient
            return info.solve(whole)[self.coordinates.kept]
        try:
            return positive_solve(info, gradient)
        except LinAlgError:
            values, vectors = np.linalg.eigh(info) if self.metric is None else eigh(info, self.metric)
            return vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), FLATTEST * values[-1]))

    def near(self, x: np.ndarray, spread: Mapping[str, float]) -> np.ndarray:
        """The mode for standard deviations next to those of the mode x, to first order: one Newton step."""
        _, gradient, info = self.look(x, spread, "observed")
        return x + self._ascent(info, gradient)

    def marginal(self, x: np.ndarray, spread: Mapping[str, float]) -> float:
        """Log marginal likelihood in Laplace's approximation at the mode x."""
        height, _, info = self.look(x, spread, "expected")
        prior = log_prior_determinant(self.model, self.n, self.k, spread)
        to_scaled = (self.n - 1) * np.log(scale(self.model, self.parameters(x))[0])  # from scores to scaled ones
        return height + 0.5 * (prior - self._log_determinant(info)) + to_scaled

    def _log_determinant(self, info: Information) -> float:
        assert not isinstance(info, Arrow)
        return float(np.linalg.slogdet(info)[1])


class BlockProblem(Problem):
    """The same for so many judges that their information must not become one matrix (`engine.arrow`)."""

    def _second(
        self, at: Parameters, spread: Mapping[str, float], here: Evaluation, curvature: Curvature
    ) -> Information:
        """The expected ones where the log-likelihood curves upward."""
        if curvature == "observed":
            found = arrow(self.model, at, self._logarithmic(here), spread, True)
            if found.is_positive:
                return found
            here = evaluate(self.cells, self.model, at, "expected")
        return arrow(self.model, at, here, spread, False)

    def _log_determinant(self, info: Information) -> float:
        assert isinstance(info, Arrow)
        blocks = [self.n] + [self.k] * (len(info.sums.T) - 1)  # from orthonormal coordinates to these
        return info.log_determinant() + float(np.log(blocks).sum())


def problem_of(cells: Comparisons, model: Model) -> Problem:
    """The problem, by blocks where one matrix would be large."""
    size = len(cells.models) + len(free_blocks(model)) * len(cells.judges)
    return Problem(cells, model) if size <= LARGE else BlockProblem(cells, model)


class _Marginal:
    """The log marginal likelihood with its prior, by log tau: what is found is at its maximum.

    Every mode is sought from the last one found, `x`, which is near.
    """

    def __init__(self, problem: Problem, settings: Penalised):
        self.problem, self.settings = problem, settings
        names = ("scores", *free_blocks(problem.model))
        self.spread = {name: getattr(settings, name) or 1.0 for name in names}
        self.unknown = [name for name in names if getattr(settings, name) is None]
        self.x, self.steps, self.done = np.zeros(len(problem.coordinates.kept)), 0, False

    def settle(self, log_tau: np.ndarray) -> dict[str, float]:
        """Move to the mode for these standard deviations, which are returned by block."""
        spread = self._with(log_tau)
        self.x, _, self.done, steps = self.problem.mode(self.x, spread, self.settings)
        self.steps += steps
        return spread

    def falls(self, log_tau: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the value, and its slopes by differences between neighbours."""
        spread = self.settle(log_tau)
        value = self.problem.marginal(self.x, spread)
        beside = [self._with(log_tau + step) for step in DIFFERENCE * np.eye(len(self.unknown))]
        slopes = [self.problem.marginal(self.problem.near(self.x, other), other) - value for other in beside]
        return -value + 0.5 * log_tau @ log_tau, -np.array(slopes) / DIFFERENCE + log_tau

    def _with(self, log_tau: np.ndarray) -> dict[str, float]:
        return self.spread | dict(zip(self.unknown, np.exp(log_tau).tolist(), strict=True))


def maximise(cells: Comparisons, model: Model, settings: Penalised) -> Solution:
    """The penalised maximum, with standard deviations given or found; they are the solution's `spread`."""
    problem = problem_of(cells, model)
    marginal = _Marginal(problem, settings)
    log_tau = np.zeros(len(marginal.unknown))
    if marginal.unknown:
        from scipy.optimize import minimize  # loads slowly, and seldom is needed

        bounds = [(np.log(NARROWEST), np.log(WIDEST))] * len(log_tau)
        log_tau = minimize(marginal.falls, log_tau, jac=True, bounds=bounds, method="L-BFGS-B").x
    spread = marginal.settle(log_tau)
    here = problem.parameters(marginal.x)
    status = Status.SHRUNK if marginal.done else Status.ITERATION_LIMIT
    return Solution(here, evaluate(cells, model, here), status, marginal.steps, spread=spread)
