"""Is there a maximum in the blocks, and are they told apart? `judgerank.engine.existence` is for the members.

With weights as they are, the log-likelihood is concave in everything else. A small Newton decrement proves that
there is a maximum; where it is not small enough, a linear program looks for a direction of endless rise among the
blocks that nothing holds.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.sparse import csr_array, vstack

from judgerank.blocks.climbing import Problem, Summit
from judgerank.data.arrays import FloatArray
from judgerank.data.errors import NoMaximumError, NotIdentifiedError
from judgerank.engine.existence import CERTAIN, GIVEN, RISE
from judgerank.engine.information import SINGULAR
from judgerank.engine.solution import ROUNDING
from judgerank.model.block import Role

MOVES = 1e-6  # entry of a direction, the largest being one, that counts as moving
SHARE = 0.05  # of a singular direction's length, scaled, that names a block


def require_maximum(problem: Problem, summit: Summit, precision: FloatArray) -> None:
    """Refuse blocks along which the likelihood rises without end.

    Raises
    ------
    NoMaximumError
        Naming what runs off.
    """
    if _is_near(problem, summit, precision):
        return
    direction = _rising(problem, summit, precision)
    if direction is None:
        return
    names = []
    for block, design, place in zip(
        problem.stacked.blocks, problem.stacked.designs, problem.stacked.places, strict=True
    ):
        values = np.abs(direction[place] - (direction[place].min() if design.centred else 0.0))
        moving = [label for label, value in zip(design.labels, values, strict=True) if value > MOVES]
        names += [f"{block.name} of {', '.join(moving)}"] if moving else []
    raise NoMaximumError(
        "the likelihood has no maximum: these can run off together without contradicting any answer: "
        + "; ".join(names),
        (),
    )


def require_told_apart(problem: Problem, summit: Summit, precision: FloatArray) -> None:
    """Refuse blocks of which the records determine only a combination.

    Raises
    ------
    NotIdentifiedError
        Naming the blocks.
    """
    free = summit.free
    basis = problem.basis(free)
    info = summit.here.expected_information[np.ix_(free, free)]
    reduced = basis.T @ (info + np.diag(precision[free])) @ basis
    scale = np.sqrt(np.maximum(np.diag(reduced), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(reduced / np.outer(scale, scale))
    if values.min(initial=1.0) > SINGULAR:
        return
    along = np.zeros(problem.stacked.size)
    along[free] = np.abs(basis @ (vectors[:, 0] / scale)) * np.sqrt(np.diag(info))
    involved = [
        block.name
        for block, place in zip(problem.stacked.blocks, problem.stacked.places, strict=True)
        if np.max(along[place], initial=0.0) > SHARE * along.max()
    ]
    raise NotIdentifiedError(f"these records cannot tell apart what belongs to {' and '.join(involved)}")


def _is_near(problem: Problem, summit: Summit, precision: FloatArray) -> bool:
    """Whether the point proves a maximum near it; see `existence.near_maximum`. False says nothing."""
    rows, here = problem.rows, summit.here
    law, tie = here.law, (0.0 if here.nu is None else here.law.tie)
    fewer, least = np.sort([law.mean - tie / 2, 1 - law.mean - tie / 2], axis=0)
    if here.nu is not None:
        least = np.where(here.nu > 0, np.minimum(least, tie), least)
    bound = CERTAIN * (rows.count * fewer * least).min()
    if bound <= ROUNDING * rows.count.sum():
        return False
    linear = summit.free & (rows.role != Role.WEIGHT)
    basis, held = problem.basis(linear), precision[linear]
    info = basis.T @ (here.expected_information[np.ix_(linear, linear)] + np.diag(held)) @ basis
    slope = basis.T @ (here.gradient[linear] - held * summit.theta[linear])
    try:
        decrement = np.linalg.norm(solve_triangular(cholesky(info, lower=True), slope, lower=True))
    except LinAlgError:
        return False
    return bool(decrement**2 <= bound)


def _rising(problem: Problem, summit: Summit, precision: FloatArray) -> FloatArray | None:
    """A direction of endless rise in the blocks that nothing holds, shape (D,), or None."""
    from scipy.optimize import linprog  # loads slowly, and is seldom needed

    rows, here = problem.rows, summit.here
    chosen = summit.free & (rows.role != Role.WEIGHT) & (precision == 0)
    ties = rows.role == Role.TIE
    j = here.derivatives
    ahead, tie = j[:, chosen & ~ties], j[:, chosen & ties]
    blank = csr_array((len(rows.count), tie.shape[1]))
    first, second = rows.outcome - rows.tied / 2 > GIVEN, 1 - rows.outcome - rows.tied / 2 > GIVEN
    if here.nu is None:
        first, second = rows.outcome > GIVEN, 1 - rows.outcome > GIVEN
    parts = [(ahead, blank, first, 1.0, 0.0), (ahead, blank, second, -1.0, 0.0)]
    if here.nu is not None:
        known, drawn = here.nu > 0, rows.tied > GIVEN
        parts += [(ahead, tie, drawn, -0.5, 1.0), (ahead, tie, drawn, 0.5, 1.0)]
        parts += [(ahead, tie, first & known, 0.5, -1.0), (ahead, tie, second & known, -0.5, -1.0)]
    order = np.r_[np.flatnonzero(chosen & ~ties), np.flatnonzero(chosen & ties)]
    forms = vstack([_beside(a[where] * x, b[where] * y) for a, b, where, x, y in parts]).tocsr()
    if forms.shape[0] == 0 or forms.shape[1] == 0:
        return None
    rise = np.asarray(forms.sum(axis=0)).ravel()
    found = linprog(-rise, A_ub=-forms, b_ub=np.zeros(forms.shape[0]), bounds=(-1.0, 1.0), method="highs")
    if -found.fun <= RISE:
        return None
    direction = np.zeros(problem.stacked.size)
    direction[order] = found.x
    return direction


def _beside(one: csr_array, other: csr_array) -> csr_array:
    from scipy.sparse import hstack

    return csr_array(hstack([one, other], format="csr"))
