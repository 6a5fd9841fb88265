"""Quantile of the largest statistic over all pairs of models if all scores are equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.inference.wald import require_level
from judgerank.model.streams import generator

DRAWS = 20_000  # of the largest of all pairs' statistics
CHUNK = 500  # draws held at a time
FEW = 50  # models up to which looking at every pair of a draw is quicker than choosing among them
AT_ONCE = 1_000_000  # pairs held at a time


def quantile_of_largest(
    parts: Sequence[tuple[FloatArray, FloatArray]], level: float, degrees_of_freedom: float
) -> float:
    """Quantile of the largest |z_i - z_j| over its error, z normal with mean zero; by simulation.

    Parameters
    ----------
    parts : sequence of float arrays, shape (N, N) each
        Covariance of z, and errors of its differences, of models that are compared among themselves alone.
    level : float
    degrees_of_freedom : float
        Of the errors.
    """
    require_level(level)
    rng = generator(0, "ranks", sum(len(covariance) for covariance, _ in parts))
    largest = np.zeros(DRAWS)
    for covariance, error in parts:
        values, vectors = np.linalg.eigh(covariance)
        half = vectors * np.sqrt(np.maximum(values, 0.0))
        for start in range(0, DRAWS * (len(values) > 1), CHUNK):
            draws = rng.standard_normal((CHUNK, len(values)))
            here = (
                _of_every_pair(draws, half, error) if len(values) <= FEW else _of_likely_pairs(draws, half, error)
            )
            largest[start : start + CHUNK] = np.maximum(largest[start : start + CHUNK], here)
    if np.isfinite(degrees_of_freedom):
        largest /= np.sqrt(rng.chisquare(degrees_of_freedom, DRAWS) / degrees_of_freedom)
    return float(np.quantile(largest, level))


def _of_every_pair(draws: FloatArray, half: FloatArray, error: FloatArray) -> FloatArray:
    """Largest statistic of every draw, shape (C,), for a root of the covariance."""
    i, j = np.triu_indices(len(half), 1)
    z = ((half[i] - half[j]) / error[i, j, None]) @ draws.T
    largest: FloatArray = np.abs(z, out=z).max(axis=0)
    return largest


def _of_likely_pairs(draws: FloatArray, half: FloatArray, error: FloatArray) -> FloatArray:
    """The same, looking only at pairs that can be the largest.

    With x = |z| / sd the statistic of a pair is at most r_ij sqrt(x_i^2 + x_j^2), r_ij the root of the sum of the
    two variances over the error (Cauchy and Schwarz). So one of its two models has r x, r its largest r_ij, no
    less than the largest statistic that is known already over the root of two.
    """
    z, rows = draws @ half.T, np.arange(len(draws))
    spread = np.maximum((half**2).sum(axis=1), np.finfo(float).tiny)
    most = np.sqrt(2 * np.max(np.add.outer(spread, spread) / error**2, axis=1) / spread) * np.abs(z)
    likely = most.argmax(axis=1)
    largest: FloatArray = (np.abs(z - z[rows, likely, None]) / error[likely]).max(axis=1)
    where, models = np.nonzero(most >= largest[:, None])
    step = max(1, AT_ONCE // z.shape[1])
    for start in range(0, len(where), step):
        c, i = where[start : start + step], models[start : start + step]
        np.maximum.at(largest, c, (np.abs(z[c] - z[c, i, None]) / error[i]).max(axis=1))
    return largest
