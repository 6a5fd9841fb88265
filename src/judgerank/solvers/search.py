"""Exact maximum likelihood over gamma_k >= 0: which climb of `judgerank.solvers.newton` ends highest.

One climb begins at the unweighted scores. Where the data do not rule out maxima elsewhere, many rough climbs at
once (`judgerank.solvers.basins`) say from where further exact ones are worth their while. A rough climb may stop
well below its maximum, so the best end of every ranking is followed, however high it is, unless it predicts what
an exact climb has already led to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from scipy.special import expit

from judgerank.comparisons import Comparisons
from judgerank.likelihood import Law, predictor
from judgerank.model import BTL, Model, Parameters
from judgerank.remembering import remembered
from judgerank.solvers.basins import Ends, rough_maxima
from judgerank.solvers.choice import highest
from judgerank.solvers.closure import assurance, guess, offsets_at_zero
from judgerank.solvers.newton import Newton, climb
from judgerank.solvers.slopes import elsewhere
from judgerank.solvers.solution import Solution, Status
from judgerank.solvers.starts import Rows, apart, shares

BOX = {"scores": 6.0, "log_discrimination": 6.0, "position": 8.0}  # for rough climbs
ASSURED = 2.0  # gain over chance, over what the judges' own scores could add, from which one climb is enough
MANY = 10  # comparisons by judge and model, from which one climb is tried without a look
WORTH_A_TRY = 1.5  # assurance at a first guess, from which a single climb is tried
WORTH = 3.0  # log-likelihood that the end of a rough climb, or a judge at zero, may lack and still be followed
DIFFERENT = 0.5  # correlation of scores below which two ends are different rankings
MOST_CLIMBS = 8
ROUNDS = 4  # of climbs, with slopes: after the first from where one judge might have another
REACHED = 0.01  # as `basins.ALIKE`, of a start and an exact end; with lengths, MT-Bench has maxima 0.03 apart


def maximise(
    cells: Comparisons,
    model: Model,
    settings: Newton,
    start: Parameters | None = None,
    rough: Ends | None = None,
    known: tuple[Solution, ...] = (),
) -> Solution:
    """Maximise the likelihood of aggregated comparisons.

    With a `start`, by the one climb from there. If the highest climb runs off, there is no maximum. `rough` saves
    the rough climbs, where they were made before; `known` are ends of other climbs.
    """
    if start is not None:
        return climb(cells, model, settings, start)
    if not model.judge_blocks:
        return from_zero(cells, model, settings)
    unweighted = unweighted_scores(cells, settings)
    first = from_unweighted(cells, model, settings)
    if model.fixed_scale or (not model.has_slope and is_sure(cells, model, first)):
        return first
    if rough is None:
        rough = rough_ends(cells, model, BOX | {"slope": settings.slope_bound})

    def more(ends: list[Solution], starts: Iterable[Parameters]) -> tuple[list[Solution], Solution]:
        ends = followed(cells, model, starts, lambda near: climb(cells, model, settings, near), *ends)
        return ends, highest(ends, unweighted)

    ends, best = more([first, *known], worth_climbing(cells, model, rough))
    if model.has_ties:  # rough climbs take ties as half wins, and miss what ties alone lead to
        ends, best = more(ends, without_each(cells, model, best.parameters))
    for _ in range(ROUNDS * model.has_slope):
        last = best
        ends, best = more(ends, elsewhere(cells, model, best.parameters, settings))
        if best.parameters is last.parameters:
            break
    return best


def resumed(cells: Comparisons, model: Model, settings: Newton, start: Parameters, bar: float) -> Solution:
    """The maximum of comparisons of which a part was fitted before.

    By one climb from there, if it can hardly have become another maximum's turn: there can hardly be a higher one
    whatever was known before, or this one is above the `bar` that the others stay below. Else by a search.

    Parameters
    ----------
    start : Parameters
        Of the fit before.
    bar : float
        Log-likelihood that no other maximum which the search for that fit met can exceed now.
    """
    first = climb(cells, model, settings, start)
    alone = not model.judge_blocks or model.fixed_scale
    if first.status.converged and (alone or first.evaluation.log_likelihood > bar or is_sure(cells, model, first)):
        return first
    return maximise(cells, model, settings, known=(first,))


def followed(
    cells: Comparisons,
    model: Model,
    starts: Iterable[Parameters],
    climb_from: Callable[[Parameters], Solution],
    *ends: Solution,
) -> list[Solution]:
    """Ends of climbs, each start in turn, but for starts that predict the same as an end before them.

    An end that was stopped is no reason to leave a start out: a climb from there may yet end.
    """
    found, weights = list(ends), shares(cells.judge, cells.count)

    def predicted(at: Parameters) -> np.ndarray:
        return expit(predictor(cells, model, at))

    known = [predicted(end.parameters) for end in found if end.status is not Status.ITERATION_LIMIT]
    for near in starts:
        here = predicted(near)[:, None]
        if not known or apart(weights, here, np.column_stack(known)).min() > REACHED:
            found.append(climb_from(near))
            if found[-1].status is not Status.ITERATION_LIMIT:
                known.append(predicted(found[-1].parameters))
    return found


def sure_maximum(cells: Comparisons, model: Model, settings: Newton) -> Solution | None:
    """The maximum that one climb from the unweighted scores reaches, if there can hardly be a higher one."""
    many = cells.n_comparisons >= MANY * len(cells.models) * len(cells.judges)
    if not many and assurance(cells, model, first_guess(cells, model, settings)) < WORTH_A_TRY:
        return None
    first = from_unweighted(cells, model, settings)
    return first if is_sure(cells, model, first) else None


def is_sure(cells: Comparisons, model: Model, found: Solution) -> bool:
    """Whether there can hardly be a higher maximum than this one."""
    height = found.evaluation.log_likelihood
    return found.status.converged and assurance(cells, model, found.parameters, height) >= ASSURED


def unweighted_scores(cells: Comparisons, settings: Newton) -> np.ndarray:
    return from_zero(cells.pool_judges(), BTL, settings).parameters.scores


@remembered
def from_zero(cells: Comparisons, model: Model, settings: Newton) -> Solution:
    """The climb from all parameters at zero."""
    return climb(cells, model, settings, Parameters.zeros(model, cells))


@remembered
def from_unweighted(cells: Comparisons, model: Model, settings: Newton) -> Solution:
    """The climb from the unweighted scores."""
    return climb(cells, model, settings, first_guess(cells, model, settings))


@remembered
def first_guess(cells: Comparisons, model: Model, settings: Newton) -> Parameters:
    """The unweighted scores with judges to match."""
    return guess(cells, model, unweighted_scores(cells, settings))


def rough_ends(cells: Comparisons, model: Model, bounds: Mapping[str, float]) -> Ends:
    """Where rough climbs in a box end; its bounds are by block."""
    return rough_maxima(Rows(cells, model), bounds)


def worth_climbing(
    cells: Comparisons, model: Model, ends: Ends, within: float = WORTH, most: int = MOST_CLIMBS
) -> list[Parameters]:
    """Starts of exact climbs: the best end of every ranking that rough climbs lead to, and those near the highest.

    Parameters
    ----------
    ends : Ends
    within : float
        Log-likelihood by which other ends may be lower than the highest.
    most : int
    """
    rankings: list[int] = []
    for place, end in enumerate(ends.parameters):
        if all(_correlation(end, ends.parameters[other]) < DIFFERENT for other in rankings):
            rankings.append(place)
    near = np.flatnonzero(ends.heights >= ends.heights[0] - within)
    chosen = [ends.parameters[place] for place in sorted(list(dict.fromkeys([*rankings, *near]))[:most])]
    offsets = offsets_at_zero(cells, model)[-1:] if model.has_ties else np.zeros((0, len(cells.judges)))
    return [Parameters(end.scores, np.concatenate([end.judges, offsets])) for end in chosen]


def without_each(cells: Comparisons, model: Model, at: Parameters) -> Iterator[Parameters]:
    """Starts with one judge at zero discrimination: in turn of those who lose little height by that."""
    zero = Parameters(at.scores, at.judges.copy())
    zero.judges[0], zero.judges[model.n_scale :] = -np.inf, offsets_at_zero(cells, model)
    lost = by_judge(cells, model, at) - by_judge(cells, model, zero)
    for k in np.flatnonzero(at.in_play & (lost < WORTH)):
        judges = at.judges.copy()
        judges[:, k] = zero.judges[:, k]
        yield Parameters(at.scores, judges)


def by_judge(cells: Comparisons, model: Model, at: Parameters) -> np.ndarray:
    """The log-likelihood, shape (K,)."""
    nu = np.exp(at.judges[-1]).take(cells.judge) if model.has_ties else None
    rows = cells.count * Law(predictor(cells, model, at), nu).log_likelihood(cells.outcome, cells.tied)
    return np.bincount(cells.judge, rows, len(cells.judges))


def _correlation(one: Parameters, other: Parameters) -> float:
    """Of zero-sum scores, which a rough climb always moves away from zero."""
    a, b = one.scores, other.scores
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), np.finfo(float).tiny))
