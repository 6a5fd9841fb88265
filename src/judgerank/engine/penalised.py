"""Penalised maximum likelihood: each block is shrunk toward the panel as the data decide. It always exists.

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

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.engine.likelihood import Evaluation
from judgerank.engine.marginal_likelihood import Climb, Rough, fitted_spread
from judgerank.engine.penalty import Spread, scale
from judgerank.engine.problem import Limits, Problem, problem_of
from judgerank.engine.solution import Solution, Status, require_positive, require_tolerance, unbounded_judges
from judgerank.model.block import Role
from judgerank.model.judge_blocks import JUDGE_BLOCKS, TIE, judge_block, strengths
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import at_mean

NARROWEST, WIDEST = 0.05, 5.0  # standard deviations tried, in log-odds and log gamma
REACH, SMALLEST_UNIT = (1e-3, 10.0), 0.1  # standard deviations of further blocks, in units of the scores' own


@dataclass(frozen=True)
class Penalised:
    """Settings of the penalised fit.

    Attributes
    ----------
    scores, log_discrimination, slope, position, log_tie, log_strong : float, optional
        Standard deviations tau of the blocks; by marginal likelihood where they are not given.
    stronger, larger_ties : tuple of float, and of pairs of int and float
        Those of the strengths beyond much better, the weakest first, and of ties of three or more, likewise.
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
    log_strong: float | None = None
    stronger: tuple[float, ...] = ()
    larger_ties: tuple[tuple[int, float], ...] = ()
    tolerance: float = 1e-10
    max_iterations: int = 500

    def __post_init__(self) -> None:
        require_tolerance(self.tolerance)
        require_positive(self, "max_iterations")
        require_positive(self, *(name for name in ("scores", *JUDGE_BLOCKS) if getattr(self, name) is not None))

    def held_at(self, spread: Spread) -> Penalised:
        """The same with standard deviations given, such as those of a fit of nearly the same comparisons."""
        changes: dict[str, Any] = {name: tau for name, tau in spread.items() if hasattr(self, name)}
        stronger = tuple(spread[name] for name in strengths(len(spread) + 1)[1:] if name in spread)
        ties = tuple((judge_block(name).role.tied, spread[name]) for name in spread if name.startswith(f"{TIE}_"))
        return replace(self, **changes, stronger=stronger or self.stronger, larger_ties=ties or self.larger_ties)

    def given(self, name: str) -> float | None:
        """The standard deviation of a block, if it is given."""
        of_ties = {f"{TIE}_{size}": tau for size, tau in self.larger_ties}
        fixed = of_ties | dict(zip(strengths(len(self.stronger) + 1)[1:], self.stronger, strict=True))
        return fixed.get(name, getattr(self, name, None))

    def maximise(
        self, cells: Comparisons, model: Model, start: Parameters | None = None, bar: float | None = None
    ) -> Solution:
        """As the function of this module.

        Raises
        ------
        ConfigError
            If there is a start while standard deviations are to be found: those would hang on it.
        """
        all_fixed = all(self.given(name) is not None for name in ("scores", *model.free_blocks))
        if start is not None and not all_fixed:
            raise ConfigError("the penalised fit takes no start, unless all standard deviations are given")
        return maximise(cells, model, self, start)


def maximise(cells: Comparisons, model: Model, settings: Penalised, start: Parameters | None = None) -> Solution:
    """The penalised maximum, with standard deviations given or found; they are the solution's `spread`.

    With all of them given, the climb may begin at a start, in the scores and what every judge has.
    """
    climb = Climb(problem_of(cells, model), _begun(start, model, cells), settings)
    names = ("scores", *model.free_blocks)
    fixed_by_name = {name: settings.given(name) for name in names}
    fixed_spread = {name: tau for name, tau in fixed_by_name.items() if tau is not None}
    bounds = {name: (NARROWEST, WIDEST) for name in names if name not in fixed_spread}
    bounds |= {block.name: REACH for block in model.further if block.shrunk}
    climb, spread = fitted_spread(climb, fixed_spread, bounds)
    in_order = {name: spread[name] for name in (*names, *spread)}
    status = Status.SHRUNK if climb.done else Status.ITERATION_LIMIT
    marginal = climb.marginal(spread)
    return Solution(
        climb.parameters, climb.gradient_at_mode(), status, climb.steps, spread=in_order, integrated=marginal
    )


def _begun(start: Parameters | None, model: Model, cells: Comparisons) -> Parameters:
    """Where a climb begins: zeros, or a start with nothing in it that is not finite."""
    zeros = Parameters.zeros(model, cells)
    if start is None:
        return zeros
    judges = np.where(np.isfinite(start.judges), start.judges, zeros.judges)
    return Parameters(start.scores, judges, zeros.common).normalised(model, at_mean(model, cells))


