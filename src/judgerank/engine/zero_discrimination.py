"""Judges at zero discrimination: what they answer is a matter of positions and ties alone."""

from __future__ import annotations

import numpy as np

from judgerank.data.arrays import FloatArray
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.data.tied_choices import chosen, tie_sizes, whole
from judgerank.engine.rows import SMALL, Listed
from judgerank.model.block import Role

LEAST_SHARE = 1e-9  # of an answer that a judge never gives
MOST_STEPS, SETTLED = 100, 1e-12  # of a climb in one parameter


@remembered
def net_wins(cells: Comparisons, of_position: bool = False) -> np.ndarray:
    """Wins (or responses) of every model by judge over those at zero discrimination, shape (K, N).

    Those are a half of its comparisons, or, with `of_position`, as many as the judge gives to that position.
    """
    n, k = len(cells.models), len(cells.judges)
    share = first_shown_share(cells) if of_position else np.full(k, 0.5)
    of_rows = mean_at_zero(cells) if of_position and cells.stages is not None else None
    wins = np.zeros(k * n)
    for start in range(0, len(cells), SMALL):  # a sum over all cells at once takes as much as they do
        part = slice(start, start + SMALL)
        judge = cells.judge[part].astype(np.intp)
        at_zero = share[judge] if of_rows is None else of_rows[part]
        net = cells.count[part] * (cells.response[part] - at_zero)
        wins += np.bincount(judge * n + cells.first[part], net, k * n)
        wins -= np.bincount(judge * n + cells.second[part], net, k * n)
    return wins.reshape(k, n)


@remembered
def judged(cells: Comparisons) -> FloatArray:
    """Number of comparisons of every judge, shape (K,)."""
    return np.asarray(np.bincount(cells.judge, cells.count, len(cells.judges)), float)


def first_shown_share(cells: Comparisons) -> FloatArray:
    """Share of each judge's comparisons won by the model shown first, or mean response, shape (K,)."""
    first = np.bincount(cells.judge, cells.count * cells.response, len(cells.judges))
    return first / np.maximum(judged(cells), np.finfo(float).tiny)


@remembered
def position_at_zero(cells: Comparisons) -> FloatArray:
    """Best b_k of every judge at zero discrimination, if only positions count; shape (K,).

    Large where a judge always chose the first answer, or always the last.
    """
    share = np.clip(first_shown_share(cells), LEAST_SHARE, 1 - LEAST_SHARE)
    if cells.stages is None:
        return np.asarray(np.log(share) - np.log1p(-share))
    return choices_at_zero(cells, True)[0]


def mean_at_zero(cells: Comparisons) -> FloatArray:
    """Mean outcome of every row at zero discrimination and the best position there, shape (T,)."""
    if cells.stages is None:
        return np.asarray(first_shown_share(cells)[cells.judge])
    rows, of_judge = Listed(cells, slice(None)), cells.judge
    b, log_delta = choices_at_zero(cells, True)
    ties = {size: log_propensity[of_judge] for size, log_propensity in log_delta.items()}
    return rows.law(b[of_judge] * _places(cells), None, log_delta=ties).mean


def ties_used(cells: Comparisons, size: int) -> np.ndarray:
    """Judges who tie so many answers of a ranking, shape (K,)."""
    rows = whole(cells) & (chosen(cells) == size)
    return np.asarray(np.bincount(cells.judge[rows], minlength=len(cells.judges)) > 0)


@remembered
def choices_at_zero(cells: Comparisons, with_position: bool) -> tuple[FloatArray, dict[int, FloatArray]]:
    """Best b_k and log delta_k by size of ties of every judge at zero discrimination, shape (K,) each.

    For rankings, where these are found together by Newton's method; without ties as an outcome there are no sizes.
    Log delta is minus infinity for who never ties so many answers, and what would run off stops far out.
    """
    rows, judge, k = Listed(cells, slice(None)), cells.judge, len(cells.judges)
    sizes, rank_gap = () if cells.tied is None else tie_sizes(cells), _places(cells)
    used = np.array([np.full(k, with_position), *(ties_used(cells, size) for size in sizes)])
    tie_shares = {size: rows.given_tie(size) for size in sizes}
    log_propensities, reach = np.zeros((1 + len(sizes), k)), -np.log(LEAST_SHARE)
    for _ in range(MOST_STEPS):
        at = {
            size: np.where(used[row], log_propensities[row], -np.inf)[judge] for row, size in enumerate(sizes, 1)
        }
        law = rows.law(log_propensities[0][judge] * rank_gap, None, log_delta=at)
        rise, fall = (
            np.zeros((k, len(log_propensities))),
            np.zeros((k, len(log_propensities), len(log_propensities))),
        )
        rise[:, 0] = np.bincount(judge, cells.count * (cells.outcome - law.mean) * rank_gap, k)
        fall[:, 0, 0] = np.bincount(judge, cells.count * law.variance * rank_gap**2, k)
        for row, size in enumerate(sizes, 1):
            role = Role.of_tie(size)
            chance = law.chance(role)
            rise[:, row] = np.bincount(judge, rows.choices * (tie_shares[size] - chance), k)
            shared = np.bincount(judge, cells.count * law.with_chance(role) * rank_gap, k)
            fall[:, 0, row] = fall[:, row, 0] = shared
            for index, size_of_other in enumerate(sizes, 1):
                both = chance * ((row == index) - law.chance(Role.of_tie(size_of_other)))
                fall[:, row, index] = np.bincount(judge, rows.choices * both, k)
        still = ~used.T
        rise[still] = 0.0
        fall[still] = fall.transpose(0, 2, 1)[still] = 0.0
        fall += (LEAST_SHARE + still)[:, :, None] * np.eye(len(log_propensities))
        step = np.linalg.solve(fall, rise[:, :, None])[:, :, 0].T
        before = log_propensities
        log_propensities = np.clip(log_propensities + np.clip(step, -1.0, 1.0), -reach, reach)
        if np.abs(log_propensities - before).max() <= SETTLED:
            break
    return log_propensities[0], {
        size: np.where(used[row], log_propensities[row], -np.inf) for row, size in enumerate(sizes, 1)
    }


def _places(cells: Comparisons) -> FloatArray:
    return np.ones(len(cells)) if cells.apart is None else cells.apart


def tied_share(cells: Comparisons) -> FloatArray:
    """Share of each judge's comparisons of two that are ties, shape (K,)."""
    ties = np.bincount(cells.judge, cells.count * cells.known_ties, len(cells.judges))
    return ties / np.maximum(judged(cells), np.finfo(float).tiny)
