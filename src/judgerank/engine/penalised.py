"""Penalised maximum likelihood: each block is shrunk toward the panel as the data decide. It always exists.

Zero-sum scores and log-discriminations, and the judges' further parameters about their mean, are normal with
standard deviations tau, one for each block. Scores are so on the scale on which discriminations have the mean one:
on that of the fit, where their geometric mean is one, all scores could be shrunk by the fall of a single judge who
says next to nothing. Standard deviations that are not given maximise the marginal likelihood in Laplace's
approximation at the mode (Tierney and Kadane, 1986), under a weak prior, log tau being standard normal:

    l(theta) + log p(theta | tau) - log det(H) / 2 - (log tau)^2 / 2 + constant,

H the expected information of the first two terms. (Minus their Hessian need not be positive definite, and would be
rewarded for being all but singular.)

A tie that counts as half a win varies less than a win or a loss: if a share t of the answers are ties, outcomes
between equal models have the variance (1 - t) / 4, and the likelihood's is 1 / 4. Taken as it is, the likelihood
says too little, and scores are shrunk too far. So its logarithm is divided by the dispersion 1 - t (Wedderburn,
1974), as if every comparison counted 1 / (1 - t) times. Where ties are an outcome there is nothing to correct.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.engine.boundary import offsets_at_zero
from judgerank.engine.likelihood import Evaluation, evaluate
from judgerank.engine.marginal_likelihood import Climb, Rough, fitted_spread
from judgerank.engine.penalty import Spread, scale
from judgerank.engine.problem import Limits, Problem, in_units, problem_of
from judgerank.engine.solution import (
    Solution,
    Status,
    log_odds,
    require_positive,
    require_tolerance,
    unbounded_judges,
    unerring_judges,
)
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
    dispersion : float, optional
        Variance of the outcomes over that of wins and losses alone. By default one less the share of ties where
        they count as half wins (`with_dispersion`), and one where ties are an outcome or there are none.
    tolerance : float
        Largest gradient component of the penalised log-likelihood, over its size.
    max_iterations : int
        Newton steps for one set of standard deviations.

    Examples
    --------
    >>> import judgerank
    >>> prior = judgerank.Penalised(scores=1.0, log_discrimination=0.5)
    >>> result = judgerank.fit(judgerank.example(), solver=prior)
    >>> str(result.status), result.scores.idxmax()
    ('shrunk', 'oak')
    """

    scores: float | None = None
    log_discrimination: float | None = None
    slope: float | None = None
    position: float | None = None
    log_tie: float | None = None
    log_strong: float | None = None
    stronger: tuple[float, ...] = ()
    larger_ties: tuple[tuple[int, float], ...] = ()
    dispersion: float | None = None
    tolerance: float = 1e-10
    max_iterations: int = 500

    def __post_init__(self) -> None:
        require_tolerance(self.tolerance)
        require_positive(self, "max_iterations")
        optional = ("scores", *JUDGE_BLOCKS, "dispersion")
        require_positive(self, *(name for name in optional if getattr(self, name) is not None))

    def with_dispersion(self, share_of_ties: float, n_comparisons: float) -> Penalised:
        """The same with the dispersion of comparisons of which a share are ties, taken for half wins.

        One comparison without a tie is added, so that it is positive where all answers are ties. Itself if there
        is nothing to correct, or the dispersion is given.
        """
        if self.dispersion is not None or share_of_ties == 0:
            return self
        return replace(self, dispersion=1 - share_of_ties * n_comparisons / (n_comparisons + 1))

    def counted(self, cells: Comparisons) -> Comparisons:
        """The comparisons counted as often as their dispersion has it."""
        return cells if self.dispersion is None else replace(cells, count=cells.count / self.dispersion)

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
    climb = Climb(problem_of(settings.counted(cells), model), _begun(start, model, cells), settings)
    names = ("scores", *model.free_blocks)
    fixed_by_name = {name: settings.given(name) for name in names}
    fixed_spread = {name: tau for name, tau in fixed_by_name.items() if tau is not None}
    bounds = {name: (NARROWEST, WIDEST) for name in names if name not in fixed_spread}
    bounds |= {block.name: REACH for block in model.further if block.shrunk}
    climb, spread = fitted_spread(climb, fixed_spread, bounds)
    in_order = {name: spread[name] for name in (*names, *spread)}
    status = Status.SHRUNK if climb.done else Status.ITERATION_LIMIT
    marginal = climb.marginal(spread)
    evaluation = climb.gradient_at_mode().times(settings.dispersion or 1.0)  # of each comparison once
    return Solution(climb.parameters, evaluation, status, climb.steps, spread=in_order, integrated=marginal)


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
    problem = problem_of(settings.counted(cells), model, spread_at_mode)
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
            evaluation = problem.evaluated(x, parameters, "expected").times(settings.dispersion or 1.0)
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


# Judges that run off, held finite by shrinking them alone.
#
# Where a likelihood has no maximum because some judges' discriminations (or positions, or tie propensities) run
# off, every parameter of those judges is normal about its mean over the others, and nothing else has a penalty.

ALONE = (
    1.0  # standard deviation of an unbounded judge's parameters about the mean of the others, in units of counts
)
MOST_PARAMETERS = 3_000  # of one matrix
NOTHING = 1e-6  # log-odds of a typical pair under one judge, below which that judge counts as at zero


