"""Which comparisons to ask next: the rules, for a round at a time.

n comparisons of one pair, before one judge, in one order, add X X' to the information, as in
`ranking.studies.next_comparisons`. With V the covariance and M what is to be known, they lower the trace of M V by

    tr (1 + X'V X)^-1 X'V M V X,

and by that, over what they cost, they are chosen, with the judge at the least of its interval. Rules differ in M:

    information   sum of c c' / (d^2 + c'V c) over the claims s_i - s_j that are still open, d their size now
    a_optimal     sum of c c' over all scores
    d_optimal     log det (1 + X'V X) in place of the fall, in the parameters alone

V is the covariance with the judges' own tastes (`adaptive.tastes`), so that what one judge can tell has an end.
Where tastes have a part in the variance of the contrasts, that share of a round is drawn at random, dear judges
less often: more answers to chosen pairs do not lower it, and no judge is then guessed from a few of its pairs.

Swiss pairs neighbours in the order so far, and random draws all alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from judgerank.adaptive.tastes import JointCovariance, with_tastes, without_tastes
from judgerank.data.arrays import FloatArray, IntArray
from judgerank.fits.result import Fit
from judgerank.order.scale import best_known_scores, scale_of
from judgerank.ranking.candidates import Candidates

CHUNKS = 20  # a round is chosen in so many parts, each seeing those before it as collected
ROUNDING = 1e-12  # of contrasts, relative to the largest
EXPLORED = 0.1  # least share of a round that is drawn at random, so that no judge is written off by bad luck

Chosen = IntArray  # first, second and judge, shape (3, size)


def at_random(rng: np.random.Generator, left: IntArray, size: int, costs: FloatArray | None = None) -> Chosen:
    """So many of what is left, shape (N, N, K), none twice; all alike, or the cheaper the more often."""
    cells = np.flatnonzero(left)
    chance = None
    if costs is not None and len(cells):
        chance = 1 / costs[cells % left.shape[2]]
        chance /= chance.sum()
    size = min(size, int(np.minimum(left.ravel()[cells], size).sum()))
    drawn = rng.choice(len(cells), 4 * size, p=chance)
    number = np.zeros(len(drawn), np.int64)  # how often each was drawn before
    order = np.argsort(drawn, kind="stable")
    starts = np.r_[True, np.diff(drawn[order]) > 0]
    number[order] = np.arange(len(drawn)) - np.maximum.accumulate(np.where(starts, np.arange(len(drawn)), 0))
    selected = cells[drawn[number < left.ravel()[cells[drawn]]][:size]]
    if len(selected) < size:  # little is left
        every = np.repeat(cells, np.minimum(left.ravel()[cells], size))
        selected = rng.permutation(every)[:size]
    return np.array(np.unravel_index(selected, left.shape))


def swiss(rng: np.random.Generator, scores: FloatArray, left: IntArray, size: int) -> Chosen:
    """Neighbours in the order so far, by judges and in orders at random; what is left of others, if too few."""
    is_neighbour = np.zeros(left.shape[:2], bool)
    order = np.argsort(-scores, kind="stable")
    is_neighbour[order[:-1], order[1:]] = is_neighbour[order[1:], order[:-1]] = True
    among = np.where(is_neighbour[:, :, None], left, 0)
    chosen = at_random(rng, among, size)
    return _filled(rng, chosen, left, size)


def by_information(
    rng: np.random.Generator,
    result: Fit,
    aim: FloatArray | None,
    left: IntArray,
    costs: FloatArray,
    size: int,
    joint: JointCovariance | None = None,
) -> Chosen:
    """The most information for the cost.

    Parameters
    ----------
    aim : float array, shape (D, P), optional
        Contrasts to be known, as columns; those of all parameters alike (D-optimality) without.
    joint : JointCovariance, optional
        With the judges' tastes; without them by default.
    """
    joint = joint or without_tastes(result)
    v = joint.v.copy()
    aim = None if aim is None else _compressed(aim, len(v))
    candidates = _candidates(result)
    candidates = candidates[:, left[tuple(candidates)] > 0]
    those = joint.outcomes(result, candidates)
    first, second, judge = candidates
    free, chosen = left[first, second, judge], []
    drawn = int(max(joint.share(aim) - EXPLORED, 0.0) * size)
    explored = int(np.ceil(EXPLORED * size)) + drawn
    chunk_size = max(1, (size - explored) // CHUNKS)
    total = 0
    while total < size - explored and free.any():
        part = min(chunk_size, size - explored - total)
        n = np.minimum(part, free)
        root = those.root * np.sqrt(n)[:, None, None]
        gain = those.caution * _gain(v, those.index, root, aim) / (np.maximum(n, 1) * costs[judge])
        # the first alone, if enough is left
        best = np.argsort(-np.where(free > 0, gain, -1.0), kind="stable")[:part]
        n = np.minimum(n[best], np.maximum(part - np.cumsum(n[best]) + n[best], 0))
        best, n = best[n > 0], n[n > 0]
        chosen.append(np.repeat(candidates[:, best], n, axis=1))
        free[best] -= n
        total += int(n.sum())
        x = np.zeros((len(v), len(best), root.shape[2]))
        x[those.index[best], np.arange(len(best))[:, None]] += those.root[best] * np.sqrt(n)[:, None, None]
        v = _told(v, x.reshape(len(v), -1))
    picked = np.concatenate(chosen, axis=1) if chosen else np.empty((3, 0), np.intp)
    picked = _filled(rng, picked, left, min(picked.shape[1] + drawn, size), costs)
    return _filled(rng, picked, left, size)


def on_claims(
    rng: np.random.Generator, result: Fit, pairs: IntArray, left: IntArray, costs: FloatArray, size: int
) -> Chosen:
    """The most information on claims for the cost; on all scores where there are no claims."""
    joint = with_tastes(result)
    aim = open_aim(result, pairs, joint) if pairs.shape[1] else all_scores(result)
    return by_information(rng, result, aim, left, costs, size, joint)


def open_aim(result: Fit, pairs: IntArray, joint: JointCovariance | None = None) -> FloatArray:
    """Contrasts of pairs of models, each over the size that it has or may have, shape (D, P)."""
    joint = joint or without_tastes(result)
    to_scores = best_known_scores(result)
    scores = scale_of(result).scores + to_scores @ joint.shift
    v = joint.v[: len(joint.shift), : len(joint.shift)]
    i, j = pairs
    c = to_scores[i] - to_scores[j]
    variance = np.einsum("pa,ab,pb->p", c, v, c)
    aim: FloatArray = (c / np.sqrt((scores[i] - scores[j]) ** 2 + variance)[:, None]).T
    return aim


def all_scores(result: Fit) -> FloatArray:
    """All scores as contrasts, shape (D, N)."""
    aim: FloatArray = best_known_scores(result).T
    return aim


def _compressed(aim: FloatArray, size: int) -> FloatArray:
    """As few contrasts as have the same sum of squares, zero in what is behind the parameters, shape (size, R)."""
    vectors, values, _ = np.linalg.svd(aim, full_matrices=False)
    kept = values > ROUNDING * values[:1]
    compressed = np.zeros((size, int(kept.sum())))
    compressed[: len(aim)] = vectors[:, kept] * values[kept]
    return compressed


def _gain(v: FloatArray, index: IntArray, root: FloatArray, aim: FloatArray | None) -> FloatArray:
    """What each candidate adds: by how much it lowers the aim's variance, or raises the log-determinant."""
    pair_information = np.einsum("tar,tab,tbq->trq", root, v[index[:, :, None], index[:, None, :]], root)
    pair_information += np.eye(root.shape[2])
    if aim is None:
        return np.log(np.linalg.det(pair_information))
    at = v @ aim
    m = at @ at.T
    wanted = np.einsum("tar,tab,tbq->trq", root, m[index[:, :, None], index[:, None, :]], root)
    return np.trace(np.linalg.solve(pair_information, wanted), axis1=1, axis2=2)


