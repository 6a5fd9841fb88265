"""Judges whose graded answers, or choices with ties, their thresholds explain without exception, given the scores.

Their likelihood rises without end as discrimination, position and thresholds grow together.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array, eye_array, kron, vstack

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.tied_choices import ROUNDING, chosen, is_choice
from judgerank.engine.information import SINGULAR
from judgerank.engine.levels import EQUAL, GIVEN, contests, direction_raising, shares, thresholds, users
from judgerank.engine.likelihood import Evaluation
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters
from judgerank.model.naming import movable
from judgerank.model.tied_law import sets_of

# Choices of rankings with ties as linear forms: how far the set that was chosen is ahead of each other set.
#
# In the likelihood a set's exponent is the mean over its answers plus the threshold of its size
# (`judgerank.model.tied_law`).


def chosen_against_others(
    cells: Comparisons,
    model: Model,
    lead: csr_array,
    tau: Mapping[float, csr_array],
    used: Mapping[float, BoolArray],
) -> tuple[csr_array, IntArray]:
    """Forms in some variables, and the judge of each.

    Parameters
    ----------
    cells : Comparisons
        Rankings with ties as an outcome.
    model : Model
    lead : sparse float array, shape (T, D)
        What every row's predictor is in the variables.
    tau : mapping of float to sparse float array, shape (T, D)
        What the threshold of each size of ties is, by `Role.size`.
    used : mapping of float to bool array, shape (T,)
        Whether the row's judge uses such ties at all.

    Returns
    -------
    forms : sparse float array, shape (forms, D)
    judge : int array, shape (forms,)
    """
    assert cells.stages is not None
    a, is_decided = cells.stages.alternatives, is_choice(cells)[cells.stages.first_rows]
    share = np.where(a.reference, cells.won[a.row], cells.lost[a.row])
    n_tied = chosen(cells)[cells.stages.first_rows]
    lead_of_chosen = csr_array(lead[a.row].multiply(np.where(a.reference, 0.0, -1.0)[:, None]))
    forms, judges = [csr_array((0, lead.shape[1]))], [np.zeros(0, np.intp)]
    for m, which, positions, rows in a.by_size:
        decided_now = is_decided[which]
        if not decided_now.any():
            continue
        answers, first = positions[decided_now], rows[decided_now, 0]
        sets = sets_of(m, (1, *model.tie_sizes))
        exponent = csr_array(kron(eye_array(len(first)), sets.share)) @ lead_of_chosen[answers.ravel()]
        is_allowed = np.ones((len(first), len(sets.size)), bool)
        for size in model.tie_sizes:
            level, of_size = Role.of_tie(size).size, (sets.size == size).astype(float)
            exponent = exponent + csr_array(kron(tau[level][first], csr_array(of_size[:, None])))
            is_allowed &= (of_size == 0) | used[level][first][:, None]
        bits = (share[answers] > ROUNDING) * (1 << np.arange(m, dtype=np.int64))
        # of a weight between two answers, either of them alone
        one_by_one = n_tied[which[decided_now]] == 1
        stage, set_index = np.nonzero(np.where(one_by_one[:, None], bits, 0))
        code = np.concatenate([bits[stage, set_index], bits[~one_by_one].sum(axis=1)])
        stage = np.concatenate([stage, np.flatnonzero(~one_by_one)])
        chosen_set: IntArray = np.asarray(np.searchsorted(sets.code, code), np.intp)
        choice, alternative = np.nonzero(is_allowed[stage] & (np.arange(len(sets.size)) != chosen_set[:, None]))
        start, exponent = stage[choice] * len(sets.size), csr_array(exponent)
        forms.append(csr_array(exponent[start + chosen_set[choice]] - exponent[start + alternative]))
        judges.append(cells.judge[first][stage[choice]])
    return csr_array(vstack(forms)), np.concatenate(judges)


CERTAIN = 0.5  # change of log-odds that is surely below one; the rest is for rounding
LEVEL_ROUNDING = 1e-13  # relative error of sums over comparisons


def ordered_judges(
    cells: Comparisons, model: Model, parameters: Parameters, evaluation: Evaluation | None = None
) -> tuple[int, ...]:
    """Places of those judges.

    With the discrimination a number times which the differences of scores enter, positions and thresholds, every
    level that was given must be at least as likely as every other one that the judge uses.

    Parameters
    ----------
    here : Evaluation, optional
        With the information there, if it is known: at a maximum it rules out most judges without a program.
    """
    if cells.stages is not None:
        return _ordered_choices(cells, model, parameters)
    d = parameters.scores.take(cells.first) - parameters.scores.take(cells.second)
    d = np.where(np.abs(d) <= EQUAL * np.ptp(parameters.scores), 0.0, d) / max(
        np.abs(d).max(), np.finfo(float).tiny
    )
    of, used = shares(cells, model), users(cells, model)
    ordered, ruled_out = [], _ruled_out(cells, model, parameters, evaluation)
    for k in np.flatnonzero(~ruled_out).tolist():
        rows = np.flatnonzero(cells.judge == k)
        moves = model.weighs_judges and bool(parameters.in_play[k])
        forms = _forms(d[rows], {level: share[rows] for level, share in of.items()}, used, model, k, moves)
        if _rises(forms):
            ordered.append(k)
    return tuple(ordered)


def _ruled_out(
    cells: Comparisons, model: Model, parameters: Parameters, evaluation: Evaluation | None
) -> BoolArray:
    """Judges of whom the derivatives prove that they are none of those, shape (K,).

    As in `existence.near_maximum`, of one judge's parameters alone: if a step of Fisher scoring in these changes
    no log-odds of two levels by one, no direction of theirs has a form that rises and none that falls.
    """
    k, gap = len(cells.judges), np.diff(np.sort(parameters.scores)).min(initial=np.inf)
    if evaluation is None or not evaluation.judge_information.size or model.further or model.weights_vary:
        return np.zeros(k, bool)
    if not model.weighs_judges or gap <= EQUAL * np.ptp(parameters.scores):  # equal scores count as exactly equal
        return np.zeros(k, bool)
    free = model.free_rows
    values, vectors = np.linalg.eigh(evaluation.judge_information[:, free, free])
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.einsum("kij,ik->kj", vectors, evaluation.judge_gradient[free]) / values
        step = np.abs(np.einsum("kij,kj->ki", vectors, along))
    steepest = np.maximum(1.0, np.exp(parameters.judges[0]) * np.ptp(parameters.scores))
    terms = np.bincount(cells.judge, cells.count, k) * steepest
    # far out a gradient may be nothing but rounding
    is_determined = values[:, 0] > np.maximum(SINGULAR * values[:, -1], LEVEL_ROUNDING * terms)
    is_determined &= movable(model, parameters).all(axis=0) & np.all([*users(cells, model).values()], axis=0)
    return is_determined & (2 * max(thresholds(model)) * step.sum(axis=1) * steepest <= CERTAIN)


def _ordered_choices(cells: Comparisons, model: Model, parameters: Parameters) -> tuple[int, ...]:
    """The same of rankings with ties: no set of answers is more likely than the one that was chosen."""
    unit = max(EQUAL * np.ptp(parameters.scores), np.finfo(float).tiny)
    scores = np.round(parameters.scores / unit) * unit  # those that count as equal are
    d = scores.take(cells.first) - scores.take(cells.second)
    moves = parameters.in_play[cells.judge] & model.weighs_judges
    rank_gap = np.ones(len(cells)) if cells.apart is None else cells.apart
    lead = [d / max(np.abs(d).max(), np.finfo(float).tiny) * moves, rank_gap * model.has(Role.OFFSET)]
    sizes = [*thresholds(model)]
    none, ones = np.zeros(len(cells)), np.ones(len(cells))

    def columns(*columns_of_values: FloatArray) -> csr_array:
        return csr_array(
            np.stack([*columns_of_values, *[none] * (2 + len(sizes) - len(columns_of_values))], axis=1)
        )

    tau = {size: columns(*[none] * (2 + index), ones) for index, size in enumerate(sizes)}
    used = {size: is_used[cells.judge] for size, is_used in users(cells, model).items()}
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
    for level, alternative in contests(of):
        rows = of[level] > GIVEN
        if used[abs(alternative)][k] and rows.any():
            size_terms = [(abs(level) == size) - float(abs(alternative) == size) for size in sizes]
            forms.append(
                np.hstack([(level - alternative) * lead[rows], np.tile(size_terms, (int(rows.sum()), 1))])
            )
    return np.concatenate(forms) if forms else np.zeros((0, 2 + len(sizes)))


def _rises(forms: FloatArray) -> bool:
    """Whether some direction with a discrimination that does not fall lowers no form and raises some."""
    bounds = [(0.0, 1.0), *[(-1.0, 1.0)] * (forms.shape[1] - 1)]
    return direction_raising(np.unique(forms, axis=0), bounds) is not None
