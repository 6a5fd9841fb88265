"""Models that beat each other in a circle, which no ranking can order.

Every pair is tested by its own comparisons alone (`judgerank.order.head_to_head`), all pairs together by Holm's
procedure. So all wins of the cycle hold jointly at the level.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.cache import remembered
from judgerank.inference.uncertainty import Uncertainty
from judgerank.inference.wald import two_sided
from judgerank.order.claims import holm
from judgerank.order.head_to_head import direct_statistics

MOST_MODELS = 200  # all pairs of more are not tested one by one


@remembered
def shortest_cycle(result: Uncertainty, level: float) -> tuple[str, ...]:
    """The models of a shortest cycle, each significantly better than the next and the last than the first.

    Empty if there is none, and where comparisons are not held or are of more than `MOST_MODELS` models. Means of
    scores make none.
    """
    models = result.comparisons.models
    is_tested = len(models) <= MOST_MODELS and result.sizes is None
    statistics = direct_statistics(result) if is_tested else None
    if statistics is None:
        return ()
    i, j = np.nonzero(np.triu(~np.isnan(statistics), 1))
    if not len(i):
        return ()
    p_values = holm(np.array([float(two_sided(z)) for z in statistics[i, j]]))
    wins = np.zeros(statistics.shape, bool)
    significant = p_values <= 1 - level
    i, j = i[significant], j[significant]
    is_first = statistics[i, j] > 0
    wins[np.where(is_first, i, j), np.where(is_first, j, i)] = True
    return tuple(models[place] for place in _shortest(wins))


def _shortest(wins: BoolArray) -> list[int]:
    """Places of a shortest cycle of a directed graph, shape (N, N); empty if it has none."""
    graph = csr_array(wins.astype(float))
    _, part = connected_components(graph, directed=True, connection="strong")
    if len(np.unique(part)) == len(part):
        return []
    distances: FloatArray
    previous: IntArray
    distances, previous = shortest_path(graph, unweighted=True, return_predecessors=True)
    lengths = np.where(wins, distances.T, np.inf)  # from the loser of an edge back to its winner
    winner, loser = np.unravel_index(int(np.argmin(lengths)), lengths.shape)
    path = [int(winner)]
    while path[-1] != loser:
        path.append(int(previous[loser, path[-1]]))
    return [path[0], *path[:0:-1]]
