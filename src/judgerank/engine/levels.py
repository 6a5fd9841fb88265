"""Levels of answers in comparisons: which were given, by whom, and what they ask of the parameters.

A level is c = ..., -1, -1/2, 0, 1/2, 1, ..., from the best for the second model to the best for the first. In the
likelihood its exponent is c times the predictor plus the threshold of |c| (`judgerank.model.law`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array

from judgerank.data.arrays import BoolArray, FloatArray
from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.data.tied_choices import chosen, is_choice, tie_sizes
from judgerank.engine.rows import SMALL, Listed
from judgerank.model.block import Role
from judgerank.model.members import Model
from judgerank.model.naming import ALWAYS_STRONG

# Judges at zero discrimination: what they answer is a matter of positions and ties alone.
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
    rows = is_choice(cells) & (chosen(cells) == size)
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
        parameters = {
            size: np.where(used[row], log_propensities[row], -np.inf)[judge] for row, size in enumerate(sizes, 1)
        }
        law = rows.law(log_propensities[0][judge] * rank_gap, None, log_delta=parameters)
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


GIVEN = 1e-9  # share of an answer above which it was given
EQUAL = 1e-8  # scores closer than this, relative to their range, count as equal: fits are exact to about 1e-10
RISE = 1e-6  # of a program whose variables lie within one: a direction that rises at all rises by far more
STEPS = 60  # halvings of the interval in which a position is sought


def thresholds(model: Model) -> dict[float, Role]:
    """Role of the threshold of every size |c| of levels that has one; that of better, 1/2, is zero."""
    return {block.role.size: block.role for block in model.blocks if block.role.is_threshold}


def shares(cells: Comparisons, model: Model) -> dict[float, FloatArray]:
    """Share of every level that a model has in each row, shape (T,) each."""
    tied = cells.known_ties if model.has(Role.TIE) else np.zeros(len(cells))
    strong = cells.known_strength.T if model.has(Role.STRONG) else np.zeros((2, 1))
    first, second = cells.won - tied / 2, cells.lost - tied / 2
    for side in range(0, len(strong), 2):
        first, second = first - strong[side], second - strong[side + 1]
    by_level = {0.5: first, -0.5: second}
    if model.has(Role.TIE):
        by_level[0.0] = tied
    for strength in range(model.n_strengths):
        size = 1.0 + strength / 2
        by_level |= {size: strong[2 * strength], -size: strong[2 * strength + 1]}
    return by_level


def users(cells: Comparisons, model: Model) -> dict[float, BoolArray]:
    """Judges who use a level or its mirror image at all, by its size, shape (K,); for others it has no chance."""
    k = len(cells.judges)
    if cells.stages is not None and model.has(Role.TIE):
        sizes = {Role.of_tie(size).size: ties_used(cells, size) for size in model.tie_sizes}
        return {0.5: np.full(k, True), **sizes}
    of, by_level = shares(cells, model), dict[float, BoolArray]()
    for size in sorted({abs(level) for level in of}):
        total = of[size] if size == 0 else of[size] + of[-size]
        # the judge of a law of two levels uses both
        always = size == 0.5 and not model.has(Role.STRONG)
        by_level[size] = (
            np.full(k, True) if always else np.bincount(cells.judge, np.maximum(total, 0.0), k) > GIVEN
        )
    return by_level


def contests(levels: dict[float, FloatArray]) -> Iterator[tuple[float, float]]:
    """Pairs of a level that may have been given and another one: wins first, then ties, then others."""
    if 1.0 not in levels:
        yield from ((0.5, -0.5), (-0.5, 0.5))
        if 0.0 in levels:
            yield from ((0.0, 0.5), (0.0, -0.5), (0.5, 0.0), (-0.5, 0.0))
        return
    yield from ((level, alternative) for level in levels for alternative in levels if level != alternative)


def offsets_with_strength(cells: Comparisons, model: Model) -> FloatArray:
    """Best positions and thresholds at zero discrimination of a model with strong answers, one row each, (B', K).

    Where the predictor is b alone, the shares of the sizes |c| are met whatever it is, and b by

        sum_m share_m m tanh(m b) = mean c,

    which rises in b. Without positions b is zero.
    """
    of, k = shares(cells, model), len(cells.judges)
    count = np.maximum(judged(cells), np.finfo(float).tiny)
    sizes = [size for size in of if size > 0.5]
    strong = {
        size: np.bincount(cells.judge, cells.count * (of[size] + of[-size]), k) / count for size in sorted(sizes)
    }
    tied = tied_share(cells) if model.has(Role.TIE) else np.zeros(k)
    tied = np.minimum(tied, 1 - 2 * LEAST_SHARE)
    by_size = {0.5: np.maximum(1 - sum(strong.values()) - tied, 0.0), **strong}
    b = _best_position(cells, by_size) if model.has(Role.OFFSET) else np.zeros(k)
    used = np.array([share > GIVEN for share in by_size.values()])
    # the least size that a judge gives has no threshold of its own
    least = np.where(used.any(axis=0), used.argmax(axis=0), 0)
    reference, base = np.array([*by_size])[least], np.array([*by_size.values()])[least, np.arange(k)]
    with np.errstate(divide="ignore"):
        half = np.log(np.maximum(base, LEAST_SHARE)) - np.log(np.cosh(reference * b)) - np.log(2.0)
        propensity = np.log(tied) - half
        rows = {size: np.log(share) - np.log(2 * np.cosh(size * b)) - half for size, share in strong.items()}
    # beside a level that has no chance, thresholds are told from each other alone
    for size, share in strong.items():
        above = np.where(reference == size, ALWAYS_STRONG, rows[size] + ALWAYS_STRONG * (reference > 0.5))
        rows[size] = np.where(share > GIVEN, above, -np.inf)
    propensity = np.where(reference > 0.5, propensity + ALWAYS_STRONG, propensity)
    return np.array([b] * model.has(Role.OFFSET) + [propensity] * model.has(Role.TIE) + [*rows.values()])


def _best_position(cells: Comparisons, by_size: dict[float, FloatArray]) -> FloatArray:
    """b at zero discrimination by halving, shape (K,), for the shares of sizes |c|."""
    mean = first_shown_share(cells) - 0.5
    most = sum(size * share for size, share in by_size.items())
    wanted = np.clip(mean, -(1 - LEAST_SHARE) * most, (1 - LEAST_SHARE) * most)
    low, high = np.full(len(mean), -60.0), np.full(len(mean), 60.0)
    b = low
    for _ in range(STEPS):
        b = (low + high) / 2
        below = sum(share * np.tanh(size * b) * size for size, share in by_size.items()) < wanted
        low, high = np.where(below, b, low), np.where(below, high, b)
    return b


def direction_raising(
    forms: FloatArray | csr_array, bounds: tuple[float, float] | Sequence[tuple[float, float]] = (-1.0, 1.0)
) -> FloatArray | None:
    """A direction in which no linear form falls and some rise, by a linear program; None if there is none.

    Parameters
    ----------
    forms : float array or sparse array, shape (F, D)
        One form a row, by its coefficients.
    bounds : pair of float, or one for each entry
        Of the direction's entries.

    Returns
    -------
    float array, shape (D,), or None
    """
    from scipy.optimize import linprog  # loads slowly, and few models need it

    if 0 in forms.shape:
        return None
    rise, none = np.asarray(forms.sum(axis=0)).ravel(), np.zeros(forms.shape[0])
    optimum = linprog(-rise, A_ub=-forms, b_ub=none, bounds=bounds, method="highs")
    return np.asarray(optimum.x, float) if -optimum.fun > RISE else None
