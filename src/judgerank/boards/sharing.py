"""What two boards share: comparisons under the same names, and questions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.stages import alone, joined_stages
from judgerank.fits.result import Fit
from judgerank.inference.clusters import cluster_gradients


def onto(rows: Comparisons, named: Comparisons) -> Comparisons:
    """Comparisons with the models and judges of others, which have all of theirs."""
    model, judge = (
        np.asarray(pd.Index(labels).get_indexer(pd.Index(part)))
        for part, labels in ((rows.models, named.models), (rows.judges, named.judges))
    )
    return replace(
        rows,
        models=named.models,
        judges=named.judges,
        first=model[rows.first],
        second=model[rows.second],
        judge=judge[rows.judge],
    )


def joined(old: Comparisons, new: Comparisons) -> Comparisons:
    """The comparisons behind two boards of one member, those of either counted."""
    boards = old, new
    models, judges = (tuple(dict.fromkeys([*getattr(boards[0], x), *getattr(boards[1], x)])) for x in NAMES)
    named = replace(boards[1], models=models, judges=judges)
    rows = [onto(board, named) for board in boards]
    columns = {name: np.r_[getattr(rows[0], name), getattr(rows[1], name)] for name in COLUMNS}
    strengths = max(board.n_strengths for board in rows)
    rows = [board if board.strong is None else board.with_strengths(strengths) for board in rows]
    for name in ("covariate", "tied", "strong"):
        values = [getattr(board, name) for board in rows]
        columns[name] = None if any(column is None for column in values) else np.concatenate(values)
    stages = None
    if any(board.stages is not None for board in rows):
        stages = joined_stages([board.stages or alone(len(board)) for board in rows])
    return replace(named, ordered=all(board.ordered for board in boards), stages=stages, **columns)


NAMES, COLUMNS = ("models", "judges"), ("first", "second", "judge", "outcome", "count")


@dataclass(frozen=True)
class Questions:
    """The questions behind two boards whose errors are by question.

    Attributes
    ----------
    places : two int arrays
        Where the questions of the old board and of the new one stand among those of both.
    many : int
        Questions of both.
    """

    places: tuple[IntArray, IntArray]
    many: int

    @classmethod
    def of(cls, old: Fit, new: Fit) -> Questions | None:
        """None if a board does not keep its questions, or its errors are not by question."""
        keys = [_keys(board) for board in (old, new)]
        if keys[0] is None or keys[1] is None:
            return None
        keys_of_both, codes = np.unique(np.r_[keys[0], keys[1]], return_inverse=True)
        return cls((codes[: len(keys[0])], codes[len(keys[0]) :]), len(keys_of_both))

    @staticmethod
    def gradients(board: Fit, at: Fit) -> FloatArray:
        """Gradient of every question of a board in the parameters of a fit, shape (Q, N + B K)."""
        raw = board.model.observed(board.known_raw)
        return cluster_gradients(onto(raw, at.comparisons), at.model, at.solution.parameters, board.known_question)

    def variance(self, old: FloatArray, new: FloatArray) -> FloatArray:
        """Of the sum of what all questions add on either board, shape (Q, M) each; shape (M,).

        About their mean: the sum is what is tested, and should not be part of its own error.
        """
        total = np.zeros((self.many, old.shape[1]))
        for index, gradients in zip(self.places, (old, new), strict=True):
            total[index] += gradients
        return np.asarray(total.var(axis=0, ddof=1) * self.many)


def _keys(board: Fit) -> np.ndarray | None:
    """Hash of each question of a board, in the order of their numbers."""
    has_keys = board.question_keys is not None and board.question is not None and board.raw is not None
    if not has_keys or board.effects is not None or board.blocks or board.question_keys is None:
        return None
    return board.question_keys if board.n_clusters == len(board.question_keys) else None