def with_further(
    cells: Comparisons,
    model: Model,
    start: Parameters,
    free: BoolArray,
    settings: Limits,
    fixed_spread: Spread | None = None,
) -> Solution:
    """The maximum with further blocks that a member's own maximum leads to, the shrunk ones held by their prior.

    Parameters
    ----------
    start : Parameters
        The member's own maximum, further blocks at zero.
    free : bool array, shape (B, K)
        Parameters of the judges that move.
    settings : Limits
        Tolerance and steps.
    fixed_spread : mapping of str to float, optional
        Standard deviations of the shrunk blocks, zero of those that are left out; else they are found.
    """
    climb = Climb(Problem(cells, model, start, free), start, settings)
    shrunk = [block for block in model.further if block.shrunk]
    if fixed_spread is None:
        unit = max(float(start.scores.std()), SMALLEST_UNIT) * scale(model, start)[0]
        units = {block.name: unit if block.role is Role.QUALITY else 1.0 for block in shrunk}
        climb, spread = fitted_spread(climb, {}, {name: (REACH[0] * u, REACH[1] * u) for name, u in units.items()})
    else:
        spread = {name: tau for name, tau in fixed_spread.items() if tau > 0}
        for block in shrunk:
            if block.name not in spread:
                climb = climb.without(block.name)
        climb.to(spread)
    status = Status.BOUNDARY if not climb.parameters.in_play.all() else Status.INTERIOR
    status = status if climb.done else Status.ITERATION_LIMIT
    unbounded = unbounded_judges(model, climb.parameters)
    status = Status.UNBOUNDED if unbounded else status
    evaluation = _along(climb.gradient_at_mode(), climb.parameters, climb.problem.free)
    integrated = climb.marginal(spread) if spread or model.restricted else evaluation.log_likelihood
    return Solution(
        climb.parameters, evaluation, status, climb.steps, unbounded, spread=spread, integrated=integrated
    )


def _along(evaluation: Evaluation, parameters: Parameters, free: BoolArray) -> Evaluation:
    """The evaluation with the gradient in what moves, where a discrimination is held at the others' mean."""
    held = parameters.in_play & ~free[:1].all(axis=0) if len(free) else np.zeros(0, bool)
    if not held.any() or not free[:1].any():
        return evaluation
    gradient = evaluation.judge_gradient.copy()
    gradient[0, held] = 0.0
    gradient[0, free[0]] -= gradient[0, free[0]].mean()
    return replace(evaluation, judge_gradient=gradient)


# Uncertainty of the standard deviations that a penalised fit uses.
#
# They are fitted to a handful of scores and judges, and a covariance that takes them for known is too small: most
# of all for what no comparison tells, such as differences between models that none connects, whose variance is the
# prior's and no other. Here the posterior of theta is a mixture over a few values of log tau (Rue, Martino and
# Chopin, 2009, section 6.5), its mean square about the estimate being
#
#     sum w_i (V_i + (theta_i - theta)(theta_i - theta)'),
#
# V_i the covariance at tau_i and theta_i the mode there. The second part is the first-order correction of Kass and
# Steffey (1989), which leaves the first as it was and so does nothing for those differences.
STEP = 0.1  # of log tau, for the curvature of its log posterior
LEAST_CURVATURE = 1.0  # that of the prior of log tau alone


def mixture(
    cells: Comparisons, model: Model, settings: Penalised, solution: Solution
) -> tuple[tuple[float, Solution], ...]:
    """The fit, and those at standard deviations on either side of its own, with weights that sum to one.

    Each of the m that were fitted moves by itself, sqrt(m + 2) posterior standard deviations of its logarithm up
    and down: if the posterior is normal these 2 m + 1 points have its mean and variances, and if m is one they are
    those of Gauss and Hermite. Weights allow for one that is not, by the ratio of its density there to the normal.

    Parameters
    ----------
    cells : Comparisons
        Those fitted.
    model : Model
    settings : Penalised
        Standard deviations that they give are known.
    found : Solution
        Of `penalised.maximise`.
    """
    if solution.spread is None:  # no penalty
        return ((1.0, solution),)
    spread_at_mode = solution.spread
    problem = problem_of(cells, model, spread_at_mode)
    fitted = [name for name in spread_at_mode if settings.given(name) is None]
    if not fitted:
        return ((1.0, solution),)
    start = problem.remembering(problem.point_of(solution.parameters))
    of_members = [name for name in fitted if name in ("scores", *model.judge_blocks)]  # which have a prior

    def conditional(name: str, by: float) -> tuple[float, FloatArray, dict[str, float]]:
        """Log posterior density of log tau where one of them has moved, the mode there, and all of them."""
        spread = {**spread_at_mode, name: spread_at_mode[name] * float(np.exp(by))}
        x = problem.near(problem.mode(start, spread, Rough(settings.max_iterations))[0], spread)
        of_prior = 0.5 * sum(np.log(spread[member_name]) ** 2 for member_name in of_members)
        return problem.marginal(x, spread) - of_prior, x, spread

    centre, reach = conditional(fitted[0], 0.0)[0], len(fitted) + 2
    logs, solutions = [np.log(4.0)], [solution]
    for name in fitted:
        curvature = (2 * centre - conditional(name, STEP)[0] - conditional(name, -STEP)[0]) / STEP**2
        size = np.sqrt(reach / max(curvature, LEAST_CURVATURE))
        for by in (size, -size):
            density, x, spread = conditional(name, by)
            parameters = problem.parameters(x)
            evaluation = problem.evaluated(x, parameters, "expected")
            logs.append(density - centre + reach / 2)
            solutions.append(
                replace(
                    solution,
                    parameters=parameters,
                    evaluation=evaluation.first_derivatives,
                    spread=spread,
                    expected=evaluation,
                )
            )
    weights = np.exp(np.array(logs) - max(logs))
    return tuple(zip((weights / weights.sum()).tolist(), solutions, strict=True))
