"""Exact maximum likelihood over gamma_k >= 0: which climb of `judgerank.engine.newton` ends highest.

One climb begins at the unweighted scores. Where the data do not rule out maxima elsewhere, many rough climbs at
once (`judgerank.engine.multistart`) say from where further exact ones are worth their while. A rough climb may
stop well below its maximum, so the best end of every ranking is followed, however high it is, unless it predicts
what an exact climb has already led to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np
from scipy.special import expit

from judgerank.data.cache import remembered
from judgerank.data.comparisons import Comparisons
from judgerank.engine.boundary import Bound, assurance, guess, offsets_at_zero
from judgerank.engine.existence import separable_judges
from judgerank.engine.likelihood import RowTerms, by_judge
from judgerank.engine.multistart import (
    ALONE,
    SPARSE,
    Ends,
    FarOut,
    Rows,
    far_starts,
    largest_difference,
    rough_maxima,
    shares,
)
from judgerank.engine.newton import Newton, climb, with_log_odds
from judgerank.engine.penalised import Penalised, with_further
from judgerank.engine.problem import in_units
from judgerank.engine.rows import Listed
from judgerank.engine.solution import LARGEST_LOG_ODDS, Rival, Solution, Status, log_odds, unbounded_judges
from judgerank.model.block import Role
from judgerank.model.members import BTL, Model, Parameters
from judgerank.model.naming import at_mean

# Starts at other slopes of one judge: with lengths, the likelihood has maxima that rough climbs miss.
#
# Given the scores, the judges have nothing to do with each other, so that each one's likelihood over
# discrimination and slope can be looked at whole, on a grid. What is worth a try there may yet lie below a hill: a
# sharper slope often pays only once the scores have followed it, so that a climb begun there slides back. So the
# judge's slope is held while all else climbs, and then let go.
SLOPES, DISCRIMINATIONS = 17, 9  # points of the grid
REACH = 4.0  # of log gamma on it, about the judge's own
SLOPE_WORTH = (
    20.0  # log-likelihood by which a judge may be worse off there, scores as they are, for a climb from it
)
MOST = 40  # climbs, the judges who are least worse off first


def elsewhere(cells: Comparisons, model: Model, parameters: Parameters, settings: Newton) -> Iterator[Parameters]:
    """Points to climb from, each the best there is while one judge's slope is held at another value.

    That is a local maximum of the judge's own likelihood, or a bound: there, too, the likelihood as a whole may
    have a maximum of which the judge's own, given these scores, knows nothing.

    Parameters
    ----------
    cells : Comparisons
    model : Model
        With slopes.
    parameters : Parameters
        A maximum.
    settings : Newton
    """
    bound = settings.slope_bound
    for k, alpha, slope in _others(cells, model, parameters, bound):
        judges = parameters.judges.copy()
        judges[:2, k] = alpha, slope
        least, largest = np.full(judges.shape[1], -bound), np.full(judges.shape[1], bound)
        least[k] = largest[k] = slope
        yield climb(
            cells, model, settings, Parameters(parameters.scores, judges), Bound(least, largest)
        ).parameters


def _others(
    cells: Comparisons, model: Model, parameters: Parameters, bound: float
) -> list[tuple[int, float, float]]:
    """A judge, and its log-discrimination and slope at another local maximum of its own or at a bound."""
    middle = np.where(
        parameters.in_play,
        parameters.judges[0],
        parameters.judges[0, parameters.in_play].mean() if parameters.in_play.any() else 0.0,
    )
    slopes, alphas = np.linspace(-bound, bound, SLOPES), np.linspace(-REACH, REACH, DISCRIMINATIONS)
    heights = np.array(
        [[_heights(cells, model, parameters, middle + alpha, slope) for alpha in alphas] for slope in slopes]
    )
    best = heights.max(axis=1)  # (SLOPES, K)
    loss = _heights(cells, model, parameters, parameters.judges[0], parameters.judges[1]) - best
    is_ahead, behind = np.full_like(best, True, bool), np.full_like(best, True, bool)
    is_ahead[1:-1], behind[1:-1] = best[1:-1] >= best[2:], best[1:-1] >= best[:-2]
    elsewhere_ = np.abs(slopes[:, None] - parameters.judges[1]) > slopes[1] - slopes[0]
    candidates = np.argwhere(is_ahead & behind & elsewhere_ & (loss <= SLOPE_WORTH))
    ordered = sorted(candidates.tolist(), key=lambda cell: loss[*cell])[:MOST]
    return [(k, middle[k] + alphas[heights[s, :, k].argmax()], slopes[s]) for s, k in ordered]


def _heights(
    cells: Comparisons, model: Model, parameters: Parameters, alpha: np.ndarray, slope: float | np.ndarray
) -> np.ndarray:
    """Log-likelihood of every judge's comparisons, shape (K,)."""
    judges = parameters.judges.copy()
    judges[0], judges[1] = alpha, slope
    return by_judge(cells, model, Parameters(parameters.scores, judges))


