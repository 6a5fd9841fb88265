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
        np.asarray(pd.Index(whole).get_indexer(pd.Index(part)))
        for part, whole in ((rows.models, named.models), (rows.judges, named.judges))
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
    rows = [onto(each, named) for each in boards]
    columns = {name: np.r_[getattr(rows[0], name), getattr(rows[1], name)] for name in COLUMNS}
    strengths = max(each.n_strengths for each in rows)
    rows = [each if each.strong is None else each.with_strengths(strengths) for each in rows]
    for name in ("covariate", "tied", "strong"):
        values = [getattr(each, name) for each in rows]
        columns[name] = None if any(one is None for one in values) else np.concatenate(values)
    stages = None
    if any(each.stages is not None for each in rows):
        stages = joined_stages([each.stages or alone(len(each)) for each in rows])
    return replace(named, ordered=all(each.ordered for each in boards), stages=stages, **columns)


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
        keys = [_keys(each) for each in (old, new)]
        if keys[0] is None or keys[1] is None:
            return None
        whole, place = np.unique(np.r_[keys[0], keys[1]], return_inverse=True)
        return cls((place[: len(keys[0])], place[len(keys[0]) :]), len(whole))

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
        for place, told in zip(self.places, (old, new), strict=True):
            total[place] += told
        return np.asarray(total.var(axis=0, ddof=1) * self.many)


def _keys(board: Fit) -> np.ndarray | None:
    """Hash of each question of a board, in the order of their numbers."""
    known = board.question_keys is not None and board.question is not None and board.raw is not None
    if not known or board.effects is not None or board.blocks or board.question_keys is None:
        return None
    return board.question_keys if board.n_clusters == len(board.question_keys) else None
