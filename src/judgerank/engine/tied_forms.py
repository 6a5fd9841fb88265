"""Choices of rankings with ties as linear forms: how far the set that was chosen is ahead of each other set.

In the likelihood a set's exponent is the mean over its answers plus the threshold of its size
(`judgerank.model.tied_law`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array, eye_array, kron, vstack

from judgerank.data.arrays import BoolArray, IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.data.tied_choices import ROUNDING, chosen, whole
from judgerank.model.block import Role
from judgerank.model.members import Model
from judgerank.model.tied_law import sets_of


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
    a, is_decided = cells.stages.alternatives, whole(cells)[cells.stages.first_rows]
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