# Choose among the end points of a search by a rule that does not depend on rounding.
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


BOX = {"scores": 6.0, "log_discrimination": 6.0, "position": 8.0}  # for rough climbs
ASSURED = 2.0  # gain over chance, over what the judges' own scores could add, from which one climb is enough
WORTH = 3.0  # log-likelihood that the end of a rough climb, or a judge at zero, may lack and still be followed
DIFFERENT = 0.5  # correlation of scores below which two ends are different rankings
MOST_CLIMBS = 8
ABOUT_AS_HIGH = 10.0  # log-likelihood that a climb stopped as it ran off may lack
MAX_CLIMB_LOG_ODDS = 2e3  # log-odds up to which climbs from judges far out go
FAR = 2e5  # log-odds at which a judge that runs off is compared: heights near their limit as one over them
ROUNDS_FAR_OUT = 3  # of climbs from where one or two judges are far out
ROUNDS = 4  # of climbs, with slopes: after the first from where one judge might have another
REACHED = 0.01  # as `basins.ALIKE`, of a start and an exact end; with lengths, MT-Bench has maxima 0.03 apart


def maximise(
    cells: Comparisons,
    model: Model,
    settings: Newton,
    start: Parameters | None = None,
    rough: Ends | None = None,
    previous_maxima: tuple[Solution, ...] = (),
) -> Solution:
    """Maximise the likelihood of aggregated comparisons.

    With a `start`, by the one climb from there. If the highest climb runs off, there is no maximum. `rough`
    saves the rough climbs, where they were made before; `known` are ends of other climbs. One climb goes by
    ratios alone, whatever the scale of the counts; what is compared with constants is in units
    (`engine.count_scaling`).
    """
    if start is not None:
        held = at_mean(model, cells).any()
        return _from(cells, model, settings, start) if held else climb(cells, model, settings, start)
    if not model.judge_blocks:
        return from_zero(cells, model, settings)
    if not model.weighs_judges:
        return from_unweighted(cells, model, settings)
    if at_mean(model, cells).any():
        return _with_some_at_mean(cells, model, settings)
    units, size = in_units(cells)
    first = from_unweighted(units, model, settings)
    if model.weights_vary or not is_sure(units, model, first):
        ends = [first, *(end.times(1 / size) for end in previous_maxima)]
        first = _highest(units, model, settings, ends, unweighted_scores(units, settings), rough)
    return first.times(size)


def _with_some_at_mean(cells: Comparisons, model: Model, settings: Newton) -> Solution:
    """The maximum with some discriminations at the mean of the others', by climbs from three starts.

    From all judges equal, from judges to match the unweighted scores, and from the shrunk fit. There is no search
    as for judges who are all free: who is at the mean keeps the others from running off or falling together.
    """
    scores = unweighted_scores(cells, settings)
    equal = replace(Parameters.zeros(model, cells), scores=scores)
    equal.judges[model.offsets] = offsets_at_zero(cells, model)
    matched = guess(cells, model, scores)
    matched.judges[0] = np.where(matched.in_play, matched.judges[0], 0.0)
    shrunk = Penalised().maximise(cells, model).parameters
    ends = [_from(cells, model, settings, start) for start in (equal, matched, shrunk)]
    return max(ends, key=lambda end: (end.status.converged, end.evaluation.log_likelihood))


def _from(cells: Comparisons, model: Model, settings: Newton, start: Parameters) -> Solution:
    """The one climb from a start, with some discriminations at the mean of the others'."""
    held = at_mean(model, cells)
    parameters = start.normalised(at_mean=held)
    free = np.isfinite(parameters.judges)
    free[0, held] = False
    return with_further(cells, model, parameters, free, settings, {})


