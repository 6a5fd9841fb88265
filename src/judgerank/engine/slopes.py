"""Starts at other slopes of one judge: with lengths, the likelihood has maxima that rough climbs miss.

Given the scores, the judges have nothing to do with each other, so that each one's likelihood over discrimination
and slope can be looked at whole, on a grid. What is worth a try there may yet lie below a hill: a sharper slope
often pays only once the scores have followed it, so that a climb begun there slides back. So the judge's slope is
held while all else climbs, and then let go.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judgerank.data.comparisons import Comparisons
from judgerank.engine.boundary import Bound
from judgerank.engine.likelihood_rows import by_judge
from judgerank.engine.newton import Newton, climb
from judgerank.model.members import Model, Parameters

SLOPES, DISCRIMINATIONS = 17, 9  # points of the grid
REACH = 4.0  # of log gamma on it, about the judge's own
WORTH = 20.0  # log-likelihood by which a judge may be worse off there, scores as they are, for a climb from it
MOST = 40  # climbs, the judges who are least worse off first


def elsewhere(cells: Comparisons, model: Model, at: Parameters, settings: Newton) -> Iterator[Parameters]:
    """Points to climb from, each the best there is while one judge's slope is held at another value.

    That is a local maximum of the judge's own likelihood, or a bound: there, too, the likelihood as a whole may
    have a maximum of which the judge's own, given these scores, knows nothing.

    Parameters
    ----------
    cells : Comparisons
    model : Model
        With slopes.
    at : Parameters
        A maximum.
    settings : Newton
    """
    bound = settings.slope_bound
    for k, alpha, slope in _others(cells, model, at, bound):
        judges = at.judges.copy()
        judges[:2, k] = alpha, slope
        least, largest = np.full(judges.shape[1], -bound), np.full(judges.shape[1], bound)
        least[k] = largest[k] = slope
        yield climb(cells, model, settings, Parameters(at.scores, judges), Bound(least, largest)).parameters


def _others(cells: Comparisons, model: Model, at: Parameters, bound: float) -> list[tuple[int, float, float]]:
    """A judge, and its log-discrimination and slope at another local maximum of its own or at a bound."""
    middle = np.where(at.in_play, at.judges[0], at.judges[0, at.in_play].mean() if at.in_play.any() else 0.0)
    slopes, alphas = np.linspace(-bound, bound, SLOPES), np.linspace(-REACH, REACH, DISCRIMINATIONS)
    heights = np.array(
        [[_heights(cells, model, at, middle + alpha, slope) for alpha in alphas] for slope in slopes]
    )
    best = heights.max(axis=1)  # (SLOPES, K)
    loss = _heights(cells, model, at, at.judges[0], at.judges[1]) - best
    is_ahead, behind = np.full_like(best, True, bool), np.full_like(best, True, bool)
    is_ahead[1:-1], behind[1:-1] = best[1:-1] >= best[2:], best[1:-1] >= best[:-2]
    elsewhere_ = np.abs(slopes[:, None] - at.judges[1]) > slopes[1] - slopes[0]
    candidates = np.argwhere(is_ahead & behind & elsewhere_ & (loss <= WORTH))
    ordered = sorted(candidates.tolist(), key=lambda place: loss[*place])[:MOST]
    return [(k, middle[k] + alphas[heights[s, :, k].argmax()], slopes[s]) for s, k in ordered]


def _heights(
    cells: Comparisons, model: Model, at: Parameters, alpha: np.ndarray, slope: float | np.ndarray
) -> np.ndarray:
    """Log-likelihood of every judge's comparisons, shape (K,)."""
    judges = at.judges.copy()
    judges[0], judges[1] = alpha, slope
    return by_judge(cells, model, Parameters(at.scores, judges))
