"""Whether comparisons determine every score: components, and models that won or lost everything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from judgerank.data.arrays import BoolArray, FloatArray, IntArray
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.data.errors import DisconnectedError, NoMaximumError
from judgerank.data.listing import LISTED, listed

LARGE = 1_000  # models beyond which a matrix of all pairs is not decomposed
Groups = tuple[tuple[str, ...], ...]


@remembered
def components(cells: Comparisons) -> Groups:
    """Connected components of the comparison graph, each a tuple of models (paper, section 5.1)."""
    n = len(cells.models)
    first, second = shown_pairs(cells)
    edges = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(n, n))
    return _named(cells, connected_components(edges, directed=False)[1])


def component_numbers(comparisons: Comparisons, rows: BoolArray, connected: Iterable[str] = ()) -> IntArray:
    """Number of the component of every model in the graph of some comparisons, shape (N,).

    Parameters
    ----------
    comparisons : Comparisons
    rows : bool array, shape (T,)
    connected : iterable of str
        Models that other judgments connect.
    """
    c = comparisons
    rows = rows & (c.decided > 0)  # the best of several says nothing of the order of the others
    others = np.flatnonzero(np.isin(np.array(c.models, object), [*connected]))
    first, second = np.r_[c.first[rows], others[:-1]], np.r_[c.second[rows], others[1:]]
    n = len(c.models)
    edges = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(n, n))
    return np.asarray(connected_components(edges, directed=False)[1])


def shown_pairs(cells: Comparisons) -> tuple[IntArray, IntArray]:
    """The model shown first and the one shown second of every two that were compared, each order once."""
    n = len(cells.models)
    return _different(cells.first.astype(np.intp) * n + cells.second, n)


def _different(pair: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """First and second of every pair i n + j that is there, each pair once and in order."""
    occupied = np.flatnonzero(np.bincount(pair, minlength=n * n)) if n <= LARGE else np.unique(pair)
    return occupied // n, occupied % n


def split(comparisons: Comparisons) -> list[tuple[Comparisons, IntArray]]:
    """The comparisons of every component with its own models and judges, and their rows; most models first.

    Models without a comparison are in none.
    """
    names, parts = np.array(comparisons.models, object), []
    for group in sorted(components(comparisons), key=len, reverse=True):
        inside = np.isin(names, group)
        rows = np.flatnonzero(inside[comparisons.first])
        if rows.size:
            new_index, part = (np.cumsum(inside) - 1).astype(np.int32), comparisons.take(rows)
            ends = {name: new_index[getattr(part, name)] for name in ("first", "second")}
            parts.append((replace(part, models=group, **ends), rows))
    return parts


@remembered
def runaway_models(cells: Comparisons) -> Groups:
    """Groups of models that won, or that lost, every comparison with the models outside the group.

    They are the sources and sinks among the strong components of the digraph "was preferred at least once" (a
    tie counts both ways); there are none exactly if that digraph is strongly connected.
    """
    n = len(cells.models)
    won, lost = cells.won > 0, cells.lost > 0
    first, second = cells.first.astype(np.intp), cells.second.astype(np.intp)
    winner, loser = _different(np.concatenate([(first * n + second)[won], (second * n + first)[lost]]), n)
    ends = np.searchsorted(winner, np.arange(n + 1)).astype(np.int32)
    digraph = csr_array((np.ones(len(loser)), loser.astype(np.int32), ends), shape=(n, n))  # as csgraph takes it
    n_strong, label = connected_components(digraph, connection="strong")
    if n_strong == 1:
        return ()
    across = label[winner] != label[loser]
    beaten, winning = np.zeros(n_strong, bool), np.zeros(n_strong, bool)
    beaten[label[loser[across]]] = True
    winning[label[winner[across]]] = True
    bounded = beaten & winning
    return _named(cells, np.where(bounded[label], -1, label))


def _named(cells: Comparisons, label: IntArray) -> Groups:
    names = np.array(cells.models, object)
    return tuple(sorted(tuple(names[label == value]) for value in np.unique(label[label >= 0])))


def position_share(cells: Comparisons) -> float:
    """Share of the effect of a position that no scores could imitate, from 0 to 1.

    Leaning towards the model shown first adds one to every predictor; scores v add v_i - v_j. If the order of
    presentation lets some v have v_i - v_j = 1 in every comparison, scores and positions cannot be separated and
    the share is zero; in a balanced order it is one. It is one minus the R-squared of ones regressed on scores.
    """
    if not cells.ordered:
        return 0.0
    lead = _lead(cells)
    net = _net(cells, lead)
    return max(0.0, 1.0 - float(net @ imitating_scores(cells)) / float(lead @ (lead / cells.count)))


@remembered
def imitating_scores(cells: Comparisons) -> FloatArray:
    """Scores v by which v_i - v_j is as near as it can be to one in every comparison of i, shown first, with j.

    They are what a position bias of one would do to the scores of a fit that knows no positions: least squares,
    shape (N,).
    """
    n, net = len(cells.models), _net(cells, _lead(cells))
    if n > LARGE:
        return _imitating_of_many(cells, net)
    pair = np.bincount(cells.first.astype(np.intp) * n + cells.second, cells.count, n * n).reshape(n, n)
    laplacian = np.diag((pair + pair.T).sum(axis=1)) - pair - pair.T
    return np.asarray(np.linalg.pinv(laplacian, hermitian=True) @ net)


def _net(cells: Comparisons, lead: FloatArray) -> FloatArray:
    """By how much every model was shown first more often than second, shape (N,)."""
    n = len(cells.models)
    return np.asarray(np.bincount(cells.first, lead, n) - np.bincount(cells.second, lead, n), float)


def _lead(cells: Comparisons) -> FloatArray:
    """By how much a position changes the predictor of each row, one place by one, times its count; shape (T,)."""
    return cells.count if cells.apart is None else cells.count * cells.apart


def _imitating_of_many(cells: Comparisons, net: FloatArray) -> FloatArray:
    """The same by conjugate gradients on the sparse Laplacian; sums to zero in every component."""
    from scipy.sparse.linalg import cg  # loads slowly, and few sets are so large

    n, (i, j), w = len(cells.models), (cells.first, cells.second), cells.count
    coords = (np.r_[i, j, i, j], np.r_[j, i, i, j])
    laplacian = coo_array((np.r_[-w, -w, w, w], coords), (n, n)).tocsr()
    diagonal = np.maximum(laplacian.diagonal(), np.finfo(float).tiny)
    return np.asarray(cg(laplacian, net, rtol=1e-8, maxiter=10 * n, M=diags_array(1 / diagonal))[0])


def judges_of_one_length(cells: Comparisons) -> tuple[str, ...]:
    """Judges all of whose comparisons have the same covariate: their slope is part of their discrimination."""
    z, k = cells.known_covariate, len(cells.judges)
    least, largest = np.full(k, np.inf), np.full(k, -np.inf)
    np.minimum.at(least, cells.judge, z)
    np.maximum.at(largest, cells.judge, z)
    return tuple(cells.judges[judge] for judge in np.flatnonzero(least == largest))


def positions_are_imitated(cells: Comparisons) -> bool:
    """Whether scores v with v_i - v_j = 1 in every comparison exist: exactly then the position share is zero.

    Models then stand on steps, and every comparison shows one first that stands a step above the other; of several
    answers, as many steps as places lie between them.
    """
    step: dict[int, float] = {}
    around: list[list[tuple[int, float]]] = [[] for _ in cells.models]
    if cells.apart is None:
        edges = [(i, j, 1.0) for i, j in zip(*shown_pairs(cells), strict=True)]
    else:
        distinct = np.unique(np.column_stack([cells.first, cells.second, cells.apart]), axis=0)
        edges = [(int(i), int(j), gap) for i, j, gap in distinct.tolist()]
    for i, j, gap in edges:
        around[i].append((j, -gap))
        around[j].append((i, gap))
    for root in range(len(cells.models)):
        if root in step:
            continue
        step[root], waiting = 0, [root]
        while waiting:
            i = waiting.pop()
            for j, up in around[i]:
                if j not in step:
                    step[j] = step[i] + up
                    waiting.append(j)
                elif step[j] != step[i] + up:
                    return False
    return True


def require_maximum(cells: Comparisons) -> None:
    """Check that scores of finite size maximise the likelihood of these comparisons, judges being alike.

    That holds exactly if the digraph "was preferred at least once" is strongly connected (Ford, 1957).

    Raises
    ------
    DisconnectedError
        If the comparison graph falls apart; the components are listed.
    NoMaximumError
        If models won or lost everything; the groups are listed.
    """
    runaway = runaway_models(cells)
    if not runaway:
        return
    parts = components(cells)
    if len(parts) > 1:
        raise DisconnectedError(
            f"the comparison graph is disconnected, so scores cannot be compared across its {len(parts)} "
            f"components: {_listed(parts)}",
            parts,
        )
    raise NoMaximumError(
        f"the likelihood has no maximum because these models won or lost every comparison with the "
        f"others: {_listed(runaway)}",
        runaway,
    )


def _listed(groups: Groups) -> str:
    rest = f"; and {len(groups) - LISTED:,} more groups" if len(groups) > LISTED else ""
    return "; ".join(listed(group) for group in groups[:LISTED]) + rest
