"""Other slopes that one judge might have: where the likelihood with lengths has maxima that rough climbs miss.

Given the scores, the judges have nothing to do with each other, so that each one's likelihood over discrimination
and slope can be looked at whole, on a grid.
"""

from __future__ import annotations

import numpy as np

from judgerank.comparisons import Comparisons
from judgerank.likelihood import predictor
from judgerank.model import Model, Parameters

SLOPES, LEVELS = 17, 9  # points of the grid
REACH = 4.0  # of log gamma on it, about the judge's own
WORTH = 2.0  # log-likelihood by which a judge may be worse off there for a climb from it


def elsewhere(cells: Comparisons, model: Model, at: Parameters, bound: float) -> list[Parameters]:
    """The same parameters but for one judge, who is at another local maximum of its own likelihood in the slope.

    Parameters
    ----------
    cells : Comparisons
    model : Model
        With slopes.
    at : Parameters
    bound : float
        Largest size of a slope.
    """
    middle = np.where(at.in_play, at.judges[0], at.judges[0, at.in_play].mean() if at.in_play.any() else 0.0)
    slopes, levels = np.linspace(-bound, bound, SLOPES), np.linspace(-REACH, REACH, LEVELS)
    heights = np.array(
        [[_heights(cells, model, at, middle + level, slope) for level in levels] for slope in slopes]
    )
    best = heights.max(axis=1)  # (SLOPES, K)
    least = _heights(cells, model, at, at.judges[0], at.judges[1]) - WORTH
    low = np.full((1, best.shape[1]), -np.inf)
    peak = (best >= np.vstack([low, best[:-1]])) & (best >= np.vstack([best[1:], low])) & (best >= least)
    found = []
    for k, own in enumerate(at.judges[1]):
        peaks = np.flatnonzero(peak[:, k])
        if len(peaks):
            peaks = np.delete(peaks, np.abs(slopes[peaks] - own).argmin())
        for place in peaks:
            judges = at.judges.copy()
            judges[:2, k] = middle[k] + levels[heights[place, :, k].argmax()], slopes[place]
            found.append(Parameters(at.scores, judges))
    return found


def _heights(cells: Comparisons, model: Model, at: Parameters, level: np.ndarray, slope: float) -> np.ndarray:
    """Log-likelihood of every judge's comparisons, ties counted as half wins, shape (K,)."""
    judges = at.judges.copy()
    judges[0], judges[1] = level, slope
    eta = predictor(cells, model, Parameters(at.scores, judges))
    fit = cells.count * (cells.outcome * eta - np.logaddexp(0.0, eta))
    return np.bincount(cells.judge, fit, len(cells.judges))
