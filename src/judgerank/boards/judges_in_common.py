"""What the judges that two boards share say of a change, where judges came or went.

A judge has tastes: it likes some models more than the panel does. One that comes, or goes, moves the scores by
them, and no model has changed. So a change is tested by the answers of the judges that both boards have, each
board fitted to these alone. Where the boards share none, the judges of either are a sample, and the test's error
holds their tastes (`judgerank.boards.panel_tastes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from judgerank.boards.panel_tastes import panel_tastes
from judgerank.data.arrays import FloatArray, numbered
from judgerank.data.connectivity import components
from judgerank.data.errors import ConfigError, DisconnectedError
from judgerank.fits.errors_by_question import by_question
from judgerank.fits.fit import fit
from judgerank.fits.result import Fit
from judgerank.fits.storing import kept_weights
from judgerank.order.scale import scale_by, scale_of


def fit_by_judges(board: Fit, judges: Iterable[str]) -> Fit:
    """A board fitted to the answers of some of its judges, with errors of the same kind.

    Raises
    ------
    ConfigError
        If the board has further blocks or question effects.
    DisconnectedError
        If no chain of their comparisons connects all models.
    JudgerankError
        If there is no such fit, as `judgerank.fit` says.
    """
    chosen = {*judges}
    if chosen >= {*board.comparisons.judges}:
        return board
    if board.blocks or board.effects is not None:
        raise ConfigError("a board with further blocks or question effects is not fitted to some judges alone")
    every = board.comparisons if board.raw is None else board.raw
    keep = np.isin(np.array(every.judges, object), list(chosen))[every.judge]
    rows = every.take(np.flatnonzero(keep))
    if len(components(rows)) > 1:  # a shrunk fit would be one all the same
        raise DisconnectedError("no chain of comparisons by these judges connects all models", components(rows))
    fitted = fit(rows, board.model, board.settings)
    if board.question is None or board.raw is None:
        return fitted
    labels, question = numbered(board.question[keep])
    keys = None if board.question_keys is None else board.question_keys[labels]
    fitted = replace(fitted, question=question, question_keys=keys)
    has_clusters = board.robust is not None or board.flips is not None
    return by_question(fitted, rows, question) if has_clusters else fitted


def taste_variances(old: Fit, new: Fit, shared: Sequence[str]) -> tuple[FloatArray, float]:
    """Variance of a change of reported scores by the tastes of two boards' judges, of whom none is on both.

    Returns
    -------
    float array, shape (M,), and float
        Of the models that both boards have, and its degrees of freedom.
    """
    variance, squares = 0.0, 0.0
    for board, scale in ((old, scale_of(old)), (new, scale_by(new, kept_weights(old)))):
        tastes = panel_tastes(board)
        by_board = scale.factor**2 * tastes.variance * float(tastes.weights @ tastes.weights)
        variance, squares = variance + by_board, squares + by_board**2 / tastes.degrees_of_freedom
    freedom = variance**2 / squares if squares > 0 else np.inf
    return np.full(len(shared), variance * (1 - 1 / len(shared))), float(freedom)
