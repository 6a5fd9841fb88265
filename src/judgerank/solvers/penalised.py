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
from scipy.linalg import LinAlgError

from judgerank.comparisons import Comparisons
from judgerank.inference import information
from judgerank.likelihood import Curvature, Evaluation, evaluate
from judgerank.model import Model, Parameters
from judgerank.solvers.coordinates import Coordinates
from judgerank.solvers.newton import ROUNDING, SUFFICIENT, positive_solve
from judgerank.solvers.solution import Solution, Status, require_positive, require_tolerance, unbounded_judges

FLATTEST = 1e-9  # curvature, relative to the largest, that a step takes for granted
LARGEST_STEP = 3.0  # of any parameter, in one iteration
WIDE = 10.0  # standard deviation of a block's mean, where it is free: it stays finite and moves freely
NARROWEST, WIDEST = 0.05, 5.0  # standard deviations tried, in log-odds and log gamma
CLOSE, SLOPE = 1e-9, 0.9  # relative difference of log-likelihoods that may be rounding; slope left, on either side
DIFFERENCE = 1e-4  # of log tau, for the slope of the marginal likelihood


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


def penalty(model: Model, at: Parameters, spread: Mapping[str, float]) -> np.ndarray:
    """Precision matrix at a point of the free parameters (s, judges' blocks), of which the first two sum to zero.

    Parameters
    ----------
    at : Parameters
        The precision depends on it, since the prior is of the scores times the mean discrimination.
    spread : mapping of str to float
        Standard deviation by block, ``scores`` among them.

    Returns
    -------
    float array, shape (D, D)
    """
    n_models = len(at.scores)
    mean_gamma, share = _scale(model, at)
    precision = _apart(model, n_models, at.judges.shape[1], spread)
    # J'J of the scaled scores' derivatives J = (I, s share') over their scale
    square, by_judge = (mean_gamma / spread["scores"]) ** 2, slice(n_models, n_models + len(share))
    np.fill_diagonal(precision[:n_models, :n_models], square)
    precision[:n_models, by_judge] += square * np.outer(at.scores, share)
    precision[by_judge, :n_models] += square * np.outer(share, at.scores)
    precision[by_judge, by_judge] += square * (at.scores @ at.scores) * np.outer(share, share)
    return precision


def _scale(model: Model, at: Parameters) -> tuple[float, np.ndarray]:
    """Mean discrimination, and each judge's share of their sum; one and nothing where there is none to fit."""
    if "log_discrimination" not in _free_blocks(model):
        return 1.0, np.empty(0)
    gamma = np.exp(at.judges[0])
    return gamma.mean(), gamma / gamma.sum()


def _apart(model: Model, n_models: int, n_judges: int, spread: Mapping[str, float]) -> np.ndarray:
    """Precision matrix of the judges' blocks; that of the scores is left zero."""
    names = _free_blocks(model)
    precision = np.zeros((n_models + len(names) * n_judges,) * 2)
    for number, name in enumerate(names):
        square, place = spread[name] ** 2, n_models + number * n_judges
        block = precision[place : place + n_judges, place : place + n_judges]
        if name != "log_discrimination":  # their mean is free, or nearly so
            block += (1 / (square + n_judges * WIDE**2) - 1 / square) / n_judges
        block[np.diag_indices(n_judges)] += 1 / square
    return precision


