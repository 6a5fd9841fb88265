"""Choose among the end points of a search by a rule that does not depend on rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerank.engine.solution import Rival, Solution, Status

EQUAL_HEIGHT = 1e-9  # log-likelihoods closer than this, relative to their size, count as equal
SAME_POINT = 1e-4  # maxima whose scores and discriminations differ by less, relative to the spread, are one
DIGITS = 6  # to which scores are compared when all else is equal


def highest(ends: list[Solution], unweighted: np.ndarray) -> Solution:
    """The highest end, with the best other maximum among them.

    Of ends of equal height one that was stopped counts last. The others are ordered by the inner product of
    their scores with the unweighted ones, then by the scores themselves, in lexicographic order; the larger
    counts.

    Parameters
    ----------
    ends : list of Solution
    unweighted : float array, shape (N,)
        Scores of all judges together, rough or exact.
    """
    top = max(height(end) for end in ends)
    slack = EQUAL_HEIGHT * max(1.0, abs(top))
    equal = [end for end in ends if height(end) >= top - slack]
    best = max(equal, key=lambda end: (end.status is not Status.ITERATION_LIMIT, _rank(end, unweighted)))
    alternatives = [end for end in ends if end.status.converged and not same_point(end, best)]
    if not best.status.converged or not alternatives:
        return best
    second = max(alternatives, key=lambda end: (height(end) >= top - slack, *_rank(end, unweighted), height(end)))
    second = second if height(second) >= top - slack else max(alternatives, key=height)
    gap = max(0.0, height(best) - height(second))
    return replace(best, rival=Rival(gap, second.parameters, bool(gap <= slack)))


def height(end: Solution) -> float:
    return end.evaluation.log_likelihood


def same_point(left: Solution, right: Solution) -> bool:
    """Whether two ends are one maximum, up to where a climb stops."""
    a, b = left.parameters, right.parameters
    reach = max(np.ptp(a.scores), np.ptp(b.scores), np.finfo(float).tiny)
    if np.abs(a.scores - b.scores).max() > SAME_POINT * reach:
        return False
    gammas = (np.exp(end.parameters.judges[:1]) for end in (left, right))
    return bool(np.abs(np.subtract(*gammas)).max(initial=0.0) <= SAME_POINT)


def _rank(end: Solution, unweighted: np.ndarray) -> tuple[float, tuple[float, ...]]:
    scores = end.parameters.scores
    size = np.linalg.norm(scores) * np.linalg.norm(unweighted)
    agreement = float(scores @ unweighted / size) if size > 0 else 0.0
    return round(agreement, DIGITS), tuple(np.round(scores, DIGITS))