def penalty_alone(
    judges: np.ndarray, n_models: int, unbounded: np.ndarray, deviation: float = ALONE
) -> np.ndarray:
    """Precision matrix of (s, judges' blocks) when nothing but unbounded judges is shrunk, shape (D, D).

    Parameters
    ----------
    judges : float array, shape (B, K)
        Their parameters; those that are not finite have no part in a mean.
    n_models : int
    unbounded : bool array, shape (K,)
    deviation : float
        Standard deviation of the penalty.
    """
    blocks = [np.zeros((n_models, n_models))]
    for row in judges:
        is_reference = np.isfinite(row) & ~unbounded
        contrast = np.eye(len(row)) - is_reference / max(1, is_reference.sum())
        contrast = contrast[unbounded & np.isfinite(row)]
        blocks.append(contrast.T @ contrast / deviation**2)
    return block_diag(*blocks)


def shrunk_alone(cells: Comparisons, model: Model, solution: Solution) -> Solution:
    """An unbounded solution with those judges held finite by shrinking them alone, and no one else.

    Log-discrimination, position and log tie propensity of such a judge are normal about their means over the other
    judges in play with standard deviation one, where counts are in units (`engine.count_scaling`): with no maximum
    for more data to draw nearer to, estimates must not hang on how much was counted. Judges at zero stay there.
    Who is unbounded stays on record, and so does the status. Judges that run off once the first are held join
    them. Judges that fall to zero then are put there: their log-discrimination would drag the mean down without
    end. With slopes nothing is held: those have bounds, which this does not know; nor are more shrunk than fit
    one matrix. The scale is then that of the other judges.
    """
    if solution.status is not Status.UNBOUNDED:
        return solution
    if model.weights_vary or has_many_parameters(cells, model):
        return on_the_scale_of_the_others(cells, model, solution)
    cells, size = in_units(cells)
    parameters, unbounded, steps = solution.parameters, solution.unbounded_judges, solution.iterations
    play = np.flatnonzero(parameters.in_play)
    if not play.size:  # whoever runs off, in position or ties, says nothing of the models
        return solution
    judges, done = parameters.judges.copy(), True
    for _ in range(2 * len(play)):
        part = cells.with_judges(cells.judges[k] for k in play)
        away = np.isin(play, unbounded)
        problem, start = _alone(part, model, Parameters(parameters.scores, parameters.judges[:, play]), away)
        x, _, done, more = problem.mode(start, {}, Penalised())
        shrunk, steps = problem.parameters(x), steps + more
        new = set(unbounded_judges(model, shrunk) or unerring_judges(part, model, shrunk)) - set(
            np.flatnonzero(away)
        )
        unbounded = tuple(sorted({*unbounded, *play[list(new)].tolist()}))
        falling = ~away & (log_odds(shrunk) < NOTHING) & model.weighs_judges
        judges[:, play] = shrunk.judges
        judges[0, play[falling]] = -np.inf
        judges[1:, play[falling]] = offsets_at_zero(part, model)[:, falling]
        if not new and not falling.any():
            break
        play = play[~falling]
    if not done:  # there is no maximum, whether or not there is a place to stop
        return solution
    shrunk = Parameters(shrunk.scores, judges)
    return Solution(shrunk, evaluate(cells, model, shrunk), Status.UNBOUNDED, steps, unbounded, alone=ALONE).times(
        size
    )


def on_the_scale_of_the_others(cells: Comparisons, model: Model, solution: Solution) -> Solution:
    """The same probabilities, with the geometric mean of discriminations one over judges that do not run off.

    Where those that do were stopped is arbitrary, and so would be a scale that they have a part in.
    """
    parameters = solution.parameters
    is_reference = parameters.in_play.copy()
    is_reference[list(solution.unbounded_judges)] = False
    if not is_reference.any():
        return solution
    judges, mean = parameters.judges.copy(), parameters.judges[0, is_reference].mean()
    judges[0] -= mean
    rescaled = Parameters(parameters.scores * np.exp(mean), judges)
    return replace(solution, parameters=rescaled, evaluation=evaluate(cells, model, rescaled))


def has_many_parameters(cells: Comparisons, model: Model) -> bool:
    """Whether there are more than `MOST_PARAMETERS`."""
    return len(cells.models) + len(model.judge_blocks) * len(cells.judges) > MOST_PARAMETERS


def _alone(
    part: Comparisons, model: Model, parameters: Parameters, away: np.ndarray
) -> tuple[Problem, np.ndarray]:
    """The problem in which the judges `away` alone are shrunk, and a start with them at the mean of the others."""
    judges = parameters.judges.copy()
    for row in judges:
        is_reference = np.isfinite(row) & ~away
        row[away & np.isfinite(row)] = row[is_reference].mean() if is_reference.any() else 0.0
    held = at_mean(model, part)
    parameters = Parameters(parameters.scores, judges).normalised(at_mean=held)
    judges[:1, held] = 0.0
    free = np.isfinite(judges)
    free[: model.free_rows.start] = False
    free[:1, held] = False
    chosen = np.r_[np.ones(len(parameters.scores), bool), free.ravel()]
    precision = penalty_alone(judges, len(parameters.scores), away)[np.ix_(chosen, chosen)]
    problem = Problem(part, model, Parameters(parameters.scores, judges), free, alone=precision)
    return problem, problem.point_of(parameters)
