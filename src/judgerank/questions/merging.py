"""Judge ids that answer as one: looked for before questions are given an effect, which they would capture.

Two names of one endpoint agree on a question because they are the same, and not because of the answers. A question
effect takes that for the answers' quality.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from judgerank.data.arrays import FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import NoMaximumError, NotIdentifiedError
from judgerank.data.judgments import Judgments
from judgerank.fits.copies import same_judges
from judgerank.fits.fit import fit
from judgerank.fits.result import FitResult

LEVEL = 0.95  # of the interval that says whether two ids surely answer as one


def copies(without: FitResult, comparisons: Comparisons, question: IntArray) -> dict[str, str]:
    """For each judge that answers as another does, the first of them.

    Agreement is held against what a position-aware fit expects, whatever was fitted: judges who always prefer one
    position agree too. Where that fit does not exist, or nobody was shown an order, it is `without` that says what
    to expect.

    Raises
    ------
    DataError
        If an outcome is a weight between two models.
    """
    once = replace(comparisons, count=np.ones(len(comparisons)))  # how often an answer was given does not matter
    frame = once.to_frame().assign(question_id=question)
    try:
        known = without.model.has_position or not comparisons.ordered
        expecting = without if known else fit(comparisons, "position_aware")
    except (NoMaximumError, NotIdentifiedError):
        expecting = without
    return same_judges(expecting, Judgments("", "", frame, comparisons, {}), LEVEL)


def with_one_vote(
    comparisons: Comparisons, question: IntArray, leader: Mapping[str, str]
) -> tuple[Comparisons, IntArray]:
    """The comparisons with such judges as one, who has one vote an item: the mean of their answers.

    An item is a question with two models in the order shown.

    Parameters
    ----------
    comparisons : Comparisons
        With ties kept track of.
    question : int array, shape (T,)
    leader : mapping of str to str
        As `copies` gives it.
    """
    c = comparisons
    judges = tuple(name for name in c.judges if name not in leader)
    place = {name: number for number, name in enumerate(judges)}
    judge = np.array([place[leader.get(name, name)] for name in c.judges])[c.judge]
    merged = np.isin(judge, [place[name] for name in set(leader.values())])
    _, number = np.unique(question, return_inverse=True)
    n = len(c.models)
    key = ((number * n + c.first) * n + c.second) * len(judges) + judge
    key = np.where(merged, key, key.max() + 1 + np.arange(len(key)))  # the others keep every answer
    _, kept, item = np.unique(key, return_index=True, return_inverse=True)

    def mean(values: FloatArray) -> FloatArray:
        return np.bincount(item, values * c.count) / np.bincount(item, c.count)

    tied = mean(c.known_ties)
    outcome = np.clip(mean(c.outcome), tied / 2, 1 - tied / 2)  # rounding
    count = np.where(merged, 1.0, c.count)[kept]
    rows = c._rows(kept, judge=judge[kept], outcome=outcome, tied=tied, count=count, judges=judges)
    return rows, question[kept]
