"""Is a block zero? Twice the log-likelihood that it gains over the same fit without it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scipy.special import chdtrc

from judgerank.blocks.maximum import Found, maximise
from judgerank.model.block import Block


@dataclass(frozen=True)
class BlockTest:
    """Of a block being zero.

    Attributes
    ----------
    statistic : float
        Twice the log-likelihood gained over the fit without the block.
    parameters : int
        Parameters of the block; of a shrunk one, its standard deviation alone.
    p_value : float
        By chi-squared; of a shrunk block half of that, as its standard deviation is on its bound (Self and Liang,
        1987, case 5). It takes comparisons for independent, which those of one question are not.
    """

    statistic: float
    parameters: int
    p_value: float


def tested(found: Found, block: Block) -> BlockTest:
    """The test; other shrunk blocks keep the standard deviations that they have."""
    problem, place = found.problem, found.problem.stacked.place(block.name)
    held, start = problem.held.copy(), found.summit.theta.copy()
    held[place], start[place] = True, 0.0
    spread = {name: 0.0 if name == block.name else value for name, value in found.known.items()}
    smaller = maximise(replace(problem, held=held), start, spread)
    statistic = max(0.0, 2 * (found.log_likelihood - smaller.log_likelihood))
    if block.shrunk:
        return BlockTest(statistic, 1, 0.5 * float(chdtrc(1, statistic)) if statistic > 0 else 1.0)
    many = int(found.summit.free[place].sum())
    return BlockTest(statistic, many, float(chdtrc(many, statistic)))
