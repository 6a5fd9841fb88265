"""Which comparisons to collect next: those that shorten the widest interval of a pair not separated the most.

n more comparisons of i with j by judge k, in that order, add n G M G' to the expected information. M is the
variance p (1 - p) of an outcome, or its covariance with a tie where ties are an outcome; G the gradient in (s,
alpha, ...) of the predictor, g (e_i - e_j) in the scores, g (s_i - s_j) in alpha_k and one in b_k, and that of
log nu_k. With V the covariance and X X' = n G M G', the variance of a contrast c becomes (Woodbury, 1950)

    c'V c - (X'V c)' (1 + X'V X)^-1 (X'V c).

The contrast is the difference of the two models that, of those not separated, are known least relative to each
other, on the scale of `ranks`, held where it is now so that only what is learned of the order counts. A judge's
discrimination may be high by luck, and the luckiest of many is: judges are chosen for the least that a comparison
by them tells over an interval of their discrimination, and only among those with enough comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtri

from judgerank.arrays import FloatArray, IntArray
from judgerank.comparisons import POOLED_JUDGE, Comparisons
from judgerank.errors import ConfigError, DisconnectedError, NoMaximumError
from judgerank.inference import normal_quantile
from judgerank.likelihood import Law
from judgerank.model import Model
from judgerank.ranks import best_known_scale, pairwise
from judgerank.result import FitResult

COLUMNS = ["model_a", "model_b", "judge_model", "comparisons", "first", "second", "width", "width_after"]
COLUMNS += ["to_separate"]
CHANCE = 0.8  # of separating a pair by as many comparisons as are said to do so
MOST = 1e7  # comparisons of a pair beyond which it is not said to be separated by any
CAUTION = 0.95  # level of the interval of a discrimination within which a judge is taken at its worst


@dataclass(frozen=True, eq=False)
class Candidates:
    """Every pair before every judge who is known well enough; where positions are fitted, in either order.

    Attributes
    ----------
    who : int array, shape (3, C)
        Model shown first, model shown second, judge.
    index : int array, shape (C, 2 + B)
        Parameters that the outcome depends on.
    root : float array, shape (C, 2 + B, R)
        X for one comparison in those, zero in what is held; R is two with ties for an outcome, else one.
    caution : float array, shape (C,)
        Least information over that judge's interval of the discrimination, relative to that at the estimate.
    """

    who: IntArray
    index: IntArray
    root: FloatArray
    caution: FloatArray

    def of(self, i: int, j: int) -> IntArray:
        """Candidates that compare these two models."""
        first, second, _ = self.who
        return np.flatnonzero(((first == i) & (second == j)) | ((first == j) & (second == i)))


def next_comparisons(
    result: FitResult, picks: int = 10, size: int = 10, level: float = 0.95, few: int = 0
) -> pd.DataFrame:
    """What to collect next, best first; every pick takes those before it as collected, and none comes twice.

    Parameters
    ----------
    result : FitResult
    picks : int
        Number of rows; fewer if there are not so many different ones.
    size : int
        Comparisons in each.
    level : float
        Of the intervals.
    few : int
        Judges with fewer comparisons are not asked, unless all have fewer.

    Returns
    -------
    DataFrame
        ``model_a, model_b, judge_model, comparisons``: whom to show to which judge, how often; ``first, second``:
        of the pairs that `ranks.pairwise` does not separate (of all, if there are none), the one with the widest
        interval of its difference, ``width`` its width and ``width_after`` the expected one; ``to_separate``: how
        many comparisons of these two, spread evenly over the judges, are expected to separate them (see
        `to_separate`). Where a covariate matters it is taken at its mean.

    Raises
    ------
    NoIntervalError
        If the fit has no intervals.
    ConfigError
        If a number is not positive.
    """
    if picks < 1 or size < 1:
        raise ConfigError("there must be at least one comparison to suggest, and one in each suggestion")
    those = _candidates(result, few)
    index, root = those.index, those.root * np.sqrt(size)
    v = result.covariance.copy()
    to_scores = best_known_scale(result.scores.to_numpy(), v, result.n_free_discriminations)
    i, j, steps = _open_pairs(result, level)
    models, judges = result.comparisons.models, result.comparisons.judges
    judges = judges if result.model.judge_blocks else (POOLED_JUDGE,)
    reach, rows, now = 2 * normal_quantile(level), [], v.copy()
    fresh = np.ones(len(index), bool)
    for _ in range(min(picks, len(index))):
        u = to_scores @ v @ to_scores.T
        widest = np.argmax(np.diag(u)[i] + np.diag(u)[j] - 2 * u[i, j])
        c = to_scores[i[widest]] - to_scores[j[widest]]
        own, fall = _falls(index, root, v, c)
        best = np.argmax(np.where(fresh, those.caution * fall, -1.0))
        fresh[best] = False
        step = v[:, index[best]] @ root[best]
        before = c @ v @ c
        v -= step @ np.linalg.solve(own[best], step.T)
        widths = reach * np.sqrt([before, max(c @ v @ c, 0.0)])
        a, b, k = those.who[:, best]
        number = to_separate(result, those, now, to_scores, i[widest], j[widest], steps, level)
        rows.append((models[a], models[b], judges[k], size, models[i[widest]], models[j[widest]], *widths, number))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"to_separate": "Int64"})


def _falls(index: IntArray, root: FloatArray, v: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
    """1 + X'V X of every candidate, shape (C, R, R), and by how much it lowers the variance c'V c, shape (C,)."""
    shared = np.einsum("tar,ta->tr", root, (v @ c)[index])
    own = np.einsum("tar,tab,tbq->trq", root, v[index[:, :, None], index[:, None, :]], root)
    own += np.eye(root.shape[2])
    return own, np.einsum("tr,tr->t", shared, np.linalg.solve(own, shared[..., None])[..., 0])


def to_separate(
    result: FitResult,
    those: Candidates,
    v: FloatArray,
    to_scores: FloatArray,
    i: int,
    j: int,
    steps: int,
    level: float,
) -> int | None:
    """Comparisons of two models, spread evenly over the judges, that separate them with the chance `CHANCE`.

    That is if their difference is as estimated, and the pair is the next of `steps` whose turn it is in Holm's
    procedure. A discrimination that is known badly cannot be made up for by many comparisons: where `MOST` are
    too few the answer is None.
    """
    c = to_scores[i] - to_scores[j]
    scores = result.scores.to_numpy()
    wanted = abs(scores[i] - scores[j]) / (normal_quantile(1 - (1 - level) / steps) + ndtri(CHANCE))
    asked = those.of(i, j)
    each = np.zeros((len(v), len(asked), those.root.shape[2]))
    for place, t in enumerate(asked):
        each[those.index[t], place] = those.root[t] / np.sqrt(len(asked))
    x = each.reshape(len(v), -1)
    values, vectors = np.linalg.eigh(x.T @ v @ x)
    shared = (vectors.T @ (x.T @ (v @ c))) ** 2

    def excess(log_size: float) -> float:
        n = np.exp(log_size)
        return float(c @ v @ c - np.sum(shared * n / (1 + n * np.maximum(values, 0.0)))) - wanted**2

    if excess(0.0) <= 0:
        return 1
    top = np.log(MOST)
    return int(np.ceil(np.exp(brentq(excess, 0.0, top)))) if excess(top) < 0 else None


def bounding_comparisons(result: FitResult, picks: int = 10, size: int = 10) -> pd.DataFrame:
    """What to collect where judges never answered against the order, in the form of `next_comparisons`.

    An answer against the order is likeliest between the closest scores: neighbours in rank, closest first.
    """
    order = result.scores.sort_values(ascending=False, kind="stable")
    neighbours = np.argsort(-np.diff(order.to_numpy()), kind="stable")
    judges = result.unbounded_judges
    asked = [(order.index[n], order.index[n + 1], judge, size) for n in neighbours for judge in judges][:picks]
    return pd.DataFrame(asked, columns=COLUMNS[:4]).reindex(columns=COLUMNS)


def _open_pairs(result: FitResult, level: float) -> tuple[IntArray, IntArray, int]:
    """The pairs of models that are not separated, or all, if they are; and how many are not, at least one."""
    pairs = pairwise(result, level)
    open_pairs = pairs[~pairs["separated"].astype(bool)]
    chosen = pairs if open_pairs.empty else open_pairs
    place = {name: number for number, name in enumerate(result.comparisons.models)}
    i, j = (np.asarray(chosen[side].map(place), np.intp) for side in ("first", "second"))
    return i, j, max(1, len(open_pairs))


def _known_judges(result: FitResult, few: int) -> IntArray:
    """Judges in play with that many comparisons, or all in play if none has."""
    if not result.model.judge_blocks:
        return np.array([0])
    in_play = result.discrimination.to_numpy() > 0
    often = np.bincount(result.comparisons.judge, result.comparisons.count, len(in_play)) >= few
    return np.flatnonzero(in_play & often if (in_play & often).any() else in_play)


def _candidates(result: FitResult, few: int) -> Candidates:
    free, s, gamma = result.free, result.scores.to_numpy(), result.discrimination.to_numpy()
    i, j = np.triu_indices(len(s), 1)
    if result.model.has_position:
        i, j = np.r_[i, j], np.r_[j, i]
    judges = _known_judges(result, few)
    k = np.tile(judges, len(i))
    i, j = np.repeat(i, len(judges)), np.repeat(j, len(judges))
    g, d = gamma[k], s[i] - s[j]
    b, nu = result.position.to_numpy()[k], result.tie.to_numpy()[k]
    half = _half_covariance(g * d + b, nu, result.model)
    nothing = np.zeros_like(d)
    of_predictor = {"log_discrimination": g * d, "position": nothing + 1}  # and of the slope, at covariate zero
    place = len(s) - 1 + np.cumsum(free.ravel()).reshape(free.shape)
    index, gradient = [i, j], [(g, nothing), (-g, nothing)]
    for row, block in enumerate(result.model.judge_blocks):
        index.append(place[row, k])
        gradient.append(free[row, k] * (of_predictor.get(block, nothing), nothing + (block == "log_tie")))
    root = np.einsum("adt,tdr->tar", np.array(gradient), half)
    known = np.zeros(len(gamma))
    if len(free):
        known[free[0]] = np.sqrt(np.diag(result.covariance)[place[0, free[0]]])
    told = []
    for end in (0.0, -1.0, 1.0):  # of the interval of log gamma: at the estimate, and at its ends
        at = g * np.exp(end * normal_quantile(CAUTION) * known[k])
        told.append(at**2 * Law(at * d + b, nu if result.model.has_ties else None).variance)
    caution = np.min(told, axis=0) / np.maximum(told[0], np.finfo(float).tiny)
    root = root if result.model.has_ties else root[..., :1]
    return Candidates(np.array([i, j, k]), np.array(index).T, root, caution)


def _half_covariance(eta: FloatArray, nu: FloatArray, model: Model) -> FloatArray:
    """Cholesky factor of the covariance of an outcome and a tie (zero if ties are half a win), shape (C, 2, 2)."""
    law = Law(eta, nu if model.has_ties else None)
    half = np.zeros((len(eta), 2, 2))
    half[:, 0, 0] = np.sqrt(law.variance)
    if model.has_ties:
        half[:, 1, 0] = law.with_ties / half[:, 0, 0]
        half[:, 1, 1] = np.sqrt(np.maximum(law.tie * (1 - law.tie) - half[:, 1, 0] ** 2, 0.0))
    return half


def first_links(comparisons: Comparisons, error: NoMaximumError) -> list[tuple[str, str]]:
    """Pairs to compare before anything can be ranked.

    In a graph that falls apart, the most compared model of the largest component with that of every other one. Of
    models that won, or lost, every comparison with the others, the most compared with the best, or the worst, of
    the others.
    """
    c = comparisons.pool_judges()
    n, names = len(c.models), list(c.models)
    met = np.bincount(c.first, c.count, n) + np.bincount(c.second, c.count, n)
    wins = np.bincount(c.first, c.count * c.outcome, n) + np.bincount(c.second, c.count * (1 - c.outcome), n)
    times = dict(zip(names, met, strict=True))
    share = dict(zip(names, wins / np.maximum(met, 1), strict=True))
    if isinstance(error, DisconnectedError):
        centre, *others = (
            max(group, key=times.__getitem__) for group in sorted(error.models, key=len, reverse=True)
        )
        return [(centre, other) for other in others]
    links: list[tuple[str, str]] = []
    for group in error.models:
        if not any(other in group for _, other in links):  # a loss of one group is a win of another
            inside = np.isin(names, group)
            a, b = inside[c.first], inside[c.second]
            unbeaten = np.any(c.outcome[a & ~b] > 0) or np.any(c.outcome[b & ~a] < 1)
            most_compared = max((name for name in names if name in group), key=times.__getitem__)
            rest = [name for name in names if name not in group]
            nearest = max(rest, key=share.__getitem__) if unbeaten else min(rest, key=share.__getitem__)
            links.append((most_compared, nearest))
    return links
