"""How often two judges disagree whose errors are correlated: Plackett's (1954) formula.

On an item each says the sign of a normal variable, with variance one and a mean h or k; the two have a correlation
of r. They disagree with the probability

    D(r) = D(0) - 2 int_0^r phi2(h, k; t) dt,    D(0) = Phi(h) Phi(-k) + Phi(-h) Phi(k),

phi2 being the density of two such variables at zero. With t = sin(a), phi2(h, k; t) dt is

    exp(-((h^2 + k^2) / 2 - h k sin a) / cos^2 a) / (2 pi) da.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from judgerank.data.arrays import FloatArray

ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 65)
CORRELATIONS = np.sin(ANGLES)  # at which D is computed
NEVER = 1e-9  # disagreements that count as none


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Mean of D(r) over the items that two judges share.

    Attributes
    ----------
    by_chance : float
        D(0).
    less : float array, shape (T,)
        D(0) - D(r) at each of `CORRELATIONS`.
    """

    by_chance: float
    less: FloatArray

    def at(self, r: float) -> float:
        """D(r); zero from a correlation of one on."""
        return max(self.by_chance - float(np.interp(r, CORRELATIONS, self.less)), 0.0) if r < 1 else 0.0

    def correlation(self, less: FloatArray) -> FloatArray:
        """The r at which D(0) - D(r) is that."""
        return np.asarray(np.interp(less, self.less, CORRELATIONS))

    def information(self, r: float) -> float:
        """Fisher information of one item on r: D'(r)^2 / (D(r) (1 - D(r)))."""
        d = max(self.at(r), NEVER)
        slope = float(np.interp(r, CORRELATIONS, np.gradient(self.less, CORRELATIONS)))
        return slope**2 / (d * (1 - d))


def disagree_by_chance(p: FloatArray, q: FloatArray) -> FloatArray:
    """D(0) of items to which judges say yes with these probabilities."""
    return p * (1 - q) + q * (1 - p)


def disagreement(p: FloatArray, q: FloatArray) -> Disagreement:
    """D of judges who say yes to items with probabilities p = Phi(h) and q = Phi(k), each of shape (I,)."""
    h, k = ndtri(p), ndtri(q)
    mean_square, product = (h**2 + k**2) / 2, h * k
    cos2 = np.maximum(np.cos(ANGLES) ** 2, np.finfo(float).tiny)
    with np.errstate(over="ignore"):
        slope = np.array(
            [
                np.exp(-(mean_square - product * sin) / square).mean() / np.pi
                for sin, square in zip(CORRELATIONS, cos2, strict=True)
            ]
        )
    steps = np.diff(ANGLES) * (slope[1:] + slope[:-1]) / 2
    integral = np.r_[0.0, np.cumsum(steps)]
    less = np.asarray(integral - np.interp(0.0, ANGLES, integral))
    return Disagreement(float(disagree_by_chance(p, q).mean()), less)
