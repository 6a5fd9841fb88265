"""The penalised log-likelihood of very many judges: no matrix of all their parameters is formed."""

from __future__ import annotations

import numpy as np

from judgerank.data.comparisons import Comparisons
from judgerank.engine.arrow import Arrow
from judgerank.engine.penalty import Spread, arrow
from judgerank.engine.problem import Information, Problem, moving
from judgerank.engine.sums import Curvature, Evaluation, evaluate
from judgerank.model.members import Model, Parameters

LARGE = 1_000  # parameters up to which one matrix is quicker than blocks


class BlockProblem(Problem):
    """A `Problem` for so many judges that their information must not become one matrix (`engine.arrow`).

    All is shrunk but for further blocks that are not.
    """

    def _second(self, at: Parameters, spread: Spread, evaluation: Evaluation, curvature: Curvature) -> Information:
        """The expected ones where the log-likelihood curves upward."""
        if curvature == "observed":
            information = arrow(self.model, at, self._logarithmic(evaluation), spread, True)
            if information.is_positive:
                return information
            evaluation = evaluate(self.cells, self.model, at, "expected")
        return arrow(self.model, at, evaluation, spread, False)

    def _log_determinant(self, info: Information, spread: Spread) -> float:
        assert isinstance(info, Arrow)
        blocks = [self.n] + [self.k] * (len(info.sums.T) - 1)  # from orthonormal coordinates to these
        return info.log_determinant() + float(np.log(blocks).sum())


def problem_of(cells: Comparisons, model: Model, spread: Spread | None = None) -> Problem:
    """The problem in which all is shrunk, by blocks where one matrix would be large.

    With a `spread`, shrunk further blocks that it does not name are held at zero.
    """
    size = len(cells.models) + len(model.free_blocks) * len(cells.judges)
    if size > LARGE and not model.further:
        return BlockProblem(cells, model)
    return Problem(cells, model, free_common=None if spread is None else moving(model, spread))
