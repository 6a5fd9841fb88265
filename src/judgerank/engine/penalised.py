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

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.engine.arrow import Arrow
from judgerank.engine.closure import slopes_at_zero
from judgerank.engine.coordinates import Coordinates
from judgerank.engine.information import information
from judgerank.engine.newton import SUFFICIENT, positive_solve
from judgerank.engine.penalty import (
    ALPHA,
    Spread,
    arrow,
    log_prior_determinant,
    n_scaled,
    penalty,
    pulled,
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
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

FLATTEST = 1e-9  # curvature, relative to the largest, that a step takes for granted
LARGEST_STEP = 3.0  # of any parameter, in one iteration
NARROWEST, WIDEST = 0.05, 5.0  # standard deviations tried, in log-odds and log gamma
CLOSE, SLOPE = 1e-9, 0.9  # relative difference of log-likelihoods that may be rounding; slope left, on either side
LARGE = 1_000  # parameters up to which one matrix is quicker than blocks
DIFFERENCE = 1e-4  # of log tau, for the slope of the marginal likelihood
REACH, SMALLEST_UNIT = (1e-3, 10.0), 0.1  # standard deviations of further blocks, in units of the scores' own
STILL = 1e-6  # gain in log-likelihood that counts as none
# log-odds of a typical pair under one judge below which it is asked whether that judge is at zero, or it is lost
FAINT, LOST, MOST_LOST = 1e-3, 1e-4, 2
BACK, ROUNDS = 1e-3, 10  # discrimination with which a judge comes back, over the others' mean; and how often

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

    def maximise(
        self, cells: Comparisons, model: Model, start: Parameters | None = None, bar: float | None = None
    ) -> Solution:
        """As the function of this module, which takes no start."""
        if start is not None:
            raise ConfigError("the penalised fit takes no start")
        return maximise(cells, model, self)


class Problem:
    """The penalised log-likelihood of one set of cells, in zero-sum coordinates.

    Attributes
    ----------
    base : Parameters
        Where what does not move is.
    free : bool array, shape (B, K)
        Parameters of the judges that move.
    free_common : bool array, shape (P,)
        Those of the further blocks.
    alone : float array, shape (D, D), optional
        A fixed precision matrix of what moves that is the penalty in place of that of the standard deviations.
    """

    def __init__(
        self,
        cells: Comparisons,
        model: Model,
        base: Parameters | None = None,
        free: BoolArray | None = None,
        free_common: BoolArray | None = None,
        alone: FloatArray | None = None,
    ):
        self.cells, self.model, self.alone = cells, model, alone
        self.n, self.k = len(cells.models), len(cells.judges)
        self.base = base or Parameters.zeros(model, cells)
        self.free = np.ones(self.base.judges.shape, bool) if free is None else free.copy()
        self.free[: model.fixed_scale] = False
        self.free_common = np.ones(len(model.roles), bool) if free_common is None else free_common
        self.chosen = np.r_[np.ones(self.n, bool), self.free.ravel(), self.free_common]
        blocks = [(self.n, True)]
        for row, many in enumerate(self.free.sum(axis=1).tolist()):
            blocks.append((many, row == 0 and model.weighs_judges))
        self.coordinates = Coordinates([*blocks, (int(self.free_common.sum()), False)])
        # where judges run off there are many modes, and which is found must not hang on what has no coordinate
        self.metric = None if alone is None else self.coordinates.metric
        self._last: dict[str | None, tuple[np.ndarray, Evaluation]] = {}  # by curvature

    def parameters(self, x: np.ndarray) -> Parameters:
        full, judges, common = self.coordinates.full(x), self.base.judges.copy(), self.base.common.copy()
        of_judges = self.n + int(self.free.sum())
        judges[self.free], common[self.free_common] = full[self.n : of_judges], full[of_judges:]
        return Parameters(full[: self.n], judges, common)

    def at(self, at: Parameters) -> np.ndarray:
        """The inverse of `parameters`."""
        return np.r_[at.scores, at.judges[self.free], at.common[self.free_common]][self.coordinates.kept]

    def look(
        self, x: np.ndarray, spread: Spread, curvature: Curvature | None = None
    ) -> tuple[float, np.ndarray, Information]:
        """Penalised log-likelihood, its gradient, and on request minus its Hessian or the expected one."""
        at = self.parameters(x)
        here = self._evaluated(x, at, curvature)
        whole = np.r_[here.top_gradient[: self.n], here.judge_gradient.ravel(), here.top_gradient[self.n :]]
        gradient = whole[self.chosen]
        if self.alone is not None:
            full = self.coordinates.full(x)
            image = self.alone @ full
            gradient = gradient - image
            lost = float(full @ image)
        else:
            lost, pull = pulled(self.model, at, spread)
            gradient = gradient - pull[self.chosen]
        info = np.empty((0, 0)) if curvature is None else self._second(at, spread, here, curvature)
        return here.log_likelihood - 0.5 * lost, self.coordinates.gradient(gradient), info

    def _second(self, at: Parameters, spread: Spread, here: Evaluation, curvature: Curvature) -> Information:
        """Minus the second derivatives in the coordinates, or the expected ones, shape (D', D')."""
        if self.alone is None:
            precision = penalty(self.model, at, spread, curvature == "observed")
        else:
            precision = np.zeros((len(self.chosen),) * 2)
            precision[np.ix_(self.chosen, self.chosen)] = self.alone
        if curvature == "observed":
            here = self._logarithmic(here)
        free = precision if self.chosen.all() else precision[np.ix_(self.chosen, self.chosen)]
        return self.coordinates.reduced(information(here, self.free, self.free_common) + free)

    def _logarithmic(self, here: Evaluation) -> Evaluation:
        """The same with minus the second derivatives in the logarithm of gamma, no longer in gamma."""
        if not self.model.weighs_judges:
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
            if ALPHA not in spread and self._strays(x):
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

    def _strays(self, x: np.ndarray) -> bool:
        """Whether a judge without a penalty runs off, or falls to where no step would bring it back."""
        at = self.parameters(x)
        lost = self.alone is None and self.model.weighs_judges and bool((at.in_play & faint(at, LOST)).any())
        return lost or bool(unbounded_judges(self.model, at))

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

    def marginal(self, x: np.ndarray, spread: Spread) -> float:
        """Log-likelihood at the mode x with all that is shrunk integrated out, in Laplace's approximation."""
        height, _, info = self.look(x, spread, "expected")
        at = self.parameters(x)
        prior = log_prior_determinant(self.model, at, spread)
        to_scaled = n_scaled(self.model, at, spread) * np.log(scale(self.model, at)[0])
        return height + 0.5 * (prior - self._log_determinant(info, spread)) + to_scaled

    def _log_determinant(self, info: Information, spread: Spread) -> float:
        assert not isinstance(info, Arrow)
        if "scores" in spread and not self.model.further:
            return float(np.linalg.slogdet(info)[1])
        shrunk = np.concatenate([np.full(len(b.labels), b.name in spread) for b in self.model.further])
        shrunk = shrunk[self.free_common]
        part = np.r_[np.full(len(info) - len(shrunk), "scores" in spread), shrunk]
        return float(np.linalg.slogdet(info[np.ix_(part, part)])[1])


class BlockProblem(Problem):
    """The same for so many judges that their information must not become one matrix (`engine.arrow`).

    All is shrunk but for further blocks that are not.
    """

    def _second(self, at: Parameters, spread: Spread, here: Evaluation, curvature: Curvature) -> Information:
        """The expected ones where the log-likelihood curves upward."""
        if curvature == "observed":
            found = arrow(self.model, at, self._logarithmic(here), spread, True)
            if found.is_positive:
                return found
            here = evaluate(self.cells, self.model, at, "expected")
        return arrow(self.model, at, here, spread, False)

    def _log_determinant(self, info: Information, spread: Spread) -> float:
        assert isinstance(info, Arrow)
        blocks = [self.n] + [self.k] * (len(info.sums.T) - 1)  # from orthonormal coordinates to these
        return info.log_determinant() + float(np.log(blocks).sum())


def faint(at: Parameters, least: float) -> BoolArray:
    """Judges under whom a typical pair's log-odds are below a size, shape (K,)."""
    if not len(at.judges):
        return np.zeros(at.judges.shape[1], bool)
    weak: BoolArray = np.exp(at.judges[0]) * at.scores.std() < least
    return weak


def problem_of(cells: Comparisons, model: Model, spread: Spread | None = None) -> Problem:
    """The problem in which all is shrunk, by blocks where one matrix would be large.

    With a `spread`, shrunk further blocks that it does not name are held at zero.
    """
    size = len(cells.models) + len(model.free_blocks) * len(cells.judges)
    if size > LARGE and not model.further:
        return BlockProblem(cells, model)
    return Problem(cells, model, free_common=None if spread is None else moving(model, spread))


def moving(model: Model, spread: Spread | None) -> BoolArray:
    """Which parameters of further blocks are not held at zero for having no standard deviation, shape (P,)."""
    known = {} if spread is None else spread
    parts = [np.full(len(block.labels), not block.shrunk or block.name in known) for block in model.further]
    return np.concatenate([np.zeros(0, bool), *parts])


class Climb:
    """Modes one after another, each sought from the last, which is near; judges at zero where they belong there.

    Attributes
    ----------
    problem : Problem
        Of the judges in play.
    at : Parameters
        The last mode.
    """

    def __init__(self, problem: Problem, start: Parameters, settings: Penalised):
        self.problem, self.at, self.settings = problem, start, settings
        self.steps, self.done = 0, False
        self.held = np.isfinite(start.judges) & ~problem.free

    def to(self, spread: Spread) -> Parameters:
        """The mode for standard deviations."""
        self.lost = np.zeros(self.problem.k, int)  # how often each judge was
        for _ in range(ROUNDS):
            x, _, self.done, steps = self.problem.mode(self.problem.at(self.at), spread, self.settings)
            self.steps, self.at = self.steps + steps, self.problem.parameters(x)
            if ALPHA in spread or not self._judges_moved():
                break
        return self.at

    def _judges_moved(self) -> bool:
        """Set judges aside that fall to zero, and take back those from which the likelihood rises.

        The sign of the slope at zero decides, as for the members alone (`closure.set_aside`), once all else has
        settled. Who was lost often stays there: there is next to nothing to gain.
        """
        problem, at = self.problem, self.at
        if not problem.model.weighs_judges:
            return False
        here = evaluate(problem.cells, problem.model, at, "expected")
        slope = slopes_at_zero(problem.cells, at, here)
        rises = slope > self.settings.tolerance * max(1.0, abs(here.log_likelihood))
        lost = at.in_play & faint(at, LOST)
        self.lost = self.lost + lost
        aside = lost | (at.in_play & faint(at, FAINT) & (slope <= 0))
        back = rises & ~at.in_play & self.done & (self.lost < MOST_LOST)
        if not (aside | back).any() or not (at.in_play & ~aside).any():
            return False
        judges, free = at.judges.copy(), problem.free.copy()
        judges[0, aside], judges[1 : problem.model.n_scale, aside] = -np.inf, 0.0
        judges[0, back] = np.log(BACK) + at.judges[0, at.in_play & ~aside].mean()
        there = Parameters(at.scores, judges, at.common)
        near = evaluate(problem.cells, problem.model, there, "expected")
        # where the slope at zero and the curvature there put the judge
        curvature = near.judge_information[back, 0, 0] / np.exp(2 * judges[0, back])
        judges[0, back] = np.log(slope[back] / np.maximum(curvature, np.finfo(float).tiny))
        free[problem.model.moving] = np.isfinite(judges[0]) & ~self.held[problem.model.moving]
        self.at = there.normalised(problem.model)
        self.problem = Problem(problem.cells, problem.model, self.at, free, problem.free_common)
        return True

    def marginal(self, spread: Spread) -> float:
        """`Problem.marginal` at the last mode."""
        return self.problem.marginal(self.problem.at(self.at), spread)

    def beside(self, spread: Spread) -> float:
        """The same for standard deviations next to those of the last mode, to first order."""
        return self.problem.marginal(self.problem.near(self.problem.at(self.at), spread), spread)

    def without(self, name: str) -> Climb:
        """The same with a further block at zero."""
        problem, place = self.problem, self.problem.model.place(name)
        free, common = problem.free_common.copy(), self.at.common.copy()
        free[place], common[place] = False, 0.0
        at = replace(self.at, common=common)
        return Climb(Problem(problem.cells, problem.model, at, problem.free, free), at, self.settings)


def fitted_spread(climb: Climb, known: Spread, bounds: Mapping[str, tuple[float, float]]) -> tuple[Climb, Spread]:
    """Standard deviations at which the likelihood is highest with all that is shrunk integrated out.

    Parameters
    ----------
    known : mapping of str to float
        Those that are given.
    bounds : mapping of str to pair of floats
        Of the others. Those of the members' blocks have a weak prior, log tau being standard normal, and a further
        block that gains nothing is left out: its standard deviation is zero.

    Returns
    -------
    climb : Climb
        At the mode.
    spread : mapping of str to float
    """
    from scipy.optimize import minimize  # loads slowly, and seldom is needed

    names, further = list(bounds), {block.name for block in climb.problem.model.further}
    prior = np.array([name not in further for name in names], float)

    def falls(log_tau: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log marginal likelihood with its prior, and its slopes by differences between neighbours."""

        def spread(log_tau: FloatArray) -> Spread:
            return {**known, **dict(zip(names, np.exp(log_tau).tolist(), strict=True))}

        climb.to(spread(log_tau))
        value = climb.marginal(spread(log_tau))
        beside = [climb.beside(spread(log_tau + step)) - value for step in DIFFERENCE * np.eye(len(names))]
        return float(-value + 0.5 * log_tau @ (prior * log_tau)), -np.array(beside) / DIFFERENCE + prior * log_tau

    start = np.array(
        [0.0 if flat else np.log(np.sqrt(np.prod(bounds[n]))) for n, flat in zip(names, prior, strict=True)]
    )
    if names:
        ends = [tuple(np.log(bounds[name])) for name in names]
        log_tau = minimize(falls, start, jac=True, bounds=ends, method="L-BFGS-B").x
        known = {**known, **dict(zip(names, np.exp(log_tau).tolist(), strict=True))}
    climb.to(known)
    for name in further & {*names}:
        smaller = climb.without(name)
        rest = {other: tau for other, tau in known.items() if other != name}
        smaller.to(rest)
        if climb.marginal(known) <= smaller.marginal(rest) + STILL:
            climb, known = smaller, rest
    return climb, known


def maximise(cells: Comparisons, model: Model, settings: Penalised) -> Solution:
    """The penalised maximum, with standard deviations given or found; they are the solution's `spread`."""
    climb = Climb(problem_of(cells, model), Parameters.zeros(model, cells), settings)
    names = ("scores", *model.free_blocks)
    known = {name: getattr(settings, name) for name in names if getattr(settings, name) is not None}
    bounds = {name: (NARROWEST, WIDEST) for name in names if name not in known}
    bounds |= {block.name: REACH for block in model.further if block.shrunk}
    climb, spread = fitted_spread(climb, known, bounds)
    in_order = {name: spread[name] for name in (*names, *spread)}
    status = Status.SHRUNK if climb.done else Status.ITERATION_LIMIT
    here = evaluate(cells, model, climb.at)
    return Solution(climb.at, here, status, climb.steps, spread=in_order, integrated=climb.marginal(spread))


def with_further(
    cells: Comparisons,
    model: Model,
    start: Parameters,
    free: BoolArray,
    settings: Penalised,
    known: Spread | None = None,
) -> Solution:
    """The maximum with further blocks that a member's own maximum leads to, the shrunk ones held by their prior.

    Parameters
    ----------
    start : Parameters
        The member's own maximum, further blocks at zero.
    free : bool array, shape (B, K)
        Parameters of the judges that move.
    settings : Penalised
        Tolerance and steps; standard deviations of members' blocks have no part in this.
    known : mapping of str to float, optional
        Standard deviations of the shrunk blocks, zero of those that are left out; else they are found.
    """
    climb = Climb(Problem(cells, model, start, free), start, settings)
    shrunk = [block for block in model.further if block.shrunk]
    if known is None:
        unit = max(float(start.scores.std()), SMALLEST_UNIT) * scale(model, start)[0]
        units = {block.name: unit if block.role is Role.QUALITY else 1.0 for block in shrunk}
        climb, spread = fitted_spread(climb, {}, {name: (REACH[0] * u, REACH[1] * u) for name, u in units.items()})
    else:
        spread = {name: tau for name, tau in known.items() if tau > 0}
        for block in shrunk:
            if block.name not in spread:
                climb = climb.without(block.name)
        climb.to(spread)
    status = Status.BOUNDARY if not climb.at.in_play.all() else Status.INTERIOR
    status = status if climb.done else Status.ITERATION_LIMIT
    unbounded = unbounded_judges(model, climb.at)
    status = Status.UNBOUNDED if unbounded else status
    here = evaluate(cells, model, climb.at)
    integrated = climb.marginal(spread) if spread else here.log_likelihood
    return Solution(climb.at, here, status, climb.steps, unbounded, spread=spread, integrated=integrated)
