"""Judges whose graded answers, or choices with ties, their thresholds explain without exception, given the scores.

Their likelihood rises without end as discrimination, position and thresholds grow together.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.levels import EQUAL, GIVEN, contests, direction_raising, shares, thresholds, users
from judgerank.engine.tied_forms import chosen_against_others
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters


def ordered_judges(cells: Comparisons, model: Model, at: Parameters) -> tuple[int, ...]:
    """Places of those judges.

    With the discrimination a number times which the differences of scores enter, positions and thresholds, every
    level that was given must be at least as likely as every other one that the judge uses.
    """
    if cells.stages is not None:
        return _ordered_choices(cells, model, at)
    d = at.scores.take(cells.first) - at.scores.take(cells.second)
    d = np.where(np.abs(d) <= EQUAL * np.ptp(at.scores), 0.0, d) / max(np.abs(d).max(), np.finfo(float).tiny)
    of, used = shares(cells, model), users(cells, model)
    found = []
    for k in range(len(cells.judges)):
        rows = np.flatnonzero(cells.judge == k)
        moves = model.weighs_judges and bool(at.in_play[k])
        forms = _forms(d[rows], {level: share[rows] for level, share in of.items()}, used, model, k, moves)
        if _rises(forms):
            found.append(k)
    return tuple(found)


def _ordered_choices(cells: Comparisons, model: Model, at: Parameters) -> tuple[int, ...]:
    """The same of rankings with ties: no set of answers is more likely than the one that was chosen."""
    unit = max(EQUAL * np.ptp(at.scores), np.finfo(float).tiny)
    scores = np.round(at.scores / unit) * unit  # those that count as equal are
    d = scores.take(cells.first) - scores.take(cells.second)
    moves = at.in_play[cells.judge] & model.weighs_judges
    places = np.ones(len(cells)) if cells.apart is None else cells.apart
    lead = [d / max(np.abs(d).max(), np.finfo(float).tiny) * moves, places * model.has(Role.OFFSET)]
    sizes = [*thresholds(model)]
    none, one = np.zeros(len(cells)), np.ones(len(cells))

    def columns(*given: FloatArray) -> csr_array:
        return csr_array(np.stack([*given, *[none] * (2 + len(sizes) - len(given))], axis=1))

    tau = {size: columns(*[none] * (2 + place), one) for place, size in enumerate(sizes)}
    used = {size: known[cells.judge] for size, known in users(cells, model).items()}
    forms, judge = chosen_against_others(cells, model, columns(*lead), tau, used)
    return tuple(k for k in range(len(cells.judges)) if _rises(forms[judge == k].toarray()))


def _forms(
    d: FloatArray,
    of: dict[float, FloatArray],
    used: dict[float, BoolArray],
    model: Model,
    k: int,
    moves: bool,
) -> FloatArray:
    """Given levels against others, with a column for discrimination, position and each threshold."""
    sizes = [*thresholds(model)]
    lead = np.stack([d * moves, np.full(len(d), float(model.has(Role.OFFSET)))], axis=1)
    forms = []
    for given, other in contests(of):
        rows = of[given] > GIVEN
        if used[abs(other)][k] and rows.any():
            own = [(abs(given) == size) - float(abs(other) == size) for size in sizes]
            forms.append(np.hstack([(given - other) * lead[rows], np.tile(own, (int(rows.sum()), 1))]))
    return np.concatenate(forms) if forms else np.zeros((0, 2 + len(sizes)))


def _rises(forms: FloatArray) -> bool:
    """Whether some direction with a discrimination that does not fall lowers no form and raises some."""
    bounds = [(0.0, 1.0), *[(-1.0, 1.0)] * (forms.shape[1] - 1)]
    return direction_raising(np.unique(forms, axis=0), bounds) is not None
