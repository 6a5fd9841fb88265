"""Triplets of candidates, each of which judges the other two: the worst of three is easier to see than the best.

A. Dhurandhar, R. Nair, M. Singh, E. Daly and K. Natesan Ramamurthy (2024), Ranking large language models without
ground truth, Findings of ACL. Greedy triplet ranking (GTR) finds the weakest of a triplet again and again, in
O(N^2) triplets; full triplet ranking (FTR) takes all O(N^3) and weighs judges by reputations that are its result.

In the authors' code a model judges by an automatic measure of its own answers against those of two others, so that
every model is a judge. Here only models that are judges too can take part, the others are left out, and "k prefers
i to j" is the majority of the comparisons of the two that k judged; equal shares are half a vote. What is taken
from that code is said below; the rest is a reading of the paper's summary and its costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgerank.data.comparisons import Comparisons
from replication.errors import MethodUnavailableError
from studies.methods.ranking import Ranking

FEWEST = 3
TOLERANCE = 1e-12  # of reputations that sum to one
MOST_ROUNDS = 10_000


@dataclass(frozen=True)
class _Panel:
    """The models that judge: their names, and shares[k, i, j] of i over j by judge k, NaN without comparisons."""

    names: tuple[str, ...]
    shares: np.ndarray
    remark: str

    @property
    def votes(self) -> np.ndarray:
        """1, 1/2 or 0, NaN without comparisons; shape (M, M, M)."""
        return (np.sign(np.round(self.shares - 0.5, 12)) + 1) / 2

    def missing(self, k: int, i: int, j: int) -> MethodUnavailableError:
        judge, first, second = (self.names[index] for index in (k, i, j))
        return MethodUnavailableError(
            f"triplets need a judgment by {judge!r} of {first!r} and {second!r}: there is none"
        )


def greedy_triplets(comparisons: Comparisons) -> Ranking:
    """Greedy triplet ranking: places by eliminating the worst of three.

    A pass begins with the first two models, in the order in which they are held, where the paper's order is
    arbitrary. Each next model joins the two, and the worst of the three drops out: the one that fewest of its two
    judges prefer, then the one with the smaller shares of comparisons, then the later one. The two that are left
    take the next two places, in the order most of the other candidates prefer, and the next pass ranks the rest.

    Parameters
    ----------
    comparisons : Comparisons
        Raw or aggregated, judged by models too.

    Returns
    -------
    Ranking
        `scores`: the number of models placed below. No probabilities, errors or judges.

    Raises
    ------
    MethodUnavailableError
        If fewer than three models are judges, or a triplet on the way lacks a judgment.
    """
    panel = _panel(comparisons)
    votes, left, ranked_indices = panel.votes, list(range(len(panel.names))), []
    while left:
        best = left[:2]
        for new in left[2:]:
            best.append(new)
            best.remove(_worst(panel, votes, best))
        best = best if len(best) < 2 else _in_order(panel, votes, *best)
        ranked_indices += best
        left = [model for model in left if model not in best]
    scores = pd.Series(
        np.arange(len(ranked_indices))[::-1].astype(float), [panel.names[i] for i in ranked_indices], name="score"
    )
    return Ranking(scores.loc[list(panel.names)], remark=panel.remark)


def full_triplets(comparisons: Comparisons) -> Ranking:
    """Full triplet ranking: reputations r that agree with the votes they weigh.

    r_i is proportional to sum_jk r_k y_ijk, y_ijk the vote of k for i over j. As in the authors' code y_iik is 1/2
    and a model wins what it judges itself, y_iji = 1, which changes no proportion. All sums are positive, so there
    is exactly one such r (Perron, 1907), whatever it starts from; the code stops at a change of 0.001, this when r
    stands still. That the code's sum is this one could not be checked.

    Parameters
    ----------
    comparisons : Comparisons
        Raw or aggregated, judged by models too.

    Returns
    -------
    Ranking
        `scores` and `judges`: reputations, which sum to one. No probabilities or errors.

    Raises
    ------
    MethodUnavailableError
        If fewer than three models are judges, or one of them has not compared some two others.
    """
    panel = _panel(comparisons)
    m = len(panel.names)
    votes, diagonal = panel.votes, np.arange(m)
    votes[:, diagonal, diagonal] = 0.5
    votes[diagonal, diagonal, :] = 1.0
    votes[diagonal, :, diagonal] = 0.0
    votes[diagonal, diagonal, diagonal] = 0.5
    lacking = np.argwhere(np.isnan(votes))
    if len(lacking):
        raise panel.missing(*lacking[0])
    weights = votes.sum(axis=2).T  # of judge k in the sum of model i, at [i, k]
    r = np.full(m, 1 / m)
    for _ in range(MOST_ROUNDS):
        last, r = r, weights @ r
        r /= r.sum()
        if np.abs(r - last).sum() <= TOLERANCE:
            break
    return Ranking(
        pd.Series(r, panel.names, name="score"),
        judges=pd.Series(r, panel.names, name="reputation"),
        remark=panel.remark,
    )


def _panel(comparisons: Comparisons) -> _Panel:
    c = comparisons
    judged = {c.judges[k] for k in np.unique(c.judge)}
    names = tuple(name for name in c.models if name in judged)
    m = len(names)
    if m < FEWEST:
        judging = f"only {', '.join(map(repr, names))} of {len(c.models)}" if m else f"none of {len(c.models)}"
        raise MethodUnavailableError(
            f"triplets need three models that are judges too: {judging} judged any comparison"
        )
    index_of = {name: index for index, name in enumerate(names)}
    model, judge = (np.array([index_of.get(name, -1) for name in labels]) for labels in (c.models, c.judges))
    i, j, k = model[c.first], model[c.second], judge[c.judge]
    inside = (i >= 0) & (j >= 0) & (k >= 0)
    i, j, k, y, count = (column[inside] for column in (i, j, k, c.outcome, c.count))
    key = np.r_[(k * m + i) * m + j, (k * m + j) * m + i]
    total = np.bincount(key, np.r_[count, count], m**3)
    won = np.bincount(key, np.r_[count * y, count * (1 - y)], m**3)
    shares = np.divide(won, total, out=np.full(m**3, np.nan), where=total > 0).reshape(m, m, m)
    outside = [name for name in c.models if name not in index_of]
    remark = f"Models that are no judges are left out: {', '.join(outside)}." if outside else ""
    return _Panel(names, shares, remark)


def _worst(panel: _Panel, votes: np.ndarray, three: list[int]) -> int:
    keys = []
    for i in three:
        j, k = (rival for rival in three if rival != i)
        wins = votes[k, i, j] + votes[j, i, k]
        if np.isnan(wins):
            raise panel.missing(*((k, i, j) if np.isnan(votes[k, i, j]) else (j, i, k)))
        keys.append((wins, panel.shares[k, i, j] + panel.shares[j, i, k], -i))
    return -min(keys)[2]


def _in_order(panel: _Panel, votes: np.ndarray, i: int, j: int) -> list[int]:
    voters = np.setdiff1d(np.arange(len(panel.names)), (i, j))
    voters = voters[~np.isnan(votes[voters, i, j])]
    if not len(voters):
        raise MethodUnavailableError(
            f"no other candidate compared {panel.names[i]!r} with {panel.names[j]!r}, the two left of a pass"
        )
    keys = [(votes[voters, a, b].mean(), panel.shares[voters, a, b].mean(), -a) for a, b in ((i, j), (j, i))]
    return [i, j] if keys[0] > keys[1] else [j, i]
