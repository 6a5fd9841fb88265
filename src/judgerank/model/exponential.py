"""The exponential function, with the same bits on every processor."""

from __future__ import annotations

from typing import cast

from scipy.special import inv_boxcox

from judgerank.data.arrays import FloatArray


def exp(x: FloatArray) -> FloatArray:
    """e^x, float array of any shape.

    numpy's own has a version for AVX-512 whose last bits differ, and where there is no maximum the path of
    Algorithm 1 grows that to 1e-4. The inverse of Box and Cox's transformation at zero is the C library's.
    """
    return cast(FloatArray, inv_boxcox(x, 0.0))
