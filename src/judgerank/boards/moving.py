"""Test whether newcomers move the models of a board by more than further judgments of the same kind would.

With U the gradient of the new comparisons in the board's parameters and K their information, the newcomers' scores
regressed out of both, a fit of all comparisons moves the board by about

    P U,    P = (I + V K)^-1 V,    Var(U) = M + K V K,

V being the inverse of the board's information, M the variance of U by the new comparisons alone, and the second
term what is not known of the board. If judges see the newcomers as they saw the others, the mean of U is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgerank.boards.change import joined
from judgerank.boards.partial import by_judge
from judgerank.boards.placing import Anchored, anchored
from judgerank.data.arrays import AnyArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import JudgerankError
from judgerank.data.representation import Shown
from judgerank.engine.penalised import Penalised
from judgerank.fits.arguments import raw_and_question, require_fit, require_member_alone
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.fits.storing import kept_weights
from judgerank.inference.wald import two_sided
from judgerank.order.pairs import holm, significant
from judgerank.order.scale import scale_by, scale_of

if TYPE_CHECKING:
    from judgerank.reading.read import Source


@dataclass(frozen=True, eq=False, repr=False)
class Placement(Shown):
    """Newcomers on a board, and the board with them.

    Attributes
    ----------
    anchored : Anchored
        The newcomers, the board held.
    newcomers : DataFrame
        `Anchored.table` with ``refit``, their scores by a fit of all comparisons, on the board's scale.
    differences : DataFrame
        `Anchored.differences`.
    moves : DataFrame
        ``model, before, after, change, standard_error, p_value, p_holm``: the board's models in the fit of all
        comparisons, and whether they move by more than noise.
    judges : DataFrame
        `boards.partial.by_judge`.
    refit : Fit or None
    why : str
        Why there is no refit; empty if there is one.
    level : float
    """

    anchored: Anchored
    newcomers: pd.DataFrame
    differences: pd.DataFrame
    moves: pd.DataFrame
    judges: pd.DataFrame
    refit: Fit | None
    why: str
    level: float

    @property
    def moved(self) -> list[str]:
        """Models of the board that move by more than noise."""
        return list(significant(self.moves, self.level)["model"])

    @property
    def partial(self) -> list[tuple[str, str]]:
        """Judges who see a newcomer otherwise than the others do, with that newcomer."""
        rows = significant(self.judges, self.level)
        return list(zip(rows["judge"], rows["newcomer"], strict=True))

    def _line(self) -> str:
        return f"{len(self.newcomers)} newcomers on a board of {len(self.moves)} models"

    def _table(self) -> pd.DataFrame:
        return self.newcomers


def place(
    board: Fit,
    judgments: Comparisons | Source,
    question: AnyArray | None = None,
    level: float = 0.95,
) -> Placement:
    """Place new models on a board by their own comparisons, the board's uncertainty carried, and a refit beside.

    Parameters
    ----------
    board : Fit
    judgments : Comparisons, or anything that `judgerank.read` reads
        Raw, T rows, that are not behind the board. What is left out is counted.
    question : array, shape (T,), optional
        Of each, where the judgments do not say: errors are then clustered by it.
    level : float

    Raises
    ------
    DataError, NoMaximumError, NoIntervalError
        As `boards.placing.anchored` says.
    ConfigError
        If the level is not between 0 and 1, or the board has further blocks or question effects.
    """
    require_fit(board)
    require_member_alone(board, "a place on a board")
    comparisons, question_index = raw_and_question(board, judgments, question)
    held = anchored(board, comparisons, question_index)
    table, differences = held.table(level), held.differences(level)
    try:
        refit, why = _refit(held), ""
    except JudgerankError as error:
        refit, why = None, str(error)
    table["refit"] = np.nan if refit is None else _on_board(refit, held)[list(held.newcomers)].to_numpy()
    return Placement(held, table, differences, _moves(held, refit), by_judge(held), refit, why, level)


def _refit(held: Anchored) -> Fit:
    """All comparisons behind the board and the new ones together."""
    combined = joined(held.board.comparisons, held.comparisons)
    board = held.board
    return fit(combined, board.model, board.settings, None if isinstance(board.settings, Penalised) else board)


def _on_board(refit: Fit, held: Anchored) -> pd.Series:
    """Scores of a refit on the board's scale, the mean of the board's models at zero as it is on the board."""
    factor = scale_by(refit, kept_weights(held.board)).factor
    return factor * (refit.scores - refit.scores[list(held.board.comparisons.models)].mean())


def _moves(held: Anchored, refit: Fit | None) -> pd.DataFrame:
    board, scale = held.board, scale_of(held.board)
    v, information = board._inverse("expected"), held.information
    p = np.linalg.solve(np.eye(len(v)) + v @ information, v)
    # in reported units, the mean discrimination of all judges held: one step of the weights is too rough
    p = scale.factor * p[: len(board.scores)]
    spread = p @ (held.errors.squares + information @ board.covariance @ information) @ p.T
    step, error = p @ held.gradient, np.sqrt(np.maximum(np.diag(spread), np.finfo(float).tiny))
    before = pd.Series(scale.scores, board.scores.index)
    after = before + step if refit is None else _on_board(refit, held)[list(before.index)]
    p_value = two_sided(step / error, held.errors.of_moves)
    frame = pd.DataFrame({"model": before.index, "before": before.to_numpy(), "after": after.to_numpy()})
    frame = frame.assign(change=frame["after"] - frame["before"], standard_error=error, p_value=p_value)
    return frame.assign(p_holm=holm(p_value))
