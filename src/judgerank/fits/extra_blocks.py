"""A fit with further blocks, from the fit without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
from scipy.sparse import csr_array, diags_array

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError, NotIdentifiedError
from judgerank.engine import penalised
from judgerank.engine.levels import GIVEN
from judgerank.engine.newton import Newton
from judgerank.engine.penalised import Penalised
from judgerank.fits.certified import require_blocks, require_bounded
from judgerank.fits.fitted import Fitted
from judgerank.model.block import Placed, Role
from judgerank.model.members import Parameters

# What a further block shares with the scores: its columns' means by model, and whether there is more to it.
#
# A column x of the comparisons splits into x_t = c_i - c_j + w_t, with c by least squares: that better models
# write longer answers is in c. Only w tells the block's effect beta from the scores. A prior on scores without c
# beta would decide what part of scores is the block's (Mundlak, 1978).
NOTHING = 1e-9  # share of a column's squares that counts as none


def with_means(extra: tuple[Placed, ...], comparisons: Comparisons) -> tuple[Placed, ...]:
    """The blocks with the models' means of their columns, where one that adds to log-odds is not shrunk.

    What is shrunk besides counts, too: differences of judges from a common effect could stand in for it.

    Parameters
    ----------
    further : tuple of Placed
    comparisons : Comparisons
        With the blocks' columns.

    Raises
    ------
    NotIdentifiedError
        If a column of such a block depends on the two models alone.
    """
    to_log_odds = [block for block in extra if block.role in (Role.QUALITY, Role.OFFSET)]
    if all(block.shrunk for block in to_log_odds):
        return extra
    assert comparisons.columns is not None
    centred, start = [], 0
    for block in extra:
        columns = csr_array(comparisons.columns[:, start : start + len(block.labels)])
        start += len(block.labels)
        if block in to_log_odds:
            means = _means(comparisons, columns)
            if not block.shrunk and not _differ_within(comparisons, columns, means):
                raise NotIdentifiedError(
                    f"these records cannot tell apart what belongs to scores and {block.name}"
                )
            block = replace(block, means=means)
        centred.append(block)
    return tuple(centred)


def _means(c: Comparisons, columns: csr_array) -> FloatArray:
    """Means by model of columns, shape (N, p), each summing to zero."""
    n, size = len(c.models), len(c)
    ends = np.r_[np.arange(size), np.arange(size)], np.r_[c.first, c.second]
    contrasts = csr_array((np.repeat([1.0, -1.0], size), ends), shape=(size, n))
    counted = diags_array(c.count.astype(float)) @ contrasts
    means = np.linalg.pinv((counted.T @ contrasts).toarray(), hermitian=True) @ (counted.T @ columns).toarray()
    return np.asarray(means - means.mean(axis=0), float)


def _differ_within(c: Comparisons, columns: csr_array, means: FloatArray) -> bool:
    """Whether every column has more in it than its means by model."""
    for values, mean in zip(columns.T.toarray(), means.T, strict=True):
        within = values - (mean[c.first] - mean[c.second])
        if c.count @ within**2 <= NOTHING * (c.count @ values**2):
            return False
    return True


MOST_PARAMETERS = 3_000  # of one matrix
FittedKind = TypeVar("FittedKind", bound=Fitted)


def with_blocks(
    without: FittedKind,
    comparisons: Comparisons,
    extra: tuple[Placed, ...],
    fixed_spread: Mapping[str, float] | None = None,
    certified: bool = True,
) -> FittedKind:
    """The maximum with further blocks that the fit without leads to, certified.

    Standard deviations of shrunk blocks are those at which the likelihood is highest when these are integrated
    out, in Laplace's approximation; where all is shrunk, all of them.

    Parameters
    ----------
    without : Fitted
        Exact or penalised.
    comparisons : Comparisons
        With the blocks' columns; raw or with counts. Rows that are alike are fitted together.
    further : tuple of Placed
    known : mapping of str to float, optional
        Standard deviations to take as they are: zero leaves a shrunk block out.
    certified : bool
        Whether what has no maximum is refused, or fitted as far as it goes.

    Raises
    ------
    ConfigError
        If there are too many parameters.
    NoMaximumError, NotIdentifiedError
        If something runs off to infinity, with the blocks or without, or blocks are not identified.
    """
    cells = comparisons.aggregate()
    model = replace(without.model, further=with_means(extra, cells))
    n_parameters = len(cells.models) + without.solution.parameters.judges.size + len(model.roles)
    if n_parameters > MOST_PARAMETERS:
        raise ConfigError(
            f"further blocks go with {MOST_PARAMETERS:,} parameters at most, and these are {n_parameters:,}"
        )
    if certified:
        require_bounded(without)
    at = without.solution.parameters
    start = Parameters(at.scores, at.judges, np.zeros(len(model.roles)))
    if isinstance(without.settings, Penalised):
        solution = penalised.maximise(cells, model, without.settings)
    else:
        assert isinstance(without.settings, Newton)  # no other solver goes with blocks
        settings = Penalised(tolerance=without.settings.tolerance)
        solution = penalised.with_further(cells, model, start, _moving(without), settings, fixed_spread)
    result = replace(
        without, comparisons=cells, raw=comparisons, model=model, solution=solution, without=without, robust=None
    )
    if certified:
        require_bounded(result)
        require_blocks(result)
    return result


def _moving(without: Fitted) -> BoolArray:
    """Parameters of the judges that further blocks move, shape (B, K).

    Held are slopes on their bound, judges who run off, and positions and ties of a judge at zero discrimination
    who never gives one of the answers: they have no maximum and say nothing of anybody else.
    """
    free, cells, model = without.free.copy(), without.comparisons, without.model
    tied = cells.tied if cells.tied is not None else np.zeros(len(cells))
    wins = [
        np.bincount(cells.judge, cells.count * (y - tied / 2), len(cells.judges))
        for y in (cells.outcome, 1 - cells.outcome)
    ]
    one_sided = ~without.solution.parameters.in_play & (np.minimum(*wins) <= GIVEN)
    free[model.offsets, one_sided] = False
    free[:, list(without.solution.unbounded_judges)] = False
    return free