def _highest(
    cells: Comparisons,
    model: Model,
    settings: Newton,
    ends: list[Solution],
    unweighted: np.ndarray,
    rough: Ends | None,
) -> Solution:
    """The highest end of the search, counts in units; ends of climbs made before are among those of it."""
    if rough is None:
        rough = rough_ends(cells, model, BOX | {"slope": settings.slope_bound})

    def more(
        ends: list[Solution], starts: Iterable[Parameters], furthest: float = LARGEST_LOG_ODDS
    ) -> list[Solution]:
        def up(start_point: Parameters) -> Solution:
            return climb(cells, model, settings, start_point, furthest=furthest)

        return followed(cells, model, starts, up, *ends)

    ends = more(ends, worth_climbing(cells, model, rough))
    if model.has(Role.TIE, Role.STRONG):  # rough climbs take ties as half wins, and miss what ties alone lead to
        ends = more(ends, without_each(cells, model, highest(ends, unweighted).parameters))
    for _ in range(ROUNDS * model.weights_vary):
        best = highest(ends, unweighted)
        ends = more(ends, elsewhere(cells, model, best.parameters, settings))
        if highest(ends, unweighted).parameters is best.parameters:
            break
    few, far = len(cells.models) < SPARSE, FarOut([], [])
    judges = separable_judges(cells, model) if few else np.zeros(0, np.intp)  # a climb far out would take minutes
    for _ in range(ROUNDS_FAR_OUT):
        best = highest(ends, unweighted)
        left = np.setdiff1d(judges, best.unbounded_judges)
        far = far_starts(cells, model, best.parameters, left, settings.slope_bound)
        ends = more(ends, far.starts, MAX_CLIMB_LOG_ODDS)
        if highest(ends, unweighted).parameters is best.parameters:
            break
    if highest(ends, unweighted).status.converged:
        ends = [*ends, *carried_on(cells, model, settings, far, ends)]
    return held_far_out(cells, model, settings, highest_at_limits(cells, model, settings, ends, unweighted))


def carried_on(
    cells: Comparisons, model: Model, settings: Newton, far: FarOut, ends: list[Solution]
) -> Iterator[Solution]:
    """Ends of judges who run off as long as their judgments are counted more often, and in no end so far.

    A rough climb stops where one that runs off still gains a little, and from there the way may lead back.
    """
    already_unbounded = {k for end in ends for k in end.unbounded_judges}
    for k, start_point in far.alone:
        if k not in already_unbounded:
            counted = replace(cells, count=np.where(cells.judge == k, ALONE, 1.0) * cells.count)
            continued = climb(counted, model, settings, start_point, furthest=MAX_CLIMB_LOG_ODDS, leader=k)
            if k in unbounded_judges(model, continued.parameters):
                yield climb(cells, model, settings, continued.parameters, furthest=FAR, leader=k)


def highest_at_limits(
    cells: Comparisons, model: Model, settings: Newton, ends: list[Solution], unweighted: np.ndarray
) -> Solution:
    """The highest end, where those that run off count with the height they approach.

    A climb that runs off was stopped on its way up. One for each set of judges that do, and are at zero, goes on,
    where another end is about as high.
    """
    best = highest(ends, unweighted)
    away: dict[tuple[object, ...], Solution] = {}
    for end in sorted(ends, key=height, reverse=True):
        if end.status is Status.UNBOUNDED and height(end) >= height(best) - ABOUT_AS_HIGH:
            away.setdefault((end.unbounded_judges, *end.parameters.in_play), end)
    if best.status is Status.UNBOUNDED and len(away) == 1:
        return best
    settled = []
    for end in away.values():
        leader = max(end.unbounded_judges, key=log_odds(end.parameters).__getitem__)
        settled.append(climb(cells, model, settings, end.parameters, furthest=FAR, leader=leader))
    return highest([*(end for end in ends if end.status is not Status.UNBOUNDED), *settled], unweighted)


def held_far_out(cells: Comparisons, model: Model, settings: Newton, best: Solution) -> Solution:
    """The maximum with judges who run off held at one place, where nothing else does (`engine.penalised`).

    Where a climb of theirs stops depends on its path, and so on rounding.
    """
    if best.status is not Status.UNBOUNDED or not model.weights_vary:
        return best
    solution = climb(cells, model, settings, best.parameters, furthest=MAX_CLIMB_LOG_ODDS)
    bound, away = Bound(-settings.slope_bound, settings.slope_bound), unbounded_judges(model, solution.parameters)
    is_lower = by_judge(cells, model, solution.parameters) < -settings.tolerance
    if not is_lower[np.setdiff1d(np.flatnonzero(solution.parameters.in_play), away)].any():
        return best  # nobody whose answers are not all but certain says how far apart the models are
    while away != bound.held:
        bound = bound._replace(held=away)
        solution = climb(
            cells, model, settings, with_log_odds(model, solution.parameters, away, MAX_CLIMB_LOG_ODDS), bound
        )
        away = tuple(sorted({*away, *unbounded_judges(model, solution.parameters)}))
    return replace(
        solution, status=Status.UNBOUNDED, unbounded_judges=tuple(sorted({*away, *best.unbounded_judges}))
    )


