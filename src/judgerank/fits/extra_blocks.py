"""A fit with further blocks, from the fit without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from judgerank.data.arrays import BoolArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import ConfigError
from judgerank.engine import penalised
from judgerank.engine.levels import GIVEN
from judgerank.engine.newton import Newton
from judgerank.engine.penalised import Penalised
from judgerank.fits.certified import require_blocks, require_bounded
from judgerank.fits.fitted import Fitted
from judgerank.model.block import Placed
from judgerank.model.members import Parameters
from judgerank.model.model_means import with_means

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
    parameters = without.solution.parameters
    start = Parameters(parameters.scores, parameters.judges, np.zeros(len(model.roles)))
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
