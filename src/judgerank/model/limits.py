"""Parameters of judges that stay at a limit, since the judge never uses a level of answers."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.model.block import Role
from judgerank.model.members import Model, Parameters

ALWAYS_STRONG = 40.0  # least log propensity to say much better that leaves better no chance


def movable(model: Model, at: Parameters) -> BoolArray:
    """Which parameters of the judges are not at a limit, shape (B, K).

    A judge at zero discrimination has log-discrimination minus infinity, and one who never ties, or never says
    much better, that log-propensity. One who never says better without much has `ALWAYS_STRONG`.
    """
    found = np.isfinite(at.judges)
    if model.has(Role.STRONG):
        found[model.row("log_strong")] &= ~never_weak(model, at)
    return found


def propensities(model: Model, at: Parameters, values: FloatArray) -> FloatArray:
    """Propensities, shape (K,), infinite beside a level that has no chance."""
    return np.where(never_weak(model, at) & (values > 0), np.inf, values)


def never_weak(model: Model, at: Parameters) -> BoolArray:
    """Mask of the judges who never say better without much, shape (K,)."""
    if not model.has(Role.STRONG):
        return np.zeros(at.judges.shape[1], bool)
    found: BoolArray = at.judges[model.row("log_strong")] >= ALWAYS_STRONG
    return found