def _free_blocks(model: Model) -> tuple[str, ...]:
    return model.judge_blocks[model.fixed_scale :]


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
        for name, many in zip(_free_blocks(model), free_by_block, strict=True):
            blocks.append((many, name == "log_discrimination"))
        self.coordinates = Coordinates(blocks)
        self._last: dict[str | None, tuple[np.ndarray, Evaluation]] = {}  # by curvature

    def parameters(self, x: np.ndarray) -> Parameters:
        full = self.coordinates.full(x)
        judges = np.where(np.isfinite(self.held), 0.0, self.held)
        judges[self.free] = full[self.n :]
        return Parameters(full[: self.n], judges)

    def at(self, at: Parameters) -> np.ndarray:
        """The inverse of `parameters`."""
        return np.r_[at.scores, at.judges[self.free]][self.coordinates.kept]

    def look(
        self, x: np.ndarray, spread: Mapping[str, float], curvature: Curvature | None = None
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Penalised log-likelihood, its gradient, and on request minus its Hessian or the expected one."""
        at, full = self.parameters(x), self.coordinates.full(x)
        here = self._evaluated(x, at, curvature)
        mean_gamma, share = _scale(self.model, at) if self.alone is None else (0.0, np.empty(0))
        apart = _apart(self.model, self.n, self.k, spread) if self.alone is None else self.alone
        pull = (mean_gamma / spread["scores"]) ** 2 * at.scores
        size, by_judge = pull @ at.scores, slice(self.n, self.n + len(share))
        gradient = np.r_[here.score_gradient, here.judge_gradient[self.free]] - apart @ full
        gradient[: self.n] -= pull
        gradient[by_judge] -= size * share
        height = here.log_likelihood - 0.5 * (size + full @ apart @ full)
        if curvature is None:
            return height, self.coordinates.gradient(gradient), np.empty((0, 0))
        precision = penalty(self.model, at, spread) if self.alone is None else apart.copy()
        if curvature == "observed" and not self.model.fixed_scale and len(self.free):
            own = here.judge_information.copy()
            own[:, 0, 0] -= here.judge_gradient[0]  # from gamma to its logarithm
            here = replace(here, judge_information=own)
            precision[: self.n, by_judge] += np.outer(pull, share)
            precision[by_judge, : self.n] += np.outer(share, pull)
            precision[by_judge, by_judge] += size * np.diag(share)
        info = self.coordinates.reduced(information(here, self.free) + precision)
        return height, self.coordinates.gradient(gradient), info

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
            step, slack = _ascent(info, gradient), ROUNDING * max(1.0, abs(height))
            rise = gradient @ step
            small = np.abs(gradient).max() <= settings.tolerance * max(1.0, abs(height))
            if small or rise <= slack:
                return x, height, True, steps
            if self.alone is not None and unbounded_judges(self.model, self.parameters(x)):
                break
            size = min(1.0, LARGEST_STEP / np.abs(step).max())
            there = self.look(x + size * step, spread, "observed")  # the first try mostly holds
            while there[0] < height + SUFFICIENT * size * rise - slack and not (
                # where rounding hides which is higher, the slope tells (Hager and Zhang, 2005)
                there[0] >= height - CLOSE * max(1.0, abs(height)) and there[1] @ step >= -SLOPE * rise
            ):
                size /= 2
                there = self.look(x + size * step, spread, "observed")
            x, (height, gradient, info) = x + size * step, there
        return x, height, False, steps

    def near(self, x: np.ndarray, spread: Mapping[str, float]) -> np.ndarray:
        """The mode for standard deviations next to those of the mode x, to first order: one Newton step."""
        _, gradient, info = self.look(x, spread, "observed")
        return x + _ascent(info, gradient)

    def marginal(self, x: np.ndarray, spread: Mapping[str, float]) -> float:
        """Log marginal likelihood in Laplace's approximation at the mode x."""
        height, _, info = self.look(x, spread, "expected")
        prior = _apart(self.model, self.n, self.k, spread)
        prior[: self.n, : self.n] = np.eye(self.n) / spread["scores"] ** 2
        both = [np.linalg.slogdet(matrix)[1] for matrix in (self.coordinates.reduced(prior), info)]
        to_scaled = (self.n - 1) * np.log(_scale(self.model, self.parameters(x))[0])  # from scores to scaled ones
        return height + 0.5 * (both[0] - both[1]) + to_scaled


def _ascent(info: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Newton's step; where the log-likelihood curves upward, as if it curved downward as much."""
    try:
        return positive_solve(info, gradient)
    except LinAlgError:
        values, vectors = np.linalg.eigh(info)
        return vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), FLATTEST * values[-1]))


class _Marginal:
    """The log marginal likelihood with its prior, by log tau: what is found is at its maximum.

    Every mode is sought from the last one found, `x`, which is near.
    """

    def __init__(self, problem: Problem, settings: Penalised):
        self.problem, self.settings = problem, settings
        names = ("scores", *_free_blocks(problem.model))
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
    problem = Problem(cells, model)
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
