"""Judges that run off, held finite by shrinking them alone.

Where a likelihood has no maximum because some judges' discriminations (or positions, or tie propensities) run off,
every parameter of those judges is normal about its mean over the others, and nothing else has a penalty.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from judgerank.data.comparisons import Comparisons
from judgerank.engine.boundary import offsets_at_zero
from judgerank.engine.likelihood import evaluate
from judgerank.engine.penalised import Penalised
from judgerank.engine.problem import Problem, in_units
from judgerank.engine.solution import Solution, Status, log_odds, unbounded_judges, unerring_judges
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import at_mean

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