def _told(v: FloatArray, x: FloatArray) -> FloatArray:
    """The covariance after x x' is added to the information."""
    step = v @ x
    after: FloatArray = v - step @ np.linalg.solve(x.T @ step + np.eye(x.shape[1]), step.T)
    return after


def _candidates(result: Fit) -> IntArray:
    """Every pair in either order before every judge in play, shape (3, C)."""
    n = len(result.comparisons.models)
    judges = Candidates(result, 0).judges
    first, second = np.nonzero(~np.eye(n, dtype=bool))
    return np.array([np.repeat(first, len(judges)), np.repeat(second, len(judges)), np.tile(judges, len(first))])


def _filled(
    rng: np.random.Generator, chosen: Chosen, left: IntArray, size: int, costs: FloatArray | None = None
) -> Chosen:
    """The rest at random."""
    after = left.copy()
    np.subtract.at(after, tuple(chosen), 1)
    return np.concatenate([chosen, at_random(rng, after, size - chosen.shape[1], costs)], axis=1)


Rule = Callable[[np.random.Generator, Fit, IntArray, IntArray, FloatArray, int], Chosen]

RULES: dict[str, Rule] = {
    "random": lambda rng, result, pairs, left, costs, size: at_random(rng, left, size),
    "swiss": lambda rng, result, pairs, left, costs, size: swiss(rng, result.scores.to_numpy(), left, size),
    "a_optimal": lambda rng, result, pairs, left, costs, size: by_information(
        rng, result, all_scores(result), left, costs, size, with_tastes(result)
    ),
    "d_optimal": lambda rng, result, pairs, left, costs, size: by_information(
        rng, result, None, left, costs, size
    ),
    "information": lambda rng, result, pairs, left, costs, size: on_claims(rng, result, pairs, left, costs, size),
}
