"""Uncertainty of the standard deviations that a penalised fit uses.

They are fitted to a handful of scores and judges, and a covariance that takes them for known is too small: most
of all for what no comparison tells, such as differences between models that none connects, whose variance is the
prior's and no other. Here the posterior of theta is a mixture over a few values of log tau (Rue, Martino and
Chopin, 2009, section 6.5), its mean square about the estimate being

    sum w_i (V_i + (theta_i - theta)(theta_i - theta)'),

V_i the covariance at tau_i and theta_i the mode there. The second part is the first-order correction of Kass and
Steffey (1989), which leaves the first as it was and so does nothing for those differences.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.block_problem import problem_of
from judgerank.engine.modes import Rough
from judgerank.engine.penalised import Penalised
from judgerank.engine.solution import Solution
from judgerank.model.members import Model

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
    start = problem.remembering(problem.at(solution.parameters))
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
            at = problem.parameters(x)
            evaluation = problem.evaluated(x, at, "expected")
            logs.append(density - centre + reach / 2)
            solutions.append(
                replace(
                    solution,
                    parameters=at,
                    evaluation=evaluation.first_derivatives,
                    spread=spread,
                    expected=evaluation,
                )
            )
    weights = np.exp(np.array(logs) - max(logs))
    return tuple(zip((weights / weights.sum()).tolist(), solutions, strict=True))
