"""What every judge has at a point, in its own units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from judgerank.data.arrays import FloatArray


class JudgeValues(NamedTuple):
    """Discrimination, its slope, position, tie and log strong propensities of every judge.

    Each of shape (K,), but the last of shape (S, K) for the S strengths beyond better. The tie propensity is None
    where ties are no outcome.
    """

    gamma: FloatArray
    slope: FloatArray
    position: FloatArray
    nu: FloatArray | None
    log_strong: FloatArray = np.zeros((0, 1))
