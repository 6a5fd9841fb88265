"""Which comparisons to collect next: those that shorten the widest interval of a pair not told apart the most.

n more comparisons of i with j by judge k, in that order, add n p (1 - p) x x' to the expected information. There x
is the gradient of the predictor in (s, alpha, ...): g (e_i - e_j) in the scores, g (s_i - s_j) in alpha_k, one in
b_k. With V the covariance and w = n p (1 - p), the variance of a contrast c becomes (Sherman and Morrison, 1950)

    c'V c - w (c'V x)^2 / (1 + w x'V x).

The contrast is the difference of the two models that, of those not told apart, are known least relative to each
other, on the scale of `ranks`, held where it is now so that only what is learned of the order counts.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit

from judgerank.comparisons import POOLED_JUDGE, Comparisons
from judgerank.errors import ConfigError, DisconnectedError, NoMaximumError
from judgerank.inference import normal_quantile
from judgerank.ranks import best_known_scale, pairwise
from judgerank.result import FitResult

COLUMNS = ["model_a", "model_b", "judge_model", "comparisons", "first", "second", "width", "width_after"]


def next_comparisons(result: FitResult, picks: int = 10, size: int = 10, level: float = 0.95) -> pd.DataFrame:
    """What to collect next, best first; every pick takes those before it as collected.

    Parameters
    ----------
    result : FitResult
    picks : int
        Number of rows.
    size : int
        Comparisons in each.
    level : float
        Of the intervals.

    Returns
    -------
    DataFrame
        ``model_a, model_b, judge_model, comparisons``: whom to show to which judge, how often; ``first, second``:
        of the pairs that `ranks.pairwise` does not separate (of all, if there are none), the one with the widest
        interval of its difference, ``width`` its width and ``width_after`` the expected one. Where a covariate
        matters it is taken at its mean.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.
    ConfigError
        If a number is not positive.
    """
    if picks < 1 or size < 1:
        raise ConfigError("there must be at least one comparison to suggest, and one in each suggestion")
    who, index, gradient, weight = _candidates(result)
    v = result.covariance.copy()
    to_scores = best_known_scale(result.scores.to_numpy(), v, result.n_free_discriminations)
    i, j = _open_pairs(result, level)
    models, judges = result.comparisons.models, result.comparisons.judges
    judges = judges if result.model.judge_blocks else (POOLED_JUDGE,)
    reach, rows = 2 * normal_quantile(level), []
    for _ in range(picks):
        u = to_scores @ v @ to_scores.T
        widest = np.argmax(np.diag(u)[i] + np.diag(u)[j] - 2 * u[i, j])
        c = to_scores[i[widest]] - to_scores[j[widest]]
        shared = np.sum(gradient * (v @ c)[index], axis=1)
        own = np.einsum("ta,tab,tb->t", gradient, v[index[:, :, None], index[:, None, :]], gradient)
        w = size * weight
        best = np.argmax(w * shared**2 / (1 + w * own))
        step = v[:, index[best]] @ gradient[best]
        before = c @ v @ c
        v -= np.outer(step, step) * (w[best] / (1 + w[best] * own[best]))
        widths = reach * np.sqrt([before, c @ v @ c])
        a, b, k = who[:, best]
        rows.append((models[a], models[b], judges[k], size, models[i[widest]], models[j[widest]], *widths))
    return pd.DataFrame(rows, columns=COLUMNS)


def bounding_comparisons(result: FitResult, picks: int = 10, size: int = 10) -> pd.DataFrame:
    """What to collect where judges never answered against the order, in the form of `next_comparisons`.

    An answer against the order is likeliest between the closest scores: neighbours in rank, closest first.
    """
    order = result.scores.sort_values(ascending=False, kind="stable")
    neighbours = np.argsort(-np.diff(order.to_numpy()), kind="stable")
    judges = result.unbounded_judges
    asked = [(order.index[n], order.index[n + 1], judge, size) for n in neighbours for judge in judges][:picks]
    return pd.DataFrame(asked, columns=COLUMNS[:4]).reindex(columns=COLUMNS)


def _open_pairs(result: FitResult, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of models that are not told apart, or all, if they are."""
    pairs = pairwise(result, level)
    open_pairs = pairs[~pairs["separated"]]
    chosen = pairs if open_pairs.empty else open_pairs
    place = {name: number for number, name in enumerate(result.comparisons.models)}
    return chosen["first"].map(place).to_numpy(), chosen["second"].map(place).to_numpy()


def _candidates(result: FitResult) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every pair before every judge in play: who, and the predictor's gradient where it is not zero.

    Where positions are fitted, a pair in either order.

    Returns
    -------
    who : int array, shape (3, C)
        Model shown first, model shown second, judge.
    index : int array, shape (C, 2 + B)
        Parameters that the predictor depends on.
    gradient : float array, shape (C, 2 + B)
        Its derivatives in them; zero in those that are held.
    weight : float array, shape (C,)
        p (1 - p).
    """
    free, s, gamma = result.free, result.scores.to_numpy(), result.discrimination.to_numpy()
    i, j = np.triu_indices(len(s), 1)
    if result.model.has_position:
        i, j = np.r_[i, j], np.r_[j, i]
    judges = np.flatnonzero(gamma > 0) if result.model.judge_blocks else np.array([0])
    k = np.tile(judges, len(i))
    i, j = np.repeat(i, len(judges)), np.repeat(j, len(judges))
    g, d = gamma[k], s[i] - s[j]
    p = expit(g * d + result.position.to_numpy()[k])
    place = len(s) - 1 + np.cumsum(free.ravel()).reshape(free.shape)
    derivative = {"log_discrimination": g * d, "slope": 0.0 * d, "position": 1.0 + 0.0 * d}  # at covariate zero
    index, gradient = [i, j], [g, -g]
    for block, number in enumerate(result.model.judge_blocks):
        index.append(place[block, k])
        gradient.append(derivative[number] * free[block, k])
    return np.array([i, j, k]), np.array(index).T, np.array(gradient).T, p * (1 - p)


def first_links(comparisons: Comparisons, error: NoMaximumError) -> list[tuple[str, str]]:
    """Pairs to compare before anything can be ranked.

    In a graph that falls apart, the most compared model of the largest component with that of every other one. Of
    models that won, or lost, every comparison with the others, the most compared with the best, or the worst, of
    the others.
    """
    c = comparisons.pool_judges()
    n, names = len(c.models), list(c.models)
    times = np.bincount(c.first, c.count, n) + np.bincount(c.second, c.count, n)
    wins = np.bincount(c.first, c.count * c.outcome, n) + np.bincount(c.second, c.count * (1 - c.outcome), n)
    times, share = pd.Series(times, names), pd.Series(wins / np.maximum(times, 1), names)
    if isinstance(error, DisconnectedError):
        centre, *others = (times[list(group)].idxmax() for group in sorted(error.models, key=len, reverse=True))
        return [(centre, other) for other in others]
    links: list[tuple[str, str]] = []
    for group in error.models:
        if not any(other in group for _, other in links):  # a loss of one group is a win of another
            inside = np.isin(names, group)
            a, b = inside[c.first], inside[c.second]
            unbeaten = np.any(c.outcome[a & ~b] > 0) or np.any(c.outcome[b & ~a] < 1)
            rest = share[~inside]
            links.append((times[inside].idxmax(), rest.idxmax() if unbeaten else rest.idxmin()))
    return links