def run(
    cells: Comparisons, model: Model, settings: Newton, start: Parameters | None, bar: float | None
) -> Solution:
    """`maximise`, or `resumed` where the start is of a part of the comparisons and comes with a bar."""
    if start is not None and bar is not None and not at_mean(model, cells).any():
        return resumed(cells, model, settings, start, bar)
    return maximise(cells, model, settings, start)


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
    alone = not model.weighs_judges
    if first.status.converged and (alone or first.evaluation.log_likelihood > bar or is_sure(cells, model, first)):
        return first
    return maximise(cells, model, settings, previous_maxima=(first,))


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
    maxima, rows, weights = list(ends), Listed(cells, slice(None)), shares(cells.judge, cells.count)
    predictions = list[np.ndarray]()  # predictions of the ends that were no stops
    compared = 0

    def predicted(parameters: Parameters) -> np.ndarray:
        return expit(RowTerms(rows, model, parameters, model.gamma(parameters)).eta)

    for start_point in starts:
        ended = (end for end in maxima[compared:] if end.status is not Status.ITERATION_LIMIT)
        predictions, compared = [*predictions, *(predicted(end.parameters) for end in ended)], len(maxima)
        if (
            not predictions
            or largest_difference(weights, predicted(start_point)[:, None], np.column_stack(predictions)).min()
            > REACHED
        ):
            maxima.append(climb_from(start_point))
    return maxima


def is_sure(cells: Comparisons, model: Model, solution: Solution) -> bool:
    """Whether there can hardly be a higher maximum than this one."""
    height = solution.evaluation.log_likelihood
    return solution.status.converged and assurance(cells, model, solution.parameters, height) >= ASSURED


def unweighted_scores(cells: Comparisons, settings: Newton) -> np.ndarray:
    return from_zero(cells.pool_judges(), BTL, settings).parameters.scores


@remembered
def from_zero(cells: Comparisons, model: Model, settings: Newton) -> Solution:
    """The climb from all parameters at zero."""
    return climb(cells, model, settings, Parameters.zeros(model, cells))


@remembered
def from_unweighted(cells: Comparisons, model: Model, settings: Newton) -> Solution:
    """The climb from the unweighted scores with judges to match."""
    return climb(cells, model, settings, guess(cells, model, unweighted_scores(cells, settings)))


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
    for index, end in enumerate(ends.parameters):
        if all(_correlation(end, ends.parameters[ranking]) < DIFFERENT for ranking in rankings):
            rankings.append(index)
    close_ends = np.flatnonzero(ends.heights >= ends.heights[0] - within)
    chosen = [ends.parameters[index] for index in sorted(list(dict.fromkeys([*rankings, *close_ends]))[:most])]
    thresholds = [block.role.is_threshold for block in model.blocks[model.offsets]]
    offsets = offsets_at_zero(cells, model)[np.array(thresholds, bool)]
    return [Parameters(end.scores, np.concatenate([end.judges, offsets])) for end in chosen]


def without_each(cells: Comparisons, model: Model, parameters: Parameters) -> Iterator[Parameters]:
    """Starts with one judge at zero discrimination: in turn of those who lose little height by that."""
    zero = Parameters(parameters.scores, parameters.judges.copy())
    zero.judges[0], zero.judges[model.offsets] = -np.inf, offsets_at_zero(cells, model)
    lost = by_judge(cells, model, parameters) - by_judge(cells, model, zero)
    for k in np.flatnonzero(parameters.in_play & (lost < WORTH)):
        judges = parameters.judges.copy()
        judges[:, k] = zero.judges[:, k]
        yield Parameters(parameters.scores, judges)


def _correlation(left: Parameters, right: Parameters) -> float:
    """Of zero-sum scores, which a rough climb always moves away from zero."""
    a, b = left.scores, right.scores
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), np.finfo(float).tiny))
