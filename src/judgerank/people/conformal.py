"""Conformal intervals for people's score of a model that no person has judged, by leaving models out.

People's scores h of n models are regressed on the panel's s, with weights w. For a candidate y as the newcomer's
score, all n + 1 points are fitted, and each has a studentised residual. The interval holds every y whose residual
is not among the most extreme: more than alpha of the n + 1 residuals are as large. If the models are exchangeable,
it holds the newcomer's score with a chance of at least 1 - alpha, whatever the law of the scores (Vovk, Gammerman
and Shafer, 2005, section 2.3). Residuals are linear in y, so each model's comparison gives an interval about the
same point, and the ends are found without a search.
"""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray

SURE = 1e-12  # leverage short of one by less than this leaves a point no residual


def highest_level(n: int) -> float:
    """The highest level at which an interval by n models can be finite: n / (n + 1)."""
    return n / (n + 1)


def conformal_interval(
    s: FloatArray, h: FloatArray, w: FloatArray, new_s: float, new_w: float, level: float
) -> tuple[float, float]:
    """Ends of the interval of a newcomer's score; infinite where no such interval can be finite.

    Parameters
    ----------
    s, h, w : float array, shape (n,)
        Panel's and people's scores of the other models, and their weights (inverse variances about the line).
    new_s, new_w : float
        The newcomer's.
    level : float
    """
    out = int(np.floor((1 - level) * (len(s) + 1) + 1e-9))
    if out < 1:
        return -np.inf, np.inf
    root = np.sqrt(np.r_[w, new_w])
    rest = np.eye(len(root)) - _hat(np.r_[s, new_s], root)
    left = np.sqrt(np.maximum(np.diag(rest), SURE))
    base = rest[:, :-1] @ (root[:-1] * h) / left
    slope = rest[:, -1] * root[-1] / left
    a, b, a0, b0 = base[:-1], slope[:-1], base[-1], slope[-1]
    bounded = np.abs(b) < b0 * (1 - 1e-9)  # else this model's residual is as large as the newcomer's for every y
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.array([(a - a0) / (b0 - b), (-a - a0) / (b0 + b)])
    low = np.sort(np.where(bounded, ends.min(axis=0), -np.inf))
    high = np.sort(np.where(bounded, ends.max(axis=0), np.inf))
    return float(low[out - 1]), float(high[-out])


def left_out(s: FloatArray, h: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """People's score of every model as the line through the other models has it, and as their mean has it."""
    root = np.sqrt(w)
    rest = np.eye(len(s)) - _hat(s, root)
    off = rest @ (root * h) / np.maximum(np.diag(rest), SURE) / root
    mean = (w @ h - w * h) / (w.sum() - w)
    return h - off, mean


def _hat(s: FloatArray, root: FloatArray) -> FloatArray:
    """Projection on the line's two columns, weighed."""
    x = root[:, None] * np.column_stack([np.ones(len(s)), s - np.average(s, weights=root**2)])
    u, size, _ = np.linalg.svd(x, full_matrices=False)
    u = u[:, size > size[0] * 1e-10]
    return np.asarray(u @ u.T)
