"""Where a judge runs off there is no maximum: which order of the models has the highest supremum?

The search of `judgerank.engine.search` is for maxima, and sets out for judges far out from the best end that it
knows. Here climbs begin at the orders of one or two judges who may run off, these far up (`higher_end`), and where
the search has ended at a maximum, at this (`end_above`). Heights are compared far out, where they are near what
they approach.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from judgerank.data.arrays import IntArray
from judgerank.data.comparisons import Comparisons
from judgerank.engine.existence import separable_judges
from judgerank.engine.multistart import (
    BARRIER,
    BOX,
    FEW,
    SPARSE,
    STARTS_AT_ONCE,
    STEPS,
    TURNS,
    FarOut,
    Rows,
    climbed,
    distinct,
    in_box,
    one_step,
    starts,
)
from judgerank.engine.newton import Newton, climb
from judgerank.engine.problem import in_units
from judgerank.engine.search import EQUAL_HEIGHT, FAR, carried_on, followed, height
from judgerank.engine.solution import Solution, log_odds
from judgerank.model.members import Model, Parameters

OTHERS = 0.05  # weight of the other judges in the scores that one or two judges' orders begin with
UP = 2.0  # of their log-discrimination there, above the largest of all
MOST_CLIMBS = 2  # exact ones, from the highest rough ends


def higher_end(cells: Comparisons, model: Model, known: Parameters, settings: Newton) -> Parameters | None:
    """An end, or a point far out on the way to a supremum, that is higher than the supremum of an end; or None.

    Parameters
    ----------
    cells : Comparisons
        Aggregated.
    model : Model
        Slopes are not looked at.
    known : Parameters
        The end, where some judge runs off.
    settings : Newton
    """
    cells, _ = in_units(cells)
    judges = may_run_off(cells, model)
    if not judges.size:
        return None

    def far_up(start: Parameters) -> Solution:
        return far_end(cells, model, start, settings)

    rough = rough_ends_of_orders(cells, model, known, judges, settings.slope_bound)
    first, *others = followed(cells, model, [known, *rough[:MOST_CLIMBS]], far_up)
    best = max(others, key=height, default=first)
    return best.parameters if is_higher(best, first) else None


def end_above(cells: Comparisons, model: Model, known: Parameters, settings: Newton) -> Parameters | None:
    """A point far out on the way to a supremum that is higher than a maximum; or None.

    Climbs set out from the maximum itself, the answers of one judge who may run off counted more often, and go on
    with every answer counted once. The search begins them at the ends of rough climbs, whose box a judge whose
    position runs off with its discrimination can leave too late.

    Parameters
    ----------
    cells : Comparisons
        Aggregated.
    model : Model
        Slopes are not looked at.
    known : Parameters
        The maximum.
    settings : Newton
    """
    cells, _ = in_units(cells)
    alone = [(int(k), known) for k in may_run_off(cells, model)]
    if not alone:
        return None
    maximum = far_end(cells, model, known, settings)
    best = max(carried_on(cells, model, settings, FarOut([], alone), []), key=height, default=maximum)
    return best.parameters if is_higher(best, maximum) else None


def may_run_off(cells: Comparisons, model: Model) -> IntArray:
    """The judges whom some order of the models lets run off; none where that is not looked at."""
    if not model.weighs_judges or model.weights_vary or len(cells.models) >= SPARSE:
        return np.zeros(0, np.intp)
    return separable_judges(cells, model)


def is_higher(end: Solution, other: Solution) -> bool:
    """Whether an end is higher than another, not to within rounding."""
    return height(end) > height(other) + EQUAL_HEIGHT * max(1.0, abs(height(other)))


def far_end(cells: Comparisons, model: Model, start: Parameters, settings: Newton) -> Solution:
    """The end of a climb that goes on where a judge runs off, led by the one who decides most."""
    leader = int(log_odds(start).argmax())
    return climb(cells, model, settings, start, furthest=FAR, leader=leader)


def rough_ends_of_orders(
    cells: Comparisons, model: Model, known: Parameters, judges: IntArray, slope_bound: float
) -> list[Parameters]:
    """Ends of rough climbs from the orders of one or two of these judges, these far up; best first.

    All climb at once (`judgerank.engine.multistart`); pairs where there are few judges.
    """
    rows = Rows(cells, model)
    pairs = combinations(judges, 2) if len(judges) <= FEW else ()
    groups: list[tuple[int, ...]] = [*((k,) for k in judges), *pairs]
    groups = groups[: max(1, STARTS_AT_ONCE // len(rows))]
    panels, is_up = np.full((len(groups), rows.k), OTHERS), np.zeros((rows.k, len(groups)), bool)
    for number, group in enumerate(groups):
        panels[number, list(group)] = 1.0
        is_up[list(group), number] = True
    net = rows.by_both((rows.wins - rows.count / 2)[:, None])[0]
    scores = one_step(rows, net, panels)
    scores = scores - scores.mean(axis=0)
    scores /= np.maximum(scores.std(axis=0), np.finfo(float).tiny)
    bound, row = in_box(rows, BOX | {"slope": slope_bound}), slice(rows.n, rows.n + rows.k)
    x = starts(rows, scores, bound)
    x[row] = np.where(is_up, x[row].max(axis=0) + UP, x[row])
    x, ends = climbed(rows, x, bound, BARRIER, STEPS * TURNS)
    thresholds = known.judges[len(rows.blocks) :]
    return [
        Parameters(x[: rows.n, s].copy(), np.vstack([x[rows.n :, s].reshape(-1, rows.k), thresholds]))
        for s in distinct(rows, ends)
    ]
