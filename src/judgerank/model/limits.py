"""Parameters of judges that stay at a limit, since the judge never uses a level of answers."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.comparisons import Comparisons
from judgerank.model.members import Model, Parameters

ALWAYS_STRONG = 40.0  # least log propensity to say much better that leaves better no chance


def at_mean(model: Model, cells: Comparisons) -> BoolArray:
    """Judges whose discrimination is held at the mean of the others', shape (K,); none where it has a slope."""
    return cells.at_mean & (model.weighs_judges and not model.weights_vary)


def movable(model: Model, at: Parameters) -> BoolArray:
    """Which parameters of the judges are not at a limit, shape (B, K).

    A judge at zero discrimination has log-discrimination minus infinity, and one who never ties, or never says
    much better, that log-propensity. One who never says better without more has `ALWAYS_STRONG` for the least
    strength that it gives: beside a level that has no chance, thresholds are known from each other alone.
    """
    return np.isfinite(at.judges) & ~held(model, at)


def propensities(model: Model, at: Parameters, values: FloatArray) -> FloatArray:
    """Propensities, shape (K,), infinite beside a level that has no chance."""
    return np.where(never_weak(model, at) & (values > 0), np.inf, values)


def never_weak(model: Model, at: Parameters) -> BoolArray:
    """Mask of the judges who never say better without more, shape (K,)."""
    return np.asarray(held(model, at).any(axis=0))


def held(model: Model, at: Parameters) -> BoolArray:
    """Thresholds that stand still, since the judge never says better without more, shape (B, K)."""
    is_held = np.zeros(at.judges.shape, bool)
    unused = np.ones(at.judges.shape[1], bool)  # every weaker strength beyond better
    for row, block in enumerate(model.blocks):
        if block.role.is_strong:
            is_held[row] = unused & (at.judges[row] >= ALWAYS_STRONG)
            unused &= ~np.isfinite(at.judges[row])
    return is_held
